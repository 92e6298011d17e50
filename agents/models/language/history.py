"""What an episode showed, as text: its programs, each operation with its result, what was printed."""

import json
from typing import Any

from ....ledger import events as ev
from ..base import EpisodeView, Turn
from .fencing import fenced
from .memory_text import rounded

LONGEST = 12_000  # characters of one program's operations; the middle of longer ones is left out
SAID = 4_000  # characters of what a program printed or returned


def turns_text(episode: EpisodeView) -> str:
    """All programs so far with what came of them; "" before the first."""
    return "\n\n".join(turn_text(number, turn) for number, turn in enumerate(episode.turns))


def turn_text(number: int, turn: Turn) -> str:
    """One program with its result."""
    head = f"## Program {number + 1}\n{fenced('program', turn.proposed.source)}"
    if turn.rejected is not None:
        refused = turn.rejected
        return f"{head}\nRefused before anything moved ({refused.stage}): {refused.message}"
    return f"{head}\n{_result(turn.executed)}" if turn.executed is not None else head


def _result(executed: ev.ProgramExecuted) -> str:
    ended = f"Broke off: {executed.error}" if executed.error else "Ran to its end."
    lines = [f"{ended} {len(executed.calls)} operations."]
    if executed.unread_failures:
        unread = "; ".join(executed.unread_failures)
        lines.append(f"Failed results that the program never looked at: {unread}")
    lines.append(fenced("operations", _shortened([_call(i, c) for i, c in enumerate(executed.calls, 1)])))
    if executed.printed:
        lines.append(fenced("printed", cut(executed.printed, SAID)))
    if executed.value is not None:
        lines.append(fenced("value", cut(json.dumps(rounded(executed.value)), SAID)))
    return "\n".join(lines)


def _call(number: int, call: ev.Call) -> str:
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in call.arguments.items())
    return f"{number} {call.operation}({arguments}) -> {_shown(call.result)}"


def _short(value: Any) -> str:
    """An argument: a handle by its id, other things as they are."""
    if isinstance(value, dict):
        return str(value["id"]) if "id" in value else _plain(value)
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "[" + ", ".join(map(_short, value)) + "]"
    return json.dumps(rounded(value))


def _shown(value: Any) -> str:
    """A result: the id of each handle with what is public of it, or why it failed."""
    if isinstance(value, list):
        return f"{len(value)} results" + "".join(f"\n    {_shown(one)}" for one in value)
    if not isinstance(value, dict):
        return json.dumps(rounded(value))
    name = f"{value['id']} " if "id" in value else ""
    if value.get("ok") is False:
        return f"{name}FAILED {value.get('reason', '')}{_details(value)}"
    return f"{name}{_plain(value)}"


def _details(value: dict[str, Any]) -> str:
    return f" {_plain(value)}" if len(value) > 3 else ""


def _plain(value: dict[str, Any]) -> str:
    kept = {k: v for k, v in value.items() if k not in ("id", "ok", "reason")}
    return "{" + ", ".join(f"{key}: {_field(one)}" for key, one in kept.items()) + "}"


def _field(value: Any) -> str:
    if isinstance(value, dict):
        return "none" if value.get("ok") is False else _plain(value)
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "[" + ", ".join(map(_field, value)) + "]"
    return json.dumps(rounded(value))


def _shortened(lines: list[str]) -> str:
    """All lines, or as many of the first and the last as fit."""
    if sum(len(line) + 1 for line in lines) <= LONGEST:
        return "\n".join(lines)
    first, last = _fitting(lines, LONGEST // 2), _fitting(lines[::-1], LONGEST // 2)[::-1]
    return "\n".join([*first, f"… {len(lines) - len(first) - len(last)} operations left out …", *last])


def _fitting(lines: list[str], room: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    return taken


def cut(text: str, longest: int) -> str:
    """The text, or its beginning and how much is missing."""
    return text if len(text) <= longest else f"{text[:longest]} … ({len(text) - longest} characters more)"
