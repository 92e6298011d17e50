"""kill -9 of a worker, of broker and ledger service, and of all: the run ends in the same memory."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from small_run import Said, by_subject, digests, learned, read

from skill2real.ledger.check import check_ledger
from skill2real.ledger.errors import LedgerError
from skill2real.ledger.keys import new_key
from skill2real.ledger.reader import Reader

pytestmark = [pytest.mark.sim, pytest.mark.slow]
RUN = "run"
COMMAND = (sys.executable, str(Path(__file__).with_name("recorded_command.py")))
TRAIN = (
    *("train", "--suite", "libero_90", "--task", "51", "--run", RUN),
    *("--cerebellum-rounds", "1", "--brain-rounds", "0", "--episodes", "2", "--trials", "5"),
)
SECONDS = 240.0  # for a step of a run on a machine that is busy with other things


@dataclass
class Place:
    """A home with one run, and notes of what was acknowledged."""

    folder: Path

    @property
    def ledger(self) -> Path:
        return self.folder / "runs" / RUN / "ledger.db"

    def start(self, *words: str) -> psutil.Popen:
        own = {
            "SKILL2REAL_HOME": str(self.folder / "runs"),
            "SKILL2REAL_KEY": str(self.folder.parent / "signing.key"),
        }
        return psutil.Popen(
            [*COMMAND, str(self.folder / "acknowledged"), *words],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "stderr").open("ab"),
        )

    def finish(self, process: psutil.Popen) -> None:
        code = process.wait(SECONDS)
        assert code == 0, (self.folder / "stderr").read_text()

    def count(self, type: str) -> int:
        """How many events of a type the ledger has by now."""
        try:
            with Reader(self.ledger) as reader:
                return sum(1 for _ in reader.events(types=(type,)))
        except LedgerError:  # not made yet, or being made
            return 0

    def until(self, process: psutil.Popen, type: str, count: int) -> None:
        """Wait until the ledger has so many events of a type."""
        end = time.monotonic() + SECONDS
        while self.count(type) < count:
            assert process.poll() is None, (self.folder / "stderr").read_text()
            assert time.monotonic() < end, f"no {count} events {type} in {SECONDS:.0f} s"
            time.sleep(0.05)

    def acknowledged(self) -> dict[str, int]:
        lines = (self.folder / "acknowledged").read_text().splitlines()
        return {id: int(seq) for id, seq in (line.split() for line in lines)}


def children(process: psutil.Popen, word: str) -> list[psutil.Process]:
    """Children of the command whose command line has a word, oldest first."""
    alive = [child for child in process.children() if child.status() != psutil.STATUS_ZOMBIE]
    found = [child for child in alive if word in " ".join(child.cmdline())]
    return sorted(found, key=lambda child: child.create_time())


def kill_parts(place: Place) -> None:
    """A worker in the middle of training, broker and service in the middle of the trials; the run goes on."""
    training = place.start(*TRAIN, "--workers", "2")
    place.until(training, "program.executed", 1)  # looked, and begins to act
    children(training, "spawn_main")[0].kill()
    place.until(training, "critique.written", 4)
    (service,) = children(training, "ledger.child")
    service.kill()
    place.finish(training)
    said = (place.folder / "stderr").read_text()
    assert "worker died" in said
    assert "ledger_service_died" in said


def kill_everything(place: Place) -> None:
    """In the middle of training, and again in the middle of the trials; each time to be resumed at once."""
    training = place.start(*TRAIN, "--workers", "2")
    place.until(training, "program.executed", 1)
    training.kill()
    training.wait()
    training = place.start(*TRAIN, "--workers", "2", "--resume")
    place.until(training, "critique.written", 5)
    training.kill()
    training.wait()
    place.finish(place.start("train", "--run", RUN, "--resume"))


KILLS: dict[str, Callable[[Place], None]] = {"worker and service": kill_parts, "everything": kill_everything}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("resume")
    new_key("resume.test", path / "signing.key")
    return path


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> list[Said]:
    """On one worker, where the others have two: the order in which episodes end must not matter."""
    place = Place(folder / "undisturbed")
    place.folder.mkdir()
    place.finish(place.start(*TRAIN, "--workers", "1"))
    said = read(place.ledger)
    verdicts = by_subject(said, "verdict.given")
    assert any(verdict.decision is not None for verdict in verdicts.values()), "no candidate was tried"
    return said


@pytest.fixture(scope="module", params=list(KILLS))
def killed(request: pytest.FixtureRequest, folder: Path) -> Place:
    place = Place(folder / request.param)
    place.folder.mkdir()
    KILLS[request.param](place)
    return place


def test_it_ends_in_the_same_memory_with_the_same_verdicts(killed: Place, undisturbed: list[Said]) -> None:
    said = read(killed.ledger)
    assert learned(said) == learned(undisturbed)
    frozen, expected = (by_subject(one, "layer.frozen")["C1"] for one in (said, undisturbed))
    assert frozen.memory_hash == expected.memory_hash
    assert digests(said) == digests(undisturbed)


def test_nothing_acknowledged_is_lost_and_nothing_is_doubled(killed: Place) -> None:
    said = read(killed.ledger)
    seqs = {one.event.id: one.seq for one in said}
    assert len(seqs) == len(said)
    assert [one.seq for one in said] == list(range(1, len(said) + 1))
    acknowledged = killed.acknowledged()
    assert len(acknowledged) > 50
    assert {id: seqs.get(id) for id in acknowledged} == acknowledged
    report = check_ledger(killed.ledger)
    assert report.findings == ()
    assert report.checkpoints == ("C1",)


def test_each_step_was_taken_once(killed: Place) -> None:
    """Only episodes that were open when all was killed are begun again."""
    said = read(killed.ledger)
    count = Counter((one.event.type, one.event.subject) for one in said)
    once = {"episode.finished", "outcome.measured", "critique.written", "verdict.given", "layer.frozen"}
    assert {n for (type, _), n in count.items() if type in once} == {1}
    again = {subject: n for (type, subject), n in count.items() if type == "episode.started" and n > 1}
    resumed = sum(one.event.type == "run.resumed" for one in said)
    assert len(again) <= 2 * resumed
