"""What can be said of an episode without ground truth: what the hand's own readings show, and which parts of
the instruction were tried. Nobody points at anything, and success is not seen."""

from dataclasses import dataclass
from typing import Any

from ..ledger import events as ev
from .diagnosis_grips import closings
from .grammar import parse
from .models.base import EpisodeView

Choice = dict[str, Any]
CLOSED = 0.01  # m: a hand told to close to less than this is to grasp
PUSHED = 5.0  # N: less is no touch


@dataclass
class _Grip:
    """A closing of the hand, as its readings tell. carried: held after the next motion. kept: held until
    the hand was told to open."""

    tool: tuple[float, float]
    holding: bool
    carried: bool = False
    kept: bool = False
    freed: bool = False


def observe(episode: EpisodeView) -> tuple[ev.Finding, ...]:
    """Findings from public events alone."""
    clauses = parse(episode.started.task.instruction)
    choices = [(n, c) for n, turn in enumerate(episode.turns) for c in turn.proposed.choices]
    acting = {c["clause"]: (n, c) for n, c in choices if c["decision"] in ("grasp", "work")}
    grips = _grips(episode)
    given = closings(
        list(acting),
        {number: _place(episode, turn, choice) for number, (turn, choice) in acting.items()},
        {number for number, (_, choice) in acting.items() if choice["decision"] == "grasp"},
        [grip.tool for grip in grips],
    )
    own = {number: [grips[i] for i in indices] for number, indices in given.items()}
    found: list[ev.Finding] = []
    for turn, choice in choices:
        number = choice["clause"]
        match choice["decision"]:
            case "grasp":
                found.append(_grasp(number, own[number]))
            case "release":
                lost = [g for g in own.get(number, []) if g.carried and not g.kept]
                if lost:
                    kind = "slipped on the way"
                    found.append(ev.Finding(clause=number, decision="release", good=False, kind=kind))
            case "work" if not _pushed(episode, turn):
                kind = "nothing was touched"
                found.append(ev.Finding(clause=number, decision="work", good=False, kind=kind))
            case "order" if len(acting) < len(clauses):
                kind = "a part was not tried"
                found.append(ev.Finding(clause=0, decision="order", good=False, kind=kind))
    return tuple(found)


def _grasp(clause: int, grips: list[_Grip]) -> ev.Finding:
    first = grips[0] if grips else None
    if first is not None and first.carried:
        return ev.Finding(clause=clause, decision="grasp", good=True)
    if first is None:
        kind = "the hand did not get there"
    else:
        kind = "slipped while lifting" if first.holding else "nothing between the fingers"
    return ev.Finding(clause=clause, decision="grasp", good=False, kind=kind)


def _grips(episode: EpisodeView) -> list[_Grip]:
    grips: list[_Grip] = []
    for turn in episode.turns:
        for call in turn.executed.calls if turn.executed else ():
            result: Any = call.result
            if not isinstance(result, dict) or "holding" not in result:
                continue
            last = grips[-1] if grips and not grips[-1].freed else None
            if call.operation == "set_gripper":
                width = call.arguments.get("width")
                if isinstance(width, int | float) and width <= CLOSED:
                    pose = result["pose"]
                    grips.append(_Grip((pose["x"], pose["y"]), bool(result["holding"])))
                elif last is not None:
                    last.freed = True
            elif call.operation == "move_to" and last is not None:
                last.kept = bool(result["holding"])
                last.carried = last.carried or last.kept
    return grips


def _pushed(episode: EpisodeView, turn: int) -> bool:
    """Whether the hand felt anything while this turn's program ran."""
    executed = episode.turns[turn].executed
    results: list[Any] = [call.result for call in executed.calls] if executed else []
    return any(
        isinstance(r, dict) and (r.get("contact") or float(r.get("force") or 0.0) > PUSHED) for r in results
    )


def _place(episode: EpisodeView, turn: int, choice: Choice) -> tuple[float, float]:
    known = episode.parts(turn).get(choice["region"], []) if choice["decision"] == "work" else []
    regions = episode.value("regions")
    at = known[choice["part"]] if known else regions[choice["region"]]
    return at["x"], at["y"]
