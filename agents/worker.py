"""What one rollout worker does: open a world, run programs in the sandbox, measure the outcome."""

import json
import os
import signal
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from ..backends.sandbox import ProgramResult
from .errors import AgentError


@dataclass(frozen=True)
class Rollout:
    """Programs to play in order from an initial state. finish: measure the outcome after the last one."""

    suite: str
    parts: tuple[int, ...]
    state: int
    sources: tuple[str, ...]
    finish: bool
    scene: str = ""

    def continues(self, earlier: "Rollout") -> bool:
        """Whether this rollout begins with all that the earlier one has played."""
        same = (self.suite, self.parts, self.state) == (earlier.suite, earlier.parts, earlier.state)
        return same and self.sources[: len(earlier.sources)] == earlier.sources


@dataclass(frozen=True)
class Played:
    """Result of the last program, and of the episode where it was to finish. `privileged` is for judges only."""

    result: ProgramResult
    start_digest: str
    end_digest: str
    operations: int
    seconds: float
    outcome: dict[str, Any] | None = field(default=None)


class Worker:
    """Keeps worlds, one sandbox, and the episode that was played last."""

    def __init__(self) -> None:
        from ..backends.sandbox import Sandbox
        from ..backends.sim.world import WorldCache

        self._worlds = WorldCache(limit=int(os.environ.get("SKILL2REAL_WORLDS", "4")))
        self._sandbox = Sandbox()
        self._open: Rollout | None = None

    def play(self, rollout: Rollout) -> Played:
        if self._open is None or self._open.finish or not rollout.continues(self._open):
            self._begin(rollout)
        assert self._open is not None
        for source in rollout.sources[len(self._open.sources) :]:
            self._result = self._session.run(source, self._operations)
            self._operations_count += len(self._result.calls)
            self._seconds += self._result.seconds
        self._open = rollout
        outcome = None
        if rollout.finish:
            measured = self._world.outcome()
            outcome = {
                "success": measured.success,
                "settled": measured.settled,
                "progress": measured.progress,
                "record": json.loads(json.dumps(measured.record)),  # numpy's floats become Python's
            }
        return Played(
            self._result, self._start, self._world.digest(), self._operations_count, self._seconds, outcome
        )

    def _begin(self, rollout: Rollout) -> None:
        from ..backends.operations import CellOperations
        from ..backends.sim import suites

        if self._open is not None:
            self._session.close()
        self._open = None
        self._world = self._worlds.open(suites.load_task(rollout.suite, rollout.parts), rollout.state)
        self._operations = CellOperations(self._world.device)
        self._session = self._sandbox.session()
        self._start = self._world.digest()
        self._operations_count, self._seconds = 0, 0.0
        self._open = Rollout(rollout.suite, rollout.parts, rollout.state, (), False)


def work(pipe: Connection) -> None:
    """Body of a worker process: one rollout in, one answer out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    worker: Worker | None = None
    while True:
        try:
            rollout = pipe.recv()
        except (EOFError, OSError):
            return
        answer: Played | Exception
        try:
            worker = worker or Worker()
            answer = worker.play(rollout)
        except Exception as error:
            answer = AgentError(f"{type(error).__name__}: {error}")
        pipe.send(answer)
