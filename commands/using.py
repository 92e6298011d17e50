"""Commands that use a frozen memory: export, verify, evaluate, deploy."""

import sys
from pathlib import Path
from typing import Any

import click

from ..agents import console, exits
from ..agents.config import STATES, load
from ..agents.interrupt import run as run_until_done
from .options import (
    FILE,
    NEW_FILE,
    config_option,
    given_words,
    home_option,
    key_option,
    model_options,
    print_result,
    reading,
    suite_option,
    workers_option,
)


@click.command()
@click.argument("run")
@click.argument("checkpoint")
@click.option("-o", "--output", required=True, type=NEW_FILE, metavar="FILE")
@home_option
def export(run: str, checkpoint: str, output: Path, home: Path) -> None:
    """Write a checkpoint as a bundle: all that a robot's computer needs, in one file."""
    from ..agents.verification import export as write_bundle

    bundle = write_bundle(run, home, checkpoint, output)
    console.say(f"{output} holds {checkpoint} of {run}: {len(bundle.memory)} skills, signed.")


@click.command()
@click.argument("target", metavar="RUN|FILE")
@key_option
@click.option(
    "--against", type=FILE, multiple=True, help="Bundle or signed note kept elsewhere: shows a cut tail."
)
@reading
def verify(target: str, key: str | None, against: tuple[Path, ...], home: Path, as_json: bool) -> None:
    """Compute all proofs of a run or bundle again. Exit code 3 if anything was changed, removed or added."""
    from ..agents import verification
    from ..agents.results import show_bundle, show_report
    from ..agents.source import is_bundle

    if is_bundle(target):
        pinned, verified = verification.verify_file(Path(target), key)
        as_plain = verification.plain_bundle(verified)
        print_result(as_plain if as_json else verified, as_json, lambda found: show_bundle(found, pinned))
        return
    trusted, report = verification.verify_run(target, home, key, against)
    as_plain = verification.plain_report(report)
    print_result(as_plain if as_json else report, as_json, lambda found: show_report(found, trusted))
    if not report.ok:
        sys.exit(exits.REFUSED)


@click.command("eval")
@click.argument("target", metavar="RUN|FILE")
@click.option("--checkpoint", metavar="NAME", help="Default: the last one.")
@suite_option
@click.option("--task", "tasks", multiple=True, metavar="N", help="A task, or A+B joined; default: all.")
@click.option("--subset", is_flag=True, help="The LIBERO-90 tasks whose words all occur in Pro Long.")
@click.option(
    "--seeds", type=click.IntRange(1), help="Initial states a task; default: 20 for a benchmark, else 10."
)
@click.option("--empty-memory", is_flag=True, help="Also play the same with an empty memory, as control.")
@click.option(
    "--arm",
    "arms",
    type=click.Choice(["both", "cerebellum", "brain", "empty"]),
    multiple=True,
    help="Layers of memory that are used; can be given several times. Default: both.",
)
@click.option(
    "--rename/--no-rename", default=None, help="Made-up words for all nouns; default: as the run was trained."
)
@model_options
@config_option
@click.option("--name", metavar="NAME", help="Of the evaluation's own ledger; default: made up.")
@click.option("--resume", is_flag=True, help="Go on with the evaluation of this --name.")
@click.option("-o", "--output", type=NEW_FILE, metavar="FILE", help="Also write the result to a JSON file.")
@workers_option
@key_option
@reading
def evaluate(
    target: str,
    checkpoint: str | None,
    suite: str,
    tasks: tuple[str, ...],
    subset: bool,
    seeds: int | None,
    empty_memory: bool,
    arms: tuple[Any, ...],
    rename: bool | None,
    name: str | None,
    resume: bool,
    output: Path | None,
    workers: int,
    key: str | None,
    home: Path,
    as_json: bool,
    **models: Any,
) -> None:
    """Play held-out initial states with a frozen memory and only the Proposer."""
    from ..agents.benchmarks import default_seeds
    from ..agents.benchmarks import subset as subset_tasks
    from ..agents.evaluation import EvalPlan, name_for
    from ..agents.evaluation import evaluate as run_evaluation
    from ..agents.lookup import check_checkpoint, check_run_name
    from ..agents.record import evaluation_record, save
    from ..agents.results import show_evaluations
    from ..agents.source import is_bundle, open_source

    if resume and not name:
        raise click.UsageError("--resume needs --name NAME; `skill2real runs` lists the interrupted ones.")
    if subset and tasks:
        raise click.UsageError("--subset stands for tasks; leave --task out.")
    if checkpoint and not is_bundle(target):
        check_checkpoint(home, target, checkpoint)
    own = name or name_for(open_source(target, home, checkpoint, key))
    check_run_name(own)
    chosen = tuple(dict.fromkeys((*(("empty",) if empty_memory else ()), *(arms or ("both",)))))
    plan = EvalPlan(
        target=target,
        suite=suite,
        checkpoint=checkpoint,
        tasks=subset_tasks() if subset else tasks,
        seeds=seeds or default_seeds(suite),
        arms=chosen,
        name=own,
        rename=rename,
        models=load(models.pop("file"), {"suite": suite, **models}),
    )
    again = "" if resume else (" --resume" if name else f" --name {own} --resume")
    click.get_current_context().find_root().obj = f" Go on with: skill2real {given_words()}{again}"
    with console.Watch(f"Evaluation {own} in {home}") as watch:
        done = run_until_done(run_evaluation(plan, home, workers, key, watch, resume))
    record = evaluation_record(plan, done, home) if as_json or output else None
    if output:
        save(record, output)
        console.say(f"{output} has the result.")
    print_result(record if as_json else done.results, as_json, show_evaluations)


@click.command()
@click.argument("checkpoint", metavar="CHECKPOINT|FILE")
@click.option(
    "--run", metavar="NAME", help="Whose checkpoint it is, where several runs have one of this name."
)
@click.option("--backend", type=click.Choice(["sim"]), default="sim", show_default=True)
@suite_option
@click.option("--task", required=True, metavar="N", help="A task, or A+B for two joined.")
@click.option("--seed", type=int, default=STATES["eval"][0], show_default=True, help="Initial state.")
@model_options
@config_option
@key_option
@reading
def deploy(
    checkpoint: str,
    run: str | None,
    backend: str,
    suite: str,
    task: str,
    seed: int,
    key: str | None,
    home: Path,
    as_json: bool,
    **models: Any,
) -> None:
    """Let a verified checkpoint do a task. Anything wrong with it: nothing moves."""
    from ..agents.deploy import deploy as run_deployment
    from ..agents.lookup import locate
    from ..agents.results import show_deployment

    playing = load(models.pop("file"), {"suite": suite, **models})
    target, name = locate(checkpoint, run, home)
    with console.Watch() as watch:
        result = run_until_done(run_deployment(target, home, name, suite, task, seed, key, playing, watch))
    print_result(result, as_json, show_deployment)
    if result.status == "stopped":
        sys.exit(exits.HALTED)
    if result.status != "done" or result.success is False:
        sys.exit(exits.FAILED)


COMMANDS = (export, verify, evaluate, deploy)
