"""Every role in a process of its own, with its own password only, on the embedded broker and on Mosquitto."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from small_run import Said, by_subject, digests, learned, read

from skill2real.agents.config import ROLES
from skill2real.ledger.check import check_ledger
from skill2real.ledger.credentials import PASSWORD, SECRET, derive, derive_all
from skill2real.ledger.errors import LedgerError
from skill2real.ledger.events import ACTORS, Actor
from skill2real.ledger.keys import new_key
from skill2real.ledger.reader import Reader

sys.path.insert(0, str(Path(__file__).parents[1] / "ledger"))
from brokers import mosquitto

RUN = "apart"
SECRET_TEXT = "secret of a test"
COMMAND = (sys.executable, "-m", "skill2real.cli")
TRAIN = (
    *("train", "--suite", "libero_90", "--task", "51", "--run", RUN, "--external", ",".join(ROLES)),
    *("--cerebellum-rounds", "1", "--brain-rounds", "0", "--episodes", "2", "--trials", "5"),
)
SECONDS = 240.0  # for a step of a run on a machine that is busy with other things


class Place:
    """A home, and the processes that work on its one run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.url = ""
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        new_key("apart.test", folder / "signing.key")

    @property
    def ledger(self) -> Path:
        return self.folder / "runs" / RUN / "ledger.db"

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def start(self, name: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        own = {
            "SKILL2REAL_HOME": str(self.folder / "runs"),
            "SKILL2REAL_KEY": str(self.folder / "signing.key"),
        }
        bare = {key: value for key, value in os.environ.items() if key not in (SECRET, PASSWORD)}
        self.processes[name] = subprocess.Popen(
            [*COMMAND, *words],
            env={**bare, **own, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log(name).open("ab"),
        )
        return self.processes[name]

    def start_as(self, actor: Actor, *words: str) -> subprocess.Popen[bytes]:
        """A process that knows this actor's password and no other."""
        return self.start(actor, *words, "--broker", self.url, **{PASSWORD: derive(SECRET_TEXT, actor)})

    def agent(self, role: Actor) -> subprocess.Popen[bytes]:
        return self.start_as(role, "agent", role, "--run", RUN)

    def serve(self, *words: str) -> None:
        service = self.start("serve", "serve", *words, **{SECRET: SECRET_TEXT})
        end = time.monotonic() + SECONDS
        while (found := re.search(r"mqtt://\S+(?=;)", self.log("serve").read_text())) is None:
            assert service.poll() is None, self.log("serve").read_text()
            assert time.monotonic() < end, f"not ready within {SECONDS:.0f} s"
            time.sleep(0.05)
        self.url = found[0]

    def until(self, type: str, count: int) -> None:
        """Wait until the ledger has so many events of a type."""
        end = time.monotonic() + SECONDS
        while self.count(type) < count:
            assert self.processes["trainer"].poll() is None, self.log("trainer").read_text()
            assert time.monotonic() < end, f"no {count} events {type} in {SECONDS:.0f} s"
            time.sleep(0.05)

    def count(self, type: str) -> int:
        try:
            with Reader(self.ledger) as reader:
                return sum(1 for _ in reader.events(types=(type,)))
        except LedgerError:  # not made yet, or being made
            return 0

    def finish(self) -> list[Said]:
        """Wait for the trainer, then for the agents: they end with the run."""
        for name in ("trainer", *ROLES):
            code = self.processes[name].wait(SECONDS)
            assert code == 0, f"{name}: {self.log(name).read_text()}"
        return read(self.ledger)

    def kill(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    here = Place(folder)
    try:
        yield here
    finally:
        here.kill()


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
        here.start_as("trainer", *TRAIN)
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
        here.start_as("trainer", *TRAIN)
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
        process = here.start("trainer", *TRAIN)
        assert process.wait(SECONDS) == 2
        assert "--external needs --broker" in here.log("trainer").read_text()
        words = ("--external", "proposer,captain", "--broker", "mqtt://127.0.0.1")
        process = here.start("trainer", "train", "--suite", "libero_90", *words)
        assert process.wait(SECONDS) == 2
        assert "'captain'" in here.log("trainer").read_text()
        assert not here.ledger.exists()
