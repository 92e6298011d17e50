"""The control script that ur_rtde uploads, played without an interpreter: what it does with the registers is
known.

Main loop and threads are generators that yield where the script waits for the next tick. A command comes in
integer register 0 and is answered there: 1 ready, 2 done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .commands import COMMANDS
from .motion import Motion

if TYPE_CHECKING:
    from .controller import Controller

Steps = Iterator[None]

READY, DONE = 1, 2
STOP_SCRIPT = 255
_REPEATED = frozenset({6, 9, 10, 11, 24, 25, 26, 27, 38, 58, *range(66, 72)})  # run each tick, never done
_RUNNING = 1 << 15  # of the asynchronous status; below it the progress, above it write count and operation
_WRITES, _OPERATION = 16, 24
_NUMBER = r"\s*=?\s*([^,\]\)]+)"
_OFFSET = re.compile(r"reg_offset_int = #[^\n]*\n(\d+)")
_PATH = re.compile(
    r"signal_async_progress\((?P<progress>\d+)\)"
    rf"|move(?P<kind>[jlp])\((?P<pose>p?)\[(?P<target>[^\]]*)\]\s*,\s*a{_NUMBER},\s*v{_NUMBER}"
)


@dataclass(frozen=True)
class Waypoint:
    """A line of an uploaded path. target: joints (rad), or a UR pose where `pose` is set. joint_move: movej,
    else straight. progress: what is signalled as it begins."""

    target: tuple[float, ...]
    pose: bool
    joint_move: bool
    speed: float
    acceleration: float
    progress: int


class ControlScript:
    """One run of the script. text: as uploaded; only its register offset and its path are read."""

    def __init__(self, controller: Controller, text: str) -> None:
        self.controller = controller
        offset = _OFFSET.search(text)
        self._offset = int(offset[1]) if offset else 0
        self.path = list(_waypoints(text))
        self.speeding = ""  # "joint" or "tool" while the speed thread runs
        self.internal = 0  # a command that a thread gives to the main loop
        self._writes, self._operation = 0, 0
        self._threads: dict[str, Steps] = {}
        self._main = self._loop()

    @staticmethod
    def recognises(text: str) -> bool:
        return "def rtde_control():" in text

    def step(self) -> bool:
        """One tick; False when the script has ended."""
        for steps in (self._main, *self._threads.values()):
            try:
                next(steps)
            except StopIteration:
                if steps is self._main:
                    return False
                self._threads = {
                    name: thread for name, thread in self._threads.items() if thread is not steps
                }
        return True

    def number(self, index: int) -> int:
        """An integer input register, counted from the script's own first one; so for all registers here."""
        return self.controller.registers.int_inputs[self._offset + index]

    def double(self, index: int) -> float:
        return self.controller.registers.double_inputs[self._offset + index]

    def six(self, index: int) -> NDArray[np.float64]:
        return np.array([self.double(index + k) for k in range(6)])

    def answer(self, index: int, value: int) -> None:
        self.controller.registers.int_outputs[self._offset + index] = value

    def answer_six(self, values: NDArray[np.float64] | tuple[float, ...]) -> None:
        for k, value in enumerate(values):
            self.controller.registers.double_outputs[self._offset + k] = float(value)

    @property
    def watched(self) -> str:
        """The register whose writes the watchdog counts."""
        return f"input_int_register_{self._offset}"

    def wait(self, motion: Motion) -> Steps:
        """Moves, and yields until the motion has ended."""
        self.controller.motion = motion
        while not motion.finished:
            yield

    def run(self, name: str, steps: Steps) -> None:
        """Starts a thread."""
        self._threads[name] = steps

    def kill(self, name: str) -> bool:
        """Ends a thread; False if it was not there."""
        return self._threads.pop(name, None) is not None

    def runs(self, name: str) -> bool:
        return name in self._threads

    def progress(self, value: int) -> None:
        """Writes the asynchronous status. value: 0 for a new operation, a progress, or -1 when it has
        ended."""
        self._writes = (self._writes + 1) % 128
        if value == 0:
            self._operation = (self._operation + 1) % 128
        running = _RUNNING + min(value, _RUNNING - 1) if value >= 0 else 0
        self.answer(2, (self._writes << _WRITES) + (self._operation << _OPERATION) + running)

    def _loop(self) -> Steps:
        executing = False
        self.progress(-1)
        self.answer(0, READY)
        while True:
            command = self.number(0)
            if command == 0:
                command, self.internal = self.internal, 0
            if command == STOP_SCRIPT:
                return
            if command == 0:
                executing = False
                self.answer(0, READY)
            elif command in _REPEATED:
                yield from self._process(command)
                self.answer(0, READY)
            elif not executing:
                yield from self._process(command)
                self.answer(0, DONE)
                executing = True
            yield

    def _process(self, command: int) -> Steps:
        act = COMMANDS.get(command)
        steps = act(self) if act is not None else None
        if steps is not None:
            yield from steps


def _waypoints(text: str) -> Iterator[Waypoint]:
    body = text[text.find("def exec_move_path") : text.find("def write_async_progress_register")]
    progress = 0
    for line in _PATH.finditer(body):
        if line["progress"] is not None:
            progress = int(line["progress"])
            continue
        acceleration, speed = line.groups()[-2:]
        target = tuple(float(number) for number in line["target"].split(","))
        yield Waypoint(
            target, line["pose"] == "p", line["kind"] == "j", float(speed), float(acceleration), progress
        )
