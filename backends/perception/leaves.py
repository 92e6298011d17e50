"""Panels that have left a thing's body: an open door, the front of an open drawer."""

import math
from dataclasses import dataclass

import numpy as np

from ..geometry import UP, Array
from . import grid
from .faces import CELL, DIRECTIONS, Face, find_faces
from .feature import Skin
from .grid import Grid
from .rooms import OPEN, Room

_LEAST_TOP = 60e-4  # square metres: a body with a flat top that doors and drawers close flush with
_TOP = 0.06  # … which is this near to the thing's highest point
_OFF = 0.04  # a panel stands off its body by more; a bar does not
_BESIDE = 0.015  # what is further outside the body's outline than this is not the body
_LEAST_FACE = 20e-4
_LEAST_SHARE = 0.3  # of the side's breadth that a front has
_CELL = 0.006
_TURN = math.radians(3.0)
_THICK = 0.015  # of a panel
_LEAST_LENGTH = 0.08
_JOINT = 0.06  # a door's edge is this near to its body


@dataclass(frozen=True)
class Leaf:
    """In the skin's frame. hinge (3,): the middle of the edge at which it turns, None where it slides."""

    cloud: Array
    centre: Array
    outward: Array
    axis: Array
    length: float
    width: float
    depth: float
    hinge: Array | None


@dataclass(frozen=True)
class _Core:
    """Outline of the body without what has left it."""

    low: Array
    high: Array

    def out(self, points: Array) -> Array:
        """How far points (N, >= 2) lie outside: (N,)."""
        off = np.maximum(self.low - points[:, :2], points[:, :2] - self.high)
        return np.asarray(np.hypot(*np.maximum(off, 0.0).T))


def find_leaves(skin: Skin, rooms: list[Room]) -> list[Leaf]:
    core = _core(skin, rooms)
    if core is None:
        return []
    found = _fronts(skin, core)
    taken = (
        [leaf.cloud[:, :2].min(axis=0) for leaf in found],
        [leaf.cloud[:, :2].max(axis=0) for leaf in found],
    )
    outside = skin.points[(core.out(skin.points) > _BESIDE) & (skin.points[:, 2] > skin.bottom + 0.02)]
    if len(outside) < 30:
        return found
    raster = Grid.around(outside, _CELL)
    count, labels = grid.components(grid.close(raster.occupied(outside), 2))
    owner = labels[raster.index(outside)]
    for label in range(1, count + 1):
        mine = outside[owner == label]
        middle = mine[:, :2].mean(axis=0)
        slides = any(_between(core, low, high, middle) for low, high in zip(*taken, strict=True))
        if not slides and len(mine) >= 30 and float(np.quantile(core.out(mine), 0.98)) > 0.05:
            door = _door(skin, core, mine)
            if door is not None:
                found.append(door)
    return found


def _core(skin: Skin, rooms: list[Room]) -> _Core | None:
    tops = [
        room
        for room in rooms
        if room.kind == "level"
        and room.depth == OPEN
        and room.area > _LEAST_TOP
        and room.centre[2] > skin.top - _TOP
    ]
    if not tops:
        return None
    top = max(tops, key=lambda room: room.area)
    half = np.array([top.length, top.width] if abs(top.axis[0]) > 0.5 else [top.width, top.length]) / 2
    return _Core(top.centre[:2] - half, top.centre[:2] + half)


def _between(core: _Core, low: Array, high: Array, middle: Array) -> bool:
    """Whether a place lies between the body and a front."""
    start, end = np.minimum(low, core.low), np.maximum(high, core.high)
    return bool(((middle > start) & (middle < end)).all())


def _fronts(skin: Skin, core: _Core) -> list[Leaf]:
    """Faces before a side of the body and parallel to it."""
    found = []
    for frame in DIRECTIONS[:4]:
        across, outward = np.abs(frame[0][:2]), frame[2]
        side = float(max(core.low @ outward[:2], core.high @ outward[:2]))
        limits = core.low @ across - _BESIDE, core.high @ across + _BESIDE
        for face in find_faces(skin, frame):
            leaf = _front(skin, face, side)
            if leaf is None or face.area < _LEAST_FACE:
                continue
            place = float(leaf.centre[:2] @ across)
            half = leaf.length / 2 if abs(leaf.axis[2]) < 0.5 else leaf.width / 2
            broad = 2 * half > _LEAST_SHARE * (limits[1] - limits[0])
            if broad and limits[0] <= place - half and place + half <= limits[1]:
                found.append(leaf)
    # of a panel's two sides and of several behind one another the outermost
    kept: list[Leaf] = []
    for leaf in sorted(found, key=lambda leaf: -leaf.depth):
        if all(
            leaf.outward @ other.outward < 0.9 or abs(leaf.centre[2] - other.centre[2]) > other.width / 2
            for other in kept
        ):
            kept.append(leaf)
    return kept


def _front(skin: Skin, face: Face, side: float) -> Leaf | None:
    depth = face.offset - side
    if depth < _OFF:
        return None
    i, j = np.nonzero(face.figure)
    u0, u1 = face.raster.x0 + i.min() * CELL, face.raster.x0 + (i.max() + 1) * CELL
    v0, v1 = face.raster.y0 + j.min() * CELL, face.raster.y0 + (j.max() + 1) * CELL
    centre = np.array([(u0 + u1) / 2, (v0 + v1) / 2, face.offset])
    local = skin.points @ face.frame.T
    on = np.abs(local[:, 2] - face.offset) < 0.006
    on &= (local[:, 0] > u0) & (local[:, 0] < u1) & (local[:, 1] > v0) & (local[:, 1] < v1)
    flat = u1 - u0 >= v1 - v0
    return Leaf(
        skin.points[on],
        centre @ face.frame,
        face.frame[2],
        np.abs(face.frame[0]) if flat else UP,
        float(max(u1 - u0, v1 - v0)),
        float(min(u1 - u0, v1 - v0)),
        float(depth),
        None,
    )


def _door(skin: Skin, core: _Core, points: Array) -> Leaf | None:
    """The panel that most of these points (N, 3) lie on, if an edge of it is at the body."""
    best: tuple[int, Array, float] = (0, UP, 0.0)
    for turn in np.arange(0.0, math.pi, _TURN):
        normal = np.array([math.cos(turn), math.sin(turn), 0.0])
        place = points @ normal
        low = float(place.min())
        near = np.convolve(np.bincount(((place - low) / 0.005).astype(np.intp)), np.ones(5), mode="same")
        if near.max() > best[0]:
            best = int(near.max()), normal, low + (float(near.argmax()) + 0.5) * 0.005
    count, normal, offset = best
    panel = points[np.abs(points @ normal - offset) < _THICK]
    if count < 0.45 * len(points) or len(panel) < 30:
        return None
    along = np.cross(UP, normal)
    ends = np.quantile(panel @ along, (0.01, 0.99))
    length = float(np.ptp(ends))
    low, high = np.quantile(panel[:, 2], (0.01, 0.99))
    if length < _LEAST_LENGTH or high - low < 0.03:
        return None
    edges = [normal * offset + along * end for end in ends]
    gaps = core.out(np.array(edges))
    if gaps.min() > _JOINT or gaps.max() < _LEAST_LENGTH:
        return None
    joint = int(gaps.argmin())
    reach = edges[1 - joint] - edges[joint]
    lying = reach / np.linalg.norm(reach)
    outward = _opening(core, edges[joint], lying, length)
    centre = (edges[0] + edges[1]) / 2 + UP * (low + high) / 2
    height = float(high - low)
    hinge = edges[joint] + UP * (low + high) / 2
    depth = float(gaps.max())
    if length >= height:
        return Leaf(panel, centre, outward, lying, length, height, depth, hinge)
    return Leaf(panel, centre, outward, UP, height, length, depth, hinge)


def _opening(core: _Core, joint: Array, lying: Array, length: float) -> Array:
    """The direction in which a door that lies along `lying` from its joint moved as it opened: it has
    turned from the side of the body that it closes, by the smaller angle, the better its length fits."""
    best, direction = math.inf, UP
    middle, size = (core.low + core.high) / 2, core.high - core.low
    for axis in (0, 1):
        face = np.zeros(3)
        face[axis] = math.copysign(1.0, joint[axis] - middle[axis])  # the side's normal
        closed = np.zeros(3)
        closed[1 - axis] = -math.copysign(1.0, joint[1 - axis] - middle[1 - axis])
        sign = math.copysign(1.0, float(np.cross(closed, face)[2]))
        turned = sign * math.atan2(float(np.cross(closed, lying)[2]), float(closed @ lying))
        if turned < -math.radians(10.0):
            turned += 2 * math.pi
        cost = abs(turned) / (math.pi / 2) + 2.0 * abs(size[1 - axis] - length) / size[1 - axis]
        if cost < best:
            best, direction = cost, sign * np.cross(UP, lying)
    return np.asarray(direction)
