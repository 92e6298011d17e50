"""Which closing of the hand was for which clause, and whether it held: grasps, releases, second tries."""

from collections.abc import Sequence
from functools import cache
from math import hypot
from typing import Any

from ..ledger import events as ev

Record = dict[str, Any]
Place = tuple[float, float]
LIFTED = 0.05  # metres: a thing that rose so far was lifted
NEAR, HAND = 0.04, 0.12  # metres: amounts are "near", "hand" (about a hand's width) and "far"
_NEVER = 10.0  # m: rather any way than a clause for which the hand never closed


def closings(
    acted: Sequence[int], places: dict[int, Place], needed: set[int], tools: Sequence[Place]
) -> dict[int, list[int]]:
    """By clause, which closings of the hand were for it, in order.

    acted: clauses in the order of acting; places: where each one's thing or part is. needed: clauses that
    close the hand at least once, if they get there. tools: where the hand closed. Each goes to the place that
    it is nearest to, in order.
    """

    @cache
    def best(clause: int, tool: int) -> tuple[float, tuple[int, ...]]:
        """Least cost of the closings and clauses from these on, and how many closings each clause has."""
        if clause == len(acted):
            return (0.0 if tool == len(tools) else float("inf")), ()
        ways = []
        cost = _NEVER if acted[clause] in needed else 0.0
        for count in range(len(tools) - tool + 1):
            if count:
                x, y = places[acted[clause]]
                at = tools[tool + count - 1]
                cost = (cost if count > 1 else 0.0) + hypot(at[0] - x, at[1] - y)
            rest, counts = best(clause + 1, tool + count)
            ways.append((cost + rest, (count, *counts)))
        return min(ways)

    given: dict[int, list[int]] = {clause: [] for clause in acted}
    if not acted:
        return given
    first = 0
    for clause, count in zip(acted, best(0, 0)[1], strict=True):
        given[clause] = list(range(first, first + count))
        first += count
    return given


def holds_of(record: Record, grips: Sequence[int]) -> list[Record]:
    """What was held after these closings of the hand."""
    return [hold for hold in record["holds"] if hold["grip"] in grips]


def lifted(record: Record, grips: Sequence[int]) -> Record | None:
    """What was lifted last after these closings."""
    return next((h for h in reversed(holds_of(record, grips)) if h["lifted"] >= LIFTED), None)


def grasp(clause: int, grips: list[int], record: Record) -> ev.Finding:
    """The first closing for a clause."""
    hold = next(iter(holds_of(record, grips[:1])), None)
    if hold is not None and hold["lifted"] >= LIFTED:
        return ev.Finding(clause=clause, decision="grasp", good=True)
    if hold is not None:
        kind = "slipped while lifting"
    elif not grips:
        kind = "the hand did not get there"
    else:
        touched = record["grips"][grips[0]]["touched"]
        kind = "touched, not held" if touched else "nothing between the fingers"
    return ev.Finding(clause=clause, decision="grasp", good=False, kind=kind)


def release(clause: int, hold: Record, condition: int, right: Any) -> ev.Finding | None:
    """Where what was lifted came to rest; None where nothing was let go that could be judged."""
    if hold["ended"] == "slipped":
        return ev.Finding(clause=clause, decision="release", good=False, kind="slipped on the way")
    if hold["ended"] == "held":
        return ev.Finding(clause=clause, decision="release", good=False, kind="not let go")
    found = next((g for g in hold["goals"] if g["condition"] == condition), None)
    if found is None:
        return None
    if found["fits"]:
        return ev.Finding(clause=clause, decision="release", good=True)
    if found.get("beside"):
        return ev.Finding(clause=clause, decision="release", good=False, kind="not beside it")
    direction, amount = seen_from_camera(found["offset"], right)
    return ev.Finding(
        clause=clause,
        decision="release",
        good=False,
        kind="released beside",
        direction=direction,
        amount=amount,
    )


def seen_from_camera(offset: list[float], right: Any) -> tuple[str, str]:
    """Direction in the scene picture and coarse amount of an offset (base frame, metres).

    `right` is the direction (x, y) in the base frame that the picture shows as right; the camera looks
    down on the table.
    """
    size = (right[0] ** 2 + right[1] ** 2) ** 0.5 or 1.0
    rx, ry = right[0] / size, right[1] / size
    across, down = offset[0] * rx + offset[1] * ry, offset[0] * ry - offset[1] * rx
    far = max(abs(across), abs(down))
    amount = "near" if far < NEAR else "hand" if far < HAND else "far"
    if abs(across) >= abs(down):
        return ("right" if across > 0 else "left"), amount
    return ("down" if down > 0 else "up"), amount


def retry(first: list[bool], at_last: list[bool], tries: list[int]) -> ev.Finding:
    """Whether what went wrong was mended. For each clause: whether its first try held, whether one did at
    last, and how many tries there were."""
    if all(at_last):
        kind = ""
    elif all(n <= 1 for n, done in zip(tries, at_last, strict=True) if not done):
        kind = "nothing was tried again"
    else:
        kind = "a second try did not mend it"
    return ev.Finding(clause=0, decision="retry", good=not kind, kind=kind)
