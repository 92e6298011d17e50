"""What the Proposer has seen and written itself: words, numbers and pixels that a critique may point back to.

Numbers are public under the name that they stand under ("depth 0.025"), to the digit. A name with many values
is none: choosing among them would tell what the choice stands for.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from ...backends.api import OPERATIONS, STUB
from ...ledger import events as ev
from ..grammar import SELECTORS
from ..models.base import EpisodeView
from .vocabulary import COLOURS, FUNCTION, LABELS, words

MENU = 16  # values of one name that are still facts and no choice of messages
UNKNOWN = 99  # the largest number of a region, part or line where it is not known how many there are
FEW = 20  # of steps, clauses, tries …
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_BESIDE_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*[=:]?\s*(-?\d+(?:\.\d+)?)\b")
_HANDLE = re.compile(r"([a-z]+)(\d+)")
_LINE = re.compile(r"\bline (\d+)")
_SAYABLE = COLOURS | SELECTORS | words("region part side level bump leaf hollow table robot")
Values = dict[str, set[float]]
Box = tuple[int, int, int, int]


@dataclass
class Seen:
    """words: that things may be called. bigrams: words of the instruction with the next one. identifiers:
    names in programs and of the interface. written, read: numbers by name, in programs and in what came of
    them. arguments: by operation. pixels: that operations were called with. boxes: of regions,
    (u0, v0, u1, v1), by camera. most: the largest number by label."""

    words: set[str]
    bigrams: set[tuple[str, str]]
    identifiers: set[str]
    written: Values = field(default_factory=dict)
    read: Values = field(default_factory=dict)
    arguments: Values = field(default_factory=dict)
    pixels: set[tuple[int, int]] = field(default_factory=set)
    boxes: dict[str, set[Box]] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)

    def has(self, name: str, value: float) -> bool:
        """Whether a number was seen under this name."""
        return any(_holds(known.get(name, set()), value) for known in (self.written, self.read))

    def passed(self, operation: str, value: float) -> bool:
        """Whether an operation was called with this number."""
        return _holds(self.arguments.get(operation, set()), value)

    def shows(self, u: int, v: int, camera: str) -> bool:
        """Whether a pixel is in a region that a picture of this camera showed."""
        return any(u0 <= u <= u1 and v0 <= v <= v1 for u0, v0, u1, v1 in self.boxes.get(camera, ()))

    def limit(self, label: str) -> int:
        """The largest number that a thing of this kind may have."""
        kind = LABELS[label]
        return self.most.get(kind, UNKNOWN if kind in ("region", "part", "line", "call") else FEW)


def seen(episode: EpisodeView | None, instruction: str = "") -> Seen:
    """What is public of an episode. instruction: the task's, where the episode is not known."""
    said = episode.started.task.instruction if episode is not None else instruction
    named = re.findall(r"[a-z0-9]+", said.casefold())
    public = Seen({*_SAYABLE, *named}, set(pairwise(named)), set(_interface()))
    if episode is not None:
        for turn in episode.turns:
            _add_text(public, turn.proposed.source, public.written)
            for choice in turn.proposed.choices:
                _add_data(public, choice, public.written)
            if turn.rejected is not None:
                _add_text(public, turn.rejected.message, public.read)
            if turn.executed is not None:
                _add_result(public, turn.executed)
        _count(public, episode)
    return public


@cache
def _interface() -> frozenset[str]:
    return frozenset(_IDENTIFIER.findall(STUB)) | frozenset(OPERATIONS)


def _add_result(public: Seen, executed: ev.ProgramExecuted) -> None:
    for call in executed.calls:
        own = {name: value for name, value in call.arguments.items() if not _is_handle(value)}
        _add_data(public, own, public.written)
        _add_data(public, call.result, public.read)
        public.arguments.setdefault(call.operation, set()).update(value for _, value in _numbers(own))
        _add_boxes(public, call)
    _add_data(public, executed.value, public.read)
    for text in (executed.printed, executed.error, *executed.unread_failures):
        _add_text(public, text, public.read)


def _add_text(public: Seen, text: str, values: Values) -> None:
    """Names, and numbers right behind one."""
    public.identifiers.update(_IDENTIFIER.findall(text))
    for name, value in _BESIDE_NAME.findall(text):
        if name.casefold() not in FUNCTION:
            values.setdefault(name.casefold(), set()).add(float(value))
    _raise(public, "line", [int(number) for number in _LINE.findall(text)])


def _add_data(public: Seen, data: Any, values: Values) -> None:
    for name, number in _numbers(data):
        values.setdefault(name.casefold(), set()).add(number)
    for text in _strings(data):
        if _IDENTIFIER.fullmatch(text):
            public.identifiers.add(text)
        handle = _HANDLE.fullmatch(text)
        if handle and handle[1] in LABELS:
            _raise(public, LABELS[handle[1]], [int(handle[2])])


def _add_boxes(public: Seen, call: ev.Call) -> None:
    view = call.arguments.get("view")
    boxes = public.boxes.setdefault(str(view.get("camera", "")) if isinstance(view, dict) else "", set())
    for one in call.result if isinstance(call.result, list) else [call.result]:
        box = one.get("box") if isinstance(one, dict) else None
        if isinstance(box, dict):
            boxes.add((box["u0"], box["v0"], box["u1"], box["v1"]))
    u, v = call.arguments.get("u"), call.arguments.get("v")
    if isinstance(u, int) and isinstance(v, int):
        public.pixels.add((u, v))


def _count(public: Seen, episode: EpisodeView) -> None:
    """The largest number of each kind of thing that the Proposer has."""
    turns = range(len(episode.turns) + 1)
    _raise(public, "region", [len(episode.regions(turn)) for turn in turns if episode.regions(turn)])
    _raise(public, "part", [len(parts) for parts in episode.parts().values()])
    _raise(public, "line", [turn.proposed.source.count("\n") + 1 for turn in episode.turns])
    _raise(public, "program", [episode.started.turns, len(episode.turns)])
    calls = sum(len(turn.executed.calls) for turn in episode.turns if turn.executed is not None)
    _raise(public, "call", [calls] if calls else [])


def _raise(public: Seen, kind: str, numbers: list[int]) -> None:
    if numbers:
        public.most[kind] = max(public.most.get(kind, 0), *numbers)


def _is_handle(value: Any) -> bool:
    """Whether an argument is what an operation gave: its numbers are not the program's."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_is_handle, value)))


def _holds(values: set[float], value: float) -> bool:
    return len(values) <= MENU and any(abs(abs(value) - abs(one)) < 1e-9 for one in values)


def _numbers(data: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """All numbers in JSON data with the name that they stand under."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _numbers(value, str(key))
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _numbers(value, name)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield name, float(data)


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, dict | list | tuple):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _strings(value)
    elif isinstance(data, str):
        yield data
