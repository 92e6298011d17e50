"""Evaluation: a frozen memory on held-out initial states, with only the Proposer."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..backends.api import API_HASH
from ..backends.sim import suites
from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Layer
from .benchmarks import resolve
from .config import STATES
from .crew import linked, seats, together
from .director import Director, Job, Progress
from .errors import ConfigError
from .models import proposer_model
from .packages import installed
from .pool import local_pool
from .proposer import Proposer
from .runner import Runner
from .source import Source, open_source
from .statistics import wilson

Arm = Literal["empty", "cerebellum", "brain", "both"]
LAYERS: dict[str, tuple[Layer, ...]] = {
    "empty": (),
    "cerebellum": ("cerebellum",),
    "brain": ("brain",),
    "both": ("cerebellum", "brain"),
}


@dataclass(frozen=True)
class EvalResult:
    """One arm. successes: at any step (LIBERO's rule); settled: in the final state at rest."""

    checkpoint: str
    arm: str
    episodes: int
    successes: int
    settled: int
    interval: tuple[float, float]
    by_task: dict[str, tuple[int, int]]
    seconds: float


async def run_arm(
    director: Director,
    checkpoint: str,
    at: int,
    arm: Arm,
    tasks: list[ev.Task],
    states: list[int],
) -> EvalResult:
    """Run one arm through a director that is being served, and say the result."""
    began = time.monotonic()
    subject = f"eval/{checkpoint}/{arm}"
    started = ev.EvaluationStarted(
        checkpoint=checkpoint,
        arm=arm,
        suite=tasks[0].suite,
        tasks=tuple(t.instruction for t in tasks),
        states=tuple(states),
    )
    if subject not in director.evaluated:
        await director.say("evaluation.started", started, subject=subject)
    jobs = [
        Job(
            id=f"{subject}/{task.suite}/{'+'.join(map(str, task.parts))}/{state}",
            task=task,
            state=state,
            purpose="eval",
            memory=ev.MemoryRef(at=at, layers=LAYERS[arm]),
        )
        for task in tasks
        for state in states
    ]
    judgements = await director.episodes(jobs, f"evaluation of {checkpoint}, memory: {arm}")
    by_task: dict[str, tuple[int, int]] = {}
    for job, judgement in zip(jobs, judgements, strict=True):
        wins, count = by_task.get(job.task.instruction, (0, 0))
        by_task[job.task.instruction] = (wins + bool(judgement.success), count + 1)
    successes = sum(bool(j.success) for j in judgements)
    result = EvalResult(
        checkpoint,
        arm,
        len(jobs),
        successes,
        sum(bool(j.settled) for j in judgements),
        wilson(successes, len(jobs)),
        by_task,
        time.monotonic() - began,
    )
    finished = ev.EvaluationFinished(
        arm=arm,
        episodes=result.episodes,
        successes=result.successes,
        settled=result.settled,
        interval=result.interval,
        by_task=by_task,
        seconds=round(result.seconds, 1),
    )
    if subject not in director.evaluated:
        await director.say("evaluation.finished", finished, subject=subject)
    return result


class Evaluator(Director):
    """A director for evaluations outside a training run."""

    actor = "operator"

    def __init__(self, bus: Bus, run: str, abreast: int, progress: Callable[[Progress], None]) -> None:
        super().__init__(bus, run, abreast, judged=False, progress=progress)

    async def open(self, source: Source, config: dict[str, object]) -> None:
        """First event of the evaluation's own ledger."""
        await self.ready.wait()
        started = ev.RunStarted(
            config={"checkpoint": source.label, "note": source.verified.note, **config},
            seeds={"eval": STATES["eval"]},
            packages=installed(),
            api_hash=API_HASH,
        )
        await self.say("run.started", started, subject=self.run)


async def evaluate(
    target: str,
    home: Path,
    checkpoint: str | None,
    suite: str,
    tasks: tuple[str, ...],
    seeds: int,
    arms: tuple[Arm, ...],
    workers: int,
    key: str | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> list[EvalResult]:
    """Evaluate a verified checkpoint in a ledger of its own under `home`.

    seeds: initial states a task, from the range that training never uses. Raises what `open_source` and
    `resolve` raise.
    """
    source = open_source(target, home, checkpoint, key)
    chosen = resolve(suite, tasks)
    states = held_out(chosen, seeds)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    run = f"eval-{source.verified.run}-{source.verified.name.replace('/', '-')}-{stamp}"
    async with (
        linked(home, None) as link,
        local_pool(workers) as pool,
        seats(link, run, "proposer", "runner", "operator") as buses,
    ):
        evaluator = Evaluator(buses[2], run, workers, progress)
        model = proposer_model("embedded", 0)
        roles = [
            Proposer(buses[0], run, model, base=source.verified.entries),
            Runner(buses[1], run, pool, link.blobs(run)),
            evaluator,
        ]
        results: list[EvalResult] = []

        async def work() -> None:
            await evaluator.open(
                source, {"suite": suite, "tasks": list(tasks), "seeds": seeds, "arms": list(arms)}
            )
            for arm in arms:
                results.append(await run_arm(evaluator, source.verified.name, 0, arm, chosen, states))
            await evaluator.say("run.finished", ev.RunFinished(reason="evaluated"), subject=run)

        await together(roles, work)
    return results


def held_out(tasks: list[ev.Task], seeds: int) -> list[int]:
    """Initial states for evaluation, the same for all tasks. Raises ConfigError where a task has too few."""
    first, _ = STATES["eval"]
    fewest = min(suites.load_task(task.suite, task.parts).states for task in tasks)
    if first + seeds > fewest:
        raise ConfigError(
            f"only {fewest - first} held-out initial states are left for these tasks; ask for fewer --seeds"
        )
    return list(range(first, first + seeds))
