"""The arm's driver on an emulated controller: motions, contact, and what is refused before anything moves."""

import numpy as np
import pytest

pytest.importorskip("rtde_control")

from emulated_cell import FORCE, HOME, LIMITS, TOLERANCE, TOOL, cell, eventually, shifted

from skill2real.backends.ur5e.arm import ArmLimits, Tool
from skill2real.backends.ur5e.errors import RobotError

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture(scope="module")
def both():
    with cell() as (emulator, arm):
        yield emulator, arm


@pytest.fixture
def emulator(both):
    return both[0]


@pytest.fixture
def arm(both):
    emulator, arm = both
    emulator.do("clear")
    assert arm.go_to(np.array(HOME), 0.5, FORCE).stop == ""
    return arm


def test_the_state_is_in_our_base_frame(emulator, arm):
    state, there = arm.state(), emulator.state()
    x, y, z = there["tool"][:3]
    assert np.allclose(state.tool_to_base[:3, 3], (-x, -y, z), atol=1e-6)
    assert state.tool_to_base[0, 3] > 0.3, "the arm points forward"
    assert np.allclose(state.tool_to_base[:3, 2], DOWN, atol=1e-4)
    assert np.allclose(state.joints, HOME, atol=1e-6)
    assert state.age < 0.2


def test_targets_are_met_and_read_back(arm):
    start = arm.state().tool_to_base
    targets = [shifted(start, 0.08, 0.05, -0.05), shifted(start, z=-0.05), start]
    assert arm.reachable(targets) == 3
    motion = arm.follow(targets, 0.3, FORCE, TOLERANCE)
    assert (motion.stop, motion.done, motion.contact) == ("", 3, False)
    assert motion.error < 1e-4
    assert np.allclose(arm.state().tool_to_base, start, atol=1e-4)


def test_a_place_behind_the_wrist_is_reached_across(emulator, arm):
    """Straight, the tool would have to turn through a joint's limit."""
    start = arm.state().tool_to_base
    turn = np.eye(4)
    turn[:2, :2] = -np.eye(2)
    target = shifted(start @ turn, y=-0.1)
    motion = arm.follow([target], 0.5, FORCE, TOLERANCE)
    assert motion.stop == ""
    assert np.allclose(arm.state().tool_to_base, target, atol=1e-3)


def test_speed_is_kept_to_the_limit(emulator, arm):
    start = arm.state().tool_to_base
    began = emulator.state()["time"]
    assert arm.follow([shifted(start, y=-0.2)], 9.0, FORCE, TOLERANCE).stop == ""
    assert emulator.state()["moved"] - began > 0.2 / LIMITS.speed


@pytest.mark.parametrize(("x", "y", "z"), [(0.5, 0, 0), (0, 0.6, 0), (0, 0, -0.5), (0, 0, 0.6), (-0.4, 0, 0)])
def test_nothing_moves_towards_a_target_out_of_the_box(emulator, arm, x, y, z):
    start = arm.state().tool_to_base
    emulator.do("clear_track")
    motion = arm.follow([shifted(start, x=0.05), shifted(start, x, y, z)], 0.3, FORCE, TOLERANCE)
    assert (motion.stop, motion.done) == ("unreachable", 1)
    state = emulator.state()
    assert state["low"] == state["high"], "the arm has moved"


def test_the_controllers_own_safety_settings_are_asked_first(emulator, arm):
    start = arm.state().tool_to_base
    emulator.do("plane", point=[0, 0, start[2, 3] - 0.03], normal=[0, 0, 1])
    emulator.do("clear_track")
    motion = arm.follow([shifted(start, z=-0.02), shifted(start, z=-0.1)], 0.3, FORCE, TOLERANCE)
    assert (motion.stop, motion.done) == ("unreachable", 1)
    state = emulator.state()
    assert state["low"] == state["high"], "the arm has moved"


@pytest.mark.parametrize(
    "target",
    [np.full((4, 4), np.nan), np.eye(3), np.diag([2.0, 1, 1, 1]), np.diag([-1.0, 1, 1, 1]), [1, 2, 3]],
)
def test_what_is_no_pose_is_refused(arm, target):
    with pytest.raises(RobotError, match="rigid"):
        arm.follow([target], 0.3, FORCE, TOLERANCE)
    with pytest.raises(RobotError, match="speed"):
        arm.follow([arm.state().tool_to_base], np.nan, FORCE, TOLERANCE)


def test_limits_and_tools_that_make_no_sense_are_refused():
    with pytest.raises(RobotError, match="box"):
        ArmLimits(box=((0.5, 0.2), (0, 1), (0, 1)))
    with pytest.raises(RobotError, match="speed"):
        ArmLimits(box=LIMITS.box, speed=5.0)
    with pytest.raises(RobotError, match="joints"):
        ArmLimits(box=LIMITS.box, joints=((-7, 7),) * 6)
    with pytest.raises(RobotError, match="rigid"):
        Tool(np.ones((4, 4)))


def test_a_touch_stops_at_contact(emulator, arm):
    height = arm.state().tool_to_base[2, 3] - 0.04
    emulator.do("obstacle", point=[0, 0, height], normal=[0, 0, 1])
    motion = arm.touch(DOWN, 0.1, 0.05, 8.0)
    assert (motion.stop, motion.done, motion.contact) == ("", 1, True)
    assert motion.force > 8.0
    assert height - 0.006 < arm.state().tool_to_base[2, 3] < height
    assert emulator.state()["still"]


def test_a_touch_that_finds_nothing_says_so(arm):
    before = arm.state().tool_to_base[2, 3]
    motion = arm.touch(DOWN, 0.03, 0.1, 8.0)
    assert (motion.stop, motion.done, motion.contact) == ("no_contact", 0, False)
    assert abs(before - 0.03 - arm.state().tool_to_base[2, 3]) < 1e-3


def test_a_touch_goes_only_as_far_as_the_box(arm):
    assert arm.touch(np.array([0.0, 1.0, 0.0]), 2.0, 0.3, 8.0).stop == "no_contact"
    assert LIMITS.box[1][1] - 0.02 < arm.state().tool_to_base[1, 3] <= LIMITS.box[1][1] + 0.001


def test_a_motion_that_meets_something_is_blocked(emulator, arm):
    start = arm.state().tool_to_base
    x, y, _ = start[:3, 3]
    emulator.do("obstacle", point=[-x - 0.04, -y, 0], normal=[1, 0, 0])
    motion = arm.follow([shifted(start, x=0.15)], 0.1, 30.0, TOLERANCE)
    assert (motion.stop, motion.done, motion.contact) == ("blocked", 0, True)
    assert motion.force > 30.0
    assert emulator.state()["still"]
    assert arm.follow([start], 0.3, 30.0, TOLERANCE).stop == "", "and it can go back"


def test_pressing_keeps_its_force(emulator, arm):
    start = arm.state().tool_to_base
    emulator.do("obstacle", point=[0, 0, start[2, 3] - 0.02], normal=[0, 0, 1], stiffness=5000.0)
    low = shifted(start, z=-0.018)
    assert arm.follow([low], 0.3, FORCE, TOLERANCE).stop == ""
    motion = arm.follow([shifted(low, y=0.03 * k) for k in (1, 2)], 0.05, FORCE, TOLERANCE, press=10.0)
    assert motion.stop == ""
    assert 8.0 < motion.force < 12.0


def test_preflight_finds_nothing_wrong(arm):
    assert arm.preflight() == []


def test_a_closed_arm_says_so():
    with cell() as (emulator, arm):
        assert arm.tool is TOOL
        arm.close()
        eventually(lambda: emulator.state()["runtime"] == "STOPPED")
        with pytest.raises(RobotError, match="closed"):
            arm.state()
