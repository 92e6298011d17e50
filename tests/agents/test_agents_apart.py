"""Every role in a process of its own, with its own password only, on the embedded broker and on Mosquitto."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from apart import RUN, SECONDS, SECRET_TEXT, SMALL, TRAIN, Place, place
from small_run import Said, by_subject, digests, learned

from skill2real.agents.config import ROLES
from skill2real.ledger.check import check_ledger
from skill2real.ledger.credentials import PASSWORD, derive, derive_all
from skill2real.ledger.events import ACTORS

sys.path.insert(0, str(Path(__file__).parents[1] / "ledger"))
from brokers import mosquitto


@pytest.fixture(scope="module")
def on_mosquitto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, list[Said]]]:
    """Agents that wait before the run begins; nobody is disturbed."""
    folder = tmp_path_factory.mktemp("apart")
    with ExitStack() as stack:
        url, _ = stack.enter_context(mosquitto(folder / "broker", derive_all(SECRET_TEXT)))
        here = stack.enter_context(place(folder / "place"))
        here.serve("--broker", url)
        for role in ROLES:
            here.agent(role)
        here.start_as("trainer", *TRAIN, *SMALL)
        yield here, here.finish()


@pytest.mark.sim
@pytest.mark.slow
def test_a_verdict_is_reached(on_mosquitto: tuple[Place, list[Said]]) -> None:
    here, said = on_mosquitto
    verdicts = by_subject(said, "verdict.given")
    assert any(verdict.decision is not None for verdict in verdicts.values())
    assert said[-1].event.type == "run.finished"
    report = check_ledger(here.ledger)
    assert report.findings == ()
    assert report.checkpoints == ("C1",)
    assert {one.event.actor for one in said} == set(ACTORS) - {"deployer", "operator"}
    assert not [one for one in said if one.event.type == "message.refused"]


@pytest.mark.sim
@pytest.mark.slow
def test_agents_that_are_killed_and_started_again_go_on(
    on_mosquitto: tuple[Place, list[Said]], tmp_path: Path
) -> None:
    with place(tmp_path / "place") as here:
        here.serve("--port", "0")
        here.start_as("trainer", *TRAIN, *SMALL)
        here.until("episode.started", 1)
        for role in ROLES:  # late: what was said before concerns them too
            here.agent(role)
        for role, type, count in (
            ("proposer", "program.proposed", 1),
            ("runner", "program.proposed", 4),
            ("verifier", "critique.written", 3),
            ("governor", "critique.written", 6),
        ):
            here.until(type, count)
            here.processes[role].kill()
            here.processes[role].wait()
            here.agent(role)
        said = here.finish()
    assert learned(said) == learned(on_mosquitto[1])
    assert digests(said) == digests(on_mosquitto[1])
    assert check_ledger(here.ledger).ok


def test_an_agent_without_its_password_says_what_is_missing(tmp_path: Path) -> None:
    with place(tmp_path / "place") as here:
        here.serve("--port", "0")
        process = here.start("verifier", "agent", "verifier", "--run", RUN, "--broker", here.url)
        assert process.wait(SECONDS) == 4
        (line,) = here.log("verifier").read_text().splitlines()
        assert line.startswith("Error: ")
        assert PASSWORD in line


def test_an_agent_cannot_be_another(tmp_path: Path) -> None:
    with place(tmp_path / "place") as here:
        here.serve("--port", "0")
        words = ("agent", "verifier", "--run", RUN, "--broker", here.url)
        process = here.start("verifier", *words, **{PASSWORD: derive(SECRET_TEXT, "proposer")})
        assert process.wait(SECONDS) == 1
        (line,) = here.log("verifier").read_text().splitlines()
        assert "does not let verifier in" in line


def test_external_roles_need_a_broker_that_others_can_reach(tmp_path: Path) -> None:
    with place(tmp_path / "place") as here:
        process = here.start("trainer", *TRAIN, *SMALL)
        assert process.wait(SECONDS) == 2
        assert "--external needs --broker" in here.log("trainer").read_text()
        words = ("--external", "proposer,captain", "--broker", "mqtt://127.0.0.1")
        process = here.start("trainer", "train", "--suite", "libero_90", *words)
        assert process.wait(SECONDS) == 2
        assert "'captain'" in here.log("trainer").read_text()
        assert not here.ledger.exists()
