"""Findings for programs that name no choices, such as those that people and language models write: for each
part of the instruction, how far it got."""

from typing import Any

from ..ledger import events as ev
from .diagnosis_grips import LIFTED, release
from .diagnosis_names import assign
from .diagnosis_work import work
from .grammar import Clause

Record = dict[str, Any]


def free(clauses: tuple[Clause, ...], record: Record, right: Any) -> tuple[ev.Finding, ...]:
    """right: direction (x, y) in the base frame that the scene picture shows as right."""
    conditions = record.get("steps", []) + record["goal"]
    found = []
    for number, goal in enumerate(assign(clauses, conditions)):
        if goal is None:
            continue
        if goal["target"]:
            found += _carried(number, goal, conditions.index(goal), record, right)
        elif goal["joints"]:
            moved = [joint for joint in goal["joints"] if joint in record["joints"]]
            found.append(work(number, moved, goal, record, 0, 1, set(moved)))
        else:
            done = bool(goal["held"])
            kind = "" if done else "what was asked for was not done"
            found.append(ev.Finding(clause=number, decision="work", good=done, kind=kind))
    return tuple(one for one in found if one is not None)


def _carried(
    number: int, goal: Record, condition: int, record: Record, right: Any
) -> list[ev.Finding | None]:
    """How a thing was taken, and where it was let go."""
    own = [hold for hold in record["holds"] if hold["thing"] == goal["thing"]]
    lifted = [hold for hold in own if hold["lifted"] >= LIFTED]
    if lifted:
        taken = ev.Finding(clause=number, decision="grasp", good=True)
        return [taken, release(number, lifted[-1], condition, right)]
    return [ev.Finding(clause=number, decision="grasp", good=False, kind=_missed(goal, own, record))]


def _missed(goal: Record, own: list[Record], record: Record) -> str:
    if own:
        return "slipped while lifting"
    closings = [grip for grip in record["grips"] if grip["closing"]]
    if not closings:
        return "the hand never closed"
    if any(goal["thing"] in grip["touched"] for grip in closings):
        return "touched, not held"
    if any(hold["lifted"] >= LIFTED for hold in record["holds"]):
        return "the hand took another thing"
    return "nothing between the fingers"
