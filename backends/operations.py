"""The 18 operations on one robot cell: a thin layer from programs to perception, planning and the device."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from . import geometry, grasping, placing, viewing
from .api import (
    REASONS,
    Box,
    Look,
    Part,
    Plan,
    Point,
    Pose,
    Reason,
    Region,
    Robot,
    Shape,
    Support,
    Vec,
    View,
    Workspace,
    failed,
)
from .device import Device, Facts, Frame, Motion
from .geometry import Array
from .grasping import Gripper
from .handles import Grasp, position, proper, to_matrix, to_plan, to_pose, to_region, to_shape, vec
from .perception import appearance, flat, matching, measuring, parts, segmenting, support
from .perception.feature import Feature
from .perception.measuring import Body
from .perception.scene import Scene
from .perception.segmenting import Piece
from .perception.sight import Hand, Sight

_SPEED = (0.005, 1.0)
_FORCE = (0.5, 150.0)
_PRESS = (0.0, 60.0)
_TOLERANCE = (0.0005, 0.05)
_MOST_POSES = 100
_ABOVE = 0.008  # find_regions' default, for looking up what is at a place
_CARRY_SLACK = 0.015  # how far views may disagree about where one thing is


@dataclass(frozen=True)
class Captured:
    """A picture that was taken for a program, and the part (u0, v0, u1, v1) it wants to see enlarged."""

    frame: Frame
    zoom: tuple[int, int, int, int] | None


class CellOperations:
    """The operations of one episode on a device. `captured`: the pictures taken so far, in order."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._facts: Facts = device.facts()
        self._scene = Scene(self._facts.box)
        self.captured: list[Captured] = []

    def snapshot(self) -> tuple[Any, ...]:
        """What the episode has seen so far, the device's state apart."""
        return self._scene.snapshot(), tuple(self.captured)

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Sets what `snapshot` took."""
        self._scene.restore(kept[0])
        self.captured = list(kept[1])

    # observe

    def capture(self, camera: str = "scene", zoom: Box | None = None) -> View:
        if camera not in self._facts.cameras:
            return failed(View, "bad_argument")
        frame = self._device.frame(camera)
        part = None
        if zoom is not None:
            part = _inside(zoom, frame.depth.shape)
            if part is None:
                return failed(View, "bad_argument")
        self.captured.append(Captured(frame, part))
        height, width = frame.depth.shape
        return View(camera=camera, width=width, height=height, _host=self._look(frame))

    def read_robot(self, arm: str = "") -> Robot:
        name = self._arm(arm)
        return failed(Robot, "bad_argument") if name is None else self._robot(name, None)

    def describe_workspace(self) -> Workspace:
        facts = self._facts
        if self._scene.table is None:
            # nothing was captured yet: look, without showing it
            fixed = [camera for camera in facts.cameras if camera not in facts.wrist_cameras]
            for camera in (fixed or list(facts.cameras))[:1]:
                self._look(self._device.frame(camera))
        return Workspace(
            x=facts.box[0],
            y=facts.box[1],
            z=facts.box[2],
            table=self._table,
            cameras=list(facts.cameras),
            arms=list(facts.arms),
            max_width=facts.max_width,
            hand_width=facts.hand_width,
            finger_length=facts.finger_length,
        )

    # perceive

    def find_regions(self, view: View, within: Box | None = None, above: float = 0.008) -> list[Region]:
        if not view.ok:
            return [failed(Region, view.reason)]
        sight = cast(Sight, view._host)
        if not (above == 0.0 or _in(above, (0.002, 0.5))):
            return [failed(Region, "bad_argument")]
        mask = None
        if within is not None:
            part = _inside(within, sight.seen.shape)
            if part is None:
                return [failed(Region, "bad_argument")]
            mask = np.zeros(sight.seen.shape, dtype=bool)
            mask[part[1] : part[3], part[0] : part[2]] = True
        found = segmenting.find_pieces(sight, above, mask) if above else flat.find_patches(sight, mask)
        regions = [to_region(piece) for piece in found]
        return sorted(regions, key=lambda r: (r.box.v0, r.box.u0))

    def segment(self, view: View, where: Box | Point | Region | Shape) -> Region:
        if (trouble := _trouble(view, where)) is not None:
            return failed(Region, trouble)
        sight = cast(Sight, view._host)
        if isinstance(where, Box):
            part = _inside(where, sight.seen.shape)
            if part is None:
                return failed(Region, "bad_argument")
            if not sight.seen[part[1] : part[3], part[0] : part[2]].any():
                return failed(Region, "no_depth")
            piece = matching.piece_in_box(sight, part, _ABOVE)
            return failed(Region, "not_found") if piece is None else to_region(piece)
        if isinstance(where, Point):
            cloud = np.array([[where.x, where.y, where.z]])
        elif isinstance(where, Region):
            earlier = cast(Piece, where._host)
            if earlier.sight is sight:
                return where
            cloud = measuring.fuse([earlier.sight.points[earlier.mask]])
        else:
            cloud = cast(Body, where._host).cloud
        if not np.isfinite(cloud).all():
            return failed(Region, "bad_argument")
        u, v, depth = sight.pixels_of(cloud)
        inside = (depth > 0) & (u >= -0.5) & (u < sight.width - 0.5) & (v >= -0.5) & (v < sight.height - 0.5)
        if not inside.any():
            return failed(Region, "out_of_view")
        pieces = segmenting.find_pieces(sight, _ABOVE)
        if isinstance(where, Point):
            found = matching.piece_under(pieces, cloud[0], 2 * _CARRY_SLACK)
        else:
            found = matching.piece_at(pieces, cloud, _CARRY_SLACK)
        return failed(Region, "not_found") if found is None else to_region(found)

    def describe_region(self, region: Region) -> Look:
        if not region.ok:
            return failed(Look, region.reason)
        look = appearance.describe(cast(Piece, region._host))
        return Look(lab=vec(look.lab), spread=vec(look.spread), hues=[float(share) for share in look.hues])

    # measure

    def measure_point(self, view: View, u: int, v: int) -> Point:
        if not view.ok:
            return failed(Point, view.reason)
        sight = cast(Sight, view._host)
        if not (0 <= u < sight.width and 0 <= v < sight.height):
            return failed(Point, "out_of_view")
        measured = sight.frame.depth[max(v - 1, 0) : v + 2, max(u - 1, 0) : u + 2] > 0
        if not measured.any():
            return failed(Point, "no_depth")
        if sight.frame.depth[v, u] > 0:
            x, y, z = sight.points[v, u]
        else:
            x, y, z = np.median(sight.points[max(v - 1, 0) : v + 2, max(u - 1, 0) : u + 2][measured], axis=0)
        normal = sight.normals[v, u]
        known = bool((normal != 0).any())
        return Point(float(x), float(y), float(z), normal=vec(normal) if known else (0.0, 0.0, 1.0))

    def measure_region(self, region: Region | list[Region]) -> Shape:
        regions = region if isinstance(region, list) else [region]
        if not regions:
            return failed(Shape, "bad_argument")
        # of several views some may have missed the thing; what the others show is measured
        good = [r for r in regions if r.ok]
        if not good:
            return failed(Shape, regions[0].reason)
        pieces = [cast(Piece, r._host) for r in good]
        body = measuring.measure(pieces)
        return failed(Shape, "no_depth") if body is None else to_shape(body, parts.find_parts(pieces, body))

    def measure_support(self, view: View, where: Box | Region) -> Support:
        if (trouble := _trouble(view, where)) is not None:
            return failed(Support, trouble)
        sight = cast(Sight, view._host)
        if isinstance(where, Box):
            part = _inside(where, sight.seen.shape)
            if part is None:
                return failed(Support, "bad_argument")
            area = np.zeros(sight.seen.shape, dtype=bool)
            area[part[1] : part[3], part[0] : part[2]] = True
        else:
            here = self.segment(view, where)
            if not here.ok:
                return failed(Support, here.reason)
            area = cast(Piece, here._host).mask
        if not (area & sight.seen).any():
            return failed(Support, "no_depth")
        surface = support.find_surface(sight, area, isinstance(where, Region))
        if surface is None:
            return failed(Support, "not_found")
        return Support(
            x=float(surface.centre[0]),
            y=float(surface.centre[1]),
            height=float(surface.centre[2]),
            normal=vec(surface.normal),
            free=surface.free,
            length=surface.rectangle.length,
            width=surface.rectangle.width,
            yaw=surface.rectangle.yaw,
            wall=surface.wall,
        )

    # compile

    def compile_pose(
        self,
        at: Point | Shape | Support | Part,
        approach: Vec = (0.0, 0.0, -1.0),
        closing: Vec | None = None,
        arm: str = "",
    ) -> Pose:
        if not at.ok:
            return failed(Pose, at.reason)
        name, direction = self._arm(arm), geometry.unit(approach)
        place = position(at)
        if name is None or direction is None or place is None:
            return failed(Pose, "bad_argument")
        wanted = self._device.arm(name).tool_to_base[:3, 0] if closing is None else geometry.unit(closing)
        if wanted is None or (closing is not None and abs(float(wanted @ direction)) > 0.98):
            return failed(Pose, "bad_argument")
        return to_pose(geometry.pose_matrix(place, direction, wanted), name)

    def compile_grasp(
        self,
        shape: Shape | Part,
        style: str = "auto",
        depth: float = 0.025,
        approach: Vec = (0.0, 0.0, -1.0),
        rank: int = 0,
        arm: str = "",
    ) -> Plan:
        if not shape.ok:
            return failed(Plan, shape.reason)
        name, direction = self._arm(arm), geometry.unit(approach)
        known = style in ("auto", "centre", "rim", "handle", "bar")
        if name is None or direction is None or not known or not _in(depth, (0.0, 0.3)) or rank < 0:
            return failed(Plan, "bad_argument")
        grip = grasping.plan_grasp(
            cast(Body | Feature, shape._host),
            self._scene.points,
            self._gripper(name),
            cast(grasping.Style, style),
            depth,
            direction,
            rank,
            self._reach(name),
        )
        return to_plan(grip, name)

    def compile_place(
        self,
        target: Point | Shape | Support | Part,
        shape: Shape,
        grasp: Plan,
        clearance: float = 0.005,
        yaw: float | None = None,
    ) -> Plan:
        if (trouble := _trouble(target, shape, grasp)) is not None:
            return failed(Plan, trouble)
        place = position(target)
        turn_known = yaw is None or math.isfinite(yaw)
        if place is None or not _in(clearance, (-0.1, 0.5)) or not turn_known:
            return failed(Plan, "bad_argument")
        if isinstance(target, Shape):
            body = cast(Body, target._host)
            place[2] = body.top if body.floor is None else body.floor
        held = cast(Grasp, grasp._host)
        grip = placing.plan_place(
            place,
            cast(Body, shape._host),
            held.grip,
            self._scene.points,
            self._gripper(held.arm),
            clearance,
            yaw,
            self._reach(held.arm),
        )
        return to_plan(grip, held.arm)

    def compile_view(
        self,
        target: Point | Shape | Support | Region | Part,
        distance: float = 0.3,
        direction: Vec = (0.0, 0.0, -1.0),
        camera: str = "wrist",
    ) -> Pose:
        if not target.ok:
            return failed(Pose, target.reason)
        carried, along = self._facts.wrist_cameras.get(camera), geometry.unit(direction)
        place = np.array([target.x, target.y, target.top]) if isinstance(target, Region) else position(target)
        if carried is None or along is None or place is None or not _in(distance, (0.05, 2.0)):
            return failed(Pose, "bad_argument")
        name = self._facts.camera_arm[camera]
        tool = viewing.tool_for_view(
            carried, place, distance, along, self._gripper(name).closing, self._reach(name)
        )
        return failed(Pose, "unreachable") if tool is None else to_pose(tool, name)

    def offset_pose(
        self,
        pose: Pose,
        dx: float = 0.0,
        dy: float = 0.0,
        dz: float = 0.0,
        frame: str = "base",
        turn: float = 0.0,
        axis: Vec = (0.0, 0.0, 1.0),
        about: Point | None = None,
    ) -> Pose:
        if (trouble := _trouble(pose, *([about] if about is not None else []))) is not None:
            return failed(Pose, trouble)
        spindle = geometry.unit(axis)
        numbers = (dx, dy, dz, turn, *((about.x, about.y, about.z) if about is not None else ()))
        if frame not in ("base", "tool") or spindle is None or not all(math.isfinite(n) for n in numbers):
            return failed(Pose, "bad_argument")
        tool = to_matrix(pose)
        local = tool[:3, :3] if frame == "tool" else np.eye(3)
        tool[:3, 3] += local @ np.array([dx, dy, dz])
        spin = geometry.rotation(local @ spindle, turn)
        centre = tool[:3, 3].copy() if about is None else np.array([about.x, about.y, about.z])
        tool[:3, 3] = centre + spin @ (tool[:3, 3] - centre)
        tool[:3, :3] = spin @ tool[:3, :3]
        return to_pose(tool, pose.arm)

    # act

    def move_to(
        self,
        target: Pose | list[Pose],
        speed: float = 0.25,
        force: float = 40.0,
        press: float = 0.0,
        tolerance: float = 0.01,
        also: Pose | None = None,
    ) -> Robot:
        poses = target if isinstance(target, list) else [target]
        arms = {pose.arm for pose in poses}
        arm = self._arm(next(iter(arms))) if len(arms) == 1 else None
        if (trouble := _trouble(*poses, *([also] if also is not None else []))) is not None:
            return self._stay(arm, trouble)
        limits = (
            _in(speed, _SPEED) and _in(force, _FORCE) and _in(press, _PRESS) and _in(tolerance, _TOLERANCE)
        )
        if arm is None or not limits or len(poses) > _MOST_POSES or not all(proper(pose) for pose in poses):
            return self._stay(arm, "bad_argument")
        second = None
        if also is not None:
            other = self._arm(also.arm)
            if other is None or other == arm or not proper(also):
                return self._stay(arm, "bad_argument")
            second = (other, to_matrix(also))
            if self._device.reachable(other, [second[1]]) < 1:
                return self._stay(arm, "unreachable")
        matrices = [to_matrix(pose) for pose in poses]
        if self._device.reachable(arm, matrices) < len(matrices):
            return self._stay(arm, "unreachable")
        return self._robot(arm, self._device.follow(arm, matrices, speed, force, press, tolerance, second))

    def move_until_contact(
        self, direction: Vec, distance: float, speed: float = 0.05, force: float = 8.0, arm: str = ""
    ) -> Robot:
        name, along = self._arm(arm), geometry.unit(direction)
        limits = _in(distance, (0.0, 1.0)) and _in(speed, _SPEED) and _in(force, _FORCE)
        if name is None or along is None or not limits:
            return self._stay(name, "bad_argument")
        return self._robot(name, self._device.touch(name, along, distance, speed, force))

    def set_gripper(self, width: float, force: float = 20.0, arm: str = "") -> Robot:
        name = self._arm(arm)
        if name is None or not _in(width, (0.0, self._facts.max_width + 1e-6)) or not _in(force, _FORCE):
            return self._stay(name, "bad_argument")
        robot = self._robot(name, self._device.grip(name, width, force))
        if robot.holding:
            # what is held goes with the hand: it is no longer an obstacle where it stood
            tool = self._device.arm(name).tool_to_base
            self._scene.forget_near(tool[:3, 3], self._facts.max_width, self._table + 0.01)
        return robot

    def go_home(self, arm: str = "") -> Robot:
        name = self._arm(arm)
        if name is None:
            return failed(Robot, "bad_argument")
        return self._robot(name, self._device.home(name))

    # the cell

    @property
    def _table(self) -> float:
        table = self._scene.table
        return 0.0 if table is None else table

    def _look(self, frame: Frame) -> Sight:
        facts, hands = self._facts, []
        for arm in facts.arms:
            state = self._device.arm(arm)
            carries = facts.camera_arm.get(frame.camera) == arm
            root = facts.roots[arm][:2, 3] if arm in facts.roots else (0.0, 0.0)
            hands.append(
                Hand(
                    state.tool_to_base, state.width, facts.hand_width, facts.finger_length, carries,
                    (float(root[0]), float(root[1])),
                )
            )  # fmt: skip
        sight = Sight(frame, facts.box, hands)
        self._scene.add(sight)
        return sight

    def _arm(self, arm: str) -> str | None:
        """The arm's full name: the first for "", None for an unknown one."""
        if arm == "":
            return self._facts.arms[0]
        return arm if arm in self._facts.arms else None

    def _gripper(self, arm: str) -> Gripper:
        facts = self._facts
        closing = self._device.arm(arm).tool_to_base[:3, 0]
        return Gripper(facts.max_width, facts.hand_width, facts.finger_length, closing)

    def _reach(self, arm: str) -> Callable[[list[Array]], bool]:
        return lambda targets: self._device.reachable(arm, targets) == len(targets)

    def _robot(self, arm: str, motion: Motion | None) -> Robot:
        state = self._device.arm(arm)
        pose = to_pose(state.tool_to_base, arm)
        if motion is None:
            return Robot(pose=pose, force=state.force, width=state.width, holding=state.holding)
        return Robot(
            ok=motion.stop == "",
            reason=motion.stop,
            pose=pose,
            done=motion.done,
            error=motion.error,
            force=motion.force,
            contact=motion.contact,
            width=state.width,
            holding=state.holding,
        )

    def _stay(self, arm: str | None, reason: Reason) -> Robot:
        """Nothing moves; the state is told all the same."""
        if arm is None:
            return failed(Robot, reason)
        state = self._device.arm(arm)
        pose = to_pose(state.tool_to_base, arm)
        return Robot(ok=False, reason=reason, pose=pose, width=state.width, holding=state.holding)


def _trouble(*given: Any) -> Reason | None:
    """The reason of the first failed result among what an operation was given."""
    for value in given:
        if not getattr(value, "ok", True):
            return cast(Reason, value.reason if value.reason in REASONS[1:] else "bad_argument")
    return None


def _in(value: float, limits: tuple[float, float]) -> bool:
    return math.isfinite(value) and limits[0] <= value <= limits[1]


def _inside(box: Box, shape: tuple[int, ...]) -> tuple[int, int, int, int] | None:
    """The part of a box that lies in a picture of this shape (H, W), None where there is none."""
    u0, v0, u1, v1 = max(box.u0, 0), max(box.v0, 0), min(box.u1, shape[1]), min(box.v1, shape[0])
    return (u0, v0, u1, v1) if u0 < u1 and v0 < v1 else None
