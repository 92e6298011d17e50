"""The deploy agent: a verified checkpoint at work, with only the Proposer and a ledger of its own."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..backends.api import API_HASH
from ..backends.sim import suites
from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event
from ..ledger.reader import Reader
from ..replay.state import LEDGER
from .benchmarks import resolve
from .casting import cast
from .config import BUILT_IN, RunConfig
from .crew import linked, seats, together
from .director import Director, Job, Progress
from .errors import ConfigError
from .pool import local_pool
from .proposer import Proposer
from .runner import Runner
from .source import Source, open_source


@dataclass(frozen=True)
class DeployResult:
    """success and settled come from the simulator's own record in the ledger, None on hardware."""

    run: str
    path: Path
    checkpoint: str
    instruction: str
    status: str
    operations: int
    success: bool | None
    settled: bool | None
    seconds: float


class Deployer(Director):
    """Says which checkpoint is at work, starts the episode, and waits for its end. Hears public events
    only."""

    actor = "deployer"

    def __init__(self, bus: Bus, run: str) -> None:
        super().__init__(bus, run, abreast=1, judged=False)
        self._operations = 0

    def hear(self, seq: int, event: Event) -> None:
        super().hear(seq, event)
        if event.type == "episode.finished":
            finished: ev.EpisodeFinished = ev.payload(event)
            self._operations = finished.operations

    def _done(self, job: Job) -> bool:
        return job.id in self._finished

    async def deploy(self, source: Source, backend: str, task: ev.Task, state: int) -> None:
        await self.ready.wait()
        began = time.monotonic()
        started = ev.DeploymentStarted(
            checkpoint=source.verified.name,
            memory_hash=source.verified.layer.memory_hash,
            api_hash=API_HASH,
            backend=backend,
            note=source.verified.note,
            task=task.instruction,
        )
        await self.say("deployment.started", started, subject=source.verified.name)
        judgement = await self.episode(
            Job(id="deploy/0", task=task, state=state, purpose="deploy", memory=ev.MemoryRef())
        )
        finished = ev.DeploymentFinished(
            status=judgement.status, operations=self._operations, seconds=round(time.monotonic() - began, 2)
        )
        await self.say("deployment.finished", finished, subject=source.verified.name)


async def deploy(
    target: str,
    home: Path,
    checkpoint: str | None,
    suite: str,
    task: str,
    state: int,
    key: str | None = None,
    models: RunConfig = BUILT_IN,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> DeployResult:
    """Deploy to the simulated cell. The checkpoint is verified before anything else happens. models: says who
    proposes.

    Raises what `open_source` and `resolve` raise; nothing has moved then.
    """
    source = open_source(target, home, checkpoint, key)
    (chosen,) = resolve(suite, (task,), rename=source.renamed)
    states = suites.load_task(chosen.suite, chosen.parts).states
    if not 0 <= state < states:
        raise ConfigError(
            f"{suite} task {task} has initial states 0 to {states - 1}, not {state}; choose another --seed"
        )
    run = f"deploy-{source.verified.name.replace('/', '-')}-{time.strftime('%Y%m%d-%H%M%S')}"
    progress(Progress(f"deploying {source.label}: {chosen.instruction}"))
    async with (
        cast(models, home, ("proposer",)) as speaking,
        linked(home, None) as link,
        local_pool(1) as pool,
        seats(link, run, "proposer", "runner", "deployer") as buses,
    ):
        deployer = Deployer(buses[2], run)
        deployer.pixels = models.pixels
        blobs = link.blobs(run)
        roles = [
            Proposer(buses[0], run, speaking.proposer(buses[0], blobs), base=source.verified.entries),
            Runner(buses[1], run, pool, blobs),
            deployer,
        ]
        await together(roles, lambda: deployer.deploy(source, "sim", chosen, state))
    return _result(home / run, source, chosen)


def _result(path: Path, source: Source, task: ev.Task) -> DeployResult:
    """What the deployment's ledger says, read by the person who asked for it."""
    status, operations, seconds = "stopped", 0, 0.0
    success = settled = None
    with Reader(path / LEDGER) as reader:
        for committed in reader.events(types=("deployment.finished", "outcome.measured")):
            data = ev.payload(ev.decode(committed.raw))
            if isinstance(data, ev.OutcomeMeasured):
                success, settled = data.success, data.settled
            else:
                status, operations, seconds = data.status, data.operations, data.seconds
    return DeployResult(
        path.name, path, source.verified.name, task.instruction, status, operations, success, settled, seconds
    )
