"""A program that renders one picture, counts the tasks, and prints a `Probe` as JSON in its last line.

`doctor` runs it in a process of its own, since a broken driver may crash it.
"""

import os
import sys

import msgspec

_SCENE = """
<mujoco>
  <worldbody>
    <light pos="0 0 2"/>
    <camera name="above" pos="0 0 1"/>
    <geom group="1" type="box" size="0.1 0.1 0.1" rgba="0.8 0.2 0.2 1"/>
    <geom group="1" type="plane" size="1 1 0.1" rgba="0.2 0.4 0.8 1"/>
  </worldbody>
</mujoco>
"""


class Probe(msgspec.Struct, kw_only=True):
    """What works. An error is one sentence."""

    platform: str = ""  # of OpenGL: egl or osmesa
    driver: str = ""
    suites: int = 0
    tasks: int = 0
    error: str = ""
    asset_error: str = ""


def probe() -> Probe:
    from ..backends.sim.errors import SimError
    from ..backends.sim.library import load, platform
    from ..backends.sim.rendering import Renderer
    from ..backends.sim.suites import count_tasks, list_suites, load_task

    found = Probe()
    try:
        mujoco = load().mujoco
        model = mujoco.MjModel.from_xml_string(_SCENE)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        Renderer(model).render(data, 0, 64, 64)
        from OpenGL import GL

        found.driver = GL.glGetString(GL.GL_RENDERER).decode()
        found.platform = platform()
    except SimError as error:
        found.error = found.asset_error = str(error)
        return found
    try:
        load_task("libero_90", (0,))
        suites = list_suites()
        found.suites, found.tasks = len(suites), sum(map(count_tasks, suites))
    except SimError as error:
        found.asset_error = str(error)
    return found


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(probe()).decode() + "\n")
    sys.stdout.flush()
    os._exit(0)  # some drivers complain, or worse, when their contexts are torn down
