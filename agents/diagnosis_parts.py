"""Which part of a thing the Proposer measured is which moving body, or which place that a goal names."""

from typing import Any

import numpy as np

from ..ledger import events as ev
from .models.base import EpisodeView

Record = dict[str, Any]
JOINT_MARGIN = 0.03  # m: how far a part may be measured from the body that it is a part of
PLACE_MARGIN = 0.03  # m: how far from a place that it is
RAISED = 0.02  # m: what stands on a surface or floor is over it
NAIVE = 0.04  # m: a place that lies so near to the middle of a region's top is found without its parts
POINTED = ("bump", "leaf", "hollow", "level")  # which of several parts of one body is pointed at


class Parts:
    """Parts of regions as an episode's programs reported them, and what they really are."""

    def __init__(self, episode: EpisodeView, record: Record) -> None:
        self._episode, self._record = episode, record
        self._captures = [
            sum(c.operation == "capture" and _ok(c.result) for c in turn.executed.calls)
            if turn.executed
            else 0
            for turn in episode.turns
        ]

    def known(self, turn: int, region: int) -> list[Record]:
        """Parts of a region that were known when this turn's program was written."""
        return self._episode.parts(turn).get(region, [])

    def joints(self, turn: int, region: int, thing: str) -> list[list[str]]:
        """For each part of a region the joints that move it, the nearest first; none for a fixed part."""
        parts = self.known(turn, region)
        if not parts:
            return []
        joints = {n: j for n, j in self._record["joints"].items() if j["object"] == thing}
        moved = self._moved(turn, region)["joints"]
        boxes = {name: moved.get(name, joint["box"]["start"]) for name, joint in joints.items()}
        return [self._upstream(_joint_at(part, boxes)) for part in parts]

    def places(self, turn: int, region: int, thing: str) -> list[str]:
        """For each part of a region the place that it is, "" for none."""
        parts = self.known(turn, region)
        if not parts:
            return []
        places = {n: p for n, p in self._record["places"].items() if p["object"] == thing}
        moved = self._moved(turn, region)["places"]
        boxes = {name: moved.get(name, place["start"]) for name, place in places.items()}
        return [_place_at(part, boxes) for part in parts]

    def first_picture(self, turn: int) -> int:
        """Number of the first picture that this turn's program took, or one near it."""
        captures = len(self._record["captures"])
        before = captures - sum(self._captures[turn:])
        return min(max(before, 0), max(captures - 1, 0))

    def _upstream(self, joint: str) -> list[str]:
        chain = []
        while joint:
            chain.append(joint)
            joint = self._record["joints"][joint]["upstream"]
        return chain

    def _moved(self, turn: int, region: int) -> Record:
        """What was not where it was at the start when this region was studied."""
        studied = max(
            (
                number
                for number, one in enumerate(self._episode.turns[:turn])
                if one.executed and region in _studied(one.executed.value)
            ),
            default=0,
        )
        captures = self._record["captures"]
        unseen = len(captures) - sum(self._captures)  # pictures that no program asked for, before all others
        last = unseen + sum(self._captures[: studied + 1]) - 1
        if not captures:
            return {"joints": {}, "places": {}}
        moved: Record = captures[min(max(last, 0), len(captures) - 1)]["moved"]
        return moved


def worked_part(
    clause: int, region: int, chosen: int, goal: Record, known: list[Record], joints: list[list[str]]
) -> ev.Finding:
    """Whether the chosen part is one that moves as the goal says; else which one does."""
    right = [i for i, chain in enumerate(joints) if set(chain) & set(goal["joints"])]
    best = min(right, key=lambda i: (POINTED.index(known[i]["kind"]), i), default=-1)
    return _pointed(clause, region, chosen, right, best)


def target_part(
    clause: int, region: int, chosen: int, goal: Record, known: list[Record], places: list[str]
) -> ev.Finding:
    """Whether the chosen part is the place that the goal names; else which one is."""
    right = [i for i, place in enumerate(places) if place == goal["region"]]
    best = max(right, key=lambda i: (known[i]["length"] * known[i]["width"], -i), default=-1)
    return _pointed(clause, region, chosen, right, best)


def _pointed(clause: int, region: int, chosen: int, right: list[int], best: int) -> ev.Finding:
    good = chosen in right
    kind = "" if good else "wrong part" if right else "not among your parts"
    part = chosen if good else best
    return ev.Finding(clause=clause, decision="part", good=good, kind=kind, region=region, part=part)


def is_part(record: Record, place: str, region: Record) -> bool:
    """Whether a place that a goal names is a part of what a region shows: a joint moves it, it lies aside of
    the region's middle, or under its top. The middle of its top needs no parts to be found."""
    found = record["places"].get(place)
    if found is None:
        return False
    x, y, z = found["start"]["centre"]
    aside = float(np.hypot(x - region["x"], y - region["y"])) > NAIVE
    several = sum(p["object"] == found["object"] for p in record["places"].values()) > 1
    return bool(found["joint"]) or aside or (several and z < region["top"] - NAIVE)


def outside(box: Record, point: Any) -> float:
    """Distance of a point from a box, m; 0 in it."""
    local = (np.array(point) - box["centre"]) @ np.reshape(box["rotation"], (3, 3))
    return float(np.linalg.norm(np.maximum(np.abs(local) - box["half"], 0.0)))


def _joint_at(part: Record, boxes: dict[str, Record]) -> str:
    """The joint whose body a part is on. Flat surfaces and floors must be well within it: the top of a
    cabinet is near its uppermost drawer."""
    flat = part["kind"] in ("level", "hollow")
    point = [part["x"], part["y"], part["z"] + (RAISED if flat else 0.0)]
    near = [(round(outside(box, point), 3), float(np.prod(box["half"])), name) for name, box in boxes.items()]
    found = [one for one in near if one[0] <= (0.0 if flat else JOINT_MARGIN)]
    return min(found)[2] if found else ""


def _place_at(part: Record, boxes: dict[str, Record]) -> str:
    """The place that a surface or a floor is: what stands on it would be there, and it reaches to the middle
    of the place."""
    if part["kind"] not in ("level", "hollow"):
        return ""
    reach = 0.5 * float(np.hypot(part["length"], part["width"])) + RAISED
    found = []
    for name, box in boxes.items():
        far = min(outside(box, [part["x"], part["y"], part["z"] + up]) for up in (0.0, RAISED))
        aside = float(np.hypot(part["x"] - box["centre"][0], part["y"] - box["centre"][1]))
        if far <= PLACE_MARGIN and aside <= reach:
            found.append((round(far, 3), float(np.prod(box["half"])), name))
    return min(found)[2] if found else ""


def _studied(value: Any) -> set[int]:
    return {int(region) for region in value.get("parts", {})} if isinstance(value, dict) else set()


def _ok(result: Any) -> bool:
    return not isinstance(result, dict) or result.get("ok", True) is not False
