"""Runs episodes: says which start, waits until they are finished and judged. Trainer and evaluation stand
on it.

What the ledger already holds is not done again: every step looks there first, so a run that was
interrupted goes on where it stopped, by the same code.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import anyio

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event, Purpose
from ..replay.memory import MemoryFold
from .actor import Role


@dataclass(frozen=True)
class Job:
    """One episode to run."""

    id: str
    task: ev.Task
    state: int
    purpose: Purpose
    memory: ev.MemoryRef
    round: str = ""
    batch: int = 0


@dataclass(frozen=True)
class Judgement:
    """What the director knows of a finished episode. success is None until the outcome was heard."""

    status: str
    success: bool | None
    settled: bool | None
    critique: ev.CritiqueWritten | None


class Director(Role):
    """Starts episodes on behalf of an actor. `abreast`: how many at the same time."""

    actor: ev.Actor = "trainer"

    def __init__(self, bus: Bus, run: str, abreast: int, judged: bool) -> None:
        super().__init__(bus, run)
        self._judged = judged
        self._slots = anyio.Semaphore(abreast)
        self._changed = anyio.Condition()
        self.memory = MemoryFold()
        self.memory_seq = 0
        self._attempts: dict[str, int] = {}
        self._finished: dict[str, str] = {}
        self._outcomes: dict[str, ev.OutcomeMeasured] = {}
        self._critiques: dict[str, ev.CritiqueWritten] = {}
        self.evaluated: dict[str, ev.EvaluationFinished] = {}
        self.ready = anyio.Event()
        self.on_episode: Callable[[Job, Judgement], None] = lambda job, judgement: None

    def hear(self, seq: int, event: Event) -> None:
        self.memory.hear(seq, event)
        match event.type:
            case "memory.changed":
                self.memory_seq = seq
            case "episode.started":
                self._attempts[event.subject] = self._attempts.get(event.subject, 0) + 1
            case "episode.finished":
                finished: ev.EpisodeFinished = ev.payload(event)
                self._finished[event.subject] = finished.status
            case "outcome.measured":
                self._outcomes[event.subject] = ev.payload(event)
            case "evaluation.finished":
                self.evaluated[event.subject] = ev.payload(event)
            case "critique.written":
                self._critiques[event.subject] = ev.payload(event)

    async def react(self, seq: int, event: Event) -> None:
        await self._wake()

    async def catch_up(self) -> None:
        self.ready.set()
        await self._wake()

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the events heard make the condition true."""
        async with self._changed:
            while not condition():
                await self._changed.wait()

    def _done(self, job: Job) -> bool:
        status = self._finished.get(job.id)
        if status is None:
            return False
        if status == "stopped":
            return True
        if job.purpose in ("train", "trial") and self._judged and job.id not in self._critiques:
            return False
        return job.id in self._outcomes

    def judgement(self, id: str) -> Judgement:
        outcome = self._outcomes.get(id)
        return Judgement(
            self._finished.get(id, ""),
            outcome.success if outcome else None,
            outcome.settled if outcome else None,
            self._critiques.get(id),
        )

    async def episode(self, job: Job) -> Judgement:
        """Run one episode, unless the ledger has it."""
        if not self._done(job):
            async with self._slots:
                if job.id not in self._finished:
                    started = ev.EpisodeStarted(
                        task=job.task,
                        state=job.state,
                        purpose=job.purpose,
                        memory=job.memory,
                        round=job.round,
                        batch=job.batch,
                        attempt=self._attempts.get(job.id, 0) + 1,
                    )
                    await self.say("episode.started", started, subject=job.id)
                await self.until(lambda: self._done(job))
        judgement = self.judgement(job.id)
        self.on_episode(job, judgement)
        return judgement

    async def episodes(self, jobs: Iterable[Job]) -> list[Judgement]:
        """Run several side by side; results in the order of the jobs."""
        jobs = list(jobs)
        results: dict[int, Judgement] = {}

        async def one(index: int, job: Job) -> None:
            results[index] = await self.episode(job)

        async with anyio.create_task_group() as group:
            for index, job in enumerate(jobs):
                group.start_soon(one, index, job)
        return [results[index] for index in range(len(jobs))]

    def memory_ref(self, *, at: int | None = None, explore: bool = False, **more: object) -> ev.MemoryRef:
        """The run's memory now, or after event `at`."""
        position = self.memory_seq if at is None else at
        return ev.MemoryRef(at=position, explore=explore, **more)  # type: ignore[arg-type]
