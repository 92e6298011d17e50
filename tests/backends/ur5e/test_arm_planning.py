"""Kinematics and planning without a controller: what is planned stays within the limits, all along."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip("ur_analytic_ik")

from emulated_cell import HOME, LIMITS, TOOL

from skill2real.backends.ur5e.arm.kinematics import Kinematics, places
from skill2real.backends.ur5e.arm.planning import Planner
from skill2real.backends.ur5e.arm.poses import UR_TO_BASE
from skill2real.backends.ur5e.arm.worker import beyond
from skill2real.backends.ur5e.emulator.controller.kinematics import Chain
from skill2real.backends.ur5e.emulator.controller.motion import JointMove, LineMove

KINEMATICS = Kinematics(TOOL.flange_to_tool, LIMITS.joints)
PLANNER = Planner(KINEMATICS, LIMITS)
START = np.array(HOME)
LOW, HIGH = (np.array(side) for side in zip(*LIMITS.box, strict=True))


def random_target(random):
    """Mostly pointing down, anywhere in the box and a little around it."""
    pose = np.eye(4)
    tilt = Rotation.from_rotvec(random.normal(0.0, 0.4, 3))
    spin = Rotation.from_euler("z", random.uniform(-math.pi, math.pi))
    pose[:3, :3] = (tilt * Rotation.from_euler("x", math.pi) * spin).as_matrix()
    pose[:3, 3] = random.uniform(LOW - 0.1, HIGH + 0.1)
    return pose


def played(start, segment):
    """Joints tick by tick, as a controller moves them. A coarser tick than the controller's is enough."""
    chain = Chain()
    chain.tcp = TOOL.flange_to_tool
    if segment.line:
        motion = LineMove(chain, start, segment.pose, segment.speed, segment.acceleration)
    else:
        motion = JointMove(start, segment.joints, segment.speed, segment.acceleration)
    path = []
    while not motion.finished:
        path.append(motion.advance(0.016))
    return np.array(path)


def test_a_thousand_random_targets_stay_in_the_box_and_the_joint_limits():
    """What the controller makes of each plan is looked at, not the plan's own samples."""
    random = np.random.default_rng(5)
    joints, reached = START, 0
    for number in range(1000):
        target = random_target(random)
        plan = PLANNER.plan(joints, [target], LIMITS.speed)
        if not PLANNER.inside(target):
            assert plan.ends == ()
            continue
        for segment in plan.segments:
            path = played(joints, segment)
            assert path.min() >= LIMITS.joints[0][0]
            assert path.max() <= LIMITS.joints[0][1]
            tools = np.array([PLANNER.tool(each)[:3, 3] for each in path[:: 4 if number % 20 else 1]])
            assert (tools > LOW - 0.002).all()
            assert (tools < HIGH + 0.002).all()
            wrists = places(path)[:, 1:].reshape(-1, 3)
            column = np.column_stack([np.zeros((len(wrists), 2)), wrists[:, 2].clip(0.0, 0.26)])
            assert np.linalg.norm(wrists - column, axis=1).min() > LIMITS.clearance - 0.01
            joints = path[-1]
        reached += bool(plan.ends)
        assert not plan.ends or np.allclose(PLANNER.tool(joints), target, atol=1e-6)
    assert reached > 250


def test_lengths_of_links_agree_with_the_library():
    random = np.random.default_rng(1)
    joints = random.uniform(-3, 3, (50, 6))
    bare = Kinematics(np.eye(4), LIMITS.joints)
    assert np.allclose(places(joints)[:, -1], [bare.tool(each)[:3, 3] for each in joints], atol=1e-9)


def test_all_branches_reach_the_pose_and_the_nearest_comes_first():
    random = np.random.default_rng(2)
    for joints in random.uniform(-3, 3, (50, 6)):
        pose = KINEMATICS.tool(joints)
        found = KINEMATICS.branches(pose, joints)
        assert np.allclose(found[0], joints, atol=1e-6)
        assert all(np.allclose(KINEMATICS.tool(each), pose, atol=1e-6) for each in found)
        assert all(KINEMATICS.allowed(each) for each in found)


def test_the_base_frame_is_the_controllers_turned_by_half_a_turn():
    assert np.allclose(UR_TO_BASE @ UR_TO_BASE, np.eye(4))
    assert np.allclose(UR_TO_BASE @ [1.0, 0.0, 0.0, 1.0], [-1.0, 0.0, 0.0, 1.0])


def test_a_plan_says_how_far_it_gets():
    near, far = PLANNER.tool(START), PLANNER.tool(START)
    near[0, 3] += 0.05
    far[0, 3] = 3.0
    assert PLANNER.plan(START, [near, far, near], 0.2).ends == (1,)
    assert PLANNER.plan(START, [], 0.2).ends == ()


def test_a_line_keeps_joints_within_their_speed():
    target = PLANNER.tool(START)
    target[:3, 3] += (0.1, -0.3, -0.1)
    segment = PLANNER.line(START, target, LIMITS.speed)
    assert segment is not None
    path = played(START, segment)
    assert np.abs(np.diff(path, axis=0)).max() / 0.016 < LIMITS.joint_speed * 1.05


def test_a_line_that_ends_early_is_cut_where_the_box_ends():
    target = PLANNER.tool(START)
    target[1, 3] = 1.0
    path, whole = PLANNER.along(START, target)
    assert not whole
    assert HIGH[1] - 0.02 < PLANNER.tool(path[-1])[1, 3] <= HIGH[1] + 0.001


@pytest.mark.parametrize(
    ("force", "before", "felt"),
    [
        ((0, 0, 0), (0, 0, 0), 0.0),
        ((0, 0, 9), (0, 0, 0), 9.0),
        ((0, 0, 5), (0, 0, 9), 0.0),  # less of what pushed before
        ((0, 0, 12), (0, 0, 9), 3.0),
        ((0, 0, -4), (0, 0, 9), 4.0),  # pulled back
        ((3, 0, 9), (0, 0, 9), 3.0),
    ],
)
def test_only_force_that_came_since_counts(force, before, felt):
    assert beyond(force, before) == pytest.approx(felt)
