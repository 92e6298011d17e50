"""The ledger's one writer: batches of events in one order, each id once, durable before it returns."""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import aiosqlite

from .errors import DiskFull, LedgerBusy, LedgerError
from .events import Event, Visibility
from .merkle import Tree, leaf_hash
from .schema import authorize_writer, prepare, primary_code, read_only_uri

CONFLICT: Final = 0  # in place of a sequence number: the id is known, with other bytes
_CHUNK: Final = 10_000
_PRAGMAS: Final = (
    "synchronous = FULL",
    "recursive_triggers = ON",
    "trusted_schema = OFF",
    "wal_autocheckpoint = 8000",  # pages (32 MB): copying back after every 1000 slowed commits by a fifth
)
_INSERT: Final = (
    "INSERT INTO events (seq, id, type, version, actor, subject, visibility, leaf, raw) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ROWS: Final = 64
_INSERT_ROWS: Final = _INSERT + ", (?, ?, ?, ?, ?, ?, ?, ?, ?)" * (_ROWS - 1)
# What SQLite says when a write finds no room: the disk, the quota, or a limit on the file's size.
_NO_ROOM: Final = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}


class Committed(NamedTuple):
    """An event of the ledger: its place in the order, and its publisher's bytes."""

    seq: int
    raw: bytes


class _Inserting(sqlite3.Connection):
    """Inserts and commits a batch in one step, many rows a statement.

    Each statement gives up the interpreter's lock once. With one row a statement a busy event loop would be
    waited for at every row, and between two steps once more.
    """

    def executemany(self, insert: str, rows: Any) -> sqlite3.Cursor:
        whole = len(rows) - len(rows) % _ROWS
        for start in range(0, whole, _ROWS):
            self.execute(_INSERT_ROWS, list(chain.from_iterable(rows[start : start + _ROWS])))
        cursor = super().executemany(insert, rows[whole:])
        self.commit()
        return cursor


class Store:
    """Open with `await Store.open(path)`. All calls belong to one event loop."""

    def __init__(
        self, path: Path, lock: IO[bytes], writer: aiosqlite.Connection, reader: aiosqlite.Connection
    ) -> None:
        self.path = path
        self._lock_file = lock
        self._writer = writer
        self._reader = reader
        self._tree = Tree()
        self._writing = asyncio.Lock()
        self._growing = asyncio.Lock()
        self._head = 0

    @classmethod
    async def open(cls, path: Path) -> "Store":
        """Open or create the ledger at `path`.

        Raises NotALedger, LedgerTooNew, LedgerBusy while another process (or Store) writes it, DiskFull, or
        LedgerError where the place cannot be written.
        """
        path = Path(path)
        lock = _lock(path)
        opened: list[aiosqlite.Connection] = []
        try:
            await asyncio.to_thread(prepare, path)
            # "IMMEDIATE": the first INSERT of a batch begins the transaction as its writer.
            writer = await aiosqlite.connect(path, isolation_level="IMMEDIATE", factory=_Inserting)
            opened.append(writer)
            for pragma in _PRAGMAS:
                await writer.execute(f"PRAGMA {pragma}")
            await writer.set_authorizer(authorize_writer)
            reader = await aiosqlite.connect(read_only_uri(path), uri=True, isolation_level=None)
            opened.append(reader)
            store = cls(path, lock, writer, reader)
            await store._find_head()
        except BaseException as error:
            for connection in opened:
                await connection.close()
            lock.close()
            if isinstance(error, sqlite3.Error):
                raise _explain(path, error) from error
            raise
        return store

    @property
    def head(self) -> int:
        """Sequence number of the last committed event, 0 for an empty ledger."""
        return self._head

    async def append(self, events: Sequence[tuple[Event, bytes]]) -> list[int]:
        """Commit a batch in one transaction and return each event's sequence number, in the order given.

        An id that is known with the same bytes keeps its old number; with other bytes the number is CONFLICT
        and the stored event stays. Cancelling the caller does not stop the transaction. Raises DiskFull (or
        another LedgerError): nothing of the batch is committed then, and it may be tried again.
        """
        if not events:
            return []
        return await asyncio.shield(asyncio.ensure_future(self._append(events)))

    async def _append(self, events: Sequence[tuple[Event, bytes]]) -> list[int]:
        async with self._writing:
            known: dict[str, tuple[int, bytes]] = {}
            numbers, rows = _place(events, known, self._head)
            try:
                await self._commit(rows)
            except sqlite3.IntegrityError:
                # Rare: some id is already in the ledger. Look all up, then commit those that are new.
                known = await self._known([event.id for event, _ in events])
                numbers, rows = _place(events, known, self._head)
                await self._commit(rows)
            self._head += len(rows)
            return numbers

    async def _commit(self, rows: list[tuple[object, ...]]) -> None:
        if not rows:
            return
        try:
            await self._writer.executemany(_INSERT, rows)  # and commits: see _Inserting
        except BaseException as error:
            await self._writer.rollback()  # does nothing where no transaction is open
            await self._find_head()
            if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
                raise _explain(self.path, error) from error
            raise

    async def _known(self, ids: list[str]) -> dict[str, tuple[int, bytes]]:
        found: dict[str, tuple[int, bytes]] = {}
        for start in range(0, len(ids), 500):
            part = ids[start : start + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT id, seq, raw FROM events WHERE id IN ({marks})"
            async with self._writer.execute(query, part) as cursor:
                found.update({id: (seq, raw) for id, seq, raw in await cursor.fetchall()})
        return found

    async def _find_head(self) -> None:
        async with self._writer.execute("SELECT coalesce(max(seq), 0) FROM events") as cursor:
            row = await cursor.fetchone()
        assert row is not None
        self._head = row[0]

    async def read(
        self, after: int = 0, limit: int = 1000, visibility: Visibility | None = None
    ) -> list[Committed]:
        """Up to `limit` committed events with a sequence number above `after`, in order."""
        which, wanted = ("", ()) if visibility is None else ("AND visibility = ?", (visibility,))
        query = f"SELECT seq, raw FROM events WHERE seq > ? {which} ORDER BY seq LIMIT ?"
        async with self._reader.execute(query, (after, *wanted, limit)) as cursor:
            return [Committed(*row) for row in await cursor.fetchall()]

    async def last(self, visibility: Visibility) -> int:
        """Sequence number of the last event of one visibility, 0 if there is none."""
        query = "SELECT coalesce(max(seq), 0) FROM events WHERE visibility = ?"
        async with self._reader.execute(query, (visibility,)) as cursor:
            row = await cursor.fetchone()
        assert row is not None
        return int(row[0])

    async def tree(self, size: int | None = None) -> tuple[int, bytes]:
        """Size and root hash of the tree over the first `size` events (default: all that are committed)."""
        size = self._head if size is None else size
        tree = await self._grown(size)
        return size, tree.root(size)

    async def inclusion(self, seq: int, size: int) -> list[bytes]:
        """Inclusion proof of event `seq` (its leaf is seq − 1) in the tree of `size` events."""
        return (await self._grown(size)).inclusion(seq - 1, size)

    async def consistency(self, old: int, size: int) -> list[bytes]:
        """Proof that the tree of `size` events extends the one of `old` events."""
        return (await self._grown(size)).consistency(old, size)

    async def _grown(self, size: int) -> Tree:
        """The tree with at least `size` leaves. It grows when it is asked for, so that commits stay cheap."""
        if size > self._head:
            raise LedgerError(f"{self.path} has {self._head} events, fewer than the {size} asked for.")
        async with self._growing:
            while (have := len(self._tree)) < size:
                query = "SELECT leaf FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
                async with self._reader.execute(query, (have, _CHUNK)) as cursor:
                    self._tree.extend([row[0] for row in await cursor.fetchall()])
        return self._tree

    async def close(self) -> None:
        """Wait for the commit in progress and let another writer in."""
        async with self._writing, self._growing:
            await self._reader.close()
            await self._writer.close()
            self._lock_file.close()


def _lock(path: Path) -> IO[bytes]:
    """Hold the writer's lock, which the system releases when this process ends in whatever way."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path.with_name(path.name + ".lock"), "ab")  # noqa: SIM115 (held while the store is open)
    except OSError as error:
        raise LedgerError(
            f"A ledger cannot be written at {path} ({error.strerror}); "
            "name another place, for runs by SKILL2REAL_HOME."
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise LedgerBusy(
            f"{path} is being written by another process; stop that one or use its broker (--broker)."
        ) from None
    os.set_inheritable(file.fileno(), False)
    return file


def _explain(path: Path, error: sqlite3.Error) -> LedgerError:
    """The error in words that say what to do."""
    if getattr(error, "sqlite_errorcode", 0) in _NO_ROOM:
        return DiskFull(
            f"No room to write {path} ({error}); free some space on its disk. Nothing was lost: "
            "events that were not acknowledged are tried again."
        )
    if primary_code(error) == sqlite3.SQLITE_BUSY:
        return LedgerBusy(f"Another program holds {path} ({error}); close it and try again.")
    return LedgerError(f"{path} cannot be written ({error}); check the disk, then verify the run.")


def _place(
    events: Sequence[tuple[Event, bytes]], known: dict[str, tuple[int, bytes]], head: int
) -> tuple[list[int], list[tuple[object, ...]]]:
    """Give each event its number, new or old, and make the rows of the new ones."""
    seen = dict(known)
    numbers: list[int] = []
    rows: list[tuple[object, ...]] = []
    for event, raw in events:
        if event.id in seen:
            seq, stored = seen[event.id]
            numbers.append(seq if stored == raw else CONFLICT)
            continue
        seq = head + len(rows) + 1
        seen[event.id] = (seq, raw)
        numbers.append(seq)
        columns = (event.id, event.type, event.version, event.actor, event.subject, event.visibility)
        rows.append((seq, *columns, leaf_hash(raw), raw))
    return numbers, rows
