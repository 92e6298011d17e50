"""The UR5e's kinematics, computed here: all branches, within the joint limits. UR base frame.

Universal Robots' Denavit-Hartenberg parameters of the UR5e; a real arm's calibration differs from them by
about a millimetre, so they serve for checks, not for targets.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...device import Matrix
from ...geometry import inverse
from ..errors import RobotMissing
from .limits import Range

Joints = NDArray[np.float64]

_A = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)  # m
_D = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)  # m
_ALPHA = (math.pi / 2, 0.0, 0.0, math.pi / 2, -math.pi / 2, 0.0)


class Kinematics:
    """Of one arm with one tool. joints: lowest and highest angles, rad. Raises RobotMissing without
    ur_analytic_ik."""

    def __init__(self, flange_to_tool: Matrix, joints: Sequence[Range]) -> None:
        try:
            from ur_analytic_ik import ur5e
        except ImportError as error:
            raise RobotMissing(
                f"The arm's kinematics cannot be loaded ({error}). "
                "Install them with: pip install 'skill2real[ur5e]'."
            ) from error
        self._arm = ur5e
        self._tool, self._flange = flange_to_tool, inverse(flange_to_tool)
        self._limits = [(low, high) for low, high in joints]
        self.low, self.high = (np.array(side) for side in zip(*joints, strict=True))

    def tool(self, joints: Joints) -> Matrix:
        """Pose of the tool, 4×4."""
        flange: Matrix = self._arm.forward_kinematics(*joints)
        return flange @ self._tool

    def nearest(self, pose: Matrix, near: Joints) -> Joints | None:
        """The joints for a pose that are nearest to `near`; None where there are none within the limits."""
        found = self._arm.inverse_kinematics_closest(np.ascontiguousarray(pose @ self._flange), *near)
        if not found or not self.allowed(found[0]):
            return None
        joints: Joints = found[0]
        return joints

    def branches(self, pose: Matrix, near: Joints) -> list[Joints]:
        """All joints for a pose within the limits, whole turns included, those nearest to `near` first."""
        found = []
        for solution in self._arm.inverse_kinematics(np.ascontiguousarray(pose @ self._flange)):
            turns = [
                [angle + turn for turn in (-math.tau, 0.0, math.tau) if low <= angle + turn <= high]
                for angle, (low, high) in zip(solution.tolist(), self._limits, strict=True)
            ]
            found += [np.array(joints) for joints in itertools.product(*turns)]
        return sorted(found, key=lambda joints: float(np.abs(joints - near).max()))

    def allowed(self, joints: Joints) -> bool:
        """Whether all joints are within their limits."""
        return bool(((joints >= self.low) & (joints <= self.high)).all())


def places(path: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where elbow, wrist 1, wrist 2, wrist 3 and flange are, n×5×3 in m, for joints n×6."""
    cos, sin = np.cos(path), np.sin(path)
    pose = np.broadcast_to(np.eye(4), (len(path), 4, 4))
    found = []
    for k, (a, d, alpha) in enumerate(zip(_A, _D, _ALPHA, strict=True)):
        ca, sa = math.cos(alpha), math.sin(alpha)
        step = np.zeros((len(path), 4, 4))
        step[:, 0, 0], step[:, 0, 1], step[:, 0, 2] = cos[:, k], -sin[:, k] * ca, sin[:, k] * sa
        step[:, 1, 0], step[:, 1, 1], step[:, 1, 2] = sin[:, k], cos[:, k] * ca, -cos[:, k] * sa
        step[:, 0, 3], step[:, 1, 3], step[:, 2, 3] = a * cos[:, k], a * sin[:, k], d
        step[:, 2, 1], step[:, 2, 2], step[:, 3, 3] = sa, ca, 1.0
        pose = pose @ step
        if k > 0:
            found.append(pose[:, :3, 3])
    return np.stack(found, axis=1)
