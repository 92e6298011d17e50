"""From the privileged record to findings: for each part of the instruction, which decision went well or not.

A finding names regions and parts by the Proposer's own numbers, kinds of failure, directions in the picture
and coarse amounts: no name, place or length of the simulator is in it.
"""

from typing import Any

from ..ledger import events as ev
from .diagnosis_free import free
from .diagnosis_grips import closings, grasp, lifted, release, retry, seen_from_camera
from .diagnosis_moves import move
from .diagnosis_names import assign, meant_target, naming, region_names
from .diagnosis_order import order, was_closed
from .diagnosis_parts import Parts, is_part, target_part, worked_part
from .diagnosis_work import work
from .grammar import Clause, parse
from .models.base import EpisodeView

__all__ = ["diagnose", "seen_from_camera"]

Record = dict[str, Any]
Choice = dict[str, Any]
ACTING = ("grasp", "work", "wipe", "both", "hand over")  # decisions that act on the scene
_AWAY = 99.0  # m
TO_THE_RIGHT = (0.0, 1.0)  # in a picture that is taken facing the robot, in its base frame


def diagnose(episode: EpisodeView, record: Record, success: bool) -> tuple[ev.Finding, ...]:
    """Findings for every decision that the programs took, in the order of their choices; of programs that
    name none, how far each part of the instruction got."""
    if _names_none(episode):
        right = episode.value("right") or TO_THE_RIGHT
        return free(named_clauses(episode, record), _whole(record), right)
    return _Diagnosis(episode, record, success).findings()


def _names_none(episode: EpisodeView) -> bool:
    """Whether programs were played that list no regions, and say of no decision how they took it."""
    choices = [c for turn in episode.turns for c in turn.proposed.choices]
    listed = episode.value("regions") is not None
    return bool(episode.turns) and not listed and all(c["decision"] == "completion" for c in choices)


def named_clauses(episode: EpisodeView, record: Record) -> tuple[Clause, ...]:
    """Clauses with the nouns that things really have: those of the task's own instruction, where the
    episode's has others in their place."""
    said = parse(episode.started.task.instruction)
    own = parse(record.get("instruction") or episode.started.task.instruction)
    return own if len(own) == len(said) else said


class _Diagnosis:
    def __init__(self, episode: EpisodeView, record: Record, success: bool) -> None:
        self._record = record = _whole(record)
        self._success = success
        self._episode = episode
        self._right = episode.value("right") or TO_THE_RIGHT
        self._clauses = named_clauses(episode, record)
        self._conditions = record.get("steps", []) + record["goal"]
        self._goals = assign(self._clauses, self._conditions)
        self._parts = Parts(episode, record)
        self._names = [self._seen(turn) for turn in range(len(episode.turns))]
        self._choices = [(n, c) for n, turn in enumerate(episode.turns) for c in turn.proposed.choices]
        acting = {c["clause"]: (n, c) for n, c in self._choices if c["decision"] in ACTING}
        self._acted = list(acting)
        self._moves = {
            number: self._joints(turn, choice)
            for number, (turn, choice) in acting.items()
            if choice["decision"] == "work"
        }
        self._grips = self._closings(acting)
        held = {number: lifted(record, grips) for number, grips in self._grips.items()}
        self._held = {number: hold for number, hold in held.items() if hold is not None}
        self._found: dict[tuple[int, str], ev.Finding] = {}

    def _seen(self, turn: int) -> list[str]:
        """What the regions really are that were known when this turn's program was written."""
        look = self._episode.looked(turn)
        first = self._parts.first_picture(look) if self._episode.looked(look) >= 0 else 0
        return region_names(self._episode.regions(turn), self._record, first)

    def findings(self) -> tuple[ev.Finding, ...]:
        for turn, choice in self._choices:
            found = self._judge(turn, choice["clause"], choice)
            if found is not None:
                self._found[found.clause, found.decision] = found
                self._hint(turn, found)
        return tuple(self._found.values())

    def _judge(self, turn: int, number: int, choice: Choice) -> ev.Finding | None:
        goal = self._goals[number]
        match choice["decision"]:
            case "which" if goal is not None:
                return self._naming(turn, number, choice, goal["thing"])
            case "target" if goal is not None:
                meant = meant_target(self._clauses[number], goal, self._record)
                if not meant:
                    return None
                return self._naming(turn, number, choice, meant)
            case "part" if goal is not None:
                return self._part(turn, number, choice, goal)
            case "grasp":
                return grasp(number, self._grips[number], self._record)
            case "work" if goal is not None:
                return self._work(number, goal)
            case "wipe" | "both" | "hand over" as decision if goal is not None:
                same = choice["region"] >= 0 and self._names[turn][choice["region"]] == goal["thing"]
                return move(number, decision, goal, self._record, same)
            case "release" if goal is not None:
                return self._release(number, goal)
            case "room":
                put = self._found.get((number, "release"))
                return put and ev.Finding(clause=number, decision="room", good=put.good, kind=put.kind)
            case "order":
                return order(
                    self._acted, len(self._clauses), self._success, self._goals, self._held, self._record
                )
            case "retry":
                return self._retry()
        return None

    def _naming(self, turn: int, number: int, choice: Choice, meant: str) -> ev.Finding:
        regions = self._episode.regions(turn)
        return naming(number, choice["decision"], choice["region"], meant, self._names[turn], regions)

    def _hint(self, turn: int, found: ev.Finding) -> None:
        """Where the right target was taken and a part of it is meant, but none was chosen: says so."""
        number = found.clause
        goal = self._goals[number] if number < len(self._goals) else None
        if found.decision != "target" or not found.good or goal is None:
            return
        chosen = any(c["decision"] == "part" and c["clause"] == number for _, c in self._choices)
        if not chosen and is_part(self._record, goal["region"], self._episode.regions(turn)[found.region]):
            kind = "it belongs in or on a part of it"
            self._found[number, "part"] = ev.Finding(
                clause=number, decision="part", good=False, kind=kind, region=found.region
            )

    def _part(self, turn: int, number: int, choice: Choice, goal: Record) -> ev.Finding | None:
        region = choice["region"]
        wanted = goal["target"] or goal["thing"]
        names = self._names[turn]
        if not 0 <= region < len(names) or names[region] != wanted:
            return None
        known = self._parts.known(turn, region)
        if not goal["target"]:
            joints = self._parts.joints(turn, region, wanted)
            return worked_part(number, region, choice["part"], goal, known, joints)
        if goal["region"] not in self._record["places"]:
            return None
        places = self._parts.places(turn, region, wanted)
        return target_part(number, region, choice["part"], goal, known, places)

    def _joints(self, turn: int, choice: Choice) -> list[str]:
        """Joints that move the chosen part, the nearest first."""
        region, part = choice["region"], choice["part"]
        names = self._names[turn]
        if not 0 <= region < len(names):
            return []
        joints = self._parts.joints(turn, region, names[region])
        return joints[part] if 0 <= part < len(joints) else []

    def _work(self, number: int, goal: Record) -> ev.Finding | None:
        joints = self._moves[number]
        same = [other for other in self._acted if self._moves.get(other, [])[:1] == joints[:1]]
        meant = {joint for chain in self._moves.values() for joint in chain}
        return work(number, joints, goal, self._record, same.index(number), len(same), meant)

    def _release(self, number: int, goal: Record) -> ev.Finding | None:
        named = [self._found.get((number, decision)) for decision in ("target", "part")]
        hold = self._held.get(number)
        if hold is None or any(f is not None and not f.good for f in named):
            return None
        found = release(number, hold, self._conditions.index(goal), self._right)
        if found is not None and not found.good and was_closed(hold, goal, self._record):
            kind = "it was not open when it should be put in"
            return ev.Finding(clause=number, decision="release", good=False, kind=kind)
        return found

    def _retry(self) -> ev.Finding:
        first, at_last, tries = [], [], []
        for number in self._acted:
            if number in self._moves:
                continue
            grips = self._grips[number]
            first.append(lifted(self._record, grips[:1]) is not None)
            at_last.append(number in self._held)
            tries.append(len(grips))
        return retry(first, at_last, tries)

    def _closings(self, acting: dict[int, tuple[int, Choice]]) -> dict[int, list[int]]:
        """By clause, the grips with which the hand closed for it."""
        places = {}
        for number, (turn, choice) in acting.items():
            if choice["region"] < 0:
                places[number] = (_AWAY, _AWAY)  # done to no thing: the hand closes for another part
                continue
            known = self._parts.known(turn, choice["region"]) if choice["decision"] == "work" else []
            at = known[choice["part"]] if known else self._episode.regions(turn)[choice["region"]]
            places[number] = (at["x"], at["y"])
        grips = [i for i, grip in enumerate(self._record["grips"]) if grip["closing"]]
        tools = [tuple(self._record["grips"][i]["tool"][:2]) for i in grips]
        needed = {n for n, (_, c) in acting.items() if c["decision"] == "grasp"}
        given = closings(self._acted, places, needed, tools)
        return {clause: [grips[i] for i in own] for clause, own in given.items()}


def _whole(record: Record) -> Record:
    """A record with what older ones lack."""
    goal = [{"joints": [], **condition} for condition in record["goal"]]
    holds = [{"open": {}, **hold} for hold in record["holds"]]
    older: Record = {"joints": {}, "places": {}, **record}
    return older | {"goal": goal, "holds": holds}
