"""What a part of a thing is, and the surface of the thing that parts are looked for on."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..geometry import UP, Array
from .measuring import Body
from .segmenting import Piece

Kind = Literal["bump", "hollow", "level", "leaf"]

VOXEL = 0.003
UPRIGHT = 0.3  # the upward part of the normal of an upright face is less
_SQUARE = 0.95  # points of a face square to the frame have normals at least this near to its axis
_MARGIN = 0.02


@dataclass(frozen=True)
class Feature:
    """A part as the contract's `Part` describes it; directions are unit vectors (3,), metres, base frame.
    cloud (N, 3): its own points. hinge: a point (3,) of the edge at which it joins the body, None without
    one."""

    kind: Kind
    body: Body
    cloud: Array
    centre: Array
    outward: Array
    axis: Array
    length: float
    width: float
    depth: float
    rise: float
    along: float
    hinge: Array | None = None


@dataclass(frozen=True)
class Skin:
    """All seen points of a thing in an upright frame whose first two axes are square to its faces.

    axes (3, 3): the frame's axes as rows, in the base frame. points, normals (N, 3): one a voxel of 3 mm, in
    the frame. around, around_normals (M, 3): the same of all else that is seen where it stands: what it
    stands on, what stands on it, floors that were not told to be its own. bottom, top: heights."""

    axes: Array
    points: Array
    normals: Array
    around: Array
    around_normals: Array
    bottom: float
    top: float

    def to_base(self, local: Array) -> Array:
        return np.asarray(local @ self.axes)


def skin(pieces: list[Piece], body: Body) -> Skin | None:
    """None where too little is seen."""
    points, normals = _voxels(
        np.concatenate([p.sight.points[p.mask] for p in pieces]),
        np.concatenate([p.sight.normals[p.mask] for p in pieces]),
    )
    if len(points) < 60:
        return None
    axes = _axes(normals, body.rectangle.yaw)
    low, high = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    others, facing = [], []
    for piece in pieces:
        other = piece.sight.seen & ~piece.mask
        seen = piece.sight.points[other]
        near = ((seen > low) & (seen < high)).all(axis=1)
        others.append(seen[near])
        facing.append(piece.sight.normals[other][near])
    around, outer = np.concatenate(others), np.concatenate(facing)
    if len(around):
        around, outer = _voxels(around, outer)
    return Skin(
        axes, points @ axes.T, normals @ axes.T, around @ axes.T, outer @ axes.T, body.bottom, body.top
    )


def turned(skin: Skin, of: NDArray[np.bool_], first: Array) -> Skin:
    """The part `of` (N,) of a skin in a frame whose first axis is `first` (3,), level, in the skin's."""
    frame = np.array([first, np.cross(UP, first), UP])
    none = np.empty((0, 3))
    points, normals = skin.points[of] @ frame.T, skin.normals[of] @ frame.T
    return Skin(frame @ skin.axes, points, normals, none, none, skin.bottom, skin.top)


def peaks(places: Array, area: float) -> list[float]:
    """Where points (N,) of a skin crowd on a line, lowest first: as many as a face of this area has."""
    if len(places) == 0:
        return []
    step = VOXEL
    low = float(places.min())
    counts = np.bincount(((places - low) / step).astype(np.intp) + 2)
    near = np.convolve(np.append(counts, [0, 0]), np.ones(3), mode="same")
    high = (near[1:-1] >= near[:-2]) & (near[1:-1] > near[2:]) & (near[1:-1] * VOXEL**2 > area)
    found = []
    for k in np.nonzero(high)[0] + 1:
        here = places[np.abs(places - (low + (k - 1.5) * step)) < 1.5 * step]
        found.append(float(np.median(here)))
    return found


def _voxels(points: Array, normals: Array) -> tuple[Array, Array]:
    """Means of the points and normals in each voxel."""
    keys = np.floor(points / VOXEL).astype(np.int64)
    keys -= keys.min(axis=0)
    size = keys.max(axis=0) + 1
    flat = (keys[:, 0] * size[1] + keys[:, 1]) * size[2] + keys[:, 2]
    _, owner, counts = np.unique(flat, return_inverse=True, return_counts=True)
    owner = owner.reshape(-1)

    def mean(values: Array) -> Array:
        sums = [np.bincount(owner, weights=values[:, k], minlength=len(counts)) for k in range(3)]
        return np.stack(sums, axis=1) / counts[:, None]

    place, normal = mean(points), mean(normals)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.where(length > 0.5, normal / np.maximum(length, 1e-9), 0.0)
    kept = _crowded(place)
    return place[kept], normal[kept]


def _crowded(points: Array) -> NDArray[np.bool_]:
    """Which points have a few others within a centimetre: lone ones are noise."""
    coarse = np.floor(points / (2.0 * VOXEL)).astype(np.int64)
    coarse -= coarse.min(axis=0) - 1
    block = np.zeros(coarse.max(axis=0) + 2, dtype=np.int32)
    np.add.at(block, tuple(coarse.T), 1)
    for axis in range(3):
        block = block + np.roll(block, 1, axis) + np.roll(block, -1, axis)
    return np.asarray(block[tuple(coarse.T)] >= 4)


def _axes(normals: Array, yaw: float) -> Array:
    """Rows: the direction that most upright faces are square to, its left, up."""
    upright = (np.abs(normals[:, 2]) < UPRIGHT) & (normals != 0.0).any(axis=1)
    if upright.sum() > 100:
        angle = np.arctan2(normals[upright, 1], normals[upright, 0]) % (math.pi / 2)
        counts = np.bincount((angle / math.radians(3.0)).astype(np.intp) % 30, minlength=30).astype(float)
        near = counts + np.roll(counts, 1) + np.roll(counts, -1)
        if near.max() > 0.25 * near.sum() / 3.0:
            middle = math.radians(3.0) * (int(near.argmax()) + 0.5)
            off = (angle - middle + math.pi / 4) % (math.pi / 2) - math.pi / 4
            close = np.abs(off) < math.radians(6.0)
            yaw = middle + float(np.median(off[close]))
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
