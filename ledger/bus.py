"""One actor's connection to the bus: publish until committed, follow what is committed."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec
import structlog

from . import topics, wire
from .acl import PRIVILEGED
from .bus_errors import (
    BrokerRefused,
    BrokerUnreachable,
    BusClosed,
    BusError,
    LedgerSilent,
    LedgerWentBack,
    NotAllowed,
    Refused,
)
from .credentials import parse_url
from .events import Actor, Event, Visibility
from .follow import Follower
from .link import Link, end_tasks
from .outbox import Outbox
from .store import Committed

__all__ = ["Bus", "Refused"]

_TICK: Final = 0.5  # seconds between looks at what was not acknowledged
_ASK_AGAIN: Final = 1.0  # seconds without a reply before the ledger is asked again
_PATCH: Final = 0.1  # seconds that a later event waits for an earlier one of the other topic
_IDLE: Final = 5.0  # seconds without news before a follower asks whether it missed some
_SILENCE: Final = 10.0  # seconds without acknowledgement before a warning is logged
_log = structlog.get_logger(__name__)


class _Reader:
    """A follower and what wakes its reader."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.wake = asyncio.Event()
        self.asked = 0.0
        self.error: BusError | None = None


class Bus:
    """Made by `Bus.connect`. It reconnects by itself, subscribes again, sends again, and catches up."""

    def __init__(self, url: str, run: str, actor: Actor, password: str, *, privileged: bool = False) -> None:
        if not topics.is_run(run):
            raise BusError(
                f"A run cannot be called {run!r}; use up to 64 letters, digits, dots, dashes and "
                "underscores, beginning with a letter or digit."
            )
        if privileged and actor not in PRIVILEGED:
            who = " and ".join(sorted(PRIVILEGED))
            raise NotAllowed(f"{actor} may not hear privileged events; {who} may.")
        self.run = run
        self.actor = actor
        self.privileged = privileged
        self._visibility: Visibility = "privileged" if privileged else "public"
        self._token = secrets.token_hex(16)
        self._outbox = Outbox()
        self._readers: set[_Reader] = set()
        self._work = asyncio.Event()
        self._answered = asyncio.Event()
        self._heard = time.monotonic()
        self._trouble = ""
        self._closed = False
        self._link = Link(parse_url(url), actor, password, self._receive, self._connected)

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        url: str,
        run: str,
        actor: Actor,
        password: str,
        *,
        privileged: bool = False,
        patience: float = 10.0,
    ) -> AsyncIterator["Bus"]:
        """Connect an actor to a run's bus.

        Raises BrokerUnreachable, BrokerRefused or LedgerSilent if broker and ledger service do not both
        answer within `patience` seconds, NotAllowed if this actor may not hear privileged events. After
        that it stays connected whatever happens to them.
        """
        bus = cls(url, run, actor, password, privileged=privileged)
        await bus._link.subscribe(topics.acks(run, actor))
        await bus._link.subscribe(topics.replies(run, actor, bus._visibility, bus._token))
        tasks = [asyncio.create_task(part) for part in (bus._link.run(), bus._pump(), bus._watch())]
        try:
            await bus._greet(patience)
            yield bus
        finally:
            bus._close()
            await end_tasks(tasks)

    async def publish(self, *said: Event) -> list[int]:
        """Publish events; return their sequence numbers once all are committed.

        The same ids are sent again until then. Raises Refused if the ledger refuses one of them (the others
        are committed all the same), BusClosed if the connection is closed meanwhile.
        """
        if self._closed:
            raise BusClosed("The connection to the bus is closed.")
        if not said:
            return []
        batch = self._outbox.add(said)
        self._work.set()
        try:
            return await batch.done
        except asyncio.CancelledError:
            self._outbox.forget(batch)
            raise

    async def follow(self, after: int = 0, *, live: bool = True) -> AsyncGenerator[Committed, None]:
        """Committed events with a number above `after` that this actor may see: in order, each once.

        First those that are in the ledger, then new ones as they are committed, without end; with `live`
        False it ends when it has caught up. Raises LedgerWentBack if the ledger is shorter than what was
        read from it.
        """
        reader = _Reader(Follower(after, privileged=self.privileged))
        self._readers.add(reader)
        try:
            for visibility in topics.VISIBILITIES if self.privileged else ("public",):
                await self._link.subscribe(topics.ledger(self.run, visibility))
            while True:
                ready = reader.follower.ready
                while ready:
                    yield ready.popleft()
                if not live and not reader.follower.behind:
                    return
                await self._more(reader)
        finally:
            self._readers.discard(reader)

    async def _more(self, reader: _Reader) -> None:
        """Wait for events; ask the ledger for those that are missing."""
        if reader.error:
            raise reader.error
        if self._closed:
            raise BusClosed("The connection to the bus is closed.")
        follower, now = reader.follower, time.monotonic()
        if follower.behind and now - reader.asked >= _ASK_AGAIN:
            reader.asked = now
            await self._ask(follower.position)
        wait = _ASK_AGAIN if follower.behind else _PATCH if follower.waiting else _IDLE
        try:
            async with asyncio.timeout(wait):
                await reader.wake.wait()
        except TimeoutError:
            follower.behind = True
        reader.wake.clear()

    async def _ask(self, after: int, limit: int = 1000) -> None:
        request = wire.Request(after, self._token, limit)
        await self._link.send(topics.sync(self.run, self.actor, self._visibility), wire.encode(request))

    async def _greet(self, patience: float) -> None:
        """Wait until broker and service have answered once."""
        try:
            async with asyncio.timeout(patience):
                await self._let_in()
                while not self._answered.is_set():
                    await self._ask(0, limit=0)
                    try:
                        async with asyncio.timeout(_ASK_AGAIN):
                            await self._answered.wait()
                    except TimeoutError:
                        continue
        except TimeoutError:
            where = self._link.address.url
            if not self._link.connected.is_set():
                silent = BrokerUnreachable(f"No broker answers at {where} within {patience:.0f} s.")
                raise self._link.error or silent from None
            raise LedgerSilent(
                f"The broker at {where} answers, but no ledger service does; "
                "start one with `skill2real serve`."
            ) from None
        if self._trouble:
            raise LedgerSilent(self._trouble)

    async def _let_in(self) -> None:
        """Wait for the broker. Raises BrokerRefused as soon as it refuses us: asking again would not help."""
        while not self._link.connected.is_set():
            if isinstance(self._link.error, BrokerRefused):
                raise self._link.error
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK):
                    await self._link.connected.wait()

    # Called by the link

    def _connected(self) -> None:
        self._outbox.resend(all=True)
        self._work.set()
        for reader in self._readers:
            reader.follower.behind = True
            reader.asked = 0.0
            reader.wake.set()

    def _receive(self, topic: str, payload: bytes) -> None:
        what = topic.split("/")[2]
        try:
            if what == "acks":
                self._heard = time.monotonic()
                for ack in wire.decode_acks(payload):
                    self._outbox.acknowledge(ack)
                self._work.set()
            elif what == "ledger":
                self._offer(wire.decode_span(payload), live=True)
            elif what == "replies":
                self._offer(wire.decode_span(payload), live=False)
        except msgspec.DecodeError as error:
            _log.error("message_not_understood", topic=topic, error=str(error))

    def _offer(self, span: wire.Span, *, live: bool) -> None:
        if not live:
            self._trouble = span.error
            self._answered.set()
        for reader in self._readers:
            try:
                if span.error:
                    raise LedgerSilent(span.error)
                if live:
                    reader.follower.offer_live(span)
                else:
                    reader.follower.offer_reply(span)
                    reader.asked = 0.0
            except (LedgerWentBack, LedgerSilent) as error:
                reader.error = error
            reader.wake.set()

    # Tasks

    async def _pump(self) -> None:
        """Send what waits, as far as the window allows."""
        while True:
            await self._work.wait()
            self._work.clear()
            await self._link.connected.wait()
            while (message := self._outbox.next_message()) is not None:
                visibility, payload = message
                if not await self._link.send(topics.events(self.run, self.actor, visibility), payload):
                    break  # down: everything in flight is sent again when it is up

    async def _watch(self) -> None:
        """Send again what was not acknowledged in time, and say so when nothing is heard at all."""
        while True:
            await asyncio.sleep(_TICK)
            if self._outbox.resend():
                self._work.set()
            now = time.monotonic()
            if not self._outbox:
                self._heard = now
            elif now - self._heard > _SILENCE:
                self._heard = now
                why = self._link.error or "no acknowledgement from the ledger service"
                _log.warning(
                    "events_wait", run=self.run, actor=self.actor, events=len(self._outbox), why=str(why)
                )

    def _close(self) -> None:
        self._closed = True
        self._outbox.fail()
        for reader in self._readers:
            reader.wake.set()
