"""A rollout: programs played in the world of one initial state, with digests, results and outcome.

It is a pure function of task, initial state and programs, so whoever has these can play an episode again.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..episode import World
from ..operations import CellOperations
from ..sandbox import Sandbox, Session
from ..trace import ProgramResult
from . import suites
from .world import WorldCache


@dataclass(frozen=True)
class Rollout:
    """Programs to play in order from an initial state. finish: measure the outcome after the last one."""

    suite: str
    parts: tuple[int, ...]
    state: int
    sources: tuple[str, ...]
    finish: bool
    scene: str = ""

    def continues(self, earlier: "Rollout") -> bool:
        """Whether this rollout begins with all that the earlier one has played."""
        same = (self.suite, self.parts, self.state) == (earlier.suite, earlier.parts, earlier.state)
        return same and self.sources[: len(earlier.sources)] == earlier.sources


@dataclass(frozen=True)
class Played:
    """Result of the last program, and of the episode where it was to finish. `privileged` is for judges
    only."""

    result: ProgramResult
    start_digest: str
    end_digest: str
    operations: int
    seconds: float
    outcome: dict[str, Any] | None = field(default=None)
    pictures: tuple[bytes, ...] = ()  # JPEG, what the last program captured


class _Episode:
    """A world with a program session, and what was played in it so far."""

    def __init__(self, rollout: Rollout, world: World, session: Session) -> None:
        self.rollout = replace(rollout, sources=(), finish=False)
        self.world = world
        self.session = session
        self.operations = CellOperations(world.device)
        self.start = world.digest()
        self.result = ProgramResult()
        self.count, self.seconds, self.pictures = 0, 0.0, 0

    def play(self, rollout: Rollout) -> Played:
        for source in rollout.sources[len(self.rollout.sources) :]:
            self.result = self.session.run(source, self.operations)
            self.count += len(self.result.calls)
            self.seconds += self.result.seconds
        new = self.operations.captured[self.pictures :]
        self.pictures += len(new)
        self.rollout = rollout
        outcome = None
        if rollout.finish:
            measured = self.world.outcome()
            outcome = {
                "success": measured.success,
                "settled": measured.settled,
                "progress": measured.progress,
                "record": json.loads(json.dumps(measured.record)),  # numpy's floats become Python's
            }
        return Played(
            self.result,
            self.start,
            self.world.digest(),
            self.count,
            self.seconds,
            outcome,
            tuple(picture(shot.frame.colour) for shot in new),
        )


def picture(colour: NDArray[np.uint8]) -> bytes:
    """A picture (uint8 H×W×3 RGB) as JPEG, for people: an episode can be played again for every bit of it."""
    done, data = cv2.imencode(".jpg", colour[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90])
    return data.tobytes() if done else b""


class Player:
    """Plays rollouts. Keeps up to `scenes` worlds, one sandbox, and the episode that was played last."""

    def __init__(self, scenes: int = 2) -> None:
        self._worlds = WorldCache(limit=scenes)
        self._sandbox = Sandbox()
        self._open: _Episode | None = None

    def play(self, rollout: Rollout) -> Played:
        """Go on with the open episode where this rollout continues it, else begin a new one."""
        open_one = self._open
        if open_one is None or open_one.rollout.finish or not rollout.continues(open_one.rollout):
            if open_one is not None:
                open_one.session.close()
            self._open = None
            task = suites.load_task(rollout.suite, rollout.parts)
            open_one = _Episode(rollout, self._worlds.open(task, rollout.state), self._sandbox.session())
            self._open = open_one
        return open_one.play(rollout)
