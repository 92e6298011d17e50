"""One arm within the control loop: where it is held, what it feels, and the torque of the next tick."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import Matrix
from .arm import Arm
from .kinematics import Joints, Kinematics

_STIFFNESS, _DAMPING = 900.0, 60.0  # 1/s², 1/s
_SMOOTH = 0.3  # share of a new force reading
_FINGER_SPEED = 0.12  # m/s
HELD = 0.0025  # m: fingers that stay this far from where they were sent hold something


class Limb:
    """An arm with its fingers. goal: joints that it holds while nothing moves it. offset: what is added to
    them so that it arrives exactly."""

    def __init__(self, model: Any, data: Any, arm: Arm, kinematics: Kinematics) -> None:
        self._model, self._data, self.arm, self.kinematics = model, data, arm, kinematics
        self._block = np.ix_(arm.dofs, arm.dofs)
        self.reset()

    def reset(self) -> None:
        """Takes the model's present state as the one to hold."""
        self.goal: Joints = self._data.qpos[self.arm.qpos].copy()
        self.offset = np.zeros_like(self.goal)
        self._fingers = self._data.qpos[self.arm.finger_qpos].copy()
        self._grip_target, self._grip_reach = self._fingers, np.full_like(self._fingers, np.inf)
        self.sent_width, self.opening = self.width, False
        self._felt = np.zeros(3)

    def snapshot(self) -> tuple[Any, ...]:
        """What the arm's control keeps beside the model's state; changed by nothing later."""
        return (
            self.goal.copy(), self.offset.copy(), self._fingers.copy(), self._grip_target.copy(),
            self._grip_reach.copy(), self.sent_width, self.opening, self._felt.copy(),
        )  # fmt: skip

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Sets what `snapshot` took."""
        goal, offset, fingers, target, reach, self.sent_width, self.opening, felt = kept
        self.goal, self.offset, self._fingers = goal.copy(), offset.copy(), fingers.copy()
        self._grip_target, self._grip_reach, self._felt = target.copy(), reach.copy(), felt.copy()

    # what the robot itself measures

    @property
    def joints(self) -> Joints:
        """Measured joint positions, rad."""
        return np.array(self._data.qpos[self.arm.qpos])

    @property
    def tool(self) -> Matrix:
        """Measured tool_to_base."""
        return self.kinematics.tool(self.joints)

    @property
    def width(self) -> float:
        """Measured opening of the fingers, m."""
        return float(np.abs(self._data.qpos[self.arm.finger_qpos]).sum())

    @property
    def force(self) -> NDArray[np.float64]:
        """Force on arm and hand in the base frame, N, without their own weight, with a held thing's."""
        return self._felt.copy()

    @property
    def holding(self) -> bool:
        """Whether the fingers were stopped by something on their way to where they were sent."""
        return self.width - self.sent_width > HELD

    @property
    def speed(self) -> float:
        """Fastest joint, rad/s."""
        return float(np.abs(self._data.qvel[self.arm.dofs]).max())

    @property
    def finger_speed(self) -> float:
        """Fastest finger, m/s."""
        return float(np.abs(self._data.qvel[self.arm.finger_dofs]).max())

    @property
    def fingers_arrived(self) -> bool:
        """Whether the fingers' command has come to where they were sent."""
        return bool(np.abs(self._fingers - self._grip_target).max() < 1e-4)

    # what the loop does with it

    def send_fingers(self, width: float, force: float) -> None:
        """From now on the fingers go to a width, no harder than `force`."""
        arm = self.arm
        self._grip_target = arm.finger_signs * width / len(arm.finger_signs)
        self._grip_reach = force / self._model.actuator_gainprm[arm.finger_motors, 0]
        self.opening, self.sent_width = width > self.width, width

    def drive(self, mass: NDArray[np.float64], joints: Joints, speeds: Joints, accelerations: Joints) -> None:
        """Sets the motors for one tick towards a reference. mass: the model's whole mass matrix."""
        data, arm = self._data, self.arm
        wanted = (
            accelerations
            + _STIFFNESS * (joints + self.offset - data.qpos[arm.qpos])
            + _DAMPING * (speeds - data.qvel[arm.dofs])
        )
        torque = mass[self._block] @ wanted + data.qfrc_bias[arm.dofs] - data.qfrc_passive[arm.dofs]
        data.ctrl[arm.motors] = np.clip(torque, -arm.torque, arm.torque)

    def drive_fingers(self, tick: float) -> None:
        """Goes on towards where the fingers were sent, never pushing harder than the grip's force."""
        step = _FINGER_SPEED * tick
        place = self._data.qpos[self.arm.finger_qpos]
        sent = self._fingers + np.clip(self._grip_target - self._fingers, -step, step)
        self._fingers = np.clip(sent, place - self._grip_reach, place + self._grip_reach)
        self._data.ctrl[self.arm.finger_motors] = self._fingers

    def feel(self) -> None:
        """Takes in the forces of the last step."""
        arm = self.arm
        felt = arm.base_to_world[:3, :3].T @ self._data.cfrc_ext[arm.moving_bodies, 3:].sum(axis=0)
        self._felt += _SMOOTH * (felt - self._felt)
