"""Commands that serve: keys, broker and ledger service, single agents, and the check of this machine."""

import asyncio
import sys
from pathlib import Path

import click

from ..agents import console, exits
from ..agents.config import ROLES, RoleName
from ..agents.interrupt import run as run_until_done
from .options import check_broker, home_option, json_option, print_result, reading


@click.group("key")
def key_group() -> None:
    """The key that signs your checkpoints."""


@key_group.command("new")
@click.option("--name", default="skill2real", show_default=True, help="Who signs; a part of every signature.")
def key_new(name: str) -> None:
    """Make a key, and print what others need to verify its signatures. Never replaces one."""
    from ..ledger.keys import key_path, new_key

    click.echo(str(new_key(name).verifier))
    console.say(f"The key is in {key_path()}; keep it private, and give others the line above.")


@key_group.command("show")
@json_option
def key_show(as_json: bool) -> None:
    """Print the verifier key that others need."""
    from ..ledger.keys import key_path, load_key

    verifier = load_key().verifier
    if as_json:
        console.show_json({"name": verifier.name, "verifier": str(verifier), "path": str(key_path())})
    else:
        click.echo(str(verifier))


@click.command()
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
    from ..agents.crew import signing_key
    from ..ledger.serve import serve as run_service

    def started(url: str) -> None:
        console.say(f"Serving the runs in {home} at {url}; stop with Ctrl-C.")

    asyncio.run(run_service(home, host=host, port=port, broker=broker, key=signing_key(), started=started))


@click.command()
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
@home_option
def agent(role: RoleName, run: str, broker: str, workers: int | None, home: Path) -> None:
    """Be one role of a training run, in a process of its own, until the run is finished.

    Pictures, and what language models were asked, are kept in the run's folder where that is on this machine.

    The password comes from SKILL2REAL_BROKER_PASSWORD (this role's own), or SKILL2REAL_BROKER_SECRET.
    `train --external` leaves the role out.
    """
    from ..agents.lookup import check_run_name
    from ..agents.standalone import serve_role

    check_run_name(run)
    click.get_current_context().find_root().obj = " Start the same command again to go on."
    run_until_done(serve_role(role, run, broker, workers, console.say, home))


@click.command("broker-acl")
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
    from ..ledger.acl import mosquitto_config

    config = mosquitto_config(access_file, password_file, host, port)
    if as_json:
        console.show_json(config._asdict())
    elif only:
        click.echo(config.settings if only == "settings" else config.access, nl=False)
    else:
        click.echo(f"# mosquitto.conf\n{config.settings}\n# {access_file}\n{config.access}", nl=False)


@click.command()
@click.option(
    "--broker", metavar="URL", callback=check_broker, help="Look at this broker instead of starting one."
)
@reading
def doctor(broker: str | None, home: Path, as_json: bool) -> None:
    """Check rendering, packages, simulator, sandbox, broker, key and disk; tell how to mend each failure."""
    from ..agents.doctor import examine
    from ..agents.results import show_checks

    checks = list(examine(home, broker))
    print_result(checks, as_json, show_checks)
    if not all(check.ok for check in checks):
        sys.exit(exits.MISSING)


COMMANDS = (key_group, serve, agent, broker_acl, doctor)
