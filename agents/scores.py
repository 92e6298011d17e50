"""Counts of evaluation episodes: by task, by group of tasks, and for the whole benchmark, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..ledger import events as ev
from .benchmarks import counts, groups, key_of
from .director import Judgement
from .statistics import wilson


@dataclass(frozen=True)
class Score:
    """successes: at any step (LIBERO's rule). settled: in the final state at rest. interval: Wilson 95% of
    the successes. lost: episodes in which something was off the table before the start."""

    episodes: int
    successes: int
    settled: int
    interval: tuple[float, float]
    settled_interval: tuple[float, float]
    lost: int = 0


@dataclass(frozen=True)
class TaskScore:
    """One task's score. key: suite and number; different scenes can have one instruction."""

    key: str
    instruction: str
    group: str
    score: Score


@dataclass(frozen=True)
class EvalResult:
    """One arm. The counts are those of the benchmark's own figure; groups has what is added up apart."""

    checkpoint: str
    arm: str
    benchmark: str
    episodes: int
    successes: int
    settled: int
    interval: tuple[float, float]
    settled_interval: tuple[float, float]
    lost: int
    groups: dict[str, Score]
    by_task: tuple[TaskScore, ...]
    seconds: float  # of all episodes together
    operations: int


def score_of(judgements: Sequence[Judgement]) -> Score:
    wins, rest = sum(bool(j.success) for j in judgements), sum(bool(j.settled) for j in judgements)
    n = len(judgements)
    return Score(n, wins, rest, wilson(wins, n), wilson(rest, n), sum(bool(j.lost) for j in judgements))


def result_of(
    benchmark: str, checkpoint: str, arm: str, played: Sequence[tuple[ev.Task, Judgement]]
) -> EvalResult:
    """The result of an arm from its episodes."""
    tasks = list({key_of(task): task for task, _ in played}.values())
    by_task: dict[str, list[Judgement]] = {}
    for task, judgement in played:
        by_task.setdefault(key_of(task), []).append(judgement)

    def total(chosen: Sequence[ev.Task]) -> Score:
        return score_of([j for task in chosen for j in by_task[key_of(task)]])

    grouped = groups(benchmark, tasks)
    group = {key_of(task): name for name, own in grouped.items() for task in own}
    whole = total([task for task in tasks if counts(benchmark, task)])
    return EvalResult(
        checkpoint=checkpoint,
        arm=arm,
        benchmark=benchmark,
        episodes=whole.episodes,
        successes=whole.successes,
        settled=whole.settled,
        interval=whole.interval,
        settled_interval=whole.settled_interval,
        lost=whole.lost,
        groups={name: total(own) for name, own in grouped.items()},
        by_task=tuple(
            TaskScore(key_of(task), task.instruction, group.get(key_of(task), ""), total([task]))
            for task in tasks
        ),
        seconds=round(sum(j.seconds for _, j in played), 1),
        operations=sum(j.operations for _, j in played),
    )
