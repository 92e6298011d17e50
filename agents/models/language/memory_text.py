"""Memory entries as text for a language model. A program that several entries share is shown once.

What stands in an entry was written by a model, too: it is fenced like everything that others wrote.
"""

import json
from typing import Any

from ....ledger.events import Entry
from .fencing import fenced

DIGITS = 3


def memory_text(memory: tuple[Entry, ...]) -> str:
    """All entries, the Cerebellum's first, in an order that depends on their ids alone."""
    if not memory:
        return "The memory is empty."
    shown: dict[str, str] = {}
    ordered = sorted(memory, key=lambda e: (e.layer != "cerebellum", e.kind, e.id))
    return fenced("memory", "\n\n".join(_entry(entry, shown) for entry in ordered))


def _entry(entry: Entry, shown: dict[str, str]) -> str:
    lines = [f"### {entry.id} ({entry.layer}, {entry.kind})", f"When: {entry.when}"]
    advice = entry.state.get("advice")
    if advice:
        lines.append(f"Advice: {advice}")
    values = {key: value for key, value in entry.state.items() if key != "advice"}
    if values:
        lines.append(f"Values: {json.dumps(rounded(values), sort_keys=True)}")
    if entry.template.strip():
        first = shown.setdefault(entry.template, entry.id)
        own = f"Program:\n```python\n{entry.template.strip()}\n```"
        lines.append(own if first == entry.id else f"Program: the same as that of {first}")
    return "\n".join(lines)


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """JSON data with its floats cut to so many decimals."""
    if isinstance(value, float):
        return round(value, digits) + 0.0  # no minus zero
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one, digits) for one in value]
    return value
