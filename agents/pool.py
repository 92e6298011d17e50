"""Rollouts on this machine's cores: worker processes that play programs in worlds. A cluster can replace it.

A rollout is a pure function: task, initial state and programs in, results and digests out. A worker keeps
the world of its last rollout, so that an episode that goes on with one more program does not begin again.
"""

import asyncio
import multiprocessing as mp
import os
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Protocol

import structlog

from ..backends.sim.rollout import FORKS, Played, Rollout
from .errors import AgentError
from .worker import WORLDS, work

log = structlog.get_logger()
SCENE_BYTES = 1.2e9
RETRIES = 2  # a worker that dies is replaced, and the rollout played again from its start


class WorkerDied(AgentError):
    """A worker process ended in the middle of a rollout, more often than can be chance."""


class Pool(Protocol):
    """Where rollouts run. `play` may be called as often as there are workers at the same time."""

    size: int

    async def play(self, rollout: Rollout) -> Played: ...


OPEN = 9  # fits better than anything else
Beginning = tuple[str, tuple[int, ...], int, str]


@dataclass
class _Worker:
    process: mp.process.BaseProcess
    pipe: Connection
    scenes: list[str] = field(default_factory=list)
    begun: list[Beginning] = field(default_factory=list)  # how it may have forks of episodes
    last: Rollout | None = None

    def fit(self, rollout: Rollout) -> int:
        """How well this worker suits: it has the episode open, or has played how it begins, or has the scene
        loaded, or nothing to lose."""
        waiting = self.last is not None and not self.last.finish
        if waiting and self.last is not None and rollout.continues(self.last):
            return OPEN
        begun = 2 if _beginning(rollout) in self.begun else 0
        return begun + (rollout.scene in self.scenes) + (not waiting)


def _beginning(rollout: Rollout) -> Beginning:
    return rollout.suite, rollout.parts, rollout.state, rollout.sources[0]


class LocalPool:
    """Processes on this machine, started with spawn so that each has a rendering context of its own."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._context = mp.get_context("spawn")
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []
        self._free = asyncio.Condition()
        self._threads = ThreadPoolExecutor(max_workers=size, thread_name_prefix="pool")
        self.busy_seconds = 0.0

    def _spawn(self) -> _Worker:
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ.setdefault(variable, "1")  # read when a child loads numpy: one thread a worker
        os.environ.setdefault(WORLDS, str(_scenes_a_worker(self.size)))
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._all.append(worker)
        return worker

    async def play(self, rollout: Rollout) -> Played:
        """Raises WorkerDied after repeated deaths, AgentError for what the worker reports as wrong."""
        for attempt in range(RETRIES + 1):
            worker = await self._take(rollout)
            began = time.monotonic()
            try:
                answer = await asyncio.get_running_loop().run_in_executor(
                    self._threads, _ask, worker, rollout
                )
            except (EOFError, OSError):
                log.warning(
                    "worker died", pid=worker.process.pid, exit=worker.process.exitcode, attempt=attempt
                )
                await self._replace(worker)
                continue
            except asyncio.CancelledError:
                worker.process.kill()
                raise
            self.busy_seconds += time.monotonic() - began
            await self._give(worker, rollout)
            if isinstance(answer, Exception):
                raise answer
            return answer
        raise WorkerDied(
            f"a worker process died {RETRIES + 1} times on {rollout.suite} task {rollout.parts} "
            f"state {rollout.state}; "
            "look for a lack of memory, or run with fewer --workers"
        )

    async def _take(self, rollout: Rollout) -> _Worker:
        async with self._free:
            while not self._idle and len(self._all) >= self.size:
                await self._free.wait()
            if self._idle:
                best = max(self._idle, key=lambda worker: worker.fit(rollout))
                if best.fit(rollout) == OPEN or len(self._all) >= self.size:
                    self._idle.remove(best)
                    return best
            return self._spawn()

    async def _give(self, worker: _Worker, rollout: Rollout) -> None:
        kept = _scenes_a_worker(self.size)
        async with self._free:
            worker.last = rollout
            # as the worker does: the one that was not used for longest goes first
            first = _beginning(rollout)
            worker.begun = [*(b for b in worker.begun if b != first), first][-FORKS:]
            worker.scenes = [*(s for s in worker.scenes if s != rollout.scene), rollout.scene][-kept:]
            self._idle.append(worker)
            self._free.notify()

    async def _replace(self, worker: _Worker) -> None:
        worker.process.kill()
        async with self._free:
            self._all.remove(worker)
            self._free.notify()

    async def close(self) -> None:
        """Ends the workers; a rollout that still runs is lost."""
        for worker in self._all:
            worker.process.kill()
        for worker in self._all:
            worker.process.join(timeout=5)
        self._threads.shutdown(wait=False, cancel_futures=True)


def _scenes_a_worker(workers: int) -> int:
    """As many as fit into two thirds of the machine's memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(2, int(0.65 * memory / workers / SCENE_BYTES))


def _ask(worker: _Worker, rollout: Rollout) -> Played | Exception:
    worker.pipe.send(rollout)
    answer: Played | Exception = worker.pipe.recv()
    return answer


@asynccontextmanager
async def local_pool(size: int) -> AsyncIterator[LocalPool]:
    pool = LocalPool(size)
    try:
        yield pool
    finally:
        await pool.close()
