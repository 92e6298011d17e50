"""Telling followers what was committed: live, in the order of commits, and again on request."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from . import topics, wire
from .events import Visibility
from .store import Committed, Store

_NEWS: Final = 4  # commits that may be ahead of their announcement
_READ_ROWS: Final = 64  # rows of one read for a reply
_REPLY_ROWS: Final = 1000  # most rows of a reply
_log = structlog.get_logger(__name__)

Send = Callable[[str, bytes], Awaitable[bool]]
Fresh = dict[Visibility, list[tuple[int, bytes]]]  # new events: sequence number, bytes


class Announcer:
    """Publishes a run's new events by visibility, while the next commit runs."""

    def __init__(self, run: str, send: Send) -> None:
        self._run = run
        self._send = send
        self._last: dict[str, int] = {}
        self._news: asyncio.Queue[tuple[Fresh, int]] = asyncio.Queue(_NEWS)

    async def begin(self, store: Store) -> None:
        """Note where each visibility ends now."""
        self._last = {visibility: await store.last(visibility) for visibility in topics.VISIBILITIES}

    async def announce(self, fresh: Fresh, head: int) -> None:
        """Queue a commit's events; waits when too many commits are not announced yet."""
        await self._news.put((fresh, head))

    async def finish(self) -> None:
        """Wait until everything is announced."""
        await self._news.join()

    async def run(self) -> None:
        """Announce until cancelled."""
        while True:
            fresh, head = await self._news.get()
            try:
                for visibility, committed in fresh.items():
                    if committed:
                        # Noted first: a span that is lost is noticed by its followers at the next one.
                        after, self._last[visibility] = self._last[visibility], committed[-1][0]
                        for span in wire.spans(after, committed, head):
                            await self._send(topics.ledger(self._run, visibility), span)
            except Exception:
                _log.exception("announcement_failed", run=self._run)
            finally:
                self._news.task_done()


async def read_span(store: Store, request: wire.Request, visibility: Visibility | None) -> wire.Span:
    """The events after a number (None: of both visibilities), as many as fit one message."""
    upto, head, size, rows = request.after, store.head, 0, list[Committed]()
    limit = min(request.limit, _REPLY_ROWS)
    while len(rows) < limit and size < wire.SPAN_BYTES:
        wanted = min(_READ_ROWS, limit - len(rows))
        more = await store.read(rows[-1].seq if rows else request.after, wanted, visibility)
        rows += more
        size += sum(len(row.raw) for row in more)
        if len(more) < wanted:  # that was all, at least of what was committed when this began
            upto = max(upto, head)
            break
    upto = max(upto, rows[-1].seq if rows else 0)
    return wire.Span(request.after, upto, store.head, [(seq, msgspec.Raw(raw)) for seq, raw in rows])
