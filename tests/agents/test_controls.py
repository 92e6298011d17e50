"""Runs with less of a Verifier or without Governor end in order, and show what these two are for."""

import asyncio
from pathlib import Path

import pytest
from small_run import Said, by_subject, config, memories, read

from skill2real.agents.casting import Cast
from skill2real.agents.crew import linked
from skill2real.agents.pool import local_pool
from skill2real.agents.session import crew_train, resolve
from skill2real.ledger.check import check_ledger
from skill2real.ledger.keys import new_key
from skill2real.ledger.memory import memory_hash

pytestmark = [pytest.mark.sim, pytest.mark.slow]
CONTROLS = {
    "no-verifier": config("no-verifier", tasks=("51",), brain_tasks=("51+52",), episodes=1, verifier="none"),
    "no-governor": config("no-governor", tasks=("51",), brain_rounds=0, episodes=2, governor="none"),
    "neither": config("neither", tasks=("51",), brain_rounds=0, episodes=1, verifier="none", governor="none"),
    "public": config("public", tasks=("51",), brain_rounds=0, episodes=1, verifier="public"),
    "shuffled": config(
        "shuffled", tasks=("51",), brain_rounds=0, episodes=3, verifier="shuffled", early_stop=True
    ),
}


async def train_all(home: Path) -> None:
    """One after the other, on the same workers."""
    async with linked(home, None) as link, local_pool(2) as pool:
        for plan in CONTROLS.values():
            tasks, brain_tasks = (resolve(plan.suite, names) for names in (plan.tasks, plan.brain_tasks))
            await crew_train(link, Cast(plan), tasks, brain_tasks, pool, lambda progress: None)


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("controls")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKILL2REAL_KEY", str(folder / "signing.key"))
        new_key("controls.test", folder / "signing.key")
        asyncio.run(train_all(folder / "runs"))
    return {name: folder / "runs" / name / "ledger.db" for name in CONTROLS}


def types(said: list[Said]) -> set[str]:
    return {one.event.type for one in said}


@pytest.mark.parametrize("name", list(CONTROLS))
def test_it_ends_with_signed_checkpoints(name: str, ledgers: dict[str, Path]) -> None:
    said, plan = read(ledgers[name]), CONTROLS[name]
    assert said[-1].event.type == "run.finished"
    assert by_subject(said, "run.started")[name].config["verifier"] == plan.verifier
    report = check_ledger(ledgers[name])
    assert report.findings == ()
    assert report.checkpoints == (("C1", "C1/B1") if plan.brain_rounds else ("C1",))
    started, finished = by_subject(said, "episode.started"), by_subject(said, "episode.finished")
    assert started.keys() == finished.keys() == by_subject(said, "outcome.measured").keys()


@pytest.mark.parametrize("name", ["no-verifier", "neither"])
def test_without_a_verifier_nobody_judges_and_nothing_is_learned(name: str, ledgers: dict[str, Path]) -> None:
    said = read(ledgers[name])
    assert "verifier" not in {one.event.actor for one in said}
    assert types(said).isdisjoint({"critique.written", "critique.blocked", "candidate.proposed"})
    closed = by_subject(said, "candidates.closed")
    assert closed
    assert {data.candidates for data in closed.values()} == {()}
    assert by_subject(said, "layer.frozen")["C1"].memory_hash == memory_hash(())


def test_without_a_governor_what_passes_the_screens_is_accepted(ledgers: dict[str, Path]) -> None:
    said = read(ledgers["no-governor"])
    verdicts, screened = by_subject(said, "verdict.given"), by_subject(said, "candidate.screened")
    assert verdicts
    assert {id: verdict.verdict == "accepted" for id, verdict in verdicts.items()} == {
        id: data.passed for id, data in screened.items()
    }
    assert {verdict.gated for verdict in verdicts.values()} == {False}
    assert types(said).isdisjoint({"trials.planned", "trial.finished"})
    assert {episode.purpose for episode in by_subject(said, "episode.started").values()} == {"train"}
    *_, (last, entries) = memories(said)
    assert last.data.memory_hash == memory_hash(entries.values())
    assert by_subject(said, "layer.frozen")["C1"].memory_hash == last.data.memory_hash


def test_what_everybody_sees_names_no_region_and_no_success(ledgers: dict[str, Path]) -> None:
    said = read(ledgers["public"])
    critiques = by_subject(said, "critique.written")
    assert critiques.keys() == by_subject(said, "episode.finished").keys()
    seen = [finding for critique in critiques.values() for finding in critique.findings]
    assert {finding.decision for finding in seen} <= {"grasp", "release", "order"}
    assert "grasp" in {finding.decision for finding in seen}
    assert {(finding.region, finding.part, finding.direction) for finding in seen} == {(-1, -1, "")}
    for critique in critiques.values():
        assert critique.text.startswith("Whether the goal was reached was not seen.")
        assert not critique.success


def test_what_is_seen_of_a_grasp_is_what_happened(ledgers: dict[str, Path]) -> None:
    said = read(ledgers["public"])
    outcomes = by_subject(said, "outcome.measured")
    for id, critique in by_subject(said, "critique.written").items():
        lifted = any(hold["lifted"] > 0.05 for hold in outcomes[id].truth["holds"])
        assert [f.good for f in critique.findings if f.decision == "grasp"] == [lifted]


def test_shuffled_words_are_said_of_others_and_judged_as_they_are(ledgers: dict[str, Path]) -> None:
    said = read(ledgers["shuffled"])
    critiques, started = by_subject(said, "critique.written"), by_subject(said, "episode.started")
    first = [critiques[id] for id, one in started.items() if (one.purpose, one.batch) == ("train", 0)]
    assert first
    assert all(critique.findings == () and not critique.success for critique in first)
    assert any(critique.findings for critique in critiques.values())
    for trial in (one.data for one in said if one.event.type == "trial.finished"):
        for arm in (trial.without, trial.with_candidate):
            assert arm.completed is critiques[arm.episode].success
