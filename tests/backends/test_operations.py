"""The 18 operations over a cell without physics: ranges, reasons passed on, what reaches the device."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import Box as Block
from synthetic import Cell, Cylinder, Scene

from skill2real.backends.api import Box, Plan, Point, Pose, Region, Shape, Support, View, failed
from skill2real.backends.operations import CellOperations

CAN = Cylinder(0.5, -0.1, 0.033, 0.1)
BOWL = Cylinder(0.55, 0.15, 0.07, 0.06, wall=0.004, colour=(150, 150, 155))
angles = st.floats(-6.0, 6.0)
shifts = st.floats(-0.3, 0.3)


@pytest.fixture
def cell():
    return Cell(Scene([CAN, BOWL], noise=0.0013))


@pytest.fixture
def ops(cell):
    return CellOperations(cell)


def look_down(ops):
    assert ops.move_to(ops.compile_view(Point(0.5, 0.0, 0.0), 0.55)).ok
    return ops.capture("wrist")


def nearest(regions, thing):
    return min(regions, key=lambda r: math.hypot(r.x - thing.x, r.y - thing.y))


def test_from_pictures_to_a_placement(ops, cell):
    views = [ops.capture(), look_down(ops)]
    found = [nearest(ops.find_regions(view), CAN) for view in views]
    shape = ops.measure_region(found)
    assert (shape.x, shape.y) == pytest.approx((CAN.x, CAN.y), abs=0.004)
    assert shape.height == pytest.approx(CAN.height, abs=0.004)
    support = ops.measure_support(views[1], nearest(ops.find_regions(views[1]), BOWL))
    assert support.height == pytest.approx(0.004, abs=0.004)
    grasp = ops.compile_grasp(shape)
    assert grasp.ok
    assert ops.move_to([grasp.start, grasp.pose]).done == 2
    assert ops.set_gripper(0.0).ok
    place = ops.compile_place(support, shape, grasp)
    assert (place.pose.x, place.pose.y) == pytest.approx((BOWL.x, BOWL.y), abs=0.012)
    assert ops.move_to([place.start, place.pose]).ok
    assert cell.tool[:3, 3] == pytest.approx([place.pose.x, place.pose.y, place.pose.z])


def test_the_same_calls_give_the_same_results():
    def run():
        ops = CellOperations(Cell(Scene([CAN, BOWL], noise=0.0013)))
        regions = ops.find_regions(look_down(ops))
        shapes = [ops.measure_region(r) for r in regions]
        return (
            regions,
            shapes,
            [ops.compile_grasp(s) for s in shapes],
            [ops.describe_region(r) for r in regions],
        )

    assert run() == run()


def test_regions_come_from_the_top_of_the_picture_down(ops):
    tops = [r.box.v0 for r in ops.find_regions(look_down(ops))]
    assert tops == sorted(tops)
    assert len(tops) == 2


def test_within_limits_where_things_are_looked_for(ops):
    view = look_down(ops)
    can = nearest(ops.find_regions(view), CAN)
    only = ops.find_regions(view, within=can.box)
    assert [r.box for r in only] == [can.box]
    assert ops.find_regions(view, above=0.075) != []
    assert ops.find_regions(view, above=0.15) == []


def test_segment_by_box_point_region_and_shape(ops):
    first, second = ops.capture(), look_down(ops)
    region = nearest(ops.find_regions(second), CAN)
    earlier = nearest(ops.find_regions(first), CAN)
    for where in (region.box, Point(CAN.x, CAN.y, 0.1), region, earlier, ops.measure_region(earlier)):
        assert ops.segment(second, where).box == region.box
    assert ops.segment(second, Point(CAN.x, CAN.y + 0.1, 0.0)).reason == "not_found"
    assert ops.segment(second, Point(0.5, 3.0, 0.0)).reason == "out_of_view"
    assert ops.segment(second, Box(0, 0, 20, 20)).reason == "not_found"
    assert ops.segment(second, Box(-50, -50, -10, -10)).reason == "bad_argument"


def test_points_lie_on_surfaces_with_normals(ops):
    view = look_down(ops)
    can = nearest(ops.find_regions(view), CAN)
    middle = ops.measure_point(view, (can.box.u0 + can.box.u1) // 2, (can.box.v0 + can.box.v1) // 2)
    assert middle.z == pytest.approx(CAN.height, abs=0.004)
    assert middle.normal[2] > 0.98
    assert ops.measure_point(view, 999, 0).reason == "out_of_view"


def test_workspace_tells_the_table_before_and_after_pictures(ops, cell):
    assert ops.describe_workspace().table == pytest.approx(0.0, abs=0.002)
    assert ops.captured == []  # that look is shown to nobody
    look_down(ops)
    workspace = ops.describe_workspace()
    assert workspace.table == pytest.approx(0.0, abs=0.002)
    assert workspace.cameras == ["scene", "wrist"]
    assert workspace.max_width == 0.08


def test_pictures_are_kept_with_the_part_to_enlarge(ops):
    ops.capture("scene", Box(10, 10, 5000, 40))
    assert ops.captured[0].zoom == (10, 10, 192, 40)
    assert ops.captured[0].frame.camera == "scene"
    assert ops.capture("scene", Box(5, 5, 5, 9)).reason == "bad_argument"
    assert ops.capture("moon").reason == "bad_argument"
    assert len(ops.captured) == 1


FAILED = "no_depth"


def test_failed_things_pass_their_reason_on_and_nothing_moves(ops, cell):
    view, region, shape = failed(View, FAILED), failed(Region, FAILED), failed(Shape, FAILED)
    support, plan, pose, point = (
        failed(Support, FAILED),
        failed(Plan, FAILED),
        failed(Pose, FAILED),
        failed(Point, FAILED),
    )
    good = ops.capture()
    thing = ops.measure_region(ops.find_regions(good)[0])
    results = [
        *ops.find_regions(view),
        ops.segment(view, Box(0, 0, 9, 9)),
        ops.segment(good, region),
        ops.describe_region(region),
        ops.measure_point(view, 1, 1),
        ops.measure_region(region),
        ops.measure_region([region, region]),
        ops.measure_support(view, Box(0, 0, 9, 9)),
        ops.measure_support(good, region),
        ops.compile_pose(support),
        ops.compile_grasp(shape),
        ops.compile_place(support, thing, plan),
        ops.compile_place(point, thing, ops.compile_grasp(thing)),
        ops.compile_view(region),
        ops.offset_pose(pose, dx=0.1),
        ops.offset_pose(Pose(), about=point),
        ops.move_to(pose),
        ops.move_to([Pose(x=0.4, z=0.3), pose]),
        ops.move_to(Pose(x=0.4, z=0.3), also=pose),
    ]
    assert [r.reason for r in results] == [FAILED] * len(results)
    assert not any(r.ok for r in results)
    assert cell.moves == []


HERE = Pose(x=0.4, y=0.0, z=0.3)


@pytest.mark.parametrize(
    "call",
    [
        lambda o: o.move_to(HERE, speed=0.0),
        lambda o: o.move_to(HERE, speed=25.0),
        lambda o: o.move_to(HERE, force=-1.0),
        lambda o: o.move_to(HERE, press=1000.0),
        lambda o: o.move_to(HERE, tolerance=1.0),
        lambda o: o.move_to(HERE, speed=math.nan),
        lambda o: o.move_to([]),
        lambda o: o.move_to([HERE] * 1000),
        lambda o: o.move_to(Pose(x=math.nan)),
        lambda o: o.move_to(Pose(x=0.4, z=0.3, arm="third")),
        lambda o: o.move_to([HERE, Pose(x=0.4, z=0.3, arm="third")]),
        lambda o: o.move_to(Pose(x=0.4, z=0.3, approach=(0.0, 0.0, 0.0))),
        lambda o: o.move_to(HERE, also=HERE),
        lambda o: o.move_until_contact((0.0, 0.0, 0.0), 0.1),
        lambda o: o.move_until_contact((0.0, 0.0, -1.0), 10.0),
        lambda o: o.move_until_contact((0.0, 0.0, -1.0), 0.1, force=0.0),
        lambda o: o.move_until_contact((0.0, 0.0, -1.0), 0.1, arm="third"),
        lambda o: o.set_gripper(8.0),
        lambda o: o.set_gripper(-0.01),
        lambda o: o.set_gripper(0.02, force=math.inf),
        lambda o: o.go_home("third"),
        lambda o: o.read_robot("third"),
        lambda o: o.compile_pose(Point(math.inf, 0.0, 0.0)),
        lambda o: o.compile_pose(Point(0.4, 0.0, 0.0), approach=(0.0, 0.0, 0.0)),
        lambda o: o.compile_pose(Point(0.4, 0.0, 0.0), closing=(0.0, 0.0, 1.0)),
        lambda o: o.compile_view(Point(0.4, 0.0, 0.0), distance=30.0),
        lambda o: o.compile_view(Point(0.4, 0.0, 0.0), camera="scene"),
        lambda o: o.offset_pose(HERE, dx=math.nan),
        lambda o: o.offset_pose(HERE, frame="world"),
        lambda o: o.offset_pose(HERE, axis=(0.0, 0.0, 0.0)),
        lambda o: o.find_regions(o.capture(), above=3.0)[0],
        lambda o: o.measure_region([]),
        lambda o: o.compile_grasp(o.measure_region(o.find_regions(o.capture())[0]), depth=2.5),
        lambda o: o.compile_grasp(o.measure_region(o.find_regions(o.capture())[0]), rank=-1),
        lambda o: o.compile_grasp(o.measure_region(o.find_regions(o.capture())[0]), style="teeth"),
    ],
)
def test_out_of_range_is_a_bad_argument_and_nothing_moves(ops, cell, call):
    assert call(ops).reason == "bad_argument"
    assert cell.moves == []


def test_unreachable_is_found_before_anything_moves(ops, cell):
    result = ops.move_to([HERE, Pose(x=3.0, y=0.0, z=0.3)])
    assert result.reason == "unreachable"
    assert result.pose == ops.read_robot().pose
    assert cell.moves == []
    assert ops.compile_view(Point(3.0, 0.0, 0.0)).reason == "unreachable"


def test_a_pose_reaches_the_device_as_it_was_given(ops, cell):
    pose = Pose(x=0.4, y=0.1, z=0.2, approach=(0.6, 0.0, -0.8), closing=(0.0, 1.0, 0.0))
    assert ops.move_to(pose).ok
    tool = cell.moves[0][0]
    assert tool[:3, 3] == pytest.approx([0.4, 0.1, 0.2])
    assert tool[:3, 2] == pytest.approx(pose.approach)
    assert tool[:3, 0] == pytest.approx(pose.closing)
    back = ops.read_robot().pose
    assert back.approach == pytest.approx(pose.approach)
    assert back.closing == pytest.approx(pose.closing)


def test_closing_is_the_nearest_to_the_present_one(ops):
    pose = ops.compile_pose(Point(0.4, 0.0, 0.2), approach=(0.0, -0.6, -0.8))
    assert pose.closing == pytest.approx((0.0, 0.8, -0.6))


CELL = CellOperations(Cell(Scene([])))


def matrix(pose):
    x, z = np.array(pose.closing), np.array(pose.approach)
    return np.column_stack([x, np.cross(z, x), z]), np.array([pose.x, pose.y, pose.z])


@given(shifts, shifts, shifts, angles)
def test_an_offset_in_the_tool_frame_goes_along_its_axes(dx, dy, dz, turn):
    tilted = CELL.offset_pose(HERE, turn=turn, axis=(1.0, 2.0, 0.5))
    rotation, place = matrix(tilted)
    moved = matrix(CELL.offset_pose(tilted, dx, dy, dz, frame="tool"))[1]
    assert moved == pytest.approx(place + rotation @ [dx, dy, dz], abs=1e-9)


@given(shifts, shifts, shifts, angles)
def test_an_offset_and_its_opposite_cancel(dx, dy, dz, turn):
    axis, about = (0.3, -0.2, 1.0), Point(0.5, 0.1, 0.2)
    there = CELL.offset_pose(HERE, turn=turn, axis=axis, about=about)
    back = CELL.offset_pose(there, turn=-turn, axis=axis, about=about)
    assert np.concatenate(matrix(back)[0]) == pytest.approx(np.concatenate(matrix(HERE)[0]), abs=1e-9)
    assert matrix(back)[1] == pytest.approx(matrix(HERE)[1], abs=1e-9)
    shifted = CELL.offset_pose(CELL.offset_pose(HERE, dx, dy, dz), -dx, -dy, -dz)
    assert matrix(shifted)[1] == pytest.approx(matrix(HERE)[1], abs=1e-9)


def test_a_turn_is_right_handed_about_its_point():
    turned = CELL.offset_pose(HERE, turn=math.pi / 2, about=Point(0.5, 0.0, 0.0))
    assert (turned.x, turned.y, turned.z) == pytest.approx((0.5, -0.1, 0.3))


def test_holding_clears_the_place_the_thing_stood_in(ops, cell):
    ops.find_regions(look_down(ops))
    shape = ops.measure_region(nearest(ops.find_regions(ops.capture("wrist")), CAN))
    grasp = ops.compile_grasp(shape)
    ops.move_to([grasp.start, grasp.pose])
    cell.holding = True
    ops.set_gripper(0.0)
    other = Block(CAN.x, CAN.y, 0.05, 0.05, 0.02)
    cell.holding, cell.scene = False, Scene([other])
    ops.set_gripper(0.08)
    view = look_down(ops)
    low = ops.measure_region(nearest(ops.find_regions(view), other))
    assert ops.compile_grasp(low).ok
