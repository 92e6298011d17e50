"""How the controller moves: joint moves, straight lines, speeds, stops. Each gives joints tick by tick.

`advance` takes the seconds that pass at full speed: the speed slider makes them fewer than a tick's.
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ....device import Matrix
from .kinematics import Chain, Joints

_ANGLE_LENGTH = 0.25  # m: a turn by one radian counts as much as a way of this length


class Motion(Protocol):
    finished: bool

    def advance(self, seconds: float) -> Joints:
        """Joints after `seconds` more. Raises NoSolution where the arm cannot follow."""
        ...


class Trapezoid:
    """Way over time: accelerate, go on at `speed`, decelerate. length, speed, acceleration in one unit."""

    def __init__(self, length: float, speed: float, acceleration: float) -> None:
        self._length, self._acceleration = length, acceleration
        self._top = min(speed, math.sqrt(length * acceleration))
        self._ramp = self._top / acceleration
        self.seconds = length / self._top + self._ramp if length > 0 else 0.0

    def at(self, time: float) -> float:
        """Way at a time, 0…length."""
        left = self.seconds - time
        if left <= 0:
            return self._length
        if time < self._ramp:
            return 0.5 * self._acceleration * time * time
        if left < self._ramp:
            return self._length - 0.5 * self._acceleration * left * left
        return self._top * (time - 0.5 * self._ramp)


class JointMove:
    """movej: all joints leave and arrive together. speed, acceleration: of the one that goes farthest."""

    def __init__(self, start: Joints, target: Joints, speed: float, acceleration: float) -> None:
        self._start, self._way = start.copy(), target - start
        self._length = float(np.abs(self._way).max())
        self._profile = Trapezoid(self._length, speed, acceleration)
        self._time = 0.0
        self.finished = False

    def advance(self, seconds: float) -> Joints:
        self._time += seconds
        self.finished = self._time >= self._profile.seconds
        share = self._profile.at(self._time) / self._length if self._length > 0 else 1.0
        return self._start + share * self._way


class LineMove:
    """movel: the tool goes straight and turns about one axis. speed (m/s), acceleration (m/s²) of the
    tool."""

    def __init__(
        self, chain: Chain, start: Joints, target: Matrix, speed: float, acceleration: float
    ) -> None:
        self._chain, self._joints = chain, start.copy()
        self._from, self._target = chain.tool(start), target
        self._turn = Rotation.from_matrix(target[:3, :3] @ self._from[:3, :3].T).as_rotvec()
        self._length = max(
            float(np.linalg.norm(target[:3, 3] - self._from[:3, 3])),
            _ANGLE_LENGTH * float(np.linalg.norm(self._turn)),
        )
        self._profile = Trapezoid(self._length, speed, acceleration)
        self._time = 0.0
        self.finished = False

    def advance(self, seconds: float) -> Joints:
        self._time += seconds
        self.finished = self._time >= self._profile.seconds
        share = self._profile.at(self._time) / self._length if self._length > 0 else 1.0
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_rotvec(share * self._turn).as_matrix() @ self._from[:3, :3]
        pose[:3, 3] = (1 - share) * self._from[:3, 3] + share * self._target[:3, 3]
        self._joints = self._chain.solve(pose, self._joints)
        return self._joints


class JointSpeed:
    """speedj: joints go on at a speed (rad/s) until told otherwise."""

    def __init__(self, start: Joints, speed: Joints) -> None:
        self._joints, self._speed = start.copy(), speed.copy()
        self.target, self.acceleration = np.zeros(6), 1.0
        self.finished = False

    def advance(self, seconds: float) -> Joints:
        self._speed = _towards(self._speed, self.target, self.acceleration * seconds)
        self._joints = self._joints + seconds * self._speed
        return self._joints


class ToolSpeed:
    """speedl: the tool goes on at a speed (m/s, rad/s, in the base frame) until told otherwise."""

    def __init__(self, chain: Chain, start: Joints) -> None:
        self._chain, self._joints = chain, start.copy()
        self._pose = chain.tool(start)
        self._speed = np.zeros(6)
        self.target, self.acceleration = np.zeros(6), 1.0
        self.finished = False

    def advance(self, seconds: float) -> Joints:
        self._speed = _towards(self._speed, self.target, self.acceleration * seconds)
        self._pose = shifted(self._pose, self._speed * seconds)
        self._joints = self._chain.solve(self._pose, self._joints)
        return self._joints


class Servo:
    """servoj: closes the gap to the target within the look-ahead time."""

    def __init__(self, start: Joints) -> None:
        self._joints = start.copy()
        self.target, self.lookahead = start.copy(), 0.1
        self.finished = False

    def advance(self, seconds: float) -> Joints:
        self._joints = self._joints + (self.target - self._joints) * min(1.0, seconds / self.lookahead)
        return self._joints


class Halt:
    """stopj, stopl, and what the controller does when a program ends: all joints come to rest together, in so
    many seconds."""

    def __init__(self, start: Joints, speed: Joints, seconds: float) -> None:
        self._start, self._speed, self._seconds = start.copy(), speed.copy(), seconds
        self._time = 0.0
        self.finished = False

    def advance(self, seconds: float) -> Joints:
        self._time = min(self._time + seconds, self._seconds)
        self.finished = self._time >= self._seconds
        share = self._time - 0.5 * self._time**2 / self._seconds if self._seconds > 0 else 0.0
        return self._start + self._speed * share


def shifted(pose: Matrix, step: NDArray[np.float64]) -> Matrix:
    """A pose moved by (x, y, z) and turned by a rotation vector, both in the base frame."""
    moved = pose.copy()
    moved[:3, :3] = Rotation.from_rotvec(step[3:]).as_matrix() @ pose[:3, :3]
    moved[:3, 3] += step[:3]
    return moved


def _towards(value: NDArray[np.float64], target: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """value, changed towards the target by at most `step` in its largest element."""
    change = target - value
    most = float(np.abs(change).max())
    return value + change * min(1.0, step / most) if most > 0 else value
