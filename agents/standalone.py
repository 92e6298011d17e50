"""A role as a process of its own: it learns from the bus what the run asks of it, and ends with the run."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from ..ledger import events as ev
from ..ledger.blobs import Blobs
from ..ledger.bus import Bus
from ..ledger.credentials import password_from_environment
from .casting import cast
from .config import RoleName, RunConfig, read
from .crew import Link, together
from .errors import RunMismatch
from .pool import local_pool
from .roles import make_role

Report = Callable[[str], None]


async def serve_role(
    name: RoleName,
    run: str,
    broker: str,
    workers: int | None = None,
    report: Report = lambda line: None,
    home: Path | None = None,
) -> None:
    """Be this role of a run until the run is finished; it need not have begun.

    The password comes from the environment. `workers`: of a runner; default: as the run says. home: of the
    runs, where this run's folder is on this machine: pictures, prompts and answers are kept in it. A role
    that ends and is started again goes on where it was. Raises RunMismatch where the run has no such role,
    and the bus's and pool's errors.
    """
    link = Link(broker, password_from_environment)
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(link.bus(run, name))
        report(f"The {name} waits for run {run} at {broker}.")
        config = await _config(bus)
        if name not in config.roles:
            raise RunMismatch(f"run {run} was started without a {name}; there is nothing to do")
        report(f"The {name} serves run {run}.")
        models = await stack.enter_async_context(cast(config, only=(name,)))
        pool = (
            await stack.enter_async_context(local_pool(workers or config.workers))
            if name == "runner"
            else None
        )
        await together([make_role(name, bus, models, pool, _blobs(home, run))], lambda: _finished(bus))
    report(f"Run {run} is finished.")


def _blobs(home: Path | None, run: str) -> Blobs | None:
    folder = home / run if home is not None else None
    return Blobs(folder / "blobs") if folder is not None and folder.is_dir() else None


async def _config(bus: Bus) -> RunConfig:
    """The run's configuration, as soon as it has begun. Raises RunMismatch for a run that does not train."""
    async for committed in bus.follow():
        event = ev.decode(committed.raw)
        if event.type == "run.started":
            try:
                return read(ev.payload(event).config)
            except msgspec.ValidationError as error:
                raise RunMismatch(f"run {bus.run} is not a training run of this version: {error}") from None
        if event.type == "deployment.started":
            raise RunMismatch(f"run {bus.run} is a deployment; agents serve training runs")
    raise AssertionError("following has no end")


async def _finished(bus: Bus) -> None:
    """Wait until the run is finished, and was not taken up again after that."""
    last, finished = 0, False
    async for committed in bus.follow(live=False):
        last, type = committed.seq, ev.decode(committed.raw).type
        finished = type == "run.finished" or (finished and type != "run.resumed")
    if finished:
        return
    async for committed in bus.follow(last):
        if ev.decode(committed.raw).type == "run.finished":
            return
