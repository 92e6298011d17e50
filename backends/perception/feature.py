"""What a part of a thing is, and the surface of the thing that parts are looked for on."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..geometry import Array
from .measuring import Body
from .segmenting import Piece

Kind = Literal["bump", "hollow", "level", "leaf"]

VOXEL = 0.003
UPRIGHT = 0.3  # the upward part of the normal of an upright face is less
_SQUARE = 0.95  # points of a face square to the frame have normals at least this near to its axis
_CLOSE_BY = 0.012  # between a thing and a small one that belongs to it: the gap round a knob
_SMALL = 0.09  # what fits into a hand
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
    the frame. around (M, 3): points of what it stands on and of what else is seen within its outline, in
    the frame. bottom, top: heights."""

    axes: Array
    points: Array
    normals: Array
    around: Array
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
    rest = []
    for piece in pieces:
        other = piece.sight.seen & ~piece.mask
        seen = piece.sight.points[other]
        rest.append(seen[((seen > low) & (seen < high)).all(axis=1)])
    around = np.concatenate(rest)
    if len(around):
        around, _ = _voxels(around, np.zeros_like(around), least=1)
    return Skin(axes, points @ axes.T, normals @ axes.T, around @ axes.T, body.bottom, body.top)


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


def _voxels(points: Array, normals: Array, least: int = 2) -> tuple[Array, Array]:
    """Means of the points and normals in each voxel that `least` points fall in."""
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
    enough = counts >= least if (counts >= least).sum() > 0.3 * len(counts) else counts >= 1
    return place[enough], normal[enough]


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
