"""Six kinds of task, assigned by the form of the instructions alone: no word for a thing is known here.

The first rule that fits an instruction decides. "The suite" are the instructions it is read among:

articulated   it opens, closes, turns on or off something, or puts something into what the suite opens or
              closes
stack         it puts a thing on, or into, another that has the same name
compartment   it puts something into, or to, a part of a whole ("the left … of the …")
container     it puts something into a thing
surface       it puts something on or beside a thing beside which the suite puts things as well: what has
              neighbours stands about on the table itself
furniture     it puts something on or under anything else
other         it moves nothing to a target
"""

from collections.abc import Iterable
from typing import Final, Literal, get_args

from .grammar import Clause, Phrase, parse

Category = Literal["articulated", "stack", "compartment", "container", "surface", "furniture", "other"]
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)
WORDS: Final[dict[Category, str]] = {
    "compartment": "put in caddy compartments",
    "container": "put in basket or tray",
    "surface": "arrange on a surface",
    "stack": "stack",
    "articulated": "articulated things",
    "furniture": "on or under furniture",
    "other": "other",
}

JOINTED = ("open", "close", "turn on", "turn off")
LIDDED = ("open", "close")
INSIDE = ("in", "into", "inside")
BESIDE = (
    "to the left of", "to the right of", "to the front of", "to the back of", "in front of", "next to",
    "beside", "behind", "between",
)  # fmt: skip


class Categories:
    """The categories of instructions as read among those of their suite."""

    def __init__(self, suite: Iterable[str]) -> None:
        clauses = [clause for instruction in suite for clause in parse(instruction)]
        self._opened = {c.thing.noun for c in clauses if c.verb in LIDDED}
        self._neighbours = {c.target.noun for c in clauses if c.target and c.relation in BESIDE}

    def of(self, instruction: str) -> Category:
        """The one category of an instruction. Raises ValueError where `parse` does."""
        clauses = parse(instruction)
        found = {self._of(clause) for clause in clauses}
        return next(category for category in CATEGORIES if category in found)

    def _of(self, clause: Clause) -> Category:
        target = clause.target
        if clause.verb in JOINTED or (clause.relation in INSIDE and target and self._opens(target)):
            return "articulated"
        if target is None:
            return "other"
        if target.noun == clause.thing.noun and clause.relation not in BESIDE:
            return "stack"
        if clause.relation in (*INSIDE, "to"):
            return "compartment" if target.whole else "container"
        beside = clause.relation in BESIDE or target.noun in self._neighbours
        return "surface" if beside else "furniture"

    def _opens(self, target: Phrase) -> bool:
        return target.noun in self._opened
