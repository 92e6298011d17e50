"""One run's ledger as the service writes it: group commit, refusals, acknowledgements, signatures."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog

from . import events, topics, wire
from .checkpoint import checkpoints, sign_frozen
from .errors import DiskFull, LedgerError
from .events import Event, MessageRefused, Struct
from .floods import Floods
from .intake import Checked, Refusal, check_message
from .note import SigningKey
from .reader import Reader
from .store import CONFLICT, Committed, Store
from .telling import Announcer, Fresh, Send, read_span
from .topics import Arrival

FIRST: Final = frozenset({"run.started", "deployment.started"})  # what a ledger begins with
_BATCH_BYTES: Final = 1 << 20  # of one commit: what arrived during the last one, up to about this
_RETRY_SECONDS: Final = 1.0  # after a commit that failed
_log = structlog.get_logger(__name__)


class Trouble(NamedTuple):
    """Why commits fail, and since when by the monotonic clock."""

    error: LedgerError
    since: float


class RunWriter:
    """Commits what `put` brings and tells about it through `send`. The ledger is made by its first event."""

    def __init__(self, run: str, path: Path, send: Send, key: SigningKey | None) -> None:
        self.run = run
        self.path = path
        self.held = 0  # bytes that wait
        self._send = send
        self._key = key
        self._inbox: deque[tuple[list[Checked | Refusal], int]] = deque()
        self._arrived = asyncio.Event()
        self._closing = False
        self._floods = Floods()
        self._store: Store | None = None
        self._opening = asyncio.Lock()
        self._unsigned: list[Committed] = []  # layers that an earlier service froze
        self._announcer = Announcer(run, send)
        self.trouble: Trouble | None = None  # why nothing can be committed now

    def put(self, where: Arrival, payload: bytes) -> None:
        """Queue a message. What is queued together is committed together.

        It is looked at here, not when its turn comes: that is while the last commit still runs in its thread.
        """
        self._inbox.append((check_message(where, payload), len(payload)))
        self.held += len(payload)
        self._arrived.set()

    def release(self) -> None:
        """Let `serve` return if there is no ledger after all."""
        self._arrived.set()

    def close(self) -> None:
        """Let `serve` finish what is queued and return."""
        self._closing = True
        self._arrived.set()

    async def serve(self) -> None:
        """Commit until closed, or until nothing that was sent belongs to a ledger."""
        announcing = asyncio.create_task(self._announcer.run())
        try:
            while True:
                await self._wait()
                await self._sign_old()
                while self._inbox:
                    await self._handle(self._take())
                if self._store is None:
                    return
                if due := self._floods.summaries(all=self._closing):
                    await self._write([self._refusal(refusal, count) for refusal, count in due])
                if self._closing:
                    await self._announcer.finish()
                    return
        finally:
            announcing.cancel()
            await asyncio.gather(announcing, return_exceptions=True)
            if self._store is not None:
                await self._store.close()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._floods.wait):
                await self._arrived.wait()
        except TimeoutError:
            return
        self._arrived.clear()

    def _take(self) -> list[Checked | Refusal]:
        taken: list[Checked | Refusal] = []
        size = 0
        while self._inbox and size < _BATCH_BYTES:
            found, length = self._inbox.popleft()
            taken += found
            size += length
        self.held -= size
        return taken

    async def _handle(self, found: list[Checked | Refusal]) -> None:
        """Commit and answer one batch."""
        acks: dict[str, list[wire.Ack]] = {}
        try:
            await self._open(found)
            await self._sign_old()
        except DiskFull as error:
            self._fails(error)
            return  # nothing is acknowledged: publishers try again
        except LedgerError as error:
            found = [_closed(item, "ledger", str(error)) for item in found]
        if self._store is None:
            for item in found:
                refusal = item if isinstance(item, Refusal) else _closed(item, "type", self._must_begin())
                self._deny(acks, refusal)
                _log.warning(
                    "refused", run=self.run, actor=refusal.actor, code=refusal.code, reason=refusal.reason
                )
            await self._tell(acks)
            return
        batch: list[Checked] = []
        for item in found:
            if isinstance(item, Checked):
                batch.append(item)
                continue
            self._deny(acks, item)
            if self._floods.admit(item):
                batch.append(self._refusal(item))
        frozen = await self._write(batch, acks)
        for committed in frozen:
            await self._sign(committed)

    async def _write(
        self, batch: Sequence[Checked], acks: dict[str, list[wire.Ack]] | None = None
    ) -> list[Committed]:
        """Commit a batch, acknowledge and announce it. Returns the layers that it froze."""
        assert self._store is not None
        before = last = self._store.head
        numbers = await self._append(batch)
        fresh: Fresh = {"public": [], "privileged": []}
        frozen, conflicts = [], []
        for (event, raw), seq in zip(batch, numbers, strict=True):
            if seq == CONFLICT:
                reason = "the ledger has this id with other bytes; a new event needs a new id"
                conflicts.append(Refusal(event.actor, "duplicate", reason, event.id))
                continue
            if acks is not None and event.actor != "ledger":
                acks.setdefault(event.actor, []).append(wire.Ack(event.id, seq))
            if seq > last:
                last = seq
                fresh[event.visibility].append((seq, raw))
                if event.type == "layer.frozen":
                    frozen.append(Committed(seq, raw))
        if acks is not None:
            for refusal in conflicts:
                self._deny(acks, refusal)
            await self._tell(acks)
        if last > before:
            await self._announcer.announce(fresh, last)
        if admitted := [self._refusal(refusal) for refusal in conflicts if self._floods.admit(refusal)]:
            await self._write(admitted)
        return frozen

    async def _append(self, batch: Sequence[Checked]) -> list[int]:
        """Commit, and while that fails stay alive and try again: nothing is acknowledged before."""
        assert self._store is not None
        while True:
            try:
                numbers = await self._store.append(batch)
            except LedgerError as error:
                self._fails(error)
                if self._closing:
                    raise
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                if self.trouble is not None:
                    _log.warning("commits_again", run=self.run)
                    self.trouble = None
                return numbers

    def _fails(self, error: LedgerError) -> None:
        """Note it; say it once."""
        if self.trouble is None:
            self.trouble = Trouble(error, time.monotonic())
            _log.error("commit_failed", run=self.run, reason=str(error))

    # Telling

    async def _tell(self, acks: dict[str, list[wire.Ack]]) -> None:
        for actor, what in acks.items():
            for start in range(0, len(what), 1000):
                await self._send(topics.acks(self.run, actor), wire.encode(what[start : start + 1000]))
        acks.clear()

    async def answer(self, where: Arrival, request: wire.Request) -> None:
        """Send the events after a number that this actor may see, as many as fit one message."""
        error = ""
        if self._store is None and self.path.exists():
            try:
                await self.open()
            except LedgerError as failure:
                error = str(failure)
        if self._store is None:
            span = wire.Span(request.after, request.after, 0, [], error)
        else:
            span = await read_span(
                self._store, request, None if where.visibility == "privileged" else "public"
            )
        topic = topics.replies(self.run, where.actor, where.visibility, request.token)
        await self._send(topic, wire.encode(span))

    # The ledger's own words

    def _own(self, type: str, data: Struct, **about: Any) -> Checked:
        event = events.make(self.run, type, "ledger", data, **about)
        return Checked(event, events.encode(event))

    def _refusal(self, refusal: Refusal, count: int = 1) -> Checked:
        data = MessageRefused(
            actor=refusal.actor,
            reason=refusal.reason,
            code=refusal.code,
            event=refusal.event,
            excerpt=refusal.excerpt,
            count=count,
        )
        return self._own("message.refused", data)

    def _deny(self, acks: dict[str, list[wire.Ack]], refusal: Refusal) -> None:
        acks.setdefault(refusal.actor, []).append(wire.Ack(refusal.event, 0, refusal.code, refusal.reason))

    def _must_begin(self) -> str:
        return f"run {self.run!r} has no ledger yet; its first event must be {' or '.join(sorted(FIRST))}"

    async def _sign_old(self) -> None:
        while self._unsigned:
            await self._sign(self._unsigned.pop(0))

    async def _sign(self, frozen: Committed) -> None:
        """Sign the tree that ends with a frozen layer, or say why that was not done."""
        assert self._store is not None
        event: Event = events.decode(frozen.raw)
        name = events.payload(event).name
        if self._key is not None:
            try:
                signed = await sign_frozen(self._store, self._key, frozen)
            except LedgerError as error:
                _log.error("signing_failed", run=self.run, reason=str(error))
                return
            await self._write([self._own("checkpoint.signed", signed, subject=name, cause=event.id)])
            return
        reason = (
            f"checkpoint {name} is not signed: the ledger service has no key. Make one with "
            "`skill2real key new`; the service signs when it next opens this run"
        )
        _log.warning("unsigned", run=self.run, reason=reason)
        await self._write([self._refusal(Refusal("ledger", "unsigned", reason, event.id))])

    # Opening

    async def _open(self, found: list[Checked | Refusal]) -> None:
        """Open the ledger; make it if one of these events may begin it, and refuse those before."""
        if self._store is not None:
            return
        if not self.path.exists():
            first = next((i for i, item in enumerate(found) if _begins(item)), None)
            if first is None:
                return
            found[:first] = [_closed(item, "type", self._must_begin()) for item in found[:first]]
        await self.open()

    async def open(self) -> None:
        """Open the ledger; `serve` then signs what an earlier service could not. Raises LedgerError."""
        async with self._opening:
            if self._store is not None:
                return
            store = await Store.open(self.path)
            await self._announcer.begin(store)
            self._store = store
            if self._key is not None:
                self._unsigned = await asyncio.to_thread(_unsigned, self.path)
                self._arrived.set()


def _begins(item: Checked | Refusal) -> bool:
    return isinstance(item, Checked) and item.event.type in FIRST


def _closed(item: Checked | Refusal, code: Any, reason: str) -> Refusal:
    """A refusal of an event for the sake of its ledger."""
    if isinstance(item, Refusal):
        return item
    return Refusal(item.event.actor, code, reason, item.event.id)


def _unsigned(path: Path) -> list[Committed]:
    with Reader(path) as reader:
        return [Committed(frozen.seq, frozen.raw) for frozen in checkpoints(reader) if frozen.signed is None]
