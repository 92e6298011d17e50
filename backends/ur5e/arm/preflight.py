"""Looks at the controller before anything is asked of it, and says what is wrong and what to do about it.

Nothing here uses ur_rtde, so nothing here can block: each look has a deadline of a second.
"""

import importlib.util
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import Cause, RobotError, RobotMissing
from . import dashboard, probe
from .kinematics import Kinematics
from .limits import ArmLimits, Tool
from .messages import EMERGENCY, PROTECTIVE, RUNNING_MODE
from .planning import Planner

_PORTS = {30004: "RTDE", 30003: "script"}
_TIMEOUT = 1.0  # s
_AGAIN, _PAUSE = 4, 0.25  # looks, s between them
_MARGIN = 0.005  # m outside the box that an arm may stand after a stop
_OLDEST, _POLYSCOPE_X = (5, 10), 10
SLOWEST = 0.02  # of the speed slider, below which an arm counts as held by it


@dataclass(frozen=True)
class Finding:
    """name: what is wrong, as one word. problem, remedy: sentences for a person. cause: set where the arm is
    stopped, so that it needs a recovery rather than a repair."""

    name: str
    problem: str
    remedy: str
    cause: Cause | None = None

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}"


def preflight(address: str, limits: ArmLimits, tool: Tool, ours: bool = False) -> list[Finding]:
    """All that is wrong; an empty list means that the arm can be used. ours: whether this program is
    connected already, and so uses the registers itself."""
    found = list(_library())
    found += _route(address)
    if any(finding.name == "no_route" for finding in found):
        return found
    found += _dashboard(address)
    try:
        reading = probe.read(address)[0]
        if not ours:
            found += _registers(address)
    except RobotMissing as error:
        found.append(_silent(error))
        return found
    found += _stops(reading)
    found += _place(reading, limits, tool)
    return found


def _library() -> Iterator[Finding]:
    for module in ("rtde_control", "ur_analytic_ik"):
        if importlib.util.find_spec(module) is None:
            yield Finding(
                "library_missing",
                f"The Python module {module} is not installed.",
                "pip install 'skill2real[ur5e]'.",
            )


def _route(address: str) -> Iterator[Finding]:
    for port, name in _PORTS.items():
        try:
            socket.create_connection((address, port), _TIMEOUT).close()
        except OSError as error:
            yield Finding(
                "no_route",
                f"Nothing answers at {address}:{port}, the controller's {name} port ({error}).",
                "Check the cable, the address in the robot file, the controller's network settings, and that "
                f"its Security settings leave port {port} open.",
            )
            return


def _dashboard(address: str) -> Iterator[Finding]:
    try:
        version, remote = dashboard.ask(address, "PolyscopeVersion", "is in remote control")
    except RobotMissing as error:
        if isinstance(error.__cause__, ConnectionRefusedError):
            yield Finding(
                "wrong_polyscope",
                str(error),
                "PolyScope X has none and is not supported; in PolyScope 5, enable it under Security.",
            )
        return
    number = re.search(r"(\d+)\.(\d+)", version)
    if number is None or not _OLDEST <= (int(number[1]), int(number[2])) < (_POLYSCOPE_X, 0):
        yield Finding(
            "wrong_polyscope",
            f"The controller says {version!r}; PolyScope 5.10 or a later 5.x is needed.",
            "Update the controller's software.",
        )
    if remote != "true":
        yield Finding(
            "remote_control",
            "The robot is in local control, in which it ignores programs from the network without a word.",
            "Enable remote control in Settings > System, then choose Remote at the top right of the pendant.",
        )


def _registers(address: str) -> Iterator[Finding]:
    for _ in range(_AGAIN):  # a controller may need a moment to see that a client has gone
        if probe.registers_free(address):
            return
        time.sleep(_PAUSE)
    yield Finding(
        "registers_in_use",
        f"Something else sets the input registers of the controller at {address}.",
        "Disable EtherNet/IP, PROFINET and MODBUS in its Installation, and end other programs that use RTDE.",
    )


def _silent(error: RobotMissing) -> Finding:
    return Finding("silent", str(error), "Restart the controller if it hangs.")


def _stops(reading: probe.Reading) -> Iterator[Finding]:
    if reading.safety & EMERGENCY:
        yield Finding(
            "emergency_stop",
            "The emergency stop is pressed.",
            "Make the cell safe, turn the button out, then power the arm on and release its brakes.",
            "emergency_stop",
        )
    elif reading.safety & PROTECTIVE:
        yield Finding(
            "protective_stop",
            "The robot is in a protective stop.",
            "Find out why, then unlock it on the pendant.",
            "protective_stop",
        )
    elif reading.mode != RUNNING_MODE:
        yield Finding(
            "not_running",
            "The arm has no power or its brakes are on.",
            "Power it on and release the brakes on the pendant.",
        )
    if reading.slider < SLOWEST:
        yield Finding(
            "speed_slider",
            f"The speed slider stands at {100 * reading.slider:.0f}%.",
            "Raise it on the pendant; the arm moves only as fast as it allows.",
            "speed_slider",
        )


def _place(reading: probe.Reading, limits: ArmLimits, tool: Tool) -> Iterator[Finding]:
    joints = np.array(reading.joints)
    try:
        kinematics = Kinematics(tool.flange_to_tool, limits.joints)
    except RobotError:
        return  # the library is missing, which is a finding of its own
    if not kinematics.allowed(joints):
        angles = ", ".join(f"{angle:.2f}" for angle in joints)
        yield Finding(
            "safety_limits",
            f"The joints stand at {angles} rad, outside the limits of the robot file.",
            "Jog the arm back with the pendant, or correct `joints` in the robot file.",
        )
    planner = Planner(kinematics, limits)
    pose = planner.tool(joints)
    if not planner.inside(pose, _MARGIN):
        x, y, z = pose[:3, 3]
        yield Finding(
            "safety_limits",
            f"The tool point ({x:.3f}, {y:.3f}, {z:.3f} m) is outside the workspace box of the robot file.",
            "Jog the arm into the box with the pendant, or correct `workspace` or `tool` in the robot file.",
        )
