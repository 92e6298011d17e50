"""Plans a motion before anything moves: straight lines in space, joints for each point, speeds within limits.

A segment that cannot be followed straight (a joint would meet its limit, or the arm would have to change
its branch) is crossed in joint space instead, which is what frees an arm that has stretched to its limit.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from ..device import Matrix
from .kinematics import Joints, Kinematics, rotation_vector

JOINT_SPEED = 2.0  # rad/s
TURN_SPEED = 2.0  # rad/s, of the tool
_TURN_RADIUS = 0.12  # m: a slow motion turns no faster than something of this size would move along
ACCELERATION = 1.5  # m/s²
_LENGTH, _ANGLE, _FEWEST = (
    0.01,
    0.06,
    6,
)  # distance of samples in m and rad; least number of them in a segment
_JUMP = 0.4  # rad: a larger step of a joint between two samples means another branch


@dataclass(frozen=True)
class Trajectory:
    """Joint positions, speeds, accelerations at each tick (ticks × joints). ends: tick of each target.
    seconds: how long it takes."""

    joints: NDArray[np.float64]
    speeds: NDArray[np.float64]
    accelerations: NDArray[np.float64]
    ends: tuple[int, ...]
    seconds: float


def reach(kinematics: Kinematics, start: Joints, targets: list[Matrix]) -> list[Joints]:
    """Joints for the targets, in order, up to the first that cannot be reached."""
    solutions: list[Joints] = []
    joints = start
    for target in targets:
        found = kinematics.search(target, joints)
        if found is None:
            break
        solutions.append(found)
        joints = found
    return solutions


def line(kinematics: Kinematics, start: Joints, target: Matrix) -> tuple[list[Joints], bool]:
    """Joints along the straight line from the tool at `start` to the target; False if it ends early."""
    origin = kinematics.tool(start)
    turn = rotation_vector(target[:3, :3] @ origin[:3, :3].T)
    angle = float(np.linalg.norm(turn))
    length = float(np.linalg.norm(target[:3, 3] - origin[:3, 3]))
    count = max(_FEWEST, int(np.ceil(length / _LENGTH)), int(np.ceil(angle / _ANGLE)))
    path: list[Joints] = []
    joints = start
    for share in np.arange(1, count + 1) / count:
        waypoint = np.eye(4)
        waypoint[:3, :3] = rotation(share * turn) @ origin[:3, :3] if share < 1 else target[:3, :3]
        waypoint[:3, 3] = (1 - share) * origin[:3, 3] + share * target[:3, 3]
        found = kinematics.solve(waypoint, joints, 15, pull=0.01)
        if found is None or np.abs(found - joints).max() > _JUMP:
            return path, False
        path.append(found)
        joints = found
    return path, True


def across(start: Joints, end: Joints) -> list[Joints]:
    """Joints along the straight line in joint space."""
    count = max(_FEWEST, int(np.ceil(np.abs(end - start).max() / _ANGLE)))
    return [start + (end - start) * share for share in np.arange(1, count + 1) / count]


def plan(
    kinematics: Kinematics,
    start: Joints,
    targets: list[Matrix],
    speed: float,
    tick: float,
    seconds: float = 0.0,
) -> Trajectory | int:
    """The motion through the targets, or the index of the first that cannot be reached. seconds: it takes
    at least so long."""
    pieces: list[list[Joints]] = []
    joints = start
    for index, target in enumerate(targets):
        path, complete = line(kinematics, joints, target)
        if not complete:
            end = kinematics.search(target, joints)
            if end is None:
                return index
            path = across(joints, end)
        pieces.append(path)
        joints = path[-1]
    return time(kinematics, start, pieces, speed, tick, seconds)


def time(
    kinematics: Kinematics,
    start: Joints,
    pieces: list[list[Joints]],
    speed: float,
    tick: float,
    seconds: float = 0.0,
) -> Trajectory:
    """Gives a path of joint positions, in pieces that end at targets, its timing. seconds: the least
    duration."""
    path = np.array([start, *(joints for piece in pieces for joints in piece)])
    turning = min(TURN_SPEED, speed / _TURN_RADIUS)
    tools = np.array([kinematics.tool(joints) for joints in path])
    shift = np.diff(tools[:, :3, 3], axis=0)
    turn = np.array([rotation_vector(b[:3, :3] @ a[:3, :3].T) for a, b in itertools.pairwise(tools)])
    steps = np.diff(path, axis=0)
    nominal = np.maximum.reduce(
        [
            np.linalg.norm(shift, axis=1) / speed,
            np.linalg.norm(turn, axis=1) / turning,
            np.abs(steps).max(axis=1) / JOINT_SPEED,
            np.full(len(steps), 1e-4),
        ]
    )
    ends = np.cumsum([len(piece) for piece in pieces])
    limit = np.ones(len(path))  # of the pace: 1 is full speed
    limit[0] = limit[-1] = 0.0
    velocity = np.concatenate([shift / speed, turn / turning, steps / JOINT_SPEED], axis=1) / nominal[:, None]
    for end in ends[:-1]:
        before, after = velocity[end - 1], velocity[end]
        agreement = before @ after / (np.linalg.norm(before) * np.linalg.norm(after) + 1e-12)
        limit[end] = agreement if agreement > 0.95 else 0.0
    ramp = ACCELERATION / speed
    pace = limit.copy()
    for k in range(1, len(path)):
        pace[k] = min(pace[k], np.sqrt(pace[k - 1] ** 2 + 2 * ramp * nominal[k - 1]))
    for k in range(len(path) - 2, -1, -1):
        pace[k] = min(pace[k], np.sqrt(pace[k + 1] ** 2 + 2 * ramp * nominal[k]))
    times = np.concatenate([[0.0], np.cumsum(2 * nominal / np.maximum(pace[:-1] + pace[1:], 1e-3))])
    if times[-1] < seconds:
        times = np.append(times[:-1] * (seconds / times[-1]), seconds)
    spline = CubicSpline(times, path, bc_type="clamped")
    grid = np.append(np.arange(tick, times[-1], tick), times[-1])
    return Trajectory(
        joints=spline(grid),
        speeds=spline(grid, 1),
        accelerations=spline(grid, 2),
        ends=tuple(int(np.searchsorted(grid, moment - 1e-9)) for moment in times[ends]),
        seconds=float(times[-1]),
    )


def rotation(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation matrix of an axis times angle (rad)."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: NDArray[np.float64] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return turned
