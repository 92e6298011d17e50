"""What names stand for in an episode: which region is which thing, which goal condition belongs to which
clause."""

import re
from typing import Any

from ..backends.sim.truth import object_at
from ..ledger import events as ev
from .grammar import Clause

Record = dict[str, Any]
# What a verb asks for, in the words of goal conditions; other verbs ask for a thing to be somewhere.
ASKED = {
    "open": "open", "pull": "open", "close": "close", "push": "close",
    "turn on": "turnon", "turn off": "turnoff", "lift": "lifted", "wipe": "clean",
    "hand over": "handed",
}  # fmt: skip
MOST = 0.5  # of the largest region of a thing: one that shows less is a piece of it


def assign(clauses: tuple[Clause, ...], goal: list[Record]) -> list[Record | None]:
    """The goal condition of each clause: by its verb, by the words that its names share with the clause,
    then in order."""
    left = list(goal)
    found: list[Record | None] = []
    for clause in clauses:
        if not left:
            found.append(None)
            continue
        best = max(left, key=lambda g: (*_fit(clause, g), -goal.index(g)))
        left.remove(best)
        found.append(best)
    return found


def _fit(clause: Clause, condition: Record) -> tuple[int, int, int]:
    """How well a condition fits a clause: verb, names, the word that singles out a part."""
    asked = ASKED.get(clause.verb)
    kind = int(asked == condition["predicate"] or (asked is None) == bool(condition["target"]))
    thing = clause.thing.whole or clause.thing
    names = shared(thing.noun, condition["thing"])
    phrases = [p for p in (clause.thing, clause.target) if p is not None]
    place = set(words(condition["region"]))
    selectors = sum(p.selector in place for p in phrases if p.selector)
    if clause.target is not None:
        target = clause.target.whole or clause.target
        selectors += shared(target.noun, condition["target"])
    return kind, names, selectors


def words(name: str) -> list[str]:
    """Words of an internal name: "red_mug_1", "SquareNut"."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def shared(noun: str, name: str) -> int:
    """How many words a noun and an internal name have in common."""
    return len(set(words(name)) & set(noun.split()))


def region_names(regions: list[Record], record: Record, picture: int = 0) -> list[str]:
    """What each region of the Proposer's list really is, "" for nothing. picture: one from when it looked."""
    captures = record["captures"]
    if not captures:
        return [""] * len(regions)
    objects = captures[picture]["objects"]
    return [object_at(objects, r["x"], r["y"], r["top"] - 0.5 * r["height"]) for r in regions]


def meant_target(clause: Clause, goal: Record, record: Record) -> str:
    """The thing that a target phrase names: the goal's, or where the goal is a place beside it, the one it
    is beside."""
    if clause.target is None:
        return ""
    noun = (clause.target.whole or clause.target).noun
    if shared(noun, goal["target"]):
        return str(goal["target"])
    alike = [name for name in record["objects"] if shared(noun, name) and name != goal["thing"]]
    most = max((shared(noun, name) for name in alike), default=0)
    best = [name for name in alike if shared(noun, name) == most]
    if len(best) == 1:
        return str(best[0])
    return str(goal["target"]) if not best else ""


def naming(
    clause: int, decision: str, chosen: int, meant: str, names: list[str], regions: list[Record]
) -> ev.Finding:
    """Whether the chosen region is the thing that was meant; else which one is. Of several regions of one
    thing, those that show most of it."""
    sizes = {
        i: regions[i].get("length", 0.0) * regions[i].get("width", 0.0)
        for i, name in enumerate(names)
        if name == meant
    }
    right = max(sizes, key=lambda i: (sizes[i], -i), default=-1)
    good = chosen in sizes and sizes[chosen] >= MOST * sizes[right]
    kind = "" if good else "wrong thing" if right >= 0 else "not among your regions"
    return ev.Finding(
        clause=clause, decision=decision, good=good, kind=kind, region=chosen if good else right
    )
