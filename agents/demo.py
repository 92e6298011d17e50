"""The main job in small: learn through both layers, freeze and sign, evaluate, deploy, verify; on real
LIBERO-90 tasks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..ledger.bundle import make_bundle, save_bundle
from ..ledger.check import check_ledger
from ..ledger.events import Entry
from ..ledger.reader import Reader
from ..replay.memory import memory_at
from ..replay.state import LEDGER
from .benchmarks import resolve
from .casting import Cast
from .config import STATES, RunConfig
from .crew import linked, signing_key
from .deploy import DeployResult, deploy
from .director import Progress
from .evaluation import Arm, run_arm
from .pool import local_pool
from .scores import EvalResult
from .session import crew_train
from .trainer import Trainer

RUN = "demo"
CONFIG = RunConfig(
    suite="libero_90",
    tasks=("50", "51", "52", "9"),
    brain_tasks=("12", "13", "14", "51+52", "50+52"),
    run=RUN,
    cerebellum_rounds=1,
    brain_rounds=1,
    episodes=12,
)
CHECKPOINT = "C1/B1"
LEARNED = ("50", "51", "52", "9", "12", "13")
JOINED = "50+51"  # two learned skills in one instruction that was never trained
SEEDS = 5
ARMS: tuple[Arm, ...] = ("empty", "cerebellum", "both")


@dataclass(frozen=True)
class DemoResult:
    run: str
    path: Path
    bundle: Path
    entries: tuple[Entry, ...]
    results: list[EvalResult]
    deployed: DeployResult
    ledger_sound: bool


async def demo(
    home: Path, progress: Callable[[Progress], None] = lambda progress: None, workers: int = 2
) -> DemoResult:
    """Run the whole demonstration, or go on where an earlier one was interrupted."""
    config = CONFIG
    tasks, brain_tasks = resolve(config.suite, config.tasks), resolve(config.suite, config.brain_tasks)
    results: list[EvalResult] = []

    async def evaluate(trainer: Trainer) -> None:
        held_out = list(range(STATES["eval"][0], STATES["eval"][0] + SEEDS))
        chosen = resolve(config.suite, (*LEARNED, JOINED))
        for arm in ARMS:
            at = trainer.frozen_at(CHECKPOINT)
            results.append(await run_arm(trainer, CHECKPOINT, at, arm, chosen, held_out))

    async with linked(home, None) as link, local_pool(workers) as pool:
        await crew_train(link, Cast(config), tasks, brain_tasks, pool, progress, evaluate)
    path = home / RUN
    bundle = path / f"{CHECKPOINT.replace('/', '-')}.s2r"
    with Reader(path / LEDGER) as reader:
        entries = memory_at(reader, reader.head)
        save_bundle(make_bundle(reader, CHECKPOINT, entries), bundle)
    deployed = await deploy(
        str(bundle), home, CHECKPOINT, config.suite, JOINED, STATES["eval"][1], progress=progress
    )
    report = check_ledger(path / LEDGER, signing_key().verifier)
    return DemoResult(RUN, path, bundle, entries, results, deployed, report.ok)
