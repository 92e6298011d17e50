"""Drawers, doors and knobs of a scene, and the places in and on things: where they are, how far they moved,
who touched them. For the privileged record.

joints: by name
    object; upstream (the joint that carries it, or ""); low, high; start, end; box (start and end of the body
    that it moves); asked (predicate → [from, to], the values for which it holds); touches (one for each
    time that the hand touched it or that it moved, in order: since, until, in watched steps; hand, fingers,
    whether these touched it; before, after, least, most, its values)
places: by name
    object; joint (that carries it, or ""); start, end (boxes)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .scene import Scene
from .shapes import Points, body_box, subtree
from .suites import Condition

Record = dict[str, Any]
_MOVES = 0.0005, 0.003  # m (slides) and rad (hinges) between watched steps: less is standing still
_QUIET = 10  # watched steps without touch and movement that end a touch
_STILL = 0.001  # m: a box that moved less is where it was
_SAMPLES = 200  # of a joint's range, to find where a predicate holds


@dataclass
class _Kept:
    """What is the same in all episodes of a scene, by joint: its body, and for which values what holds."""

    boxes: dict[str, tuple[Points, Points]] = field(default_factory=dict)
    ranges: dict[tuple[str, Condition], list[float] | None] = field(default_factory=dict)


_KEPT: WeakKeyDictionary[Scene, _Kept] = WeakKeyDictionary()


class Moving:
    """Follows the joints of one episode. owner: for each body of the model the index of its thing in `names`,
    or -1."""

    def __init__(
        self, scene: Scene, names: list[str], owner: NDArray[np.intp], to_base: NDArray[np.floating[Any]]
    ) -> None:
        self._scene, self._to_base = scene, to_base
        model = scene.model
        self._joints = [  # slides and hinges of things
            joint
            for joint in range(model.njnt)
            if owner[model.jnt_bodyid[joint]] >= 0 and model.jnt_type[joint] >= 2
        ]
        self._names = [model.joint(joint).name for joint in self._joints]
        self.carriers: list[list[int]] = [[] for _ in range(model.nbody)]  # joints over each body, by index
        for index, joint in enumerate(self._joints):
            for body in subtree(model, int(model.jnt_bodyid[joint])):
                self.carriers[body].append(index)
        sites = scene.env.object_sites_dict if scene.libero else {}
        self._places = {name: model.site(name).id for name in sites if scene.owner(name) in names}
        self._values = [self._value(joint) for joint in self._joints]
        self._open: list[Record | None] = [None] * len(self._joints)
        kept = _KEPT.setdefault(scene, _Kept())
        for joint, name in zip(self._joints, self._names, strict=True):
            if name not in kept.boxes:
                kept.boxes[name] = body_box(model, scene.data, int(model.jnt_bodyid[joint]))
        self._boxes = [kept.boxes[name] for name in self._names]
        self._ranges = kept.ranges
        self.joints: Record = {
            name: self._entry(index, names[owner[model.jnt_bodyid[joint]]])
            for index, (name, joint) in enumerate(zip(self._names, self._joints, strict=True))
        }
        self.places: Record = {
            name: {"object": scene.owner(name), "joint": self._carrier(site), "start": self._site_box(site)}
            for name, site in self._places.items()
        }

    def _entry(self, index: int, thing: str) -> Record:
        joint, model = self._joints[index], self._scene.model
        low, high = (round(float(limit), 4) for limit in model.jnt_range[joint])
        above = self.carriers[int(model.body_parentid[model.jnt_bodyid[joint]])]
        return {
            "object": thing,
            "upstream": self._names[above[-1]] if above else "",
            "low": low,
            "high": high,
            "start": round(self._values[index], 4),
            "box": {"start": self._box(index)},
            "asked": {},
            "touches": [],
        }

    def watch(self, step: int, hand: set[int], fingers: set[int]) -> None:
        """A watched step. hand, fingers: bodies of things that these touch."""
        touched, held = (
            {index for body in bodies for index in self.carriers[body]} for bodies in (hand, fingers)
        )
        for index, joint in enumerate(self._joints):
            value, before = self._value(joint), self._values[index]
            self._values[index] = value
            moves = abs(value - before) > _MOVES[int(self._scene.model.jnt_type[joint] == 3)]
            spell = self._open[index]
            if index in touched or moves:
                if spell is None:
                    spell = self._open[index] = {
                        "since": step, "until": step, "hand": False, "fingers": False,
                        "before": before, "after": value, "least": value, "most": value,
                    }  # fmt: skip
                    self.joints[self._names[index]]["touches"].append(spell)
                spell["until"] = step
                spell["hand"] |= index in touched
                spell["fingers"] |= index in held
            if spell is not None:
                spell["after"] = value
                spell["least"], spell["most"] = min(spell["least"], value), max(spell["most"], value)
                if step - spell["until"] > _QUIET:
                    self._open[index] = None

    def snapshot(self) -> tuple[Any, ...]:
        """What changes with the episode; the open touches are parts of the joints' entries."""
        return self._values, self._open, self.joints, self.places

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Takes over what `snapshot` gave, or a copy of it."""
        self._values, self._open, self.joints, self.places = kept

    def moved(self) -> Record:
        """Boxes of joints' bodies and of places that are not where they were at the start."""
        joints = {name: self._box(index) for index, name in enumerate(self._names)}
        places = {name: self._site_box(site) for name, site in self._places.items()}
        return {
            "joints": {n: box for n, box in joints.items() if _differ(box, self.joints[n]["box"]["start"])},
            "places": {n: box for n, box in places.items() if _differ(box, self.places[n]["start"])},
        }

    def end(self) -> None:
        """Fills in where all is now."""
        for index, name in enumerate(self._names):
            entry = self.joints[name]
            entry["end"] = round(self._value(self._joints[index]), 4)
            entry["box"]["end"] = self._box(index)
            entry["touches"] = [
                {k: round(v, 4) if isinstance(v, float) else v for k, v in spell.items()}
                for spell in entry["touches"]
            ]
            self._open[index] = None
        for name, site in self._places.items():
            self.places[name]["end"] = self._site_box(site)

    def ask(self, condition: Condition) -> list[str]:
        """Finds for which values of a thing's joints a condition of one thing holds, and notes it for each
        that it can be asked of. Returns the joints that this condition is about."""
        predicate, name = condition
        sites = self._scene.env.object_sites_dict if self._scene.libero else {}
        thing = name if name not in sites else self._scene.owner(name)
        meant = []
        for index, joint in enumerate(self._names):
            if self.joints[joint]["object"] != thing:
                continue
            own = [site for site in sites if joint in (getattr(sites[site], "joints", None) or ())]
            about = (predicate, own[0]) if own and name in sites else condition
            held = self._holding(index, about)
            if held is not None:
                self.joints[joint]["asked"][predicate] = held
                if about == condition or name in own:
                    meant.append(joint)
        return meant

    def value(self, joint: str) -> float:
        """Of a joint, now."""
        return round(self._value(self._joints[self._names.index(joint)]), 4)

    def carrier(self, place: str) -> str:
        """The joint that carries a place, "" for none."""
        return str(self.places[place]["joint"]) if place in self.places else ""

    def _holding(self, index: int, condition: Condition) -> list[float] | None:
        """Between which values of a joint the condition holds; None if it does not depend on the joint."""
        scene = self._scene
        key = (self._names[index], condition)
        if key not in self._ranges:
            joint = self._joints[index]
            address = scene.model.jnt_qposadr[joint]
            now, (low, high) = scene.data.qpos[address], scene.model.jnt_range[joint]

            def holds(value: float) -> bool:
                scene.data.qpos[address] = value
                return scene.holds(condition)

            values = np.linspace(low, high, _SAMPLES)
            held = [k for k, value in enumerate(values) if holds(value)]
            self._ranges[key] = None
            if 0 < len(held) < len(values):
                first, last = held[0], held[-1]
                beyond = 0.2 * (high - low)  # joints give a little at their stops
                self._ranges[key] = [
                    round(float(edge), 5)
                    for edge in (
                        _edge(holds, values[first - 1], values[first]) if first else low - beyond,
                        _edge(holds, values[last + 1], values[last])
                        if last + 1 < len(values)
                        else high + beyond,
                    )
                ]
            scene.data.qpos[address] = now
            scene.holds(condition)  # a stove's predicate also lights its burner
        return self._ranges[key]

    def _value(self, joint: int) -> float:
        return float(self._scene.data.qpos[self._scene.model.jnt_qposadr[joint]])

    def _carrier(self, site: int) -> str:
        above = self.carriers[int(self._scene.model.site_bodyid[site])]
        return self._names[above[-1]] if above else ""

    def _box(self, index: int) -> Record:
        data, body = self._scene.data, int(self._scene.model.jnt_bodyid[self._joints[index]])
        middle, half = self._boxes[index]
        rotation = data.xmat[body].reshape(3, 3)
        return self._plain_box(data.xpos[body] + rotation @ middle, half, rotation)

    def _site_box(self, site: int) -> Record:
        data = self._scene.data
        return self._plain_box(
            data.site_xpos[site], self._scene.model.site_size[site], data.site_xmat[site].reshape(3, 3)
        )

    def _plain_box(self, centre: Points, half: Points, rotation: Points) -> Record:
        turn = self._to_base[:3, :3]
        return {
            "centre": plain(turn @ centre + self._to_base[:3, 3]),
            "half": plain(half),
            "rotation": plain((turn @ rotation).ravel()),
        }


def plain(values: NDArray[np.float64]) -> list[float]:
    """Numbers for JSON, to a tenth of a millimetre."""
    return [round(float(value), 4) for value in values]


def _edge(holds: Callable[[float], bool], outside: float, inside: float) -> float:
    """Where a condition begins to hold, between a value for which it does not and one for which it does."""
    for _ in range(12):
        middle = 0.5 * (outside + inside)
        outside, inside = (outside, middle) if holds(middle) else (middle, inside)
    return inside


def _differ(box: Record, other: Record) -> bool:
    corners = [np.reshape(b["rotation"], (3, 3)) @ b["half"] + b["centre"] for b in (box, other)]
    return float(np.abs(corners[0] - corners[1]).max()) > _STILL
