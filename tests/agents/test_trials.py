"""Planning and judging of paired trials."""

import random

import pytest

from skill2real.agents.trials import Judged, judge, plan
from skill2real.ledger import events as ev


def task(number: int) -> ev.Task:
    return ev.Task(suite="s", parts=(number,), instruction=f"do {number}")


def trial(
    index: int, before: bool, after: bool, completed: tuple[bool, bool] | None = None
) -> ev.TrialFinished:
    done = completed or (before, after)
    return ev.TrialFinished(
        index=index,
        task="t",
        state=index,
        without=ev.ArmResult(
            episode=f"{index}/a", decision=before, completed=done[0], failure="" if before else "slipped"
        ),
        with_candidate=ev.ArmResult(episode=f"{index}/b", decision=after, completed=done[1]),
    )


def test_half_of_the_pairs_fall_on_failing_tasks_and_no_state_comes_twice() -> None:
    pairs = plan([task(i) for i in range(4)], {"do 1"}, 25, (5, 29), {"do 1": 3})
    on_failing = [p for p in pairs if p.task.parts == (1,)]
    assert len(pairs) == 25
    assert len(on_failing) == 13
    assert len({(p.task.parts, p.state) for p in pairs}) == 25
    assert all(5 <= p.state <= 29 for p in pairs)


def test_a_second_proposal_meets_other_states_first() -> None:
    first, second = (plan([task(0)], set(), 10, (5, 29), tried) for tried in (None, {"do 0": 10}))
    assert not {p.state for p in first} & {p.state for p in second}


def test_a_gain_is_accepted() -> None:
    verdict = judge([trial(i, i < 5, i < 20) for i in range(25)], "grasp")
    assert verdict.verdict == "accepted"
    assert verdict.decision is not None
    assert (verdict.decision.wins, verdict.decision.losses) == (15, 0)
    assert verdict.failures_without == {"slipped": 20}


def test_a_difference_within_chance_is_rejected_with_its_numbers() -> None:
    verdict = judge([trial(i, i < 10, 2 <= i < 14) for i in range(25)], "grasp")
    assert verdict.verdict == "rejected"
    assert "4 won and 2 lost" in verdict.reason


def test_fewer_than_five_failures_cannot_be_tested() -> None:
    assert judge([trial(i, i >= 4, True) for i in range(25)], "grasp").verdict == "not_testable"


def test_a_gain_that_costs_completion_is_rejected() -> None:
    trials = [trial(i, False, i < 20, completed=(i < 10, False)) for i in range(25)]
    verdict = judge(trials, "grasp")
    assert verdict.verdict == "rejected"
    assert "completion got worse" in verdict.reason


@pytest.mark.parametrize(
    ("decision", "expected"), [("which", False), ("grasp", True), ("completion", True), ("release", False)]
)
def test_a_decision_is_judged_by_its_own_findings(decision: str, expected: bool) -> None:
    findings = (
        ev.Finding(clause=0, decision="which", good=True),
        ev.Finding(clause=0, decision="target", good=False, kind="wrong thing"),
        ev.Finding(clause=0, decision="grasp", good=True),
    )
    judged = Judged("e", ev.CritiqueWritten(text="", findings=findings, success=True), success=True)
    assert judged.arm(decision).decision is expected


def test_outcomes_by_chance_are_rarely_accepted() -> None:
    """A candidate that changes nothing passes at the level of the test, not more often."""
    rng = random.Random(1)
    accepted = 0
    for _ in range(400):
        trials = [trial(i, rng.random() < 0.5, rng.random() < 0.5) for i in range(25)]
        accepted += judge(trials, "grasp").verdict == "accepted"
    assert accepted <= 0.05 * 400
