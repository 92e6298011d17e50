"""Port 29999: the Dashboard, one line asked, one line answered."""

from collections.abc import Callable

from .controller import Controller
from .links import Connection, Links
from .safety import RobotMode, RuntimeState, SafetyMode

PORT = 29999
SERIAL = "20235500001"
_BANNER = "Connected: Universal Robots Dashboard Server"
_PROGRAM = "<unnamed>"
_NOT_REMOTE = "Command is not allowed in local control mode"
_TOO_EARLY = (
    "Cannot unlock protective stop until 5s after occurrence. "
    "Always inspect cause of protective stop before unlocking"
)
_STATES = {RuntimeState.PLAYING: "PLAYING", RuntimeState.PAUSED: "PAUSED"}


class DashboardConnection(Connection):
    """One Dashboard client."""

    def __init__(self, controller: Controller, links: Links) -> None:
        super().__init__(links)
        self._controller = controller
        self._rest = b""

    def connection_made(self, transport: object) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self.send(_BANNER.encode() + b"\n")

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            asked = line.decode("utf-8", "replace").strip()
            if asked == "quit":
                self.send(b"Disconnected\n")
                self.close()
            elif asked:
                self.send(answer(self._controller, asked).encode() + b"\n")


def answer(c: Controller, asked: str) -> str:
    """What the Dashboard says to a line, after doing it."""
    reply = _REPORTS.get(asked)
    if reply is not None:
        return reply(c)
    act = _ACTS.get(asked)
    if act is None:
        return f"could not understand: '{asked}'"
    return act(c) if c.remote else _NOT_REMOTE


def _state(c: Controller) -> str:
    return _STATES.get(c.runtime, "STOPPED")


_REPORTS: dict[str, Callable[[Controller], str]] = {
    "PolyscopeVersion": lambda c: "URSoftware {}.{}.{}.1101319 (Mar 22 2022)".format(*c.version),
    "version": lambda c: "{}.{}.{}.1101319".format(*c.version),
    "get serial number": lambda c: SERIAL,
    "get robot model": lambda c: "UR5",
    "is in remote control": lambda c: str(c.remote).lower(),
    "running": lambda c: f"Program running: {str(c.runtime is RuntimeState.PLAYING).lower()}",
    "programState": lambda c: f"{_state(c)} {_PROGRAM}",
    "robotmode": lambda c: f"Robotmode: {c.safety.robot.name}",
    "safetymode": lambda c: f"Safetymode: {c.safety.mode.name}",
    "safetystatus": lambda c: f"Safetystatus: {c.safety.mode.name}",
    "get loaded program": lambda c: "No program loaded",
    "isProgramSaved": lambda c: f"true {_PROGRAM}",
    "close popup": lambda c: "closing popup",
    "close safety popup": lambda c: "closing safety popup",
}


def _stop(c: Controller) -> str:
    c.stop()
    return "Stopped"


def _pause(c: Controller) -> str:
    c.pause()
    return "Pausing program"


def _play(c: Controller) -> str:
    return "Starting program" if c.play() else "Failed to execute: play"


def _unlock(c: Controller) -> str:
    return "Protective stop releasing" if c.safety.unlock(c.time) else _TOO_EARLY


def _power(mode: RobotMode, done: str) -> Callable[[Controller], str]:
    return lambda c: done if c.power(mode) else f"Failed to execute: {done}"


def _restart(c: Controller) -> str:
    if not c.safety.button:
        c.safety.mode = SafetyMode.NORMAL
        c.power(RobotMode.POWER_OFF)
    return "Restarting safety"


_ACTS: dict[str, Callable[[Controller], str]] = {
    "stop": _stop,
    "pause": _pause,
    "play": _play,
    "unlock protective stop": _unlock,
    "power on": _power(RobotMode.IDLE, "Powering on"),
    "power off": _power(RobotMode.POWER_OFF, "Powering off"),
    "brake release": _power(RobotMode.RUNNING, "Brake releasing"),
    "restart safety": _restart,
}
