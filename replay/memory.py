"""Memory as a fold: the entries after any event, with a candidate or without, and which layers are closed."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from ..ledger.events import CandidateProposed, Entry, Event, Layer, LayerFrozen, MemoryChanged, MemoryRef
from ..ledger.memory import memory_hash
from ..ledger.reader import Reader
from .errors import MemoryMismatch, UnknownCandidate
from .fold import data_of, feed

LAYERS: Final[tuple[Layer, ...]] = ("cerebellum", "brain")
TYPES: Final = frozenset({"memory.changed", "candidate.proposed", "layer.frozen"})

Entries = tuple[Entry, ...]  # sorted by id


class MemoryFold:
    """Hears `memory.changed`, `candidate.proposed` and `layer.frozen`, all public; ignores everything else.

    A change to a closed layer is not applied (a frozen layer cannot change): it goes to `doubts`, as does an
    event whose `memory_hash` is not that of the memory there is. An event that was heard before changes
    nothing.
    """

    types = TYPES

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}  # by id, in the order of ids
        self.frozen: set[Layer] = set()
        self.candidates: dict[str, CandidateProposed] = {}
        self.doubts: list[tuple[int, str]] = []  # (seq, what is wrong)
        self._heard = 0
        # Snapshots share their entries; a change adds one tuple.
        self._seqs: list[int] = [0]
        self._snapshots: list[Entries] = [()]

    def hear(self, seq: int, event: Event) -> None:
        """Take in one event. Raises UnknownEvent or BadEvent."""
        if event.type not in TYPES or seq <= self._heard:
            return
        data = data_of(seq, event)
        if isinstance(data, MemoryChanged):
            self._change(seq, data)
        elif isinstance(data, CandidateProposed):
            self.candidates[event.subject or event.id] = data
        elif isinstance(data, LayerFrozen):
            if data.closed:
                self.frozen.add(data.layer)
            self._compare(seq, f"checkpoint {data.name}", data.memory_hash)
        self._heard = seq

    def _change(self, seq: int, change: MemoryChanged) -> None:
        late = [entry.id for entry in change.added if entry.layer in self.frozen]
        touched = (*change.removed, *(entry.id for entry in change.added if entry.id not in late))
        late += [id for id in touched if id in self.entries and self.entries[id].layer in self.frozen]
        if late:
            self.doubts.append((seq, f"changes a frozen layer ({', '.join(late)}): not applied"))
            return
        self.entries = _applied(self.entries.values(), change.added, change.removed)
        self._seqs.append(seq)
        self._snapshots.append(tuple(self.entries.values()))
        self._compare(seq, "change", change.memory_hash)

    def _compare(self, seq: int, what: str, said: str) -> None:
        """Doubt an event that names another memory than there is; one that names none says nothing."""
        if said and said != (found := self.hash):
            self.doubts.append((seq, f"{what} names memory {said[:12]}, but the entries have {found[:12]}"))

    @property
    def hash(self) -> str:
        """`memory_hash` of the entries now."""
        return memory_hash(self.entries.values())

    def history(self) -> Iterator[tuple[int, Entries]]:
        """Each change as (seq, memory after it), in order, beginning with the empty memory at 0."""
        return zip(self._seqs, self._snapshots, strict=True)

    def at(self, seq: int, layers: Iterable[Layer] = LAYERS) -> Entries:
        """Memory after event `seq`, of these layers, sorted by id. At 0 it is empty.

        What was not heard yet cannot be in it: someone who was given a `seq` with a hash uses `resolve`.
        """
        wanted = frozenset(layers)
        snapshot = self._snapshots[bisect_right(self._seqs, seq) - 1] if seq >= 0 else ()
        return tuple(entry for entry in snapshot if entry.layer in wanted)

    def with_candidate(self, seq: int, candidate: str, layers: Iterable[Layer] = LAYERS) -> Entries:
        """Memory after event `seq` as it would be with the candidate: its entries in, what it replaces out.

        `layers` limits the memory, never the candidate. Raises UnknownCandidate.
        """
        proposed = self.candidates.get(candidate)
        if proposed is None:
            known = ", ".join(list(self.candidates)[-10:]) or "none so far"
            raise UnknownCandidate(f"No candidate {candidate!r} was proposed; the latest are: {known}.")
        return tuple(_applied(self.at(seq, layers), proposed.entries, proposed.replaces).values())

    def resolve(self, ref: MemoryRef) -> Entries:
        """The memory that an episode asks for. Raises UnknownCandidate, or MemoryMismatch where `ref.hash`
        is given and the entries found have another: something of the run was not heard, or was changed."""
        found = (
            self.with_candidate(ref.at, ref.candidate, ref.layers)
            if ref.candidate
            else self.at(ref.at, ref.layers)
        )
        if ref.hash and memory_hash(found) != ref.hash:
            raise MemoryMismatch(
                f"Memory after event {ref.at} has hash {memory_hash(found)[:12]}, not {ref.hash[:12]}: "
                f"heard up to event {self._heard} so far; catch up with the ledger and ask again."
            )
        return found


def _applied(entries: Iterable[Entry], added: Iterable[Entry], removed: Iterable[str]) -> dict[str, Entry]:
    after = {entry.id: entry for entry in entries}
    for id in removed:
        after.pop(id, None)
    after.update((entry.id, entry) for entry in added)
    return dict(sorted(after.items()))


def memory_at(reader: Reader, seq: int, layers: Iterable[Layer] = LAYERS) -> Entries:
    """Memory after event `seq` of a ledger. Raises UnknownEvent or BadEvent, or the ledger's own errors."""
    fold = MemoryFold()
    feed(reader, fold, upto=seq)
    return fold.at(seq, layers)
