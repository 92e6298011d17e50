"""Commands that read what a run recorded: they change nothing, and need no simulator but to play again."""

import sys
from pathlib import Path

import click

from ..agents import exits
from .options import json_option, key_option, print_result, reading


@click.command()
@reading
def runs(home: Path, as_json: bool) -> None:
    """List the runs."""
    from ..replay.runs import list_runs
    from ..replay.show import show_runs

    print_result(list_runs(home), as_json, show_runs)


@click.command()
@click.argument("run")
@click.option("--at", "point", metavar="SEQ|TIME|CHECKPOINT", default="end", help="Default: the end.")
@click.option("--diff", "points", nargs=2, metavar="A B", help="What changed from one point to another.")
@click.option("--again", "episode", metavar="EPISODE", help="Play an episode again and compare its states.")
@reading
def replay(
    run: str, point: str, points: tuple[str, str] | None, episode: str | None, home: Path, as_json: bool
) -> None:
    """Show a run as it stood at any point, or the difference of two points, or play an episode again."""
    from ..replay.again import play_again
    from ..replay.diff import diff
    from ..replay.runs import find_run
    from ..replay.show import show_again, show_diff, show_state, to_json
    from ..replay.state import state_at

    path = find_run(home, run)
    if episode:
        again = play_again(path, episode)
        print_result(again, as_json, show_again)
        if not again.same:
            sys.exit(exits.REFUSED)
    elif points:
        print_result(diff(state_at(path, points[0]), state_at(path, points[1])), as_json, show_diff)
    else:
        state = state_at(path, point)
        print_result(to_json(state) if as_json else state, as_json, show_state)


@click.command()
@click.argument("run")
@reading
def costs(run: str, home: Path, as_json: bool) -> None:
    """Tell what language models cost in a run: tokens, cost and time per role, episode and accepted skill."""
    from ..replay.costs import costs_of
    from ..replay.runs import find_run
    from ..replay.show_costs import show_costs

    print_result(costs_of(find_run(home, run)), as_json, show_costs)


@click.command()
@click.argument("target", metavar="RUN|FILE")
@click.argument("name", metavar="[SKILL|CANDIDATE]", required=False)
@key_option
@reading
def audit(target: str, name: str | None, key: str | None, home: Path, as_json: bool) -> None:
    """Tell why a skill or candidate was accepted or not; without one, list all candidates.

    Of a bundle file: its memory, once it is verified; each skill with what it does and where it comes from.
    """
    from ..agents.results import show_memory
    from ..agents.source import is_bundle
    from ..agents.verification import bundle_memory
    from ..replay.audit import audit as audit_one
    from ..replay.audit import audit_all
    from ..replay.runs import find_run
    from ..replay.show import show_audit
    from ..replay.state import state_at

    if is_bundle(target):
        entries = bundle_memory(Path(target), key, name)
        print_result(entries, as_json, lambda found: show_memory(found, in_full=name is not None))
        return
    state = state_at(find_run(home, target))
    print_result(audit_one(state, name) if name else audit_all(state), as_json, show_audit)


@click.command()
@click.argument("run")
@click.option(
    "--of",
    "purposes",
    type=click.Choice(["eval", "train", "trial"]),
    multiple=True,
    help="Which episodes; can be given several times. Default: evaluation and training.",
)
@reading
def failures(run: str, purposes: tuple[str, ...], home: Path, as_json: bool) -> None:
    """Count what failed in a run, by kind and task: a diagnosis from the recorded ground truth."""
    from ..agents.failures import failures as diagnose_all
    from ..agents.results import show_failures
    from ..replay.runs import find_run

    found = diagnose_all(find_run(home, run), purposes or ("eval", "train"))
    print_result(found, as_json, show_failures)


@click.command()
@click.argument("run")
@reading
def checkpoints(run: str, home: Path, as_json: bool) -> None:
    """List a run's frozen memories."""
    print_checkpoints(run, home, as_json)


def print_checkpoints(run: str, home: Path, as_json: bool) -> None:
    from ..replay.runs import find_run
    from ..replay.show import show_checkpoints
    from ..replay.state import state_at

    state = state_at(find_run(home, run))
    shown = list(state.run.checkpoints.values()) if as_json else state
    print_result(shown, as_json, show_checkpoints)


@click.command()
@click.argument("suite", required=False)
@json_option
def suites(suite: str | None, as_json: bool) -> None:
    """List suites and benchmarks, or the tasks of one."""
    from ..agents.lookup import known_suites, tasks_of
    from ..agents.results import show_suites, show_tasks

    if suite is None:
        print_result(known_suites(), as_json, show_suites)
    else:
        print_result(tasks_of(suite), as_json, show_tasks)


COMMANDS = (runs, replay, audit, failures, costs, checkpoints, suites)
