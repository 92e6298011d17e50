"""Options that several commands share, and the checks of their values."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from ..agents import console
from ..agents.config import ROLES, RoleName
from ..agents.models.chat.base import Effort

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)


def stacked(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one."""

    def apply(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


def check_key(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """A verifier key must be one before anything is done with it."""
    from ..ledger.errors import LedgerError
    from ..ledger.keys import read_verifier

    try:
        return str(read_verifier(text)) if text is not None else None
    except LedgerError as error:
        raise click.BadParameter(str(error), ctx, option) from None


def check_broker(ctx: click.Context, option: click.Parameter, url: str | None) -> str | None:
    """A broker's URL must be one before anything is done with it."""
    from ..ledger.credentials import parse_url

    return parse_url(url).url if url is not None else None


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


config_option = click.option(
    "--config", "file", type=FILE, help="A TOML file with settings of the models, such as [prices]."
)
model_options = stacked(
    click.option(
        "--proposer", metavar="MODEL", help="embedded (default), openai:NAME@URL or anthropic:NAME."
    ),
    click.option("--pixels", type=int, help="Width and height of the cameras' pictures; default: 256."),
    click.option("--effort", type=click.Choice(get_args(Effort)), help="How long language models think."),
    click.option("--max-cost", type=float, help="Stop cleanly when language models have cost this much."),
    click.option("--max-tokens", type=int, help="Stop cleanly when they have used so many tokens."),
    click.option(
        "--recorded", metavar="RUN", help="No network: language models answer as they did in this run."
    ),
)


def go_on_with(command: str) -> None:
    """What to tell whoever interrupts this command, or sees it fail."""
    ctx = click.get_current_context()
    named = ctx.get_parameter_source("home") is ParameterSource.COMMANDLINE
    home = f" --home {shlex.quote(str(ctx.params['home']))}" if named else ""
    ctx.find_root().obj = f" Go on with: skill2real {command}{home}"


def given_words() -> str:
    """The words that this command was given, as one would type them."""
    return shlex.join(sys.argv[1:])


def print_result(value: Any, as_json: bool, show: Callable[[Any], Any]) -> None:
    """A value as JSON, or as what `show` makes of it."""
    if as_json:
        console.show_json(value)
    else:
        console.show(show(value))
