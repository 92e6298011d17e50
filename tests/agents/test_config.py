"""The run configuration: older forms are read, and the command line that it makes leads back to it."""

import shlex

import msgspec
import pytest

from skill2real.agents.config import RunConfig, command_of, read
from skill2real.agents.controls import CONTROLS, config_of, find, run_name
from skill2real.agents.errors import ConfigError
from skill2real.agents.forecast import Pace, Planned, ahead, plan
from skill2real.cli import cli


@pytest.mark.parametrize(("old", "kind"), [(True, "full"), (False, "none")])
def test_a_ledger_from_before_there_were_kinds_of_verifier(old: bool, kind: str) -> None:
    config = read({"suite": "libero_90", "verifier": old})
    assert config.verifier == kind
    assert config.verified is old
    assert ("verifier" in config.roles) is old


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="shuffled"):
        read({"suite": "libero_90", "verifier": "kind"})


def test_older_names_of_roles_are_read() -> None:
    old = read({"suite": "libero_90", "proposer_model": "embedded", "governor": False})
    assert (old.proposer, old.governor, old.gated) == ("embedded", "none", False)
    assert read({"suite": "libero_90", "governor": True}).gated
    assert old.language() == {}


def test_language_models_are_named_by_their_addresses() -> None:
    server = "openai:a/b@http://127.0.0.1:8000/v1"
    config = RunConfig(suite="libero_90", proposer=server, governor="anthropic:c")
    assert {role: at.model for role, at in config.language().items()} == {"proposer": "a/b", "governor": "c"}


def test_the_standard_is_the_published_protocol() -> None:
    config = RunConfig(suite="libero_90")
    assert (config.cerebellum_rounds, config.brain_rounds, config.episodes, config.trials) == (3, 4, 5, 25)
    rounds = plan(config, 90, 90)
    assert sum(one.practice for one in rounds) == 3150
    assert sum(one.practice for one in plan(config, 7, 7)) == 245
    assert [one.name for one in rounds] == ["C1", "C2", "C3", "B1", "B2", "B3", "B4"]


@pytest.mark.parametrize("name", list(CONTROLS))
def test_a_control_is_a_configuration_and_a_command(name: str) -> None:
    config = config_of(name)
    words = shlex.split(command_of(config))[2:]
    seen: dict[str, object] = {}
    train = cli.commands["train"]
    context = train.make_context("train", words)
    seen = {
        k: v for k, v in context.params.items() if k in RunConfig.__struct_fields__ and v not in (None, ())
    }
    assert read(seen) == msgspec.structs.replace(config, workers=2)
    assert config.run == run_name(name)


def test_controls_that_use_less_of_one_memory_share_its_run() -> None:
    shared = {name for name in CONTROLS if run_name(name) == "control-both"}
    assert shared == {"both", "cerebellum", "brain", "empty", "seed-1"}
    assert len({CONTROLS[name].arm for name in shared}) == 4
    with pytest.raises(ConfigError, match="no-governor"):
        find("nope")


def test_what_is_ahead_shrinks_to_nothing() -> None:
    rounds = [Planned("C1", 10, 40), Planned("C2", 10, 40), Planned("B1", 6, 40)]
    assert ahead(rounds, (), {}, "C1") == 40 + 50 + 46
    assert ahead(rounds, (), {"C1": 30}, "C1") == 10 + 50 + 46
    assert ahead(rounds, ("C1",), {"C1": 60}, "C2") == 60 + 66  # as many as the last round had
    assert ahead(rounds, ("C1", "C2"), {"C1": 60, "C2": 20, "B1": 30}, "B1") == 0
    assert ahead(rounds, ("C1", "C2", "B1"), {}, "B1") == 0


def test_the_pace_is_that_of_what_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("skill2real.agents.forecast.time.monotonic", lambda: now[0])
    pace = Pace()
    pace.began()
    for _ in range(4):
        now[0] += 2.0
        pace.played()
    assert pace.left(10) is None
    now[0] += 2.0
    pace.played()
    assert pace.left(10) == 20.0
