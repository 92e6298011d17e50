"""The service's connection to a broker in its own process: the same as a link, without a socket between."""

import asyncio
from collections.abc import Callable

from .broker import EmbeddedBroker
from .link import Receive


class InnerLink:
    """Publishes and subscribes as a user of the embedded broker, under the same access list as everyone."""

    def __init__(self, broker: EmbeddedBroker, user: str, receive: Receive, up: Callable[[], None]) -> None:
        self.address = broker.address
        self.user = user
        self._broker = broker
        self._receive = receive
        self._up = up
        self._filters: dict[str, None] = {}
        self.connected = asyncio.Event()
        self.error: Exception | None = None

    async def run(self) -> None:
        """Stay connected until cancelled."""
        self._broker.attach(self._receive, self.user, self._filters)
        self.connected.set()
        self._up()
        try:
            await asyncio.Event().wait()
        finally:
            self.connected.clear()
            self._broker.detach(self._receive)

    async def send(self, topic: str, payload: bytes) -> bool:
        """Publish. False when not connected."""
        if not self.connected.is_set():
            return False
        self._broker.publish(self.user, topic, payload)
        return True

    async def subscribe(self, pattern: str) -> None:
        """Subscribe; to be called before `run`."""
        self._filters[pattern] = None
