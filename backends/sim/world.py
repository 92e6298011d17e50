"""An episode's world in simulation, and the cache that keeps one environment a scene."""

import copy
import gc
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..episode import Outcome
from .device import SimDevice
from .library import load
from .rendering import Renderer
from .scene import Moment, Scene
from .suites import SimTask
from .truth import FAR, Recorder

_SETTLE_START, _SETTLE_END = 1.0, 1.5  # s, longest wait for rest
_REST = 0.02  # m/s and rad/s


@dataclass(frozen=True)
class WorldMoment:
    """A world before its outcome was measured, to return to."""

    scene: Moment
    device: tuple[Any, ...]
    truth: bytes


class SimWorld:
    """A task set to an initial state. It lives until its scene is opened again; then it raises SimError."""

    def __init__(
        self, scene: Scene, renderer: Renderer, task: SimTask, state: int, size: tuple[int, int]
    ) -> None:
        self.scene, self._task, self._state = scene, task, state
        self.instruction = task.instruction
        scene.place(task, state)
        self._outcome: Outcome | None = None
        self.device = SimDevice(scene, renderer, size, f"{task.name}#{state}")
        self._settle(_SETTLE_START)
        self._recorder = Recorder(scene, task, self.device.control.limbs)
        self.device.control.watch = self._recorder.watch
        self.device.control.gripped = self._recorder.gripped
        self.device.captured = self._recorder.captured

    def digest(self) -> str:
        self.device.alive()
        return self.scene.digest()

    def snapshot(self) -> WorldMoment:
        """The world as it is now. Only before the outcome is measured."""
        self.device.alive()
        assert self._outcome is None
        return WorldMoment(self.scene.snapshot(), self.device.snapshot(), self._recorder.snapshot())

    def restore(self, moment: WorldMoment) -> None:
        """Returns to a moment of this world, bit for bit, whatever happened in the scene since. Any other
        world of the scene ends."""
        self.scene.place(self._task, self._state)  # what the environment keeps of its own
        self.scene.restore(moment.scene)
        self.device.restore(moment.device)
        self._recorder.restore(moment.truth)
        self._outcome = None

    def outcome(self) -> Outcome:
        """Lets the scene come to rest with the arm still, once, then measures."""
        self.device.alive()
        if self._outcome is None:
            self._settle(_SETTLE_END)
            self._recorder.watch()
            self._recorder.settled()
            record = self._recorder.record()
            held = [bool(condition["held"]) for condition in record["goal"]]
            self._outcome = Outcome(self._recorder.success, all(held), sum(held) / len(held), record)
        return self._outcome

    def truth(self) -> dict[str, Any]:
        """The privileged record as of now, without letting the scene come to rest (see truth.py)."""
        self.device.alive()
        return copy.deepcopy(self._recorder.record())

    def _settle(self, longest: float) -> None:
        """Waits with the arm still until the rest of the scene hardly moves, at least 0.3 s."""
        data, control = self.scene.data, self.device.control
        near = np.abs(data.xpos).max(axis=1) < FAR
        loose = near[self.scene.model.dof_bodyid]
        for limb in control.limbs.values():
            loose[limb.arm.dofs] = loose[limb.arm.finger_dofs] = False
        for step in range(round(longest / 0.1)):
            control.wait(0.1)
            if step >= 2 and np.abs(data.qvel[loose]).max(initial=0.0) < _REST:
                break
        load().mujoco.mj_forward(self.scene.model, data)


class WorldCache:
    """Keeps up to `limit` scenes with their models and textures; the least recently used one goes first.

    size: width and height of pictures. forget: told of each scene that goes, so that nothing else keeps it.
    Not for use from several threads.
    """

    def __init__(
        self,
        limit: int = 2,
        size: tuple[int, int] = (256, 256),
        forget: Callable[[Scene], None] = lambda scene: None,
    ) -> None:
        self._limit, self._size, self._forget = max(1, limit), size, forget
        self._scenes: OrderedDict[str, tuple[Scene, Renderer]] = OrderedDict()

    def open(self, task: SimTask, state: int) -> SimWorld:
        """The task at an initial state, at rest. Any world of the same scene ends.

        Raises UnknownTask for a state that does not exist, RenderingMissing, SimulatorMissing.
        """
        if task.scene not in self._scenes:
            self._shrink(self._limit - 1)
            scene = Scene(task)
            self._scenes[task.scene] = (scene, Renderer(scene.model, self._size))
        self._scenes.move_to_end(task.scene)
        return SimWorld(*self._scenes[task.scene], task, state, self._size)

    def back(self, world: SimWorld, moment: WorldMoment) -> None:
        """Returns to a moment of a world whose scene is still kept. Any other world of the scene ends."""
        self._scenes.move_to_end(world.scene.key)
        world.restore(moment)

    def close(self) -> None:
        """Frees everything."""
        self._shrink(0)

    def _shrink(self, size: int) -> None:
        if len(self._scenes) <= size:
            return
        while len(self._scenes) > size:
            scene, renderer = self._scenes.popitem(last=False)[1]
            self._forget(scene)
            renderer.close()
        del scene, renderer
        gc.collect()  # an environment is a knot of cycles, and a gigabyte
