"""How far a part moved that was to be opened, closed or turned."""

from typing import Any

from ..ledger import events as ev

Record = dict[str, Any]
STILL = 0.05  # share of a joint's range: less is not moved
NEARLY = 0.7  # share of the way


def work(
    clause: int, joints: list[str], goal: Record, record: Record, place: int, places: int, chosen: set[str]
) -> ev.Finding | None:
    """Judges the move on the part that was chosen, if it can do what was asked and had not done it already.

    joints: that move the chosen part, the nearest first. place of places: which of the moves on this joint
    in this episode it was. chosen: joints that any move of the episode was meant for.
    """
    name = next((j for j in joints if goal["predicate"] in record["joints"][j]["asked"]), "")
    if not name:
        return None
    joint = record["joints"][name]
    asked, span = joint["asked"][goal["predicate"]], joint["high"] - joint["low"]
    touches = _share(joint["touches"], place, places)
    start = joint["start"] if place == 0 else touches[0]["before"] if touches else joint["end"]
    end = joint["end"] if place == places - 1 else touches[-1]["after"] if touches else start
    first, last = _missing(start, asked), _missing(end, asked)
    if first <= STILL * span and not touches:
        return None
    peak = min([_reached(t, asked) for t in touches] + [last])
    done = last <= 1e-4 or (name in goal["joints"] and place == places - 1 and goal["held"])
    kind = _kind(
        done=done,
        peaked=peak <= 1e-4,
        progress=(first - last) / first if first > 1e-6 else 0.0,
        moved=abs(end - start) > STILL * span,
        backwards=last > first + STILL * span,
        fingers=any(t["fingers"] for t in touches),
        touched=any(t["hand"] for t in touches),
        others=_others_moved(record, chosen | {name, *joints}),
    )
    return ev.Finding(clause=clause, decision="work", good=not kind, kind=kind)


def _kind(
    *,
    done: bool,
    peaked: bool,
    progress: float,
    moved: bool,
    backwards: bool,
    fingers: bool,
    touched: bool,
    others: bool,
) -> str:
    if done and fingers:
        return ""
    if done:
        return "moved, but not by the fingers"
    if peaked and touched:
        return "moved and sprang back"
    if progress >= NEARLY:
        return "moved nearly far enough"
    if backwards:
        return "moved the wrong way"
    if moved and progress > 0.0:
        return "moved partly"
    if touched:
        return "touched, but it did not move"
    return "another part moved" if others else "nothing was touched"


def left_again(joint: Record, predicate: str) -> bool:
    """Whether a joint did what was asked, and was moved out of it by a later touch."""
    asked = joint["asked"].get(predicate)
    if asked is None:
        return False
    reached = [k for k, t in enumerate(joint["touches"]) if _missing(t["after"], asked) <= 1e-4]
    later = joint["touches"][reached[0] + 1 :] if reached else []
    return bool(later) and _missing(joint["end"], asked) > 1e-4


def closed(joint: Record, value: float) -> bool:
    """Whether a drawer or door is closed, or nearly, at a value of its joint."""
    asked = joint["asked"].get("close")
    return asked is not None and _missing(value, asked) < 2 * STILL * (joint["high"] - joint["low"])


def _missing(value: float, asked: list[float]) -> float:
    """How far a value is from the nearest that will do."""
    return max(asked[0] - value, value - asked[1], 0.0)


def _reached(touch: Record, asked: list[float]) -> float:
    """How near the values of a touch came to what was asked."""
    return float(max(asked[0] - touch["most"], touch["least"] - asked[1], 0.0))


def _share(touches: list[Record], place: int, places: int) -> list[Record]:
    """Touches of one of several moves on a joint: parted where most time lies between them."""
    gaps = sorted(range(1, len(touches)), key=lambda k: touches[k - 1]["until"] - touches[k]["since"])
    cuts = [0, *sorted(gaps[: places - 1]), len(touches)]
    if place + 1 >= len(cuts):
        return []
    return touches[cuts[place] : cuts[place + 1]]


def _others_moved(record: Record, chosen: set[str]) -> bool:
    return any(
        abs(joint["end"] - joint["start"]) > STILL * (joint["high"] - joint["low"])
        for name, joint in record["joints"].items()
        if name not in chosen
    )
