"""The ledger service: the one writer of every run under a home folder. It hears all actors and commits."""

import asyncio
import re
import time
from pathlib import Path
from typing import Final

import msgspec
import structlog

from . import topics, wire
from .broker import EmbeddedBroker
from .bus_errors import BrokerUnreachable, ServiceRunning
from .claim import SECONDS, Claim
from .credentials import parse_url
from .errors import LedgerError
from .events import KINDS
from .inner import InnerLink
from .link import Link, end_tasks
from .note import SigningKey
from .topics import ANY, Arrival
from .writer import RunWriter

LEDGER_FILE: Final = "ledger.db"  # in the run's folder, with blobs/ beside it
MAX_HELD: Final = 64 << 20  # bytes that wait for their commit; what comes beyond is left to retries
_TICK: Final = 0.5
_MAX_ANSWERS: Final = 64  # requests that are answered at a time; others ask again
_TOKEN: Final = re.compile(r"[0-9a-f]{16,64}")
_log = structlog.get_logger(__name__)


def ledger_path(home: Path, run: str) -> Path:
    """Where a run's ledger lies."""
    return home / run / LEDGER_FILE


class Service:
    """`run()` it as a task, wait for `ready()`, `stop()` it. Runs are opened as their events arrive.

    `key` signs checkpoints; without one a frozen layer stays unsigned, which its ledger says. `broker`:
    one in this process, that no other service uses; it is spoken to directly. `patience`: seconds without a
    commit being possible, for want of room for instance, after which the service ends; None: never.
    """

    def __init__(
        self,
        home: Path,
        url: str,
        password: str,
        key: SigningKey | None = None,
        *,
        broker: EmbeddedBroker | None = None,
        patience: float | None = None,
    ) -> None:
        self.home = home
        self._patience = patience
        self._failure: LedgerError | None = None
        self._key = key
        self._sole = broker is not None
        self._link: Link | InnerLink
        if broker is None:
            self._link = Link(parse_url(url), "ledger", password, self._receive, self._ask)
        else:
            self._link = InnerLink(broker, "ledger", self._receive, self._ask)
        self._claim = Claim()
        self._writers: dict[str, RunWriter] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers: set[asyncio.Task[None]] = set()
        self._serving = asyncio.Event()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Serve until `stop`. What was received before that is committed and acknowledged.

        Raises ServiceRunning when another service serves this broker, or why nothing could be committed for
        longer than its patience.
        """
        await self._link.subscribe(topics.events(ANY, ANY, ANY))
        await self._link.subscribe(topics.sync(ANY, ANY, ANY))
        if not self._sole:
            await self._link.subscribe(topics.services())
        link = asyncio.create_task(self._link.run())
        begin = asyncio.create_task(self._begin())
        watch = asyncio.create_task(self._watch())
        stop = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((link, stop), return_when=asyncio.FIRST_COMPLETED)
            for writer in self._writers.values():
                writer.close()
            if self._tasks:
                await asyncio.wait(self._tasks)
            if self._claim.lost:
                raise self._second()
            if self._failure is not None:
                raise self._failure
            if link.done():
                link.result()
        finally:
            await end_tasks({link, begin, watch, stop, *self._tasks, *self._answers})

    async def ready(self, seconds: float = 10.0) -> None:
        """Wait until the service serves.

        Raises BrokerUnreachable, BrokerRefused if the broker does not let us in, or ServiceRunning.
        """
        serving = asyncio.create_task(self._serving.wait())
        stop = asyncio.create_task(self._stopping.wait())
        await asyncio.wait((serving, stop), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        serving.cancel()
        stop.cancel()
        if self._claim.lost:
            raise self._second()
        if not self._serving.is_set():
            raise self._link.error or BrokerUnreachable(
                f"No broker answers at {self._link.address.url} within {seconds:.0f} s."
            )

    async def _begin(self) -> None:
        await self._link.connected.wait()
        if not self._sole:
            await asyncio.sleep(SECONDS)
        self._claim.serving = not self._claim.lost
        if self._claim.serving:
            self._serving.set()

    async def _watch(self) -> None:
        """Lose patience."""
        while self._patience is not None:
            await asyncio.sleep(_TICK)
            for writer in self._writers.values():
                if writer.trouble and time.monotonic() - writer.trouble.since > self._patience:
                    self._failure = writer.trouble.error
                    self.stop()

    def _second(self) -> ServiceRunning:
        return ServiceRunning(
            f"Another ledger service serves the broker at {self._link.address.url}; "
            "use that one, or stop it first."
        )

    def _ask(self) -> None:
        if not self._sole:
            self._answer_service(self._claim.ask())

    def _answer_service(self, word: bytes) -> None:
        task = asyncio.create_task(self._send(topics.services(), word))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _send(self, topic: str, payload: bytes) -> None:
        await self._link.send(topic, payload)

    def stop(self) -> None:
        """End `run` in an orderly way."""
        self._stopping.set()

    def _receive(self, topic: str, payload: bytes) -> None:
        if topic == topics.services():
            if (word := self._claim.hear(payload)) is not None:
                self._answer_service(word)
            if self._claim.lost:
                self.stop()
            return
        where = topics.parse_arrival(topic)
        if not self._claim.serving:
            pass  # not yet: publishers send again
        elif where is None:
            _log.warning("unknown_topic", topic=topic[:200])
        elif where.what == "sync":
            self._receive_request(where, payload)
        elif not any(where.actor in kind.actors for kind in KINDS.values()):
            _log.warning("unknown_publisher", topic=topic)
        elif sum(writer.held for writer in self._writers.values()) + len(payload) > MAX_HELD:
            _log.warning("overloaded", run=where.run, actor=where.actor)
        elif not self._stopping.is_set():
            self._writer(where.run).put(where, payload)

    def _writer(self, run: str) -> RunWriter:
        writer = self._writers.get(run)
        if writer is None:
            writer = RunWriter(run, ledger_path(self.home, run), self._link.send, self._key)
            self._writers[run] = writer
            task = asyncio.create_task(self._serve(writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return writer

    async def _serve(self, writer: RunWriter) -> None:
        try:
            await writer.serve()
        except LedgerError as error:
            if writer.trouble is None:  # else it was said
                _log.error("writer_failed", run=writer.run, reason=str(error))
        except Exception:  # the next message opens the run again
            _log.exception("writer_failed", run=writer.run)
        finally:
            if self._writers.get(writer.run) is writer:
                del self._writers[writer.run]

    def _receive_request(self, where: Arrival, payload: bytes) -> None:
        try:
            request = wire.decode_request(payload)
        except (msgspec.DecodeError, RecursionError):
            _log.warning("bad_request", run=where.run, actor=where.actor)
            return
        if not _TOKEN.fullmatch(request.token) or request.after < 0 or len(self._answers) >= _MAX_ANSWERS:
            return
        task = asyncio.create_task(self._answer(where, request))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answer(self, where: Arrival, request: wire.Request) -> None:
        writer = self._writer(where.run)
        try:
            await writer.answer(where, request)
        except LedgerError as error:
            _log.error("answer_failed", run=where.run, reason=str(error))
        except ValueError:  # aiosqlite's word for a ledger that was closed meanwhile: the asker asks again
            _log.debug("answer_dropped", run=where.run)
        writer.release()
