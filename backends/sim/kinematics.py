"""Forward and inverse kinematics of the bare arm, on a small copy of its chain in MuJoCo."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import Matrix
from .arm import Arm, inverse, pose
from .library import load

Joints = NDArray[np.float64]

_MARGIN = 0.08  # rad kept from the joints' limits; also keeps the arm from stretching straight
_DAMPING = 1e-4
_POSITION, _ROTATION = 3e-4, 1.5e-3  # m, rad: a target is met within this
_STEP = 0.35  # rad, largest change of a joint in one iteration
_PATIENCE, _PROGRESS = 10, 0.8  # iterations after which the error must have shrunk to this share
_LEVER = 0.2  # m: how much a turn of the tool counts beside its place
_SAMPLES, _SLACK = 1500, 0.03  # postures that show how far an arm reaches; m that they may fall short


class Kinematics:
    """Forward and inverse kinematics of one arm, tool_to_base, with limits.

    rest: the posture that the redundant joint tends to.
    """

    def __init__(self, model: Any, arm: Arm, rest: Joints) -> None:
        self._mujoco = load().mujoco
        self._model = self._mujoco.MjModel.from_xml_string(_chain(model, arm))
        self._data = self._mujoco.MjData(self._model)
        self._jacobian = np.zeros((6, len(arm.joints)))
        limits = model.jnt_range[arm.joints]
        self.low, self.high = limits[:, 0] + _MARGIN, limits[:, 1] - _MARGIN
        self.rest = np.clip(rest, self.low, self.high)
        self._base_to_root = inverse(arm.root_to_base)
        self._last_to_tool, self._shoulder, self._reach = self._span()

    def _span(self) -> tuple[Matrix, NDArray[np.float64], float]:
        """The last joint's frame in the tool's, the second joint's place, and how far from it the last joint
        can be: neither place depends on the joint itself."""
        first, last = self._model.jnt_bodyid[1], self._model.jnt_bodyid[-1]
        draw = np.random.default_rng(0)
        reach = 0.0
        for _ in range(_SAMPLES):
            self._place(draw.uniform(self.low, self.high))
            reach = max(reach, float(np.linalg.norm(self._data.xpos[last] - self._data.xpos[first])))
        tool = pose(self._data.site_xpos[0], self._data.site_xmat[0])
        frame = pose(self._data.xpos[last], self._data.xmat[last])
        return inverse(tool) @ frame, self._data.xpos[first].copy(), reach + _SLACK

    def tool(self, joints: Joints) -> Matrix:
        """tool_to_base, 4×4."""
        self._place(joints)
        return pose(self._data.site_xpos[0], self._data.site_xmat[0])

    def jacobian(self, joints: Joints) -> NDArray[np.float64]:
        """6×n: tool velocity (linear, then angular, in the base frame) per joint velocity."""
        self._place(joints)
        return self._jacobian_here().copy()

    def solve(self, target: Matrix, start: Joints, iterations: int, pull: float) -> Joints | None:
        """Joints near `start` that bring the tool to the target, within limits; None if there are none.

        pull: how strongly the redundant joint tends to its rest, a share of the way an iteration.
        """
        joints = np.clip(start, self.low, self.high)
        identity, damping = np.eye(len(joints)), _DAMPING * np.eye(6)
        before = math.inf
        for turn in range(iterations):
            self._place(joints)
            error = self._error(target)
            off, turned = math.hypot(*error[:3]), math.hypot(*error[3:])
            if off < _POSITION and turned < _ROTATION:
                return joints
            if turn % _PATIENCE == 0:
                if off + _LEVER * turned > _PROGRESS * before:
                    return None  # stuck at limits: from here it leads nowhere
                before = off + _LEVER * turned
            jacobian = self._jacobian_here()
            inverse = jacobian.T @ np.linalg.inv(jacobian @ jacobian.T + damping)
            step = inverse @ error + (identity - inverse @ jacobian) @ (pull * (self.rest - joints))
            joints = np.clip(
                joints + step * min(1.0, _STEP / max(np.abs(step).max(), 1e-9)), self.low, self.high
            )
        return None

    def search(self, target: Matrix, start: Joints) -> Joints | None:
        """Like `solve`, but tries other branches as well: from `start`, from rest, from rest turned."""
        last = (target @ self._last_to_tool)[:3, 3]
        if float(np.linalg.norm(last - self._shoulder)) > self._reach:
            return None
        base = self.rest.copy()
        place = self._base_to_root @ target[:, 3]
        base[0] = np.arctan2(place[1], place[0])
        starts = [start, self.rest, base]
        for turn in (-np.pi / 2, np.pi / 2, -np.pi, np.pi):
            turned = base.copy()
            turned[-1] += turn
            starts.append(turned)
        for lift in (-0.6, 0.6):
            lifted = base.copy()
            lifted[1] += lift
            lifted[3] -= lift
            starts.append(lifted)
        for roll in (-0.7, 0.7):  # elbow to one side
            rolled = base.copy()
            rolled[0] -= roll
            rolled[2] += roll
            starts.append(rolled)
        for guess in starts:
            found = self.solve(target, guess, 60, pull=0.1)
            if found is not None:
                return found
        return None

    def _place(self, joints: Joints) -> None:
        self._data.qpos[:] = joints
        self._mujoco.mj_kinematics(self._model, self._data)

    def _jacobian_here(self) -> NDArray[np.float64]:
        self._mujoco.mj_comPos(self._model, self._data)
        self._mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], 0)
        return self._jacobian

    def _error(self, target: Matrix) -> NDArray[np.float64]:
        current = self._data.site_xmat[0].reshape(3, 3)
        return np.concatenate(
            [target[:3, 3] - self._data.site_xpos[0], rotation_vector(target[:3, :3] @ current.T)]
        )


def rotation_vector(rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Axis times angle (rad) of a rotation matrix."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    skew = (h - f, c - g, d - b)
    sine, cosine = 0.5 * math.hypot(*skew), 0.5 * (a + e + i - 1.0)
    if sine > 1e-6:
        return np.array(skew) * (0.5 * math.atan2(sine, cosine) / sine)
    if cosine > 0:
        return 0.5 * np.array(skew)
    axis = np.sqrt(np.clip((np.diag(rotation) + 1.0) / 2.0, 0.0, None))  # half a turn: the axis is in R + I
    k = int(np.argmax(axis))
    axis = np.copysign(axis, rotation[k] + np.eye(3)[k])
    return np.asarray(axis * (np.pi / np.linalg.norm(axis)))


def _chain(model: Any, arm: Arm) -> str:
    """MJCF of the bodies from base to hand, massless in effect, with the tool as a site."""
    chain = []
    body = arm.hand
    while body != arm.base:
        chain.append(body)
        body = int(model.body_parentid[body])
    mounted = not np.array_equal(arm.root_to_base, np.eye(4))
    opening = _body(arm.root_to_base) if mounted else ""
    joints = dict(zip(model.jnt_bodyid[arm.joints].tolist(), arm.joints.tolist(), strict=True))
    for body in reversed(chain):
        opening += f'<body pos="{_text(model.body_pos[body])}" quat="{_text(model.body_quat[body])}">'
        opening += '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        if body in joints:
            joint = joints[body]
            place, axis = _text(model.jnt_pos[joint]), _text(model.jnt_axis[joint])
            opening += f'<joint type="hinge" axis="{axis}" pos="{place}"/>'
    opening += f"<site {_place(arm.tool_to_hand)}/>"
    return (
        '<mujoco><compiler angle="radian" autolimits="false"/><worldbody>'
        f"{opening}{'</body>' * (len(chain) + mounted)}</worldbody></mujoco>"
    )


def _body(matrix: Matrix) -> str:
    return f'<body {_place(matrix)}><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def _place(matrix: Matrix) -> str:
    """Attributes that put a body or a site somewhere."""
    quaternion = np.zeros(4)
    load().mujoco.mju_mat2Quat(quaternion, matrix[:3, :3].flatten())
    return f'pos="{_text(matrix[:3, 3])}" quat="{_text(quaternion)}"'


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(repr(float(value)) for value in values)
