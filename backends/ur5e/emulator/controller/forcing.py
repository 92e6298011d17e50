"""What touches the tool, and how the arm gives way in force mode."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....device import Matrix
from .kinematics import Chain, Joints, NoSolution
from .motion import shifted

_GAIN = np.array([0.002] * 3 + [0.02] * 3)  # m/s a newton, rad/s a newton metre


@dataclass(frozen=True)
class Obstacle:
    """Something solid, filling the half-space behind a plane. point (m) and normal (unit, out of it) in the
    UR base frame. stiffness: N/m."""

    point: NDArray[np.float64]
    normal: NDArray[np.float64]
    stiffness: float

    def force(self, place: NDArray[np.float64]) -> NDArray[np.float64]:
        """On a tool whose centre point is at a place, N."""
        depth = float((self.point - place) @ self.normal)
        return max(0.0, depth) * self.stiffness * self.normal


@dataclass
class ForceMode:
    """frame: task frame in the base frame. selection: which of its axes are compliant. wrench: what the arm
    exerts along these, N and N·m. limits: fastest along compliant axes, m/s and rad/s. way: how far it gave
    way so far. rest: the joints without that."""

    frame: Matrix
    selection: NDArray[np.float64]
    wrench: NDArray[np.float64]
    limits: NDArray[np.float64]
    way: NDArray[np.float64] = field(default_factory=lambda: np.zeros(6))
    rest: Joints | None = None

    def yield_to(self, felt: NDArray[np.float64], seconds: float) -> None:
        """felt: force and torque on the tool from outside, in the base frame."""
        turn = self.frame[:3, :3].T
        outside = np.concatenate([turn @ felt[:3], turn @ felt[3:]])
        speed = np.clip(_GAIN * (self.wrench + outside), -np.abs(self.limits), np.abs(self.limits))
        self.way = self.way + self.selection * speed * seconds

    def bend(self, chain: Chain, joints: Joints, near: Joints) -> Joints:
        """The joints that a motion wants, changed by how far the arm gave way."""
        turn = self.frame[:3, :3]
        step = np.concatenate([turn @ self.way[:3], turn @ self.way[3:]])
        try:
            return chain.solve(shifted(chain.tool(joints), step), near)
        except NoSolution:
            return near


def about_tool(wrench: NDArray[np.float64], flange: Matrix, tool: Matrix) -> NDArray[np.float64]:
    """A wrench about the flange, taken about the tool centre point; both in the base frame."""
    arm = flange[:3, 3] - tool[:3, 3]
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])
