"""How values of the contract appear inside a program: public fields only; the host object when they return.

A failed result sends its fields without ok and reason, which the program must ask for: so the host knows
whether it looked. When printed it shows as `Robot(failed='blocked', …)`.
"""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from pydantic_monty import ClassInstance, ClassType

from .api import (
    Box,
    Look,
    Part,
    Plan,
    Point,
    Pose,
    Region,
    Result,
    Robot,
    Shape,
    Support,
    View,
    Workspace,
    public_fields,
)
from .arguments import RANGES, BadArgument, fitted

_OUTCOME: Final = ("ok", "reason")


class Exposed(ClassInstance):
    """One value of the contract inside a program. Host fields (`_host`) never cross."""

    def get_eager_attrs(self) -> dict[str, Any]:
        names = public_fields(type(self.value))
        if self.lazy_attrs is None:
            return {name: expose(getattr(self.value, name)) for name in names}
        shown = {name: expose(getattr(self.value, name)) for name in names if name not in _OUTCOME}
        return {"failed": self.value.reason, **shown}


class ExposedType(ClassType):
    """One type of the contract inside a program: Box and Point can be made there, the rest is only
    returned."""

    def construct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ClassInstance:
        if self.value is Box:
            return _exposed(_box(*args, **kwargs))
        if self.value is Point:
            return _exposed(_point(*args, **kwargs))
        raise TypeError(f"a {self.value.__name__} is only returned by operations; a program cannot make one")


def expose(value: Any, watched: Callable[[UUID], None] | None = None) -> Any:
    """The value as it is sent to a program. `watched` is told the id of a failed result, whose ok and reason
    then arrive as attribute look-ups of that id."""
    if isinstance(value, list):
        return [expose(item, watched) for item in value]
    if not isinstance(value, Result | Box):
        return value
    if watched is None or isinstance(value, Box) or value.ok:
        return _exposed(value)
    instance = Exposed(value, class_type=_TYPES[type(value)], lazy_attrs=_OUTCOME)
    watched(instance.id)
    return instance


def _exposed(value: Result | Box) -> Exposed:
    return Exposed(value, class_type=_TYPES[type(value)])


def names() -> dict[str, Any]:
    """The contract's types by name, to be bound in a program."""
    return {kind.__name__: wrapper for kind, wrapper in _TYPES.items()}


def _box(u0: int, v0: int, u1: int, v1: int) -> Box:
    try:
        return fitted(Box(u0, v0, u1, v1))
    except BadArgument as error:
        raise TypeError(f"Box: {error}") from None


def _point(x: float, y: float, z: float) -> Point:
    """A point outside any cell has the wrong unit, and says so in its reason."""
    try:
        point = fitted(Point(x, y, z))
    except BadArgument as error:
        raise TypeError(f"Point: {error}") from None
    inside = all(RANGES[name][0] <= getattr(point, name) <= RANGES[name][1] for name in ("x", "y", "z"))
    return point if inside else Point(point.x, point.y, point.z, ok=False, reason="bad_argument")


_KINDS = (Box, Point, Pose, Robot, Workspace, View, Region, Look, Part, Shape, Support, Plan)
_TYPES: Final = {kind: ExposedType(kind, init=True) for kind in _KINDS}
