"""Broker, trainer and agents as processes, each with its own password only; for tests."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from small_run import Said, read

from skill2real.agents.config import ROLES
from skill2real.ledger.credentials import PASSWORD, SECRET, derive
from skill2real.ledger.errors import LedgerError
from skill2real.ledger.events import Actor
from skill2real.ledger.keys import new_key
from skill2real.ledger.reader import Reader

RUN = "apart"
SECRET_TEXT = "secret of a test"
COMMAND = (sys.executable, "-m", "skill2real.cli")
TRAIN = ("train", "--suite", "libero_90", "--task", "51", "--run", RUN, "--external", ",".join(ROLES))
SMALL = ("--cerebellum-rounds", "1", "--brain-rounds", "0", "--episodes", "2", "--trials", "5")
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

    def start_as(self, actor: Actor, *words: str, **more: str) -> subprocess.Popen[bytes]:
        """A process that knows this actor's password and no other."""
        own = {PASSWORD: derive(SECRET_TEXT, actor), **more}
        return self.start(actor, *words, "--broker", self.url, **own)

    def agent(self, role: Actor, **more: str) -> subprocess.Popen[bytes]:
        return self.start_as(role, "agent", role, "--run", RUN, **more)

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
