"""Broker and ledger service as a child process: `python -m skill2real.ledger.child`.

One JSON line comes in on stdin (passwords go through the pipe, never through arguments or files) and one goes
out; after that the child serves until its stdin ends, so it never outlives its parent. Where it ends for a
reason of its own, that goes out in a last line.
"""

import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

import msgspec
import structlog

from .errors import LedgerError
from .note import SigningKey
from .serve import favour_commits, hosted


class Orders(msgspec.Struct):
    """What the parent wants."""

    home: str
    passwords: dict[str, str]
    port: int = 0
    broker: str | None = None
    key: str = ""
    patience: float | None = None


class Report(msgspec.Struct):
    """Where the broker is; or, at first or at last, why there is none."""

    url: str = ""
    error: str = ""


def _report(report: Report) -> None:
    os.write(sys.stdout.fileno(), msgspec.json.encode(report) + b"\n")


async def main() -> int:
    """Exit code 0 when told to stop, 1 after an error, which was reported."""
    favour_commits()
    loop = asyncio.get_running_loop()
    orders_in = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders_in), sys.stdin)
    orders = msgspec.json.decode(await orders_in.readline(), type=Orders)
    loop.add_signal_handler(signal.SIGTERM, orders_in.feed_eof)
    key = SigningKey.parse(orders.key) if orders.key else None
    try:
        async with hosted(
            Path(orders.home),
            orders.passwords,
            key=key,
            broker=orders.broker,
            port=orders.port,
            patience=orders.patience,
        ) as (url, service):
            _report(Report(url=url))
            told = asyncio.create_task(orders_in.read())
            await asyncio.wait((service, told), return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            if service.done():
                service.result()  # why it ended
                return 1
            return 0
    except LedgerError as error:
        _report(Report(error=str(error)))
        return 1


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the terminal's interrupt is for the parent, which then ends us
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    )
    sys.exit(asyncio.run(main()))
