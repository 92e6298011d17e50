"""What every backend must do: one class of checks over the 18 operations. Derive from it and give it a cell.

    class TestMyBackend(BackendContract):
        @pytest.fixture
        def reopen(self):
            return lambda: CellOperations(...)  # the same cell in the same initial state, each time

The cell needs a table with at least one thing on it that its gripper can hold, seen by the camera "scene".
"""

import dataclasses
import json
import math

import pytest

from skill2real.backends import api
from skill2real.backends.arguments import signature, tidy
from skill2real.backends.sandbox import Sandbox

NEAR = 0.003  # m, between where the arm says it is and where it was sent
FLAT = 0.008  # m, of depth noise in one pixel
DOWN = (0.0, 0.0, -1.0)

PROGRAM = """
view = capture()
regions = [r for r in find_regions(view) if r.ok]
looks = [describe_region(r) for r in regions]
shapes = [measure_region(r) for r in regions]
plans = [compile_grasp(s) for s in shapes if s.ok]
good = [p for p in plans if p.ok]
if len(good) > 0:
    over = move_to(compile_view(Point(good[0].pose.x, good[0].pose.y, good[0].pose.z)))
    close = capture("wrist") if over.ok else view
    print(over.ok, len(find_regions(close)))
    print(move_to([good[0].start, good[0].pose]).reason)
    print(set_gripper(0.0).holding)
    print(move_to(offset_pose(good[0].pose, dz=0.1)).reason)
go_home().pose
"""


def position(pose):
    return (pose.x, pose.y, pose.z)


def holdable(cell):
    """(region, shape, plan) of everything on the table that a grasp was found for, the surest first."""
    found = []
    for region in cell.find_regions(cell.capture("scene")):
        shape = cell.measure_region(region)
        plan = cell.compile_grasp(shape)
        if plan.ok:
            found.append((region, shape, plan))
    assert found, "the cell must offer a thing that can be grasped"
    return sorted(found, key=lambda item: -item[2].score)


def still(cell, act):
    """What `act` returns, having made sure that the arm did not move."""
    before = cell.read_robot()
    result = act()
    after = cell.read_robot()
    assert math.dist(position(before.pose), position(after.pose)) < 1e-4
    assert abs(before.width - after.width) < 1e-4
    return result


def bare_table(cell):
    """A reachable pose 15 cm above a spot of the table round which nothing stands, and the table's height
    there."""
    space, view = cell.describe_workspace(), cell.capture("scene")
    things = [cell.measure_region(r) for r in cell.find_regions(view)]
    for v in range(view.height // 4, view.height, view.height // 24):
        for u in range(view.width // 8, view.width, view.width // 24):
            spot = cell.measure_point(view, u, v)
            if not spot.ok or abs(spot.z - space.table) > FLAT:
                continue
            free = min(
                (math.dist((spot.x, spot.y), (s.x, s.y)) - s.length / 2 for s in things if s.ok), default=1.0
            )
            above = cell.offset_pose(cell.compile_pose(spot), dz=0.15)
            if free > 0.15 and cell.move_to(above).ok:
                return above, spot.z
    pytest.fail("the cell must show a bare spot of its table")


class BackendContract:
    """Needs the fixture `reopen`: a function that gives Operations on the same cell in the same initial
    state."""

    @pytest.fixture
    def reopen(self):
        raise NotImplementedError("a backend's test gives its own")

    @pytest.fixture
    def cell(self, reopen):
        return reopen()

    # Results and their types

    def test_every_operation_returns_its_type(self, cell):
        view = cell.capture()
        region, shape, plan = holdable(cell)[0]
        support = cell.measure_support(view, region)
        point = cell.measure_point(view, view.width // 2, view.height // 2)
        pose = cell.read_robot().pose
        given = {
            "capture": [("scene",), ("wrist",), ("scene", api.Box(0, 0, view.width // 2, view.height // 2))],
            "read_robot": [()],
            "describe_workspace": [()],
            "find_regions": [(view,), (view, api.Box(0, 0, view.width, view.height // 2), 0.02)],
            "segment": [(view, region.box), (view, region), (view, shape), (view, point)],
            "describe_region": [(region,)],
            "measure_point": [(view, 0, 0), (view, view.width - 1, view.height - 1)],
            "measure_region": [(region,), ([region, region],)],
            "measure_support": [(view, region), (view, api.Box(0, 0, view.width, view.height))],
            "compile_pose": [(shape,), (point, (0.0, 0.5, -1.0), (1.0, 0.0, 0.0))],
            "compile_grasp": [(shape, s) for s in ("auto", "centre", "rim", "handle", "bar")]
            + [(shape, "auto", 0.02, DOWN, 50)],
            "compile_place": [(point, shape, plan), (shape, shape, plan, 0.01, 1.0), (support, shape, plan)],
            "compile_view": [(region,), (shape, 0.4, (0.3, 0.0, -1.0))],
            "offset_pose": [(pose, 0.0, 0.0, 0.01)],
            "move_to": [(cell.offset_pose(pose, dz=0.02),), ([pose, pose],)],
            "move_until_contact": [((0.0, 0.0, 1.0), 0.01)],
            "set_gripper": [(0.02,)],
            "go_home": [()],
        }
        assert list(given) == list(api.OPERATIONS)
        for operation, calls in given.items():
            for arguments in calls:
                result = tidy(operation, getattr(cell, operation)(*arguments))
                for item in result if isinstance(result, list) else [result]:
                    assert item.ok == (item.reason == ""), (operation, item)
                    assert item.reason in api.REASONS
                    public = {
                        name: getattr(item, name) for name in api.public_fields(type(item)) if name != "box"
                    }
                    nested = {k: v for k, v in public.items() if not isinstance(v, api.Result)}
                    json.dumps(nested, allow_nan=False)

    @pytest.mark.parametrize("reason", ["not_found", "blocked"])
    def test_failures_are_passed_on_and_nothing_moves(self, cell, reason):
        view = cell.capture()
        _, shape, plan = holdable(cell)[0]
        pose = cell.read_robot().pose

        def bad(kind):
            return api.failed(kind, reason)

        calls = [
            ("find_regions", (bad(api.View),)),
            ("segment", (bad(api.View), api.Box(0, 0, 9, 9))),
            ("segment", (view, bad(api.Region))),
            ("segment", (view, bad(api.Shape))),
            ("segment", (view, bad(api.Point))),
            ("describe_region", (bad(api.Region),)),
            ("measure_point", (bad(api.View), 1, 1)),
            ("measure_region", (bad(api.Region),)),
            ("measure_region", ([bad(api.Region)],)),
            ("measure_support", (bad(api.View), api.Box(0, 0, 9, 9))),
            ("measure_support", (view, bad(api.Region))),
            ("compile_pose", (bad(api.Point),)),
            ("compile_pose", (bad(api.Support),)),
            ("compile_pose", (bad(api.Part),)),
            ("compile_grasp", (bad(api.Shape),)),
            ("compile_grasp", (bad(api.Part), "bar")),
            ("compile_place", (bad(api.Part), shape, plan)),
            ("compile_place", (bad(api.Point), shape, plan)),
            ("compile_place", (shape, bad(api.Shape), plan)),
            ("compile_place", (shape, shape, bad(api.Plan))),
            ("compile_view", (bad(api.Region),)),
            ("compile_view", (bad(api.Part),)),
            ("offset_pose", (bad(api.Pose),)),
            ("offset_pose", (pose, 0, 0, 0, "base", 1.0, (0.0, 0.0, 1.0), bad(api.Point))),
            ("move_to", (bad(api.Pose),)),
            ("move_to", ([pose, bad(api.Pose)],)),
            ("move_to", (pose, 0.25, 40.0, 0.0, 0.01, bad(api.Pose))),
        ]
        for operation, arguments in calls:
            result = still(cell, lambda o=operation, a=arguments: getattr(cell, o)(*a))
            first = result[0] if isinstance(result, list) else result
            assert (first.ok, first.reason) == (False, reason), operation

    def test_odd_arguments_fail_without_moving(self, cell):
        view, pose = cell.capture(), cell.read_robot().pose
        region, shape, plan = holdable(cell)[0]
        outside = api.Box(view.width + 10, 0, view.width + 20, 10)
        calls = [
            ("capture", ("no such camera",)),
            ("capture", ("scene", outside)),
            ("read_robot", ("no such arm",)),
            ("find_regions", (view, outside)),
            ("segment", (view, outside)),
            ("segment", (view, api.Box(9, 9, 3, 3))),
            ("segment", (view, api.Point(0.3, 0.0, 2.5))),
            ("measure_point", (view, view.width, 0)),
            ("measure_point", (view, 0, -1)),
            ("measure_region", ([],)),
            ("measure_support", (view, outside)),
            ("compile_pose", (shape, (0.0, 0.0, 0.0))),
            ("compile_pose", (shape, DOWN, DOWN)),
            ("compile_pose", (shape, DOWN, None, "no such arm")),
            ("compile_grasp", (shape, "auto", 5.0)),
            ("compile_grasp", (shape, "auto", 0.02, (0.0, 0.0, 0.0))),
            ("compile_grasp", (shape, "auto", 0.02, DOWN, -1)),
            ("compile_place", (shape, shape, plan, 20.0)),
            ("compile_view", (region, -1.0)),
            ("compile_view", (region, 0.3, DOWN, "scene")),
            ("offset_pose", (pose, 0, 0, 0, "base", 1.0, (0.0, 0.0, 0.0))),
            ("move_to", ([],)),
            ("move_to", (pose, -1.0)),
            ("move_to", (pose, 100.0)),
            ("move_to", (pose, 0.25, -5.0)),
            ("move_to", (pose, 0.25, 40.0, 0.0, 0.0)),
            ("move_until_contact", ((0.0, 0.0, 0.0), 0.1)),
            ("move_until_contact", (DOWN, -0.1)),
            ("move_until_contact", (DOWN, 30.0)),
            ("move_until_contact", (DOWN, 0.1, 0.05, 8.0, "no such arm")),
            ("set_gripper", (-0.01,)),
            ("set_gripper", (8.0,)),
            ("set_gripper", (0.02, 20.0, "no such arm")),
            ("go_home", ("no such arm",)),
        ]
        for operation, arguments in calls:
            result = still(cell, lambda o=operation, a=arguments: getattr(cell, o)(*a))
            first = result[0] if isinstance(result, list) else result
            assert not first.ok, (operation, arguments)
            assert first.reason in api.REASONS[1:]

    def test_defaults_are_the_contracts(self, cell):
        import inspect

        for operation in api.OPERATIONS:
            own = inspect.signature(getattr(cell, operation)).parameters
            for name, parameter in signature(operation).parameters.items():
                assert name in own, f"{operation} lacks {name}"
                assert own[name].default == parameter.default

    # The cell and its cameras

    def test_workspace_makes_sense(self, cell):
        space = cell.describe_workspace()
        for low, high in (space.x, space.y, space.z):
            assert low < high
        assert space.z[0] <= space.table <= space.z[1]
        assert "scene" in space.cameras
        assert space.arms
        assert 0.02 < space.max_width < 0.5
        assert space.finger_length > 0
        for camera in space.cameras:
            view = cell.capture(camera)
            assert (view.ok, view.camera) == (True, camera)
            assert min(view.width, view.height) >= 64

    def test_table_measures_as_high_as_it_is(self, cell):
        space, view = cell.describe_workspace(), cell.capture("scene")
        steps = [(view.width * i // 24, view.height * j // 24) for i in range(24) for j in range(24)]
        points = [p for p in (cell.measure_point(view, u, v) for u, v in steps) if p.ok]
        inside = [p for p in points if space.x[0] < p.x < space.x[1] and space.y[0] < p.y < space.y[1]]
        flat = [p for p in inside if abs(p.z - space.table) < FLAT and p.normal[2] > 0.9]
        assert len(flat) >= 10
        assert not [p for p in inside if space.table - 0.1 < p.z < space.table - 4 * FLAT]
        assert abs(sum(p.z for p in flat) / len(flat) - space.table) < FLAT / 2

    def test_regions_are_inside_the_box_and_in_order(self, cell):
        view = cell.capture()
        regions = cell.find_regions(view)
        assert regions
        tops = [region.box.v0 for region in regions]
        assert tops == sorted(tops)
        box = regions[-1].box
        for region in cell.find_regions(view, box):
            assert box.u0 <= region.box.u0 <= region.box.u1 <= box.u1
            assert box.v0 <= region.box.v0 <= region.box.v1 <= box.v1

    def test_appearance_is_in_its_units(self, cell):
        look = cell.describe_region(holdable(cell)[0][0])
        assert look.ok
        assert 0 <= look.lab[0] <= 100
        assert max(abs(look.lab[1]), abs(look.lab[2])) <= 128
        assert len(look.hues) == 12
        assert min(look.hues) >= 0
        assert sum(look.hues) <= 1 + 1e-6

    def test_both_cameras_agree_where_a_thing_is(self, cell):
        for region, shape, _ in holdable(cell)[:3]:
            pose = cell.compile_view(shape, distance=0.35)
            if region.clipped or not cell.move_to(pose).ok:
                continue
            above = cell.measure_region(cell.segment(cell.capture("wrist"), region))
            assert above.ok
            assert math.dist((above.x, above.y), (shape.x, shape.y)) < 0.02
            assert abs(above.top - shape.top) < 0.012
            return
        pytest.fail("no thing could be looked at from above")

    # Poses

    def test_compiled_poses_are_unit_and_square(self, cell):
        point = api.Point(0.5, 0.1, 0.3)
        pose = cell.compile_pose(point, (0.0, 1.0, -2.0), (1.0, 0.2, 0.0))
        assert pose.ok
        assert position(pose) == pytest.approx((0.5, 0.1, 0.3))
        self.square(pose)
        assert pose.approach == pytest.approx((0.0, 1 / math.sqrt(5), -2 / math.sqrt(5)))
        assert cell.compile_pose(point).arm in cell.describe_workspace().arms

    def test_offsets_follow_the_laws_of_motion(self, cell):
        start = cell.compile_pose(api.Point(0.5, 0.1, 0.3), (0.3, 0.0, -1.0), (0.0, 1.0, 0.0))
        there = cell.offset_pose(start, 0.03, -0.02, 0.05)
        self.same(cell.offset_pose(there, -0.03, 0.02, -0.05), start)
        assert position(there) == pytest.approx((0.53, 0.08, 0.35))
        forward = cell.offset_pose(start, dz=0.1, frame="tool")
        assert position(forward) == pytest.approx(
            [p + 0.1 * a for p, a in zip(position(start), start.approach, strict=True)]
        )
        sideways = cell.offset_pose(start, dx=0.1, frame="tool")
        assert position(sideways) == pytest.approx(
            [p + 0.1 * c for p, c in zip(position(start), start.closing, strict=True)]
        )
        turned = start
        for _ in range(4):
            turned = cell.offset_pose(turned, turn=math.pi / 2, axis=(1.0, 2.0, 3.0))
            assert position(turned) == pytest.approx(position(start))
            self.square(turned)
        self.same(turned, start)
        hinge = api.Point(0.6, -0.2, 0.0)
        swung = cell.offset_pose(start, turn=math.pi / 2, about=hinge)
        assert position(swung) == pytest.approx((0.6 - 0.3, -0.2 - 0.1, 0.3))  # right-handed about z
        assert swung.approach == pytest.approx((0.0, start.approach[0], start.approach[2]))

    def square(self, pose):
        assert math.hypot(*pose.approach) == pytest.approx(1)
        assert math.hypot(*pose.closing) == pytest.approx(1)
        assert sum(a * c for a, c in zip(pose.approach, pose.closing, strict=True)) == pytest.approx(
            0, abs=1e-6
        )

    def same(self, one, other):
        assert position(one) == pytest.approx(position(other))
        assert one.approach == pytest.approx(other.approach, abs=1e-9)
        assert one.closing == pytest.approx(other.closing, abs=1e-9)

    # Motion

    def test_arrives_where_it_is_sent(self, cell):
        start = cell.read_robot().pose
        poses = [cell.offset_pose(start, dz=0.05), cell.offset_pose(start, dy=0.06, dz=0.05)]
        robot = cell.move_to(poses, tolerance=NEAR)
        assert (robot.ok, robot.done) == (True, 2)
        assert robot.error <= NEAR
        assert math.dist(position(robot.pose), position(poses[-1])) <= 2 * NEAR
        assert math.dist(position(cell.read_robot().pose), position(robot.pose)) < NEAR
        home = cell.go_home()
        assert home.ok
        assert math.dist(position(home.pose), position(cell.go_home().pose)) < NEAR

    def test_unreachable_is_found_before_anything_moves(self, cell):
        pose = cell.read_robot().pose
        near, far = cell.offset_pose(pose, dz=0.05), cell.offset_pose(pose, dx=2.0)
        for target in (far, [near, far], [near, far, near]):
            robot = still(cell, lambda t=target: cell.move_to(t))
            assert (robot.ok, robot.reason, robot.done) == (False, "unreachable", 0)

    def test_the_workspace_is_kept(self, cell):
        space, pose = cell.describe_workspace(), cell.read_robot().pose
        outside = [
            {"dx": space.x[1] + 0.02 - pose.x},
            {"dx": space.x[0] - 0.02 - pose.x},
            {"dy": space.y[1] + 0.02 - pose.y},
            {"dy": space.y[0] - 0.02 - pose.y},
            {"dz": space.z[1] + 0.02 - pose.z},
            {"dz": space.z[0] - 0.02 - pose.z},
        ]
        for offset in outside:
            robot = still(cell, lambda o=offset: cell.move_to(cell.offset_pose(pose, **o)))
            assert robot.reason == "unreachable", offset

    def test_gripper_opens_as_wide_as_asked(self, cell):
        most = cell.describe_workspace().max_width
        for share in (1.0, 0.5, 0.75, 0.0):
            robot = cell.set_gripper(most * share)
            assert robot.ok
            assert robot.width == pytest.approx(most * share, abs=0.004)
            assert not robot.holding
        assert still(cell, lambda: cell.set_gripper(most * 1.2)).reason == "bad_argument"

    def test_touch_finds_the_table_and_says_when_there_is_nothing(self, cell):
        above, height = bare_table(cell)
        cell.set_gripper(0.0)
        robot = cell.move_until_contact(DOWN, 0.3)
        assert (robot.ok, robot.contact) == (True, True)
        assert abs(robot.pose.z - height) < 0.02
        assert cell.move_to(above).ok
        missed = cell.move_until_contact(DOWN, 0.03)
        assert (missed.ok, missed.reason, missed.contact) == (False, "no_contact", False)

    def test_the_table_stops_the_arm(self, cell):
        above, height = bare_table(cell)
        space = cell.describe_workspace()
        cell.set_gripper(0.0)
        robot = cell.move_to(
            cell.offset_pose(above, dz=max(height - 0.015, space.z[0] + 0.001) - above.z), speed=0.1
        )
        assert not robot.ok or robot.error <= 0.01
        assert robot.reason in ("", "blocked", "unreachable")
        assert robot.pose.z > height - 0.012

    def test_a_thing_is_grasped_lifted_and_put_down(self, cell):
        for _, shape, plan in holdable(cell)[:3]:
            cell.set_gripper(cell.describe_workspace().max_width)
            if not cell.move_to([plan.start, plan.pose], tolerance=0.005).ok:
                continue
            closed = cell.set_gripper(0.0)
            lifted = cell.move_to(cell.offset_pose(plan.pose, dz=0.1))
            if not (closed.holding and lifted.holding):
                continue
            assert abs(closed.width - plan.width) < 0.025
            down = cell.move_to([cell.offset_pose(plan.pose, dz=0.1), cell.offset_pose(plan.pose, dz=0.003)])
            assert down.reason in ("", "blocked")
            opened = cell.set_gripper(cell.describe_workspace().max_width)
            assert not opened.holding
            cell.move_to(plan.start)
            cell.go_home()
            found = [cell.measure_region(r) for r in cell.find_regions(cell.capture())]
            assert min(math.dist((s.x, s.y), (shape.x, shape.y)) for s in found if s.ok) < 0.06
            return
        pytest.fail("nothing could be grasped and lifted")

    # Programs

    def test_same_program_gives_the_same_trace(self, reopen):
        def trace():
            with Sandbox() as sandbox, sandbox.session() as session:
                result = session.run(PROGRAM, reopen())
            calls = [dataclasses.replace(call, seconds=0.0) for call in result.calls]
            return dataclasses.replace(result, seconds=0.0, calls=tuple(calls))

        first = trace()
        assert (first.error, first.rejected) == ("", None)
        assert {"capture", "move_to", "set_gripper"} <= {call.operation for call in first.calls}
        json.dumps(dataclasses.asdict(first), allow_nan=False)
        assert trace() == first
