"""Evaluation: a frozen memory on held-out initial states, with only the Proposer, in a ledger of its own."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..backends.api import API_HASH
from ..backends.sim import suites
from ..backends.sim.rollout import PIXELS
from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event, Layer
from ..replay.state import LEDGER
from .benchmarks import key_of, resolve
from .casting import cast
from .config import BUILT_IN, STATES, RunConfig
from .crew import linked, seats, together
from .director import ABREAST, Director, Job, Progress
from .errors import ConfigError, RunMismatch
from .packages import installed
from .pool import local_pool
from .proposer import Proposer
from .runner import Runner
from .scores import EvalResult, result_of
from .source import Source, open_source
from .spending import NO_LIMIT, Limit, limit_of

Arm = Literal["empty", "cerebellum", "brain", "both"]
LAYERS: dict[str, tuple[Layer, ...]] = {
    "empty": (),
    "cerebellum": ("cerebellum",),
    "brain": ("brain",),
    "both": ("cerebellum", "brain"),
}


@dataclass(frozen=True, kw_only=True)
class EvalPlan:
    """What to evaluate, and on what.

    target: a run or a bundle file. suite: of a benchmark, too. seeds: initial states a task, from the range
    that training never uses. name: of the evaluation's own ledger, "" for one that is made up.
    rename: with made-up words for nouns; None: as the run was trained. models: says who proposes.
    """

    target: str
    suite: str
    checkpoint: str | None = None
    tasks: tuple[str, ...] = ()
    seeds: int = 10
    arms: tuple[Arm, ...] = ("both",)
    name: str = ""
    rename: bool | None = None
    models: RunConfig = BUILT_IN


@dataclass(frozen=True)
class Evaluated:
    """An evaluation that is finished: its ledger, its source, and the result of each arm."""

    path: Path
    source: Source
    results: list[EvalResult]


async def run_arm(
    director: Director,
    checkpoint: str,
    at: int,
    arm: Arm,
    tasks: list[ev.Task],
    states: list[int],
    benchmark: str = "",
) -> EvalResult:
    """Run one arm through a director that is being served, and say the result."""
    benchmark = benchmark or tasks[0].suite
    subject = f"eval/{checkpoint}/{arm}"
    started = ev.EvaluationStarted(
        checkpoint=checkpoint,
        arm=arm,
        suite=benchmark,
        tasks=tuple(t.instruction for t in tasks),
        states=tuple(states),
    )
    if subject not in director.evaluating:
        await director.say("evaluation.started", started, subject=subject)
    jobs = [
        Job(
            id=f"{subject}/{key_of(task)}/{state}",
            task=task,
            state=state,
            purpose="eval",
            memory=ev.MemoryRef(at=at, layers=LAYERS[arm]),
        )
        for task in tasks
        for state in states
    ]
    judgements = await director.episodes(jobs, f"evaluation of {checkpoint}, memory: {arm}")
    result = result_of(
        benchmark, checkpoint, arm, [(job.task, said) for job, said in zip(jobs, judgements, strict=True)]
    )
    finished = ev.EvaluationFinished(
        arm=arm,
        episodes=result.episodes,
        successes=result.successes,
        settled=result.settled,
        interval=result.interval,
        by_task={task.key: (task.score.successes, task.score.episodes) for task in result.by_task},
        seconds=result.seconds,
    )
    if subject not in director.evaluated:
        await director.say("evaluation.finished", finished, subject=subject)
    return result


class Evaluator(Director):
    """A director for evaluations outside a training run."""

    actor = "operator"

    def __init__(
        self,
        bus: Bus,
        run: str,
        abreast: int,
        progress: Callable[[Progress], None],
        limit: Limit = NO_LIMIT,
    ) -> None:
        super().__init__(bus, run, abreast, judged=False, progress=progress, limit=limit)
        self._started: ev.RunStarted | None = None
        self._finished_run = False
        self.to_come = 0  # episodes of the arms that have not begun

    def ahead(self, here: int) -> float:
        return here + self.to_come

    def hear(self, seq: int, event: Event) -> None:
        super().hear(seq, event)
        if event.type == "run.started":
            self._started = ev.payload(event)
        elif event.type == "run.finished":
            self._finished_run = True

    async def open(self, config: dict[str, Any]) -> None:
        """Begin the evaluation's own ledger, or take it up again. Raises RunMismatch where it is of another
        evaluation."""
        await self.ready.wait()
        if self._started is None:
            started = ev.RunStarted(
                config=config, seeds={"eval": STATES["eval"]}, packages=installed(), api_hash=API_HASH
            )
            await self.say("run.started", started, subject=self.run)
            return
        recorded = {**self._started.config, "api_hash": self._started.api_hash}
        wanted = {**config, "api_hash": API_HASH}
        if differ := [key for key, value in wanted.items() if recorded.get(key) != value]:
            raise RunMismatch(
                f"evaluation {self.run} was begun with another {', '.join(differ)}; give the same again, or "
                "another --name"
            )
        if not self._finished_run:
            seq = await self.say("run.resumed", ev.RunResumed(packages=installed()), subject=self.run)
            await self.until(lambda: self.seq >= seq)

    async def close(self) -> None:
        """Say the end, once."""
        if not self._finished_run:
            await self.say("run.finished", ev.RunFinished(reason="evaluated"), subject=self.run)


def name_for(source: Source) -> str:
    """A new name for an evaluation's ledger."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return f"eval-{source.verified.run}-{source.verified.name.replace('/', '-')}-{stamp}"


async def evaluate(
    plan: EvalPlan,
    home: Path,
    workers: int = 2,
    key: str | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    resume: bool = False,
) -> Evaluated:
    """Evaluate a verified checkpoint in a ledger of its own under `home`, or go on with one.

    Raises what `open_source` and `resolve` raise, and RunMismatch.
    """
    source = open_source(plan.target, home, plan.checkpoint, key)
    run = plan.name or name_for(source)
    if (home / run / LEDGER).exists() and not resume:
        raise RunMismatch(
            f"there is a run {run} in {home} already; go on with --resume, or choose another --name"
        )
    renamed = source.renamed if plan.rename is None else plan.rename
    tasks = resolve(plan.suite, plan.tasks, rename=renamed, extras=True)
    states = held_out(tasks, plan.seeds)
    config = {
        "checkpoint": source.label,
        "note": source.verified.note,
        "memory_hash": source.verified.layer.memory_hash,
        "suite": plan.suite,
        "tasks": list(plan.tasks),
        "seeds": plan.seeds,
        "arms": list(plan.arms),
        "rename": renamed,
    }
    if plan.models.language():
        config |= {"proposer": plan.models.proposer, "effort": plan.models.effort}
    if plan.models.pixels != PIXELS:
        config["pixels"] = plan.models.pixels
    results: list[EvalResult] = []
    async with (
        cast(plan.models, home, ("proposer",)) as models,
        linked(home, None) as link,
        local_pool(workers) as pool,
        seats(link, run, "proposer", "runner", "operator") as buses,
    ):
        abreast = max(workers, ABREAST) if models.chats else workers
        evaluator = Evaluator(buses[2], run, abreast, progress, limit_of(plan.models))
        evaluator.pixels = plan.models.pixels
        blobs = link.blobs(run)
        roles = [
            Proposer(buses[0], run, models.proposer(buses[0], blobs), base=source.verified.entries),
            Runner(buses[1], run, pool, blobs),
            evaluator,
        ]

        async def work() -> None:
            await evaluator.open(config)
            for number, arm in enumerate(plan.arms, 1):
                evaluator.to_come = (len(plan.arms) - number) * len(tasks) * len(states)
                results.append(
                    await run_arm(evaluator, source.verified.name, 0, arm, tasks, states, plan.suite)
                )
            await evaluator.close()

        await together(roles, work)
    return Evaluated(home / run, source, results)


def held_out(tasks: list[ev.Task], seeds: int) -> list[int]:
    """Initial states for evaluation, the same for all tasks. Raises ConfigError where a task has too few."""
    first, last = STATES["eval"]
    fewest = min(suites.load_task(task.suite, task.parts).states for task in tasks)
    if first + seeds > min(fewest, last + 1):
        raise ConfigError(
            f"only {min(fewest, last + 1) - first} held-out initial states are left for these tasks; "
            "ask for fewer --seeds"
        )
    return list(range(first, first + seeds))
