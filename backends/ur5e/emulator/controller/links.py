"""The connections to the controller as a whole: they can be cut, fall silent, or give no more data."""

import asyncio


class Links:
    """All open connections. silent: nothing is answered any more. frozen: RTDE data stops, all else goes
    on."""

    def __init__(self) -> None:
        self._open: set[asyncio.Transport] = set()
        self.silent = False
        self.frozen = False

    def add(self, transport: asyncio.Transport) -> None:
        self._open.add(transport)

    def remove(self, transport: asyncio.Transport) -> None:
        self._open.discard(transport)

    def send(self, transport: asyncio.Transport, data: bytes) -> None:
        if not self.silent and not transport.is_closing():
            transport.write(data)

    def drop(self) -> None:
        """Cuts every connection, as a reset network interface does. New ones are accepted."""
        for transport in list(self._open):
            transport.abort()


class Connection(asyncio.Protocol):
    """One client's connection; subclasses read what it sends."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.links.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        if self.transport is not None:
            self.links.remove(self.transport)
            self.transport = None

    def send(self, data: bytes) -> None:
        if self.transport is not None:
            self.links.send(self.transport, data)

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()
