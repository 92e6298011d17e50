"""The arm behind the controller: what its motors are told and what its sensors say."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .kinematics import Joints

TICK = 0.002  # s: the e-Series controls at 500 Hz
JOINT_LIMIT = 2 * np.pi  # rad, each way: hard stops of all six joints
JOINT_SPEED = np.pi  # rad/s, of all six joints
HOME = (0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0)

Wrench = NDArray[np.float64]  # force (N), then torque (N·m)


class Plant(Protocol):
    """A UR5e, simulated. Joints in rad and rad/s, from base to wrist 3."""

    @property
    def q(self) -> Joints: ...

    @property
    def qd(self) -> Joints: ...

    def step(self, target: Joints, speed: Joints) -> None:
        """One tick (2 ms) towards these joints, which move at this speed."""
        ...

    def wrench(self) -> Wrench:
        """What acts on the tool from outside, gravity removed: force in the UR base frame, torque about the
        flange."""
        ...


class IdealPlant:
    """Goes exactly where it is told, as fast as the joints can; touches nothing."""

    def __init__(self, q: tuple[float, ...] = HOME) -> None:
        self._q = np.array(q, dtype=np.float64)
        self._qd = np.zeros(6)

    @property
    def q(self) -> Joints:
        return self._q

    @property
    def qd(self) -> Joints:
        return self._qd

    def step(self, target: Joints, speed: Joints) -> None:
        reach = JOINT_SPEED * TICK
        new = np.clip(target, self._q - reach, self._q + reach).clip(-JOINT_LIMIT, JOINT_LIMIT)
        self._qd = (new - self._q) / TICK
        self._q = new

    def wrench(self) -> Wrench:
        return np.zeros(6)
