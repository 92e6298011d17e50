"""The host side of an episode: a task set to an initial state, with a device for programs and a truth for
judges."""

from dataclasses import dataclass
from typing import Any, Protocol

from .device import Device


@dataclass(frozen=True)
class Outcome:
    """Ground truth, for Verifier and Governor only. success: at any step so far. settled: in the state
    after the last
    motion has come to rest. progress: share of goal conditions that hold. record: what the Verifier may
    look at."""

    success: bool
    settled: bool
    progress: float
    record: dict[str, Any]


class World(Protocol):
    """A scene set to one initial state. `device` is what programs reach; the rest never enters a program."""

    @property
    def device(self) -> Device: ...

    @property
    def instruction(self) -> str: ...

    def digest(self) -> str:
        """SHA-256 of the simulator's state (or of the devices' identity on hardware)."""
        ...

    def outcome(self) -> Outcome:
        """Lets the scene settle, then measures. Raises NotImplementedError where there is no ground truth."""
        ...
