"""Audits: the story of a skill from evidence to checkpoint, and the numbers counted again."""

import json
from pathlib import Path

import msgspec
import pytest
from sample_run import RESULTS, RUN, STATISTIC, Writer, entry, sample, write

from skill2real.ledger import events as ev
from skill2real.replay.audit import CandidateStory, SkillStory, audit, audit_all, audit_candidate, audit_skill
from skill2real.replay.errors import UnknownCandidate, UnknownSkill
from skill2real.replay.show import to_json
from skill2real.replay.state import State, state_at


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    return state_at(write(tmp_path_factory.mktemp("runs") / "sample", sample().events))


def test_the_story_of_an_accepted_candidate(state: State) -> None:
    story = audit_candidate(state, "c1")
    assert (story.status, story.reason, story.round) == ("accepted", "9 wins, 1 loss", "C1")
    assert [e.episode for e in story.evidence] == ["e1", "e2", "e-lost"]
    assert [e.found for e in story.evidence] == [True, True, False]
    assert story.evidence[0].critiques == ("the object slipped while lifting",)
    assert story.evidence[0].choices == ({"decision": "grasp", "variant": "rim"},)
    assert (story.evidence[0].success, story.evidence[1].success) == (False, True)
    assert story.screening is not None
    assert story.screening.passed
    assert (story.planned, len(story.trials)) == (25, 25)
    tally = story.recount.decision
    assert (tally.without, tally.with_candidate, tally.wins, tally.losses) == (9, 17, 9, 1)
    assert story.recount.p == pytest.approx(11 / 1024)
    assert story.recount.complete
    assert story.recount.agrees is True
    assert [(f.entry, f.how, f.candidate) for f in story.fates] == [("can", "replaced", "c3")]
    assert story.checkpoints == ("C1",)
    assert story.seq < story.screened_at < story.planned_at < story.verdict_at < story.changed_at


def test_the_story_of_a_skill(state: State) -> None:
    story = audit_skill(state, "can")
    assert story.in_memory
    assert story.entry.state["depth"] == 0.03
    assert [(v.candidate, v.checkpoints) for v in story.versions] == [
        ("c1", ("C1",)),
        ("c3", ("C2", "C2/B1")),
    ]
    assert story.versions[0].until == story.versions[1].since
    assert [line.id for line in story.candidates] == ["c1", "c3"]
    assert story.story is not None
    assert story.story.id == "c3"


def test_the_story_of_a_skill_that_never_entered(state: State) -> None:
    story = audit_skill(state, "carton")
    assert not story.in_memory
    assert story.versions == ()
    assert story.story is not None
    assert (story.story.status, story.story.reason) == ("rejected", "no evidence names a carton")


def test_all_candidates_with_verdict_and_reason(state: State) -> None:
    assert [(line.id, line.status, line.reason) for line in audit_all(state)] == [
        ("c1", "accepted", "9 wins, 1 loss"),
        ("c2", "rejected", "no evidence names a carton"),
        ("c3", "accepted", "better still"),
        ("c4", "not_testable", "fewer than 5 failures without it"),
        ("c5", "accepted", "12 wins"),
    ]
    assert audit_all(state)[0].statistic == STATISTIC


def test_a_name_or_its_beginning_finds_its_story(state: State) -> None:
    assert isinstance(audit(state, "c1"), CandidateStory)
    assert isinstance(audit(state, "can"), SkillStory)
    found = audit(state, "cart")
    assert isinstance(found, SkillStory)
    assert found.id == "carton"
    with pytest.raises(UnknownSkill, match="beginning of 2 ids: can, carton"):
        audit(state, "ca")
    with pytest.raises(UnknownSkill, match=r"Skills: can, left, carton\. Candidates: c1, c2"):
        audit(state, "nothing")
    with pytest.raises(UnknownCandidate, match="c1, c2, c3"):
        audit_candidate(state, "can")
    with pytest.raises(UnknownSkill, match="can, left"):
        audit_skill(state, "c1")


@pytest.mark.parametrize("which", ["decision", "completion"])
@pytest.mark.parametrize("change", [{"wins": 10}, {"losses": 2}, {"without": 8}, {"with_candidate": 18}])
def test_a_verdict_that_its_trials_contradict(tmp_path: Path, which: str, change: dict[str, int]) -> None:
    assert recounted(tmp_path / "right", STATISTIC, STATISTIC) is True
    wrong = msgspec.structs.replace(STATISTIC, **change)
    said = (wrong, STATISTIC) if which == "decision" else (STATISTIC, wrong)
    assert recounted(tmp_path / "wrong", *said) is False


def test_a_verdict_with_a_wrong_p(tmp_path: Path) -> None:
    assert recounted(tmp_path, msgspec.structs.replace(STATISTIC, p=0.01), STATISTIC) is False


def recounted(folder: Path, decision: ev.Statistic, completion: ev.Statistic) -> bool | None:
    w = Writer()
    w.propose("c1", entry("can"))
    w.try_out("c1", RESULTS)
    w.judge("c1", "accepted", "so they say", decision, completion)
    return audit_candidate(state_at(write(folder, w.events)), "c1").recount.agrees


def test_trials_of_a_candidate_that_is_still_tried(tmp_path: Path) -> None:
    w = Writer()
    w.propose("c1", entry("can"))
    w.try_out("c1", RESULTS)
    story = audit_candidate(state_at(write(tmp_path / "r", w.events[:12])), "c1")
    assert (story.status, story.planned, len(story.trials)) == ("in trials", 25, 10)
    assert not story.recount.complete
    assert story.recount.agrees is None


def test_memory_that_no_verdict_let_in_is_doubted(tmp_path: Path) -> None:
    w = Writer()
    can = entry("can")
    w.propose("c1", can)
    w.judge("c1", "rejected", "no better")
    w.change("c1", can)
    w.propose("c2", entry("jar"))
    w.judge("c2", "accepted", "better")
    w.change("c2", entry("jar", depth=9))
    w.say("verdict.given", "governor", ev.VerdictGiven(verdict="accepted", reason=""), "c9")
    doubts = dict(state_at(write(tmp_path / "r", w.events)).summary().doubts)
    assert doubts == {
        3: "memory changed by candidate c1, which is rejected",
        6: "entry jar entered memory as something else than c2 proposed",
        7: "verdict.given about candidate 'c9', which nobody proposed",
    }


def test_stories_are_json(state: State) -> None:
    for what in (state, audit(state, "c1"), audit(state, "can"), audit_all(state)):
        assert json.loads(json.dumps(to_json(what)))
    assert to_json(state)["run"] == RUN
    assert to_json(audit(state, "c1"))["recount"]["decision"]["wins"] == 9
