"""A rollout: programs played in the world of one initial state, with digests, results and outcome.

It is a pure function of task, initial state and programs, so whoever has these can play an episode again.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..operations import CellOperations
from ..sandbox import Sandbox, Session, Told
from ..trace import ProgramResult
from . import suites
from .scene import Scene
from .world import SimWorld, WorldCache, WorldMoment

FORKS = 24  # a place holds the pictures of its episode: some 30 MB
PIXELS = 256  # width and height of pictures, where nobody asks for others
_Key = tuple[str, tuple[int, ...], int, tuple[str, ...]]


@dataclass(frozen=True)
class Rollout:
    """Programs to play in order from an initial state. finish: measure the outcome after the last one.
    pixels: width and height of pictures."""

    suite: str
    parts: tuple[int, ...]
    state: int
    sources: tuple[str, ...]
    finish: bool
    scene: str = ""
    pixels: int = PIXELS

    def continues(self, earlier: "Rollout") -> bool:
        """Whether this rollout begins with all that the earlier one has played."""
        same = all(
            getattr(self, name) == getattr(earlier, name) for name in ("suite", "parts", "state", "pixels")
        )
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


@dataclass(frozen=True)
class _Fork:
    """An episode between two programs, to go on from with others: equal to the bit, nothing played again."""

    rollout: Rollout
    world: SimWorld
    moment: WorldMoment
    operations: tuple[Any, ...]
    memory: tuple[Told, ...]
    start: str
    count: int
    seconds: float


class _Episode:
    """A world with a program session, and what was played in it so far."""

    def __init__(self, rollout: Rollout, world: SimWorld, session: Session) -> None:
        self.rollout = replace(rollout, sources=(), finish=False)
        self.world = world
        self.session = session
        self.operations = CellOperations(world.device)
        self.start = ""
        self.result = ProgramResult()
        self.count, self.seconds, self.pictures = 0, 0.0, 0

    def fork(self) -> _Fork | None:
        """The present place, None where the session cannot be had again."""
        memory = self.session.memory()
        # a program that was refused is in no memory, yet is its episode's
        if memory is None or len(memory) != len(self.rollout.sources):
            return None
        return _Fork(
            self.rollout, self.world, self.world.snapshot(), self.operations.snapshot(), memory,
            self.start, self.count, self.seconds,
        )  # fmt: skip

    def rejoin(self, fork: _Fork) -> bool:
        """Makes a new episode what it was there, its world and session given; False where that fails."""
        if not self.session.recall(fork.memory):
            return False
        self.operations.restore(fork.operations)
        self.rollout, self.result = fork.rollout, fork.memory[-1].result
        self.start, self.count, self.seconds = fork.start, fork.count, fork.seconds
        return True

    def play(self, rollout: Rollout, keep: Callable[[_Fork], None]) -> Played:
        """keep: takes the place after each program that others may follow."""
        for number in range(len(self.rollout.sources), len(rollout.sources)):
            self.result = self.session.run(rollout.sources[number], self.operations)
            self.count += len(self.result.calls)
            self.seconds += self.result.seconds
            self.rollout = replace(rollout, sources=rollout.sources[: number + 1], finish=False)
            last = number + 1 == len(rollout.sources)
            if not (last and rollout.finish) and (fork := self.fork()) is not None:
                keep(fork)
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
    """Plays rollouts. Keeps up to `scenes` worlds, one sandbox, and the episode that was played last.

    forks: how many places between two programs it keeps, so that a rollout that begins with the same programs
    goes on from there; those that were not used for longest go first, and all of a scene go with it. With 0,
    all is played.
    """

    def __init__(self, scenes: int = 2, forks: int = FORKS) -> None:
        self._scenes, self._pixels = scenes, PIXELS
        self._worlds = self._cache(PIXELS)
        self._most, self._forks = forks, OrderedDict[_Key, _Fork]()
        self._sandbox = Sandbox()
        self._open: _Episode | None = None

    def play(self, rollout: Rollout) -> Played:
        """Go on with the open episode where this rollout continues it, else begin a new one."""
        if rollout.pixels != self._pixels:
            self._resize(rollout.pixels)
        open_one = self._open
        if open_one is None or open_one.rollout.finish or not rollout.continues(open_one.rollout):
            if open_one is not None:
                open_one.session.close()
            self._open = None
            open_one = self._rejoined(rollout) or self._begun(rollout)
            self._open = open_one
        return open_one.play(rollout, self._keep)

    def _cache(self, pixels: int) -> WorldCache:
        return WorldCache(limit=self._scenes, size=(pixels, pixels), forget=self._forget)

    def _resize(self, pixels: int) -> None:
        """Pictures of another size from now on; what was open or kept is begun anew."""
        if self._open is not None:
            self._open.session.close()
            self._open = None
        self._worlds.close()
        self._pixels, self._worlds = pixels, self._cache(pixels)

    def _begun(self, rollout: Rollout) -> _Episode:
        task = suites.load_task(rollout.suite, rollout.parts)
        episode = _Episode(rollout, self._worlds.open(task, rollout.state), self._sandbox.session())
        episode.start = episode.world.digest()
        return episode

    def _rejoined(self, rollout: Rollout) -> _Episode | None:
        """An episode at the last kept place that this rollout passes."""
        for number in range(len(rollout.sources), 0, -1):
            key = _key(replace(rollout, sources=rollout.sources[:number]))
            fork = self._forks.get(key)
            if fork is None:
                continue
            self._worlds.back(fork.world, fork.moment)
            episode = _Episode(rollout, fork.world, self._sandbox.session())
            if episode.rejoin(fork):
                self._forks.move_to_end(key)
                return episode
            del self._forks[key]
        return None

    def _keep(self, fork: _Fork) -> None:
        self._forks[_key(fork.rollout)] = fork
        while len(self._forks) > self._most:
            self._forks.popitem(last=False)

    def _forget(self, scene: Scene) -> None:
        for key in [key for key, fork in self._forks.items() if fork.world.scene is scene]:
            del self._forks[key]


def _key(rollout: Rollout) -> _Key:
    return rollout.suite, rollout.parts, rollout.state, rollout.sources
