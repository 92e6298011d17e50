"""Episodes as a fold: each one's task, memory, course and end, and what its critics said."""

from typing import Any, Final

import msgspec

from ..ledger.events import (
    CritiqueWritten,
    EpisodeFinished,
    EpisodeStarted,
    Event,
    Finding,
    MemoryRef,
    OutcomeMeasured,
    Purpose,
    Task,
)
from .fold import data_of

TYPES: Final = frozenset(
    {
        "episode.started",
        "episode.finished",
        "outcome.measured",
        "program.proposed",
        "program.rejected",
        "program.executed",
        "critique.written",
        "critique.blocked",
        "safety.stopped",
        "run.resumed",
    }
)


class Critique(msgspec.Struct, frozen=True):
    """What the Verifier wrote, and at which event."""

    seq: int
    text: str
    findings: tuple[Finding, ...]
    success: bool


class Episode(msgspec.Struct, kw_only=True):
    """One attempt at a task. What was not heard is empty or None; `success` needs privileged events."""

    id: str
    seq: int  # of episode.started
    task: Task
    state: int
    purpose: Purpose
    memory: MemoryRef
    round: str = ""
    batch: int = 0
    attempt: int = 1
    programs: list[int] = []  # seq of each program.proposed
    executed: list[int] = []  # seq of each program.executed
    rejected: int = 0  # programs that were refused before they ran
    critiques: list[Critique] = []
    blocked: int = 0  # critiques that would have leaked
    stopped: str = ""  # cause of a safety stop
    status: str = "open"  # then done, rejected, error or stopped; lost if the run was resumed over it
    start_digest: str = ""
    end_digest: str = ""
    operations: int = 0
    seconds: float = 0.0
    success: bool | None = None
    settled: bool | None = None
    progress: float | None = None
    end: int = 0  # seq of episode.finished


class EpisodeFold:
    """Episodes by id, in the order in which they began. One that is started again begins anew."""

    types = TYPES

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}

    def hear(self, seq: int, event: Event) -> None:
        """Take in one event. Raises UnknownEvent or BadEvent."""
        if event.type not in TYPES:
            return
        if event.type == "episode.started":
            self._start(seq, event.subject or event.id, data_of(seq, event))
        elif event.type == "run.resumed":
            for open_one in self.episodes.values():
                if open_one.status == "open":
                    open_one.status = "lost"
        elif (episode := self.episodes.get(event.subject)) is not None:
            self._go_on(episode, seq, event)

    def _start(self, seq: int, id: str, data: EpisodeStarted) -> None:
        self.episodes.pop(id, None)
        self.episodes[id] = Episode(
            id=id,
            seq=seq,
            task=data.task,
            state=data.state,
            purpose=data.purpose,
            memory=data.memory,
            round=data.round,
            batch=data.batch,
            attempt=data.attempt,
        )

    def _go_on(self, episode: Episode, seq: int, event: Event) -> None:
        # A program's text and trace stay in the ledger: its number is enough to find them.
        match event.type:
            case "program.proposed":
                episode.programs.append(seq)
            case "program.executed":
                episode.executed.append(seq)
            case "program.rejected":
                episode.rejected += 1
            case "critique.blocked":
                episode.blocked += 1
            case _:
                _take_in(episode, seq, data_of(seq, event))


def _take_in(episode: Episode, seq: int, data: Any) -> None:
    if isinstance(data, EpisodeFinished):
        episode.status = data.status
        episode.start_digest = data.start_digest
        episode.end_digest = data.end_digest
        episode.operations = data.operations
        episode.seconds = data.seconds
        episode.end = seq
    elif isinstance(data, OutcomeMeasured):
        episode.success = data.success
        episode.settled = data.settled
        episode.progress = data.progress
    elif isinstance(data, CritiqueWritten):
        episode.critiques.append(Critique(seq, data.text, data.findings, data.success))
    else:  # SafetyStopped
        episode.stopped = data.cause
