"""Off-screen pictures: one OpenGL context a process, whatever the number of models."""

import atexit
import functools
import importlib
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import RenderingMissing
from .library import load
from .opengl import platform

_LARGEST = 2048  # pixels, of a picture's side, with OSMesa


@functools.cache
def _context() -> Any:
    """The process's OpenGL context, current in this thread."""
    name = platform()
    try:
        context = importlib.import_module(f"mujoco.{name}").GLContext(_LARGEST, _LARGEST)
    except (ImportError, RuntimeError, AttributeError, OSError) as error:
        raise RenderingMissing(f"{name}: {error}") from error
    context.make_current()
    atexit.register(_shut, context)  # before the OpenGL library shuts itself down, else it complains
    return context


def _shut(context: Any) -> None:
    for renderer in list(_renderers):
        renderer.close()
    try:
        context.free()
    except Exception:  # another user of the library has shut it down already
        context._context = None


_renderers: "weakref.WeakSet[Renderer]" = weakref.WeakSet()


class Renderer:
    """Renders the cameras of one model. Colour and metric depth, as the model's state is now."""

    def __init__(self, model: Any, size: tuple[int, int] = (256, 256)) -> None:
        self._mujoco = mujoco = load().mujoco
        self._model = model
        model.vis.quality.offsamples = 0  # depth at edges must be one surface's, not a mixture
        self._make(size)
        self._scene = mujoco.MjvScene(model, maxgeom=2 * model.ngeom + 200)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[0] = 0  # collision shapes
        self._perturbation = mujoco.MjvPerturb()
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._checked = False
        _renderers.add(self)

    def _make(self, size: tuple[int, int]) -> None:
        """The buffer to draw into, no larger than needed: all of it is cleared for each picture."""
        mujoco = self._mujoco
        _context().make_current()
        self._model.vis.global_.offwidth, self._model.vis.global_.offheight = size
        self._target = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        self._size = size

    def close(self) -> None:
        """Frees the model's textures and meshes on the OpenGL side."""
        if self in _renderers:
            _renderers.discard(self)
            _context().make_current()
            self._target.free()

    def render(
        self, data: Any, camera: int, width: int, height: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """uint8 H×W×3 RGB; float64 H×W depth along the optical axis, metres. Raises RenderingMissing."""
        mujoco, model = self._mujoco, self._model
        if width > self._size[0] or height > self._size[1]:
            self._target.free()
            self._make((width, height))
        _context().make_current()  # another model or library may have changed it
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._target)
        self._camera.fixedcamid = camera
        mujoco.mjv_updateScene(
            model,
            data,
            self._options,
            self._perturbation,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        view = mujoco.MjrRect(0, 0, width, height)
        colour, raw = np.empty((height, width, 3), np.uint8), np.empty((height, width), np.float32)
        mujoco.mjr_render(view, self._scene, self._target)
        mujoco.mjr_readPixels(colour, raw, view, self._target)
        near, far = model.vis.map.znear * model.stat.extent, model.vis.map.zfar * model.stat.extent
        depth = near / (1.0 - raw[::-1].astype(np.float64) * (1.0 - near / far))
        if not self._checked:
            _check(colour, depth, far)
            self._checked = True
        return np.ascontiguousarray(colour[::-1]), depth


def _check(colour: NDArray[np.uint8], depth: NDArray[np.float64], far: float) -> None:
    """A broken driver gives black, uniform or empty pictures without an error."""
    if colour.std() < 1.0 or not np.isfinite(depth).all() or np.ptp(depth) < 1e-3 or (depth >= far).all():
        raise RenderingMissing("the OpenGL driver renders empty pictures")
