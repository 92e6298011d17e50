"""Two arms in one simulated cell: one frame for both, moved together, each with its gripper and camera."""

import numpy as np
import pytest
from simulated import opened

pytestmark = pytest.mark.sim
LIFT = 12
DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def world():
    return opened("robosuite", LIFT)


def shifted(world, arm, dx, dy, dz):
    pose = world.device.arm(arm).tool_to_base.copy()
    pose[:3, 3] += [dx, dy, dz]
    return pose


def test_both_arms_share_the_first_arms_frame(world):
    facts = world.device.facts()
    assert facts.arms == ("first", "second")
    assert facts.camera_arm == {"wrist": "first", "second_wrist": "second"}
    assert np.allclose(facts.roots["first"], np.eye(4))
    root = facts.roots["second"]
    assert np.allclose(root[:3, 0], [-1.0, 0.0, 0.0], atol=1e-6)  # they face each other
    tool = world.device.arm("second").tool_to_base
    assert 0.0 < root[0, 3] - tool[0, 3] < 0.7
    for camera, arm in facts.camera_arm.items():
        carried = world.device.arm(arm).tool_to_base @ facts.wrist_cameras[camera]
        assert np.abs(carried - world.device.frame(camera).camera_to_base).max() < 1e-6


def test_together_they_leave_and_arrive_together(world):
    device = world.device
    track = []
    starts = {arm: device.arm(arm).tool_to_base[:3, 3] for arm in ("first", "second")}
    device.control.watch = lambda: track.append(
        [np.linalg.norm(device.control.limbs[arm].tool[:3, 3] - starts[arm]) for arm in starts]
    )
    targets = {
        "first": shifted(world, "first", 0.0, 0.0, 0.1),
        "second": shifted(world, "second", 0.0, 0.0, 0.2),
    }
    motion = device.follow("first", [targets["first"]], 0.3, 40.0, 0.0, 0.005, ("second", targets["second"]))
    assert (motion.stop, motion.done) == ("", 1)
    for arm, target in targets.items():
        assert np.linalg.norm(device.arm(arm).tool_to_base[:3, 3] - target[:3, 3]) < 0.005
    share = np.array(track) / [0.1, 0.2]
    assert len(track) > 10
    assert np.abs(share[:, 0] - share[:, 1]).max() < 0.05


def test_unreachable_for_either_moves_neither(world):
    device = world.device
    before = world.digest()
    far = shifted(world, "second", -0.6, 0.0, 0.0)
    near = shifted(world, "first", 0.0, 0.0, 0.05)
    assert device.follow("first", [near], 0.3, 40.0, 0.0, 0.005, ("second", far)).stop == "unreachable"
    assert device.follow("second", [far], 0.3, 40.0, 0.0, 0.005, ("first", near)).stop == "unreachable"
    assert world.digest() == before


def test_a_gripper_is_its_arms_own(world):
    device = world.device
    still = device.arm("second").width
    device.grip("first", 0.01, 20.0)
    assert device.arm("first").width < 0.015
    assert abs(device.arm("second").width - still) < 0.002
    device.grip("second", 0.08, 20.0)
    assert [grip["arm"] for grip in world.truth()["grips"]] == ["first", "second"]


def test_an_episode_is_repeatable():
    def play():
        world = opened("robosuite", LIFT, state=2)
        also = ("second", shifted(world, "second", 0.05, 0.0, 0.1))
        world.device.follow("first", [shifted(world, "first", 0.0, 0.05, 0.05)], 0.3, 40.0, 0.0, 0.01, also)
        world.device.touch("second", DOWN, 0.1, 0.1, 8.0)
        return world.digest()

    assert play() == play()
