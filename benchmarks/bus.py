"""How fast the bus commits: publish → commit → acknowledgement against raw SQLite, in one run.

    python benchmarks/bus.py [--events 20000] [--rounds 3] [--patience 0]

The same event bytes go (1) straight into SQLite, 256 a commit, synchronous FULL, and (2) through a broker to
the ledger service, which runs in a process of its own, and back as acknowledgements, with 1, 16 and 64 events
a message. Each round measures all of them; figures are medians over rounds, ratios those within a round.
Publisher, broker and service work at the same time, raw SQLite alone: the ratios need two idle cores. Rounds
in which other programs took more than a tenth of a core are measured again while --patience (seconds) lasts;
the cores that others took are among the figures.
"""

import argparse
import asyncio
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "ledger"))

import psutil
from brokers import MOSQUITTO, mosquitto

from skill2real.ledger import events, outbox
from skill2real.ledger.bus import Bus
from skill2real.ledger.credentials import random_passwords
from skill2real.ledger.local import LocalBus, local_bus

SIZES = (64, 16, 1)
QUIET = 0.1  # cores that other programs may take in a round
TARGETS = {"ratio_64": 0.4, "ratio_16": 0.2, "single_p50_ms": 3.0}
RESULT = Path(__file__).resolve().parent / "results" / "bus.json"


def sample(run: str, count: int) -> list[events.Event]:
    """Programs of about 1 kB."""
    source = "plate = measure_region(segment(view, Box(10, 20, 30, 40)))\n" * 12
    return [
        events.make(
            run, "program.proposed", "proposer", events.ProgramProposed(turn=n, source=source, last=False)
        )
        for n in range(count)
    ]


def raw_sqlite(folder: Path, encoded: list[tuple[str, bytes]]) -> float:
    """Events a second of bare group commit."""
    db = sqlite3.connect(folder / "raw.db", isolation_level="IMMEDIATE")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute(
        "CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, raw BLOB NOT NULL) STRICT"
    )
    start = time.perf_counter()
    for at in range(0, len(encoded), 256):
        db.executemany("INSERT INTO events (id, raw) VALUES (?, ?)", encoded[at : at + 256])
        db.commit()
    seconds = time.perf_counter() - start
    db.close()
    (folder / "raw.db").unlink()
    return len(encoded) / seconds


async def throughput(bus: Bus, said: list[events.Event], size: int) -> float:
    """Events a second from the first publication to the last acknowledgement, `size` events a message."""
    outbox.MESSAGE_EVENTS = size
    start = time.perf_counter()
    parts = iter([said[at : at + 256] for at in range(0, len(said), 256)])

    async def worker() -> None:
        for part in parts:
            await bus.publish(*part)

    await asyncio.gather(*(worker() for _ in range(16)))
    return len(said) / (time.perf_counter() - start)


async def latency(bus: Bus, run: str, count: int) -> tuple[float, float]:
    """Median and 99th percentile of a single event's acknowledgement, in milliseconds."""
    times = []
    for event in sample(run, count):
        start = time.perf_counter()
        await bus.publish(event)
        times.append(1e3 * (time.perf_counter() - start))
    cuts = statistics.quantiles(times, n=100)
    return statistics.median(times), cuts[98]


def cpu_seconds() -> tuple[float, float]:
    """CPU time of the whole machine, and of this process and its children."""
    times, me = psutil.cpu_times(), psutil.Process()
    everyone = sum(times) - times.idle - getattr(times, "iowait", 0.0)
    mine = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return everyone, sum(one.user + one.system for one in mine)


async def measure(kind: str, home: Path, rounds: int, count: int, patience: float) -> list[dict[str, float]]:
    """The least disturbed rounds."""
    passwords = random_passwords()
    found: list[dict[str, float]] = []
    end = time.monotonic() + patience

    def enough() -> bool:
        quiet = [one for one in found if one["others_cores"] <= QUIET]
        return len(quiet) >= rounds or (len(found) >= rounds and time.monotonic() > end)

    async def go(local: LocalBus) -> None:
        while not enough():
            start, before = time.monotonic(), cpu_seconds()
            run = f"{kind}-{len(found)}"
            opening = events.RunStarted(config={}, seeds={}, packages={}, api_hash="")
            async with local.connect(run, "trainer") as trainer, local.connect(run, "proposer") as bus:
                await trainer.publish(events.make(run, "run.started", "trainer", opening))
                encoded = [(event.id, events.encode(event)) for event in sample(run, count)]
                figures = {"raw": raw_sqlite(home, encoded)}
                for size in SIZES:
                    said = sample(run, count if size > 1 else count // 8)
                    figures[f"events_{size}"] = await throughput(bus, said, size)
                figures["raw"] = (figures["raw"] + raw_sqlite(home, encoded)) / 2
                figures["single_p50_ms"], figures["single_p99_ms"] = await latency(bus, run, 300)
            for size in SIZES:
                figures[f"ratio_{size}"] = figures[f"events_{size}"] / figures["raw"]
            everyone, mine = (now - then for now, then in zip(cpu_seconds(), before, strict=True))
            figures["others_cores"] = (everyone - mine) / (time.monotonic() - start)
            found.append(figures)

    if kind == "embedded":
        async with local_bus(home, passwords=passwords) as local:
            await go(local)
    else:
        with mosquitto(home / "mosquitto", passwords) as (url, _):
            async with local_bus(home, broker=url, passwords=passwords) as local:
                await go(local)
    return sorted(found, key=lambda one: one["others_cores"])[:rounds]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=0.0)
    parser.add_argument("--folder", help="where the ledgers are written; default: a temporary folder")
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args()
    brokers: dict[str, dict[str, object]] = {}
    for kind in ("embedded", "mosquitto"):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            found = asyncio.run(measure(kind, Path(folder), options.rounds, options.events, options.patience))
        figures = {name: round(statistics.median(one[name] for one in found), 3) for name in found[0]}
        met = {
            name: figures[name] <= target if name.endswith("ms") else figures[name] >= target
            for name, target in TARGETS.items()
        }
        brokers[kind] = {"figures": figures, "targets_met": met, "rounds": found}
        print(f"{kind:10}", "  ".join(f"{name} {value:,.2f}" for name, value in figures.items()))
        print(f"{'':10}", "  ".join(f"{name}: {'met' if ok else 'MISSED'}" for name, ok in met.items()))
    packages = ("amqtt", "aiomqtt", "paho-mqtt", "aiosqlite", "msgspec")
    assert MOSQUITTO
    help_text = subprocess.run([MOSQUITTO, "-h"], capture_output=True, text=True).stdout
    result = {
        "command": "python benchmarks/bus.py " + " ".join(sys.argv[1:]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"cpus": os.cpu_count(), "load": os.getloadavg()[0], "system": platform.platform()},
        "versions": {
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "mosquitto": help_text.split("\n")[0].removeprefix("mosquitto version "),
            **{name: version(name) for name in packages},
        },
        "targets": TARGETS,
        "brokers": brokers,
    }
    if not options.no_write:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=2) + "\n")
        print(f"written to {RESULT.relative_to(RESULT.parents[2])}")


if __name__ == "__main__":
    main()
