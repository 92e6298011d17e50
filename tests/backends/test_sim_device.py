"""The simulated cell: accuracy of motion, contact, gripper, frames, and motions that cannot be."""

import numpy as np
import pytest
from simulated import downward, go, opened, pick, shifted

from skill2real.backends.sim.errors import SimError

pytestmark = pytest.mark.sim
LATERAL = np.array([0.0, 1.0, 0.0])
FREE = (0.45, 0.05)  # a place of the table without things, in the scene used here


@pytest.fixture
def world():
    return opened("libero_90", 46)


def test_straight_line_is_followed_and_met_to_a_millimetre(world):
    device = world.device
    start = device.arm("arm").tool_to_base.copy()
    target = downward(LATERAL, [0.55, -0.25, 0.2])
    track = []
    device.control.watch = lambda: track.append(device.control.limbs["arm"].tool[:3, 3])
    motion = go(world, target, tolerance=0.001)
    assert (motion.stop, motion.done) == ("", 1)
    reached = device.arm("arm").tool_to_base
    assert np.linalg.norm(reached[:3, 3] - target[:3, 3]) < 0.001
    assert np.abs(reached[:3, :3] - target[:3, :3]).max() < 0.005
    along = target[:3, 3] - start[:3, 3]
    along /= np.linalg.norm(along)
    away = [np.linalg.norm(np.cross(place - start[:3, 3], along)) for place in track]
    assert len(track) > 10
    assert max(away) < 0.003


def test_speed_is_kept(world):
    device = world.device
    places = []
    device.control.watch = lambda: places.append(device.control.limbs["arm"].tool[:3, 3])
    device.follow("arm", [shifted(world, 0.0, 0.2, 0.0)], 0.1, 40.0, 0.0, 0.01, None)
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / (5 * device.control.tick)
    assert 0.09 < max(speeds) < 0.105


def test_unreachable_is_found_before_anything_moves(world):
    device = world.device
    before = world.digest()
    far = downward(LATERAL, [0.9, 0.5, 0.3])
    near = shifted(world, 0.0, 0.0, -0.05)
    assert device.reachable("arm", [near, far]) == 1
    motion = go(world, near, far)
    assert (motion.stop, motion.done) == ("unreachable", 1)
    outside = downward(LATERAL, [0.5, 0.0, -0.5])
    assert go(world, outside).stop == "unreachable"
    not_a_number = shifted(world, np.nan, 0.0, 0.0)
    assert go(world, not_a_number).stop == "unreachable"
    assert world.digest() == before


def test_pushing_into_the_table_is_blocked(world):
    low = world.device.facts().box[2][0]
    assert go(world, downward(LATERAL, [*FREE, 0.1])).stop == ""
    motion = world.device.follow(
        "arm", [downward(LATERAL, [*FREE, low + 0.001])], 0.1, 30.0, 0.0, 0.004, None
    )
    assert motion.stop == "blocked"
    assert motion.force > 30.0
    assert go(world, downward(LATERAL, [*FREE, 0.1])).stop == ""  # and the arm is free again


def test_touch_stops_at_contact_and_says_when_there_is_none(world):
    go(world, downward(LATERAL, [*FREE, 0.1]))
    down = np.array([0.0, 0.0, -1.0])
    first = world.device.touch("arm", down, 0.3, 0.03, 6.0)
    assert (first.stop, first.contact) == ("", True)
    height = world.device.arm("arm").tool_to_base[2, 3]
    go(world, downward(LATERAL, [*FREE, 0.1]))
    world.device.touch("arm", down, 0.3, 0.01, 6.0)
    assert abs(world.device.arm("arm").tool_to_base[2, 3] - height) < 0.001
    up = world.device.touch("arm", -down, 0.05, 0.05, 6.0)
    assert (up.stop, up.contact) == ("no_contact", False)


def test_gripper_reaches_widths_and_closes_on_nothing(world):
    for width in (0.08, 0.03):
        world.device.grip("arm", width, 20.0)
        assert abs(world.device.arm("arm").width - width) < 0.0035
        assert not world.device.arm("arm").holding
    world.device.grip("arm", 0.0, 20.0)
    assert world.device.arm("arm").width < 0.003
    assert not world.device.arm("arm").holding


def test_home_brings_the_arm_back(world):
    go(world, shifted(world, 0.1, 0.2, -0.05))
    assert world.device.home("arm").stop == ""
    rest = world.device.control.limbs["arm"].kinematics.rest
    assert np.abs(world.device.control.limbs["arm"].joints - rest).max() < 0.01


def test_depth_and_calibration_agree_with_the_scene(world):
    """The middle of a thing's top, projected with the frame's calibration, has the thing's distance."""
    carton = world.truth()["objects"]["cream_cheese_1"]["start"]
    up = (np.abs(np.reshape(carton["rotation"], (3, 3))) @ carton["half"])[2]
    top = np.array(carton["centre"]) + np.array([0.0, 0.0, up])
    for camera in ("scene", "wrist"):
        if camera == "wrist":
            go(world, downward(LATERAL, [top[0] - 0.05, top[1], 0.35]))
        frame = world.device.frame(camera)
        assert frame.colour.shape == (256, 256, 3)
        assert frame.colour.dtype == np.uint8
        assert frame.depth.dtype == np.float32
        seen = np.linalg.inv(frame.camera_to_base) @ np.append(top, 1.0)
        u, v = (frame.intrinsics @ seen[:3])[:2] / seen[2]
        near = frame.depth[round(v) - 2 : round(v) + 3, round(u) - 2 : round(u) + 3]
        assert abs(np.median(near[near > 0]) - seen[2]) < 0.006  # a pixel is 3 mm


def test_wrist_camera_is_carried_as_the_facts_say(world):
    facts = world.device.facts()
    go(world, shifted(world, 0.05, 0.1, -0.05))
    carried = world.device.arm("arm").tool_to_base @ facts.wrist_cameras["wrist"]
    assert np.abs(carried - world.device.frame("wrist").camera_to_base).max() < 1e-6


def test_unknown_arm_is_refused(world):
    with pytest.raises(SimError, match="arm"):
        world.device.arm("left")


def test_lost_load_is_reported_as_slipped(world):
    pick(world, "alphabet_soup_1")
    assert world.device.arm("arm").holding
    assert go(world, shifted(world, 0.0, 0.1, 0.0)).stop == ""
    joint = world.scene.model.joint("alphabet_soup_1_joint0").qposadr[0]
    world.scene.data.qpos[joint : joint + 2] += 0.3  # a hand takes it away
    assert go(world, shifted(world, 0.0, -0.1, 0.0)).stop == "slipped"


def test_press_keeps_a_force_along_the_approach():
    world = opened("robosuite", 10)  # a sponge
    down = np.array([0.0, 0.0, -1.0])
    world.device.touch("arm", down, 0.5, 0.05, 5.0)
    felt = []
    world.device.control.watch = lambda: felt.append(world.device.control.limbs["arm"].force[2])
    motion = world.device.follow("arm", [shifted(world, 0.1, 0.1, 0.0)], 0.1, 40.0, 12.0, 0.01, None)
    assert motion.stop == ""
    assert abs(np.median(felt) - 12.0) < 2.0
