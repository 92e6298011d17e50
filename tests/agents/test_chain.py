"""Which events of an episode count: only those that continue the chain of its living attempt, each once."""

import pytest

from skill2real.agents.chain import Chains
from skill2real.ledger import events as ev
from skill2real.ledger.events import Event

TASK = ev.Task(suite="libero_90", parts=(50,), instruction="pick up the can")


def started() -> Event:
    data = ev.EpisodeStarted(task=TASK, state=0, purpose="train", memory=ev.MemoryRef())
    return ev.make("run", "episode.started", "trainer", data, subject="e")


def proposed(cause: Event) -> Event:
    data = ev.ProgramProposed(turn=0, source="", last=False)
    return ev.make("run", "program.proposed", "proposer", data, subject="e", cause=cause.id)


def rejected(cause: Event) -> Event:
    data = ev.ProgramRejected(turn=0, stage="syntax", message="")
    return ev.make("run", "program.rejected", "runner", data, subject="e", cause=cause.id)


def measured(cause: Event) -> Event:
    data = ev.OutcomeMeasured(success=True, settled=True, progress=1.0, truth={})
    return ev.make("run", "outcome.measured", "runner", data, subject="e", cause=cause.id)


def finished(cause: Event) -> Event:
    data = ev.EpisodeFinished(
        status="done", start_digest="", end_digest="", operations=0, turns=1, seconds=0.0
    )
    return ev.make("run", "episode.finished", "runner", data, subject="e", cause=cause.id)


def resumed() -> Event:
    return ev.make("run", "run.resumed", "trainer", ev.RunResumed(packages={}), subject="run")


@pytest.mark.parametrize("hears_privileged", [True, False])
def test_an_episode_in_order_counts_as_a_whole(hears_privileged: bool) -> None:
    chains = Chains()
    course = [started()]
    course += [proposed(course[-1])]
    course += [rejected(course[-1])]
    course += [proposed(course[-1])]
    last = course[-1]
    course += [rejected(last), *([measured(last)] if hears_privileged else []), finished(last)]
    for event in course:
        assert chains.follow(event)
        if event.type.startswith(("episode.started", "program")):
            assert chains.last("e") == event.id


def test_the_outcome_may_come_before_or_after_the_result_that_all_hear() -> None:
    for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0)):
        chains, first = Chains(), started()
        program = proposed(first)
        ends = [rejected(program), measured(program), finished(program)]
        assert all(chains.follow(event) for event in (first, program))
        assert all(chains.follow(ends[index]) for index in order)


def test_a_second_answer_to_the_same_question_does_not_count() -> None:
    chains, first = Chains(), started()
    one, two = proposed(first), proposed(first)
    assert chains.follow(first)
    assert chains.follow(one)
    assert not chains.follow(two)
    assert not chains.follow(rejected(two))
    assert chains.follow(result := rejected(one))
    assert not chains.follow(rejected(one))
    assert chains.last("e") == result.id


def test_what_belongs_to_an_earlier_attempt_does_not_count() -> None:
    chains, dead = Chains(), started()
    chains.follow(dead)
    program = proposed(dead)
    chains.follow(program)
    alive = started()
    assert chains.follow(alive)
    for event in (rejected(program), measured(program), finished(program), proposed(dead)):
        assert not chains.follow(event)
    assert chains.last("e") == alive.id


def test_a_resumed_run_ends_all_attempts() -> None:
    chains, dead = Chains(), started()
    assert chains.follow(dead)
    assert chains.follow(resumed())
    assert chains.last("e") == ""
    assert not chains.follow(proposed(dead))


def test_events_without_a_cause_or_an_episode_do_not_count() -> None:
    chains = Chains()
    nowhere = ev.make(
        "run", "program.proposed", "proposer", ev.ProgramProposed(turn=0, source="", last=True), subject="e"
    )
    assert not chains.follow(nowhere)
    assert not chains.follow(finished(nowhere))
    chains.follow(started())
    assert not chains.follow(nowhere)


def test_other_events_are_none_of_its_business() -> None:
    chains = Chains()
    critique = ev.CritiqueWritten(text="", findings=(), success=True)
    assert chains.follow(ev.make("run", "critique.written", "verifier", critique, subject="e"))
