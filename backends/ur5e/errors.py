"""What can be wrong with a robot cell; each message says the remedy."""

from typing import Literal, get_args

from ..errors import BackendError

Cause = Literal[
    "protective_stop",
    "emergency_stop",
    "connection_lost",
    "controller_dead",
    "frozen",
    "camera_lost",
    "camera_frozen",
    "gripper_lost",
    "slipped",
    "speed_slider",
    "unreachable",
    "operator_abort",
    "watchdog",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)


class RobotError(BackendError):
    """Base of everything that this package raises on purpose."""


class RobotMissing(RobotError):
    """A device, a library or a port that is needed is not there."""


class RobotHalted(RobotError):
    """The robot was stopped and stays so until a person has confirmed. cause: what stopped it."""

    def __init__(self, cause: Cause, text: str) -> None:
        super().__init__(text)
        self.cause: Cause = cause
