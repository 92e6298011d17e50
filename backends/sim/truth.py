"""What really happened in an episode, for Verifier and Governor only: goals, objects, grasps, captures.

The record is plain data (JSON), lengths in metres in the robot's base frame. Nothing of it may reach a
program. A box is {centre, half (extents), rotation (3×3, row by row)}.

instruction: as the task has it
goal: the conditions, in order
    predicate; thing, target (names of objects); region (of the target, or of the thing where there is no
    target; or ""); joints (names of those that a condition of one thing is about, or that carry the region);
    held (at the end); ever (at any watched step); of wiping also share (of the dirt that is gone)
steps: only where the task has some: what it asks for on the way, in the form of conditions of the goal
objects: by name
    kind; fixed; start, end (boxes)
joints, places: see moving.py
captures: one for each picture, in order
    frame; camera; objects (by name: a box with pixels [u0, v0, u1, v1], or null outside the picture); moved
    (joints, places: boxes of those that are not where they were at the start)
grips: one for each closing or opening of a gripper, in order
    arm; step (how many were watched before); closing; tool; width; between (objects that every finger
    touches); touched (objects that the hand touched since its last grip)
holds: one for each time that a hand held a thing, in order
    arm; thing; grip (index of the closing); lifted (highest rise); ended ("held", "released" or "slipped");
    tool (where it was let go), freed (the step then, or null); open (value of the joints that carry a goal's
    region, then, by name); rest (its centre afterwards, or null); goals (one for each condition with
    a target, steps first: condition, its index; beside, where that is what it asks for; offset, rest minus
    the target's centre; fits, whether the condition holds for this thing)
"""

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .limb import Limb
from .moving import Moving, plain
from .scene import Scene
from .shapes import Points, box_corners, subtree
from .suites import Condition, SimTask

Record = dict[str, Any]
FAR = 3.0  # m: what is farther is not in the scene; robosuite drops what a task does not need there
_LOST = 4  # watched steps without touch by both fingers that make a slip
_CALM, _CALM_STEPS = 0.01, 4  # m/s, watched steps: a thing that stays slower for so long has come to rest


class _Hand:
    """What one hand has touched since its last grip, holds, and last let go."""

    def __init__(self, name: str, limb: Limb, bodies: int) -> None:
        self.name, self.limb = name, limb
        self.own = np.isin(np.arange(bodies), limb.arm.hand_bodies)
        self.touched: set[str] = set()
        self.hold: Record | None = None
        self.height = 0.0  # of what it holds, when it closed
        self.missing = 0
        self.falling: tuple[Record, int] | None = None

    @property
    def place(self) -> list[float]:
        return plain(self.limb.tool[:3, 3])


class Recorder:
    """Follows one episode. Called by the control loop at watched steps and grips, and at each picture."""

    def __init__(self, scene: Scene, task: SimTask, limbs: dict[str, Limb]) -> None:
        self._scene, self._task = scene, task
        self._hands = {name: _Hand(name, limb, scene.model.nbody) for name, limb in limbs.items()}
        self._to_base = np.linalg.inv(next(iter(limbs.values())).arm.base_to_world)
        self._boxes = {
            name: box
            for name, box in scene.boxes.items()
            if np.abs(scene.data.xpos[scene.objects[name]]).max() < FAR
        }
        self._owner = np.full(scene.model.nbody, -1)
        self._names = list(self._boxes)
        for index, name in enumerate(self._names):
            self._owner[subtree(scene.model, scene.objects[name])] = index
        self._ever = [False] * len(task.goal)
        self._step = 0
        self._moving = Moving(scene, self._names, self._owner, self._to_base)
        self._joints = [self._about(condition) for condition in task.goal]
        self.success = False
        self._record: Record = {
            "objects": {
                name: {
                    "kind": scene.kinds[name],
                    "fixed": not _free(scene.model, scene.objects[name]),
                    "start": self.box(name),
                }
                for name in self._names
            },
            "joints": self._moving.joints,
            "places": self._moving.places,
            "captures": [],
            "grips": [],
            "holds": [],
        }

    def box(self, name: str) -> Record:
        """Where a thing is now."""
        body = self._scene.objects[name]
        rotation = self._to_base[:3, :3] @ self._scene.data.xmat[body].reshape(3, 3)
        middle, half = self._boxes[name]
        position = self._to_base[:3, :3] @ self._scene.data.xpos[body] + self._to_base[:3, 3]
        return {
            "centre": plain(position + rotation @ middle),
            "half": plain(half),
            "rotation": plain(rotation.ravel()),
        }

    def snapshot(self) -> bytes:
        """All that changes with the episode, packed as one: holds and touches are in the record as well."""
        hands = {
            name: (hand.touched, hand.hold, hand.height, hand.missing, hand.falling)
            for name, hand in self._hands.items()
        }
        return pickle.dumps((self.success, self._ever, self._step, self._record, hands,
                             self._moving.snapshot()))  # fmt: skip

    def restore(self, kept: bytes) -> None:
        """Sets what `snapshot` took."""
        self.success, self._ever, self._step, self._record, hands, moving = pickle.loads(kept)
        for name, hand in self._hands.items():
            hand.touched, hand.hold, hand.height, hand.missing, hand.falling = hands[name]
        self._moving.restore(moving)

    def watch(self) -> None:
        """A watched step of the control loop."""
        if not self.success:
            held = [self._scene.holds(condition) for condition in self._task.goal]
            self._ever = [before or now for before, now in zip(self._ever, held, strict=True)]
            self.success = all(held)
        self._step += 1
        pairs = {name: self._pairs(hand) for name, hand in self._hands.items()}
        for name, hand in self._hands.items():
            self._follow(hand, pairs[name])
        touched = {int(body) for bodies in pairs.values() for body in bodies[:, 1]}
        self._moving.watch(self._step, touched, self._fingered(pairs))

    def _follow(self, hand: _Hand, pairs: NDArray[np.intp]) -> None:
        touching, between = self._contacts(hand, pairs)
        hand.touched |= touching
        if hand.hold is not None:
            thing = hand.hold["thing"]
            height = float(self._centre(thing)[2])
            hand.hold["lifted"] = max(hand.hold["lifted"], round(height - hand.height, 4))
            hand.missing = 0 if thing in between else hand.missing + 1
            if hand.missing >= _LOST and not hand.limb.opening:
                self._let_go(hand, "slipped")
        if hand.falling is not None:
            hold, calm = hand.falling
            calm = calm + 1 if self._speed(hold["thing"]) < _CALM else 0
            hand.falling = (hold, calm)
            if calm >= _CALM_STEPS:
                self._rested(hand)

    def gripped(self, arm: str, closing: bool) -> None:
        """An arm's fingers have closed or opened."""
        hand = self._hands[arm]
        self._rested(hand)
        touching, between = self._contacts(hand, self._pairs(hand))
        self._record["grips"].append(
            {
                "arm": arm,
                "step": self._step,
                "closing": closing,
                "tool": hand.place,
                "width": round(hand.limb.width, 4),
                "between": sorted(between),
                "touched": sorted(hand.touched | touching),
            }
        )
        hand.touched = set()
        if hand.hold is not None and hand.hold["thing"] not in between:
            self._let_go(hand, "released" if not closing else "slipped")
        if closing and hand.hold is None and between:
            thing = min(between, key=lambda name: float(np.prod(self._boxes[name][1])))
            hand.hold = {
                "arm": arm,
                "thing": thing,
                "grip": len(self._record["grips"]) - 1,
                "lifted": 0.0,
                "ended": "held",
                "tool": hand.place,
                "freed": None,
                "open": {},
                "rest": None,
                "goals": [],
            }
            self._record["holds"].append(hand.hold)
            hand.height, hand.missing = float(self._centre(thing)[2]), 0

    def captured(
        self,
        frame: int,
        camera: str,
        intrinsics: NDArray[np.float64],
        camera_to_base: NDArray[np.float64],
        size: Any,
    ) -> None:
        """A picture has been taken."""
        to_camera = np.linalg.inv(camera_to_base)
        objects = {}
        for name in self._names:
            box = self.box(name)
            corners = box_corners(np.zeros(3), np.array(box["half"])) @ np.reshape(box["rotation"], (3, 3)).T
            seen = (corners + box["centre"]) @ to_camera[:3, :3].T + to_camera[:3, 3]
            objects[name] = box | {"pixels": _pixels(seen, intrinsics, size)}
        self._record["captures"].append(
            {"frame": frame, "camera": camera, "objects": objects, "moved": self._moving.moved()}
        )

    def record(self) -> Record:
        """The record as of now."""
        for hand in self._hands.values():
            if hand.hold is not None:
                hand.hold["tool"] = hand.place
        goal = [
            {
                "predicate": condition[0],
                "thing": self._thing(condition[1]),
                "target": self._thing(condition[2]) if len(condition) > 2 else "",
                "region": next((name for name in condition[1:] if name not in self._boxes), ""),
                "joints": joints,
                "held": self._scene.holds(condition),
                "ever": ever,
            }
            | ({} if (share := self._scene.share(condition)) is None else {"share": round(share, 3)})
            for condition, ever, joints in zip(self._task.goal, self._ever, self._joints, strict=True)
        ]
        steps = [
            {
                "predicate": condition[0],
                "thing": condition[1],
                "target": condition[2],
                "region": "",
                "joints": [],
                "held": False,
                "ever": False,
            }
            for condition in self._task.steps
        ]
        self._moving.end()
        for name in self._names:
            self._record["objects"][name]["end"] = self.box(name)
        about = {"instruction": self._task.instruction, "goal": goal, "fixture_seed": self._scene.seed}
        if steps:
            about["steps"] = steps
        return about | self._record

    def settled(self) -> None:
        """The scene has come to rest at the end of the episode."""
        for hand in self._hands.values():
            self._rested(hand)

    def _let_go(self, hand: _Hand, how: str) -> None:
        assert hand.hold is not None
        carriers = {name for condition, names in zip(self._task.goal, self._joints, strict=True)
                    for name in names if len(condition) > 2}  # fmt: skip
        hand.hold |= {
            "ended": how, "tool": hand.place, "freed": self._step,
            "open": {name: self._moving.value(name) for name in sorted(carriers)},
        }  # fmt: skip
        hand.falling, hand.hold = (hand.hold, 0), None

    def _rested(self, hand: _Hand) -> None:
        """Measures where the thing last let go has come to rest."""
        if hand.falling is None:
            return
        hold, hand.falling = hand.falling[0], None
        rest = self._centre(hold["thing"])
        hold["rest"] = plain(rest)
        for index, condition in enumerate((*self._task.steps, *self._task.goal)):
            if len(condition) > 2 and hold["thing"] != self._thing(condition[2]):
                hold["goals"].append(
                    {
                        "condition": index,
                        "offset": plain(rest - self._place(condition[2])),
                        "fits": self._scene.holds((condition[0], hold["thing"], *condition[2:])),
                    }
                    | ({"beside": True} if condition[0] == "beside" else {})
                )

    def _pairs(self, hand: _Hand) -> NDArray[np.intp]:
        """n×2: bodies of a hand with the bodies of things that they touch."""
        data = self._scene.data
        bodies: NDArray[np.intp] = self._scene.model.geom_bodyid[data.contact.geom[: data.ncon]]
        bodies = np.concatenate([bodies, bodies[:, ::-1]])
        return bodies[hand.own[bodies[:, 0]] & (self._owner[bodies[:, 1]] >= 0)]

    def _fingered(self, pairs: dict[str, NDArray[np.intp]]) -> set[int]:
        """Bodies of things that fingers touch."""
        fingers = {name: frozenset().union(*h.limb.arm.finger_bodies) for name, h in self._hands.items()}
        return {int(body) for name, found in pairs.items() for own, body in found if own in fingers[name]}

    def _contacts(self, hand: _Hand, pairs: NDArray[np.intp]) -> tuple[set[str], set[str]]:
        """Names of the things that a hand touches, and of those that every finger touches."""
        if not len(pairs):
            return set(), set()
        fingers, things = hand.limb.arm.finger_bodies, self._owner[pairs[:, 1]]
        touched = [set(things[[body in finger for body in pairs[:, 0]]].tolist()) for finger in fingers]
        between = set.intersection(*touched) if touched else set()
        return {self._names[k] for k in things}, {self._names[k] for k in between}

    def _about(self, condition: Condition) -> list[str]:
        """Joints that a condition depends on."""
        if len(condition) == 2:
            return self._moving.ask(condition)
        carrier = self._moving.carrier(condition[2])
        if carrier:
            self._moving.ask(("close", condition[2]))
        return [carrier] if carrier else []

    def _centre(self, name: str) -> Points:
        return np.array(self.box(name)["centre"])

    def _place(self, name: str) -> Points:
        """Centre of a thing, or of a region of one."""
        if name in self._boxes:
            return self._centre(name)
        place: Points = self._to_base[:3, :3] @ self._scene.region(name) + self._to_base[:3, 3]
        return place

    def _thing(self, name: str) -> str:
        return name if name in self._boxes else self._scene.owner(name)

    def _speed(self, name: str) -> float:
        joint = self._scene.model.body_jntadr[self._scene.objects[name]]
        if joint < 0:
            return 0.0
        start = self._scene.model.jnt_dofadr[joint]
        return float(np.abs(self._scene.data.qvel[start : start + 3]).max())


def object_at(objects: Record, x: float, y: float, z: float, margin: float = 0.03) -> str:
    """Name of the thing at a point in the base frame, "" if none is within `margin` metres of its box.

    objects: name → box, such as a capture's `objects`. Of several that hold the point, the smallest: the
    thing in the basket rather than the basket.
    """
    best, name = (margin, 0.0), ""
    for candidate, box in objects.items():
        half = np.array(box["half"])
        local = (np.array([x, y, z]) - box["centre"]) @ np.reshape(box["rotation"], (3, 3))
        outside = float(np.linalg.norm(np.maximum(np.abs(local) - half, 0.0)))
        rank = (round(outside, 3), float(np.prod(half)))
        if rank < best or (not name and outside <= margin):
            best, name = rank, candidate
    return name


def _free(model: Any, body: int) -> bool:
    joint = model.body_jntadr[body]
    return bool(joint >= 0 and model.jnt_type[joint] == 0)


def _pixels(seen: Points, intrinsics: NDArray[np.float64], size: tuple[int, int]) -> list[int] | None:
    """Box around points in the camera's frame, cut to the picture; None if it is outside."""
    if seen[:, 2].min() < 0.02:
        return None
    u = intrinsics[0, 0] * seen[:, 0] / seen[:, 2] + intrinsics[0, 2]
    v = intrinsics[1, 1] * seen[:, 1] / seen[:, 2] + intrinsics[1, 2]
    u0, u1 = np.clip([u.min(), u.max()], 0, size[0] - 1)
    v0, v1 = np.clip([v.min(), v.max()], 0, size[1] - 1)
    return [round(float(value)) for value in (u0, v0, u1, v1)] if u0 < u1 and v0 < v1 else None
