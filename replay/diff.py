"""The difference of two points: what changed in memory, and which verdicts and episodes lie between."""

from difflib import unified_diff
from itertools import islice
from typing import Any

import msgspec

from ..ledger.events import Entry
from .run import Checkpoint, Round
from .state import EpisodeCount, State, count_episodes


class ValueChange(msgspec.Struct, frozen=True):
    """A value of an entry's state. A path such as `offset.x` or `prototypes[2]`; None where there is none."""

    path: str
    before: Any
    after: Any


class EntryChange(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that both points have, with different content."""

    id: str
    before: Entry
    after: Entry
    template: tuple[str, ...]  # unified diff of the program text, without its file names
    state: tuple[ValueChange, ...]


class VerdictLine(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict that was given between the points, or a screening that a candidate did not pass."""

    candidate: str
    seq: int
    verdict: str
    reason: str
    entries: tuple[str, ...]


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """From one point to another: `before` may be the later one. What lies between is the same either way."""

    before: int
    after: int
    memory_before: str
    memory_after: str
    added: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    changed: tuple[EntryChange, ...]
    verdicts: tuple[VerdictLine, ...]
    episodes: dict[str, EpisodeCount]  # begun between, by purpose
    rounds: tuple[Round, ...]  # closed between
    checkpoints: tuple[Checkpoint, ...]  # frozen between


def diff(a: State, b: State) -> Diff:
    """What changed from `a` to `b`, two points of one run."""
    low, high = sorted((a, b), key=lambda state: state.seq)
    before, after = a.memory.entries, b.memory.entries
    return Diff(
        before=a.seq,
        after=b.seq,
        memory_before=a.memory.hash,
        memory_after=b.memory.hash,
        added=tuple(entry for id, entry in after.items() if id not in before),
        removed=tuple(entry for id, entry in before.items() if id not in after),
        changed=tuple(
            entry_change(before[id], entry)
            for id, entry in after.items()
            if id in before and entry != before[id]
        ),
        verdicts=tuple(
            VerdictLine(
                candidate=candidate.id,
                seq=candidate.decided_at,
                verdict=candidate.status,
                reason=candidate.reason,
                entries=tuple(entry.id for entry in candidate.proposal.entries),
            )
            for candidate in high.candidates.candidates.values()
            if low.seq < candidate.decided_at <= high.seq
        ),
        episodes=count_episodes(high.run.episodes, low.seq, high.seq),
        rounds=tuple(r for r in high.run.rounds.values() if low.seq < r.closed <= high.seq),
        checkpoints=tuple(c for c in high.run.checkpoints.values() if low.seq < c.seq <= high.seq),
    )


def entry_change(before: Entry, after: Entry) -> EntryChange:
    """How one entry became another of the same id."""
    lines = unified_diff(before.template.splitlines(), after.template.splitlines(), lineterm="", n=1)
    return EntryChange(
        id=after.id,
        before=before,
        after=after,
        template=tuple(islice(lines, 2, None)),  # without the two lines that name files
        state=tuple(value_changes(before.state, after.state)),
    )


def value_changes(before: Any, after: Any, path: str = "") -> list[ValueChange]:
    """The smallest parts of two JSON values that differ. A key with null and no key are alike."""
    if isinstance(before, dict) and isinstance(after, dict):
        changes: list[ValueChange] = []
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            changes += value_changes(before.get(key), after.get(key), inner)
        return changes
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        changes = []
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            changes += value_changes(one, other, f"{path}[{index}]")
        return changes
    return [] if before == after else [ValueChange(path, before, after)]
