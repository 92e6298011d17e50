"""Verification: whatever is done to the file of a ledger, it is found."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import RUN, fill, pair, plain

from skill2real.ledger.check import check_ledger
from skill2real.ledger.checkpoint import (
    checkpoints,
    find_checkpoint,
    open_note,
    prove_extends,
    sign_frozen,
    verify_extends,
)
from skill2real.ledger.errors import LedgerError, LedgerMissing, NotALedger, NoteRefused, ProofFailed
from skill2real.ledger.events import CheckpointSigned, VerdictGiven, decode, encode
from skill2real.ledger.merkle import leaf_hash
from skill2real.ledger.note import SigningKey
from skill2real.ledger.reader import Reader
from skill2real.ledger.store import Committed, Store

KEY = SigningKey.new("lab.example")
COLUMNS = "seq, id, type, version, actor, subject, visibility, leaf, raw"
MARKS = "?, ?, ?, ?, ?, ?, ?, ?, ?"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A sound ledger: 2 + 2 × (5 events, memory.changed, layer.frozen, checkpoint.signed) + 4."""
    path = tmp_path_factory.mktemp("run") / "ledger.db"
    asyncio.run(fill(path, KEY))
    return path


@pytest.fixture
def copy(run, tmp_path):
    """Makes a fresh copy to tamper with, each time it is called."""
    made = 0

    def make() -> Path:
        nonlocal made
        made += 1
        folder = tmp_path / str(made)
        shutil.copytree(run.parent, folder)
        return folder / run.name

    return make


def tamper(path: Path, *statements: tuple[str, tuple[object, ...]], restore: bool = True) -> None:
    """Drop the triggers, change the file, and put the triggers back as they were."""
    db = sqlite3.connect(path, isolation_level=None)
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    for sql, values in statements:
        db.execute(sql, values)
    if restore:
        for _, sql in triggers:
            db.execute(sql)
    db.close()


def rows_of(path: Path) -> list[tuple]:
    db = sqlite3.connect(path)
    rows = db.execute(f"SELECT {COLUMNS} FROM events ORDER BY seq").fetchall()
    db.close()
    return rows


def rewrite(path: Path, rows: list[tuple]) -> None:
    tamper(path, ("DELETE FROM events", ()), *((f"INSERT INTO events VALUES ({MARKS})", row) for row in rows))


def rebuilt(row: tuple, raw: bytes, seq: int | None = None) -> tuple:
    """The row as a careful forger would write it: columns and leaf made anew from the bytes."""
    event = decode(raw)
    columns = (event.id, event.type, event.version, event.actor, event.subject, event.visibility)
    return (row[0] if seq is None else seq, *columns, leaf_hash(raw), raw)


def latest_note(path: Path) -> str:
    with Reader(path) as reader:
        return find_checkpoint(reader, "B1").signed.note


def test_a_sound_ledger_has_no_findings(run):
    report = check_ledger(run, KEY.verifier, [latest_note(run)])
    assert report.findings == ()
    assert report.ok
    assert (report.run, report.events, report.blobs, report.outside) == (RUN, 22, 2, 1)
    assert (report.checkpoints, report.unsigned, report.signatures_verified) == (("C1", "B1"), (), True)
    with Reader(run) as reader:
        assert report.root == reader.tree().root()
    without = check_ledger(run)
    assert without.ok
    assert not without.signatures_verified


def test_a_ledger_without_a_key_says_what_is_unsigned(tmp_path):
    asyncio.run(fill(tmp_path / "ledger.db", None))
    report = check_ledger(tmp_path / "ledger.db", KEY.verifier)
    assert report.ok
    assert (report.checkpoints, report.unsigned) == ((), ("C1", "B1"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_of_an_event(copy, data):
    path = copy()
    seq, *_, raw = data.draw(st.sampled_from(rows_of(path)))
    at = data.draw(st.integers(0, len(raw) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != raw[at]))
    changed = raw[:at] + bytes((byte,)) + raw[at + 1 :]
    tamper(path, ("UPDATE events SET raw = ? WHERE seq = ?", (changed, seq)))
    report = check_ledger(path)
    assert any(f.seq == seq and "leaf hash" in f.what for f in report.findings)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_column_or_leaf(copy, data):
    path = copy()
    seq = data.draw(st.integers(1, 22))
    column, value = data.draw(
        st.sampled_from(
            [
                ("id", "x"),
                ("type", "verdict.given"),
                ("version", 7),
                ("actor", "runner"),
                ("subject", "other"),
                ("visibility", "privileged"),
                ("leaf", bytes(32)),
            ]
        )
    )
    tamper(path, (f"UPDATE events SET {column} = ? WHERE seq = ?", (value, seq)))
    assert any(f.seq == seq for f in check_ledger(path).findings)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_careful_forgery_below_a_checkpoint(copy, data):
    """Columns, leaves and numbers are all made to fit: only the signed root tells."""
    path = copy()
    note = latest_note(path)
    rows = rows_of(path)
    size = open_note(note).size
    at = data.draw(st.integers(0, size - 1))
    how = data.draw(st.sampled_from(["change", "remove", "swap", "insert", "duplicate"]))
    raws = [row[-1] for row in rows]
    if how == "change":
        event = decode(raws[at])
        raws[at] = encode(
            type(event)(**{f: getattr(event, f) for f in event.__struct_fields__} | {"time": "then"})
        )
    elif how == "remove":
        del raws[at]
    elif how == "swap":
        other = data.draw(st.integers(0, size - 1).filter(lambda i: i != at))
        raws[at], raws[other] = raws[other], raws[at]
    elif how == "insert":
        raws.insert(at, plain(1)[0][1])
    else:  # the same event again, under an id of its own
        event = decode(raws[at])
        raws.insert(at, raws[at].replace(event.id.encode(), plain(1)[0][0].id.encode()))
    rewrite(path, [rebuilt(rows[0], raw, i + 1) for i, raw in enumerate(raws)])
    assert not check_ledger(path, KEY.verifier).ok
    outside = check_ledger(path, KEY.verifier, [note])
    assert any("from outside" in f.what for f in outside.findings)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seq=st.integers(1, 21))
def test_removed_swapped_and_moved_rows(copy, seq):
    path = copy()
    tamper(path, ("DELETE FROM events WHERE seq = ?", (seq,)))
    assert any("missing" in f.what for f in check_ledger(path).findings)
    path = copy()
    rows = rows_of(path)
    rows[seq - 1], rows[seq] = (seq, *rows[seq][1:]), (seq + 1, *rows[seq - 1][1:])
    rewrite(path, rows)
    # Two rows that changed places fit in themselves: they are found where a checkpoint covers one of them.
    report = check_ledger(path, KEY.verifier)
    assert report.ok == (seq > 17)
    path = copy()
    tamper(path, ("UPDATE events SET seq = -seq WHERE seq = ?", (seq,)))
    assert not check_ledger(path).ok


@pytest.mark.parametrize("left", range(22))
def test_a_cut_tail_is_found_by_a_note_from_outside(copy, left):
    path = copy()
    note = latest_note(path)
    size = open_note(note).size
    tamper(path, ("DELETE FROM events WHERE seq > ?", (left,)))
    alone = check_ledger(path, KEY.verifier)
    assert alone.ok  # nothing in the file tells
    report = check_ledger(path, KEY.verifier, [note])
    assert report.ok == (left >= size)
    if left < size:
        assert "cut off" in report.findings[0].what or "log" in report.findings[0].what


def test_a_cut_tail_that_was_filled_up_again(copy):
    path = copy()
    note = latest_note(path)
    rows = rows_of(path)
    kept = rows[: open_note(note).size - 3]
    filled = [rebuilt(rows[0], raw, len(kept) + i + 1) for i, (_, raw) in enumerate(plain(10))]
    rewrite(path, kept + filled)
    assert check_ledger(path, KEY.verifier).ok
    assert "not those that were signed" in check_ledger(path, KEY.verifier, [note]).findings[0].what


def test_a_checkpoint_by_another_key(copy):
    """A forger signs a ledger of their own, with a key of the same name."""
    path = copy()
    other = SigningKey.new(KEY.name)
    assert not check_ledger(path, other.verifier).ok
    folder = path.parent / "forged"
    asyncio.run(fill(folder / "ledger.db", other))
    assert check_ledger(folder / "ledger.db").ok
    findings = check_ledger(folder / "ledger.db", KEY.verifier).findings
    assert len(findings) == 2
    assert all("not by the pinned key" in f.what for f in findings)


def test_a_checkpoint_event_about_something_else(copy):
    """Signed by the right key, but not over the tree that ends with the layer it names."""
    path = copy()

    async def add() -> None:
        store = await Store.open(path)
        with Reader(path) as reader:
            frozen = find_checkpoint(reader, "C1")
        good = await sign_frozen(store, KEY, Committed(frozen.seq, frozen.raw))
        wrong = [
            CheckpointSigned(name="C9", note=good.note, frozen_seq=good.frozen_seq, tree_size=good.tree_size),
            CheckpointSigned(name="C1", note=good.note, frozen_seq=good.frozen_seq, tree_size=3),
            CheckpointSigned(name="C1", note="C1 is signed.\n", frozen_seq=good.frozen_seq, tree_size=3),
        ]
        await store.append([pair("checkpoint.signed", "ledger", data) for data in wrong])
        await store.close()

    asyncio.run(add())
    assert {f.seq for f in check_ledger(path, KEY.verifier).findings} == {23, 24, 25}


def test_events_that_the_service_would_have_refused(copy):
    path = copy()
    rows = rows_of(path)
    verdict = pair("verdict.given", "governor", VerdictGiven(verdict="accepted", reason="good"))[1]
    raws = [
        verdict.replace(b'"governor"', b'"proposer"'),
        plain(1)[0][1].replace(b"run.finished", b"run.abandoned"),
        plain(1)[0][1].replace(b'"public"', b'"privileged"'),
        plain(1)[0][1].replace(b'"reason":"event 0"', b'"reason":0'),
        plain(1)[0][1].replace(RUN.encode(), b"another"),
    ]
    rewrite(path, rows + [rebuilt(rows[0], raw, len(rows) + i + 1) for i, raw in enumerate(raws)])
    assert [f.seq for f in check_ledger(path).findings] == [23, 24, 25, 26, 27]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER events_no_delete",
        "DROP TRIGGER events_in_order",
        "CREATE TRIGGER quiet BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TABLE extra (x)",
        "CREATE VIEW extra AS SELECT * FROM events",
    ],
)
def test_a_changed_schema(copy, statement):
    path = copy()
    db = sqlite3.connect(path)
    db.execute(statement)
    db.close()
    assert any(f.seq == 0 for f in check_ledger(path).findings)


def test_triggers_that_only_look_right(copy):
    path = copy()
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER events_no_update")
    db.execute("CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT 1; END")
    db.close()
    assert "events_no_update is not defined as it should be" in check_ledger(path).findings[0].what


def test_missing_and_changed_blobs(copy):
    path = copy()
    files = sorted(p for p in (path.parent / "blobs").rglob("*") if p.is_file())
    files[0].unlink()
    files[1].write_bytes(b"changed")
    findings = check_ledger(path).findings
    assert [f.seq for f in findings] == [2, 2]
    assert {"is not in" in f.what for f in findings} == {True, False}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bytes_of_the_file_itself(run, tmp_path, data):
    """Below SQLite: any byte that belongs to an event's text."""
    whole = run.read_bytes()
    with Reader(run) as reader:
        raw = data.draw(st.sampled_from([c.raw for c in reader.events() if len(c.raw) < 900]))
    start = whole.find(raw)
    assert start > 0
    at = start + data.draw(st.integers(0, len(raw) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[at]))
    path = tmp_path / "ledger.db"
    path.write_bytes(whole[:at] + bytes((byte,)) + whole[at + 1 :])
    report = check_ledger(path, blobs=run.parent / "blobs")
    assert not report.ok


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_crashes_the_verification(run, tmp_path, data):
    """Any stretch of the file, headers and indices included, overwritten or cut off."""
    whole = bytearray(run.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=64))
    whole[at : at + len(junk)] = junk
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(1, len(whole) - 1)) :]
    path = tmp_path / "ledger.db"
    path.write_bytes(whole)
    try:
        report = check_ledger(path, KEY.verifier, [latest_note(run)], blobs=run.parent / "blobs")
    except LedgerError:
        return
    if report.ok:  # the damage lay where nothing is kept
        assert rows_of(path) == rows_of(run)


def test_nothing_to_verify(tmp_path):
    with pytest.raises(LedgerMissing):
        check_ledger(tmp_path / "ledger.db")
    (tmp_path / "ledger.db").write_bytes(b"")
    with pytest.raises(NotALedger):
        check_ledger(tmp_path / "ledger.db")


def test_a_later_checkpoint_extends_an_earlier_one(run, tmp_path):
    with Reader(run) as reader:
        assert [(f.name, f.seq, f.signed.tree_size) for f in checkpoints(reader)] == [
            ("C1", 9, 9),
            ("B1", 17, 17),
        ]
        old, new = (open_note(f.signed.note, KEY.verifier) for f in checkpoints(reader))
        proof = prove_extends(reader, old, new.size)
        verify_extends(old, new, proof)
        with pytest.raises(ProofFailed):
            verify_extends(old, new, proof[1:])
        with pytest.raises(LedgerError, match="cannot extend"):
            prove_extends(reader, new, old.size)
        with pytest.raises(LedgerError, match="it has C1, B1"):
            find_checkpoint(reader, "C7")
    # The same run written anew has another history.
    asyncio.run(fill(tmp_path / "ledger.db", KEY))
    with Reader(tmp_path / "ledger.db") as reader:
        other = open_note(find_checkpoint(reader, "B1").signed.note, KEY.verifier)
        with pytest.raises(ProofFailed):
            verify_extends(old, other, prove_extends(reader, old, other.size))
    elsewhere = type(new)("lab.example/elsewhere", new.size, new.root)
    with pytest.raises(NoteRefused, match="different logs"):
        verify_extends(old, elsewhere, proof)
