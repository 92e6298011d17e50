"""Where something can be put down: the flat surface that fills most of an area, and the room on it."""

from dataclasses import dataclass

import numpy as np

from .. import geometry
from ..geometry import Array, Rectangle
from . import grid
from .grid import Grid
from .sight import Mask, Sight

_CELL = 0.004
_FLAT = 0.007  # points this near to the surface's height belong to it
_OBSTACLE = 0.012  # what rises further above the surface takes up room


@dataclass(frozen=True)
class Surface:
    """centre (3,): middle of the largest free circle, on the surface. free: its radius. wall: highest
    point seen in the area. rectangle: the surface's footprint."""

    centre: Array
    normal: Array
    free: float
    wall: float
    rectangle: Rectangle


def find_surface(sight: Sight, area: Mask, unseen_is_free: bool) -> Surface | None:
    """None where too little of the area is seen or nothing in it is flat. unseen_is_free: what the area
    encloses but no pixel shows (a basket's floor behind its wall) counts as room."""
    area = area & sight.seen
    points = sight.points[area]
    if len(points) < 30:
        return None
    plane = _dominant_plane(points, sight.normals[area], sight.pitch[area])
    if plane is None:
        return None
    middle, normal = plane
    offset = (points - middle) @ normal
    on = np.abs(offset) < _FLAT
    raster = Grid.around(points, max(_CELL, 1.3 * float(np.median(sight.pitch[area]))))
    surface = grid.close(raster.occupied(points[on]), 1)
    taken = np.zeros_like(surface)
    taken[raster.index(points[offset > _OBSTACLE])] = 1
    room = (grid.hull(raster.occupied(points)) if unseen_is_free else surface) & (1 - taken)
    inside = grid.depth_inside(room)
    if inside.max() < 1.0:
        return None
    # among equally roomy places the one nearest to the middle of them all
    i, j = np.nonzero(inside >= inside.max() - 1.0)
    k = int(np.argmin(np.hypot(i - i.mean(), j - j.mean())))
    x, y = raster.x0 + (i[k] + 0.5) * raster.cell, raster.y0 + (j[k] + 0.5) * raster.cell
    z = middle[2] - ((x - middle[0]) * normal[0] + (y - middle[1]) * normal[1]) / normal[2]
    plan = geometry.smallest_rectangle(raster.centres(room), 0.0)
    plan = Rectangle(plan.x, plan.y, plan.length + raster.cell, plan.width + raster.cell, plan.yaw)
    wall = float(np.sort(points[:, 2])[-max(3, len(points) // 200)])
    free = (float(inside[i[k], j[k]]) - 0.5) * raster.cell
    return Surface(np.array([x, y, float(z)]), normal, free, wall, plan)


def _dominant_plane(points: Array, normals: Array, pitch: Array) -> tuple[Array, Array] | None:
    """A point on, and the upward normal of, the nearly level plane with the largest seen area."""
    upward = normals[:, 2] > 0.85
    if upward.sum() < 15:
        return None
    p, area = points[upward], pitch[upward] ** 2
    step = 0.004
    bins = np.floor(p[:, 2] / step).astype(np.int64)
    low = int(bins.min())
    weight = np.convolve(np.bincount(bins - low, weights=area), np.ones(3), mode="same")
    height = (int(weight.argmax()) + low + 0.5) * step
    near = np.abs(p[:, 2] - height) < 2.0 * _FLAT
    middle, normal = p[near].mean(axis=0), geometry.UP
    for _ in range(3):
        on = np.abs((p - middle) @ normal) < _FLAT
        if on.sum() < 15:
            return None
        middle = p[on].mean(axis=0)
        slope, *_ = np.linalg.lstsq(p[on, :2] - middle[:2], p[on, 2] - middle[2], rcond=None)
        tilted = geometry.unit(np.array([-slope[0], -slope[1], 1.0]))
        if tilted is not None and tilted[2] > 0.9:
            normal = tilted
    return middle, normal
