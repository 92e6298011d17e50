"""What came of wiping, of lifting with both arms, and of handing over."""

from typing import Any

from ..ledger import events as ev
from .diagnosis_grips import LIFTED

Record = dict[str, Any]
HARDLY, NEARLY = 0.05, 0.85  # share of the dirt that is gone


def move(clause: int, decision: str, goal: Record, record: Record, same: bool) -> ev.Finding | None:
    """Judges a move by what it was to do. same: whether the thing that was meant was taken for it; else
    nothing can be said, save of wiping, which takes none."""
    if decision == "wipe":
        kind = _wiped(goal)
    elif not same:
        return None
    elif decision == "both":
        kind = _lifted_by_both(goal, record)
    else:
        kind = _handed_over(goal, record)
    return ev.Finding(clause=clause, decision=decision, good=not kind, kind=kind)


def _wiped(goal: Record) -> str:
    share = 1.0 if goal["ever"] else float(goal.get("share", 0.0))
    if share >= 1.0:
        return ""
    if share < HARDLY:
        return "nothing was wiped off"
    return "nearly all was wiped off" if share >= NEARLY else "a part was wiped off"


def _lifted_by_both(goal: Record, record: Record) -> str:
    holds = _holds(goal, record)
    arms = {hold["arm"] for hold in holds}
    closed = {g["arm"] for g in record["grips"] if g["closing"] and goal["thing"] in g["touched"]}
    if goal["ever"] and len(arms | closed) > 1:
        return ""
    if not arms:
        return "neither hand held it"
    if len(arms) == 1:
        return "only one hand held it"
    if any(hold["ended"] == "slipped" for hold in holds):
        return "it slipped from a hand"
    return "held by both, not lifted high enough"


def _handed_over(goal: Record, record: Record) -> str:
    holds = _holds(goal, record)
    if goal["ever"]:
        return ""
    if not holds:
        return "no hand held it"
    giver = holds[0]["arm"]
    if max(hold["lifted"] for hold in holds if hold["arm"] == giver) < LIFTED:
        return "it slipped from the first hand while lifting"
    taken = [hold for hold in holds if hold["arm"] != giver]
    if not taken:
        dropped = all(hold["ended"] == "slipped" for hold in holds)
        return "it slipped from the first hand" if dropped else "the other hand did not get it"
    if taken[-1]["ended"] == "held":
        still = any(hold["arm"] == giver and hold["ended"] == "held" for hold in holds)
        return "both hands have it" if still else "the other hand has it, but not as it should"
    return "it slipped from the other hand"


def _holds(goal: Record, record: Record) -> list[Record]:
    """Times that a hand held the thing, in order."""
    return [hold for hold in record["holds"] if hold["thing"] == goal["thing"]]
