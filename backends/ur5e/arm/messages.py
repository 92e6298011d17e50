"""What the driver and the process that holds the connection tell each other, over a pipe.

A request is (number, name, arguments); a reply (number, "ok" or an error's text, value). Only plain values.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

Request = tuple[int, str, tuple[Any, ...]]
Reply = tuple[int, str, Any]
OK = "ok"

RUNNING_MODE = 7  # RTDE's robot_mode of an arm with power and brakes off
PLAYING = 2  # RTDE's runtime_state of a program that runs
PROTECTIVE, EMERGENCY = 1 << 2, 1 << 7  # of RTDE's safety_status_bits


class Phase(IntEnum):
    """Of the motion that was asked for last."""

    NONE = 0
    MOVING = 1
    DONE = 2  # the controller says so
    CONTACT = 3  # stopped, since more force than allowed was felt
    STOPPED = 4  # stopped on request
    ABANDONED = 5  # stopped, since nobody asked how it goes
    LOST = 6  # the controller ended it by itself


@dataclass(frozen=True)
class Sample:
    """One reading. pose: UR pose of the tool in the UR base frame. force: N and N·m on the tool. age: s since
    the controller's clock last moved. felt: N since the motion began, the largest. slider: 0…1."""

    joints: tuple[float, ...]
    speeds: tuple[float, ...]
    pose: tuple[float, ...]
    force: tuple[float, ...]
    age: float
    connected: bool
    program: bool
    safety: int
    mode: int
    slider: float
    phase: Phase
    felt: float

    @property
    def still(self) -> bool:
        return max(abs(speed) for speed in self.speeds) < STILL


STILL = 2e-3  # rad/s: sensors' noise is below
