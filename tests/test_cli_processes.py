"""The command as a process: services, signals, pipes, and real episodes; nothing needs a terminal."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from signed_run import write_run

from skill2real.ledger.check import check_ledger
from skill2real.ledger.keys import new_key
from skill2real.ledger.reader import Reader

COMMAND = (sys.executable, "-m", "skill2real.cli")


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """An environment with a key and a home of its own, and a secret for brokers."""
    key = new_key("lab.test", tmp_path / "signing.key")
    write_run(tmp_path / "runs", key=key)
    own = {"SKILL2REAL_KEY": str(tmp_path / "signing.key"), "SKILL2REAL_HOME": str(tmp_path / "runs")}
    return {**os.environ, **own, "SKILL2REAL_BROKER_SECRET": "secret of a test"}


def start(place: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *words],
        env=place,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # its own group, so that a signal to it is like Ctrl-C in a terminal
    )


def ran(place: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], env=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def checks(place: dict[str, str], *words: str) -> dict[str, dict[str, object]]:
    result = ran(place, "doctor", "--json", *words)
    found = {check["name"]: check for check in json.loads(result.stdout)}
    assert result.returncode == (0 if all(check["ok"] for check in found.values()) else 4)
    return found


@pytest.fixture
def served(place: dict[str, str]) -> Iterator[str]:
    """The URL of a running `serve`."""
    service = start(place, "serve", "--port", "0")
    assert service.stderr is not None
    line = service.stderr.readline()
    yield line.split(" at ")[1].split(";")[0]
    service.send_signal(signal.SIGINT)
    out, err = service.communicate(timeout=30)
    assert (service.returncode, out, err) == (0, "", "")  # told to stop, it stops without a word


def test_a_port_in_use(place: dict[str, str], served: str) -> None:
    port = served.rpartition(":")[2]
    result = ran(place, "serve", "--port", port)
    assert result.returncode == 1
    assert port in result.stderr
    assert "--port" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.sim
def test_doctor_looks_at_everything(place: dict[str, str], served: str) -> None:
    found = checks(place, "--broker", served)
    assert list(found) == [
        "Python", "Packages", "Rendering", "Simulator", "Sandbox", "Broker", "Signing key", "Runs",
    ]  # fmt: skip
    assert all(check["ok"] for check in found.values()), found


@pytest.mark.sim
def test_doctor_names_the_remedy_of_each_failure(place: dict[str, str], tmp_path: Path) -> None:
    place["SKILL2REAL_KEY"] = str(tmp_path / "none.key")
    place["SKILL2REAL_HOME"] = "/proc/runs"
    found = checks(place, "--broker", "mqtt://127.0.0.1:1")
    assert found["Signing key"]["remedy"] == "skill2real key new"
    assert "SKILL2REAL_HOME" in str(found["Runs"]["remedy"])
    assert "skill2real serve" in str(found["Broker"]["remedy"])
    assert not any(found[name]["ok"] for name in ("Signing key", "Runs", "Broker"))


def test_output_may_be_cut_short(place: dict[str, str]) -> None:
    words = " ".join([*COMMAND, "broker-acl"])
    result = subprocess.run(
        ["bash", "-c", f"{words} | head -n 1"], env=place, capture_output=True, text=True, check=False
    )
    assert result.stdout == "# mosquitto.conf\n"
    assert "Traceback" not in result.stderr


@pytest.mark.sim
@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on_and_does(place: dict[str, str]) -> None:
    rounds = ("--cerebellum-rounds", "1", "--brain-rounds", "0", "--no-governor")
    words = ("train", "--suite", "libero_90", "--task", "50", "--run", "cut", "--episodes", "2", *rounds)
    training = start(place, *words)
    assert training.stderr is not None
    assert training.stderr.readline().startswith("Run cut in ")
    assert "practice" in training.stderr.readline()  # under way: broker, ledger and workers are up
    os.killpg(training.pid, signal.SIGINT)
    out, err = training.communicate(timeout=60)
    assert training.returncode == 130
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("Interrupted; everything that was acknowledged is kept.")
    assert "Traceback" not in err
    ledger = Path(place["SKILL2REAL_HOME"]) / "cut" / "ledger.db"
    assert check_ledger(ledger).ok
    with Reader(ledger) as reader:
        kept = [committed.raw for committed in reader.events()]
    assert kept

    command = last.partition("Go on with: skill2real ")[2].split()
    assert command == ["train", "--run", "cut", "--resume"]
    resumed = ran(place, *command, "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["checkpoints"] == ["C1"]
    with Reader(ledger) as reader:
        assert [committed.raw for committed in reader.events(upto=len(kept))] == kept
    lines = {line["name"]: line for line in json.loads(ran(place, "runs", "--json").stdout)}
    assert lines["cut"]["state"] == "finished"


@pytest.mark.sim
@pytest.mark.slow
def test_an_interrupted_evaluation_says_how_to_go_on_and_does(place: dict[str, str], tmp_path: Path) -> None:
    file = str(tmp_path / "long.json")
    words = ("eval", "lab", "--suite", "pro_long", "--task", "libero_10_task/1", "--seeds", "1", "-o", file)
    playing = start(place, *words, "--workers", "1")
    assert playing.stderr is not None
    assert playing.stderr.readline().startswith("Evaluation eval-lab-C1-B1-")
    assert "evaluation of C1/B1" in playing.stderr.readline()
    os.killpg(playing.pid, signal.SIGINT)
    out, err = playing.communicate(timeout=60)
    assert (playing.returncode, out) == (130, "")
    command = shlex.split(err.strip().splitlines()[-1].partition("Go on with: skill2real ")[2])
    assert command[: len(words)] == list(words)
    assert command[-1] == "--resume"
    resumed = ran(place, *command)
    assert resumed.returncode == 0, resumed.stderr
    assert "instruction perturbation" in resumed.stdout
    record = json.loads(Path(file).read_text())
    assert record["results"][0]["by_task"]["libero_10_task/1"]["episodes"] == 1
    failed = ran(place, "failures", record["evaluation"]["run"], "--json")
    (part,) = json.loads(failed.stdout)
    assert part["part"] == "C1/B1/both"


@pytest.mark.sim
@pytest.mark.slow
def test_a_checkpoint_is_evaluated_and_deployed(place: dict[str, str], tmp_path: Path) -> None:
    task = ("--suite", "libero_90", "--task", "50")
    one = ran(
        place,
        "eval",
        "lab",
        "--checkpoint",
        "C1",
        *task,
        "--seeds",
        "1",
        "--empty-memory",
        "--workers",
        "1",
        "--json",
    )
    assert one.returncode == 0, one.stderr
    results = json.loads(one.stdout)["results"]
    assert [(result["arm"], result["episodes"]) for result in results] == [("empty", 1), ("both", 1)]
    file = str(tmp_path / "c1.s2r")
    assert ran(place, "export", "lab", "C1", "-o", file).returncode == 0
    deployed = ran(place, "deploy", file, *task, "--json")
    result = json.loads(deployed.stdout)
    assert deployed.returncode == (0 if result["status"] == "done" and result["success"] else 1)
    with Reader(Path(result["path"]) / "ledger.db") as reader:
        first = next(iter(reader.events()))
    assert b'"type":"deployment.started"' in first.raw
    assert b'"checkpoint":"C1"' in first.raw
