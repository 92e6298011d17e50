"""Old versions of event types, raised on read one version at a time; the stored bytes never change."""

from collections.abc import Callable
from typing import Any

from .errors import UpcastMissing

Data = dict[str, Any]
Upcaster = Callable[[Data], Data]

_UPCASTERS: dict[tuple[str, int], Upcaster] = {}


def upcaster(type: str, version: int) -> Callable[[Upcaster], Upcaster]:
    """Register a function that turns the data of `type` at `version` into that of `version` + 1."""

    def register(function: Upcaster) -> Upcaster:
        if (type, version) in _UPCASTERS:
            raise ValueError(f"{type} version {version} has an upcaster already")
        _UPCASTERS[type, version] = function
        return function

    return register


def lift(type: str, version: int, current: int, data: Data) -> Data:
    """The data raised from `version` to `current`. Raises UpcastMissing where there is no way."""
    if version > current:
        raise UpcastMissing(
            f"{type} has version {version}, this software reads up to {current}; install a later skill2real."
        )
    for step in range(version, current):
        function = _UPCASTERS.get((type, step))
        if function is None:
            raise UpcastMissing(
                f"{type} version {step} cannot be read: there is no way to version {step + 1}."
            )
        data = function(data)
    return data
