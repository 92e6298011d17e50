"""Putting committed events into order: each once, without gaps, whatever the bus loses, doubles or delays."""

from collections import deque
from typing import Final

from .bus_errors import LedgerWentBack
from .store import Committed
from .wire import Span

MAX_READY: Final = 10_000  # events that wait for a slow reader; beyond, it catches up from the ledger later


class Follower:
    """What one reader has seen. `offer` takes spans as they come; `ready` holds what may be read next.

    A reader of public events gets live spans that are complete for it. A privileged one gets them from two
    topics: as sequence numbers have no gaps, whatever number is missing is still on its way or lost.
    """

    def __init__(self, after: int, *, privileged: bool) -> None:
        self.position = after  # everything up to here that may be seen has been put into `ready`
        self.ready: deque[Committed] = deque()
        self.behind = True  # the ledger must be asked for what comes after `position`
        self._privileged = privileged
        self._early: dict[int, bytes] = {}

    @property
    def waiting(self) -> bool:
        """Whether later events are here already, and earlier ones are not."""
        return bool(self._early)

    def offer_live(self, span: Span) -> None:
        """A span from a ledger topic."""
        if self._full():
            self.behind = True
        elif not self._privileged:
            self._take(span)
        elif span.events:
            self._early.update((seq, bytes(raw)) for seq, raw in span.events if seq > self.position)
            self._advance()
            if len(self._early) > MAX_READY:
                self._early.clear()
                self.behind = True

    def offer_reply(self, span: Span) -> None:
        """A span that the service sent on request. Raises LedgerWentBack."""
        if span.head < span.after <= self.position:
            raise LedgerWentBack(
                f"Event {span.after} was read from this ledger, but now it ends with {span.head}: it was "
                "replaced or cut. Restore it from a copy and run `skill2real verify`."
            )
        if self._full():
            return
        self._take(span)
        if span.after <= self.position:
            self.behind = self.position < span.head

    def _full(self) -> bool:
        if len(self.ready) < MAX_READY:
            return False
        self._early.clear()
        return True

    def _take(self, span: Span) -> None:
        if span.after > self.position:
            self.behind = True
            return
        self.ready.extend(Committed(seq, bytes(raw)) for seq, raw in span.events if seq > self.position)
        self.position = max(self.position, span.upto)
        self._advance()

    def _advance(self) -> None:
        if not self._early:
            return
        while (raw := self._early.pop(self.position + 1, None)) is not None:
            self.position += 1
            self.ready.append(Committed(self.position, raw))
        if self._early and min(self._early) <= self.position:
            self._early = {seq: raw for seq, raw in self._early.items() if seq > self.position}
