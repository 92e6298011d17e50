"""Grasps and placements on things of known size: where the fingers come, what they keep clear of."""

import dataclasses
import math

import numpy as np
import pytest
from synthetic import Box, Cylinder, Scene, in_tool

from skill2real.backends import grasping, placing, viewing
from skill2real.backends.geometry import DOWN, pose_matrix, turn_between
from skill2real.backends.grasping import Grip, Gripper
from skill2real.backends.perception import measuring, segmenting
from skill2real.backends.perception.scene import Scene as Memory
from skill2real.backends.perception.sight import Sight

BOX = ((0.2, 0.8), (-0.45, 0.45), (-0.05, 0.9))
HAND = Gripper(max_width=0.08, hand_width=0.2, finger_length=0.045, closing=np.array([0.0, 1.0, 0.0]))


def see(things, target):
    """The target's body, measured from two views of a scene, and all points seen."""
    scene, memory, pieces = Scene(things), Memory(BOX), []
    for frame in (
        scene.above(target.x - 0.08, target.y, 0.5),
        scene.above(target.x + 0.05, target.y + 0.08, 0.5),
    ):
        sight = Sight(frame, BOX, [])
        memory.add(sight)
        found = segmenting.find_pieces(sight, 0.008)
        owned = [
            (int((sight.frame.colour[p.mask] == target.colour).all(axis=1).sum()), k)
            for k, p in enumerate(found)
        ]
        pieces.append(found[max(owned)[1]])
    return measuring.measure(pieces), memory.points


def grasp(body, points, style="auto", depth=0.025, approach=DOWN, rank=0, reachable=lambda poses: True):
    return grasping.plan_grasp(body, points, HAND, style, depth, approach, rank, reachable)


def open_hand_touches(tool, points, opening=HAND.max_width):
    """Whether points lie inside the fingers or the palm of a hand at this pose."""
    p = in_tool(tool, points)
    x, y, z = np.abs(p[:, 0]), np.abs(p[:, 1]), p[:, 2]
    fingers = (x > opening / 2) & (x < opening / 2 + 0.012) & (y < 0.01) & (z < 0) & (z > -HAND.finger_length)
    palm = (x < HAND.hand_width / 2) & (y < 0.03) & (z < -HAND.finger_length) & (z > -0.13)
    return int((fingers | palm).sum()) > 3


@pytest.mark.parametrize("yaw", [0.0, 0.5, 1.2, 2.5])
def test_a_box_is_held_across_its_narrow_side(yaw):
    box = Box(0.5, 0.0, 0.12, 0.04, 0.05, yaw=yaw)
    body, points = see([box], box)
    grip = grasp(body, points)
    closing = math.atan2(grip.tool[1, 0], grip.tool[0, 0])
    assert abs(turn_between(closing, yaw + math.pi / 2)) < math.radians(5)
    assert grip.width == pytest.approx(0.04, abs=0.005)
    assert grip.tool[:2, 3] == pytest.approx([0.5, 0.0], abs=0.005)
    assert grip.tool[2, 3] == pytest.approx(0.05 - 0.025, abs=0.004)
    assert not open_hand_touches(grip.tool, points)


def test_a_can_that_just_fits_is_centred():
    can = Cylinder(0.5, 0.1, 0.034, 0.1)
    body, points = see([can], can)
    grip = grasp(body, points)
    assert grip.tool[:2, 3] == pytest.approx([0.5, 0.1], abs=0.003)
    assert grip.width == pytest.approx(0.068, abs=0.005)
    assert grip.tool[:3, 2] == pytest.approx(DOWN)


def test_a_bowl_wider_than_the_hand_is_straddled_at_its_rim():
    bowl = Cylinder(0.5, 0.0, 0.07, 0.06, wall=0.004)
    body, points = see([bowl], bowl)
    grip = grasp(body, points)
    off = grip.tool[:2, 3] - [0.5, 0.0]
    assert np.hypot(*off) == pytest.approx(0.068, abs=0.006)
    assert abs(grip.tool[:2, 0] @ off) / np.hypot(*off) > 0.95  # closes across the wall
    assert grip.width < 0.015
    assert grasp(body, points, "centre") == "too_wide"


def test_a_handle_is_held_across():
    pan = [Cylinder(0.5, 0.0, 0.08, 0.05, wall=0.004), Box(0.5, 0.16, 0.025, 0.16, 0.02, bottom=0.03)]
    body, points = see(pan, pan[0])
    # the handle has another colour, yet is part of the same piece
    grip = grasp(body, points, "handle")
    assert abs(grip.tool[0, 0]) > 0.9
    assert grip.tool[0, 3] == pytest.approx(0.5, abs=0.01)
    assert 0.1 < grip.tool[1, 3] < 0.24


def test_a_bar_is_held_across_its_axis_from_the_side():
    bar = Box(0.5, 0.0, 0.015, 0.14, 0.02, bottom=0.15)
    body, points = see([bar], bar)
    grip = grasp(body, points, "bar", depth=0.01, approach=np.array([-1.0, 0.0, 0.0]))
    assert grip.tool[:3, 2] == pytest.approx([-1.0, 0.0, 0.0])
    assert abs(grip.tool[2, 0]) > 0.99
    assert grip.tool[0, 3] == pytest.approx(0.5075 - 0.01, abs=0.006)


def test_a_neighbour_turns_or_refuses_the_grasp():
    free = Cylinder(0.5, 0.0, 0.03, 0.1)
    wall = Box(0.5, 0.053, 0.3, 0.03, 0.14, colour=(230, 200, 40))
    body, points = see([free, wall], free)
    grip = grasp(body, points)
    assert isinstance(grip, Grip)
    assert abs(grip.tool[0, 0]) > 0.9  # between the walls of the gap, not into one
    assert not open_hand_touches(grip.tool, points)
    both = [free, wall, Box(0.5, -0.053, 0.3, 0.03, 0.14, colour=(230, 200, 40))]
    both += [Box(x, 0.0, 0.03, 0.05, 0.14, colour=(230, 200, 40)) for x in (0.447, 0.553)]
    body, points = see(both, free)
    assert grasp(body, points) == "no_clearance"


def test_flat_things_are_held_above_the_table():
    flat = Box(0.5, 0.0, 0.08, 0.05, 0.018)
    body, points = see([flat], flat)
    grip = grasp(body, points, depth=0.05)
    assert 0.003 < grip.tool[2, 3] < 0.012


def test_ranks_are_other_grasps_in_order():
    can = Cylinder(0.5, 0.0, 0.03, 0.1)
    body, points = see([can], can)
    grips = [grasp(body, points, rank=k) for k in range(4)]
    assert [g.score for g in grips] == sorted((g.score for g in grips), reverse=True)
    assert len({tuple(np.round(g.tool[:3, 0], 3)) for g in grips}) == 4
    assert grasp(body, points, rank=500) == "not_found"


def test_out_of_reach_is_told_and_half_a_turn_is_tried():
    can = Cylinder(0.5, 0.0, 0.03, 0.1)
    body, points = see([can], can)
    assert grasp(body, points, reachable=lambda poses: False) == "unreachable"
    grip = grasp(body, points, reachable=lambda poses: all(p[1, 0] < 0.0 for p in poses))
    assert grip.tool[1, 0] < 0.0


def test_start_lies_back_along_the_approach_and_clear():
    can = Cylinder(0.5, 0.0, 0.03, 0.1)
    body, points = see([can], can)
    grip = grasp(body, points)
    way = grip.tool[:3, 3] - grip.start[:3, 3]
    assert way / np.linalg.norm(way) == pytest.approx(grip.tool[:3, 2])
    assert grip.start[2, 3] > 0.14
    assert grip.start[:3, :3] == pytest.approx(grip.tool[:3, :3])


def place(body, points, grip, target, clearance=0.005, yaw=None, reachable=lambda poses: True):
    return placing.plan_place(np.array(target), body, grip, points, HAND, clearance, yaw, reachable)


def middle_after(body, grip, there):
    """Where the held thing's middle at its bottom comes, when the hand that holds it goes to `there`."""
    held = in_tool(grip.tool, np.array([[*body.centre[:2], body.bottom]]))[0]
    return there[:3, :3] @ held + there[:3, 3]


def test_placing_carries_the_offset_of_the_grasp():
    bowl = Cylinder(0.45, -0.1, 0.07, 0.06, wall=0.004)
    body, points = see([bowl], bowl)
    grip = grasp(body, points, "rim")
    there = place(body, points, grip, (0.6, 0.2, 0.0), clearance=0.01)
    assert middle_after(body, grip, there.tool) == pytest.approx([0.6, 0.2, 0.01], abs=1e-6)
    assert there.start[2, 3] > there.tool[2, 3] + 0.04


@pytest.mark.parametrize("yaw", [0.0, 0.8, 1.5, 3.0])
def test_placing_turns_the_length(yaw):
    box = Box(0.5, 0.0, 0.12, 0.04, 0.05, yaw=0.3)
    body, points = see([box], box)
    grip = grasp(body, points)
    there = place(body, points, grip, (0.5, 0.2, 0.0), yaw=yaw)
    turned = (
        there.tool[:3, :3]
        @ grip.tool[:3, :3].T
        @ [math.cos(body.rectangle.yaw), math.sin(body.rectangle.yaw), 0]
    )
    assert abs(turn_between(math.atan2(turned[1], turned[0]), yaw)) < 1e-6
    assert middle_after(body, grip, there.tool) == pytest.approx([0.5, 0.2, 0.005], abs=1e-6)


def test_into_a_narrow_box_the_hand_stays_out():
    low = Box(0.35, -0.15, 0.06, 0.04, 0.03)
    walls = [Box(0.55, 0.1 + s * 0.08, 0.17, 0.01, 0.15, colour=(230, 200, 40)) for s in (1, -1)]
    walls += [Box(0.55 + s * 0.08, 0.1, 0.01, 0.15, 0.15, colour=(230, 200, 40)) for s in (1, -1)]
    body, _ = see([low, *walls], low)
    memory, scene = Memory(BOX), Scene([low, *walls])
    for frame in (scene.above(0.55, 0.1, 0.6), scene.above(0.35, -0.15, 0.5), scene.front()):
        memory.add(Sight(frame, BOX, []))
    points = memory.points
    grip = grasp(body, points)
    there = place(body, points, grip, (0.55, 0.1, 0.0))
    assert middle_after(body, grip, there.tool)[:2] == pytest.approx([0.55, 0.1], abs=1e-6)
    assert not open_hand_touches(there.tool, points, there.width + 0.01)
    assert there.tool[2, 3] > 0.1  # the palm rests above the walls
    assert there.score < place(body, points, grip, (0.55, -0.2, 0.0)).score
    # from the start down nothing of the held thing meets a wall
    assert middle_after(body, grip, there.start)[2] > 0.15


def test_where_it_stood_is_no_obstacle():
    can = Cylinder(0.5, 0.0, 0.03, 0.1)
    body, points = see([can], can)
    grip = grasp(body, points)
    there = place(body, points, grip, (0.51, 0.0, 0.0))
    assert middle_after(body, grip, there.tool) == pytest.approx([0.51, 0.0, 0.005], abs=1e-6)


def test_placing_out_of_reach_is_told():
    can = Cylinder(0.5, 0.0, 0.03, 0.1)
    body, points = see([can], can)
    assert (
        place(body, points, grasp(body, points), (0.5, 0.2, 0.0), reachable=lambda p: False) == "unreachable"
    )


@pytest.mark.parametrize("direction", [(0.0, 0.0, -1.0), (0.5, 0.0, -0.8), (0.0, -0.7, -0.7)])
def test_a_view_has_its_target_in_the_middle(direction):
    camera_to_tool = pose_matrix(
        np.array([0.0, 0.05, -0.1]), np.array([0.0, 0.6, 0.8]), np.array([-1.0, 0.0, 0.0])
    )
    along = np.array(direction) / np.linalg.norm(direction)
    target = np.array([0.5, 0.1, 0.05])
    tool = viewing.tool_for_view(camera_to_tool, target, 0.3, along, HAND.closing, lambda p: True)
    seen = in_tool(tool @ camera_to_tool, target[None])[0]
    assert seen == pytest.approx([0.0, 0.0, 0.3], abs=1e-9)
    assert (tool @ camera_to_tool)[:3, 2] == pytest.approx(along)
    assert tool[:3, 0] @ HAND.closing > 0.6  # turned no further than it must


def test_of_a_thing_seen_from_one_side_the_middle_is_held():
    carton = Box(0.5, 0.0, 0.1, 0.04, 0.14)
    body, points = see([carton], carton)
    # the upper part is seen from its front alone, the lower one from all around
    one_side = body.cloud[(body.cloud[:, 2] < 0.06) | (body.cloud[:, 1] > 0.015)]
    front = dataclasses.replace(body, cloud=one_side)
    grip = grasp(front, points)
    assert grip.width == pytest.approx(0.04, abs=0.006)
    assert grip.tool[:2, 3] == pytest.approx([0.5, 0.0], abs=0.006)


def test_between_near_neighbours_the_hand_comes_opened_narrowly():
    can = Cylinder(0.5, 0.0, 0.02, 0.1)
    body, points = see([can], can)
    assert grasp(body, points).opening == HAND.max_width
    well = [Box(0.5, s * 0.055, 0.12, 0.008, 0.09, colour=(230, 200, 40)) for s in (1, -1)]
    well += [Box(0.5 + s * 0.055, 0.0, 0.008, 0.1, 0.09, colour=(230, 200, 40)) for s in (1, -1)]
    body, points = see([can, *well], can)
    grip = grasp(body, points)
    assert grip.width < grip.opening < HAND.max_width
    assert not open_hand_touches(grip.tool, points, grip.opening)
    assert open_hand_touches(grip.tool, points)


def test_where_only_a_worse_grasp_is_in_reach_it_is_found():
    bowl = Cylinder(0.5, 0.0, 0.07, 0.06, wall=0.004)
    body, points = see([bowl], bowl)
    best = grasp(body, points, "rim").tool[:2, 3]
    away = [0.5, 0.0] - (best - [0.5, 0.0])
    grip = grasp(
        body, points, "rim", reachable=lambda poses: all(np.hypot(*(p[:2, 3] - away)) < 0.03 for p in poses)
    )
    assert isinstance(grip, Grip)


def test_the_hand_opens_wide_only_where_there_is_room():
    low = Box(0.35, -0.15, 0.06, 0.04, 0.03)
    pair = [Box(0.55, 0.1 + s * 0.05, 0.12, 0.01, 0.06, colour=(230, 200, 40)) for s in (1, -1)]
    body, _ = see([low, *pair], low)
    memory, scene = Memory(BOX), Scene([low, *pair])
    for frame in (scene.above(0.55, 0.1, 0.6), scene.above(0.35, -0.15, 0.5), scene.front()):
        memory.add(Sight(frame, BOX, []))
    grip = grasp(body, memory.points)
    assert place(body, memory.points, grip, (0.55, -0.25, 0.0)).opening == HAND.max_width
    there = place(body, memory.points, grip, (0.55, 0.1, 0.0), yaw=0.0)
    assert grip.width < there.opening < HAND.max_width
    assert not open_hand_touches(there.tool, memory.points, there.opening)
