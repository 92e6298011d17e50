"""The state of a run after any of its events: memory, rounds, episodes and candidates, in one pass."""

from pathlib import Path
from typing import Any

import msgspec

from ..ledger.events import KINDS, Entry, Event, Layer
from ..ledger.reader import Reader
from .candidates import CandidateFold
from .episodes import Episode
from .fold import Fold, feed
from .memory import MemoryFold
from .point import resolve
from .run import Checkpoint, Deployment, Evaluation, ModelUse, Round, RunFold

LEDGER = "ledger.db"  # in a run's folder


class EpisodeCount(msgspec.Struct):
    """Episodes of one purpose. `successes` counts those whose outcome was heard."""

    episodes: int = 0
    finished: int = 0
    successes: int = 0


class State:
    """What the events up to `seq` amount to. It hears further events as any fold does."""

    types = frozenset(KINDS)

    def __init__(self, path: Path) -> None:
        self.path = path  # the run's folder
        self.run = RunFold()
        self.memory = MemoryFold()
        self.candidates = CandidateFold()

    @property
    def seq(self) -> int:
        """The last event heard, 0 before the first."""
        return self.run.seq

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self.memory.entries.values())

    @property
    def folds(self) -> tuple[Fold, ...]:
        """Its parts: fed one by one they spare each other's events."""
        return self.run, self.memory, self.candidates

    def hear(self, seq: int, event: Event) -> None:
        """Take in one event. Raises UnknownEvent or BadEvent."""
        for fold in self.folds:
            fold.hear(seq, event)

    def summary(self) -> "Summary":
        """The state as plain data, ready for JSON."""
        run, memory = self.run, self.memory
        return Summary(
            run=run.run or self.path.name,
            seq=self.seq,
            time=run.latest,
            started=run.started,
            elapsed=run.elapsed,
            state=run.state,
            reason=run.reason,
            config=run.config,
            seeds=run.seeds,
            packages=run.packages,
            api_hash=run.api_hash,
            rounds=tuple(run.rounds.values()),
            episodes=count_episodes(run.episodes),
            candidates=_statuses(self.candidates),
            memory=self.entries,
            memory_hash=memory.hash,
            frozen=tuple(sorted(memory.frozen)),
            checkpoints=tuple(run.checkpoints.values()),
            evaluations=tuple(run.evaluations),
            deployments=tuple(run.deployments),
            models={f"{role} {model}".strip(): use for (role, model), use in run.models.items()},
            cost=run.cost,
            events=dict(sorted(run.counts.items())),
            refusals=dict(sorted(run.refusals.items())),
            doubts=tuple(sorted([*memory.doubts, *self.candidates.doubts])),
        )


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A state as plain data. Times are RFC 3339 in UTC, durations seconds."""

    run: str
    seq: int
    time: str
    started: str
    elapsed: float
    state: str
    reason: str
    config: dict[str, Any]
    seeds: dict[str, tuple[int, int]]
    packages: dict[str, str]
    api_hash: str
    rounds: tuple[Round, ...]
    episodes: dict[str, EpisodeCount]  # by purpose
    candidates: dict[str, int]  # by status
    memory: tuple[Entry, ...]
    memory_hash: str
    frozen: tuple[Layer, ...]
    checkpoints: tuple[Checkpoint, ...]
    evaluations: tuple[Evaluation, ...]
    deployments: tuple[Deployment, ...]
    models: dict[str, ModelUse]  # by role and model
    cost: float
    events: dict[str, int]  # by type
    refusals: dict[str, int]  # by code
    doubts: tuple[tuple[int, str], ...]  # (seq, what does not fit)


def count_episodes(
    episodes: dict[str, Episode], after: int = 0, upto: int | None = None
) -> dict[str, EpisodeCount]:
    """Episodes by purpose, of those that began with after < seq ≤ upto."""
    counts: dict[str, EpisodeCount] = {}
    for episode in episodes.values():
        if episode.seq > after and (upto is None or episode.seq <= upto):
            count = counts.setdefault(episode.purpose, EpisodeCount())
            count.episodes += 1
            count.finished += episode.end > 0
            count.successes += bool(episode.success)
    return counts


def _statuses(fold: CandidateFold) -> dict[str, int]:
    counts: dict[str, int] = {}
    for candidate in fold.candidates.values():
        counts[candidate.status] = counts.get(candidate.status, 0) + 1
    return counts


def state_at(run_dir: Path, point: str | int = "end") -> State:
    """The state at a sequence number, time, checkpoint name, or the end.

    Raises UnknownPoint, UnknownEvent or BadEvent, or the ledger's own errors.
    """
    run_dir = Path(run_dir)
    state = State(run_dir)
    with Reader(run_dir / LEDGER) as reader:
        feed(reader, *state.folds, upto=resolve(reader, str(point)))
    return state
