"""The arm's chain as its controller knows it: nominal UR5e, poses as UR writes them.

A UR pose is (x, y, z, rx, ry, rz): metres and a rotation vector in radians, in the UR base frame.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ....device import Matrix
from ....geometry import inverse

Joints = NDArray[np.float64]


class NoSolution(ValueError):
    """No joints bring the tool to this pose."""


def matrix(pose: Sequence[float]) -> Matrix:
    """4×4 of a UR pose."""
    result = np.eye(4)
    result[:3, :3] = Rotation.from_rotvec(pose[3:6]).as_matrix()
    result[:3, 3] = pose[:3]
    return result


def vector(pose: Matrix) -> tuple[float, ...]:
    """UR pose of a 4×4."""
    turn = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
    return (*pose[:3, 3].tolist(), *turn.tolist())


class Chain:
    """Forward and inverse kinematics of the tool centre point. tcp: its pose in the flange's frame."""

    def __init__(self) -> None:
        from ur_analytic_ik import ur5e

        self._arm = ur5e
        self.tcp: Matrix = np.eye(4)

    def flange(self, joints: Joints) -> Matrix:
        result: Matrix = self._arm.forward_kinematics(*joints)
        return result

    def tool(self, joints: Joints) -> Matrix:
        return self.flange(joints) @ self.tcp

    def solve(self, pose: Matrix, near: Joints) -> Joints:
        """The joints nearest to `near`. Raises NoSolution."""
        found = self._arm.inverse_kinematics_closest(np.ascontiguousarray(pose @ inverse(self.tcp)), *near)
        if not found:
            raise NoSolution("no joints bring the tool to this pose")
        nearest: Joints = found[0]
        return nearest
