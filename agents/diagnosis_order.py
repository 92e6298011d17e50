"""Whether the parts of an instruction were done in an order that works."""

from typing import Any

from ..ledger import events as ev
from .diagnosis_work import closed, left_again

Record = dict[str, Any]


def order(
    acted: list[int],
    clauses: int,
    success: bool,
    goals: list[Record | None],
    freed: dict[int, Record],
    record: Record,
) -> ev.Finding:
    """acted: clauses in the order of acting. goals: the condition of each clause. freed: by clause, what was
    lifted for it and let go."""
    kind = ""
    if len(acted) < clauses:
        kind = "a part was not tried"
    elif success:
        kind = ""
    elif any(_too_early(clause, acted, goals, freed, record) for clause in acted):
        kind = "another part had to be done first"
    elif any(_undone(clause, goals[clause], record) for clause in acted[:-1]):
        kind = "done, then undone by another part"
    elif acted != sorted(acted):
        kind = "another order than said"
    return ev.Finding(clause=0, decision="order", good=not kind, kind=kind)


def was_closed(hold: Record, goal: Record, record: Record) -> bool:
    """Whether what should hold a thing was closed when the thing was let go."""
    return any(closed(record["joints"][j], hold["open"][j]) for j in goal["joints"] if j in hold["open"])


def _too_early(
    clause: int, acted: list[int], goals: list[Record | None], freed: dict[int, Record], record: Record
) -> bool:
    """Something was put where it could not go yet, and a later part of what was done would have opened it."""
    goal, hold = goals[clause], freed.get(clause)
    if goal is None or hold is None or not was_closed(hold, goal, record):
        return False
    later = [goals[other] for other in acted[acted.index(clause) + 1 :]]
    return any(g is not None and not g["target"] and set(g["joints"]) & set(goal["joints"]) for g in later)


def _undone(clause: int, goal: Record | None, record: Record) -> bool:
    if goal is None or goal["held"] or not goal["ever"]:
        return False
    if goal["target"]:
        return True
    return any(left_again(record["joints"][j], goal["predicate"]) for j in goal["joints"])
