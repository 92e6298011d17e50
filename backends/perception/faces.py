"""Flat faces of a thing, and what stands out of them: bars and knobs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import geometry
from ..geometry import Array, Rectangle
from . import grid
from .feature import Skin, peaks
from .grid import Cells, Grid

CELL = 0.004
_LEAST_FACE = 12e-4  # square metres: the disc under a knob
_ON = 0.005  # points this near to a plane lie on it
_OUT = 0.007  # what stands out further is not noise of the depth
_LEAST_DEPTH = 0.009
_MOST_DEPTH = 0.08  # a hand reaches round no more; what stands out further is not a bar or a knob
_LEAST_POINTS = 12
_BESIDE = 0.006
_LEAST_LENGTH, _LEAST_WIDTH = 0.012, 0.005


@dataclass(frozen=True)
class Face:
    """frame (3, 3): rows u, v, outward, in the skin's frame. offset: along outward. figure: its cells in
    (u, v), filled."""

    frame: Array
    offset: float
    raster: Grid
    figure: Cells

    @property
    def area(self) -> float:
        return float(self.figure.sum()) * self.raster.cell**2


@dataclass(frozen=True)
class Bump:
    """In the skin's frame. cloud (N, 3)."""

    face: Face
    cloud: Array
    centre: Array
    axis: Array
    length: float
    width: float
    depth: float


DIRECTIONS = (
    np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
    np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
)


def find_faces(skin: Skin, frame: Array) -> Iterator[Face]:
    """Flat pieces that face along the last row of `frame`, the outermost first."""
    facing = skin.normals @ frame[2] > 0.9
    every = skin.points @ frame.T
    local = every[facing]
    for offset in peaks(local[:, 2], 0.5 * _LEAST_FACE)[::-1]:
        flat = local[np.abs(local[:, 2] - offset) < _ON]
        raster = Grid.around(flat, CELL)
        bare = raster.occupied(flat)
        # what stands out may cut a face in two
        over = every[(every[:, 2] > offset) & (every[:, 2] < offset + _MOST_DEPTH)]
        count, labels = grid.components(grid.close(bare | raster.occupied(over), 2))
        for label in range(1, count + 1):
            one = grid.close(bare & (labels == label), 2)
            if one.sum() * CELL**2 >= _LEAST_FACE:
                yield Face(frame, offset, raster, grid.hull(one))


def find_bumps(skin: Skin) -> list[Bump]:
    """What stands out of any face, each once: with the largest face it stands on."""
    found: list[Bump] = []
    for frame in DIRECTIONS:
        for face in find_faces(skin, frame):
            for bump in _on(skin, face):
                same = [b for b in found if np.linalg.norm(b.centre - bump.centre) < 0.5 * b.length]
                if all(b.face.area < bump.face.area for b in same):
                    found = [b for b in found if not any(b is s for s in same)] + [bump]
    return found


def _on(skin: Skin, face: Face) -> Iterator[Bump]:
    local = skin.points @ face.frame.T
    out = local[:, 2] > face.offset + _OUT
    i, j = face.raster.index(local)
    inside = (local[:, 0] > face.raster.x0) & (local[:, 1] > face.raster.y0)
    inside &= (i < face.raster.shape[0] - 1) & (j < face.raster.shape[1] - 1) & (face.figure[i, j] > 0)
    points = local[out & inside]
    if len(points) < _LEAST_POINTS:
        return
    raised = grid.close(face.raster.occupied(points), 1)
    count, labels = grid.components(raised)
    owner = labels[face.raster.index(points)]
    for label in range(1, count + 1):
        mine = points[owner == label]
        if len(mine) < _LEAST_POINTS:
            continue
        depth = float(np.quantile(mine[:, 2], 0.98)) - face.offset
        if not _LEAST_DEPTH < depth < _MOST_DEPTH:
            continue
        plan = geometry.smallest_rectangle(mine[:, :2], 0.01)
        along, across = _extent(face, plan.yaw)
        # a ridge may reach over the whole face
        limit = 1.2 if plan.width < 0.5 * across else 0.8
        if not _LEAST_LENGTH < plan.length < limit * along or plan.width > 0.8 * across:
            continue
        if plan.width < _LEAST_WIDTH:
            continue
        # a bar may stand off the edge of an upright face; what comes up from an edge is a wall
        bar = abs(face.frame[2, 2]) < 0.5 and (mine[:, 2] < face.offset + depth / 2).mean() < 0.4
        if not _stands_in(face, plan, plan.length < 0.7 * along, bar):
            continue
        axis = np.array([np.cos(plan.yaw), np.sin(plan.yaw), 0.0])
        middle = face.offset + depth - min(plan.width, depth) / 2
        centre = np.array([plan.x, plan.y, middle])
        yield Bump(
            face,
            mine @ face.frame,
            centre @ face.frame,
            axis @ face.frame,
            plan.length,
            plan.width,
            depth,
        )


def _extent(face: Face, yaw: float) -> tuple[float, float]:
    """Of a face in a direction of its plane, and across it."""
    cells = face.raster.centres(face.figure)
    along = cells @ np.array([np.cos(yaw), np.sin(yaw)])
    across = cells @ np.array([-np.sin(yaw), np.cos(yaw)])
    return float(np.ptp(along)) + CELL, float(np.ptp(across)) + CELL


def _stands_in(face: Face, plan: Rectangle, ends: bool, edge: bool) -> bool:
    """Whether the face goes on to both sides (edge: to one) of a figure on it, and at both ends: else that is
    the face's frame, or a wall at its edge."""
    along = np.array([np.cos(plan.yaw), np.sin(plan.yaw)])
    sideways = np.array([-along[1], along[0]])
    shares = np.linspace(-0.4, 0.4, 9)[:, None]
    middle = np.array([plan.x, plan.y])
    tested = [(sideways * (plan.width / 2 + _BESIDE), along * plan.length)]
    if ends:
        tested.append((along * (plan.length / 2 + _BESIDE), sideways * plan.width))
    for k, (off, line) in enumerate(tested):
        on = []
        for sign in (1.0, -1.0):
            i, j = face.raster.index(middle + sign * off + shares * line)
            on.append((face.figure[i, j] > 0).mean() > 0.6)
        if not (any(on) if edge and k == 0 else all(on)):
            return False
    return True
