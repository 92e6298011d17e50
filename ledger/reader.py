"""Reading a ledger without the service: synchronous, read-only, in short reads beside a running writer."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from .errors import EventChanged, LedgerError, NotALedger
from .events import Actor, Visibility
from .merkle import Tree, leaf_hash
from .schema import open_read_only
from .store import Committed

_CHUNK_ROWS = 500  # a chunk that stays in the processor's cache is read faster than a long one
_LEAVES = 10_000


class Reader:
    """Committed events of the ledger at `path`. Use it as a context manager, in one thread.

    With `rehash`, each event's leaf hash is computed again as it is read, and EventChanged raised where its
    bytes are not those that were committed. Raises LedgerMissing, NotALedger or LedgerTooNew.
    """

    def __init__(self, path: Path, *, rehash: bool = False) -> None:
        self.path = Path(path)
        self.rehash = rehash
        self._db = open_read_only(self.path)
        self._tree = Tree()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def _rows(self, query: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
        try:
            return self._db.execute(query, values).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise NotALedger(
                f"{self.path} cannot be read ({error}); run `skill2real verify` and restore it from a copy."
            ) from error

    @property
    def head(self) -> int:
        """Sequence number of the last committed event, 0 for an empty ledger."""
        ((head,),) = self._rows("SELECT coalesce(max(seq), 0) FROM events", ())
        assert isinstance(head, int)
        return head

    def events(
        self,
        after: int = 0,
        upto: int | None = None,
        types: Iterable[str] | None = None,
        *,
        subject: str | None = None,
        actor: Actor | None = None,
        visibility: Visibility | None = None,
    ) -> Iterator[Committed]:
        """Events with after < seq ≤ upto (default: the head when asked), in order, filtered as asked."""
        for chunk in self.chunks(after, upto, types, subject=subject, actor=actor, visibility=visibility):
            yield from map(Committed._make, chunk)

    def chunks(
        self,
        after: int = 0,
        upto: int | None = None,
        types: Iterable[str] | None = None,
        *,
        subject: str | None = None,
        actor: Actor | None = None,
        visibility: Visibility | None = None,
    ) -> Iterator[list[tuple[int, bytes]]]:
        """The same as plain (seq, raw) tuples in lists: the fast path for long folds.

        Each chunk is one finished read, so that a reader that pauses never holds back the writer's log.
        """
        last = self.head if upto is None else min(upto, self.head)
        where, fixed = _filter(types, subject=subject, actor=actor, visibility=visibility)
        columns = "seq, raw, leaf" if self.rehash else "seq, raw"
        query = f"SELECT {columns} FROM events WHERE seq > ? AND seq <= ?{where} ORDER BY seq"
        while after < last:
            # By range, not by LIMIT: a chunk costs the same whatever the filter lets through.
            end = min(after + _CHUNK_ROWS, last)
            rows = self._rows(query, (after, end, *fixed))
            if rows:
                yield self._rehashed(rows) if self.rehash else rows  # type: ignore[misc]
            after = end

    def _rehashed(self, rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        for seq, raw, leaf in rows:
            if leaf_hash(raw) != leaf:  # type: ignore[arg-type]
                raise EventChanged(
                    f"Event {seq} of {self.path} was changed after it was committed; "
                    "run `skill2real verify` on it, and restore it from a copy."
                )
        return [row[:2] for row in rows]

    def by_id(self, id: str) -> Committed | None:
        """The event with this id, or None."""
        rows = self._rows("SELECT seq, raw FROM events WHERE id = ?", (id,))
        return Committed(*rows[0]) if rows else None  # type: ignore[arg-type]

    def at(self, seq: int) -> Committed:
        """The event with this sequence number."""
        rows = self._rows("SELECT seq, raw FROM events WHERE seq = ?", (seq,))
        if not rows:
            raise LedgerError(f"{self.path} has no event {seq}; its last is {self.head}.")
        return Committed(*rows[0])  # type: ignore[arg-type]

    def tree(self, size: int | None = None) -> Tree:
        """The Merkle tree of at least the first `size` leaves (default: all), from the stored hashes."""
        size = self.head if size is None else size
        if size > self.head:
            raise LedgerError(f"{self.path} has {self.head} events, fewer than the {size} asked for.")
        while (have := len(self._tree)) < size:
            query = "SELECT leaf FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
            self._tree.extend(row[0] for row in self._rows(query, (have, _LEAVES)))  # type: ignore[misc]
        return self._tree


def _filter(types: Iterable[str] | None, **columns: str | None) -> tuple[str, tuple[str, ...]]:
    """SQL conditions and their values; None asks for nothing."""
    where, values = "", []
    if types is not None:
        wanted = sorted(set(types))
        where += f" AND type IN ({','.join('?' * len(wanted))})"
        values += wanted
    for column, value in columns.items():
        if value is not None:
            where += f" AND {column} = ?"
            values.append(value)
    return where, tuple(values)
