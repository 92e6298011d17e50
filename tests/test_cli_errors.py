"""Bad input: one sentence on standard error, the right exit code, no traceback, nothing left behind."""

import errno
import json
import os
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from signed_run import write_run

from skill2real.agents import exits
from skill2real.cli import cli
from skill2real.ledger.errors import DiskFull
from skill2real.ledger.keys import new_key


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILL2REAL_KEY", str(tmp_path / "signing.key"))
    monkeypatch.setenv("SKILL2REAL_HOME", str(tmp_path / "runs"))
    monkeypatch.delenv("SKILL2REAL_BROKER_SECRET", raising=False)
    monkeypatch.delenv("SKILL2REAL_BROKER_PASSWORD", raising=False)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SKILL2REAL_MODEL_KEYS"):
        monkeypatch.delenv(name, raising=False)
    write_run(tmp_path / "runs", key=new_key())
    return tmp_path / "runs"


def refused(words: str | tuple[str, ...], code: int, *said: str) -> Result:
    result = CliRunner().invoke(cli, words.split() if isinstance(words, str) else words)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    for word in said:
        assert word in result.stderr
    return result


TRAIN = "train --suite libero_90 --task 50"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("replay nope", 2, ("'nope'", "lab")),
        ("audit nope", 2, ("lab",)),
        ("checkpoints nope", 2, ("lab",)),
        ("verify nope", 2, ("lab",)),
        ("replay lab --at 999999", 2, ("999999",)),
        ("replay lab --at C7", 2, ("C1/B1",)),
        ("replay lab --diff C1 C7", 2, ("C1/B1",)),
        ("audit lab nope", 2, ("grasp-can",)),
        ("export lab C7 -o x.s2r", 2, ("C1/B1",)),
        ("export lab C1 -o /nonexistent/x.s2r", 1, ("/nonexistent/x.s2r",)),
        ("verify lab --key abc", 2, ("'abc'", "name+keyid+base64")),
        ("verify /etc/hostname", 3, ("bundle",)),
        ("suites libero_91", 2, ("libero_90",)),
        (f"{TRAIN} --proposer gemini:x", 4, ("openai:NAME@URL", "embedded")),
        (f"{TRAIN} --verifier gemini:x", 4, ("public", "anthropic:NAME")),
        (f"{TRAIN} --governor anthropic:x", 4, ("ANTHROPIC_API_KEY", "SKILL2REAL_MODEL_KEYS")),
        (f"{TRAIN} --proposer openai:x@https://a:b@h/v1", 2, ("name or password",)),
        (f"{TRAIN} --proposer openai:x@http://127.0.0.1:9/v1 --max-cost 1", 2, ("[prices]",)),
        (f"{TRAIN} --recorded nope --proposer openai:x", 2, ("'nope'",)),
        ("costs nope", 2, ("lab",)),
        ("train --suite libero_91 --dry-run", 2, ("libero_90", "skill2real suites")),
        ("train --suite libero_90 --task 900 --dry-run", 2, ("0 to 89",)),
        ("train --suite libero_90 --task x --dry-run", 2, ("12+15",)),
        ("train --suite libero_90 --task 50+9 --dry-run", 2, ("scene",)),
        ("train --dry-run", 2, ("--suite",)),
        ("train --resume", 2, ("--run",)),
        ("train --suite pro_long --dry-run", 2, ("evaluated",)),
        ("train --subset --task 3 --dry-run", 2, ("--subset",)),
        (f"{TRAIN} --verifier sometimes", 2, ("shuffled",)),
        ("controls nope", 2, ("no-governor", "seven-cerebellum")),
        ("failures nope", 2, ("lab",)),
        ("eval lab --suite libero_90 --resume", 2, ("--name",)),
        ("eval lab --suite pro_long --task 3", 2, ("libero_10_task/3",)),
        ("eval lab --suite libero_90 --task 50 --name lab", 2, ("--resume",)),
        (f"{TRAIN} --run lab", 2, ("--resume",)),
        (f"{TRAIN} --episodes 0", 2, ("episodes",)),
        (f"{TRAIN} --trials 2", 2, ("trials",)),
        (f"{TRAIN} --broker http://x", 2, ("mqtt://",)),
        (f"{TRAIN} --broker mqtt://127.0.0.1:1", 4, ("SKILL2REAL_BROKER",)),
        ("eval lab --checkpoint C7 --suite libero_90 --task 50", 2, ("C1/B1",)),
        ("eval lab --suite libero_90 --task 50 --seeds 99", 2, ("--seeds",)),
        ("deploy C7 --suite libero_90 --task 50", 2, ("C1/B1",)),
        ("deploy C1 --run nope --suite libero_90 --task 50", 2, ("lab",)),
        ("deploy C1 --suite libero_90 --task 50 --seed 50", 2, ("0 to 49",)),
        ("deploy C1 --backend arm --suite libero_90 --task 50", 2, ("sim",)),
        ("freeze lab middle --name X", 2, ("cerebellum",)),
        ("freeze lab brain --name X", 2, ("frozen already",)),
        ("serve", 4, ("SKILL2REAL_BROKER_SECRET",)),
        ("nope", 2, ("nope", "--help")),
        ("export lab C1", 2, ("--output",)),
    ],
)
def test_bad_words_end_in_one_sentence(home: Path, words: str, code: int, said: tuple[str, ...]) -> None:
    before = sorted(home.iterdir())
    refused(words, code, *said)
    assert sorted(home.iterdir()) == before


def test_a_run_name_that_cannot_be_a_folder(home: Path) -> None:
    refused(("train", "--suite", "libero_90", "--task", "50", "--run", "../x"), 2, "'../x'")


def test_a_checkpoint_of_two_runs_must_say_whose(home: Path) -> None:
    write_run(home, "two")
    refused("deploy C1 --suite libero_90 --task 50", 2, "lab", "two", "--run")


def test_a_bad_configuration_file(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    for text, word in (("suite =", "TOML"), ('suite = "libero_90"\nepisode = 3\n', "episode")):
        file.write_text(text)
        refused(("train", "--config", str(file)), 2, word)
    refused(("train", "--config", str(tmp_path / "none.toml")), 2, "none.toml")


def test_a_ledger_of_a_newer_version(home: Path) -> None:
    db = sqlite3.connect(home / "lab" / "ledger.db")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version = {version + 1}")
    db.commit()
    db.close()
    for words in ("replay lab", "audit lab", "checkpoints lab", "verify lab", "export lab C1 -o x.s2r"):
        refused(words, 1, "newer")
    result = CliRunner().invoke(cli, ["runs", "--json"])  # one unreadable run hides no other
    assert json.loads(result.stdout)[0]["state"] == "unreadable"


def test_a_file_that_is_no_ledger(home: Path) -> None:
    (home / "junk").mkdir()
    (home / "junk" / "ledger.db").write_bytes(b"nothing " * 1000)
    refused("replay junk", 1, "junk")
    refused("verify junk", 3, "junk")


def test_without_a_key_a_bundle_cannot_be_verified(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "c1.s2r")
    assert CliRunner().invoke(cli, ["export", "lab", "C1", "-o", file]).exit_code == 0
    monkeypatch.setenv("SKILL2REAL_KEY", str(tmp_path / "none.key"))
    refused(("verify", file), 4, "skill2real key new")
    refused(("deploy", file, "--suite", "libero_90", "--task", "50"), 4, "skill2real key new")
    result = CliRunner().invoke(cli, ["verify", "lab"])  # what can be checked without one is
    assert result.exit_code == 0
    assert "not checked" in result.stdout


def test_an_error_that_nobody_expected(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(home: Path) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("skill2real.replay.runs.list_runs", broken)
    refused("runs", 1, "ZeroDivisionError", "--debug")
    assert "Traceback" in CliRunner().invoke(cli, ["--debug", "runs"]).stderr


def test_errors_of_the_system_say_what_to_do() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/data/ledger.db")
    assert "disk is full" in exits.sentence(full)
    assert exits.code_of(full) == exits.code_of(DiskFull("The disk is full.")) == 1
    assert "permission" in exits.sentence(PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/data"))
    assert exits.code_of(ZeroDivisionError()) is None
    group = ExceptionGroup("several", [ExceptionGroup("inner", [DiskFull("full")]), ValueError("x")])
    assert isinstance(exits.root(group), DiskFull)


def test_every_error_with_a_sentence_has_a_code() -> None:
    """A class of its own that the command would call unexpected is a mistake."""
    from skill2real.agents import errors as agents
    from skill2real.backends import errors as backends
    from skill2real.backends.sim import errors as sim
    from skill2real.ledger import bus_errors, errors
    from skill2real.replay import errors as replay

    for module in (agents, backends, sim, errors, bus_errors, replay):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == module.__name__:
                assert exits.code_of(kind.__new__(kind)) in (1, 2, 3, 4), kind
