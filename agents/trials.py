"""Planning paired trials and judging them: which initial states, and what 25 pairs say."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from ..ledger import events as ev
from .statistics import mcnemar, wilson

LEVEL = 0.05  # of the exact one-sided test
FAILURES = 5  # fewer failures without the candidate cannot show a difference
DECISIONS = {
    "which": ("which", "target")
}  # findings that a decision's verdict rests on; else the one of that name

Verdict = Literal["accepted", "rejected", "not_testable"]


@dataclass(frozen=True)
class Judged:
    """A trial episode with what the Verifier said of it and what the simulator measured."""

    episode: str
    critique: ev.CritiqueWritten | None
    success: bool

    def arm(self, decision: str) -> ev.ArmResult:
        kinds = DECISIONS.get(decision, (decision,))
        good = self.success
        failure = ""
        if self.critique is not None:
            failure = next((f.kind for f in self.critique.findings if not f.good), "")
            if decision != "completion":
                found = [f for f in self.critique.findings if f.decision in kinds]
                good = bool(found) and all(f.good for f in found)
        return ev.ArmResult(episode=self.episode, decision=good, completed=self.success, failure=failure)


def plan(
    tasks: list[ev.Task], failing: set[str], count: int, states: tuple[int, int], offset: int
) -> tuple[ev.Pair, ...]:
    """`count` initial states: about half on tasks that fail now, the rest on the others. `offset` turns
    the states, so that a second proposal meets fresh ones first. Raises ValueError without tasks."""
    bad = [task for task in tasks if task.instruction in failing]
    good = [task for task in tasks if task.instruction not in failing]
    if not tasks:
        raise ValueError("trials need at least one task")
    first, last = states
    span = last - first + 1
    used: Counter[str] = Counter()
    pairs = []
    for index in range(count):
        group = (bad, good)[index % 2] or bad or good
        task = min(group, key=lambda t: (used[t.instruction], t.instruction))
        state = first + (offset + used[task.instruction]) % span
        used[task.instruction] += 1
        pairs.append(ev.Pair(index=index, task=task, state=state))
    return tuple(pairs)


def compare(trials: list[ev.TrialFinished], completion: bool) -> ev.Statistic:
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


def judge(trials: list[ev.TrialFinished], decision: str) -> ev.VerdictGiven:
    """Accept if the decision is better and completion is not significantly worse."""
    own, whole = compare(trials, completion=decision == "completion"), compare(trials, completion=True)
    worse = mcnemar(whole.losses, whole.wins) < LEVEL
    score = (
        f"{decision}: {own.without} of {own.pairs} without, {own.with_candidate} with, "
        f"{own.wins} won and {own.losses} lost"
    )
    if own.pairs - own.without < FAILURES:
        verdict, reason = "not_testable", f"not testable here, too few failures to mend ({score})"
    elif own.p >= LEVEL:
        verdict, reason = "rejected", f"no significant gain ({score}, p = {own.p:.3g})"
    elif worse:
        verdict, reason = (
            "rejected",
            f"completion got worse: {whole.without} to {whole.with_candidate} ({score})",
        )
    else:
        verdict, reason = "accepted", f"significant gain ({score}, p = {own.p:.2g})"
    return ev.VerdictGiven(
        verdict=verdict,  # type: ignore[arg-type]
        reason=reason,
        decision=own,
        completion=whole,
        failures_without=_failures([t.without for t in trials]),
        failures_with=_failures([t.with_candidate for t in trials]),
    )


def _failures(arms: list[ev.ArmResult]) -> dict[str, int]:
    return dict(sorted(Counter(arm.failure for arm in arms if arm.failure).items()))


def _rounded(interval: tuple[float, float]) -> tuple[float, float]:
    return round(interval[0], 4), round(interval[1], 4)
