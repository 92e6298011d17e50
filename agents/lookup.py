"""Finding what a command names; where there is no such thing, the error says what there is."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..backends.sim import suites
from ..ledger.checkpoint import checkpoints
from ..ledger.errors import LedgerError
from ..ledger.reader import Reader
from ..ledger.topics import is_run
from ..replay.runs import find_run, run_folders
from ..replay.state import LEDGER
from .benchmarks import BENCHMARKS, key_of, resolve
from .errors import AgentError
from .source import config_of, is_bundle


class UnknownName(AgentError):
    """A name that nothing has, that several things have, or that nothing can have."""


def nearest(name: str, known: Iterable[str], most: int = 12) -> str:
    """The known names in words, those most like `name` first."""
    names = list(dict.fromkeys(known))
    if not names:
        return "none"
    close = difflib.get_close_matches(name, names, n=most, cutoff=0.5)
    shown = [*close, *(other for other in names if other not in close)][:most]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more


def check_run_name(name: str) -> None:
    """Raises UnknownName for a name that no run can have."""
    if not is_run(name):
        raise UnknownName(
            f"A run cannot be called {name!r}; use up to 64 letters, digits, dots, dashes and underscores, "
            "beginning with a letter or digit."
        )


def check_checkpoint(home: Path, run: str, name: str) -> None:
    """Raises UnknownName with the run's checkpoints unless it has this one, UnknownRun for the run."""
    with Reader(find_run(home, run) / LEDGER) as reader:
        known = [frozen.name for frozen in checkpoints(reader)]
    if name not in known:
        raise UnknownName(f"Run {run} has no checkpoint {name!r}; it has {nearest(name, known)}.")


def run_with(home: Path, checkpoint: str) -> str:
    """The one run under `home` that has this checkpoint. Raises UnknownName if none or several have."""
    found: dict[str, list[str]] = {}
    for run, path in run_folders(home).items():
        try:
            with Reader(path / LEDGER) as reader:
                found[run] = [frozen.name for frozen in checkpoints(reader)]
        except LedgerError:
            continue  # `runs` lists it with its problem
    having = [run for run, names in found.items() if checkpoint in names]
    if not having:
        known = nearest(checkpoint, (name for names in found.values() for name in names))
        raise UnknownName(
            f"There is no file {checkpoint!r}, and no run in {home} has such a checkpoint; known: {known}."
        )
    if len(having) > 1:
        raise UnknownName(
            f"Several runs have a checkpoint {checkpoint!r}: {nearest('', having)}; say which with --run."
        )
    return having[0]


def locate(checkpoint: str, run: str | None, home: Path) -> tuple[str, str | None]:
    """Run and checkpoint, or bundle file and None, as `deploy` was asked. Raises UnknownName, UnknownRun."""
    if run is None and is_bundle(checkpoint):
        return checkpoint, None
    if run is None:
        return run_with(home, checkpoint), checkpoint
    check_checkpoint(home, run, checkpoint)
    return run, checkpoint


def known_suites() -> list[tuple[str, int, str]]:
    """Name, number of tasks and, of a benchmark, what it is; benchmarks first."""
    own = [(one.name, len(resolve(one.name)), one.about) for one in BENCHMARKS.values()]
    return [*own, *((name, suites.count_tasks(name), "") for name in suites.list_suites())]


def tasks_of(suite: str) -> list[tuple[str, str, int]]:
    """Name, instruction and number of initial states of each task. Raises UnknownSuite."""
    several = suite in BENCHMARKS and len(BENCHMARKS[suite].suites) > 1
    return [
        (
            key_of(task) if several else key_of(task).rpartition("/")[2],
            task.instruction,
            suites.load_task(task.suite, task.parts).states,
        )
        for task in resolve(suite)
    ]


def recorded_config(home: Path, run: str) -> dict[str, Any]:
    """The configuration that a run was started with, {} for a run that did not get so far."""
    with Reader(find_run(home, run) / LEDGER) as reader:
        return config_of(reader)
