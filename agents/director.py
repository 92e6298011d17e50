"""Runs episodes: says which start, waits until they are finished and judged. Trainer and evaluation stand
on it.

What the ledger already holds is not done again: every step looks there first, so a run that was
interrupted goes on where it stopped, by the same code.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import anyio

from ..backends.sim.rollout import PIXELS
from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event, Purpose
from ..replay.memory import MemoryFold
from .actor import Role
from .chain import Chains
from .errors import RolloutFailed
from .forecast import Pace
from .lost import lost_things
from .spending import NO_LIMIT, Limit, Spending

ABREAST = 8  # episodes at the same time where language models are waited for
TURNS = 8  # programs that an episode may take: a look, and for each part of an instruction a study and an act


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
    seconds: float = 0.0
    operations: int = 0
    lost: tuple[str, ...] = ()  # things that were off the table before the start


@dataclass(frozen=True)
class _Outcome:
    """What is kept of an outcome: the record itself would fill memory in a long run."""

    success: bool
    settled: bool
    lost: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """One line for the person who watches. left: seconds to the end of everything, None where unknown."""

    what: str
    done: int = 0
    total: int = 0
    left: float | None = None


class Director(Role):
    """Starts episodes on behalf of an actor. `abreast`: how many at the same time."""

    actor: ev.Actor = "trainer"

    def __init__(
        self,
        bus: Bus,
        run: str,
        abreast: int,
        judged: bool,
        progress: Callable[[Progress], None] = lambda progress: None,
        limit: Limit = NO_LIMIT,
    ) -> None:
        super().__init__(bus, run)
        self._spending = Spending(limit)
        self.pixels = PIXELS  # of the pictures in the episodes that are started
        self.progress = progress
        self._judged = judged
        self._abreast = abreast
        self._changed = anyio.Condition()
        self.seq = 0  # last event heard
        self.memory = MemoryFold()
        self.memory_seq = 0
        self._chains = Chains()
        self._attempts: dict[str, int] = {}
        self._finished: dict[str, ev.EpisodeFinished] = {}
        self._outcomes: dict[str, _Outcome] = {}
        self._critiques: dict[str, ev.CritiqueWritten] = {}
        self.evaluating: set[str] = set()  # evaluations that were begun
        self.evaluated: dict[str, ev.EvaluationFinished] = {}
        self._stopped: dict[str, str] = {}  # episodes that could not be played, and why
        self.ready = anyio.Event()
        self._heard = time.monotonic()
        self._pace = Pace()

    @property
    def quiet(self) -> float:
        """Seconds since the last new event."""
        return time.monotonic() - self._heard

    def hear(self, seq: int, event: Event) -> None:
        self.seq = seq
        self.memory.hear(seq, event)
        if not self._chains.follow(event):
            return
        match event.type:
            case "memory.changed":
                self.memory_seq = seq
            case "episode.started":
                self._attempts[event.subject] = self._attempts.get(event.subject, 0) + 1
            case "episode.finished":
                self._finished[event.subject] = ev.payload(event)
            case "safety.stopped":
                self._stopped[event.subject] = ev.payload(event).message
            case "run.resumed":  # what could not be played is tried again
                self._finished = {id: f for id, f in self._finished.items() if f.status != "stopped"}
            case "outcome.measured":
                outcome: ev.OutcomeMeasured = ev.payload(event)
                self._outcomes[event.subject] = _Outcome(
                    outcome.success, outcome.settled, lost_things(outcome.truth)
                )
            case "model.called":
                self._spending.hear(ev.payload(event))
            case "evaluation.started":
                self.evaluating.add(event.subject)
            case "evaluation.finished":
                self.evaluated[event.subject] = ev.payload(event)
            case "critique.written":
                self._critiques[event.subject] = ev.payload(event)

    async def react(self, seq: int, event: Event) -> None:
        self._heard = time.monotonic()
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
        finished = self._finished.get(job.id)
        if finished is None:
            return False
        if finished.status == "stopped":
            return True
        if job.purpose in ("train", "trial") and self._judged and job.id not in self._critiques:
            return False
        return job.id in self._outcomes

    def judgement(self, id: str) -> Judgement:
        outcome = self._outcomes.get(id)
        finished = self._finished.get(id)
        return Judgement(
            finished.status if finished else "",
            outcome.success if outcome else None,
            outcome.settled if outcome else None,
            self._critiques.get(id),
            finished.seconds if finished else 0.0,
            finished.operations if finished else 0,
            outcome.lost if outcome else (),
        )

    async def episode(self, job: Job) -> Judgement:
        """Run one episode, unless the ledger has it. Raises RolloutFailed where it could not be played."""
        if not self._done(job):
            if job.id not in self._finished or job.id not in self._outcomes:
                started = ev.EpisodeStarted(
                    task=job.task,
                    state=job.state,
                    purpose=job.purpose,
                    memory=job.memory,
                    round=job.round,
                    batch=job.batch,
                    attempt=self._attempts.get(job.id, 0) + 1,
                    turns=TURNS,
                    pixels=self.pixels,
                )
                self._pace.began()
                await self.say("episode.started", started, subject=job.id)
            await self.until(lambda: self._done(job))
            self._pace.played()
        if self._finished[job.id].status == "stopped" and job.purpose != "deploy":
            raise RolloutFailed(f"episode {job.id} could not be played: {self._stopped.get(job.id, '')}")
        return self.judgement(job.id)

    async def episodes(
        self, jobs: Iterable[Job], what: str, done: int = 0, total: int = 0
    ) -> list[Judgement]:
        """Run several, as many abreast as there are workers; results in the order of the jobs.

        what: what the person who watches is told; done of total: where these are a part of more.

        Each lane keeps to its own scenes while it has some, since loading a scene costs more than an episode.
        """
        numbered = sorted(enumerate(jobs), key=lambda one: (one[1].task.scene, one[0]))
        size = -(-len(numbered) // self._abreast) or 1
        lanes = [deque(numbered[i : i + size]) for i in range(0, len(numbered), size)]
        results: dict[int, Judgement] = {}
        total = total or len(numbered)
        self.progress(Progress(what, done, total))

        async def run(own: deque[tuple[int, Job]]) -> None:
            while not self._spending.over and (lane := own or max(lanes, key=len)):
                index, job = lane.popleft() if lane is own else lane.pop()
                results[index] = await self.episode(job)
                count = done + len(results)
                self.progress(Progress(what, count, total, self._pace.left(self.ahead(total - count))))

        async with anyio.create_task_group() as group:
            for lane in lanes:
                group.start_soon(run, lane)
        if len(results) < len(numbered):
            self.check_spending()  # what was begun is finished
        return [results[index] for index in range(len(numbered))]

    def check_spending(self) -> None:
        """Raises LimitReached."""
        self._spending.check()

    def ahead(self, here: int) -> float:
        """Episodes still to come, with `here` left of those that are being counted."""
        return here

    def memory_ref(self, *, at: int | None = None, explore: bool = False, **more: object) -> ev.MemoryRef:
        """The run's memory now, or after event `at`."""
        position = self.memory_seq if at is None else at
        return ev.MemoryRef(at=position, explore=explore, **more)  # type: ignore[arg-type]
