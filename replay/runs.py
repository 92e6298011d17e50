"""The runs of a home folder: finding one by name, and listing all with how they stand."""

import fcntl
import os
from pathlib import Path

import msgspec

from ..ledger.errors import LedgerError
from .errors import ReplayError, UnknownRun
from .state import LEDGER, State, state_at


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """One run in short. A run that cannot be read has state `unreadable` and says why in `problem`."""

    name: str
    path: str
    state: str  # new, running, interrupted, finished or unreadable
    events: int = 0
    started: str = ""
    latest: str = ""
    elapsed: float = 0.0
    suite: str = ""
    rounds: tuple[str, ...] = ()  # closed ones
    episodes: int = 0
    accepted: int = 0
    rejected: int = 0
    skills: int = 0
    checkpoints: tuple[str, ...] = ()
    cost: float = 0.0
    problem: str = ""


def default_home() -> Path:
    """`$SKILL2REAL_HOME`, else `runs` in the current folder."""
    return Path(os.environ.get("SKILL2REAL_HOME") or "runs")


def run_folders(home: Path | None = None) -> dict[str, Path]:
    """Folders of the runs under `home` by name, in the order of names."""
    home = default_home() if home is None else Path(home)
    if not home.is_dir():
        return {}
    return {path.name: path for path in sorted(home.iterdir()) if (path / LEDGER).is_file()}


def find_run(home: Path | None, name: str) -> Path:
    """The folder of a run, by its name under `home` or by its path.

    Raises UnknownRun with the runs that there are.
    """
    home = default_home() if home is None else Path(home)
    found = run_folders(home)
    if name in found:
        return found[name]
    path = Path(name)
    if path.name == LEDGER and path.is_file():
        path = path.parent
    if len(path.parts) > 1 and (path / LEDGER).is_file():
        return path
    known = f"its runs are {', '.join(found)}" if found else "it has none yet; `skill2real train` makes one"
    raise UnknownRun(f"There is no run {name!r} in {home}: {known}.")


def list_runs(home: Path | None = None) -> tuple[RunLine, ...]:
    """All runs under `home`, by name. A run that cannot be read is listed with its problem."""
    return tuple(_line(name, path) for name, path in run_folders(home).items())


def run_state(state: State) -> str:
    """How a run stands: a run that did not finish and that nobody writes now was interrupted."""
    if state.run.state == "running" and not _is_written(state.path):
        return "interrupted"
    return state.run.state


def _line(name: str, path: Path) -> RunLine:
    try:
        state = state_at(path)
    except (LedgerError, ReplayError) as error:
        return RunLine(name=name, path=str(path), state="unreadable", problem=str(error))
    run = state.run
    statuses = [candidate.status for candidate in state.candidates.candidates.values()]
    return RunLine(
        name=name,
        path=str(path),
        state=run_state(state),
        events=state.seq,
        started=run.started,
        latest=run.latest,
        elapsed=run.elapsed,
        suite=str(run.config.get("suite", "")),
        rounds=tuple(round.name for round in run.rounds.values() if round.closed),
        episodes=len(run.episodes),
        accepted=statuses.count("accepted"),
        rejected=statuses.count("rejected"),
        skills=len(state.memory.entries),
        checkpoints=tuple(run.checkpoints),
        cost=run.cost,
    )


def _is_written(path: Path) -> bool:
    """Whether a ledger service holds the run's lock now."""
    try:
        with open(path / f"{LEDGER}.lock", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
