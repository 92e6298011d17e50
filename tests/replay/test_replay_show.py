"""What people read: runs, states, differences and audits as text; and runs found by name."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from rich.console import Console
from sample_run import Writer, entry, sample, write

from skill2real.ledger import events as ev
from skill2real.ledger.store import Store
from skill2real.replay.audit import audit, audit_all
from skill2real.replay.diff import diff
from skill2real.replay.errors import UnknownRun
from skill2real.replay.runs import default_home, find_run, list_runs, run_state
from skill2real.replay.show import (
    plain,
    show_audit,
    show_checkpoints,
    show_diff,
    show_runs,
    show_state,
    to_json,
)
from skill2real.replay.state import State, state_at


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    write(home / "sample", sample().events)
    write(home / "cut", sample().events[:20])
    (home / "notes").mkdir()
    return home


def lines(what: object, width: int = 120) -> list[str]:
    return [" ".join(line.split()) for line in plain(what, width).splitlines()]  # type: ignore[arg-type]


def test_a_state_reads_well(home: Path) -> None:
    found = lines(show_state(state_at(home / "sample")))
    assert found[0].startswith("sample at event 71 · 2025-03-01 10:01:10Z · finished · all rounds done")
    assert "Candidates · 3 accepted, 1 rejected, 1 not testable" in found
    assert (
        'can cerebellum grasp when the thing is like can {"depth": 0.03, "styles": ["rim", "side"]}' in found
    )
    assert "Refused messages · 3 for type" in found
    assert "train 2 2 1" in found
    assert "put the soup in the basket 1/1" in found
    assert not any("does not fit" in line for line in found)


def test_a_difference_reads_well(home: Path) -> None:
    found = lines(show_diff(diff(state_at(home / "sample", "C1"), state_at(home / "sample"))))
    for line in ("depth: 0.02 → 0.03", 'styles[1]: "top" → "side"', "+move_to(grasp.pose)", "Changed · can"):
        assert line in found
    assert "58 not_testable left fewer than 5 failures without it" in found


def test_audits_read_well(home: Path) -> None:
    state = state_at(home / "sample")
    found = lines(show_audit(audit(state, "c1")))
    assert "the trials on record, counted again, agree with these numbers" in found
    assert "e-lost: not in this ledger" in found
    assert "critique: the object slipped while lifting" in found
    assert "can: replaced at event 54 by candidate c3" in found
    assert sum(line.endswith("win") for line in found) == 9
    assert "54 now c3 C2, C2/B1" in lines(show_audit(audit(state, "can")))
    assert "c4 C1 brain grasp left not testable fewer than 5 failures without it" in lines(
        show_audit(audit_all(state)), 200
    )
    assert lines(show_audit(())) == ["No candidates were proposed yet."]


def test_checkpoints_read_well(home: Path) -> None:
    found = lines(show_checkpoints(state_at(home / "sample")))
    assert found[2].startswith("C1 cerebellum snapshot 49 2025-03-01 10:00:48Z")
    assert found[2].endswith("event 50, tree of 49")
    assert found[3].endswith("C1 not signed")
    assert lines(show_checkpoints(State(home)))[0].startswith("No checkpoints yet")


def test_every_prefix_can_be_shown(home: Path) -> None:
    state = State(home / "sample")
    for seq, event in enumerate(sample().events, 1):
        state.hear(seq, event)
        show_state(state)
        for line in audit_all(state):
            plain(show_audit(audit(state, line.id)))
            to_json(audit(state, line.id))


def test_text_of_others_steers_no_terminal(tmp_path: Path) -> None:
    w = Writer()
    w.propose("c1", entry("[bold]can[/bold]", note="\x1b[31m\x07\u202e"))
    w.judge("c1", "rejected", "[link=x]no[/link] \x1b]0;title\x07")
    w.episode("e1", success=False, critique="[red]\x1b[2J")
    state = state_at(write(tmp_path / "r", w.events))
    console = Console(force_terminal=True, width=100, color_system=None)
    with console.capture() as capture:
        for what in (show_state(state), show_audit(audit(state, "c1")), show_audit(audit_all(state))):
            console.print(what)
    shown = capture.get()
    assert "[bold]can[/bold]" in shown
    assert "[link=x]no[/link]" in shown
    for character in ("\x07", "\x1b", "\u202e"):
        assert character not in shown


def test_runs_are_listed_with_how_they_stand(home: Path) -> None:
    cut, whole = list_runs(home)
    assert (whole.name, whole.state, whole.events, whole.accepted, whole.rejected) == (
        "sample",
        "finished",
        71,
        3,
        1,
    )
    assert whole.checkpoints == ("C1", "C2", "C2/B1")
    assert (whole.rounds, whole.episodes, whole.skills, whole.suite) == (("C1", "C2"), 3, 2, "libero_90")
    assert (cut.name, cut.state, cut.rounds) == ("cut", "interrupted", ())
    assert lines(show_runs((cut, whole)), 140)[2].startswith(
        "sample finished 2025-03-01 10:00:00Z 1 min 10 s"
    )
    assert lines(show_runs(list_runs(home / "notes")))[0].startswith("No runs yet")


def test_a_run_that_is_being_written_is_running(home: Path) -> None:
    async def look() -> tuple[str, str]:
        store = await Store.open(home / "cut" / "ledger.db")
        while_open = run_state(state_at(home / "cut"))
        await store.close()
        return while_open, run_state(state_at(home / "cut"))

    assert asyncio.run(look()) == ("running", "interrupted")


def test_runs_are_found_by_name_or_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_run(home, "sample") == home / "sample"
    assert find_run(home, str(home / "cut")) == home / "cut"
    assert find_run(home, str(home / "cut" / "ledger.db")) == home / "cut"
    with pytest.raises(UnknownRun, match=r"no run 'notes' in .*: its runs are cut, sample"):
        find_run(home, "notes")
    with pytest.raises(UnknownRun, match="none yet; `skill2real train` makes one"):
        find_run(home / "notes", "x")
    monkeypatch.setenv("SKILL2REAL_HOME", str(home))
    assert find_run(None, "cut") == home / "cut"
    monkeypatch.delenv("SKILL2REAL_HOME")
    assert default_home() == Path("runs")


def test_a_run_of_a_newer_version_is_listed_with_its_problem(tmp_path: Path) -> None:
    folder = write(tmp_path / "later", sample().events[:3])
    with sqlite3.connect(folder / "ledger.db") as db:
        db.execute("PRAGMA user_version = 99")
    write(tmp_path / "now", [ev.make("now", "run.finished", "trainer", ev.RunFinished())])
    later, now = list_runs(tmp_path)
    assert (later.state, now.state) == ("unreadable", "finished")
    assert "ledger format 99" in later.problem
    assert "ledger format 99" in plain(show_runs((later, now)), 300)
