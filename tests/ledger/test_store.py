"""The store: one order, each id once, append-only, durable, and alive after whatever goes wrong."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from samples import make_ledger, pair, plain

from skill2real.ledger.check import check_ledger
from skill2real.ledger.errors import (
    DiskFull,
    EventChanged,
    LedgerBusy,
    LedgerError,
    LedgerMissing,
    LedgerTooNew,
    NotALedger,
)
from skill2real.ledger.events import CritiqueBlocked, decode
from skill2real.ledger.merkle import Tree, leaf_hash, verify_consistency, verify_inclusion
from skill2real.ledger.reader import Reader
from skill2real.ledger.store import CONFLICT, Committed, Store

REST = "subject, visibility, leaf, raw FROM events WHERE seq = 2"


def with_store(path: Path, use):
    async def main():
        store = await Store.open(path)
        try:
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(main())


def test_numbers_without_gaps_and_the_publishers_bytes(tmp_path):
    events = plain(30)

    async def use(store):
        assert store.head == 0
        assert await store.append([]) == []
        assert await store.append(events[:10]) == list(range(1, 11))
        assert await store.append(events[10:]) == list(range(11, 31))
        assert store.head == 30
        return await store.read(0, 100)

    stored = with_store(tmp_path / "run" / "ledger.db", use)
    assert stored == [Committed(i + 1, raw) for i, (_, raw) in enumerate(events)]


def test_an_id_is_committed_once(tmp_path):
    events = plain(6)

    async def use(store):
        await store.append(events[:3])
        assert await store.append([events[1], events[4], events[4], events[0]]) == [2, 4, 4, 1]
        # The same id with other bytes is refused, whether the first came before or in this batch.
        event, raw = events[1]
        other, other_raw = events[5]
        batch = [(event, raw + b" "), (other, other_raw), (other, other_raw + b" ")]
        assert await store.append(batch) == [CONFLICT, 5, CONFLICT]
        assert [c.raw for c in await store.read(0, 10)] == [events[i][1] for i in (0, 1, 2, 4, 5)]

    with_store(tmp_path / "ledger.db", use)


def test_reads_by_visibility(tmp_path):
    blocked = [pair("critique.blocked", "verifier", CritiqueBlocked(text="x", reason="y")) for _ in range(3)]
    public = plain(3)
    mixed = [event for both in zip(public, blocked, strict=True) for event in both]

    async def use(store):
        assert await store.last("privileged") == 0
        await store.append(mixed)
        assert [c.seq for c in await store.read(0, 10, "public")] == [1, 3, 5]
        assert [c.seq for c in await store.read(2, 10, "privileged")] == [4, 6]
        assert [c.seq for c in await store.read(1, 2)] == [2, 3]
        assert (await store.last("public"), await store.last("privileged")) == (5, 6)

    with_store(tmp_path / "ledger.db", use)


def test_proofs_of_the_stored_tree(tmp_path):
    events = plain(25)
    tree = Tree(leaf_hash(raw) for _, raw in events)

    async def use(store):
        await store.append(events[:9])
        old = await store.tree()
        assert old == (9, tree.root(9))
        await store.append(events[9:])
        size, root = await store.tree()
        assert (size, root) == (25, tree.root())
        verify_inclusion(leaf_hash(events[6][1]), 6, 25, await store.inclusion(7, 25), root)
        verify_consistency(9, 25, await store.consistency(9, 25), old[1], root)
        with pytest.raises(LedgerError, match="25 events"):
            await store.tree(26)

    with_store(tmp_path / "ledger.db", use)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET actor = 'governor' WHERE seq = 2",
        "UPDATE events SET raw = x'00'",
        "DELETE FROM events WHERE seq = 2",
        f"INSERT OR REPLACE INTO events SELECT seq, id, type, version, 'governor', {REST}",
        f"INSERT OR REPLACE INTO events SELECT 23, id, type, version, 'governor', {REST}",
        f"INSERT OR IGNORE INTO events SELECT 40, 'x', type, version, actor, {REST}",
        f"INSERT INTO events (id, type, version, actor, subject, visibility, leaf, raw)"
        f" SELECT 'x', type, version, actor, {REST}",
        f"REPLACE INTO events SELECT 2, 'x', type, version, actor, {REST}",
    ],
)
@pytest.mark.parametrize("recursive", ["ON", "OFF"])
def test_triggers_refuse_changes_from_any_connection(tmp_path, statement, recursive):
    path = make_ledger(tmp_path, None, tail=6)
    with Reader(path) as reader:
        before = list(reader.events())
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA recursive_triggers = {recursive}")
    assert len(before) == 22
    with pytest.raises(sqlite3.IntegrityError):
        db.execute(statement)
    db.rollback()
    db.close()
    with Reader(path) as reader:
        assert list(reader.events()) == before


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER events_no_delete",
        "DROP TABLE events",
        "DELETE FROM events",
        "UPDATE events SET raw = x'00'",
        "PRAGMA recursive_triggers = OFF",
        "PRAGMA writable_schema = ON",
        "CREATE TABLE other (x)",
        "ATTACH ':memory:' AS other",
        "INSERT INTO sqlite_sequence VALUES ('events', 1)",
    ],
)
def test_the_services_own_connection_may_only_insert(tmp_path, statement):
    async def use(store):
        with pytest.raises(sqlite3.DatabaseError):
            await store._writer.execute(statement)
        assert await store.append(plain(1)) == [1]

    with_store(tmp_path / "ledger.db", use)


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "ledger.db"

    async def use(store):
        with pytest.raises(LedgerBusy, match="another process"):
            await Store.open(path)

    with_store(path, use)
    with_store(path, lambda store: store.append(plain(1)))


def test_what_is_not_a_ledger_is_left_alone(tmp_path):
    text = tmp_path / "text.db"
    text.write_bytes(b"These are notes, and not a ledger at all.\n" * 100)
    other = tmp_path / "other.db"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE t (x)")
    db.commit()
    db.close()
    newer = tmp_path / "newer.db"
    asyncio.run(_touch(newer))
    db = sqlite3.connect(newer)
    db.execute("PRAGMA user_version = 99")
    db.close()
    for path, error in ((text, NotALedger), (other, NotALedger), (newer, LedgerTooNew)):
        before = path.read_bytes()
        for opened in (lambda p=path: asyncio.run(Store.open(p)), lambda p=path: Reader(p)):
            with pytest.raises(error, match=path.name):
                opened()
        assert path.read_bytes() == before
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LedgerError, match="name another place"):
        asyncio.run(Store.open(tmp_path / "file" / "ledger.db"))
    for absent in (tmp_path / "absent.db", tmp_path):
        with pytest.raises(LedgerMissing):
            Reader(absent)


async def _touch(path: Path) -> None:
    store = await Store.open(path)
    await store.close()


def test_a_cancelled_append_ends_its_transaction(tmp_path):
    first, second = plain(2000), plain(3)

    async def use(store):
        for delay in (0.0, 0.001):
            task = asyncio.ensure_future(store.append(first))
            await asyncio.sleep(delay)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        numbers = await store.append(second)
        assert numbers == [2001, 2002, 2003]

    with_store(tmp_path / "ledger.db", use)


def test_disk_full_commits_nothing_and_the_store_goes_on(tmp_path):
    async def use(store):
        await store.append(plain(10))
        await store._writer.set_authorizer(None)
        async with store._writer.execute("PRAGMA page_count") as cursor:
            (pages,) = await cursor.fetchone()
        await store._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
        batch = plain(500)
        for _ in range(2):
            with pytest.raises(DiskFull, match="free some space"):
                await store.append(batch)
            assert store.head == 10
            assert len(await store.read(0, 1000)) == 10
        await store._writer.execute("PRAGMA max_page_count = 100000")
        assert await store.append(batch) == list(range(11, 511))

    with_store(tmp_path / "ledger.db", use)
    assert check_ledger(tmp_path / "ledger.db").ok


def child(code: str, *arguments: str, **more) -> subprocess.Popen:
    """A Python process with the samples of this folder."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], env=environment, text=True, **more
    )


def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path):
    """As with a quota: the system's write fails, not SQLite's own count of pages."""
    code = """
        import asyncio, resource, sys
        from pathlib import Path
        from samples import plain
        from skill2real.ledger.errors import DiskFull
        from skill2real.ledger.store import Store

        async def main():
            resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, resource.RLIM_INFINITY))
            try:
                await Store.open(Path(sys.argv[1]))
            except DiskFull:
                pass
            else:
                raise SystemExit("there was room to begin")
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            store = await Store.open(Path(sys.argv[1]))
            await store.append(plain(10))
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
            batch = plain(4000)
            try:
                await store.append(batch)
            except DiskFull:
                assert store.head == 10, store.head
            else:
                raise SystemExit("was not full")
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert await store.append(batch) == list(range(11, 4011))
            await store.close()

        asyncio.run(main())
    """
    path = tmp_path / "ledger.db"
    assert child(code, str(path)).wait(timeout=60) == 0
    report = check_ledger(path)
    assert report.ok
    assert report.events == 4010


def test_kill_9_loses_and_doubles_nothing(tmp_path):
    """Each killed process leaves batches in flight; the next one retries them, as publishers do."""
    code = """
        import asyncio, pickle, sys
        from pathlib import Path
        from samples import plain
        from skill2real.ledger.events import decode
        from skill2real.ledger.store import Store

        async def main():
            path, flight = Path(sys.argv[1]), Path(sys.argv[2])
            store = await Store.open(path)
            if flight.exists():
                batch = [(decode(raw), raw) for raw in pickle.loads(flight.read_bytes())]
                for seq, (event, _) in zip(await store.append(batch), batch):
                    print(seq, event.id, flush=True)
            while True:
                batch = plain(7)
                flight.with_suffix(".new").write_bytes(pickle.dumps([raw for _, raw in batch]))
                flight.with_suffix(".new").replace(flight)
                for seq, (event, _) in zip(await store.append(batch), batch):
                    print(seq, event.id, flush=True)

        asyncio.run(main())
    """
    path, flight = tmp_path / "ledger.db", tmp_path / "flight"
    acknowledged: dict[str, int] = {}
    for kill in range(6):
        process = child(code, str(path), str(flight), stdout=subprocess.PIPE)
        assert process.stdout is not None
        wanted = 40 + 31 * kill
        for _ in range(wanted):
            line = process.stdout.readline()
            assert line, "the writer ended by itself"
            _acknowledge(acknowledged, line)
        process.send_signal(signal.SIGKILL)
        for line in process.stdout.read().splitlines(keepends=True):
            if line.endswith("\n"):
                _acknowledge(acknowledged, line)
        process.wait()
    with Reader(path) as reader:
        stored = {decode(raw).id: seq for seq, raw in reader.events()}
        assert len(stored) == reader.head
    assert acknowledged.items() <= stored.items()
    # At most the last batch is in the ledger without having been acknowledged.
    assert len(stored) - len(acknowledged) <= 7
    assert check_ledger(path).ok


def _acknowledge(acknowledged: dict[str, int], line: str) -> None:
    seq, id = line.split()
    assert acknowledged.setdefault(id, int(seq)) == int(seq)


def test_a_reader_beside_the_writer(tmp_path):
    path = tmp_path / "ledger.db"
    events = plain(50)

    async def use(store):
        await store.append(events[:20])
        with Reader(path) as reader:
            assert reader.head == 20
            reading = reader.events()
            assert next(reading).seq == 1
            await store.append(events[20:])
            # What was asked for stands: the head when the reading began.
            assert [c.seq for c in reading] == list(range(2, 21))
            assert reader.head == 50
            assert [c.seq for c in reader.events(after=44, upto=47)] == [45, 46, 47]
            assert reader.by_id(events[33][0].id) == Committed(34, events[33][1])
            assert reader.by_id("unknown") is None
            assert reader.at(34).raw == events[33][1]
            with pytest.raises(LedgerError, match="its last is 50"):
                reader.at(51)
            assert reader.tree(33).root(33) == Tree(leaf_hash(raw) for _, raw in events[:33]).root()
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                reader._db.execute("DELETE FROM events")

    with_store(path, use)


def test_a_reader_that_hashes_again_stops_at_a_changed_event(tmp_path):
    path = make_ledger(tmp_path, None)
    with Reader(path) as plainly, Reader(path, rehash=True) as again:
        assert list(again.events()) == list(plainly.events())
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER events_no_update")
    db.execute("UPDATE events SET raw = CAST(replace(raw, 'event 1', 'event 7') AS BLOB) WHERE seq = 4")
    db.commit()
    db.close()
    with Reader(path, rehash=True) as reader:
        assert len(list(reader.events(upto=3))) == 3
        with pytest.raises(EventChanged, match="Event 4"):
            list(reader.events())


def test_a_ledger_on_a_read_only_medium():
    """The folder may not be written, so that SQLite cannot make its index of the log."""
    code = """
        import os, sys
        from pathlib import Path
        from skill2real.ledger.check import check_ledger
        from skill2real.ledger.reader import Reader

        if os.geteuid() == 0:
            os.setuid(65534)  # root may write anywhere
        path = Path(sys.argv[1])
        try:
            (path.parent / "new").touch()
        except PermissionError:
            pass
        else:
            raise SystemExit("the folder can be written: this shows nothing")
        with Reader(path) as reader:
            assert len(list(reader.events())) == reader.head == 22
        assert check_ledger(path).ok
    """
    with tempfile.TemporaryDirectory() as folder:
        path = make_ledger(Path(folder) / "run", None, tail=6)
        for one in (Path(folder), path.parent):
            one.chmod(0o555)
        assert child(code, str(path)).wait(timeout=60) == 0
        for one in (Path(folder), path.parent):
            one.chmod(0o755)


def test_a_reader_filters(tmp_path):
    path = make_ledger(tmp_path, None)
    with Reader(path) as reader:
        everything = [(c.seq, decode(c.raw)) for c in reader.events()]
        assert [s for s, _ in reader.events(types=("layer.frozen", "run.started"))] == [
            s for s, e in everything if e.type in ("layer.frozen", "run.started")
        ]
        assert [s for s, _ in reader.events(actor="governor")] == [
            s for s, e in everything if e.actor == "governor"
        ]
        assert list(reader.events(types=())) == []
        assert list(reader.events(subject="nothing", visibility="public")) == []
