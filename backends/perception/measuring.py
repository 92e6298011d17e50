"""Size, place and form of one thing from the points that one or several pictures show of it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import geometry
from ..geometry import Array, Circle, Rectangle
from . import figure, grid
from .grid import Grid
from .segmenting import Piece

_VOXEL = 0.003
_CELL = 0.003
_SECTORS = 48
_TRIM = 0.004  # share of points that may lie outside each side of the footprint


@dataclass(frozen=True)
class Body:
    """What was measured of one thing; metres, radians, base frame. cloud (N, 3): its points, one in 3 mm
    voxels. circle: of its round outline, None without one. floor: height of the inside of something open
    at the top, None where it is closed. handle: middle (3,) and outward direction (3,) of what stands out
    of the outline. hole: middle (2,) of the one hole through it, None without."""

    cloud: Array
    rectangle: Rectangle
    circle: Circle | None
    bottom: float
    top: float
    floor: float | None
    axis: Array
    facing: Array
    handle: tuple[Array, Array] | None
    hole: Array | None = None

    @property
    def hollow(self) -> bool:
        return self.floor is not None

    @property
    def centre(self) -> Array:
        """(3,): middle of the round outline, of the hole or of the footprint, half way up."""
        plan = self.circle or self.rectangle
        x, y = (plan.x, plan.y) if self.circle or self.hole is None else self.hole
        return np.array([x, y, (self.bottom + self.top) / 2])


def measure(pieces: list[Piece]) -> Body | None:
    """Fuses pieces of one thing. None where too little of it is seen."""
    cloud = fuse([piece.sight.points[piece.mask] for piece in pieces])
    if len(cloud) < 8:
        return None
    pitch = min(float(np.median(piece.sight.pitch[piece.mask])) for piece in pieces)
    bottom = min(piece.support for piece in pieces)
    top = _top(cloud)
    outline = _Outline(cloud, max(_CELL, 1.3 * pitch))
    circle = outline.circle(pitch)
    handle = _handle(cloud, circle) if circle else outline.handle()
    if circle:
        rectangle = _round_footprint(cloud, circle, handle, pitch)
    else:
        rectangle = _widen(geometry.smallest_rectangle(cloud[:, :2], _TRIM), pitch)
    floor = outline.floor(top - bottom)
    height = max(top - bottom, 0.0)
    lying = np.array([math.cos(rectangle.yaw), math.sin(rectangle.yaw), 0.0])
    # a bar that hangs over its support is not as high as it hangs
    bar = rectangle.length > 3.0 * rectangle.width and np.ptp(cloud[:, 2]) < 0.3 * rectangle.length
    axis = geometry.UP if height > rectangle.length and not bar else lying
    facing, hole = _facing(pieces), outline.hole(bottom, height)
    return Body(cloud, rectangle, circle, bottom, top, floor, axis, facing, handle, hole)


def fuse(clouds: list[Array]) -> Array:
    """One point (the mean) for each 3 mm voxel, without lone ones; ordered by place, so the result does
    not depend on the order of the views' pixels."""
    points = np.concatenate(clouds)
    keys = np.floor(points / _VOXEL).astype(np.int64)
    _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    sums = np.stack(
        [np.bincount(inverse, weights=points[:, k], minlength=len(counts)) for k in range(3)], axis=1
    )
    cloud = sums / counts[:, None]
    # lone: fewer than three voxels in the 3×3×3 block of coarser voxels around it
    coarse = np.floor(cloud / (2.0 * _VOXEL)).astype(np.int64)
    coarse -= coarse.min(axis=0) - 1
    block = np.zeros(coarse.max(axis=0) + 2, dtype=np.int32)
    np.add.at(block, tuple(coarse.T), 1)
    for axis in range(3):
        block = block + np.roll(block, 1, axis) + np.roll(block, -1, axis)
    crowded = block[tuple(coarse.T)] >= 4
    return np.asarray(cloud[crowded] if crowded.sum() >= 8 else cloud)


def _top(cloud: Array) -> float:
    """The highest surface: the upper end of the cells' median heights, so single noisy points do not
    count."""
    raster = Grid.around(cloud, 2 * _CELL)
    i, j = raster.index(cloud)
    cell = i * raster.shape[1] + j
    order = np.lexsort((cloud[:, 2], cell))
    last = np.append(np.nonzero(np.diff(cell[order]))[0], len(order) - 1)
    highest = np.sort(cloud[order[last], 2])
    return float(highest[max(0, len(highest) - max(3, len(highest) // 25))])


def _widen(rectangle: Rectangle, pitch: float) -> Rectangle:
    """Pixels' middles end half a pixel inside an edge."""
    r = rectangle
    return Rectangle(r.x, r.y, r.length + pitch, r.width + pitch, r.yaw)


class _Outline:
    """The figure that a thing's points fill in the table's plane."""

    def __init__(self, cloud: Array, cell: float) -> None:
        self.cloud = cloud
        self.raster = Grid.around(cloud, cell)
        self.figure = grid.fill(grid.close(self.raster.occupied(cloud), 2))
        self.inside = grid.depth_inside(self.figure)

    def circle(self, pitch: float) -> Circle | None:
        """The circle that the outline follows over at least two thirds of the way round, None where it
        does not."""
        i, j = np.unravel_index(int(np.argmax(self.inside)), self.inside.shape)
        raster = self.raster
        x = float(raster.x0 + (i + 0.5) * raster.cell)
        y = float(raster.y0 + (j + 0.5) * raster.cell)
        radius = float(self.inside[i, j]) * raster.cell
        found: Circle | None = None
        points = np.empty((0, 2))
        for _ in range(4):
            points = _profile(self.cloud[:, :2], x, y)
            off = np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius)
            good = off < max(0.15 * radius, 2.0 * pitch)
            if good.sum() < 0.5 * _SECTORS:
                return None
            found = geometry.fit_circle(points[good])
            x, y, radius = found.x, found.y, found.radius
        off = np.abs(np.hypot(points[:, 0] - x, points[:, 1] - y) - radius)
        if found is None or (off < max(0.06 * radius, 1.2 * pitch)).sum() < 0.66 * _SECTORS:
            return None
        if found.error > max(0.045 * radius, 0.8 * pitch):
            return None
        return Circle(x, y, radius + pitch / 2, found.error)

    def handle(self) -> tuple[Array, Array] | None:
        """Of an outline with corners."""
        return figure.find_handle(self.raster, self.figure, self.inside, self.cloud)

    def hole(self, bottom: float, height: float) -> Array | None:
        """Middle of the one hole through a thing of this height."""
        body = self.raster.occupied(self.cloud[self.cloud[:, 2] > bottom + 0.35 * height])
        return figure.find_hole(self.raster, body, self.figure, height)

    def floor(self, height: float) -> float | None:
        """Height of the middle, where it lies deeper than what stands around it on most sides."""
        deepest = float(self.inside.max())
        i, j = self.raster.index(self.cloud)
        depth, z = self.inside[i, j], self.cloud[:, 2]
        middle = depth > 0.4 * deepest
        border = (depth <= 0.4 * deepest) & (depth > 0)
        if middle.sum() < 6 or border.sum() < 6:
            return None
        floor = float(np.median(z[middle]))
        centre = self.cloud[middle, :2].mean(axis=0)
        angle = np.arctan2(self.cloud[border, 1] - centre[1], self.cloud[border, 0] - centre[0])
        sector = ((angle + math.pi) / (2 * math.pi) * 24).astype(int) % 24
        rim = np.full(24, -np.inf)
        np.maximum.at(rim, sector, z[border])
        open_at_top = (rim > floor + max(0.006, 0.3 * height)).sum() >= 14
        return floor if open_at_top else None


def _profile(points: Array, x: float, y: float) -> Array:
    """The outermost point in each sector around (x, y), as far as there is one: (<= 48, 2)."""
    dx, dy = points[:, 0] - x, points[:, 1] - y
    sector = ((np.arctan2(dy, dx) + math.pi) / (2 * math.pi) * _SECTORS).astype(int) % _SECTORS
    order = np.lexsort((np.hypot(dx, dy), sector))
    last = np.append(np.nonzero(np.diff(sector[order]))[0], len(order) - 1)
    return np.asarray(points[order[last]])


def _handle(cloud: Array, circle: Circle) -> tuple[Array, Array] | None:
    """What reaches at least a centimetre out of a round outline in one direction."""
    dx, dy = cloud[:, 0] - circle.x, cloud[:, 1] - circle.y
    distance = np.hypot(dx, dy)
    outside = distance > circle.radius + 0.004
    if outside.sum() < 6:
        return None
    points = cloud[outside]
    raster = Grid.around(points, 2 * _CELL)
    count, labels = grid.components(grid.close(raster.occupied(points), 1))
    owner = labels[raster.index(points)]
    sizes = np.bincount(owner, minlength=count + 1)
    sizes[0] = 0
    mine = points[owner == int(sizes.argmax())]
    reach = np.hypot(mine[:, 0] - circle.x, mine[:, 1] - circle.y) - circle.radius
    if len(mine) < 6 or float(np.quantile(reach, 0.95)) < 0.01:
        return None
    middle = np.median(mine, axis=0)
    outward = np.array([middle[0] - circle.x, middle[1] - circle.y, 0.0])
    direction = geometry.unit(outward)
    return None if direction is None else (middle, direction)


def _round_footprint(
    cloud: Array, circle: Circle, handle: tuple[Array, Array] | None, pitch: float
) -> Rectangle:
    """The footprint of a round thing: along its handle, from the handle's end to the far side; without
    one, of no direction (yaw 0)."""
    if handle is None:
        return Rectangle(circle.x, circle.y, 2 * circle.radius, 2 * circle.radius, 0.0)
    outward = handle[1][:2]
    along = (cloud[:, :2] - (circle.x, circle.y)) @ outward
    end = max(float(np.sort(along)[-3]) + pitch / 2, circle.radius)
    x, y = np.array([circle.x, circle.y]) + outward * (end - circle.radius) / 2
    yaw = math.atan2(outward[1], outward[0]) % math.pi
    return Rectangle(float(x), float(y), end + circle.radius, 2 * circle.radius, yaw)


def _facing(pieces: list[Piece]) -> Array:
    """Normal of the largest flat face: the plane that holds most of the seen area."""
    normals, points, areas = [], [], []
    for piece in pieces:
        normal = piece.sight.normals[piece.mask]
        known = (normal != 0.0).any(axis=1)
        p = piece.sight.points[piece.mask][known]
        normal = normal[known]
        ray = p - piece.sight.origin
        slant = np.abs((normal * ray).sum(axis=1)) / np.linalg.norm(ray, axis=1)
        normals.append(normal)
        points.append(p)
        areas.append(piece.sight.pitch[piece.mask][known] ** 2 / np.maximum(slant, 0.15))
    n, p, a = np.concatenate(normals), np.concatenate(points), np.concatenate(areas)
    best, best_area = geometry.UP, 0.0
    for direction in _DIRECTIONS:
        close = n @ direction > 0.9
        if a[close].sum() <= best_area:
            continue
        mean = geometry.unit((n[close] * a[close, None]).sum(axis=0))
        if mean is None:
            continue
        close = n @ mean > 0.95
        offset = np.floor((p[close] @ mean) / 0.008).astype(np.int64)
        if len(offset) == 0:
            continue
        _, where = np.unique(offset, return_inverse=True)
        bins = np.bincount(where, weights=a[close])
        area = float((bins[:-1] + bins[1:]).max() if len(bins) > 1 else bins[0])
        if area > best_area:
            best, best_area = mean, area
    return best


def _sphere() -> NDArray[np.float64]:
    steps = np.array(
        [[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (0, 1) if (i, j, k) != (0, 0, 0)]
    )
    return np.asarray(steps / np.linalg.norm(steps, axis=1, keepdims=True))


_DIRECTIONS = _sphere()
