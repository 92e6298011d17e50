"""Verifying a ledger: all is computed again from the stored bytes, and every difference is a finding."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from .blobs import Blobs
from .checkpoint import Checkpoint, open_note, origin
from .errors import BadName, BlobDamaged, BlobMissing, LedgerError, NoteRefused
from .events import KINDS, CheckpointSigned, Event, LayerFrozen, decode, payload
from .merkle import Tree, leaf_hash
from .note import VerifierKey
from .schema import SCHEMA, open_read_only

_CHUNK_ROWS = 5_000
_MOST_FINDINGS = 1_000


@dataclass(frozen=True)
class Finding:
    """Something wrong. `seq` is 0 where it is about the whole ledger."""

    seq: int
    what: str


@dataclass(frozen=True)
class Report:
    """What was found. Without a key no signature is verified: `ok` then says only that all fits together."""

    path: Path
    run: str
    events: int
    root: bytes
    blobs: int
    checkpoints: tuple[str, ...]  # names whose root matches, and whose signature holds if there was a key
    unsigned: tuple[str, ...]  # names that were frozen without a signature: the ledger had no key
    outside: int  # notes from outside that fit
    signatures_verified: bool
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        return not self.findings


@dataclass
class _Check:
    """State of one verification."""

    key: VerifierKey | None
    blobs: Blobs
    run: str = ""
    seq: int = 0
    tree: Tree = field(default_factory=Tree)
    findings: list[Finding] = field(default_factory=list)
    unlisted: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    seen_blobs: set[str] = field(default_factory=set)
    frozen: dict[int, LayerFrozen] = field(default_factory=dict)
    signed: dict[int, str] = field(default_factory=dict)  # by sequence number of layer.frozen

    def note(self, seq: int, what: str) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding(seq, what))
        else:
            self.unlisted += 1

    def schema(self, db: sqlite3.Connection) -> None:
        found = {
            name: " ".join(sql.split())
            for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        }
        for name, sql in SCHEMA.items():
            if name not in found:
                self.note(
                    0, f"{name} is missing from the file: something could be changed or removed unhindered"
                )
            elif found[name] != " ".join(sql.split()):
                self.note(0, f"{name} is not defined as it should be")
        for name in sorted(set(found) - set(SCHEMA)):
            self.note(0, f"{name} does not belong in a ledger")

    def row(self, row: tuple[object, ...]) -> None:
        seq, *columns, leaf, raw = row
        assert isinstance(seq, int)
        if seq != self.seq + 1:
            self.note(seq, f"the event before it is {self.seq}: events are missing or were moved")
        self.seq = seq
        if not isinstance(raw, bytes):
            self.note(seq, "its stored bytes are not bytes")
            return
        computed = leaf_hash(raw)
        self.tree.extend((computed,))
        if leaf != computed:
            self.note(seq, "its bytes do not match its leaf hash: one of them was changed")
        try:
            event = decode(raw)
        except msgspec.MsgspecError as error:
            self.note(seq, f"its bytes are not an event ({error})")
            return
        self.event(seq, event, columns)

    def event(self, seq: int, event: Event, columns: list[object]) -> None:
        says = (event.id, event.type, event.version, event.actor, event.subject, event.visibility)
        for name, column, said in zip(
            ("id", "type", "version", "actor", "subject", "visibility"), columns, says, strict=True
        ):
            if column != said:
                self.note(seq, f"its column {name} says {column!r}, its bytes say {said!r}")
        first = self.ids.setdefault(event.id, seq)
        if first != seq:
            self.note(seq, f"its id is that of event {first}")
        self.run = self.run or event.run
        if event.run != self.run:
            self.note(seq, f"it belongs to the run {event.run!r}, not to {self.run!r}")
        self.meaning(seq, event)
        for name in event.blobs:
            self.blob(seq, name)

    def meaning(self, seq: int, event: Event) -> None:
        known = KINDS.get(event.type)
        if known is None:
            self.note(seq, f"its type {event.type!r} is unknown to this version of skill2real")
            return
        if event.actor not in known.actors:
            self.note(seq, f"a {event.actor} may not say {event.type}")
        heard = known.heard(event.actor)
        if event.visibility != heard:
            self.note(seq, f"{event.type} is {heard}, this one is {event.visibility}")
        try:
            data = payload(event)
        except (msgspec.MsgspecError, LedgerError) as error:
            self.note(seq, f"its data cannot be read ({error})")
            return
        if isinstance(data, LayerFrozen):
            self.frozen[seq] = data
        elif isinstance(data, CheckpointSigned):
            self.checkpoint(seq, data)

    def checkpoint(self, seq: int, data: CheckpointSigned) -> None:
        try:
            checkpoint = open_note(data.note, self.key)
        except NoteRefused as error:
            self.note(seq, f"checkpoint {data.name}: {error}")
            return
        frozen = self.frozen.get(data.frozen_seq)
        problems = []
        if frozen is None or frozen.name != data.name:
            problems.append(f"event {data.frozen_seq} does not freeze it")
        if not data.tree_size == checkpoint.size == data.frozen_seq < seq:
            problems.append(
                f"its note is about {checkpoint.size} events, not the {data.frozen_seq} before it"
            )
        problems += self.disagreement(checkpoint)
        for problem in problems:
            self.note(seq, f"checkpoint {data.name}: {problem}")
        if not problems:
            self.signed[data.frozen_seq] = data.name

    def disagreement(self, checkpoint: Checkpoint) -> list[str]:
        """Why the tree read so far is not the one that was signed."""
        if self.key and checkpoint.origin != origin(self.key.name, self.run):
            return [f"its note is about the log {checkpoint.origin}, not {origin(self.key.name, self.run)}"]
        if not checkpoint.origin.endswith(f"/{self.run}"):
            return [f"its note is about the log {checkpoint.origin}, not about the run {self.run}"]
        if checkpoint.size > len(self.tree):
            return [
                f"it was signed over {checkpoint.size} events, {len(self.tree)} are here: the end was cut off"
            ]
        if self.tree.root(checkpoint.size) != checkpoint.root:
            return [f"the first {checkpoint.size} events are not those that were signed"]
        return []

    def blob(self, seq: int, name: str) -> None:
        if name in self.seen_blobs:
            return
        self.seen_blobs.add(name)
        try:
            self.blobs.get(name)
        except (BadName, BlobMissing, BlobDamaged, OSError) as error:
            self.note(seq, str(error))


def check_ledger(
    path: Path,
    verifier_key: VerifierKey | None = None,
    notes: Sequence[str] = (),
    *,
    blobs: Path | None = None,
) -> Report:
    """Verify the ledger at `path`; blobs lie beside it unless `blobs` names their folder.

    With a key, signatures in the ledger and of `notes` must hold. Notes are signed checkpoints kept outside
    the file: only they can show that its end was cut off, or that all of it was written anew. Raises
    LedgerMissing, NotALedger or LedgerTooNew where there is nothing to verify.
    """
    path = Path(path)
    check = _Check(verifier_key, Blobs(blobs or path.parent / "blobs"))
    db = open_read_only(path)
    try:
        check.schema(db)
        for rows in _chunks(db):
            for row in rows:
                check.row(row)
        _integrity(db, check)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # damage can spoil SQLite's own messages
        check.note(check.seq, f"after this event the file cannot be read ({error})")
    finally:
        db.close()
    fitting = sum(_outside(check, note) for note in notes)
    if check.unlisted:
        check.findings.append(Finding(0, f"{check.unlisted} more findings are not listed"))
    return Report(
        path=path,
        run=check.run,
        events=len(check.tree),
        root=check.tree.root(),
        blobs=len(check.seen_blobs),
        checkpoints=tuple(check.signed.values()),
        unsigned=tuple(frozen.name for seq, frozen in check.frozen.items() if seq not in check.signed),
        outside=fitting,
        signatures_verified=verifier_key is not None,
        findings=tuple(check.findings),
    )


def _chunks(db: sqlite3.Connection) -> Iterable[list[tuple[object, ...]]]:
    """All rows in order of sequence number, whatever numbers they have, in short reads."""
    query = "SELECT seq, id, type, version, actor, subject, visibility, leaf, raw FROM events"
    rows = db.execute(f"{query} ORDER BY seq LIMIT ?", (_CHUNK_ROWS,)).fetchall()
    while rows:
        yield rows
        last = rows[-1][0]
        rows = db.execute(f"{query} WHERE seq > ? ORDER BY seq LIMIT ?", (last, _CHUNK_ROWS)).fetchall()
        if rows and rows[-1][0] <= last:
            raise sqlite3.DatabaseError("its pages are out of order")


def _integrity(db: sqlite3.Connection, check: _Check) -> None:
    """SQLite's own check of pages and of the index by which ids are looked up."""
    problems = Counter(row[0] for row in db.execute("PRAGMA integrity_check"))
    for problem in problems:
        if problem != "ok":
            check.note(0, f"SQLite finds: {problem}")


def _outside(check: _Check, note: str) -> bool:
    try:
        problems = check.disagreement(open_note(note, check.key))
    except NoteRefused as error:
        problems = [str(error)]
    for problem in problems:
        check.note(0, f"the checkpoint from outside: {problem}")
    return not problems
