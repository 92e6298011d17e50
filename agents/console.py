"""What the command shows: data on stdout, progress, messages and logs on stderr; nothing needs a terminal."""

import logging
import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click
import msgspec
import structlog
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from ..replay.layout import duration, plain

if TYPE_CHECKING:
    from .director import Progress

_PLAIN_WIDTH = 160  # of files and pipes
_SECONDS_BETWEEN = 30.0  # of plain lines about one thing that is being counted


def show(what: RenderableType) -> None:
    """A table or text, coloured on a terminal."""
    if sys.stdout.isatty():
        Console(markup=False, highlight=False).print(what)
    else:
        click.echo(plain(what, _width()), nl=False)


def show_json(value: Any) -> None:
    """The value as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2))


def say(line: str) -> None:
    """A message for the person who waits."""
    click.echo(line, err=True)


def log_to_stderr(debug: bool) -> None:
    """Warnings and worse, or everything; from this program and its libraries."""
    level = logging.DEBUG if debug else logging.WARNING
    logging.basicConfig(
        level=level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    if not debug:
        logging.getLogger("mqtt").disabled = True  # it reports answers that came as a connection closed
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return max(60, int(columns)) if columns.isdigit() else _PLAIN_WIDTH


def _left(progress: "Progress") -> str:
    """The time to the end of everything, in words."""
    return "" if progress.left is None else f", about {duration(progress.left)} to the end"


class Watch:
    """Shows progress: bars on a terminal, else a line for each step, and at times one as it is counted."""

    def __init__(self, title: str = "") -> None:
        self._title = title  # said before the first line
        self._began = time.monotonic()
        self._bars: Bars | None = None
        self._task: Any = None
        self._what = ""
        self._said = 0.0
        if sys.stderr.isatty():
            self._bars = Bars(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True, markup=False, highlight=False),
                transient=True,
            )

    def __enter__(self) -> "Watch":
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, progress: "Progress") -> None:
        if self._title:
            say(self._title)
            self._title = ""
        if self._bars is not None:
            self._bar(self._bars, progress)
        else:
            self._line(progress)

    def _bar(self, bars: Bars, progress: "Progress") -> None:
        if progress.what != self._what and self._task is not None:
            bars.remove_task(self._task)
            self._task = None
        self._what = progress.what
        if not progress.total:
            bars.console.print(f"{self._clock()}  {progress.what}")
        elif self._task is None:
            self._task = bars.add_task(progress.what, total=progress.total, completed=progress.done)
        else:
            description = progress.what + _left(progress)
            bars.update(self._task, description=description, completed=progress.done, total=progress.total)

    def _line(self, progress: "Progress") -> None:
        now = time.monotonic()
        new = progress.what != self._what
        ended = 0 < progress.total <= progress.done
        if not (new or ended or now - self._said >= _SECONDS_BETWEEN):
            return
        self._what, self._said = progress.what, now
        counted = f" {progress.done}/{progress.total}" if progress.total else ""
        say(f"{self._clock()}  {progress.what}{counted}{_left(progress)}")

    def _clock(self) -> str:
        return f"[{duration(time.monotonic() - self._began)}]"
