"""Evaluations on the real simulator: interrupted and resumed, recorded, diagnosed; a whole control."""

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from signed_run import write_run
from small_run import by_subject, read

from skill2real.agents.controls import Extent, is_finished, list_controls, run_control
from skill2real.agents.director import Progress
from skill2real.agents.errors import RunMismatch
from skill2real.agents.evaluation import EvalPlan, Evaluated, evaluate
from skill2real.agents.failures import failures
from skill2real.agents.record import evaluation_record, ledger_facts, save
from skill2real.agents.renaming import rename
from skill2real.agents.statistics import wilson
from skill2real.backends.sim import suites
from skill2real.ledger.check import check_ledger
from skill2real.ledger.keys import new_key

pytestmark = [pytest.mark.sim, pytest.mark.slow]
PLAN = EvalPlan(
    target="lab",
    suite="libero_90",
    checkpoint="C1/B1",
    tasks=("50", "51"),
    seeds=1,
    arms=("empty", "both"),
    name="ev",
)


class Interrupted(Exception):
    pass


@dataclass
class Place:
    home: Path
    done: Evaluated


def interrupt(progress: Progress) -> None:
    """After the first episode."""
    if progress.done == 1:
        raise Interrupted


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("evaluation")
    home = folder / "runs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKILL2REAL_KEY", str(folder / "signing.key"))
        write_run(home, key=new_key("evaluation.test", folder / "signing.key"))
        with pytest.raises(Interrupted):
            asyncio.run(evaluate(PLAN, home, workers=1, progress=interrupt))
        begun = len(read(home / "ev" / "ledger.db"))
        with pytest.raises(RunMismatch, match="--resume"):
            asyncio.run(evaluate(PLAN, home, workers=1))
        other = EvalPlan(**{**vars(PLAN), "seeds": 2})
        with pytest.raises(RunMismatch, match="seeds"):
            asyncio.run(evaluate(other, home, workers=1, resume=True))
        assert len(read(home / "ev" / "ledger.db")) == begun
        done = asyncio.run(evaluate(PLAN, home, workers=1, resume=True))
        yield Place(home, done)


def test_a_resumed_evaluation_plays_each_episode_once(place: Place) -> None:
    said = read(place.done.path / "ledger.db")
    count = Counter((one.event.type, one.event.subject) for one in said)
    finished = {subject: n for (type, subject), n in count.items() if type == "episode.finished"}
    assert sorted(finished) == [
        f"eval/C1/B1/{arm}/libero_90/{task}/30" for arm in ("both", "empty") for task in (50, 51)
    ]
    assert set(finished.values()) == {1}
    once = ("run.started", "run.resumed", "run.finished")
    assert [count[type, "ev"] for type in once] == [1, 1, 1]
    assert (
        count["evaluation.started", "eval/C1/B1/both"] == count["evaluation.finished", "eval/C1/B1/both"] == 1
    )
    assert check_ledger(place.done.path / "ledger.db").findings == ()


def test_a_finished_evaluation_is_read_again_and_not_played(place: Place) -> None:
    before = ledger_facts(place.done.path)
    again = asyncio.run(evaluate(PLAN, place.home, workers=1, resume=True))
    assert again.results == place.done.results
    assert ledger_facts(place.done.path) == before


def test_results_are_by_arm_task_and_category(place: Place) -> None:
    assert [result.arm for result in place.done.results] == ["empty", "both"]
    said = read(place.done.path / "ledger.db")
    outcomes = by_subject(said, "outcome.measured")
    for result in place.done.results:
        own = [data for id, data in outcomes.items() if id.startswith(f"eval/C1/B1/{result.arm}/")]
        assert (result.episodes, result.successes) == (2, sum(data.success for data in own))
        assert result.interval == wilson(result.successes, 2)
        assert [(task.key, task.score.episodes) for task in result.by_task] == [
            ("libero_90/50", 1),
            ("libero_90/51", 1),
        ]
        assert result.groups["put in basket or tray"].episodes == 2
        assert result.operations > 0


def test_failures_are_told_apart_by_kind_and_task(place: Place) -> None:
    found = failures(place.done.path, ("eval",))
    assert [part.part for part in found] == ["C1/B1/empty", "C1/B1/both"]
    for part, result in zip(found, place.done.results, strict=True):
        failed = result.episodes - result.successes
        assert sum(part.kinds.values()) == sum(task.failed for task in part.by_task.values()) == failed
        assert failed
        assert list(part.by_task) == ["libero_90/50", "libero_90/51"]
    assert failures(place.done.path, ("train",)) == []


def test_a_record_names_all_that_is_needed_to_find_it_again(place: Place, tmp_path: Path) -> None:
    record = evaluation_record(PLAN, place.done, place.home)
    save(record, tmp_path / "deep" / "result.json")
    written = json.loads((tmp_path / "deep" / "result.json").read_text())
    assert written == json.loads(json.dumps(record))
    train, evaluated = written["commands"]
    assert "train --suite libero_90 --task 50 --run lab" in train
    assert "eval lab --suite libero_90 --seeds 1 --checkpoint C1/B1" in evaluated
    assert written["evaluation"]["root"] == check_ledger(place.done.path / "ledger.db").root.hex()
    assert written["trained"]["ledger"]["root"] == check_ledger(place.home / "lab" / "ledger.db").root.hex()
    assert written["states"] == [30, 30]
    assert set(written["failures"]) == {"empty", "both"}
    assert written["results"][0]["by_task"]["libero_90/50"]["episodes"] == 1


def test_a_control_trains_once_and_evaluates_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL2REAL_KEY", str(tmp_path / "signing.key"))
    home = tmp_path / "runs"
    extent = Extent(
        tasks=("51",),
        changes={"episodes": 1, "trials": 5, "cerebellum_rounds": 1, "brain_rounds": 0},
        evaluated=(("libero_90", ("51",), 1),),
        workers=1,
    )
    told: list[Progress] = []
    record = asyncio.run(run_control("renamed", home, extent, told.append))
    lines = [progress.what for progress in told]
    (batch,) = (line for line in lines if line.startswith("C1 batch 1 of 1"))
    assert re.search(r"[01] of 1 succeeded; batches so far: (0|100)%$", batch)
    assert any(line.startswith("C1 closed") and "rounds so far: C1" in line for line in lines)
    assert is_finished(home, "control-renamed")
    assert {line.name: line.state for line in list_controls(home)}["renamed"] == "finished"
    made_up = rename(suites.load_task("libero_90", (51,)).instruction)
    for run in ("control-renamed", "control-renamed-both-libero_90"):
        started = by_subject(read(home / run / "ledger.db"), "episode.started")
        assert {episode.task.instruction for episode in started.values()} == {made_up}
    (evaluated,) = record["evaluations"]
    assert record["changes"] == {"rename": True}
    assert "--rename" in evaluated["commands"][0]
    assert evaluated["results"][0]["episodes"] == 1
    before = ledger_facts(home / "control-renamed")
    assert asyncio.run(run_control("renamed", home, extent)) == record
    assert ledger_facts(home / "control-renamed") == before
