"""The emulated controller on its three ports, in time with the clock."""

import asyncio
import contextlib
from collections.abc import Callable

from . import dashboard, rtde_server, script_port
from .controller import Controller
from .links import Links
from .plant import TICK

_BEHIND = 0.02  # s that are made up for; when more is lost, emulated time is late for good


class Server:
    """Listens on a loopback address. With PolyScope X, which begins at version 10, there is no Dashboard."""

    def __init__(self, controller: Controller, address: str) -> None:
        self.controller, self.address = controller, address
        self.links = Links()
        self.rtde = rtde_server.Rtde(controller, self.links)
        self._stopped = asyncio.Event()

    async def run(self, ready: Callable[[], None]) -> None:
        """Until `stop`. ready: called when all ports are open. Raises OSError where one is in use."""
        loop, c = asyncio.get_running_loop(), self.controller
        services: dict[int, Callable[[], asyncio.Protocol]] = {
            rtde_server.PORT: self.rtde.connect,
            script_port.PORT: lambda: script_port.ScriptConnection(c, self.links),
        }
        if c.version[0] < 10:
            services[dashboard.PORT] = lambda: dashboard.DashboardConnection(c, self.links)
        async with contextlib.AsyncExitStack() as stack:
            for port, service in services.items():
                await stack.enter_async_context(await loop.create_server(service, self.address, port))
            ready()
            await self._pace()
            self.links.drop()

    def stop(self) -> None:
        self._stopped.set()

    async def _pace(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self._stopped.is_set():
            now = loop.time()
            due = max(due, now - _BEHIND)
            while due <= now:
                self.controller.tick()
                self.rtde.publish()
                due += TICK
            await asyncio.sleep(due - loop.time())
