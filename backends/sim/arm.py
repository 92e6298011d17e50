"""An arm in a MuJoCo model: indices of its joints, motors and fingers, and its fixed geometry."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import Matrix
from .shapes import geom_points, subtree

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Arm:
    """One arm of a model. Joint arrays follow the arm from base to hand.

    base_to_world, root_to_base, tool_to_hand: 4×4. The base frame is that of the cell, which is the first
    arm's; root_to_base: where this arm itself is mounted in it. tool_to_hand: origin in the plane of the
    finger ends, x along the closing direction, z along the fingers. hand_bodies: the hand and all that is
    fixed to it; moving_bodies: those and the links.
    """

    joints: Indices
    qpos: Indices
    dofs: Indices
    motors: Indices
    fingers: Indices
    torque: NDArray[np.float64]  # N·m, largest of each motor
    finger_qpos: Indices
    finger_dofs: Indices
    finger_motors: Indices
    finger_signs: NDArray[np.float64]  # of the joint position when open
    finger_bodies: tuple[frozenset[int], ...]
    base: int
    hand: int
    hand_bodies: Indices
    moving_bodies: Indices
    base_to_world: Matrix
    root_to_base: Matrix
    tool_to_hand: Matrix
    hand_width: float
    finger_length: float


def pose(position: NDArray[np.float64], rotation: NDArray[np.float64]) -> Matrix:
    """4×4 from a position and a rotation matrix (any shape with nine elements)."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.reshape(rotation, (3, 3))
    matrix[:3, 3] = position
    return matrix


def inverse(matrix: Matrix) -> Matrix:
    """Inverse of a rigid 4×4."""
    rotation = matrix[:3, :3].T
    return pose(-rotation @ matrix[:3, 3], rotation)


def body_pose(data: Any, body: int) -> Matrix:
    """Pose of a body in the world, 4×4."""
    return pose(data.xpos[body], data.xmat[body])


def find_arm(robot: Any, model: Any, data: Any, first: Arm | None = None) -> Arm:
    """Reads robosuite's robot; `data` must be up to date (mj_forward). first: the cell's first arm, None for
    that itself."""
    prefix = robot.robot_model.naming_prefix
    joints = np.array([model.joint(name).id for name in robot.robot_joints], dtype=np.intp)
    motors = np.array(robot._ref_joint_actuator_indexes, dtype=np.intp)
    base, hand = model.body(robot.robot_model.root_body).id, model.body(prefix + "right_hand").id
    fingers = [model.joint(name).id for name in robot.gripper_joints] if robot.has_gripper else []
    finger_motors = robot._ref_joint_gripper_actuator_indexes if fingers else []
    hand_bodies = np.array(subtree(model, hand), dtype=np.intp)
    finger_bodies = tuple(frozenset(subtree(model, int(model.jnt_bodyid[joint]))) for joint in fingers)
    root = body_pose(data, base)
    base_to_world = first.base_to_world if first else root
    tool, hand_width, finger_length = _tool(robot, model, data, hand, hand_bodies, fingers)
    return Arm(
        joints=joints,
        qpos=np.array(model.jnt_qposadr[joints], dtype=np.intp),
        dofs=np.array(model.jnt_dofadr[joints], dtype=np.intp),
        motors=motors,
        fingers=np.array(fingers, dtype=np.intp),
        torque=np.array(model.actuator_ctrlrange[motors, 1]),
        finger_qpos=np.array(model.jnt_qposadr[fingers], dtype=np.intp),
        finger_dofs=np.array(model.jnt_dofadr[fingers], dtype=np.intp),
        finger_motors=np.array(finger_motors, dtype=np.intp),
        finger_signs=np.sign(model.jnt_range[fingers].sum(axis=1)),
        finger_bodies=finger_bodies,
        base=base,
        hand=hand,
        hand_bodies=hand_bodies,
        moving_bodies=np.array(subtree(model, int(model.jnt_bodyid[joints[0]])), dtype=np.intp),
        base_to_world=base_to_world,
        root_to_base=inverse(base_to_world) @ root if first else np.eye(4),
        tool_to_hand=inverse(body_pose(data, hand)) @ tool,
        hand_width=hand_width,
        finger_length=finger_length,
    )


def _tool(
    robot: Any, model: Any, data: Any, hand: int, hand_bodies: Indices, fingers: list[int]
) -> tuple[Matrix, float, float]:
    """Tool pose in the world, width of the hand along the closing direction, length of the fingers."""
    site = model.site(robot.gripper.important_sites["grip_site"]).id
    z = data.site_xmat[site].reshape(3, 3)[:, 2]
    x = -data.xaxis[fingers[0]] if fingers else data.site_xmat[site].reshape(3, 3)[:, 0]
    x = x - z * (x @ z)
    x /= np.linalg.norm(x)
    tool = pose(data.site_xpos[site], np.column_stack([x, np.cross(z, x), z]))
    moving = {body for joint in fingers for body in subtree(model, int(model.jnt_bodyid[joint]))}
    ends, palm, width = [0.0], [-0.2], [0.0]
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        if body in hand_bodies and model.geom_contype[geom] | model.geom_conaffinity[geom]:
            points = (geom_points(model, data, geom) - tool[:3, 3]) @ tool[:3, :3]
            if body in moving or not fingers:
                ends.append(points[:, 2].max())
            else:
                palm.append(points[:, 2].max())
                width.append(np.ptp(points[:, 0]))
    tool[:3, 3] += z * max(ends)
    return tool, float(max(width)), float(max(ends) - max(palm))
