"""Values that cross between a program and the operations, held against the contract's signatures at run time.

The type check before a program runs cannot see everything (`json.loads` gives Any), and some mistakes have
the right type: centimetres for metres. Neither may reach an operation.
"""

import inspect
import math
import reprlib
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from .api import GROUPS, AnyResult, Operations, Reason, Result, failed

# What a parameter may be in SI units, wide enough for any table-top cell: outside, the unit is wrong.
RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "above": (0.0, 1.0),
    "clearance": (-0.2, 0.5),
    "depth": (-0.2, 0.3),
    "distance": (0.0, 2.0),
    "dx": (-2.0, 2.0),
    "dy": (-2.0, 2.0),
    "dz": (-2.0, 2.0),
    "force": (0.0, 150.0),
    "press": (0.0, 100.0),
    "rank": (0, 100),
    "speed": (0.001, 1.5),
    "tolerance": (0.0001, 0.1),
    "turn": (-6.3, 6.3),
    "u": (0, 10_000),
    "v": (0, 10_000),
    "width": (0.0, 0.5),
    "yaw": (-6.3, 6.3),
    "x": (-3.0, 3.0),
    "y": (-3.0, 3.0),
    "z": (-3.0, 3.0),
}
_DIRECTIONS: Final = ("approach", "axis", "closing", "direction")
# A number that is not finite means that there was nothing to compute it from.
_NOT_FINITE: Final[Mapping[str, Reason]] = {
    "observe": "no_depth",
    "perceive": "no_depth",
    "measure": "no_depth",
    "compile": "unreachable",
    "act": "stopped",
}
_GROUP_OF: Final = {name: group for group, names in GROUPS.items() for name in names}
_T = TypeVar("_T")


class BadArgument(ValueError):
    """A value that the signature or the ranges do not allow; the message says which, and what would be
    right."""


@cache
def signature(operation: str) -> inspect.Signature:
    """The operation's signature without self, annotations resolved."""
    method = getattr(Operations, operation)
    hints = get_type_hints(method)
    plain = inspect.signature(method)
    parameters = [p.replace(annotation=hints[p.name]) for p in plain.parameters.values() if p.name != "self"]
    return plain.replace(parameters=parameters, return_annotation=hints["return"])


def bind(operation: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, defaults filled in, numbers as the signature has them. Raises BadArgument."""
    wanted = signature(operation)
    try:
        given = wanted.bind(*args, **kwargs)
    except TypeError as error:
        raise BadArgument(f"{operation}: {error}") from None
    given.apply_defaults()
    bound = {}
    for name, value in given.arguments.items():
        bound[name] = _fit(value, wanted.parameters[name].annotation, f"{operation}: {name}")
        check_range(operation, name, bound[name])
    return bound


def check_range(operation: str, parameter: str, value: object) -> None:
    """Raises BadArgument where a number is outside RANGES, or a direction has no length."""
    if parameter in RANGES and isinstance(value, int | float):
        low, high = RANGES[parameter]
        if not low <= value <= high:
            raise BadArgument(f"{operation}: {parameter}={value:g} is outside {low:g} to {high:g} (SI units)")
    if parameter in _DIRECTIONS and isinstance(value, tuple) and not 0.01 < math.hypot(*value) < 100.0:
        raise BadArgument(f"{operation}: {parameter}={value} gives no direction")


def tidy(operation: str, result: object) -> Any:
    """An operation's result with plain Python numbers, of the type its signature says. A number that is not
    finite turns it into a failure. Raises TypeError where the implementation broke the contract."""
    kind = signature(operation).return_annotation
    if get_origin(kind) is list:
        if not isinstance(result, list):
            raise TypeError(f"{operation} returned {type(result).__name__}, not a list")
        return [_tidy_one(operation, get_args(kind)[0], item) for item in result]
    return _tidy_one(operation, kind, result)


def failure(operation: str, reason: Reason) -> Any:
    """What the operation returns when it fails so: a failed result, in a list where it returns a list."""
    kind = signature(operation).return_annotation
    return [failed(get_args(kind)[0], reason)] if get_origin(kind) is list else failed(kind, reason)


def first_failure(arguments: Mapping[str, Any]) -> Reason:
    """Reason of the first failed result among the arguments, "" without one: what an operation passes on."""
    for value in arguments.values():
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, Result) and not item.ok:
                return item.reason
    return ""


def _tidy_one(operation: str, kind: type[AnyResult], result: object) -> AnyResult:
    if type(result) is not kind:
        raise TypeError(f"{operation} returned {type(result).__name__}, not {kind.__name__}")
    try:
        return fitted(result)
    except BadArgument:
        return failed(kind, _NOT_FINITE[_GROUP_OF[operation]])


def fitted(value: _T) -> _T:
    """The same dataclass, with every public field fitted to its annotation; itself where nothing changes."""
    changed = {}
    kind: Any = type(value)
    for name, hint in _hints(kind).items():
        old = getattr(value, name)
        new = _fit(old, hint, name)
        if new is not old:
            changed[name] = new
    return replace(value, **changed) if changed else value  # type: ignore[type-var]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind) if not f.name.startswith("_")}


def _fit(value: Any, hint: Any, where: str) -> Any:
    """The value as `hint` wants it, numpy's numbers as Python's. Raises BadArgument."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        for option in inside:
            try:
                return _fit(value, option, where)
            except BadArgument:
                continue
    elif origin is Literal:
        if isinstance(value, str) and value in inside:
            return value
    elif origin is tuple:
        if isinstance(value, tuple | list | np.ndarray) and len(value) == len(inside):
            items = tuple(_fit(item, kind, where) for item, kind in zip(value, inside, strict=True))
            return value if value.__class__ is tuple and _same(value, items) else items
    elif origin is list:
        if isinstance(value, list | tuple | np.ndarray):
            entries = [_fit(item, inside[0], where) for item in value]
            return value if value.__class__ is list and _same(value, entries) else entries
    elif hint is bool:
        if isinstance(value, bool | np.bool_):
            return bool(value)
    elif hint is int:
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return int(value)
    elif hint is float:
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            return value if type(value) is float and math.isfinite(value) else _finite(value, where)
    elif hint is str:
        if isinstance(value, str):
            return value
    elif hint is types.NoneType:
        if value is None:
            return None
    elif isinstance(value, hint):
        return fitted(value) if is_dataclass(value) else value
    raise BadArgument(f"{where} is {_named(value)}, not {_named_type(hint)}")


def _finite(value: Any, where: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadArgument(f"{where} is not a finite number")
    return number


def _same(old: Any, new: Any) -> bool:
    return all(a is b for a, b in zip(old, new, strict=True))


def _named(value: object) -> str:
    return (
        reprlib.repr(value) if isinstance(value, bool | int | float | str | tuple) else type(value).__name__
    )


def _named_type(hint: Any) -> str:
    text: str = hint.__name__ if isinstance(hint, type) else str(hint)
    return text.replace(f"{Operations.__module__}.", "").replace("typing.", "")
