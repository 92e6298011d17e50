"""When and how to look: before anything is done, and again before a thing is named that was moved."""

from collections.abc import Sequence

from ...grammar import Clause, parse
from .look import LOOK
from .moves import asked
from .twoarm import CLEAR

HEIGHT = 0.5  # metres between the wrist camera and the table
COLUMNS = 2


def look(instruction: str) -> str:
    """The program that looks, for an episode with this instruction."""
    source = f"HEIGHT = {HEIGHT}\nCOLUMNS = {COLUMNS}\n{LOOK}"
    two_armed = any(asked(clause) in ("both", "hand over") for clause in parse(instruction))
    return CLEAR + source if two_armed else source


def moved_before(clause: Clause, before: Sequence[Clause]) -> bool:
    """Whether a clause names what one of those done before it has put elsewhere."""
    put = [c.thing for c in before if c.target is not None and not asked(c) and not c.repeat]
    return clause.thing in put or clause.target in put


def under(clause: Clause, others: Sequence[Clause]) -> bool:
    """Whether the target of a clause is itself a thing to be moved in another: so it is there, if only under
    something else."""
    return clause.target is not None and any(c.thing == clause.target for c in others if c is not clause)
