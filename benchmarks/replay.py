"""Replay of a million events: Skill2Real's folds against the `eventsourcing` library, in one run.

    python benchmarks/replay.py [--events 1000000] [--rounds 5]

Each round measures, in turn: the folds (every envelope decoded; memory and a count of all types folded), the
same with each leaf hash computed again from the event's bytes and compared, and `eventsourcing` rebuilding
aggregates through its repository with its defaults, from an SQLite file too. Both keep the same events.
Rates are per second of processor time, so that other load on the machine weighs on neither; rates by the
clock stand beside them. Prints the figures and writes benchmarks/results/replay.json.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from skill2real.ledger.events import (
    KINDS,
    Call,
    CritiqueWritten,
    Entry,
    EpisodeFinished,
    EpisodeStarted,
    Event,
    Finding,
    MemoryChanged,
    MemoryRef,
    OutcomeMeasured,
    ProgramExecuted,
    ProgramProposed,
    Task,
    encode,
    make,
    new_id,
)
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.reader import Reader
from skill2real.ledger.store import Store
from skill2real.replay.fold import feed
from skill2real.replay.memory import MemoryFold

RESULT = Path(__file__).parent / "results" / "replay.json"
BATCH = 2_000
PEER_AGGREGATES, PEER_EVENTS = 100, 1_000  # aggregates, and events in each
TARGETS = {"replay_per_s": 500_000, "replay_hashed_per_s": 350_000, "times_eventsourcing": 10}


def run_events(number: int) -> Iterator[Event]:
    """Events as a training run makes them: episodes of six events, and a memory change every 200 episodes."""
    rng = random.Random(1)
    memory: dict[str, Entry] = {}
    made = 0
    program = (
        "view = capture()\nregion = segment(view, Box(120, 80, 190, 160))\nshape = measure_region(region)\n"
    )
    while made < number:
        episode = new_id()
        task = Task(suite="libero_90", parts=(rng.randrange(90),), instruction="put the soup in the basket")
        ran = Call(
            operation="move_to", arguments={"speed": 0.25}, result={"ok": True, "error": 0.001}, seconds=0.8
        )
        said = Finding(
            clause=0, decision="grasp", good=False, kind="slipped", region=4, direction="left", amount="hand"
        )
        batch = [
            (
                "episode.started",
                "trainer",
                EpisodeStarted(task=task, state=3, purpose="trial", memory=MemoryRef()),
            ),
            ("program.proposed", "proposer", ProgramProposed(turn=1, source=program, last=True)),
            (
                "program.executed",
                "runner",
                ProgramExecuted(
                    turn=1,
                    calls=(ran, ran),
                    printed="",
                    value=None,
                    error="",
                    unread_failures=(),
                    seconds=1.9,
                ),
            ),
            (
                "outcome.measured",
                "runner",
                OutcomeMeasured(success=True, settled=True, progress=1.0, truth={}),
            ),
            (
                "critique.written",
                "verifier",
                CritiqueWritten(text="It slipped.", findings=(said,), success=False),
            ),
            (
                "episode.finished",
                "runner",
                EpisodeFinished(
                    status="done",
                    start_digest="a" * 64,
                    end_digest="b" * 64,
                    operations=14,
                    turns=1,
                    seconds=2.1,
                ),
            ),
        ]
        if made // 1200 != (made - 6) // 1200:
            entry = Entry(
                id=f"skill-{rng.randrange(40)}",
                layer="cerebellum",
                kind="grasp",
                when="to grasp a can",
                template=program,
                state={"depth": rng.random()},
            )
            memory[entry.id] = entry
            changed = MemoryChanged(
                candidate=episode, added=(entry,), removed=(), memory_hash=memory_hash(memory.values())
            )
            batch.append(("memory.changed", "governor", changed))
        for type, actor, data in batch[: number - made]:
            yield make("replay", type, actor, data, subject=episode)
            made += 1


async def commit(path: Path, number: int) -> float:
    """Write the ledger; gives seconds spent in commits, by the clock."""
    store = await Store.open(path)
    spent, batch = 0.0, []
    for one in run_events(number):
        batch.append((one, encode(one)))
        if len(batch) == BATCH or store.head + len(batch) == number:
            begin = time.perf_counter()
            await store.append(batch)
            spent += time.perf_counter() - begin
            batch = []
    await store.close()
    return spent


class Tally:
    """Counts every event, so that none is passed over unheard."""

    types = frozenset(KINDS)

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def hear(self, seq: int, event: Event) -> None:
        self.counts[event.type] += 1


class Stopwatch:
    """Processor and clock time of a block, as events a second."""

    def __enter__(self) -> "Stopwatch":
        self._begin = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.processor, self.clock = (
            time.process_time() - self._begin[0],
            time.perf_counter() - self._begin[1],
        )


def fold(path: Path, number: int, *, rehash: bool) -> Stopwatch:
    """All events decoded and folded."""
    memory, tally = MemoryFold(), Tally()
    with Reader(path, rehash=rehash) as reader, Stopwatch() as watch:
        feed(reader, memory, tally)
    assert tally.counts.total() == number
    assert memory.entries
    assert not memory.doubts
    return watch


class PeerRun(Aggregate):
    """The same events, in the peer's way: one kind of event, its envelope and data as fields."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    @event("Said")
    def say(self, type: str, actor: str, subject: str, data: dict[str, Any]) -> None:
        self.counts[type] += 1


class PeerApplication(Application):
    """The peer with its defaults: JSON, SQLite."""


def peer_fill(folder: Path) -> tuple[PeerApplication, list[Any], float]:
    """Save the first events of the same run as aggregates; gives seconds spent saving, by the clock."""
    env = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(folder / "peer.db")}
    application = PeerApplication(env=env)
    source = run_events(PEER_AGGREGATES * PEER_EVENTS)
    ids, spent = [], 0.0
    for _ in range(PEER_AGGREGATES):
        run = PeerRun()
        for _ in range(PEER_EVENTS):
            one = next(source)
            run.say(one.type, one.actor, one.subject, msgspec.json.decode(one.data))
        begin = time.perf_counter()
        application.save(run)
        spent += time.perf_counter() - begin
        ids.append(run.id)
    return application, ids, spent


def peer_replay(application: PeerApplication, ids: list[Any]) -> Stopwatch:
    """All aggregates rebuilt by the peer's repository."""
    with Stopwatch() as watch:
        runs = [application.repository.get(id) for id in ids]
    assert sum(run.counts.total() for run in runs) == PEER_AGGREGATES * PEER_EVENTS
    return watch


def measure(number: int, rounds: int, folder: Path) -> dict[str, Any]:
    path = folder / "ledger.db"
    spent = asyncio.run(commit(path, number))
    with sqlite3.connect(path) as db:
        (size,) = db.execute("SELECT avg(length(raw)) FROM events WHERE seq <= 10000").fetchone()
    application, ids, peer_spent = peer_fill(folder)
    taken = []
    for _ in range(rounds):
        watches = {
            "replay": (number, fold(path, number, rehash=False)),
            "replay_hashed": (number, fold(path, number, rehash=True)),
            "eventsourcing": (PEER_AGGREGATES * PEER_EVENTS, peer_replay(application, ids)),
        }
        one = {f"{name}_per_s": events / watch.processor for name, (events, watch) in watches.items()}
        one |= {f"{name}_per_clock_s": events / watch.clock for name, (events, watch) in watches.items()}
        one["times_eventsourcing"] = one["replay_per_s"] / one["eventsourcing_per_s"]
        taken.append(one)
        print("  ".join(f"{name} {value:,.1f}" for name, value in one.items()), flush=True)
    figures = {name: statistics.median(one[name] for one in taken) for name in taken[0]} | {
        "append_per_clock_s": number / spent,
        "eventsourcing_append_per_clock_s": PEER_AGGREGATES * PEER_EVENTS / peer_spent,
    }
    return {
        "events": number,
        "bytes_an_event": round(size),
        "eventsourcing_events": PEER_AGGREGATES * PEER_EVENTS,
        "figures": {name: round(value, 1) for name, value in figures.items()},
        "rounds": [{name: round(value, 1) for name, value in one.items()} for one in taken],
        "targets": TARGETS,
        "met": {name: figures[name] >= wanted for name, wanted in TARGETS.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skill2real-replay-") as folder:
        found = measure(options.events, options.rounds, Path(folder))
    found |= {
        "command": f"python benchmarks/replay.py --events {options.events} --rounds {options.rounds}",
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            **{name: version(name) for name in ("aiosqlite", "eventsourcing", "msgspec")},
        },
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=2) + "\n")
    for name, value in found["figures"].items():
        wanted = f"   (target {TARGETS[name]:,})" if name in TARGETS else ""
        print(f"{name:32} {value:>14,.1f}{wanted}")
    print(f"{found['events']:,} events of {found['bytes_an_event']} bytes; written to {RESULT}")
    sys.exit(0 if all(found["met"].values()) else 1)


if __name__ == "__main__":
    main()
