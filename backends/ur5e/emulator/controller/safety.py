"""What keeps the arm from moving: stops and modes, as RTDE and the Dashboard report them."""

from enum import IntEnum


class RobotMode(IntEnum):
    """RTDE's robot_mode; the Dashboard uses the names."""

    POWER_OFF = 3
    IDLE = 5
    RUNNING = 7


class SafetyMode(IntEnum):
    """RTDE's safety_mode; the Dashboard uses the names."""

    NORMAL = 1
    PROTECTIVE_STOP = 3
    ROBOT_EMERGENCY_STOP = 7


class RuntimeState(IntEnum):
    """RTDE's runtime_state: of the program."""

    STOPPING = 0
    STOPPED = 1
    PLAYING = 2
    PAUSING = 3
    PAUSED = 4
    RESUMING = 5


# Bits of RTDE's safety_status_bits.
_NORMAL, _PROTECTIVE, _ROBOT_EMERGENCY, _EMERGENCY, _STOPPED = (1 << bit for bit in (0, 2, 6, 7, 10))
_BITS = {
    SafetyMode.NORMAL: _NORMAL,
    SafetyMode.PROTECTIVE_STOP: _PROTECTIVE | _STOPPED,
    SafetyMode.ROBOT_EMERGENCY_STOP: _ROBOT_EMERGENCY | _EMERGENCY | _STOPPED,
}

UNLOCK_DELAY = 5.0  # s: a controller refuses to unlock a protective stop sooner


class Safety:
    """The safety system's state. unlock_delay: seconds from a protective stop until it can be unlocked."""

    def __init__(self, unlock_delay: float = UNLOCK_DELAY) -> None:
        self.mode = SafetyMode.NORMAL
        self.robot = RobotMode.RUNNING
        self.button = False  # the emergency stop button is pressed in
        self._delay, self._since = unlock_delay, 0.0

    @property
    def bits(self) -> int:
        return _BITS[self.mode]

    @property
    def ready(self) -> bool:
        """Whether a program may run and the arm may move."""
        return self.mode is SafetyMode.NORMAL and self.robot is RobotMode.RUNNING

    def protect(self, time: float) -> None:
        """A protective stop (category 2: powered, held still)."""
        if self.mode is SafetyMode.NORMAL:
            self.mode, self._since = SafetyMode.PROTECTIVE_STOP, time

    def unlock(self, time: float) -> bool:
        """Ends a protective stop; False where it is too early."""
        if self.mode is SafetyMode.PROTECTIVE_STOP:
            if time - self._since < self._delay:
                return False
            self.mode = SafetyMode.NORMAL
        return True

    def press(self) -> None:
        """The emergency stop button: brakes on, power off."""
        self.button = True
        self.mode, self.robot = SafetyMode.ROBOT_EMERGENCY_STOP, RobotMode.POWER_OFF

    def release(self) -> None:
        """The button is turned out again; the arm stays without power."""
        self.button = False
        if self.mode is SafetyMode.ROBOT_EMERGENCY_STOP:
            self.mode = SafetyMode.NORMAL

    def power(self, robot: RobotMode) -> bool:
        """Power on (IDLE), brakes off (RUNNING) or all off; False where the safety system does not allow
        it."""
        if robot is not RobotMode.POWER_OFF and self.mode is not SafetyMode.NORMAL:
            return False
        self.robot = robot
        return True
