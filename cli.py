"""The `skill2real` command: brings the commands together, and turns errors into sentences and exit codes."""

import sys
import traceback
from typing import Any

import click

from . import __version__
from .agents import console, exits
from .commands import learning, reading, serving, using


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


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="skill2real")
@click.option("--debug", is_flag=True, help="Show tracebacks and all that is logged.")
def cli(debug: bool) -> None:
    """Robot skills that agents learn in simulation, with every step on record.

    Data goes to standard output, progress and messages to standard error. Exit codes: 0 done,
    1 failed, 2 usage, 3 a check said no, 4 something is missing, 5 the robot was halted, 130 interrupted.
    """
    console.log_to_stderr(debug)


for command in (*learning.COMMANDS, *reading.COMMANDS, *using.COMMANDS, *serving.COMMANDS):
    cli.add_command(command)


def main() -> None:
    """Entry point of the installed command."""
    cli()


if __name__ == "__main__":
    main()
