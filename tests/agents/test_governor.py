"""The Governor's course of a candidate, event by event: plan, batches of trials, verdict; and the same after
a restart in between."""

import asyncio
from typing import Any, cast

import pytest

from skill2real.agents.config import STATES
from skill2real.agents.governor import Governor, arm_episode
from skill2real.ledger import events as ev
from skill2real.ledger.bus import Bus

RUN, CANDIDATE = "r", "C1/nouns/1"
TASKS = [ev.Task(suite="s", parts=(n,), instruction=f"do {n}", scene=f"scene {n % 2}") for n in range(3)]
OLD = ev.Entry(
    id="old", layer="cerebellum", kind="grasp", when="", template="", state={"a": 1},
    provenance=ev.Provenance(evidence=("C1/train/0/0",), round="C1"),
)  # fmt: skip


class Ledger:
    """Gives what is published a number, as the service does, and keeps it in order."""

    def __init__(self, early: bool) -> None:
        self.events: list[ev.Event] = []
        started = ev.RunStarted(
            config={"trials": 25, "early_stop": early}, seeds=STATES, packages={}, api_hash=""
        )
        self.say("run.started", "trainer", started, RUN)
        for number, task in enumerate(TASKS):
            self.play(f"C1/train/0/{number}", task, "train", good=number == 2, entry="old" if number else "")

    def say(self, type: str, actor: ev.Actor, data: ev.Struct, subject: str) -> None:
        self.events.append(ev.make(RUN, type, actor, data, subject=subject))

    async def publish(self, *events: ev.Event) -> list[int]:
        self.events += events
        return list(range(len(self.events) - len(events) + 1, len(self.events) + 1))

    def play(self, id: str, task: ev.Task, purpose: ev.Purpose, good: bool, entry: str = "") -> None:
        started = ev.EpisodeStarted(task=task, state=0, purpose=purpose, memory=ev.MemoryRef(), round="C1")
        self.say("episode.started", "trainer", started, id)
        choice = {"clause": 0, "decision": "grasp", "entry": entry}
        self.say(
            "program.proposed",
            "proposer",
            ev.ProgramProposed(turn=0, source="", last=True, choices=(choice,)),
            id,
        )
        found = ev.Finding(clause=0, decision="grasp", good=good, kind="" if good else "slipped")
        outcome = ev.OutcomeMeasured(success=good, settled=good, progress=float(good), truth={})
        self.say("outcome.measured", "runner", outcome, id)
        critique = ev.CritiqueWritten(text="", findings=(found,), success=good)
        self.say("critique.written", "verifier", critique, id)

    def propose(self) -> None:
        entry = ev.Entry(
            id="new", layer="cerebellum", kind="grasp", when="", template="", state={"a": 2},
            provenance=ev.Provenance(evidence=("C1/train/0/0",), round="C1"),
        )  # fmt: skip
        change = ev.MemoryChanged(candidate="", added=(OLD,), removed=(), memory_hash="")
        self.say("memory.changed", "governor", change, "x")
        proposed = ev.CandidateProposed(
            entries=(entry,), replaces=("old",), layer="cerebellum", stage="grasps", decision="grasp",
            reason="", tasks=(TASKS[0].instruction,),
        )  # fmt: skip
        self.say("candidate.proposed", "proposer", proposed, CANDIDATE)

    def of(self, type: str) -> list[Any]:
        return [ev.payload(event) for event in self.events if event.type == type]


def govern(ledger: Ledger) -> None:
    """A Governor that hears all from the start, and answers what is open until nothing more is."""
    governor = Governor(cast(Bus, ledger), RUN)
    heard = 0
    while heard < len(ledger.events):
        for event in ledger.events[heard:]:
            heard += 1
            governor.hear(heard, event)
        asyncio.run(governor.catch_up())


def try_pairs(ledger: Ledger, numbers: range, gain: bool) -> None:
    (planned,) = ledger.of("trials.planned")
    for pair in planned.pairs[numbers.start : numbers.stop]:
        for side in (False, True):
            ledger.play(arm_episode(CANDIDATE, pair.index, side), pair.task, "trial", good=gain and side)


def planned(early: bool) -> Ledger:
    ledger = Ledger(early)
    ledger.propose()
    govern(ledger)
    return ledger


def test_trials_also_cover_tasks_that_use_what_is_replaced() -> None:
    (plan,) = planned(early=False).of("trials.planned")
    assert len(plan.pairs) == 25
    assert {pair.task.instruction for pair in plan.pairs} == {"do 0", "do 1", "do 2"}
    on_failing = [pair for pair in plan.pairs if pair.task.instruction != "do 2"]
    assert len(on_failing) == 13  # "do 2" went well in training
    assert {pair.task.scene for pair in plan.pairs} == {"scene 0", "scene 1"}


@pytest.mark.parametrize("early", [False, True])
def test_a_gain_is_accepted_after_all_pairs(early: bool) -> None:
    ledger = planned(early)
    for first in range(0, 25, 5):
        try_pairs(ledger, range(first, first + 5), gain=True)
        govern(ledger)  # another one each time: nothing is said twice
        assert len(ledger.of("trial.finished")) == (first + 5 if early or first == 20 else 0)
    (verdict,) = ledger.of("verdict.given")
    assert (verdict.verdict, verdict.decision.pairs, verdict.planned) == ("accepted", 25, 25)
    change = ledger.of("memory.changed")[-1]
    assert [entry.id for entry in change.added] == ["new"]
    assert change.removed == ("old",)


def test_a_batch_is_put_on_record_when_it_is_whole() -> None:
    """A batch counts once both sides of all its pairs are judged."""
    ledger = planned(early=True)
    for first in range(0, 10, 5):
        try_pairs(ledger, range(first, first + 5), gain=False)
    ledger.events[-2:] = []  # the last pair's verdict of the Verifier is not there yet
    govern(ledger)
    assert [trial.index for trial in ledger.of("trial.finished")] == list(range(5))
    assert ledger.of("verdict.given") == []


def test_losses_end_trials_at_once() -> None:
    ledger = planned(early=True)
    (plan,) = ledger.of("trials.planned")
    for pair in plan.pairs[:15]:
        for side in (False, True):
            ledger.play(arm_episode(CANDIDATE, pair.index, side), pair.task, "trial", good=not side)
        govern(ledger)
    (verdict,) = ledger.of("verdict.given")
    assert verdict.verdict in ("rejected", "not_testable")
    assert verdict.planned == 25
    assert verdict.decision.pairs == len(ledger.of("trial.finished")) < 25
    assert {r.losses == r.pairs for r in verdict.regressions} == {True}
    assert len(ledger.of("memory.changed")) == 1  # the one before


def test_a_second_proposal_meets_fresh_states() -> None:
    ledger = planned(early=False)
    try_pairs(ledger, range(25), gain=False)
    govern(ledger)
    ledger.events.append(
        ev.make(
            RUN, "candidate.proposed", "proposer", ledger.of("candidate.proposed")[0], subject="C1/nouns/2"
        )
    )
    govern(ledger)
    first, second = (
        {(pair.task.instruction, pair.state) for pair in plan.pairs} for plan in ledger.of("trials.planned")
    )
    assert not first & second
