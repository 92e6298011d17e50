"""A bus for one machine: broker and ledger service in a child process that is started again if it dies."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import structlog

from .bus import Bus
from .bus_errors import ServiceFailed
from .child import Orders, Report
from .credentials import PASSWORD, Passwords, parse_url, random_passwords
from .events import Actor
from .note import SigningKey
from .serve import hosted

URL: Final = "SKILL2REAL_BROKER"  # where agents in other processes find the broker's URL
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 15.0
_MOST_RESTARTS: Final = 5  # within _RESTART_WINDOW seconds
_RESTART_WINDOW: Final = 60.0
_PATIENCE: Final = 20.0  # seconds in which nothing can be committed
_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class LocalBus:
    """Where the bus is, with every actor's password."""

    url: str
    passwords: Passwords
    keeper: "Keeper | None" = None  # None when everything runs in this event loop

    async def failed(self) -> None:
        """Wait until broker and service are gone for good. Raises ServiceFailed then, with the reason."""
        if self.keeper is None:
            await asyncio.Event().wait()
            return
        await self.keeper.gave_up.wait()
        raise ServiceFailed(self.keeper.why)

    def connect(
        self, run: str, actor: Actor, *, privileged: bool = False
    ) -> AbstractAsyncContextManager[Bus]:
        """Connect an actor of this process."""
        return Bus.connect(self.url, run, actor, self.passwords[actor], privileged=privileged)

    def environment(self, actor: Actor) -> dict[str, str]:
        """What to add to the environment of another process that is to be this actor, and no other."""
        return {URL: self.url, PASSWORD: self.passwords[actor]}


@asynccontextmanager
async def local_bus(
    home: Path,
    *,
    key: SigningKey | None = None,
    broker: str | None = None,
    passwords: Passwords | None = None,
    process: bool = True,
) -> AsyncIterator[LocalBus]:
    """Broker and ledger service for the runs under `home`, until the block ends.

    By default in a child process on a free loopback port with random passwords; with `process=False` in this
    event loop. With `broker`, the URL of one that runs elsewhere, and its passwords, only the service is
    started. Raises ServiceFailed, or in this event loop what `hosted` raises.
    """
    passwords = random_passwords() if passwords is None else passwords
    if not process:
        async with hosted(home, passwords, key=key, broker=broker) as (url, _):
            yield LocalBus(url, passwords)
        return
    keeper = Keeper(_orders(home, passwords, broker, key))
    try:
        url = await keeper.start()
        yield LocalBus(url, passwords, keeper)
    finally:
        await keeper.stop()


def _orders(home: Path, passwords: Passwords, broker: str | None, key: SigningKey | None) -> Orders:
    encoded = key.encode() if key else ""
    return Orders(str(home.absolute()), dict(passwords), broker=broker, key=encoded, patience=_PATIENCE)


class Keeper:
    """Starts the child, and again on the same port when it dies: clients reconnect and lose nothing."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._child: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._deaths: deque[float] = deque(maxlen=_MOST_RESTARTS)
        self.gave_up = asyncio.Event()  # no child any more: what is published waits for nothing
        self.why = ""

    @property
    def pid(self) -> int:
        """Process id of the child that runs now."""
        assert self._child is not None
        return self._child.pid

    async def start(self) -> str:
        """The broker's URL, once the service is ready. Raises ServiceFailed with the child's own words."""
        url = await self._launch()
        if self._orders.broker is None:
            self._orders.port = parse_url(url).port
        self._watch = asyncio.create_task(self._keep())
        return url

    async def stop(self) -> None:
        """End the child; it commits what it has received."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self._end()

    async def _launch(self) -> str:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            __name__.rpartition(".")[0] + ".child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._child = child
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            async with asyncio.timeout(_START_SECONDS):
                child.stdin.write(msgspec.json.encode(self._orders) + b"\n")
                await child.stdin.drain()
                report = msgspec.json.decode(await child.stdout.readline(), type=Report)
        except (OSError, TimeoutError, msgspec.DecodeError) as error:
            await self._end()
            raise ServiceFailed(
                f"The ledger service could not be started ({type(error).__name__}); what it printed says why."
            ) from error
        if report.error:
            await self._end()
            raise ServiceFailed(report.error)
        return report.url

    async def _keep(self) -> None:
        while True:
            assert self._child is not None
            code = await self._child.wait()
            now = time.monotonic()
            self.why = await _last_words(self._child)
            if not self.why:
                _log.error("ledger_service_died", code=code)
            if len(self._deaths) == _MOST_RESTARTS and now - self._deaths[0] < _RESTART_WINDOW:
                self.why = self.why or f"The ledger service died {_MOST_RESTARTS + 1} times (code {code})."
            if self.why:
                self.gave_up.set()
                return
            await asyncio.sleep(0.2 * len(self._deaths))
            self._deaths.append(now)
            with suppress(ServiceFailed):  # tried again: `wait` returns at once for a child that is gone
                await self._launch()

    async def _end(self) -> None:
        child = self._child
        if child is None or child.returncode is not None:
            return
        if child.stdin is not None:
            child.stdin.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await child.wait()
        except TimeoutError:
            child.kill()
            await child.wait()


async def _last_words(child: asyncio.subprocess.Process) -> str:
    """Why a child ended for a reason of its own, "" for one that was killed."""
    assert child.stdout is not None
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(await child.stdout.read(), type=Report).error
    return ""
