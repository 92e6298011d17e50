"""What a backend supplies: camera frames with calibration, depth, motion and a gripper. Nothing else
reaches programs.

Everything is in metres, radians, newtons and the robot's base frame (x forward, y left, z up). Camera
frames follow OpenCV: x right, y down, z into the picture.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

Stop = Literal["", "unreachable", "blocked", "no_contact", "slipped", "timeout", "stopped"]


@dataclass(frozen=True)
class Frame:
    """One picture with registered depth.

    colour: uint8 H×W×3 RGB. depth: float32 H×W, metres along the optical axis, 0 = no reading.
    intrinsics: 3×3. camera_to_base: 4×4, pose of the camera in the base frame.
    """

    camera: str
    colour: NDArray[np.uint8]
    depth: NDArray[np.float32]
    intrinsics: Matrix
    camera_to_base: Matrix


@dataclass(frozen=True)
class ArmState:
    """tool_to_base: 4×4, tool frame with its origin between the finger tips, x along the closing
    direction, z along
    the direction in which the fingers point. width: opening in metres. force: newtons at the tool, gravity
    removed."""

    tool_to_base: Matrix
    width: float
    force: float
    holding: bool


@dataclass(frozen=True)
class Motion:
    """How a motion ended. done: poses reached. error: metres left to the last pose. force: largest felt,
    newtons."""

    stop: Stop
    done: int
    error: float
    force: float
    contact: bool


@dataclass(frozen=True)
class Facts:
    """What is written on the robot's data sheet and the cell's drawing. box: ((x0, x1), (y0, y1), (z0,
    z1))."""

    box: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
    cameras: tuple[str, ...]
    arms: tuple[str, ...]
    max_width: float
    hand_width: float
    finger_length: float
    wrist_cameras: dict[str, Matrix]  # camera → 4×4 camera_to_tool, for cameras carried by a hand
    camera_arm: dict[str, str]  # wrist camera → arm that carries it
    roots: dict[str, Matrix] = field(default_factory=dict)  # arm → 4×4, where it is mounted


class Device(Protocol):
    """A robot cell. Targets are 4×4 tool_to_base. Nothing raises for a motion that fails."""

    def facts(self) -> Facts: ...
    def frame(self, camera: str) -> Frame: ...
    def arm(self, arm: str) -> ArmState: ...
    def reachable(self, arm: str, targets: list[Matrix]) -> int:
        """How many of the targets, in order, have an inverse-kinematics solution inside the limits and the
        box."""
        ...

    def follow(
        self,
        arm: str,
        targets: list[Matrix],
        speed: float,
        force: float,
        press: float,
        tolerance: float,
        also: tuple[str, Matrix] | None,
    ) -> Motion:
        """Straight lines through the targets; `also` moves another arm so that both arrive together."""
        ...

    def touch(self, arm: str, direction: Matrix, distance: float, speed: float, force: float) -> Motion: ...
    def grip(self, arm: str, width: float, force: float) -> Motion: ...
    def home(self, arm: str) -> Motion: ...
