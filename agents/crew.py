"""Bringing a crew together: broker and ledger service if none runs yet, and one connection for each role."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from ..ledger.blobs import Blobs
from ..ledger.bus import Bus
from ..ledger.credentials import password_from_environment
from ..ledger.errors import KeyMissing
from ..ledger.events import Actor
from ..ledger.keys import load_key, new_key
from ..ledger.local import local_bus
from ..ledger.note import SigningKey
from .actor import Role

HEARS_PRIVILEGED: frozenset[Actor] = frozenset({"verifier", "governor", "trainer", "operator"})


@dataclass(frozen=True)
class Link:
    """Where the bus is, and the password of each actor."""

    url: str
    password: Callable[[Actor], str]
    home: Path | None = None  # of the runs, where the ledger is on this machine

    def blobs(self, run: str) -> Blobs | None:
        """Where pictures of a run are kept, None behind a distant broker."""
        return Blobs(self.home / run / "blobs") if self.home is not None else None

    @asynccontextmanager
    async def bus(self, run: str, actor: Actor) -> AsyncIterator[Bus]:
        privileged = actor in HEARS_PRIVILEGED
        async with Bus.connect(self.url, run, actor, self.password(actor), privileged=privileged) as bus:
            yield bus


def signing_key() -> SigningKey:
    """This person's key; made on first use, so that the first run is signed as well."""
    try:
        return load_key()
    except KeyMissing:
        return new_key()


@asynccontextmanager
async def linked(home: Path, broker: str | None) -> AsyncIterator[Link]:
    """A bus for runs under `home`: its own broker and ledger service, or those that run at `broker`.

    Raises ServiceFailed, from within, when its own service cannot go on: the disk is full, or it keeps dying.
    """
    if broker is not None:
        yield Link(broker, password_from_environment)
        return
    home.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240  before anything runs beside
    try:
        async with local_bus(home, key=signing_key()) as local, anyio.create_task_group() as group:
            group.start_soon(local.failed)
            yield Link(local.url, lambda actor: local.passwords[actor], home)
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


async def together(roles: list[Role], work: Callable[[], Awaitable[None]]) -> None:
    """Let the roles serve while the work goes on; the first error ends all."""
    try:
        async with anyio.create_task_group() as group:
            for role in roles:
                group.start_soon(role.serve)
            await work()
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def seats(link: Link, run: str, *actors: Actor) -> AsyncIterator[list[Bus]]:
    """One connection for each actor, in the order named."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(link.bus(run, actor)) for actor in actors]
