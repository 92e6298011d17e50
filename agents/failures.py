"""What failed, by kind and task: the Verifier's diagnosis of recorded episodes, made after the fact.

In an evaluation nobody judges while it runs; this reads the recorded ground truth as its operator may.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..ledger import events as ev
from ..ledger.events import Event
from ..ledger.reader import Reader
from ..replay.state import LEDGER
from .benchmarks import key_of
from .chain import TYPES, Chains
from .diagnosis import diagnose
from .lost import lost_things
from .models.base import EpisodeView

LOST = "a thing was off the table before the start"
UNHELD = "each decision went well, but the goal was not reached"


@dataclass
class TaskFailures:
    """Episodes of one task in one part of the run. kinds: failures by the first thing that went wrong."""

    key: str
    instruction: str
    episodes: int = 0
    failed: int = 0
    undone: int = 0  # reached, but not so at rest
    kinds: dict[str, int] = field(default_factory=dict)


@dataclass
class PartFailures:
    """A part of a run: one arm of an evaluation, or a round's practice."""

    part: str
    kinds: dict[str, int] = field(default_factory=dict)
    by_task: dict[str, TaskFailures] = field(default_factory=dict)


@dataclass
class _Open:
    view: EpisodeView
    outcome: ev.OutcomeMeasured | None = None
    status: str = ""


def failures(path: Path, purposes: Iterable[str] = ("eval", "train")) -> list[PartFailures]:
    """Failures of a run's judged episodes, by part in the order in which the parts began. path: its folder.

    Raises LedgerError.
    """
    parts: dict[str, PartFailures] = {}
    for episode in _played(path, frozenset(purposes)):
        assert episode.outcome is not None
        task = episode.view.started.task
        name = _part(episode.view)
        part = parts.setdefault(name, PartFailures(name))
        own = part.by_task.setdefault(key_of(task), TaskFailures(key_of(task), task.instruction))
        own.episodes += 1
        if episode.outcome.success:
            own.undone += not episode.outcome.settled
            continue
        own.failed += 1
        kind = kind_of(episode.view, episode.outcome, episode.status)
        own.kinds[kind] = own.kinds.get(kind, 0) + 1
        part.kinds[kind] = part.kinds.get(kind, 0) + 1
    for part in parts.values():
        part.kinds = dict(sorted(part.kinds.items(), key=lambda one: (-one[1], one[0])))
    return list(parts.values())


def kind_of(view: EpisodeView, outcome: ev.OutcomeMeasured, status: str) -> str:
    """The first thing that went wrong in a failed episode, in public words."""
    if lost_things(outcome.truth):
        return LOST
    if status in ("rejected", "error"):
        return f"the program ended in {'a rejection' if status == 'rejected' else 'an error'}"
    for finding in diagnose(view, outcome.truth, outcome.success):
        if not finding.good:
            return f"{finding.decision}: {finding.kind or 'wrong'}"
    return UNHELD


def _played(path: Path, purposes: frozenset[str]) -> Iterator[_Open]:
    """Episodes that came to an end, as they do."""
    chains, open_ones = Chains(), dict[str, _Open]()
    with Reader(path / LEDGER) as reader:
        for committed in reader.events(types=(*TYPES, "run.resumed")):
            event = ev.decode(committed.raw)
            if not chains.follow(event):
                continue
            episode = open_ones.get(event.subject)
            if event.type == "episode.started":
                started: ev.EpisodeStarted = ev.payload(event)
                if started.purpose in purposes:
                    open_ones[event.subject] = _Open(EpisodeView(event.subject, started))
            elif episode is not None:
                _hear(episode, event)
                if episode.status and episode.outcome is not None:
                    yield open_ones.pop(event.subject)


def _hear(episode: _Open, event: Event) -> None:
    episode.view.hear(event)
    if event.type == "outcome.measured":
        episode.outcome = ev.payload(event)
    elif event.type == "episode.finished":
        episode.status = ev.payload(event).status


def _part(view: EpisodeView) -> str:
    """An evaluation's checkpoint and arm, or the round."""
    if view.started.purpose != "eval":
        return view.started.round
    suite = f"/{view.started.task.suite}/"
    return view.id.partition(suite)[0].removeprefix("eval/")
