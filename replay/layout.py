"""Laying out text for a terminal or a file: headings, tables, numbers, times; no control characters."""

import io
import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

# Programs, prompts and critiques are others' text: none of it may steer a terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def text(value: object, style: str = "") -> Text:
    """The value as it reads, never as markup."""
    return Text(_CONTROL.sub("�", str(value)), style=style)


def heading(title: str, *facts: object) -> Text:
    """A title, with facts in a row after it."""
    line = text(title, "bold")
    for fact in facts:
        line.append_text(text(f" · {fact}"))
    return line


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> RenderableType:
    """Columns without lines. A name that begins with `>` is that of a column of numbers."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        grid.add_column(
            text(column.lstrip(">")),
            justify="right" if column.startswith(">") else "left",
            no_wrap=column.startswith(">"),
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else text(cell) for cell in row))
    return indented(grid)


def indented(what: RenderableType, by: int = 2) -> RenderableType:
    return Padding(what, (0, 0, 0, by))


def block(lines: str | Iterable[str], style: str = "", by: int = 4) -> RenderableType:
    """Text whose line breaks count."""
    joined = lines if isinstance(lines, str) else "\n".join(lines)
    return indented(text(joined.rstrip("\n"), style), by)


def stack(*parts: RenderableType | None) -> Group:
    """Parts below each other with an empty line between; None is left out."""
    kept: list[RenderableType] = []
    for part in parts:
        if part is not None:
            kept += [part] if not kept else ["", part]
    return Group(*kept)


def plain(what: RenderableType, width: int = 120) -> str:
    """What a file or a pipe gets: the same text without colours."""
    out = io.StringIO()
    Console(
        file=out, width=width, color_system=None, force_terminal=False, markup=False, highlight=False
    ).print(what)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def json_text(value: Any, longest: int = 0) -> str:
    """A JSON value on one line, cut with … where it is longer than `longest` (0: never)."""
    line = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    return line if not longest or len(line) <= longest else line[: longest - 1] + "…"


def duration(seconds: float) -> str:
    """Such as 4.2 s, 3 min 20 s or 2 h 05 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def moment(time: str) -> str:
    """An event's time for people, to the second."""
    try:
        return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M:%SZ")
    except ValueError:
        return time or "no time"


def count(number: int, one: str, many: str = "") -> str:
    """Such as 1 event or 12,000 events."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(interval: tuple[float, float]) -> str:
    """An interval of proportions, such as 30–66%."""
    return f"{100 * interval[0]:.0f}–{100 * interval[1]:.0f}%"


def short(hash: str) -> str:
    """The beginning of a hash."""
    return hash[:12] or "none"
