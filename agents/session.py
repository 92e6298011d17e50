"""A training run from start to end, a snapshot by hand, and what a run will cost."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio

from ..backends.api import API_HASH
from ..backends.sim import suites
from ..ledger import events as ev
from ..ledger.reader import Reader
from ..replay.fold import feed
from ..replay.memory import MemoryFold
from ..replay.runs import find_run
from ..replay.state import LEDGER
from .benchmarks import BENCHMARKS, key_of, resolve
from .casting import Cast, cast
from .config import RoleName, RunConfig
from .crew import Link, linked, seats, together
from .director import Progress
from .errors import ConfigError, RunMismatch
from .forecast import plan
from .pairs import joined
from .pool import Pool, local_pool
from .roles import make_role
from .trainer import Trainer

Report = Callable[[Progress], None]
SECONDS_AN_EPISODE = 3.0  # core-seconds, seen on two shared cores without a GPU
QUIET_SECONDS = 30.0  # without an event before the trainer says whom it waits for


@dataclass(frozen=True)
class TrainResult:
    run: str
    path: Path
    checkpoints: tuple[str, ...]
    skills: int


@dataclass(frozen=True)
class Estimate:
    """What a run does at most; trials depend on how many candidates there are."""

    tasks: int
    episodes: int
    trials: int
    seconds: float


def tasks_of(config: RunConfig) -> tuple[list[ev.Task], list[ev.Task]]:
    """The tasks of the Cerebellum's rounds and of the Brain's.

    Raises ConfigError for what is only there to be evaluated, and what `resolve` raises.
    """
    benchmark = BENCHMARKS.get(config.suite)
    if benchmark is not None and len(benchmark.suites) > 1:
        raise ConfigError(f"{config.suite} is there to be evaluated, not to be learned; learn another suite")
    brain = config.brain_tasks or config.tasks
    if config.pairs:
        single = resolve(config.suite, brain)
        brain = (*("+".join(map(str, task.parts)) for task in single), *joined(single))
    return (
        resolve(config.suite, config.tasks, rename=config.rename),
        resolve(config.suite, brain, rename=config.rename),
    )


def check_states(config: RunConfig, tasks: list[ev.Task]) -> None:
    """Raises ConfigError where a task has fewer initial states than the partition names."""
    last = max(high for _, high in config.states.values())
    for task in tasks:
        count = suites.load_task(task.suite, task.parts).states
        if last >= count:
            raise ConfigError(
                f"task {key_of(task)} has {count} initial states, but the "
                f"partition goes up to {last}; give smaller ranges in the configuration's [states]"
            )


async def train(
    config: RunConfig,
    home: Path,
    broker: str | None,
    resume: bool,
    progress: Report = lambda progress: None,
    external: frozenset[RoleName] = frozenset(),
) -> TrainResult:
    """Train, freeze and sign. `external`: roles that are processes of their own behind the broker.

    Raises RunMismatch where the run exists and is not to be resumed.
    """
    tasks, brain_tasks = tasks_of(config)
    check_states(config, tasks + brain_tasks)
    path = home / config.run
    if broker is None and (path / LEDGER).exists() and not resume:
        raise RunMismatch(
            f"there is a run {config.run} in {home} already; go on with --resume, or choose another --run"
        )
    inside = tuple(name for name in config.roles if name not in external)
    async with cast(config, home if broker is None else None, inside) as models, AsyncExitStack() as stack:
        link = await stack.enter_async_context(linked(home, broker))
        pool = None if "runner" in external else await stack.enter_async_context(local_pool(config.workers))
        trainer = await crew_train(
            link, models, tasks, brain_tasks, pool, progress, resume=resume, external=external
        )
    return TrainResult(config.run, path, trainer.checkpoints(), len(trainer.memory.entries))


async def crew_train(
    link: Link,
    models: Cast,
    tasks: list[ev.Task],
    brain_tasks: list[ev.Task],
    pool: Pool | None,
    progress: Report,
    afterwards: Callable[[Trainer], Awaitable[None]] | None = None,
    *,
    resume: bool = True,
    external: frozenset[RoleName] = frozenset(),
) -> Trainer:
    """Run all roles but the external ones in this process until training, and what comes `afterwards`, is
    done. Without a runner here there is no need for a pool."""
    config, run = models.config, models.config.run
    inside = [name for name in config.roles if name not in external]
    outside = [name for name in config.roles if name in external]
    async with seats(link, run, "trainer", *inside) as (bus, *buses):
        trainer = Trainer(bus, config, tasks, brain_tasks, progress)
        roles = [
            make_role(name, bus, models, pool, link.blobs(run))
            for name, bus in zip(inside, buses, strict=True)
        ]

        async def work() -> None:
            await trainer.train()
            if afterwards is not None:
                await afterwards(trainer)

        async def begin() -> None:
            await trainer.open(resume)  # before the roles listen: they need not take up what is dead by then
            async with anyio.create_task_group() as group:
                if outside:
                    group.start_soon(_remind, trainer, outside)
                await together(roles, work)
                group.cancel_scope.cancel()

        await together([trainer], begin)
        return trainer


async def _remind(trainer: Trainer, outside: list[RoleName]) -> None:
    """Say whom the trainer waits for when nothing is heard: it cannot see whether they are there."""
    while True:
        await anyio.sleep(QUIET_SECONDS)
        if trainer.quiet > QUIET_SECONDS:
            trainer.progress(
                Progress(
                    f"nothing heard for {trainer.quiet:.0f} s; is there an agent for each of "
                    f"{', '.join(outside)}? Start one with `skill2real agent ROLE --run {trainer.run}`"
                )
            )


async def freeze(run: str, home: Path, layer: ev.Layer, name: str, broker: str | None) -> None:
    """Freeze a layer of a finished or interrupted run by hand, and have it signed."""
    fold = MemoryFold()
    with Reader(find_run(home, run) / LEDGER) as reader:
        feed(reader, fold)
    if layer in fold.frozen:
        raise RunMismatch(
            f"the {layer} of {run} is frozen already; `skill2real checkpoints {run}` lists its checkpoints"
        )
    frozen = ev.LayerFrozen(name=name, layer=layer, memory_hash=fold.hash, api_hash=API_HASH)
    async with linked(home, broker) as link, link.bus(run, "operator") as bus:
        seqs = await bus.publish(ev.make(run, "layer.frozen", "operator", frozen, subject=name))
        async for committed in bus.follow(seqs[0]):
            event = ev.decode(committed.raw)
            if event.type == "checkpoint.signed" and event.subject == name:
                return


def estimate(config: RunConfig) -> Estimate:
    """Episodes, trial episodes and seconds that a run takes at most on this configuration's workers."""
    tasks, brain = (len(chosen) for chosen in tasks_of(config))
    rounds = plan(config, tasks, brain)
    episodes, trials = sum(one.practice for one in rounds), sum(one.trials for one in rounds)
    return Estimate(tasks, episodes, trials, SECONDS_AN_EPISODE * (episodes + trials) / config.workers)
