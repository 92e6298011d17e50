"""How far, how fast and how hard an arm may move, and what is bolted to its flange."""

import math
from dataclasses import dataclass, field

import numpy as np

from ...device import Matrix
from ..errors import RobotError
from .poses import is_rigid

Box = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
Range = tuple[float, float]

_JOINT_RANGE: Range = (-math.tau, math.tau)  # the UR5e's own, of all six joints
_FASTEST, _FASTEST_JOINT, _STRONGEST = 1.0, math.pi, 150.0


@dataclass(frozen=True)
class ArmLimits:
    """What is never exceeded. Base frame: x forward, y left, z up.

    box: ((x0, x1), (y0, y1), (z0, z1)), where the tool point may be, m. speed, acceleration: of the tool
    point, m/s and m/s². joint_speed, joint_acceleration: of each joint, rad/s and rad/s². force: largest that
    a motion may be allowed to meet, N. joints: lowest and highest angle of each joint, rad. clearance: of
    wrist and tool flange from the column of base and shoulder, m. Raises RobotError where a value makes no
    sense.
    """

    box: Box
    speed: float = 0.25
    acceleration: float = 0.8
    joint_speed: float = 1.0
    joint_acceleration: float = 1.5
    force: float = 80.0
    joints: tuple[Range, ...] = (_JOINT_RANGE,) * 6
    clearance: float = 0.15

    def __post_init__(self) -> None:
        _check(
            "box", len(self.box) == 3 and all(_range(side) for side in self.box), "three pairs, low < high"
        )
        _check(
            "joints",
            len(self.joints) == 6 and all(_range(pair) for pair in self.joints),
            "six pairs, low < high",
        )
        inside = all(low >= -math.tau - 1e-9 and high <= math.tau + 1e-9 for low, high in self.joints)
        _check("joints", inside, "within ±2π, the UR5e's own range")
        for name, most in (
            ("speed", _FASTEST),
            ("acceleration", 5.0),
            ("joint_speed", _FASTEST_JOINT),
            ("joint_acceleration", 10.0),
            ("force", _STRONGEST),
            ("clearance", 0.5),
        ):
            _check(name, 0 < getattr(self, name) <= most, f"more than 0 and at most {most:g}")


@dataclass(frozen=True)
class Tool:
    """What the arm carries. flange_to_tool: 4×4, the tool frame (x closing, z approach) in the flange's.
    mass: kg. centre: of mass in the flange's frame, m."""

    flange_to_tool: Matrix = field(default_factory=lambda: np.eye(4))
    mass: float = 0.0
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check("flange_to_tool", is_rigid(np.asarray(self.flange_to_tool)), "a rigid 4×4 matrix")
        _check("mass", 0 <= self.mass <= 5.0, "between 0 and 5 kg, the UR5e's payload")


@dataclass(frozen=True)
class Timing:
    """How long silence is borne, s. stale: since the controller's clock last moved. watchdog: since the
    controller last heard from us, after which it ends its program. answer: of the process that holds the
    connection. connect: until that is up."""

    stale: float = 0.25
    watchdog: float = 0.4
    answer: float = 0.6
    connect: float = 15.0


def _range(pair: Range) -> bool:
    return len(pair) == 2 and all(math.isfinite(v) for v in pair) and pair[0] < pair[1]


def _check(name: str, good: bool, right: str) -> None:
    if not good:
        raise RobotError(f"The arm's {name} is not usable; it must be {right}.")
