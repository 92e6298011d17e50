"""Commands that learn: the demonstration, a training run, the controls, a freeze by hand."""

import sys
import time
from pathlib import Path
from typing import Any

import click

from ..agents import console, exits
from ..agents.config import RoleName, load
from ..agents.interrupt import run as run_until_done
from .options import (
    FILE,
    broker_option,
    check_roles,
    go_on_with,
    model_options,
    print_result,
    reading,
    workers_option,
)
from .reading import print_checkpoints


@click.command()
@reading
@workers_option
def demo(home: Path, as_json: bool, workers: int) -> None:
    """Learn a few LIBERO-90 tasks, evaluate, deploy and verify: the whole loop in some minutes."""
    from ..agents.demo import demo as run_demo
    from ..agents.results import show_demo

    go_on_with("demo")
    with console.Watch() as watch:
        result = run_until_done(run_demo(home, watch, workers))
    print_result(result, as_json, show_demo)
    if not result.ledger_sound:
        sys.exit(exits.REFUSED)


@click.command()
@click.option("--suite", metavar="S", help="A suite or benchmark; `skill2real suites` lists them.")
@click.option("--task", "tasks", multiple=True, metavar="N", help="A task, or A+B joined; default: all.")
@click.option(
    "--brain-task", "brain_tasks", multiple=True, metavar="N", help="The Brain's tasks; default: the same."
)
@click.option(
    "--subset", is_flag=True, help="The LIBERO-90 tasks whose verbs and nouns all occur in Pro Long."
)
@click.option("--run", metavar="NAME", help="Name of the run; default: suite and time.")
@click.option("--config", "file", type=FILE, help="A TOML file with the same settings; flags go before it.")
@click.option("--cerebellum-rounds", type=int, help="Default: 3.")
@click.option("--brain-rounds", type=int, help="Default: 4.")
@click.option("--episodes", type=int, help="Training episodes a task and round; default: 5.")
@click.option("--trials", type=int, help="Paired trials a candidate; default: 25.")
@click.option("--workers", type=int, help="Processes that play episodes; default: 2.")
@click.option("--seed", type=int, help="Of the model's own choices; default: 0.")
@model_options
@click.option(
    "--verifier",
    metavar="KIND|MODEL",
    help="Where critiques come from: full (all there is, default), public, shuffled, none; or a model.",
)
@click.option(
    "--governor", metavar="MODEL", help="embedded (default): rules and trials; or a language model besides."
)
@click.option(
    "--no-governor", "governor", flag_value="none", help="What passes the screens needs no trials: a control."
)
@click.option("--early-stop/--no-early-stop", default=None, help="End trials that cannot be passed any more.")
@click.option("--pairs/--no-pairs", default=None, help="The Brain also practises tasks joined two by two.")
@click.option("--rename/--no-rename", default=None, help="Made-up words for all nouns of the instructions.")
@click.option("--resume", is_flag=True, help="Go on with an interrupted run.")
@click.option("--dry-run", is_flag=True, help="Only tell episodes, trials and time.")
@click.option(
    "--external",
    metavar="ROLE,ROLE",
    callback=check_roles,
    help="Roles that are not played here: each is a `skill2real agent` behind the broker.",
)
@broker_option
@reading
def train(
    file: Path | None,
    subset: bool,
    resume: bool,
    dry_run: bool,
    external: frozenset[RoleName],
    broker: str | None,
    home: Path,
    as_json: bool,
    **flags: Any,
) -> None:
    """Learn a suite's tasks: Cerebellum rounds, freeze, Brain rounds, freeze.

    Without further flags this is the whole protocol: 3 and 4 rounds, 5 episodes a task and round, 25 trials
    a candidate.
    """
    from ..agents import session
    from ..agents.benchmarks import SUBSET_OF
    from ..agents.benchmarks import subset as subset_tasks
    from ..agents.lookup import check_run_name, recorded_config
    from ..agents.results import show_estimate, show_training

    given = {name: value for name, value in flags.items() if value not in (None, ())}
    if subset:
        if given.get("tasks") or given.get("suite", SUBSET_OF) != SUBSET_OF:
            raise click.UsageError(f"--subset stands for tasks of {SUBSET_OF}; leave --task and --suite out.")
        given |= {"suite": SUBSET_OF, "tasks": subset_tasks()}
    if resume and not given.get("run"):
        raise click.UsageError("--resume needs --run NAME; `skill2real runs` lists the interrupted ones.")
    if external and broker is None:
        raise click.UsageError("--external needs --broker URL: agents elsewhere cannot reach another bus.")
    again = given["run"] if resume else given.get("recorded")
    recorded = recorded_config(home, again) if again and broker is None and file is None else {}
    if not resume:
        recorded.pop("run", None)
    if file is None and "suite" not in {**recorded, **given}:
        raise click.UsageError("Say what to learn with --suite S; `skill2real suites` lists them.")
    config = load(file, {**recorded, **given})
    if not config.run:
        config = load(file, {**given, "run": f"{config.suite}-{time.strftime('%Y%m%d-%H%M%S')}"})
    check_run_name(config.run)
    if dry_run:
        print_result(
            session.estimate(config), as_json, lambda estimate: show_estimate(estimate, config.workers)
        )
        return
    go_on_with(f"train --run {config.run} --resume")
    with console.Watch(f"Run {config.run} in {home}") as watch:
        result = run_until_done(session.train(config, home, broker, resume, watch, external))
    print_result(result, as_json, show_training)


@click.command()
@click.argument("name", required=False)
@click.option("--list", "list_all", is_flag=True, help="List the controls and how each stands.")
@click.option("--task", "tasks", multiple=True, metavar="N", help="LIBERO-90 tasks; default: the subset.")
@click.option("--episodes", type=click.IntRange(1), help="Training episodes a task and round; default: 5.")
@click.option("--trials", type=click.IntRange(5), help="Paired trials a candidate; default: 25.")
@click.option("--early-stop/--no-early-stop", default=None, help="End trials that cannot be passed any more.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the result goes; default: results/control-NAME.json beside the runs.",
)
@workers_option
@reading
def controls(
    name: str | None,
    list_all: bool,
    tasks: tuple[str, ...],
    output: Path | None,
    workers: int,
    home: Path,
    as_json: bool,
    **changes: Any,
) -> None:
    """Train and evaluate a control or ablation by name, and write its result as one JSON file.

    Each learns the subset and is evaluated on it and on Pro Long. The same command goes on with one that was
    interrupted.
    """
    from ..agents.controls import Extent, find, list_controls, run_control
    from ..agents.record import save
    from ..agents.results import show_control, show_controls

    if list_all or name is None:
        print_result(list_controls(home), as_json, show_controls)
        return
    find(name)
    extent = Extent(
        tasks=tasks,
        workers=workers,
        changes={key: value for key, value in changes.items() if value is not None},
    )
    file = output or home / "results" / f"control-{name}.json"
    click.get_current_context().find_root().obj = " The same command goes on where it stopped."
    with console.Watch(f"Control {name} in {home}") as watch:
        record = run_until_done(run_control(name, home, extent, watch))
    save(record, file)
    console.say(f"{file} has the result.")
    print_result(record, as_json, show_control)


@click.command()
@click.argument("run")
@click.argument("layer", type=click.Choice(["cerebellum", "brain"]))
@click.option("--name", required=True, metavar="C1", help="Name of the checkpoint.")
@broker_option
@reading
def freeze(run: str, layer: Any, name: str, broker: str | None, home: Path, as_json: bool) -> None:
    """Freeze a layer of a run by hand and have it signed. Training does so by itself."""
    from ..agents import session

    run_until_done(session.freeze(run, home, layer, name, broker))
    print_checkpoints(run, home, as_json)


COMMANDS = (demo, train, controls, freeze)
