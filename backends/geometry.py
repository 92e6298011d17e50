"""Directions, rotations, tool poses and plane figures (rectangles, circles), in metres and radians.

Points are float arrays of shape (N, 2) or (N, 3); poses are 4×4 matrices. Right-handed throughout.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UP: Array = np.array([0.0, 0.0, 1.0])
DOWN: Array = -UP


def unit(vector: Array | tuple[float, float, float]) -> Array | None:
    """The direction of a vector of shape (3,); None where it is not finite or has no length."""
    v = np.asarray(vector, dtype=float)
    length = float(np.linalg.norm(v)) if v.shape == (3,) and bool(np.isfinite(v).all()) else 0.0
    return v / length if 1e-6 < length < math.inf else None


def across(direction: Array, approach: Array) -> Array:
    """The unit vector perpendicular to `approach` that is nearest to `direction`; any perpendicular one
    where they are parallel."""
    for candidate in (direction, np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])):
        rest = candidate - approach * float(candidate @ approach)
        length = float(np.linalg.norm(rest))
        if length > 1e-3:
            return np.asarray(rest / length)
    raise AssertionError("two base axes cannot both be parallel to one direction")


def pose_matrix(position: Array, approach: Array, closing: Array) -> Array:
    """tool_to_base of a tool at `position` whose z is `approach` and whose x is as near to `closing` as it
    can be."""
    x = across(closing, approach)
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2], matrix[:3, 3] = x, np.cross(approach, x), approach, position
    return matrix


def rotation(axis: Array, angle: float) -> Array:
    """3×3 right-handed rotation about a unit axis."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * skew + (1.0 - math.cos(angle)) * (skew @ skew))


def transform(matrix: Array, points: NDArray[np.floating]) -> Array:
    """Points (…, 3) taken by a 4×4 matrix."""
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def inverse(matrix: Array) -> Array:
    """Of a rigid 4×4 transform."""
    result = np.eye(4)
    result[:3, :3] = matrix[:3, :3].T
    result[:3, 3] = -matrix[:3, :3].T @ matrix[:3, 3]
    return result


def turn_between(old: float, new: float) -> float:
    """The smallest turn that brings a line (not an arrow) of direction `old` to `new`: in (-pi/2, pi/2]."""
    turn = math.fmod(new - old, math.pi)
    if turn > math.pi / 2:
        turn -= math.pi
    elif turn <= -math.pi / 2:
        turn += math.pi
    return turn


@dataclass(frozen=True)
class Rectangle:
    """yaw: direction of the length, in [0, pi)."""

    x: float
    y: float
    length: float
    width: float
    yaw: float


def smallest_rectangle(points: Array, trim: float = 0.01) -> Rectangle:
    """The rectangle of least area that holds points (N, 2), but for a share `trim` at each of its sides."""

    def extents(yaws: Array) -> tuple[Array, Array]:
        # linear interpolation of sorted projections, the same for both sides of both axes
        along = np.stack([np.cos(yaws), np.sin(yaws)])
        sideways = np.stack([-np.sin(yaws), np.cos(yaws)])
        cuts = (trim, 1.0 - trim)
        return np.quantile(points @ along, cuts, axis=0), np.quantile(points @ sideways, cuts, axis=0)

    def best(yaws: Array) -> float:
        a, b = extents(yaws)
        return float(yaws[np.argmin((a[1] - a[0]) * (b[1] - b[0]))])

    coarse = best(np.radians(np.arange(0.0, 90.0, 3.0)))
    yaw = best(coarse + np.radians(np.arange(-3.0, 3.01, 0.5)))
    (a0, a1), (b0, b1) = (side[:, 0] for side in extents(np.array([yaw])))
    x = math.cos(yaw) * (a0 + a1) / 2 - math.sin(yaw) * (b0 + b1) / 2
    y = math.sin(yaw) * (a0 + a1) / 2 + math.cos(yaw) * (b0 + b1) / 2
    length, width = float(a1 - a0), float(b1 - b0)
    if width > length:
        length, width, yaw = width, length, yaw + math.pi / 2
    return Rectangle(float(x), float(y), length, width, yaw % math.pi)


@dataclass(frozen=True)
class Circle:
    """error: root mean square distance of the points that count, in metres."""

    x: float
    y: float
    radius: float
    error: float


def fit_circle(points: Array) -> Circle:
    """Least squares (Kåsa) through points (N, 2), N >= 3, not all on one line."""
    middle = points.mean(axis=0)
    p = points - middle
    lhs = np.column_stack([2.0 * p, np.ones(len(p))])
    (cx, cy, c), *_ = np.linalg.lstsq(lhs, (p**2).sum(axis=1), rcond=None)
    radius = math.sqrt(max(float(c + cx * cx + cy * cy), 0.0))
    off = np.hypot(p[:, 0] - cx, p[:, 1] - cy) - radius
    return Circle(float(cx + middle[0]), float(cy + middle[1]), radius, float(np.sqrt((off**2).mean())))
