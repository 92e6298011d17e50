"""Runs without Verifier and without Governor end in order, and show what these two are for."""

import asyncio
from pathlib import Path

import pytest
from small_run import Said, by_subject, config, memories, read

from skill2real.agents.crew import linked
from skill2real.agents.pool import local_pool
from skill2real.agents.session import crew_train, resolve
from skill2real.ledger.check import check_ledger
from skill2real.ledger.keys import new_key
from skill2real.ledger.memory import memory_hash

pytestmark = [pytest.mark.sim, pytest.mark.slow]
CONTROLS = {
    "no-verifier": config("no-verifier", tasks=("51",), brain_tasks=("51+52",), episodes=1, verifier="none"),
    "no-governor": config("no-governor", tasks=("51",), brain_rounds=0, episodes=2, governor=False),
    "neither": config("neither", tasks=("51",), brain_rounds=0, episodes=1, verifier="none", governor=False),
}


async def train_all(home: Path) -> None:
    """One after the other, on the same workers."""
    async with linked(home, None) as link, local_pool(2) as pool:
        for plan in CONTROLS.values():
            tasks, brain_tasks = (resolve(plan.suite, names) for names in (plan.tasks, plan.brain_tasks))
            await crew_train(link, plan, tasks, brain_tasks, pool, lambda progress: None)


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
