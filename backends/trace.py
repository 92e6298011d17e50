"""What a program leaves behind: its calls as JSON, what it printed, its value, the failures it ignored."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from .api import Box, Part, Plan, Point, Pose, Region, Result, Robot, Shape, Support, View, public_fields

Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

# What an argument shows of a handle besides its id: enough to follow a trace without looking the id up.
_SUMMARY: Final[Mapping[type, tuple[str, ...]]] = {
    View: ("camera",),
    Region: ("x", "y", "top"),
    Part: ("kind", "x", "y", "z"),
    Shape: ("x", "y", "z"),
    Support: ("x", "y", "height"),
    Plan: (),
    Pose: ("x", "y", "z"),
    Point: ("x", "y", "z"),
}
_NESTED: Final[Mapping[type, tuple[str, ...]]] = {
    Plan: ("start", "pose"),
    Robot: ("pose",),
    Shape: ("handle",),
    Part: ("hinge",),
}
_DEEPEST = 40
_MOST_ITEMS = 50_000
_LONGEST = 100_000
_SAFE_INTEGER = 2**53  # beyond it, JSON's readers lose digits


@dataclass(frozen=True)
class Call:
    """One operation: its arguments by parameter name, what it gave, and how long it took on the wall clock
    [s].

    In arguments, a value that an earlier operation returned is its id with its position; in results, it is
    its id with all public fields, or with ok and reason alone where it failed."""

    operation: str
    arguments: dict[str, Json]
    result: Json
    seconds: float


class Rejection(NamedTuple):
    """Why a program was refused before anything moved, in words for whoever wrote it."""

    stage: Literal["syntax", "types", "limits"]
    message: str


@dataclass(frozen=True)
class ProgramResult:
    """A program's outcome. Exactly one of these holds: `rejected` is set and nothing ran; `error` is not
    empty and the program ended early (an exception of its own, or "limit: …", "refused: …", "stopped: …",
    which no program can catch); or it ran to its end. `value` is that of the last expression. seconds: wall
    clock, operations included."""

    calls: tuple[Call, ...] = ()
    printed: str = ""
    value: Json = None
    error: str = ""
    rejected: Rejection | None = None
    unread_failures: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass
class Handles:
    """Ids of an episode's results in the order they came: view1, region1, region2, plan1, and plan1.pose
    within."""

    _ids: dict[int, str] = field(default_factory=dict)
    _kept: list[object] = field(default_factory=list)  # an id() is only unique while its object lives
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        """Gives a result its id, and the poses and points in it theirs. A result that has one keeps it."""
        if id(result) in self._ids:
            return
        kind = type(result).__name__.lower()
        self._counts[kind] = self._counts.get(kind, 0) + 1
        name = f"{kind}{self._counts[kind]}"
        self._keep(result, name)
        if not result.ok:
            return
        for part in _NESTED.get(type(result), ()):
            inner = getattr(result, part)
            if inner.ok and id(inner) not in self._ids:
                self._keep(inner, f"{name}.{part}")
        for number, item in enumerate(result.parts if isinstance(result, Shape) else []):
            self._keep(item, f"{name}.parts[{number}]")
            if item.hinge.ok:
                self._keep(item.hinge, f"{name}.parts[{number}].hinge")

    def result(self, value: Result | list[Any]) -> Json:
        """A result as a call records it."""
        if isinstance(value, list):
            return [self.result(item) for item in value]
        head: dict[str, Json] = {"id": self._ids[id(value)]}
        if not value.ok:
            return {**head, "ok": False, "reason": value.reason}
        return {**head, **{name: plain(getattr(value, name)) for name in public_fields(type(value))}}

    def argument(self, value: object) -> Json:
        """An argument as a call records it."""
        if isinstance(value, list) and any(id(item) in self._ids for item in value):
            return [self.argument(item) for item in value[:_MOST_ITEMS]]
        if id(value) in self._ids:
            ok = getattr(value, "ok", True)
            shown = _SUMMARY.get(type(value), ()) if ok else ("ok", "reason")
            return {"id": self._ids[id(value)], **{name: plain(getattr(value, name)) for name in shown}}
        return plain(value)

    def _keep(self, item: object, name: str) -> None:
        self._ids[id(item)] = name
        self._kept.append(item)


def plain(value: object) -> Json:
    """JSON-able form of whatever a program gave: types of the contract become dicts of their public fields,
    sets sorted lists, numbers that are not finite None, and what has no such form its text. What is nested
    too deeply or has too many items ends in "…"."""
    return _Plainer().convert(value, 0)


def shortened(value: Json, limit: int) -> Json:
    """The value, or, where its JSON is longer than `limit` characters, that JSON cut short, as text."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= limit:
        return value
    return f"{text[:limit]}… (cut: {len(text)} characters of JSON)"


class _Plainer:
    """One conversion, which stops after so many items."""

    def __init__(self) -> None:
        self._left = _MOST_ITEMS

    def convert(self, value: object, depth: int) -> Json:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            return "…"
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value) if abs(value) <= _SAFE_INTEGER else _text(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        if isinstance(value, set | frozenset):
            return sorted(self._items(value, depth), key=lambda item: json.dumps(item, sort_keys=True))
        if isinstance(value, Mapping):
            return self._entries(value, depth)
        if isinstance(value, Result | Box):
            return self._entries({name: getattr(value, name) for name in public_fields(type(value))}, depth)
        attributes = getattr(value, "attributes", None)  # an instance of a class that the program defined
        return self._entries(attributes, depth) if isinstance(attributes, dict) else _text(value)

    def _items(self, values: Iterable[object], depth: int) -> list[Json]:
        items: list[Json] = []
        for value in values:
            items.append(self.convert(value, depth + 1))
            if self._left < 0:
                break
        return items

    def _entries(self, values: Mapping[Any, object], depth: int) -> dict[str, Json]:
        entries: dict[str, Json] = {}
        for key, value in values.items():
            entries[_text(key)] = self.convert(value, depth + 1)
            if self._left < 0:
                break
        return entries


def _text(value: object) -> str:
    """Text that can be encoded (a lone surrogate has no UTF-8 form) and is not endless."""
    try:
        text = value if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):  # an integer with too many digits, a key nested too deeply
        return "…"
    return text[:_LONGEST].encode("utf-8", "replace").decode()
