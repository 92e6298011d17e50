"""A training run in small, through both layers, on real scenes: its configuration, and its ledger read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from skill2real.agents.config import RunConfig
from skill2real.ledger import events as ev
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.reader import Reader


def config(run: str, **more: Any) -> RunConfig:
    """Two tasks of one scene, and both joined for the Brain; the smallest that reaches verdicts."""
    settings: dict[str, Any] = {
        "suite": "libero_90",
        "tasks": ("51", "52"),
        "brain_tasks": ("51+52",),
        "cerebellum_rounds": 1,
        "brain_rounds": 1,
        "episodes": 4,
        "trials": 8,
    }
    return RunConfig(run=run, **{**settings, **more})


class Said(NamedTuple):
    """An event with its data decoded."""

    seq: int
    event: ev.Event
    data: Any


def read(ledger: Path, *types: str) -> list[Said]:
    """The ledger's events in order, of these types or all."""
    with Reader(ledger) as reader:
        found = [(seq, ev.decode(raw)) for seq, raw in reader.events(types=types or None)]
    return [Said(seq, event, ev.payload(event)) for seq, event in found]


def by_subject(said: list[Said], type: str) -> dict[str, Any]:
    """Data of the last event of a type about each subject."""
    return {one.event.subject: one.data for one in said if one.event.type == type}


def memories(said: list[Said]) -> Iterator[tuple[Said, dict[str, ev.Entry]]]:
    """Each change of memory, with the entries after it as they follow from what was added and removed."""
    entries: dict[str, ev.Entry] = {}
    for one in said:
        if one.event.type == "memory.changed":
            entries = {id: entry for id, entry in entries.items() if id not in one.data.removed}
            entries.update((entry.id, entry) for entry in one.data.added)
            yield one, dict(entries)


def learned(said: list[Said]) -> tuple[str, dict[str, tuple[str, Any, Any]]]:
    """What a run comes to: the hash of its memory, and each candidate's verdict with both statistics."""
    entries = [{}, *(entries for _, entries in memories(said))][-1]
    verdicts = by_subject(said, "verdict.given")
    return memory_hash(entries.values()), {
        id: (verdict.verdict, verdict.decision, verdict.completion) for id, verdict in verdicts.items()
    }


def digests(said: list[Said]) -> dict[str, tuple[str, str]]:
    """State of each finished episode's world at its start and end."""
    finished = by_subject(said, "episode.finished")
    return {id: (data.start_digest, data.end_digest) for id, data in finished.items()}
