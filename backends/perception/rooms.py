"""Level surfaces of a thing and the room over them: tops, boards, compartments, drawers, ovens."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..geometry import UP, Array
from . import grid
from .feature import Skin, peaks
from .grid import Cells, Grid

CELL = 0.004
OPEN = 2.0  # metres of free height where nothing is above
_LEVEL = 0.9
_ON = 0.006  # points this near to a height lie on it
_LEAST_AREA = 10e-4  # square metres; what a hand can let something go onto …
_LEAST_HALF = 0.011  # … and into: half the width of the narrowest place
_LEAST_LEVEL, _LEAST_WIDTH = 20e-4, 0.035  # … where it has no walls, and stands …
_LEAST_UNDER, _LEAST_HALF_UNDER = 40e-4, 0.02  # … and under a thing, on what that stands on
_WALL = 0.012  # what rises this far over a floor bounds it …
_WALL_BAND = 0.05  # … looked for up to here
_ROOF = 0.045  # what is this far over a floor leaves room under it
_STRIP = 6  # cells: half the width of a strip that is no part of a level
_GAP = 15  # cells of a floor that a wall may hide
_DROP = 0.012  # a floor ends where what is seen is lower
_LEAST_DEPTH = 0.015  # a flatter one is a level with a rim


@dataclass(frozen=True)
class Room:
    """In the skin's frame. centre (3,): middle of its floor. cloud (N, 3): of the floor. depth: from the
    opening to the floor (or, sideways, to the back); of a level, the free height."""

    kind: Literal["hollow", "level"]
    cloud: Array
    centre: Array
    outward: Array
    axis: Array
    length: float
    width: float
    depth: float
    area: float


@dataclass(frozen=True)
class _Side:
    """One side of a floor. blocked: share of it behind which a wall stands. edge: where it ends, along the
    axis. top: height of the wall."""

    blocked: float
    edge: float
    top: float


def find_rooms(skin: Skin) -> list[Room]:
    found: list[Room] = []
    columns = _Columns(skin)
    for height, own in _heights(skin):
        for floor, roofed in columns.floors(height, own):
            if not own and not roofed:
                continue  # what the thing stands on, beside it
            room = columns.room(floor, height, roofed, own)
            if room.kind == "level" and (room.area < _LEAST_LEVEL or room.width < _LEAST_WIDTH):
                continue
            same = [r for r in found if _same(r, room)]
            if room.area > max([r.area for r in same], default=0.0):
                found = [r for r in found if not any(r is s for s in same)] + [room]
    return found


def _same(a: Room, b: Room) -> bool:
    off = np.abs(a.centre - b.centre)
    if off[2] >= 0.02:
        return False
    if max(off[:2]) < 0.5 * min(a.length, b.length):
        return True
    # a corner of a room is no room
    large = a if a.area > b.area else b
    half = np.where(np.abs(large.axis[:2]) > 0.5, large.length, large.width) / 2
    return a.kind == b.kind == "hollow" and large.outward[2] > 0.5 and bool((off[:2] < half).all())


def _heights(skin: Skin) -> Iterator[tuple[float, bool]]:
    """Heights at which much of the thing is level; then that of what it stands on."""
    z = skin.points[skin.normals[:, 2] > _LEVEL, 2]
    for height in peaks(z, 0.5 * _LEAST_AREA):
        yield height, True
    yield skin.bottom, False


class _Columns:
    """A thing's points over a raster of the plane."""

    def __init__(self, skin: Skin) -> None:
        self.skin = skin
        self.raster = Grid.around(skin.points, CELL)
        self.outline = grid.hull(self.raster.occupied(skin.points))
        seen = np.concatenate([skin.points, skin.around])
        self.highest = self.raster.highest(seen)

    def floors(self, height: float, own: bool) -> Iterator[tuple[Cells, bool]]:
        """Connected level figures at a height, and whether something is over them."""
        skin = self.skin
        # seen at a slant, a deep floor is not always told to be the thing's own
        flat = skin.around[(skin.around_normals[:, 2] > _LEVEL) & (np.abs(skin.around[:, 2] - height) < _ON)]
        if own:
            mine = (skin.normals[:, 2] > _LEVEL) & (np.abs(skin.points[:, 2] - height) < _ON)
            flat = np.concatenate([skin.points[mine], flat])
        if len(flat) == 0:
            return
        figure = grid.close(self.raster.occupied(flat), 2) & self.outline
        # normals are not known up to an edge
        near = skin.points[np.abs(skin.points[:, 2] - height) < _ON]
        figure |= grid.grow(figure, 2) & self.raster.occupied(near)
        figure &= 1 - self._between(height + _WALL, height + _WALL_BAND)
        roof = grid.close(self._between(height + _ROOF, np.inf), 2)
        for part, roofed in ((figure & (1 - roof), False), (figure & roof, True)):
            for one in _separate(part):
                wide = float(grid.depth_inside(one).max()) * CELL
                area, half = (_LEAST_AREA, _LEAST_HALF) if own else (_LEAST_UNDER, _LEAST_HALF_UNDER)
                if one.sum() * CELL**2 >= area and wide >= half:
                    yield one, roofed

    def room(self, floor: Cells, height: float, roofed: bool, own: bool) -> Room:
        wall = self._wall_tops(height, roofed)
        sides = [
            self._side(floor, wall, height, axis, sign, 0)
            for axis, sign in ((0, -1), (0, 1), (1, -1), (1, 1))
        ]
        if roofed and own:
            # away from where it opens, it is taken to go on unseen as far as its roof, or a wall, reaches
            sides = self._under(floor, wall, height, sides)
        x0, x1, y0, y1 = (side.edge for side in sides)
        walls = [side for side in sides if side.blocked > 0.5]
        area = float(floor.sum()) * CELL**2
        every = np.concatenate([self.skin.points, self.skin.around])
        i, j = self.raster.index(every)
        cloud = every[(floor[i, j] > 0) & (np.abs(every[:, 2] - height) < 2 * _ON)]
        centre = np.array([(x0 + x1) / 2, (y0 + y1) / 2, height])
        size = (x1 - x0, y1 - y0)
        free = self._free(floor, height) if roofed else OPEN
        if roofed and len(walls) >= 3:
            k = int(np.argmin([side.blocked for side in sides]))
            outward = np.zeros(3)
            outward[k // 2] = -1.0 if k % 2 == 0 else 1.0
            deep, broad = size[k // 2], size[1 - k // 2]
            across = np.zeros(3)
            across[1 - k // 2] = 1.0
            axis, length, width = (across, broad, free) if broad >= free else (UP, free, broad)
            return Room("hollow", cloud, centre, outward, axis, length, width, deep, area)
        axis = np.array([1.0, 0.0, 0.0]) if size[0] >= size[1] else np.array([0.0, 1.0, 0.0])
        length, width = max(size), min(size)
        if not roofed and len(walls) >= 3:
            deep = min(side.top for side in walls) - height
            if deep >= _LEAST_DEPTH:
                return Room("hollow", cloud, centre, UP, axis, length, width, deep, area)
        return Room("level", cloud, centre, UP, axis, length, width, free, area)

    def _under(self, floor: Cells, wall: Array, height: float, sides: list[_Side]) -> list[_Side]:
        """The sides of a floor that goes on unseen under a roof."""
        roof = grid.close(self._between(height + _ROOF, np.inf), 2)
        free = (roof > 0) & (wall == -np.inf)
        i, j = np.nonzero(floor)
        reach = []
        for k in range(4):
            axis, sign = k // 2, 2 * (k % 2) - 1
            lines = free[:, j.min() : j.max() + 1] if axis == 0 else free[i.min() : i.max() + 1].T
            good = lines.mean(axis=1) > 0.5
            last = first = int((i, j)[axis].max() if sign > 0 else (i, j)[axis].min())
            while 0 < last + sign < len(good) - 1 and good[last + sign]:
                last += sign
            reach.append(abs(last - first))
        opening = int(
            np.argmin([math.inf if s.blocked > 0.5 else r for s, r in zip(sides, reach, strict=True)])
        )
        return [
            side
            if side.blocked > 0.5 or k == opening
            else self._side(floor, wall, height, k // 2, 2 * (k % 2) - 1, steps)
            for k, (side, steps) in enumerate(zip(sides, reach, strict=True))
        ]

    def _between(self, low: float, high: float) -> Cells:
        z = self.skin.points[:, 2]
        chosen = self.skin.points[(z > low) & (z < high)]
        return self.raster.occupied(chosen)

    def _wall_tops(self, height: float, roofed: bool) -> Array:
        """For each cell that has something over a height (under a roof: just over it), the highest point
        there; else -inf."""
        wall = self._between(height + _WALL, height + _WALL_BAND if roofed else np.inf) > 0
        return np.where(wall, self.raster.highest(self.skin.points), -np.inf)

    def _free(self, floor: Cells, height: float) -> float:
        points = self.skin.points[self.skin.points[:, 2] > height + _ROOF]
        i, j = self.raster.index(points)
        over = points[floor[i, j] > 0, 2]
        return float(np.quantile(over, 0.03)) - height if len(over) else OPEN

    def _side(self, floor: Cells, wall: Array, height: float, axis: int, sign: int, more: int) -> _Side:
        """What bounds a floor, that goes on unseen for `more` cells, along ±x (axis 0) or ±y (axis 1)."""
        figure, tops, highest = (m if axis == 0 else m.T for m in (floor, wall, self.highest))
        if sign < 0:
            figure, tops, highest = figure[::-1], tops[::-1], highest[::-1]
        rows = np.nonzero(figure.any(axis=0))[0]
        last = figure.shape[0] - 1 - figure[::-1, rows].argmax(axis=0)
        last = np.full_like(last, int(np.quantile(last, 0.9)) + more) if more else last
        steps = np.arange(1, _GAP + 1)[:, None]
        where = np.minimum(last[None, :] + steps, figure.shape[0] - 1)
        up = np.isfinite(tops[where, rows[None, :]])
        seen = highest[where, rows[None, :]]
        down = np.isfinite(seen) & (seen < height - _DROP)
        first = np.where(up.any(axis=0), up.argmax(axis=0), _GAP)
        drop = np.where(down.any(axis=0), down.argmax(axis=0), _GAP)
        stopped = (first < _GAP) & (first < drop)
        ends = last + 1.0
        share = float(stopped.mean())
        top = -np.inf
        if stopped.any():
            at = where[first[stopped], np.nonzero(stopped)[0]]
            reach = np.stack(
                [tops[np.minimum(at + k, figure.shape[0] - 1), rows[stopped]] for k in (0, 1, 2)]
            )
            top = float(np.quantile(reach.max(axis=0), 0.3))
        end = (
            float(np.median((last + 1.0 + first)[stopped])) if share > 0.5 else float(np.quantile(ends, 0.9))
        )
        cells = figure.shape[0] - end if sign < 0 else end
        origin = self.raster.x0 if axis == 0 else self.raster.y0
        return _Side(share, origin + cells * CELL, top)


def _separate(figure: Cells) -> Iterator[Cells]:
    """Connected figures: wide ones first, without the strips that lead on from them (the upper edge of a
    door, beside a top), then what is left."""
    left = figure.copy()
    for radius in (_STRIP, 2):
        inside = (grid.depth_inside(left) > radius - 0.5).astype(np.uint8)
        count, labels = grid.components(grid.grow(inside, radius) & left)
        for label in range(1, count + 1):
            one = (labels == label).astype(np.uint8)
            left &= 1 - one
            yield one
