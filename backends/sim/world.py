"""An episode's world in simulation, and the cache that keeps one environment a scene."""

from collections import OrderedDict
from typing import Any

import numpy as np

from ..episode import Outcome
from .device import SimDevice
from .errors import SimError
from .library import load
from .rendering import Renderer
from .scene import Scene
from .suites import SimTask

_SETTLE_START, _SETTLE_END = 0.3, 1.5  # s; the end waits for rest, at most this long
_REST = 0.02  # m/s and rad/s


class SimWorld:
    """A task set to an initial state. It lives until its scene is opened again; then every use raises SimError."""

    def __init__(
        self, scene: Scene, renderer: Renderer, task: SimTask, state: int, size: tuple[int, int]
    ) -> None:
        self._scene, self._task = scene, task
        self.instruction = task.instruction
        scene.place(task, state)
        self._generation = scene.generation
        self._success = False
        self._outcome: Outcome | None = None
        self.device = SimDevice(scene, renderer, size, f"{task.name}#{state}")
        self.device.control.wait(_SETTLE_START)
        self.device.control.watch = self._watch

    def digest(self) -> str:
        self._alive()
        return self._scene.digest()

    def outcome(self) -> Outcome:
        """Lets the scene come to rest with the arm still, once, then measures."""
        self._alive()
        if self._outcome is None:
            self._settle()
            self._watch()
            held = [self._scene.holds(condition) for condition in self._task.goal]
            self._outcome = Outcome(self._success, all(held), sum(held) / len(held), self.truth())
        return self._outcome

    def truth(self) -> dict[str, Any]:
        return {}

    def _watch(self) -> None:
        if not self._success:
            self._success = all(self._scene.holds(condition) for condition in self._task.goal)

    def _settle(self) -> None:
        data, control = self._scene.data, self.device.control
        loose = np.ones(self._scene.model.nv, dtype=np.bool_)
        loose[control.arm.dofs] = loose[control.arm.finger_dofs] = False
        for step in range(round(_SETTLE_END / 0.1)):
            control.wait(0.1)
            if step >= 2 and np.abs(data.qvel[loose]).max(initial=0.0) < _REST:
                break
        load().mujoco.mj_forward(self._scene.model, data)

    def _alive(self) -> None:
        if self._generation != self._scene.generation:
            raise SimError("This world is over: its scene has been opened for another episode.")


class WorldCache:
    """Keeps up to `limit` scenes with their models and pictures' textures, the least recently used one goes first.

    size: width and height of pictures. Not for use from several threads.
    """

    def __init__(self, limit: int = 2, size: tuple[int, int] = (256, 256)) -> None:
        self._limit, self._size = max(1, limit), size
        self._scenes: OrderedDict[str, tuple[Scene, Renderer]] = OrderedDict()

    def open(self, task: SimTask, state: int) -> SimWorld:
        """The task at an initial state, at rest. Any world of the same scene ends.

        Raises UnknownTask for a state that does not exist, RenderingMissing, SimulatorMissing.
        """
        if task.scene not in self._scenes:
            while len(self._scenes) >= self._limit:
                self._scenes.popitem(last=False)[1][1].close()
            scene = Scene(task)
            self._scenes[task.scene] = (scene, Renderer(scene.model))
        self._scenes.move_to_end(task.scene)
        return SimWorld(*self._scenes[task.scene], task, state, self._size)

    def close(self) -> None:
        """Frees everything."""
        while self._scenes:
            self._scenes.popitem()[1][1].close()
