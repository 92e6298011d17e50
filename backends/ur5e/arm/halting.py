"""Why an arm has halted, how it is brought to rest whatever else is broken, and what a person may undo."""

import contextlib
import math
import time
from collections.abc import Iterator

from ..errors import Cause, RobotError, RobotHalted, RobotMissing
from . import dashboard, probe
from .messages import EMERGENCY, PROTECTIVE, RUNNING_MODE, STILL, Sample

_READINGS = 12  # that a verification looks at: a tenth of a second
_REST = 2.0  # s that an arm may take to come to rest
_UNLOCK, _POWER = 20.0, 40.0  # s
_AGAIN = 0.5  # s between questions

# Bits of RTDE's safety_status_bits beside the two that are looked at first.
_SAFEGUARD, _SYSTEM, _ROBOT, _VIOLATION, _FAULT = (1 << bit for bit in (4, 5, 6, 8, 9))

_WHY: dict[Cause, str] = {
    "protective_stop": "The robot went into a protective stop",
    "emergency_stop": "The emergency stop was pressed, or the arm lost its power",
    "connection_lost": "The connection to the controller was lost",
    "controller_dead": "The controller does not answer any more",
    "frozen": "The controller's data stopped while the connection stayed up",
    "speed_slider": "The speed slider was turned down to nothing",
    "operator_abort": "The operator stopped the robot",
    "watchdog": "The controller's program ended, since it heard nothing in time or somebody stopped it",
}


def diagnose(sample: Sample, stale: float) -> Cause | None:
    """What a reading says is wrong. stale: s."""
    if sample.safety & (EMERGENCY | _SYSTEM | _ROBOT) or sample.mode != RUNNING_MODE:
        return "emergency_stop"
    if sample.safety & (PROTECTIVE | _SAFEGUARD | _VIOLATION | _FAULT):
        return "protective_stop"
    if not sample.connected:
        return "connection_lost"
    if sample.age > stale:
        return "frozen"
    if not sample.program:
        return "watchdog"
    return None


def why_lost(address: str) -> Cause:
    """What is wrong where the connection broke or its process died."""
    try:
        reading = probe.read(address)[0]
    except RobotMissing as error:
        reason = error.__cause__
        if isinstance(reason, ConnectionRefusedError):
            return "controller_dead"
        return "frozen" if isinstance(reason, probe.Silent) else "connection_lost"
    if reading.safety & EMERGENCY:
        return "emergency_stop"
    return "protective_stop" if reading.safety & PROTECTIVE else "connection_lost"


def end_program(address: str) -> bool:
    """Has the Dashboard end whatever program runs or is paused, so that nobody can let it go on."""
    with contextlib.suppress(RobotMissing):
        return dashboard.ask(address, "stop")[0] == "Stopped"
    return False


def at_rest(address: str) -> bool:
    """Whether the arm stands still, read anew for a tenth of a second."""
    until = time.monotonic() + _REST
    while time.monotonic() < until:
        try:
            readings = probe.read(address, _READINGS)
        except RobotMissing:
            return False
        moving = max(abs(speed) for reading in readings for speed in reading.speeds)
        shift = max(math.dist(readings[0].joints, reading.joints) for reading in readings)
        if moving < STILL and shift < STILL and readings[-1].time > readings[0].time:
            return True
    return False


def halted(cause: Cause, still: bool, detail: str = "") -> RobotHalted:
    """The error that all motions raise from now on."""
    rest = (
        "the arm stands still"
        if still
        else "that the arm stands still could NOT be read back: press the emergency stop before going near it"
    )
    more = f" ({detail})" if detail else ""
    return RobotHalted(
        cause, f"{_WHY.get(cause, cause)}{more}; {rest}. Nothing moves until a person confirms a recovery."
    )


def release(address: str) -> None:
    """Undoes what stopped the arm: unlocks, powers on, releases the brakes. Only after a person said so.
    Raises RobotError where the controller refuses, RobotMissing where it does not answer."""
    end_program(address)
    dashboard.ask(address, "close safety popup", "close popup")
    status, remote = dashboard.ask(address, "safetystatus", "is in remote control")
    if remote != "true":
        raise RobotError("The robot is in local control; choose Remote at the top right of the pendant.")
    if status.endswith("PROTECTIVE_STOP"):
        for _ in _every(_AGAIN, _UNLOCK, "The protective stop could not be unlocked; look at the pendant."):
            dashboard.ask(address, "unlock protective stop")
            if dashboard.ask(address, "safetystatus")[0].endswith("NORMAL"):
                break
    elif not status.endswith(("NORMAL", "REDUCED")):
        raise RobotError(
            f"The controller says {status!r}; make the cell safe and turn the emergency stop out first."
        )
    for _ in _every(_AGAIN, _POWER, "The arm did not come up; look at the pendant."):
        mode = dashboard.ask(address, "robotmode")[0]
        if mode.endswith("RUNNING"):
            return
        if mode.endswith("POWER_OFF"):
            dashboard.ask(address, "power on")
        elif mode.endswith("IDLE"):
            dashboard.ask(address, "brake release")


def _every(pause: float, deadline: float, failure: str) -> Iterator[None]:
    """Turns until the deadline (s); then raises RobotError."""
    until = time.monotonic() + deadline
    while time.monotonic() < until:
        yield
        time.sleep(pause)
    raise RobotError(failure)
