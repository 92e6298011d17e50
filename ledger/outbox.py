"""What a publisher has said and not seen committed: gathered into messages, sent until acknowledged."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from . import events, wire
from .bus_errors import BusClosed, Refused
from .events import Event

MESSAGE_EVENTS: Final = 256  # most events of one message
MESSAGE_BYTES: Final = 512 << 10  # most bytes of one message, unless one event has more
WINDOW_EVENTS: Final = 4096  # sent and not yet acknowledged
WINDOW_BYTES: Final = 8 << 20
RETRY_SECONDS: Final = 2.0  # without acknowledgement, before an event is sent again; doubles up to the last
LAST_RETRY_SECONDS: Final = 30.0


class Batch:
    """The events of one call. `done`: their sequence numbers when all are settled, or the first refusal."""

    def __init__(self, size: int) -> None:
        self.done: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._numbers = [0] * size
        self._open = size
        self._refused: Refused | None = None

    def settle(self, index: int, outcome: int | Refused) -> None:
        if isinstance(outcome, Refused):
            self._refused = self._refused or outcome
        else:
            self._numbers[index] = outcome
        self._open -= 1
        if self._open or self.done.done():
            return
        if self._refused:
            self.done.set_exception(self._refused)
        else:
            self.done.set_result(self._numbers)


class _Pending:
    """An event on its way."""

    __slots__ = ("id", "raw", "retry_at", "tries", "visibility", "waiters")

    def __init__(self, event: Event, raw: bytes) -> None:
        self.id = event.id
        self.visibility = event.visibility
        self.raw = raw
        self.waiters: list[tuple[Batch, int]] = []
        self.tries = 0
        self.retry_at = 0.0


class Outbox:
    """Bounded in flight: `next_message` gives nothing while too much waits for its commit."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, _Pending] = {}
        self._queue: deque[_Pending] = deque()
        self._flying: dict[str, _Pending] = {}
        self._flying_bytes = 0

    def __len__(self) -> int:
        return len(self._known)

    def add(self, said: Sequence[Event]) -> Batch:
        """Queue events. The same id twice is sent once. Raises Refused for one that no broker would carry."""
        encoded = [events.encode(event) for event in said]
        for event, raw in zip(said, encoded, strict=True):
            if len(raw) > wire.MAX_MESSAGE - 2:
                reason = f"the event has {len(raw)} bytes, {wire.MAX_EVENT} are allowed; use blobs"
                raise Refused(event.id, "oversized", reason)
            if (known := self._known.get(event.id)) is not None and known.raw != raw:
                raise Refused(event.id, "duplicate", "another event with this id waits for its commit")
        batch = Batch(len(said))
        for index, (event, raw) in enumerate(zip(said, encoded, strict=True)):
            pending = self._known.get(event.id)
            if pending is None:
                pending = self._known[event.id] = _Pending(event, raw)
                self._queue.append(pending)
            pending.waiters.append((batch, index))
        return batch

    def forget(self, batch: Batch) -> None:
        """Stop sending what only this batch waits for."""
        for pending in list(self._known.values()):
            pending.waiters = [waiter for waiter in pending.waiters if waiter[0] is not batch]
            if not pending.waiters:
                self._drop(pending)

    def next_message(self) -> tuple[str, bytes] | None:
        """Visibility and bytes of what may be sent now; it counts as in flight from here on."""
        if len(self._flying) >= WINDOW_EVENTS or self._flying_bytes >= WINDOW_BYTES:
            return None
        now = self._clock()
        taken: list[bytes] = []
        size, visibility = 0, ""
        while self._queue and len(taken) < MESSAGE_EVENTS:
            pending = self._queue[0]
            if pending.id not in self._known:  # settled or forgotten meanwhile
                self._queue.popleft()
                continue
            if taken and (pending.visibility != visibility or size + len(pending.raw) > MESSAGE_BYTES):
                break
            self._queue.popleft()
            visibility = pending.visibility
            size += len(pending.raw) + 1
            taken.append(pending.raw)
            pending.retry_at = now + min(RETRY_SECONDS * 2**pending.tries, LAST_RETRY_SECONDS)
            pending.tries += 1
            self._flying[pending.id] = pending
            self._flying_bytes += len(pending.raw)
        return (visibility, wire.join(taken)) if taken else None

    def acknowledge(self, ack: wire.Ack) -> None:
        """Settle an event. An id of another connection, or one settled before, is passed over."""
        pending = self._known.get(ack.id)
        if pending is None:
            return
        self._drop(pending)
        outcome = ack.seq if ack.seq else Refused(ack.id, ack.code, ack.reason)
        for batch, index in pending.waiters:
            batch.settle(index, outcome)

    def resend(self, *, all: bool = False) -> bool:
        """Queue again, first and in order, what was not acknowledged in time (or all). True if any is."""
        now = self._clock()
        late = [pending for pending in self._flying.values() if all or pending.retry_at <= now]
        for pending in reversed(late):
            del self._flying[pending.id]
            self._flying_bytes -= len(pending.raw)
            self._queue.appendleft(pending)
        return bool(late)

    def fail(self) -> None:
        """Give up on everything: the connection closes."""
        for pending in self._known.values():
            for batch, _ in pending.waiters:
                if not batch.done.done():
                    batch.done.set_exception(
                        BusClosed("The connection was closed before these events were acknowledged.")
                    )
                    batch.done.exception()  # seen: nobody may be waiting any more
        self._known.clear()
        self._queue.clear()
        self._flying.clear()
        self._flying_bytes = 0

    def _drop(self, pending: _Pending) -> None:
        self._known.pop(pending.id, None)
        if self._flying.pop(pending.id, None) is not None:
            self._flying_bytes -= len(pending.raw)
