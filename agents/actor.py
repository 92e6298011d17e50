"""What all roles share: follow the ledger from its start, fold what is said, answer what concerns the role.

A role holds no state of its own. After a restart it hears the whole run again; while it catches up it only
folds, and what still waits for an answer then is answered once.
"""

from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any

import anyio
import structlog
from anyio.abc import TaskGroup

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event

log = structlog.get_logger()


class Role(ABC):
    """One actor on the bus. Subclasses fold in `hear` and answer in `catch_up` and `react`."""

    actor: ev.Actor

    def __init__(self, bus: Bus, run: str) -> None:
        self.bus = bus
        self.run = run
        self._group: TaskGroup | None = None

    async def serve(self) -> None:
        """Follow until cancelled."""
        async with anyio.create_task_group() as self._group:
            last = 0
            async for committed in self.bus.follow(live=False):
                last = committed.seq
                self.hear(last, ev.decode(committed.raw))
            await self.catch_up()
            async for committed in self.bus.follow(last):
                event = ev.decode(committed.raw)
                self.hear(committed.seq, event)
                await self.react(committed.seq, event)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside the following of events."""
        assert self._group is not None

        async def body() -> None:
            await work

        self._group.start_soon(body)

    async def say(self, type: str, data: ev.Struct, *, subject: str, cause: str = "") -> int:
        """Publish one event and return its sequence number once it is committed."""
        return (await self.bus.publish(self.event(type, data, subject=subject, cause=cause)))[0]

    def event(
        self, type: str, data: ev.Struct, *, subject: str, cause: str = "", blobs: tuple[str, ...] = ()
    ) -> Event:
        """A new event of this role."""
        return ev.make(self.run, type, self.actor, data, subject=subject, cause=cause, blobs=blobs)

    @abstractmethod
    def hear(self, seq: int, event: Event) -> None:
        """Fold one event, old or new. Quick, and free of side effects."""

    async def react(self, seq: int, event: Event) -> None:  # noqa: B027  a role may have nothing to answer
        """Answer one new event."""

    async def catch_up(self) -> None:  # noqa: B027
        """Answer what earlier events asked and nobody answered."""
