"""Every command that reads, on a real signed ledger: its text, its JSON, and its exit code."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from signed_run import GRASP, WORD, write_run

from skill2real.cli import cli
from skill2real.ledger.keys import new_key
from skill2real.ledger.note import SigningKey

Run = Callable[..., Result]


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SigningKey:
    monkeypatch.setenv("SKILL2REAL_KEY", str(tmp_path / "signing.key"))
    return new_key("lab.test")


@pytest.fixture
def home(tmp_path: Path, key: SigningKey, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "runs"
    monkeypatch.setenv("SKILL2REAL_HOME", str(home))
    write_run(home, key=key)
    return home


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def good(*words: str) -> str:
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_runs_lists_what_there_is(home: Path, key: SigningKey) -> None:
    write_run(home, "other", key, finished=False)
    text = good("runs")
    assert "lab" in text
    assert "interrupted" in text
    lines = {line["name"]: line for line in json.loads(good("runs", "--json"))}
    assert lines["lab"]["state"] == "finished"
    assert lines["lab"]["checkpoints"] == ["C1", "C1/B1"]
    assert lines["other"]["state"] == "interrupted"


def test_home_can_be_named(home: Path, tmp_path: Path) -> None:
    assert "No runs yet" in good("runs", "--home", str(tmp_path / "empty"))


def test_replay_shows_the_run_at_any_point(home: Path) -> None:
    assert GRASP.id in good("replay", "lab")
    at_c1 = json.loads(good("replay", "lab", "--at", "C1", "--json"))
    assert [entry["id"] for entry in at_c1["memory"]] == [GRASP.id]
    assert [entry["id"] for entry in json.loads(good("replay", "lab", "--json"))["memory"]] == [
        GRASP.id,
        WORD.id,
    ]
    assert json.loads(good("replay", "lab", "--at", "1", "--json"))["memory"] == []


def test_replay_shows_the_difference_of_two_points(home: Path) -> None:
    assert WORD.id in good("replay", "lab", "--diff", "C1", "end")
    difference = json.loads(good("replay", "lab", "--diff", "C1", "C1/B1", "--json"))
    assert [entry["id"] for entry in difference["added"]] == [WORD.id]
    assert difference["removed"] == []


def test_audit_tells_of_all_candidates_or_one(home: Path) -> None:
    text = good("audit", "lab")
    assert "accepted" in text
    assert "no evidence names a box" in text
    assert "C1/train/0/50" in good("audit", "lab", GRASP.id)
    story = json.loads(good("audit", "lab", "C1/1", "--json"))
    assert story["checkpoints"] == ["C1", "C1/B1"]
    assert len(json.loads(good("audit", "lab", "--json"))) == 3


def test_checkpoints_are_listed(home: Path) -> None:
    assert "C1/B1" in good("checkpoints", "lab")
    listed = json.loads(good("checkpoints", "lab", "--json"))
    assert [(one["name"], one["signed"] > 0) for one in listed] == [("C1", True), ("C1/B1", True)]


def test_a_ledger_is_verified(home: Path) -> None:
    assert "is sound" in good("verify", "lab")
    report = json.loads(good("verify", "lab", "--json"))
    assert report["ok"]
    assert report["checkpoints"] == ["C1", "C1/B1"]
    assert report["signatures_verified"]


def test_a_changed_ledger_is_found(home: Path) -> None:
    db = sqlite3.connect(home / "lab" / "ledger.db")
    for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    changed = "CAST(replace(raw, 'no evidence', 'evidence') AS BLOB)"
    db.execute(f"UPDATE events SET raw = {changed} WHERE type = 'candidate.screened'")
    db.commit()
    db.close()
    result = run("verify", "lab")
    assert result.exit_code == 3
    assert "NOT sound" in result.stdout
    assert not json.loads(run("verify", "lab", "--json").stdout)["ok"]


def test_a_bundle_is_exported_and_verified(home: Path, key: SigningKey, tmp_path: Path) -> None:
    file = tmp_path / "c1.s2r"
    good("export", "lab", "C1", "-o", str(file))
    assert "is sound" in good("verify", str(file))
    proven = json.loads(good("verify", str(file), "--key", str(key.verifier), "--json"))
    assert (proven["checkpoint"], proven["skills"]) == ("C1", [GRASP.id])
    pinned = tmp_path / "lab.pub"
    pinned.write_text(f"{key.verifier}\n")
    assert "is sound" in good("verify", str(file), "--key", str(pinned))


def test_a_wrong_key_and_a_changed_bundle_are_refused(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "c1.s2r"
    good("export", "lab", "C1", "-o", str(file))
    other = SigningKey.new("lab.test").verifier
    assert run("verify", str(file), "--key", str(other)).exit_code == 3
    file.write_text(file.read_text().replace("0.02", "0.03"))
    result = run("verify", str(file))
    assert result.exit_code == 3
    assert "changed after it was frozen" in result.stderr


def test_a_cut_tail_shows_against_a_bundle(home: Path, key: SigningKey, tmp_path: Path) -> None:
    file = tmp_path / "both.s2r"
    good("export", "lab", "C1/B1", "-o", str(file))
    assert "1 checkpoint" in good("verify", "lab", "--against", str(file))
    write_run(tmp_path / "later", key=key)  # another history under the same name
    assert run("verify", "lab", "--home", str(tmp_path / "later"), "--against", str(file)).exit_code == 3


def test_a_bundle_that_is_refused_moves_nothing(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "both.s2r"
    good("export", "lab", "C1/B1", "-o", str(file))
    file.write_text(file.read_text().replace("0.02", "0.03"))
    result = run("deploy", str(file), "--suite", "libero_90", "--task", "50")
    assert result.exit_code == 3
    assert [path.name for path in home.iterdir()] == ["lab"]  # not even a ledger of a deployment


def test_keys_are_made_once_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own" / "signing.key"
    monkeypatch.setenv("SKILL2REAL_KEY", str(path))
    assert run("key", "show").exit_code == 4
    made = good("key", "new", "--name", "arm.lab").strip()
    assert made.startswith("arm.lab+")
    assert path.stat().st_mode & 0o777 == 0o600
    assert good("key", "show").strip() == made
    assert json.loads(good("key", "show", "--json")) == {
        "name": "arm.lab",
        "verifier": made,
        "path": str(path),
    }
    kept = path.read_text()
    assert run("key", "new").exit_code == 1
    assert path.read_text() == kept


def test_broker_acl_prints_two_files() -> None:
    both = json.loads(good("broker-acl", "--json", "--port", "18999"))
    assert "listener 18999 127.0.0.1" in both["settings"]
    assert "user proposer" in both["access"]
    assert good("broker-acl", "--only", "access") == both["access"]
    assert both["access"] in good("broker-acl")


def test_suites_and_their_tasks_are_listed() -> None:
    known = {name: tasks for name, tasks, _ in json.loads(good("suites", "--json"))}
    assert known["libero_90"] == 90
    assert (known["libero_10_swap"], known["pro_long"]) == (10, 20)
    tasks = json.loads(good("suites", "libero_10", "--json"))
    assert len(tasks) == 10
    assert all(instruction and states > 0 for _, instruction, states in tasks)
    assert tasks[0][1] in good("suites", "libero_10")


def test_controls_are_listed_with_how_they_stand(home: Path, key: SigningKey) -> None:
    write_run(home, "control-both", key)
    write_run(home, "control-renamed", key, finished=False)
    lines = {line["name"]: line["state"] for line in json.loads(good("controls", "--list", "--json"))}
    assert lines["both"] == lines["empty"] == lines["seed-1"] == "finished"
    assert lines["renamed"] == "interrupted"
    assert lines["no-governor"] == ""
    assert "not begun" in good("controls")


def test_the_subset_can_be_asked_for(home: Path) -> None:
    subset = json.loads(good("train", "--subset", "--dry-run", "--json"))
    assert 0 < subset["tasks"] < 90
    assert subset["episodes"] == 5 * 7 * subset["tasks"]
    whole = json.loads(good("train", "--suite", "libero_90", "--dry-run", "--json"))
    assert whole["episodes"] == 3150


def test_a_run_without_judged_episodes_has_no_failures(home: Path) -> None:
    assert json.loads(good("failures", "lab", "--json")) == []
    assert "No judged episodes" in good("failures", "lab")


def test_a_dry_run_tells_what_it_would_take(home: Path, tmp_path: Path) -> None:
    words = ("train", "--suite", "libero_90", "--task", "50", "--task", "51+52", "--dry-run", "--json")
    asked = json.loads(good(*words, "--episodes", "4", "--cerebellum-rounds", "2", "--brain-rounds", "1"))
    assert (asked["tasks"], asked["episodes"]) == (2, 4 * 2 * 3)
    assert json.loads(good(*words, "--no-governor"))["trials"] == 0
    file = tmp_path / "run.toml"
    file.write_text('suite = "libero_90"\ntasks = ["50"]\nepisodes = 7\n')
    from_file = json.loads(good("train", "--config", str(file), "--dry-run", "--json"))
    assert from_file["episodes"] == 7 * 7
    over = json.loads(good("train", "--config", str(file), "--episodes", "1", "--dry-run", "--json"))
    assert over["episodes"] == 7
    recorded = json.loads(good("train", "--run", "lab", "--resume", "--dry-run", "--json"))
    assert recorded["episodes"] == 5 * 2
    assert [path.name for path in home.iterdir()] == ["lab"]
