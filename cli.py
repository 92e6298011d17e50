"""The `skill2real` command: reads the command line, calls the parts, prints what they return."""

import asyncio
import shlex
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from . import __version__
from .agents import console, exits
from .agents.config import ROLES, STATES, RoleName, load
from .agents.interrupt import run as run_until_done

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


class Commands(click.Group):
    """Turns every error into one sentence and the right exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            command = (error.ctx or ctx).command_path
            console.say(f"Error: {exits.sentence(error)} See: {command} --help")
            code = exits.USAGE
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except (KeyboardInterrupt, click.Abort):
            console.say(f"Interrupted; everything that was acknowledged is kept.{ctx.obj or ''}")
            code = exits.INTERRUPTED
        except Exception as error:
            code = self._explain(exits.root(error), ctx.obj or "", ctx.params.get("debug", False))
        sys.exit(code)

    @staticmethod
    def _explain(error: BaseException, go_on: str, debug: bool) -> int:
        code = exits.code_of(error)
        if debug:
            traceback.print_exception(error)
        if code is not None:
            console.say(f"Error: {exits.sentence(error)}{go_on if code == exits.FAILED else ''}")
            return code
        what = f"{type(error).__name__}: {exits.sentence(error)}"
        console.say(
            f"Error: this should not happen ({what}) Run skill2real --debug … and report what it prints."
        )
        return exits.FAILED


def stacked(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one."""

    def apply(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


def check_key(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """A verifier key must be one before anything is done with it."""
    from .ledger.errors import LedgerError
    from .ledger.keys import read_verifier

    try:
        return str(read_verifier(text)) if text is not None else None
    except LedgerError as error:
        raise click.BadParameter(str(error), ctx, option) from None


home_option = click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="SKILL2REAL_HOME",
    show_envvar=True,
    default="runs",
    show_default=True,
    help="Folder of the runs.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
reading = stacked(home_option, json_option)


def check_broker(ctx: click.Context, option: click.Parameter, url: str | None) -> str | None:
    """A broker's URL must be one before anything is done with it."""
    from .ledger.credentials import parse_url

    return parse_url(url).url if url is not None else None


broker_option = click.option(
    "--broker", metavar="URL", callback=check_broker, help="An MQTT broker with `skill2real serve` behind it."
)
key_option = click.option(
    "--key",
    callback=check_key,
    metavar="VKEY",
    help="Verifier key to trust, or a file with it; default: yours.",
)
suite_option = click.option("--suite", required=True, metavar="S", help="`skill2real suites` lists them.")
workers_option = click.option(
    "--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes."
)


def check_roles(ctx: click.Context, option: click.Parameter, text: str | None) -> frozenset[RoleName]:
    """Roles by name, separated by commas."""
    names = [name.strip() for name in text.split(",")] if text else []
    if unknown := [name for name in names if name not in ROLES]:
        raise click.BadParameter(
            f"there is no role {unknown[0]!r}; name some of {', '.join(ROLES)}, separated by commas",
            ctx,
            option,
        )
    return frozenset(name for name in ROLES if name in names)


def go_on_with(command: str) -> None:
    """What to tell whoever interrupts this command, or sees it fail."""
    ctx = click.get_current_context()
    named = ctx.get_parameter_source("home") is ParameterSource.COMMANDLINE
    home = f" --home {shlex.quote(str(ctx.params['home']))}" if named else ""
    ctx.find_root().obj = f" Go on with: skill2real {command}{home}"


def print_result(value: Any, as_json: bool, show: Callable[[Any], Any]) -> None:
    """A value as JSON, or as what `show` makes of it."""
    if as_json:
        console.show_json(value)
    else:
        console.show(show(value))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="skill2real")
@click.option("--debug", is_flag=True, help="Show tracebacks and all that is logged.")
def cli(debug: bool) -> None:
    """Robot skills that agents learn in simulation, with every step on record.

    Data goes to standard output, progress and messages to standard error. Exit codes: 0 done,
    1 failed, 2 usage, 3 a check said no, 4 something is missing, 5 the robot was halted, 130 interrupted.
    """
    console.log_to_stderr(debug)


# Learning ---------------------------------------------------------------------------------------------------


@cli.command()
@reading
@workers_option
def demo(home: Path, as_json: bool, workers: int) -> None:
    """Learn a few LIBERO-90 tasks, evaluate, deploy and verify: the whole loop in some minutes."""
    from .agents.demo import demo as run_demo
    from .agents.results import show_demo

    go_on_with("demo")
    with console.Watch() as watch:
        result = run_until_done(run_demo(home, watch, workers))
    print_result(result, as_json, show_demo)
    if not result.ledger_sound:
        sys.exit(exits.REFUSED)


@cli.command()
@click.option("--suite", metavar="S", help="`skill2real suites` lists them.")
@click.option("--task", "tasks", multiple=True, metavar="N", help="A task, or A+B joined; default: all.")
@click.option(
    "--brain-task", "brain_tasks", multiple=True, metavar="N", help="The Brain's tasks; default: the same."
)
@click.option("--run", metavar="NAME", help="Name of the run; default: suite and time.")
@click.option("--config", "file", type=FILE, help="A TOML file with the same settings; flags go before it.")
@click.option("--cerebellum-rounds", type=int, help="Default: 3.")
@click.option("--brain-rounds", type=int, help="Default: 4.")
@click.option("--episodes", type=int, help="Training episodes a task and round; default: 5.")
@click.option("--trials", type=int, help="Paired trials a candidate; default: 25.")
@click.option("--workers", type=int, help="Processes that play episodes; default: 2.")
@click.option("--seed", type=int, help="Of the model's own choices; default: 0.")
@click.option("--verifier/--no-verifier", default=None, help="Whether there are critiques.")
@click.option("--governor/--no-governor", default=None, help="Whether candidates must pass trials.")
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
    resume: bool,
    dry_run: bool,
    external: frozenset[RoleName],
    broker: str | None,
    home: Path,
    as_json: bool,
    **flags: Any,
) -> None:
    """Learn a suite's tasks: Cerebellum rounds, freeze, Brain rounds, freeze."""
    from .agents import session
    from .agents.lookup import check_run_name, recorded_config
    from .agents.results import show_estimate, show_training

    given = {name: value for name, value in flags.items() if value not in (None, ())}
    if resume and not given.get("run"):
        raise click.UsageError("--resume needs --run NAME; `skill2real runs` lists the interrupted ones.")
    if external and broker is None:
        raise click.UsageError("--external needs --broker URL: agents elsewhere cannot reach another bus.")
    recorded = recorded_config(home, given["run"]) if resume and broker is None and file is None else {}
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


@cli.command()
@click.argument("run")
@click.argument("layer", type=click.Choice(["cerebellum", "brain"]))
@click.option("--name", required=True, metavar="C1", help="Name of the checkpoint.")
@broker_option
@reading
def freeze(run: str, layer: Any, name: str, broker: str | None, home: Path, as_json: bool) -> None:
    """Freeze a layer of a run by hand and have it signed. Training does so by itself."""
    from .agents import session

    run_until_done(session.freeze(run, home, layer, name, broker))
    _print_checkpoints(run, home, as_json)


# Reading ----------------------------------------------------------------------------------------------------


@cli.command()
@reading
def runs(home: Path, as_json: bool) -> None:
    """List the runs."""
    from .replay.runs import list_runs
    from .replay.show import show_runs

    print_result(list_runs(home), as_json, show_runs)


@cli.command()
@click.argument("run")
@click.option("--at", "point", metavar="SEQ|TIME|CHECKPOINT", default="end", help="Default: the end.")
@click.option("--diff", "points", nargs=2, metavar="A B", help="What changed from one point to another.")
@click.option("--again", "episode", metavar="EPISODE", help="Play an episode again and compare its states.")
@reading
def replay(
    run: str, point: str, points: tuple[str, str] | None, episode: str | None, home: Path, as_json: bool
) -> None:
    """Show a run as it stood at any point, or the difference of two points, or play an episode again."""
    from .replay.again import play_again
    from .replay.diff import diff
    from .replay.runs import find_run
    from .replay.show import show_again, show_diff, show_state, to_json
    from .replay.state import state_at

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


@cli.command()
@click.argument("run")
@click.argument("name", metavar="[SKILL|CANDIDATE]", required=False)
@reading
def audit(run: str, name: str | None, home: Path, as_json: bool) -> None:
    """Tell why a skill or candidate was accepted or not; without one, list all candidates."""
    from .replay.audit import audit as audit_one
    from .replay.audit import audit_all
    from .replay.runs import find_run
    from .replay.show import show_audit
    from .replay.state import state_at

    state = state_at(find_run(home, run))
    print_result(audit_one(state, name) if name else audit_all(state), as_json, show_audit)


@cli.command()
@click.argument("run")
@reading
def checkpoints(run: str, home: Path, as_json: bool) -> None:
    """List a run's frozen memories."""
    _print_checkpoints(run, home, as_json)


def _print_checkpoints(run: str, home: Path, as_json: bool) -> None:
    from .replay.runs import find_run
    from .replay.show import show_checkpoints
    from .replay.state import state_at

    state = state_at(find_run(home, run))
    if as_json:
        console.show_json(list(state.run.checkpoints.values()))
    else:
        console.show(show_checkpoints(state))


@cli.command()
@click.argument("suite", required=False)
@json_option
def suites(suite: str | None, as_json: bool) -> None:
    """List the suites that are installed, or the tasks of one."""
    from .agents.lookup import tasks_of
    from .agents.results import show_suites, show_tasks
    from .backends.sim.suites import count_tasks, list_suites

    if suite is None:
        print_result([(name, count_tasks(name)) for name in list_suites()], as_json, show_suites)
    else:
        print_result(tasks_of(suite), as_json, show_tasks)


# Checkpoints at work ----------------------------------------------------------------------------------------


@cli.command()
@click.argument("run")
@click.argument("checkpoint")
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE"
)
@home_option
def export(run: str, checkpoint: str, output: Path, home: Path) -> None:
    """Write a checkpoint as a bundle: all that a robot's computer needs, in one file."""
    from .agents.verification import export as write_bundle

    bundle = write_bundle(run, home, checkpoint, output)
    console.say(f"{output} holds {checkpoint} of {run}: {len(bundle.memory)} skills, signed.")


@cli.command()
@click.argument("target", metavar="RUN|FILE")
@key_option
@click.option(
    "--against", type=FILE, multiple=True, help="Bundle or signed note kept elsewhere: shows a cut tail."
)
@reading
def verify(target: str, key: str | None, against: tuple[Path, ...], home: Path, as_json: bool) -> None:
    """Compute all proofs of a run or bundle again. Exit code 3 if anything was changed, removed or added."""
    from .agents import verification
    from .agents.results import show_bundle, show_report
    from .agents.source import is_bundle

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


@cli.command("eval")
@click.argument("target", metavar="RUN|FILE")
@click.option("--checkpoint", metavar="NAME", help="Default: the last one.")
@suite_option
@click.option("--task", "tasks", multiple=True, metavar="N", help="A task, or A+B joined; default: all.")
@click.option("--seeds", type=click.IntRange(1), default=10, show_default=True, help="Initial states a task.")
@click.option("--empty-memory", is_flag=True, help="Also play the same with an empty memory, as control.")
@click.option(
    "--arm",
    "arms",
    type=click.Choice(["both", "cerebellum", "brain", "empty"]),
    multiple=True,
    help="Layers of memory that are used; can be given several times. Default: both.",
)
@workers_option
@key_option
@reading
def evaluate(
    target: str,
    checkpoint: str | None,
    suite: str,
    tasks: tuple[str, ...],
    seeds: int,
    empty_memory: bool,
    arms: tuple[Any, ...],
    workers: int,
    key: str | None,
    home: Path,
    as_json: bool,
) -> None:
    """Play held-out initial states with a frozen memory and only the Proposer."""
    from .agents.evaluation import evaluate as run_evaluation
    from .agents.lookup import check_checkpoint
    from .agents.results import show_evaluations
    from .agents.source import is_bundle

    if checkpoint and not is_bundle(target):
        check_checkpoint(home, target, checkpoint)
    chosen = tuple(dict.fromkeys((*(("empty",) if empty_memory else ()), *(arms or ("both",)))))
    with console.Watch() as watch:
        results = run_until_done(
            run_evaluation(target, home, checkpoint, suite, tasks, seeds, chosen, workers, key, watch)
        )
    print_result(results, as_json, show_evaluations)


@cli.command()
@click.argument("checkpoint", metavar="CHECKPOINT|FILE")
@click.option(
    "--run", metavar="NAME", help="Whose checkpoint it is, where several runs have one of this name."
)
@click.option("--backend", type=click.Choice(["sim"]), default="sim", show_default=True)
@suite_option
@click.option("--task", required=True, metavar="N", help="A task, or A+B for two joined.")
@click.option("--seed", type=int, default=STATES["eval"][0], show_default=True, help="Initial state.")
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
) -> None:
    """Let a verified checkpoint do a task. Anything wrong with it: nothing moves."""
    from .agents.deploy import deploy as run_deployment
    from .agents.lookup import locate
    from .agents.results import show_deployment

    target, name = locate(checkpoint, run, home)
    with console.Watch() as watch:
        result = run_until_done(run_deployment(target, home, name, suite, task, seed, key, watch))
    print_result(result, as_json, show_deployment)
    if result.status == "stopped":
        sys.exit(exits.HALTED)
    if result.status != "done" or result.success is False:
        sys.exit(exits.FAILED)


# Keys and services ------------------------------------------------------------------------------------------


@cli.group("key")
def key_group() -> None:
    """The key that signs your checkpoints."""


@key_group.command("new")
@click.option("--name", default="skill2real", show_default=True, help="Who signs; a part of every signature.")
def key_new(name: str) -> None:
    """Make a key, and print what others need to verify its signatures. Never replaces one."""
    from .ledger.keys import key_path, new_key

    click.echo(str(new_key(name).verifier))
    console.say(f"The key is in {key_path()}; keep it private, and give others the line above.")


@key_group.command("show")
@json_option
def key_show(as_json: bool) -> None:
    """Print the verifier key that others need."""
    from .ledger.keys import key_path, load_key

    verifier = load_key().verifier
    if as_json:
        console.show_json({"name": verifier.name, "verifier": str(verifier), "path": str(key_path())})
    else:
        click.echo(str(verifier))


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=1883, show_default=True, help="0: any free.")
@click.option(
    "--broker",
    metavar="URL",
    callback=check_broker,
    help="Start no broker; serve the ledgers behind this one.",
)
@home_option
def serve(host: str, port: int, broker: str | None, home: Path) -> None:
    """Run broker and ledger service until told to stop. Passwords come from SKILL2REAL_BROKER_SECRET."""
    from .agents.crew import signing_key
    from .ledger.serve import serve as run_service

    def started(url: str) -> None:
        console.say(f"Serving the runs in {home} at {url}; stop with Ctrl-C.")

    asyncio.run(run_service(home, host=host, port=port, broker=broker, key=signing_key(), started=started))


@cli.command()
@click.argument("role", type=click.Choice(ROLES))
@click.option("--run", required=True, metavar="NAME", help="The training run; it need not have begun.")
@click.option(
    "--broker",
    required=True,
    metavar="URL",
    callback=check_broker,
    envvar="SKILL2REAL_BROKER",
    show_envvar=True,
    help="An MQTT broker with `skill2real serve` behind it.",
)
@click.option("--workers", type=click.IntRange(1), help="Of a runner; default: as many as the run says.")
def agent(role: RoleName, run: str, broker: str, workers: int | None) -> None:
    """Be one role of a training run, in a process of its own, until the run is finished.

    The password comes from SKILL2REAL_BROKER_PASSWORD (this role's own), or SKILL2REAL_BROKER_SECRET.
    `train --external` leaves the role out.
    """
    from .agents.lookup import check_run_name
    from .agents.standalone import serve_role

    check_run_name(run)
    click.get_current_context().find_root().obj = " Start the same command again to go on."
    run_until_done(serve_role(role, run, broker, workers, console.say))


@cli.command("broker-acl")
@click.option("--access-file", default="/etc/mosquitto/skill2real.acl", show_default=True)
@click.option("--password-file", default="/etc/mosquitto/skill2real.passwd", show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that Mosquitto listens on.")
@click.option("--port", type=click.IntRange(1, 65535), default=1883, show_default=True)
@click.option("--only", type=click.Choice(["settings", "access"]), help="Print one of the two files.")
@json_option
def broker_acl(
    access_file: str, password_file: str, host: str, port: int, only: str | None, as_json: bool
) -> None:
    """Print Mosquitto's settings and access list for this bus."""
    from .ledger.acl import mosquitto_config

    config = mosquitto_config(access_file, password_file, host, port)
    if as_json:
        console.show_json(config._asdict())
    elif only:
        click.echo(config.settings if only == "settings" else config.access, nl=False)
    else:
        click.echo(f"# mosquitto.conf\n{config.settings}\n# {access_file}\n{config.access}", nl=False)


@cli.command()
@click.option(
    "--broker", metavar="URL", callback=check_broker, help="Look at this broker instead of starting one."
)
@reading
def doctor(broker: str | None, home: Path, as_json: bool) -> None:
    """Check rendering, packages, simulator, sandbox, broker, key and disk; tell how to mend each failure."""
    from .agents.doctor import examine
    from .agents.results import show_checks

    checks = list(examine(home, broker))
    print_result(checks, as_json, show_checks)
    if not all(check.ok for check in checks):
        sys.exit(exits.MISSING)


def main() -> None:
    """Entry point of the installed command."""
    cli()


if __name__ == "__main__":
    main()
