"""Planning paired trials and judging them: which initial states, and what 25 pairs say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..ledger import events as ev
from .statistics import mcnemar, wilson

LEVEL = 0.05  # of the exact one-sided test
FAILURES = 5  # fewer failures without the candidate cannot show a difference
SCENES = 12  # in which a candidate is tried at most
BATCH = 5  # pairs after which trials may end early
# Findings that a decision's verdict rests on, where not the one of that name alone.
DECISIONS = {"which": ("which", "target")}
COMPLETION = ("completion", "order", "retry")  # these pay off only in the whole

Verdict = Literal["accepted", "rejected", "not_testable"]

Taken = tuple[int, str]  # clause and decision
Place = tuple[str, tuple[int, ...]]  # suite and numbers: tasks of different scenes can have one instruction


def place(task: ev.Task) -> Place:
    return task.suite, task.parts


@dataclass(frozen=True)
class Judged:
    """A trial episode with what the Verifier said of it and what the simulator measured."""

    episode: str
    critique: ev.CritiqueWritten | None
    success: bool

    def arm(self, decision: str, taken: frozenset[Taken] = frozenset()) -> ev.ArmResult:
        """How this arm did. taken: the decisions that the candidate takes; none: all of this kind."""
        kinds = DECISIONS.get(decision, (decision,))
        good = self.success
        failure = ""
        if self.critique is not None:
            failure = next((f.kind for f in self.critique.findings if not f.good), "")
            if decision not in COMPLETION:
                found = [
                    f
                    for f in self.critique.findings
                    if f.decision in kinds and (not taken or (f.clause, f.decision) in taken)
                ]
                good = bool(found) and all(f.good for f in found)
        return ev.ArmResult(episode=self.episode, decision=good, completed=self.success, failure=failure)


def plan(
    tasks: list[ev.Task],
    failing: set[str],
    count: int,
    states: tuple[int, int],
    tried: Mapping[Place, int] | None = None,
) -> tuple[ev.Pair, ...]:
    """`count` initial states: about half on tasks that fail now, the rest on the others, spread over tasks
    and scenes. tried: how many states of each task an earlier proposal has met; a second one meets others, as
    long as there are some. Raises ValueError without tasks."""
    if not tasks:
        raise ValueError("trials need at least one task")
    tasks = _in_few_scenes(tasks, failing)
    bad = [task for task in tasks if task.instruction in failing]
    good = [task for task in tasks if task.instruction not in failing]
    first, last = states
    used: Counter[Place] = Counter()
    scenes: Counter[str] = Counter()
    pairs = []
    for index in range(count):
        group = (bad, good)[index % 2] or bad or good
        task = min(group, key=lambda t: (used[place(t)], scenes[t.scene], t.instruction, place(t)))
        turn = (tried or {}).get(place(task), 0) + used[place(task)]
        state = first + turn % (last - first + 1)
        used[place(task)] += 1
        scenes[task.scene] += 1
        pairs.append(ev.Pair(index=index, task=task, state=state))
    return tuple(pairs)


def _in_few_scenes(tasks: list[ev.Task], failing: set[str]) -> list[ev.Task]:
    """Tasks of at most SCENES scenes, up to half of them for tasks that fail now: loading a scene takes
    longer than a trial."""
    bad = list(dict.fromkeys(task.scene for task in tasks if task.instruction in failing))
    good = list(dict.fromkeys(task.scene for task in tasks if task.scene not in bad))
    few = {*bad[: max(SCENES // 2, SCENES - len(good))]}
    few |= {*good[: SCENES - len(few)]}
    return [task for task in tasks if task.scene in few]


def compare(trials: Sequence[ev.TrialFinished], completion: bool) -> ev.Statistic:
    """The paired statistic of the decision, or of completion."""
    sides = [
        (t.without.completed, t.with_candidate.completed)
        if completion
        else (t.without.decision, t.with_candidate.decision)
        for t in trials
    ]
    wins = sum(after and not now for now, after in sides)
    losses = sum(now and not after for now, after in sides)
    without, with_candidate = sum(now for now, _ in sides), sum(after for _, after in sides)
    return ev.Statistic(
        pairs=len(sides),
        without=without,
        with_candidate=with_candidate,
        wins=wins,
        losses=losses,
        p=mcnemar(wins, losses),
        interval_without=_rounded(wilson(without, len(sides))),
        interval_with=_rounded(wilson(with_candidate, len(sides))),
    )


def hopeless(trials: Sequence[ev.TrialFinished], planned: int) -> bool:
    """Whether no outcome of the pairs that are left could still lead to acceptance: an exact bound, so that
    whoever stops here accepts what would have been accepted."""
    left = planned - len(trials)
    own, whole = compare(trials, completion=False), compare(trials, completion=True)
    too_few = own.pairs - own.without + left < FAILURES
    return (
        too_few
        or mcnemar(own.wins + left, own.losses) >= LEVEL
        or mcnemar(whole.losses, whole.wins + left) < LEVEL
    )


def judge(trials: Sequence[ev.TrialFinished], decision: str, planned: int | None = None) -> ev.VerdictGiven:
    """Accept if the decision is better and completion is not significantly worse. planned: pairs, where
    trials ended before all were played, because nothing could be accepted any more."""
    own, whole = compare(trials, completion=False), compare(trials, completion=True)
    planned = planned or own.pairs
    worse = mcnemar(whole.losses, whole.wins) < LEVEL
    score = (
        f"{decision}: {own.without} of {own.pairs} without, {own.with_candidate} with, "
        f"{own.wins} won and {own.losses} lost"
    )
    if own.pairs < planned:
        score += f"; ended after {own.pairs} of {planned} pairs"
    verdict: Verdict = "rejected"
    if own.pairs - own.without < FAILURES:
        verdict, reason = "not_testable", f"not testable here, too few failures to mend ({score})"
    elif own.p >= LEVEL:
        reason = f"no significant gain ({score}, p = {own.p:.3g})"
    elif worse:
        reason = f"completion got worse: {whole.without} to {whole.with_candidate} ({score})"
    else:
        verdict, reason = "accepted", f"significant gain ({score}, p = {own.p:.2g})"
    return ev.VerdictGiven(
        verdict=verdict,
        reason=reason,
        decision=own,
        completion=whole,
        failures_without=_failures([t.without for t in trials]),
        failures_with=_failures([t.with_candidate for t in trials]),
        regressions=_regressions(trials),
        planned=planned,
    )


def _regressions(trials: Sequence[ev.TrialFinished]) -> tuple[ev.Regression, ...]:
    """Tasks that completed less often with the candidate."""
    by_task: dict[str, list[ev.TrialFinished]] = {}
    for trial in trials:
        by_task.setdefault(trial.task, []).append(trial)
    found = []
    for task, own in sorted(by_task.items()):
        whole = compare(own, completion=True)
        if whole.losses > whole.wins:
            found.append(ev.Regression(task=task, pairs=len(own), wins=whole.wins, losses=whole.losses))
    return tuple(found)


def _failures(arms: list[ev.ArmResult]) -> dict[str, int]:
    return dict(sorted(Counter(arm.failure for arm in arms if arm.failure).items()))


def _rounded(interval: tuple[float, float]) -> tuple[float, float]:
    return round(interval[0], 4), round(interval[1], 4)
