"""Missing parts of the simulator are named with their remedy, and rendering falls back from EGL to OSMesa."""

import os
import subprocess
import sys

import pytest

from skill2real.backends.sim import library, opengl
from skill2real.backends.sim.errors import RenderingMissing, SimulatorMissing

pytestmark = pytest.mark.sim


def test_missing_rendering_libraries_are_named(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(opengl, "_open", lambda name: None)
    with pytest.raises(RenderingMissing, match="libegl1 libgl1 libosmesa6"):
        opengl.platform.__wrapped__()


def test_another_version_of_mujoco_is_refused(monkeypatch):
    monkeypatch.setattr(library.importlib.metadata, "version", lambda name: "3.9.0")
    with pytest.raises(SimulatorMissing, match=r"3\.9\.0 is installed, 3\.3\.2 is needed.*pip install"):
        library.load.__wrapped__()


RENDER = """
import os
from skill2real.backends.sim.library import load
from skill2real.backends.sim.rendering import Renderer
mujoco = load().mujoco
model = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><light pos='0 0 3'/><camera name='c' pos='0 0 2'/>"
    "<geom type='box' size='.3 .3 .3' group='1' rgba='1 0 0 1'/></worldbody></mujoco>"
)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
colour, depth = Renderer(model, (64, 64)).render(data, 0, 64, 64)
print(os.environ["MUJOCO_GL"], round(float(depth[32, 32]), 2), bool(colour[32, 32, 0] > colour[32, 32, 1]))
"""


@pytest.mark.parametrize(
    ("surroundings", "platform"),
    [
        ({}, "egl"),
        ({"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere"}, "osmesa"),
        ({"MUJOCO_GL": "osmesa"}, "osmesa"),
    ],
)
def test_renders_with_egl_or_where_it_gives_no_context_with_osmesa(surroundings, platform):
    clean = {
        name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")
    }
    run = subprocess.run(
        [sys.executable, "-c", RENDER], env=clean | surroundings, capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == [platform, "1.7", "True"], run.stderr[-2000:]
    assert run.stderr == ""
