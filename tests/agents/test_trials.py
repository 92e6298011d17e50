"""Planning and judging of paired trials."""

import random

import msgspec
import pytest

from skill2real.agents.trials import Judged, hopeless, judge, plan
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
    first, second = (plan([task(0)], set(), 10, (5, 29), tried) for tried in (None, {("s", (0,)): 10}))
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


def random_trials(rng: random.Random) -> list[ev.TrialFinished]:
    """25 pairs with some chance of success on each side, from none to certain."""
    without, with_candidate = rng.random(), rng.random()
    both = [(rng.random() < without, rng.random() < with_candidate) for _ in range(25)]
    whole = [(now and rng.random() < 0.8, after and rng.random() < 0.8) for now, after in both]
    return [trial(i, *both[i], completed=whole[i]) for i in range(25)]


def test_trials_end_early_only_where_nothing_could_be_accepted() -> None:
    rng = random.Random(2)
    ended = {"accepted": 0, "other": 0}
    for _ in range(500):
        trials = random_trials(rng)
        final = judge(trials, "grasp").verdict
        stops = [n for n in range(5, 25, 5) if hopeless(trials[:n], 25)]
        if stops:
            early = judge(trials[: stops[0]], "grasp", 25)
            assert early.verdict != "accepted"
            assert early.planned == 25
            assert f"ended after {stops[0]} of 25 pairs" in early.reason
        ended["accepted" if final == "accepted" else "other"] += bool(stops)
        assert hopeless(trials, 25) is (final != "accepted")
    assert ended["accepted"] == 0
    assert ended["other"] > 100


def test_trials_are_not_ended_while_the_rest_could_still_win() -> None:
    """21 pairs without difference leave four: a win in all of them would be p = 0.06. 20 leave five."""
    same = [trial(i, False, False) for i in range(25)]
    assert not hopeless(same[:20], 25)
    assert hopeless(same[:21], 25)


def test_tasks_that_got_worse_are_named() -> None:
    trials = [trial(i, i < 5, i < 20) for i in range(24)]
    lost = msgspec.structs.replace(trial(24, True, False), task="other")
    assert judge([*trials, lost], "grasp").regressions == (
        ev.Regression(task="other", pairs=1, wins=0, losses=1),
    )


def test_pairs_are_spread_over_scenes() -> None:
    tasks = [msgspec.structs.replace(task(i), scene="one" if i < 8 else "two") for i in range(10)]
    pairs = plan(tasks, {t.instruction for t in tasks}, 4, (5, 29))
    assert {p.task.scene for p in pairs} == {"one", "two"}


@pytest.mark.parametrize("decision", ["order", "retry"])
def test_what_pays_off_in_the_whole_is_judged_by_completion(decision: str) -> None:
    findings = (ev.Finding(clause=0, decision=decision, good=True),)
    judged = Judged("e", ev.CritiqueWritten(text="", findings=findings, success=False), success=False)
    assert judged.arm(decision).decision is False


@pytest.mark.parametrize("decision", ["part", "work"])
def test_a_decision_that_was_never_taken_did_not_go_well(decision: str) -> None:
    judged = Judged("e", ev.CritiqueWritten(text="", findings=(), success=True), success=True)
    assert judged.arm(decision).decision is False


def test_one_instruction_in_two_scenes_is_tried_in_both() -> None:
    twins = [ev.Task(suite="s", parts=(n,), instruction="do it", scene=str(n)) for n in (1, 2)]
    pairs = plan(twins, set(), 10, (5, 29))
    assert [p.task.parts for p in pairs].count((1,)) == 5


def test_a_candidate_is_judged_where_it_chose() -> None:
    findings = (
        ev.Finding(clause=0, decision="grasp", good=False, kind="slipped while lifting"),
        ev.Finding(clause=1, decision="grasp", good=True),
    )
    judged = Judged("e", ev.CritiqueWritten(text="", findings=findings, success=False), False)
    assert not judged.arm("grasp").decision
    assert judged.arm("grasp", frozenset({(1, "grasp")})).decision
    assert not judged.arm("grasp", frozenset({(0, "grasp")})).decision


def test_a_word_is_not_judged_by_another_one_in_the_same_part_of_the_instruction() -> None:
    findings = (
        ev.Finding(clause=0, decision="which", good=True, region=1),
        ev.Finding(clause=0, decision="target", good=False, region=2),
    )
    judged = Judged("e", ev.CritiqueWritten(text="", findings=findings, success=False), False)
    assert not judged.arm("which").decision
    assert judged.arm("which", frozenset({(0, "which")})).decision
