"""Plans a motion before anything moves: each target in a straight line if the arm can, else across in joint
space.

All of the way is sampled: joints within their limits, tool within the box, wrist clear of the column, links
above the box's floor, and no joint faster than allowed. Poses here are tool_to_base in the base frame of the
cell.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...device import Matrix
from .kinematics import Joints, Kinematics, places
from .limits import ArmLimits
from .poses import UR_TO_BASE

_LENGTH, _ANGLE = 0.01, 0.05  # m, rad: distance of samples
_JUMP = 0.4  # rad: a larger step of a joint between two samples means another branch
_SLOWEST = 0.2  # share of the speed asked for; a line that must be slower runs beside a singularity
_TURN_LENGTH = 0.25  # m: a turn by one radian counts as much as a way of this length
_COLUMN = 0.26  # m, height of base and shoulder
_FLOOR = 0.05  # m, half of a link's width
_EDGE = 0.001  # m: what an arm that stands at the box's edge may be outside on its way
_TRIES = 60  # ways looked at for one plan
_BRANCHES = 24  # of one target, the nearest first


@dataclass(frozen=True)
class Segment:
    """One move of the controller. line: straight to `pose` (UR pose frame, 4×4), else of the joints. joints:
    at its end. speed: m/s on a line, rad/s of the joint that goes farthest across. seconds: how long it takes
    at most."""

    line: bool
    pose: Matrix
    joints: Joints
    speed: float
    acceleration: float
    seconds: float


@dataclass(frozen=True)
class Plan:
    """segments: in order; several of them may belong to one target. ends: number of segments up to each
    target that can be reached."""

    segments: tuple[Segment, ...]
    ends: tuple[int, ...]


class Planner:
    """Of one arm."""

    def __init__(self, kinematics: Kinematics, limits: ArmLimits) -> None:
        self._kinematics, self._limits = kinematics, limits
        self._low, self._high = (np.array(side) for side in zip(*limits.box, strict=True))

    def tool(self, joints: Joints) -> Matrix:
        """tool_to_base of joints."""
        return UR_TO_BASE @ self._kinematics.tool(joints)

    def plan(self, start: Joints, targets: list[Matrix], speed: float) -> Plan:
        """To as many of the targets, in order, as can be reached. speed: m/s of the tool."""
        budget = [_TRIES]
        return max(self._routes(start, targets, speed, budget), key=lambda plan: len(plan.ends))

    def across(self, start: Joints, end: Joints, speed: float) -> Segment | None:
        """A move in joint space; None where it leads out of the limits."""
        count = max(2, math.ceil(float(np.abs(end - start).max()) / _ANGLE))
        path = start + np.linspace(0.0, 1.0, count + 1)[:, None] * (end - start)
        points = self._points(path)
        if not self._clear(path[1:], points[1:]).all():
            return None
        way = float(np.abs(end - start).max())
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        reach = float(steps.max()) * count / max(way, 1e-9)  # m of the tool for a rad of the joint
        limit = min(self._limits.joint_speed, speed / max(reach, 1e-6))
        acceleration = self._limits.joint_acceleration
        return Segment(
            False, self._kinematics.tool(end), end, limit, acceleration, _duration(way, limit, acceleration)
        )

    def line(self, start: Joints, target: Matrix, speed: float) -> Segment | None:
        """A straight move; None where it leads out of the limits or the arm cannot stay on it."""
        path, whole = self.along(start, target)
        if not whole:
            return None
        origin = self.tool(start)
        length, angle = _way(origin, target)
        way = max(length, _TURN_LENGTH * angle)
        steps = np.abs(np.diff(path, axis=0)).max()
        turned = float(steps) * (len(path) - 1)  # rad of a joint, were all of the way like its worst part
        quickest = self._limits.joint_speed * way / turned if turned > 1e-6 else speed
        if quickest < _SLOWEST * speed:
            return None
        limit, acceleration = min(speed, quickest), self._limits.acceleration
        seconds = _duration(way, limit, acceleration)
        return Segment(True, UR_TO_BASE @ target, path[-1], limit, acceleration, seconds)

    def along(self, start: Joints, target: Matrix) -> tuple[NDArray[np.float64], bool]:
        """Joints on the straight way to a pose, as far as it is allowed, and whether that is all of it."""
        origin = self.tool(start)
        length, angle = _way(origin, target)
        count = max(2, math.ceil(max(length / _LENGTH, angle / _ANGLE)))
        share = np.arange(1, count + 1)[:, None] / count
        turn = Rotation.from_matrix(target[:3, :3] @ origin[:3, :3].T).as_rotvec()
        poses = np.tile(np.eye(4), (count, 1, 1))
        poses[:, :3, :3] = Rotation.from_rotvec(share * turn).as_matrix() @ origin[:3, :3]
        poses[:, :3, 3] = (1 - share) * origin[:3, 3] + share * target[:3, 3]
        path = [start]
        for pose in UR_TO_BASE @ poses:
            joints = self._kinematics.nearest(pose, path[-1])
            if joints is None or np.abs(joints - path[-1]).max() > _JUMP:
                break
            path.append(joints)
        joined = np.array(path)
        clear = self._clear(joined[1:], poses[: len(path) - 1, :3, 3])
        kept = len(clear) if clear.all() else int(clear.argmin())
        return joined[: kept + 1], kept == count

    def inside(self, pose: Matrix, margin: float = 0.0) -> bool:
        """Whether the tool point of a pose is in the box, or at most `margin` (m) outside."""
        place = pose[:3, 3]
        return bool(((place >= self._low - margin) & (place <= self._high + margin)).all())

    def _points(self, path: NDArray[np.float64]) -> NDArray[np.float64]:
        """Tool points n×3 in the base frame."""
        return np.array([self.tool(joints)[:3, 3] for joints in path])

    def _routes(
        self, start: Joints, targets: list[Matrix], speed: float, budget: list[int]
    ) -> Iterator[Plan]:
        """Plans for the targets, depth first; ends early with one that reaches them all."""
        yield Plan((), ())
        if not targets or not self.inside(targets[0]):
            return
        for segments in self._ways(start, targets[0], speed):
            if budget[0] <= 0:
                return
            budget[0] -= 1
            for rest in self._routes(segments[-1].joints, targets[1:], speed, budget):
                found = Plan(
                    segments + rest.segments, (len(segments), *(len(segments) + end for end in rest.ends))
                )
                yield found
                if len(found.ends) == len(targets):
                    budget[0] = 0
                    return

    def _ways(self, start: Joints, target: Matrix, speed: float) -> Iterator[tuple[Segment, ...]]:
        """Ways to one target: straight, then across to each branch, and straight for what calibration
        left."""
        straight = self.line(start, target, speed)
        if straight is not None:
            yield (straight,)
        for joints in self._kinematics.branches(UR_TO_BASE @ target, start)[:_BRANCHES]:
            over = self.across(start, joints, speed)
            if over is not None:
                exact = self.line(joints, target, speed)
                yield (over,) if exact is None else (over, exact)

    def _clear(self, path: NDArray[np.float64], tools: NDArray[np.float64]) -> NDArray[np.bool_]:
        """For each of joints n×6 and tool points n×3 (base frame), whether they are allowed."""
        if not len(path):
            return np.ones(0, dtype=bool)
        limits, (low, high) = self._limits, (self._kinematics.low, self._kinematics.high)
        links = places(path)
        wrist = links[:, 1:]
        above = np.maximum(wrist[..., 2] - _COLUMN, 0.0)
        distance = np.hypot(np.hypot(wrist[..., 0], wrist[..., 1]), above)
        allowed: NDArray[np.bool_] = (
            ((path >= low) & (path <= high)).all(axis=1)
            & ((tools >= self._low - _EDGE) & (tools <= self._high + _EDGE)).all(axis=1)
            & (links[..., 2].min(axis=1) >= limits.box[2][0] + _FLOOR)
            & (distance.min(axis=1) >= limits.clearance)
        )
        return allowed


def _way(origin: Matrix, target: Matrix) -> tuple[float, float]:
    """Distance (m) and angle (rad) between two poses."""
    turn = Rotation.from_matrix(target[:3, :3] @ origin[:3, :3].T).magnitude()
    return float(np.linalg.norm(target[:3, 3] - origin[:3, 3])), float(turn)


def _duration(way: float, speed: float, acceleration: float) -> float:
    """Seconds from rest to rest."""
    return way / speed + speed / acceleration
