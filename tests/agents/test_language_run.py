"""Language models in three roles on the real simulator, over real HTTP: a run, its recording, its limits."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from chat_server import Answer, Request, Server, serving
from scripted_model import CRITIQUE, plays_butter
from small_run import Said, by_subject, read

from skill2real.agents.config import RunConfig
from skill2real.agents.deploy import deploy
from skill2real.agents.errors import MissingError
from skill2real.agents.session import train
from skill2real.agents.spending import LimitReached
from skill2real.ledger.blobs import Blobs
from skill2real.ledger.check import check_ledger
from skill2real.ledger.keys import new_key
from skill2real.replay.again import play_again
from skill2real.replay.costs import costs_of
from skill2real.replay.state import LEDGER

pytestmark = pytest.mark.sim
KEY = "sk-live-key-0123456789abcdefghijkl"


def plan(server: Server, run: str, **more: Any) -> RunConfig:
    settings: dict[str, Any] = {
        "suite": "libero_90",
        "tasks": ("51",),
        "run": run,
        "cerebellum_rounds": 1,
        "brain_rounds": 0,
        "episodes": 2,
        "trials": 5,
        "proposer": server.address("openai"),
        "verifier": server.address("anthropic"),
        "governor": server.address("openai", "screen"),
        "prices": {"scripted": (3.0, 15.0), "screen": (1.0, 1.0)},
    }
    return RunConfig(**{**settings, **more})


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run with all three roles played by language models; the server's key is in a file."""
    home: Path = tmp_path_factory.mktemp("language")
    patch = pytest.MonkeyPatch()
    patch.setenv("SKILL2REAL_KEY", str(home / "key"))
    signer = new_key("test").verifier
    with serving(lambda request: plays_butter(request, mistaken=True)) as server:
        keys = home / "keys.toml"
        keys.write_text(f'[keys]\n"{server.url.removeprefix("http://").removesuffix("/v1")}" = "{KEY}"\n')
        keys.chmod(0o600)
        patch.setenv("SKILL2REAL_MODEL_KEYS", str(keys))
        config = plan(server, "spoken")
        asyncio.run(train(config, home, None, resume=False))
    patch.delenv("SKILL2REAL_MODEL_KEYS")
    yield home, config, server.requests, signer
    patch.undo()


def said(home: Path, run: str, *types: str) -> list[Said]:
    return read(home / run / LEDGER, *types)


def test_the_model_solves_the_task_through_the_real_prompts(ran: Any) -> None:
    home, _, requests, signer = ran
    outcomes = by_subject(said(home, "spoken", "outcome.measured"), "outcome.measured")
    trained = {id: o.success for id, o in outcomes.items() if "/train/" in id}
    assert trained
    assert all(trained.values())
    assert check_ledger(home / "spoken" / LEDGER, signer).ok
    first = next(r for r in requests if "program" in (r.schema or {}).get("properties", {}))
    assert "def capture(" in first.system
    assert "The memory is empty." in first.system
    assert "pick up the butter" in first.text


def test_a_program_that_does_not_pass_the_check_goes_back_with_its_message(ran: Any) -> None:
    home, _, requests, _ = ran
    refused = said(home, "spoken", "program.rejected")
    assert refused
    assert all(one.data.stage == "types" for one in refused)
    assert any(refused[0].data.message in r.text for r in requests)
    finished = by_subject(said(home, "spoken", "episode.finished"), "episode.finished")
    assert {f.status for f in finished.values()} == {"done"}


def test_critiques_are_the_models_and_candidates_meet_the_governor(ran: Any) -> None:
    home, *_ = ran
    critiques = by_subject(said(home, "spoken", "critique.written"), "critique.written")
    assert {c.text for c in critiques.values()} == {CRITIQUE}
    (proposed,) = said(home, "spoken", "candidate.proposed")
    (verdict,) = said(home, "spoken", "verdict.given")
    assert proposed.data.entries[0].kind == "skill"
    assert verdict.data.verdict == "not_testable"  # nothing failed that it could mend
    assert len(said(home, "spoken", "trial.finished")) == 5


def test_every_call_is_an_event_and_the_private_ones_are_closed(ran: Any) -> None:
    home, _, requests, _ = ran
    calls = said(home, "spoken", "model.called")
    assert len(calls) == len(requests)
    assert {(c.event.actor, c.event.visibility) for c in calls} == {
        ("proposer", "public"),
        ("verifier", "privileged"),
        ("governor", "privileged"),
    }
    blobs = Blobs(home / "spoken" / "blobs")
    for call in calls:
        if call.data.purpose != "probe":
            prompt = json.loads(blobs.get(call.data.prompt))
            assert json.loads(blobs.get(call.data.response))["text"]
            pictures = [p["picture"] for m in prompt["messages"] for p in m["content"] if "picture" in p]
            assert all(name in blobs for name in pictures)
    costs = costs_of(home / "spoken")
    assert costs.cost == pytest.approx(sum(c.data.cost for c in calls))
    assert costs.cost > 0
    assert 0 < costs.waiting <= 1
    assert {role.purpose for role in costs.roles} == {
        "probe",
        "program",
        "critique",
        "reflection",
        "screening",
    }


def test_what_the_verifier_sees_stands_in_no_question_to_the_proposer(ran: Any) -> None:
    home, _, requests, _ = ran
    names = {
        name
        for o in by_subject(said(home, "spoken", "outcome.measured"), "outcome.measured").values()
        for name in o.truth["objects"]
    }
    assert names
    for request in requests:
        mine = "program" in (request.schema or {}).get("properties", {})
        mine |= "candidates" in (request.schema or {}).get("properties", {})
        if mine:
            assert not [name for name in names if name in request.system + request.text]


def test_no_key_is_kept_anywhere(ran: Any) -> None:
    home, _, requests, _ = ran
    assert all(KEY in " ".join(r.headers.values()) for r in requests)
    for path in (home / "spoken").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_recorded_run_ends_in_the_same_memory_without_any_network(ran: Any) -> None:
    home, config, *_ = ran  # its server is gone
    again = msgspec.structs.replace(config, run="again", recorded="spoken")
    asyncio.run(train(again, home, None, resume=False))
    kinds = ("verdict.given", "memory.changed", "episode.finished", "critique.written", "layer.frozen")

    def core(run: str) -> set[tuple[str, str, bytes]]:
        kept = set()
        for one in said(home, run, *kinds):
            data = msgspec.to_builtins(one.data)
            for name in ("seconds", "cause"):
                data.pop(name, None)
            kept.add((one.event.type, one.event.subject, msgspec.json.encode(data)))
        return kept

    assert core("again") == core("spoken")


def test_another_model_proposes_from_the_same_frozen_memory(ran: Any) -> None:
    home, *_ = ran
    with serving(plays_butter) as server:
        models = RunConfig(suite="libero_90", proposer=server.address("anthropic"), pixels=512)
        done = asyncio.run(deploy("spoken", home, "C1", "libero_90", "51", 31, models=models))
    assert done.success
    assert {c.data.purpose for c in said(home, done.run, "model.called")} == {"probe", "program"}
    assert play_again(home / done.run, "deploy/0").same


def test_a_limit_stops_cleanly_and_can_be_raised(ran: Any, tmp_path: Path) -> None:
    with serving(plays_butter) as server:
        config = plan(server, "short", max_tokens=200, verifier="full", governor="embedded", episodes=3)
        with pytest.raises(LimitReached, match="--max-tokens"):
            asyncio.run(train(config, tmp_path, None, resume=False))
        begun = {one.event.subject for one in said(tmp_path, "short", "episode.started")}
        assert begun == set(by_subject(said(tmp_path, "short", "episode.finished"), "episode.finished"))
        assert len(begun) < 3
        more = msgspec.structs.replace(config, max_tokens=0, trials=5)
        asyncio.run(train(more, tmp_path, None, resume=True))
    assert said(tmp_path, "short", "run.finished")


def blind(request: Request) -> Answer:
    return Answer(json.dumps({"left": "green", "right": "green"}))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (blind, "does not see"),
        (lambda r: Answer(status=401, raw=b"{}"), "key"),
        (lambda r: Answer(status=400, raw=b'{"error": "images are not supported"}'), "vision"),
        (lambda r: Answer("I am a model."), "JSON"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_anything_runs(
    script: Any, words: str, tmp_path: Path
) -> None:
    with serving(script) as server, pytest.raises(MissingError, match=words):
        asyncio.run(train(plan(server, "never"), tmp_path, None, resume=False))
    assert not (tmp_path / "never").exists()
