"""When and how to look: before anything is done, and again before a thing is named that was moved; what is
still known from before."""

from collections.abc import Sequence
from typing import Any

from ...grammar import Clause, parse
from ..base import EpisodeView, Turn
from .look import LOOK
from .moves import asked
from .twoarm import CLEAR

HEIGHT = 0.55  # metres between the wrist camera and the table
COLUMNS = 2
BACK = 0.07  # metres towards the robot: the hand hides that side of the picture


def look(instruction: str) -> str:
    """The program that looks, for an episode with this instruction."""
    source = f"HEIGHT = {HEIGHT}\nCOLUMNS = {COLUMNS}\nBACK = {BACK}\n{LOOK}"
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


def parts_left(episode: EpisodeView) -> dict[int, list[dict[str, Any]]]:
    """Parts by region, as far as nothing was done to that region since they were measured."""
    parts = episode.parts()
    for number, turn in enumerate(episode.turns):
        for choice in turn.proposed.choices:
            if choice["decision"] == "work" and not any(
                choice["region"] in _measured(later) for later in episode.turns[number + 1 :]
            ):
                parts.pop(choice["region"], None)
    return parts


def _measured(turn: Turn) -> set[int]:
    value = turn.executed.value if turn.executed else None
    return {int(region) for region in value.get("parts", {})} if isinstance(value, dict) else set()
