"""From the privileged record to findings: for each part of the instruction, which decision went well or not.

A finding names regions by the Proposer's own numbers, kinds of failure, directions in the picture and
coarse amounts: no name, place or length of the simulator is in it.
"""

from itertools import combinations
from math import hypot
from typing import Any

from ..backends.sim.truth import object_at
from ..ledger import events as ev
from .grammar import Clause, parse
from .models.base import EpisodeView

Record = dict[str, Any]
Pairs = tuple[tuple[int, int], ...]
LIFTED = 0.05  # metres: a thing that rose so far was lifted
NEAR, HAND = 0.04, 0.12  # metres: amounts are "near", "hand" (about a hand's width) and "far"


def diagnose(episode: EpisodeView, record: Record, success: bool) -> tuple[ev.Finding, ...]:
    """Findings for every decision that the last program with choices took."""
    choices = [c for turn in episode.turns for c in turn.proposed.choices]
    regions = episode.value("regions") or []
    clauses = parse(episode.started.task.instruction)
    names = _names(regions, record)
    goals = assign(clauses, record["goal"])
    right = episode.value("right") or (0.0, 1.0)
    grasped = {c["clause"]: c["region"] for c in choices if c["decision"] == "grasp"}
    acted, closed = list(grasped), _closings(grasped, regions, record)
    findings: list[ev.Finding] = []
    for choice in choices:
        number, decision = choice["clause"], choice["decision"]
        goal = goals[number]
        if decision == "which" and goal is not None:
            findings.append(_naming(number, decision, choice["region"], goal["thing"], names))
        elif decision == "target" and goal is not None:
            meant = _meant_target(clauses[number], goal, record)
            if meant:
                findings.append(_naming(number, decision, choice["region"], meant, names))
        elif decision == "grasp":
            findings.append(_grasp(number, closed.get(number), record))
        elif decision == "release" and goal is not None:
            target = next((f for f in findings if (f.clause, f.decision) == (number, "target")), None)
            hold = _hold(record, closed.get(number))
            if hold is not None and (target is None or target.good):
                found = _release(number, hold, record["goal"].index(goal), right)
                findings += [found] if found else []
        elif decision == "room":
            release = next((f for f in findings if (f.clause, f.decision) == (number, "release")), None)
            if release is not None:
                findings.append(
                    ev.Finding(clause=number, decision="room", good=release.good, kind=release.kind)
                )
        elif decision == "order":
            findings.append(_order(acted, len(clauses), success))
    return tuple(findings)


def assign(clauses: tuple[Clause, ...], goal: list[Record]) -> list[Record | None]:
    """The goal condition of each clause: by the words that its names share with the clause, then in order."""
    left = list(goal)
    found: list[Record | None] = []
    for clause in clauses:
        if not left:
            found.append(None)
            continue
        best = max(left, key=lambda g: (_shared(clause.thing.noun, g["thing"]), -goal.index(g)))
        left.remove(best)
        found.append(best)
    return found


def _shared(noun: str, name: str) -> int:
    words = {word for word in name.lower().split("_") if not word.isdigit()}
    return len(words & set(noun.split()))


def _names(regions: list[Record], record: Record) -> list[str]:
    """What each region of the Proposer's list really is, "" for nothing."""
    captures = record["captures"]
    if not captures:
        return [""] * len(regions)
    objects = captures[0]["objects"]
    return [object_at(objects, r["x"], r["y"], r["top"] - 0.5 * r["height"]) for r in regions]


def _meant_target(clause: Clause, goal: Record, record: Record) -> str:
    """The thing that a target phrase names: the goal's, or where the goal is a place beside it, the one it
    is beside."""
    if clause.target is None:
        return ""
    noun = (clause.target.whole or clause.target).noun
    if _shared(noun, goal["target"]):
        return str(goal["target"])
    alike = [name for name in record["objects"] if _shared(noun, name) and name != goal["thing"]]
    most = max((_shared(noun, name) for name in alike), default=0)
    best = [name for name in alike if _shared(noun, name) == most]
    if len(best) == 1:
        return str(best[0])
    return str(goal["target"]) if not best else ""


def _naming(clause: int, decision: str, chosen: int, meant: str, names: list[str]) -> ev.Finding:
    right = next((i for i, name in enumerate(names) if name == meant), -1)
    good = 0 <= chosen < len(names) and names[chosen] == meant
    kind = "" if good else "wrong thing" if right >= 0 else "not among your regions"
    return ev.Finding(
        clause=clause, decision=decision, good=good, kind=kind, region=chosen if good else right
    )


def _closings(grasped: dict[int, int], regions: list[Record], record: Record) -> dict[int, int]:
    """By clause, the grip with which the hand closed for it; a clause whose thing it never reached has none.

    grasped: in the order of acting, each clause's region. Where the hand closed less often than it should
    have, each closing goes to the thing that it is nearest to, in order.
    """
    closings = [i for i, grip in enumerate(record["grips"]) if grip["closing"]]

    def apart(pairs: Pairs) -> float:
        tools = [record["grips"][grip]["tool"] for _, grip in pairs]
        places = [regions[grasped[clause]] for clause, _ in pairs]
        return sum(hypot(t[0] - p["x"], t[1] - p["y"]) for t, p in zip(tools, places, strict=True))

    count = min(len(closings), len(grasped))
    ways = [tuple(zip(clauses, closings, strict=False)) for clauses in combinations(grasped, count)]
    best: Pairs = min(ways, key=apart)
    return dict(best)


def _hold(record: Record, grip: int | None) -> Record | None:
    """What was held after a closing of the gripper."""
    return next((hold for hold in record["holds"] if hold["grip"] == grip), None)


def _grasp(clause: int, grip: int | None, record: Record) -> ev.Finding:
    hold = _hold(record, grip)
    if hold is not None and hold["lifted"] >= LIFTED:
        return ev.Finding(clause=clause, decision="grasp", good=True)
    if hold is not None:
        kind = "slipped while lifting"
    elif grip is None:
        kind = "the hand did not get there"
    else:
        kind = "touched, not held" if record["grips"][grip]["touched"] else "nothing between the fingers"
    return ev.Finding(clause=clause, decision="grasp", good=False, kind=kind)


def _release(clause: int, hold: Record, condition: int, right: Any) -> ev.Finding | None:
    """None where nothing was let go that could be judged."""
    if hold["lifted"] < LIFTED:
        return None
    if hold["ended"] == "slipped":
        return ev.Finding(clause=clause, decision="release", good=False, kind="slipped on the way")
    if hold["ended"] == "held":
        return ev.Finding(clause=clause, decision="release", good=False, kind="not let go")
    found = next((g for g in hold["goals"] if g["condition"] == condition), None)
    if found is None:
        return None
    if found["fits"]:
        return ev.Finding(clause=clause, decision="release", good=True)
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


def _order(acted: list[int], clauses: int, success: bool) -> ev.Finding:
    if len(acted) < clauses:
        return ev.Finding(clause=0, decision="order", good=False, kind="a part was not tried")
    good = success or acted == sorted(acted)
    return ev.Finding(clause=0, decision="order", good=good, kind="" if good else "another order than said")
