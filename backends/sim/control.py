"""The control loop: computed torque on the MuJoCo model, fast, and repeatable to the bit.

A tick is 10 ms: one torque, held for five physics steps. Goals and events are watched every fifth tick,
which is the rate at which LIBERO judges success.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import Matrix, Motion, Stop
from . import trajectory
from .arm import Arm
from .kinematics import Joints, Kinematics
from .library import load
from .trajectory import Trajectory

TICK_STEPS = 5
WATCH_TICKS = 5
_STIFFNESS, _DAMPING = 900.0, 60.0  # 1/s², 1/s
_INTEGRAL = 8.0  # 1/s, while settling on a target
_OFFSET = 0.05  # rad, largest correction of a joint
_SMOOTH = 0.3  # share of a new force reading
_SETTLE = 0.5  # s to arrive exactly
_LONGEST = 40.0  # s, of one motion
_FINGER_SPEED = 0.12  # m/s
_STALL = 0.002  # m/s
_PRESS_GAIN = 0.002  # m/s per newton missing
_PRESS_REACH = 0.03  # m, largest shift to keep pressing
HELD = 0.0025  # m: fingers that stay this far from where they were sent hold something


class Control:
    """Moves one arm of a model. The scene's other parts only fall, slide and settle."""

    def __init__(self, model: Any, data: Any, arm: Arm, kinematics: Kinematics) -> None:
        self._mujoco = load().mujoco
        self._model, self._data, self.arm, self.kinematics = model, data, arm, kinematics
        self.tick = TICK_STEPS * float(model.opt.timestep)
        self._mass = np.zeros((model.nv, model.nv))
        self._block = np.ix_(arm.dofs, arm.dofs)
        self.watch: Callable[[], None] = lambda: None
        self.gripped: Callable[[bool], None] = lambda closing: None
        self.reset()

    def reset(self) -> None:
        """Takes the model's present state as the one to hold."""
        self.goal: Joints = self._data.qpos[self.arm.qpos].copy()
        self._offset = np.zeros_like(self.goal)
        self._fingers = self._data.qpos[self.arm.finger_qpos].copy()
        self._grip_target, self._grip_reach = self._fingers, np.full_like(self._fingers, np.inf)
        self.sent_width, self.opening = self.width, False
        self._felt = np.zeros(3)
        self._ticks = 0

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

    # motions

    def wait(self, seconds: float) -> None:
        """Holds still."""
        for _ in range(round(seconds / self.tick)):
            self._hold()

    def follow(self, path: Trajectory, force: float, press: float, tolerance: float) -> Motion:
        """Follows a trajectory, then settles.

        `blocked`: more force than allowed, or not within tolerance. `slipped`: arrived, but what the
        fingers held is gone.
        """
        if len(path.joints) * self.tick > _LONGEST:
            return self._ended("timeout", 0, path.joints[-1], 0.0, False)
        carrying, still, largest, pushed = self.holding, self._felt.copy(), 0.0, 0.0
        for k, joints in enumerate(path.joints):
            shift, pushed = self._pressed(joints, press, pushed)
            self._step(joints + shift, path.speeds[k], path.accelerations[k])
            felt = float(np.linalg.norm(self._felt - still))
            largest = max(largest, felt)
            if felt > force + press:
                self._stop()
                done = sum(end <= k for end in path.ends)
                return self._ended("blocked", done, path.joints[-1], largest, True)
        self.goal = path.joints[-1].copy()
        motion = self._settle(path, force, press, pushed, tolerance, still, largest)
        return replace(motion, stop="slipped") if carrying and not (motion.stop or self.holding) else motion

    def touch(self, path: Trajectory, force: float) -> Motion:
        """Follows a trajectory until more than `force` is felt."""
        still, largest = self._felt.copy(), 0.0
        for k, joints in enumerate(path.joints):
            self._step(joints, path.speeds[k], path.accelerations[k])
            largest = max(largest, float(np.linalg.norm(self._felt - still)))
            if largest > force:
                self._stop()
                return self._ended("", 1, path.joints[-1], largest, True)
        self.goal = path.joints[-1].copy()
        self.wait(0.1)
        return self._ended("no_contact", 0, path.joints[-1], largest, False)

    def grip(self, width: float, force: float) -> Motion:
        """Moves the fingers to a width, no harder than `force`, until they arrive or stall."""
        arm = self.arm
        if not len(arm.finger_qpos):
            return self._ended("", 0, self.goal, 0.0, False)
        self._grip_target = arm.finger_signs * width / len(arm.finger_signs)
        self._grip_reach = force / self._model.actuator_gainprm[arm.finger_motors, 0]
        self.opening, self.sent_width, still = width > self.width, width, 0
        for k in range(round(1.5 / self.tick)):
            self._hold()
            slow = np.abs(self._data.qvel[arm.finger_dofs]).max() < _STALL
            arrived = np.abs(self._fingers - self._grip_target).max() < 1e-4
            still = still + 1 if slow and (arrived or k > 20) else 0
            if still >= 8:
                break
        self.gripped(not self.opening)
        return self._ended("", 1, self.goal, 0.0, self.holding)

    def _settle(
        self,
        path: Trajectory,
        force: float,
        press: float,
        pushed: float,
        tolerance: float,
        still: NDArray[np.float64],
        largest: float,
    ) -> Motion:
        goal = self.kinematics.tool(self.goal)[:3, 3]
        aim = min(0.5 * tolerance, 0.001)
        for _ in range(round(_SETTLE / self.tick)):
            shift, pushed = self._pressed(self.goal, press, pushed)
            missing = self.goal - self.joints
            if not press:
                self._offset = np.clip(self._offset + _INTEGRAL * self.tick * missing, -_OFFSET, _OFFSET)
            self._step(self.goal + shift, 0 * shift, 0 * shift)
            felt = float(np.linalg.norm(self._felt - still))
            largest = max(largest, felt)
            if felt > force + press:
                self._stop()
                return self._ended("blocked", len(path.ends) - 1, path.joints[-1], largest, True)
            slow = np.abs(self._data.qvel[self.arm.dofs]).max() < 0.03
            if slow and np.linalg.norm(self.tool[:3, 3] - goal) < aim and not press:
                break
        self.goal = self.goal + self._pressed(self.goal, press, pushed)[0]
        near = press > 0 or np.linalg.norm(self.tool[:3, 3] - goal) <= tolerance
        done = len(path.ends) if near else len(path.ends) - 1
        return self._ended("" if near else "blocked", done, path.joints[-1], largest, False)

    def _pressed(self, joints: Joints, press: float, pushed: float) -> tuple[Joints, float]:
        """Joint shift that keeps `press` newtons along the approach, and how far it goes by now (m)."""
        if not press:
            return np.zeros_like(joints), 0.0
        approach = self.kinematics.tool(joints)[:3, 2]
        missing = press - float(-self._felt @ approach)
        pushed = float(np.clip(pushed + _PRESS_GAIN * self.tick * missing, -_PRESS_REACH, _PRESS_REACH))
        jacobian = self.kinematics.jacobian(joints)
        twist = np.concatenate([approach * pushed, np.zeros(3)])
        shift: Joints = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-4 * np.eye(6), twist)
        return shift, pushed

    def _stop(self) -> None:
        """Brakes, and holds the place where the arm comes to rest."""
        self._offset = np.zeros_like(self._offset)
        for _ in range(10):
            self.goal = self.joints
            self._hold()

    def _ended(self, stop: Stop, done: int, last: Joints, force: float, contact: bool) -> Motion:
        error = float(np.linalg.norm(self.tool[:3, 3] - self.kinematics.tool(last)[:3, 3]))
        return Motion(stop=stop, done=done, error=error, force=force, contact=contact)

    def _hold(self) -> None:
        zero = np.zeros_like(self.goal)
        self._step(self.goal, zero, zero)

    def _step(self, joints: Joints, speeds: Joints, accelerations: Joints) -> None:
        """One tick towards a reference."""
        data, arm = self._data, self.arm
        wanted = (
            accelerations
            + _STIFFNESS * (joints + self._offset - data.qpos[arm.qpos])
            + _DAMPING * (speeds - data.qvel[arm.dofs])
        )
        self._mujoco.mj_fullM(self._model, self._mass, data.qM)
        torque = self._mass[self._block] @ wanted + data.qfrc_bias[arm.dofs] - data.qfrc_passive[arm.dofs]
        data.ctrl[arm.motors] = np.clip(torque, -arm.torque, arm.torque)
        data.ctrl[arm.finger_motors] = self._finger_command()
        self._mujoco.mj_step(self._model, data, TICK_STEPS)
        felt = arm.base_to_world[:3, :3].T @ data.cfrc_ext[arm.moving_bodies, 3:].sum(axis=0)
        self._felt += _SMOOTH * (felt - self._felt)
        self._ticks += 1
        if self._ticks % WATCH_TICKS == 0:
            self.watch()

    def _finger_command(self) -> NDArray[np.float64]:
        """Goes on towards where the fingers were sent, never pushing harder than the grip's force."""
        step = _FINGER_SPEED * self.tick
        place = self._data.qpos[self.arm.finger_qpos]
        sent = self._fingers + np.clip(self._grip_target - self._fingers, -step, step)
        command: NDArray[np.float64] = np.clip(sent, place - self._grip_reach, place + self._grip_reach)
        self._fingers = command
        return command


def toward(
    control: Control, direction: NDArray[np.float64], distance: float, speed: float
) -> Trajectory | None:
    """The longest straight path that joint limits allow in a direction (base frame), up to a distance."""
    target = control.kinematics.tool(control.goal)
    target[:3, 3] += direction / np.linalg.norm(direction) * distance
    path, _ = trajectory.line(control.kinematics, control.goal, target)
    return trajectory.time(control.kinematics, control.goal, [path], speed, control.tick) if path else None
