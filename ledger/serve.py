"""Running broker and ledger service together: in this event loop, or as the program `skill2real serve`."""

import asyncio
import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from .broker import EmbeddedBroker
from .bus_errors import ServiceFailed
from .credentials import Passwords, derive_all, password_from_environment, secret_from_environment
from .note import SigningKey
from .service import Service

# While one thread commits, a busy other one keeps it waiting this long for the interpreter's lock, at every
# statement: with Python's default of 5 ms a commit took up to five times longer.
_SWITCH_SECONDS: Final = 0.0001
# Allocations between two looks for garbage: every batch of events would cause several in vain.
_GARBAGE: Final = (20_000, 50, 100)
_READY_SECONDS: Final = 5.0  # for a broker elsewhere to answer


def favour_commits() -> None:
    """For a process that does nothing but serve."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_GARBAGE)


@asynccontextmanager
async def hosted(
    home: Path,
    passwords: Passwords,
    *,
    key: SigningKey | None = None,
    broker: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    patience: float | None = None,
) -> AsyncIterator[tuple[str, "asyncio.Task[None]"]]:
    """The broker's URL and the running service; with `broker`, the URL of one elsewhere, only the service.

    patience: seconds of commits that fail, after which the service ends with the reason; None: never.

    Raises PortInUse; for a broker elsewhere BrokerUnreachable, BrokerRefused or ServiceRunning. At the end
    everything that was received is committed.
    """
    async with AsyncExitStack() as stack:
        embedded: EmbeddedBroker | None = None
        if broker is None:
            embedded = await stack.enter_async_context(EmbeddedBroker(passwords, host, port))
            broker = embedded.address.url
        service = Service(home, broker, passwords["ledger"], key, broker=embedded, patience=patience)
        task = asyncio.create_task(service.run())
        try:
            await service.ready(_READY_SECONDS)
            yield broker, task
        finally:
            service.stop()
            await asyncio.gather(task, return_exceptions=True)


async def serve(
    home: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 1883,
    broker: str | None = None,
    key: SigningKey | None = None,
    started: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until SIGINT or SIGTERM. `started` is called with the broker's URL once agents may connect.

    The passwords are derived from `$SKILL2REAL_BROKER_SECRET`; for a broker elsewhere the service's own in
    `$SKILL2REAL_BROKER_PASSWORD` will do. Raises NoPassword, and what `hosted` raises.
    """
    if broker is None:
        passwords: Passwords = derive_all(secret_from_environment())
    else:
        passwords = {"ledger": password_from_environment("ledger")}
    favour_commits()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        async with hosted(home, passwords, key=key, broker=broker, host=host, port=port) as (url, service):
            started(url)
            stopped = asyncio.create_task(stop.wait())
            await asyncio.wait((service, stopped), return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if service.done() and not stop.is_set():
                raise ServiceFailed(
                    "The ledger service ended by itself; its log says why."
                ) from service.exception()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
