"""Starts an emulated controller in a process of its own and talks to its control port."""

import contextlib
import json
import selectors
import socket
import subprocess
import sys
from typing import Any, Self

from ...errors import RobotMissing

_START, _ANSWER = 20.0, 5.0  # s


class EmulatedController:
    """A running emulated controller; ends with the `with` block, or with the process that started it.

    address: 127.0.0.x. options: as of `python -m …emulator.controller`. Raises RobotMissing if it does not
    start.
    """

    def __init__(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __package__, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt from the keyboard is for the drivers
        )
        try:
            place = json.loads(self._first_line())
            self.address: str = place["address"]
            self._control = socket.create_connection((place["address"], place["control"]), _ANSWER)
        except (OSError, ValueError) as error:
            self.close()
            raise RobotMissing(
                f"The emulated controller did not start ({error}); its own message is above this one."
            ) from error
        self._lines = self._control.makefile("rb")

    def do(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Injects a fault, or asks for the state; see faults.Faults. Raises ValueError if it is refused,
        OSError if the controller is gone."""
        self._control.sendall(json.dumps({"do": name, **arguments}).encode() + b"\n")
        line = self._lines.readline()
        if not line:
            raise ConnectionResetError("The emulated controller is gone.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def state(self) -> dict[str, Any]:
        return self.do("state")

    def kill(self) -> None:
        """As a power cut would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._control.close()
        self.close()

    def _first_line(self) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            if not selector.select(_START):
                raise TimeoutError(f"it said nothing for {_START:.0f} s")
        return pipe.readline()
