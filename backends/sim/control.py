"""The control loop: computed torque on the MuJoCo model, fast, and repeatable to the bit.

A tick is 10 ms: one torque for each arm, held for five physics steps. Goals and events are watched every
fifth tick, which is the rate at which LIBERO judges success.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import Motion, Stop
from . import trajectory
from .kinematics import Joints, rotation_vector
from .library import load
from .limb import Limb
from .trajectory import Trajectory

TICK_STEPS = 5
WATCH_TICKS = 5
_INTEGRAL = 8.0  # 1/s, while settling on a target
_OFFSET = 0.05  # rad, largest correction of a joint
_SETTLE = 0.5  # s to arrive exactly
_LONGEST = 40.0  # s, of one motion
_STALL = 0.002  # m/s
_PRESS_GAIN = 0.002  # m/s per newton missing
_PRESS_REACH = 0.03  # m, largest shift to keep pressing
_LEVEL_GAIN, _LEVEL_REACH = 20.0, 0.05  # 1/s; m and rad, largest correction of what pressing bends


class _Way:
    """One arm on its trajectory. pushed: how far it goes beyond it to keep pressing, m. bent: what is added
    to the tool's place (3) and direction (3) against the yielding of an arm that presses. largest: the
    strongest force felt."""

    def __init__(self, limb: Limb, path: Trajectory, press: float) -> None:
        self.limb, self.path, self.press = limb, path, press
        self.still, self.largest, self.pushed = limb.force, 0.0, 0.0
        self.bent = np.zeros(6)
        self.carrying = limb.holding

    def feel(self) -> float:
        """What pushes since the motion began: coming free of something that pushed before is none, nor is
        the load in the hand."""
        force = self.limb.force
        felt = float(min(np.linalg.norm(force - self.still), np.linalg.norm(force)))
        self.largest = max(self.largest, felt)
        return felt


class Control:
    """Moves the arms of a model, by name. The scene's other parts only fall, slide and settle.

    gripped: called with an arm's name and whether its fingers closed (else opened).
    """

    def __init__(self, model: Any, data: Any, limbs: dict[str, Limb]) -> None:
        self._mujoco = load().mujoco
        self._model, self._data, self.limbs = model, data, limbs
        self.tick = TICK_STEPS * float(model.opt.timestep)
        self._mass = np.zeros((model.nv, model.nv))
        self.watch: Callable[[], None] = lambda: None
        self.gripped: Callable[[str, bool], None] = lambda arm, closing: None
        self._ticks = 0

    def snapshot(self) -> tuple[Any, ...]:
        """What it keeps from one motion to the next, its limbs' included."""
        return self._ticks, {name: limb.snapshot() for name, limb in self.limbs.items()}

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Sets what `snapshot` took."""
        self._ticks, limbs = kept
        for name, limb in self.limbs.items():
            limb.restore(limbs[name])

    def wait(self, seconds: float) -> None:
        """Holds still."""
        for _ in range(round(seconds / self.tick)):
            self._step({})

    def follow(
        self,
        name: str,
        path: Trajectory,
        force: float,
        press: float,
        tolerance: float,
        also: tuple[str, Trajectory] | None = None,
    ) -> Motion:
        """Follows a trajectory, then settles. also: another arm's, of the same duration.

        `blocked`: more force than allowed, or not within tolerance. `slipped`: arrived, but what the
        fingers held is gone. The result tells of the first arm where both are well.
        """
        ways = [_Way(self.limbs[name], path, press)]
        if also is not None:
            ways.append(_Way(self.limbs[also[0]], also[1], 0.0))
        if len(path.joints) * self.tick > _LONGEST:
            return self._ended("timeout", 0, ways[0], False)
        for k in range(len(path.joints)):
            references = {}
            for way in ways:
                at = min(k, len(way.path.joints) - 1)
                joints = way.path.joints[at]
                references[way.limb] = (
                    joints + self._pressed(way, joints), way.path.speeds[at], way.path.accelerations[at]
                )  # fmt: skip
            self._step(references)
            over = [way for way in ways if way.feel() > force + way.press]
            if over:
                self._stop([way.limb for way in ways])
                return self._ended("blocked", sum(end <= k for end in over[0].path.ends), over[0], True)
        for way in ways:
            way.limb.goal = way.path.joints[-1].copy()
        motion = self._settle(ways, force, tolerance)
        lost = any(way.carrying and not way.limb.holding for way in ways)
        return replace(motion, stop="slipped") if lost and not motion.stop else motion

    def touch(self, name: str, path: Trajectory, force: float) -> Motion:
        """Follows a trajectory until more than `force` is felt."""
        way = _Way(self.limbs[name], path, 0.0)
        for k, joints in enumerate(path.joints):
            self._step({way.limb: (joints, path.speeds[k], path.accelerations[k])})
            if way.feel() > force:
                self._stop([way.limb])
                return self._ended("", 1, way, True)
        way.limb.goal = path.joints[-1].copy()
        self.wait(0.1)
        return self._ended("no_contact", 0, way, False)

    def grip(self, name: str, width: float, force: float) -> Motion:
        """Moves the fingers to a width, no harder than `force`, until they arrive or stall."""
        limb, still = self.limbs[name], 0
        if not len(limb.arm.finger_qpos):
            return Motion("", 0, 0.0, 0.0, False)
        limb.send_fingers(width, force)
        for k in range(round(1.5 / self.tick)):
            self._step({})
            slow = limb.finger_speed < _STALL
            still = still + 1 if slow and (limb.fingers_arrived or k > 20) else 0
            if still >= 8:
                break
        self.gripped(name, not limb.opening)
        return Motion("", 1, self._error(limb, limb.goal), 0.0, limb.holding)

    def _settle(self, ways: list[_Way], force: float, tolerance: float) -> Motion:
        first = ways[0]
        aim = min(0.5 * tolerance, 0.001)
        places = [way.limb.kinematics.tool(way.limb.goal)[:3, 3] for way in ways]
        for _ in range(round(_SETTLE / self.tick)):
            references = {}
            for way in ways:
                limb = way.limb
                shift = self._pressed(way, limb.goal)
                missing = limb.goal - limb.joints
                if not way.press:
                    limb.offset = np.clip(limb.offset + _INTEGRAL * self.tick * missing, -_OFFSET, _OFFSET)
                references[limb] = (limb.goal + shift, 0 * shift, 0 * shift)
            self._step(references)
            over = [way for way in ways if way.feel() > force + way.press]
            if over:
                self._stop([way.limb for way in ways])
                return self._ended("blocked", len(over[0].path.ends) - 1, over[0], True)
            arrived = [
                way.limb.speed < 0.03 and np.linalg.norm(way.limb.tool[:3, 3] - place) < aim
                for way, place in zip(ways, places, strict=True)
            ]
            if all(arrived) and not first.press:
                break
        first.limb.goal = first.limb.goal + self._pressed(first, first.limb.goal)
        for way, place in zip(ways, places, strict=True):
            if not way.press and np.linalg.norm(way.limb.tool[:3, 3] - place) > tolerance:
                return self._ended("blocked", len(way.path.ends) - 1, way, False)
        return self._ended("", len(first.path.ends), first, False)

    def _pressed(self, way: _Way, joints: Joints) -> Joints:
        """Joint shift that keeps pressing along the approach."""
        if not way.press:
            return np.zeros_like(joints)
        limb = way.limb
        wanted, tool = limb.kinematics.tool(joints), limb.tool
        approach = wanted[:3, 2]
        missing = way.press + float(limb.force @ approach)  # the table pushes back against the approach
        way.pushed = float(
            np.clip(way.pushed + _PRESS_GAIN * self.tick * missing, -_PRESS_REACH, _PRESS_REACH)
        )
        aside = wanted[:3, 3] - tool[:3, 3]
        aside -= approach * (approach @ aside)
        turned = rotation_vector(wanted[:3, :3] @ tool[:3, :3].T)
        bent = way.bent + _LEVEL_GAIN * self.tick * np.concatenate([aside, turned])
        way.bent = np.clip(bent, -_LEVEL_REACH, _LEVEL_REACH)
        twist = way.bent + np.concatenate([approach * way.pushed, np.zeros(3)])
        jacobian = limb.kinematics.jacobian(joints)
        shift: Joints = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-4 * np.eye(6), twist)
        return shift

    def _stop(self, limbs: list[Limb]) -> None:
        """Brakes, and holds the place where the arms come to rest."""
        for limb in limbs:
            limb.offset = np.zeros_like(limb.offset)
        for _ in range(10):
            for limb in limbs:
                limb.goal = limb.joints
            self._step({})

    def _ended(self, stop: Stop, done: int, way: _Way, contact: bool) -> Motion:
        error = self._error(way.limb, way.path.joints[-1])
        return Motion(stop=stop, done=done, error=error, force=way.largest, contact=contact)

    def _error(self, limb: Limb, goal: Joints) -> float:
        return float(np.linalg.norm(limb.tool[:3, 3] - limb.kinematics.tool(goal)[:3, 3]))

    def _step(self, references: dict[Limb, tuple[Joints, Joints, Joints]]) -> None:
        """One tick: joints, speeds and accelerations of the arms that move; the others hold."""
        data = self._data
        self._mujoco.mj_fullM(self._model, self._mass, data.qM)
        for limb in self.limbs.values():
            still = np.zeros_like(limb.goal)
            limb.drive(self._mass, *references.get(limb, (limb.goal, still, still)))
            limb.drive_fingers(self.tick)
        self._mujoco.mj_step(self._model, data, TICK_STEPS)
        for limb in self.limbs.values():
            limb.feel()
        self._ticks += 1
        if self._ticks % WATCH_TICKS == 0:
            self.watch()


def toward(
    limb: Limb, direction: NDArray[np.float64], distance: float, speed: float, tick: float
) -> Trajectory | None:
    """The longest straight path that joint limits allow in a direction (base frame), up to a distance."""
    target = limb.kinematics.tool(limb.goal)
    target[:3, 3] += direction / np.linalg.norm(direction) * distance
    path, _ = trajectory.line(limb.kinematics, limb.goal, target)
    return trajectory.time(limb.kinematics, limb.goal, [path], speed, tick) if path else None
