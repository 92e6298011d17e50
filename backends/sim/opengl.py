"""Chooses the OpenGL platform before anything loads one: EGL where it really gives a context, else OSMesa.

MuJoCo takes the first platform it finds among the loaded libraries, so a process cannot change its mind.
"""

import ctypes
import functools
import os
from collections.abc import Callable

from .errors import RenderingMissing

_LIBRARIES = {"egl": "libEGL.so.1", "osmesa": "libOSMesa.so.8"}
_PLATFORM_DEVICE, _OPENGL_API, _NONE = 0x313F, 0x30A2, 0x3038
_CONFIG = (0x3033, 0x0001, 0x3040, 0x0008, 0x3025, 24, _NONE)  # pbuffer, OpenGL, 24 bits of depth


@functools.cache
def platform() -> str:
    """The platform of this process: "egl" or "osmesa". MUJOCO_GL decides where it names one of them.

    Sets MUJOCO_GL and PYOPENGL_PLATFORM, which child processes inherit. Raises RenderingMissing.
    """
    asked = os.environ.get("MUJOCO_GL", "").lower()
    tried = [asked] if asked in _LIBRARIES else ["egl", "osmesa"]
    works: dict[str, Callable[[], bool]] = {"egl": _egl_works, "osmesa": lambda: _open("osmesa") is not None}
    chosen = next((name for name in tried if works[name]()), "")
    if not chosen:
        raise RenderingMissing(f"no working {' or '.join(_LIBRARIES[name] for name in tried)}")
    os.environ["MUJOCO_GL"] = os.environ["PYOPENGL_PLATFORM"] = chosen
    return chosen


def _open(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(_LIBRARIES[name])  # local: MuJoCo does not see it
    except OSError:
        return None


def _egl_works() -> bool:
    """Whether some device gives a context, found out without PyOpenGL."""
    egl = _open("egl")
    if egl is None:
        return False
    pointer, number = ctypes.c_void_p, ctypes.c_int
    for name in ("eglGetProcAddress", "eglCreateContext"):
        getattr(egl, name).restype = pointer
    query, display_of = (
        egl.eglGetProcAddress(name) for name in (b"eglQueryDevicesEXT", b"eglGetPlatformDisplayEXT")
    )
    if not query or not display_of:
        return False
    query_devices = ctypes.CFUNCTYPE(number, number, pointer, pointer)(query)
    platform_display = ctypes.CFUNCTYPE(pointer, number, pointer, pointer)(display_of)
    devices, count = (pointer * 16)(), number()
    if not query_devices(16, devices, ctypes.byref(count)):
        return False
    return any(
        _gives_context(egl, platform_display(_PLATFORM_DEVICE, devices[k], None)) for k in range(count.value)
    )


def _gives_context(egl: ctypes.CDLL, display: int | None) -> bool:
    pointer, number = ctypes.c_void_p, ctypes.c_int
    if not display or not egl.eglInitialize(pointer(display), None, None):
        return False
    configs, found = (pointer * 1)(), number()
    wanted = (number * len(_CONFIG))(*_CONFIG)
    egl.eglChooseConfig(pointer(display), wanted, configs, 1, ctypes.byref(found))
    context = None
    if found.value and egl.eglBindAPI(_OPENGL_API):
        context = egl.eglCreateContext(pointer(display), pointer(configs[0]), None, None)
        if context:
            egl.eglDestroyContext(pointer(display), pointer(context))
    return bool(context)  # the display stays initialised: this process is about to use it
