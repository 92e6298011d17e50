"""Controls and ablations by name: each one training run and one evaluation, by one command.

All learn the subset with the same seed but for what they change, and are evaluated on it and on Pro Long.
Controls that only use less of the same memory share one run.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ..replay.runs import run_folders, run_state
from ..replay.state import state_at
from . import session
from .benchmarks import SUBSET_OF, default_seeds, subset
from .config import RunConfig
from .director import Progress
from .errors import ConfigError
from .evaluation import Arm, EvalPlan, evaluate
from .record import evaluation_record

SEED = 1
SUBSET_SEEDS = 5  # held-out states of each task that was learned


@dataclass(frozen=True)
class Control:
    """changes: to the configuration of the run. arm: of its memory that is used."""

    what: str
    changes: dict[str, Any] = field(default_factory=dict)
    arm: Arm = "both"


CONTROLS = {
    "both": Control("what all others are compared with: both layers"),
    "cerebellum": Control("the same memory, only the Cerebellum used", arm="cerebellum"),
    "brain": Control("the same memory, only the Brain used", arm="brain"),
    "empty": Control("the same learner with an empty memory", arm="empty"),
    "no-verifier": Control("nobody says what went wrong", {"verifier": "none"}),
    "public-verifier": Control("a Verifier that sees only what the Proposer sees", {"verifier": "public"}),
    "shuffled": Control(
        "critiques and outcomes of other episodes: nothing may be gained", {"verifier": "shuffled"}
    ),
    "no-governor": Control("every candidate that passes the screens is accepted", {"governor": "none"}),
    "seven-cerebellum": Control(
        "seven rounds in the Cerebellum, none in the Brain", {"cerebellum_rounds": 7, "brain_rounds": 0}
    ),
    "renamed": Control("every noun is a made-up word", {"rename": True}),
    "seed-1": Control("spread over independent runs, the first: the same run as `both`"),
    "seed-2": Control("spread over independent runs, the second", {"seed": 2}),
    "seed-3": Control("spread over independent runs, the third", {"seed": 3}),
}


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is played. tasks: () for the subset. evaluated: benchmarks with their tasks (() for all) and
    held-out states a task."""

    tasks: tuple[str, ...] = ()
    changes: dict[str, Any] = field(default_factory=dict)  # to every run's configuration, such as episodes
    evaluated: tuple[tuple[str, tuple[str, ...], int], ...] = ()
    workers: int = 2

    def benchmarks(self) -> tuple[tuple[str, tuple[str, ...], int], ...]:
        own = (SUBSET_OF, self.tasks or subset(), SUBSET_SEEDS)
        return self.evaluated or (own, ("pro_long", (), default_seeds("pro_long")))


def find(name: str) -> Control:
    """Raises ConfigError with the names that there are."""
    if name not in CONTROLS:
        raise ConfigError(f"there is no control {name!r}; there are {', '.join(CONTROLS)}")
    return CONTROLS[name]


def run_name(name: str) -> str:
    """Of the control's training run."""
    return f"control-{name}" if find(name).changes else "control-both"


def config_of(name: str, extent: Extent = Extent()) -> RunConfig:
    """The configuration of the control's training run."""
    settings = {
        "suite": SUBSET_OF,
        "tasks": extent.tasks or subset(),
        "run": run_name(name),
        "seed": SEED,
        "workers": extent.workers,
        **extent.changes,
        **find(name).changes,
    }
    return msgspec.convert(settings, RunConfig)


async def run_control(
    name: str,
    home: Path,
    extent: Extent = Extent(),
    progress: Callable[[Progress], None] = lambda progress: None,
) -> dict[str, Any]:
    """Train and evaluate a control, or go on where it was interrupted; the record of it, ready for JSON.

    What is finished is not done again. Raises what `train` and `evaluate` raise.
    """
    control, config = find(name), config_of(name, extent)
    if not is_finished(home, config.run):
        await session.train(config, home, None, config.run in run_folders(home), progress)
    records = []
    for benchmark, tasks, seeds in extent.benchmarks():
        plan = EvalPlan(
            target=config.run,
            suite=benchmark,
            tasks=tasks,
            seeds=seeds,
            arms=(control.arm,),
            name=f"{config.run}-{control.arm}-{benchmark}",
        )
        done = await evaluate(plan, home, extent.workers, progress=progress, resume=True)
        records.append(evaluation_record(plan, done, home))
    return {
        "control": name,
        "what": control.what,
        "changes": control.changes,
        "arm": control.arm,
        "evaluations": records,
    }


@dataclass(frozen=True)
class ControlLine:
    """One control and how it stands."""

    name: str
    what: str
    run: str
    state: str  # of its training run; "" where it was not begun


def list_controls(home: Path) -> list[ControlLine]:
    """All controls, in the order of the table."""
    states = {run: run_state(state_at(path)) for run, path in run_folders(home).items() if run in _RUNS}
    return [
        ControlLine(name, control.what, run_name(name), states.get(run_name(name), ""))
        for name, control in CONTROLS.items()
    ]


def is_finished(home: Path, run: str) -> bool:
    """Whether a run is there and came to its end."""
    path = run_folders(home).get(run)
    return path is not None and run_state(state_at(path)) == "finished"


_RUNS = frozenset(run_name(name) for name in CONTROLS)
