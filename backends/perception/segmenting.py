"""Separate things in one picture: what is connected, in the picture and on the table, and what stands on
what."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from . import grid
from .grid import Grid
from .sight import Mask, Sight

Labels = NDArray[np.int32]

CELL = 0.004
_JUMP = 0.01  # neighbouring pixels further apart than this, and than 2.5 pitches, are not one surface
_GAP = 0.015  # neighbouring cells further apart in height than this are not one thing
_LEAST_PIXELS = 20
_LEAST_AREA = 0.8e-4  # square metres
_LEVEL_AREA = 45e-4  # a surface that things can stand on
_LEVEL = 0.95  # upward part of a level surface's normal
_STANDING_AREA = 1.5e-4  # a thing that stands on another
_STANDING_HEIGHT = 0.012


@dataclass(frozen=True)
class Piece:
    """Pixels (mask H×W) of one thing in one picture. support: height of what it stands on, metres."""

    sight: Sight
    mask: Mask
    support: float

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """(N, 3): what is seen of it, in the base frame."""
        return np.asarray(self.sight.points[self.mask])

    @cached_property
    def heights(self) -> tuple[float, float]:
        """Its lower and upper end, without single noisy points."""
        low, high = np.quantile(self.points[:, 2], (0.05, 0.95))
        return float(low), float(high)


def find_pieces(sight: Sight, above: float, within: Mask | None = None) -> list[Piece]:
    """Separate things that rise more than `above` over the table, in no particular order."""
    if within is not None:
        return _find(sight, above, within)
    if above not in sight.memo:
        sight.memo[above] = _find(sight, above, sight.bridging)
    return list(sight.memo[above])


def _find(sight: Sight, above: float, within: Mask) -> list[Piece]:
    pieces: list[Piece] = []
    for mask in separate(sight, within & rising(sight, sight.table + above)):
        pieces.extend(_unstack(sight, _fill(sight, mask, sight.table, above), sight.table, above))
    return [piece for piece in pieces if substantial(piece)]


def clipped(piece: Piece) -> bool:
    """Whether the thing runs out of the picture or behind the robot's hand."""
    mask = piece.mask
    if mask[0].any() or mask[-1].any() or mask[:, 0].any() or mask[:, -1].any():
        return True
    # the robot beside it counts where it is in front of it, or keeps the camera from seeing
    sight = piece.sight
    reach = np.ones((5, 5), np.uint8)
    farthest = cv2.dilate(np.where(mask, sight.pitch, 0.0), reach)
    before = (sight.robot & (sight.pitch < 0.98 * farthest)) | (sight.blind & (farthest > 0.0))
    return int(before.sum()) >= 4


def substantial(piece: Piece) -> bool:
    count = int(piece.mask.sum())
    if count < _LEAST_PIXELS:
        return False
    points = piece.sight.points[piece.mask]
    area = Grid.around(points, CELL).occupied(points).sum() * CELL**2
    return bool(area >= _LEAST_AREA)


def rising(sight: Sight, height: float) -> Mask:
    return np.asarray(sight.bridging & (sight.bridged[..., 2] > height))


def separate(sight: Sight, candidates: Mask) -> list[Mask]:
    """Masks of connected things: joined across pixels where depth does not jump, and across cells of the
    table where heights do not; what lies inside a thing's outline and below its rim, or on top of it,
    belongs to it."""
    patches = np.where(sight.seen, _patches(sight, candidates), 0)
    patches = _renumber(patches, patches > 0)
    count = int(patches.max())
    if count == 0:
        return []
    joined = _join(sight, patches, count)
    merged = _join_enclosed(sight, joined)
    return [merged == label for label in range(1, int(merged.max()) + 1)]


def _patches(sight: Sight, candidates: Mask) -> Labels:
    """Labels from 1 of pixels connected without a jump in depth."""
    points, reach = sight.bridged, np.maximum(_JUMP, 2.5 * sight.pitch)
    number = np.full(candidates.shape, -1, dtype=np.int64)
    total = int(candidates.sum())
    number[candidates] = np.arange(total)
    starts, ends = [], []
    for a, b in (
        (np.s_[:, :-1], np.s_[:, 1:]),
        (np.s_[:-1, :], np.s_[1:, :]),
    ):
        both = candidates[a] & candidates[b]
        near = np.zeros_like(both)
        step = points[a][both] - points[b][both]
        near[both] = np.einsum("ij,ij->i", step, step) < reach[a][both] ** 2
        starts.append(number[a][near])
        ends.append(number[b][near])
    labels = np.zeros(candidates.shape, dtype=np.int32)
    labels[candidates] = _connected(total, np.concatenate(starts), np.concatenate(ends)) + 1
    return labels


def _connected(count: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Labels:
    graph = coo_array((np.ones(len(starts), dtype=np.int8), (starts, ends)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int32)


def _join(sight: Sight, patches: Labels, count: int) -> Labels:
    """Joins patches that meet in the table's plane at like heights."""
    where = patches > 0
    points, owner = sight.points[where], patches[where]
    raster = Grid.around(points, max(CELL, 1.4 * float(np.median(sight.pitch[where]))))
    i, j = raster.index(points)
    # per cell and patch the lowest and highest point
    key = (i * raster.shape[1] + j) * (count + 1) + owner
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    low = np.minimum.reduceat(points[order, 2], first)
    high = np.maximum.reduceat(points[order, 2], first)
    cell, label = keys // (count + 1), keys % (count + 1)
    bounds = np.searchsorted(cell, np.arange(raster.shape[0] * raster.shape[1] + 1))
    most = int((bounds[1:] - bounds[:-1]).max())
    starts, ends = [], []
    for di in (0, 1):
        for dj in (-1, 0, 1):
            other_cell = cell + di * raster.shape[1] + dj
            for k in range(most):
                at = bounds[np.minimum(other_cell, len(bounds) - 2)] + k
                valid = at < bounds[np.minimum(other_cell + 1, len(bounds) - 1)]
                a, b = np.nonzero(valid)[0], at[valid]
                differ = label[a] != label[b]
                a, b = a[differ], b[differ]
                gap = np.maximum(low[a], low[b]) - np.minimum(high[a], high[b])
                meet = gap < _GAP
                starts.append(label[a][meet] - 1)
                ends.append(label[b][meet] - 1)
    joined = _connected(count, np.concatenate(starts), np.concatenate(ends)) + 1
    result = np.zeros_like(patches)
    result[where] = joined[owner - 1]
    return result


def _join_enclosed(sight: Sight, labels: Labels) -> Labels:
    """Gives what lies within another thing's outline on the table to that thing: the floor of a basket
    whose walls are not seen, the neck of a bottle seen from above."""
    where = labels > 0
    count = int(labels.max())
    if count < 2:
        return labels
    points, owner = sight.points[where], labels[where]
    raster = Grid.around(points, max(CELL, float(np.median(sight.pitch[where]))))
    figures = np.zeros((count + 1, *raster.shape), dtype=np.uint8)
    i, j = raster.index(points)
    figures[owner, i, j] = 1
    area = figures.sum(axis=(1, 2))
    parent = np.arange(count + 1)
    for big in np.argsort(-area, kind="stable"):
        if big == 0 or parent[big] != big or area[big] < 12:
            continue
        outline = grid.hull(figures[big])
        for small in range(1, count + 1):
            if small == big or parent[small] != small or area[small] >= area[big]:
                continue
            if (figures[small] & outline).sum() > 0.75 * area[small]:
                parent[small] = big
    for label in range(1, count + 1):
        while parent[label] != parent[parent[label]]:
            parent[label] = parent[parent[label]]
    return _renumber(parent[labels], where)


def _renumber(labels: NDArray[np.signedinteger], where: Mask) -> Labels:
    """Labels from 1 without gaps, 0 outside `where`."""
    used = np.zeros(int(labels.max(initial=0)) + 1, dtype=np.int32)
    used[labels[where]] = 1
    return np.asarray(np.where(where, np.cumsum(used, dtype=np.int32)[labels], 0), dtype=np.int32)


def _fill(sight: Sight, mask: Mask, support: float, above: float) -> Mask:
    """Adds the low inside of a hollow thing: pixels that it surrounds in the picture, where they are many (a
    plate's middle, not the table seen through a mug's handle), and any within its outline on the table that
    are not quite down on the support."""
    u0, v0, u1, v1 = bounds(mask)
    window = np.s_[v0:v1, u0:u1]
    own, points = mask[window], sight.points[window]
    filled = grid.fill(np.pad(own.astype(np.uint8), 1))[1:-1, 1:-1].astype(bool)
    height = points[..., 2] - support
    free = sight.seen[window] & ~own
    inside = filled & free & (height > -0.01)
    if inside.sum() < 0.15 * filled.sum():
        inside &= height > above / 2
    low = free & (height > above / 2) & (height <= above + 0.002)
    if low.any():
        raster = Grid.around(points[own], CELL)
        low[low] = grid.hull(raster.occupied(points[own]))[raster.index(points[low])] > 0
    result = mask.copy()
    result[window] |= inside | low
    return result


def _unstack(sight: Sight, mask: Mask, support: float, above: float, depth: int = 2) -> list[Piece]:
    """A thing and the things that stand free on a flat surface of it, each as a piece of its own."""
    if depth == 0 or int(mask.sum()) < 4 * _LEAST_PIXELS:
        return [Piece(sight, mask, support)]
    raster = Grid.around(sight.points[mask], max(CELL, float(np.median(sight.pitch[mask]))))
    heights = raster.highest(sight.points[mask])
    # a slope has points at every height, but no level surface
    level_cells = raster.highest(sight.points[mask & (sight.normals[..., 2] > _LEVEL)])
    for level in _levels(level_cells[np.isfinite(level_cells)], raster.cell):
        standing = mask & rising(sight, level + max(above, _STANDING_HEIGHT * 0.7))
        flat = (np.abs(heights - level) < 0.006).astype(np.uint8)
        parts = [_fill(sight, part, level, above) & mask for part in separate(sight, standing)]
        free = [part for part in parts if _stands_free(sight, part, raster, flat, level)]
        if free:
            rest = mask & ~np.logical_or.reduce(free)
            pieces = [Piece(sight, rest, support)]
            for part in free:
                pieces.extend(_unstack(sight, part, level, above, depth - 1))
            return pieces
    return [Piece(sight, mask, support)]


def _levels(heights: NDArray[np.float64], cell: float) -> list[float]:
    """Heights at which a thing has wide level surfaces, lowest first."""
    if len(heights) == 0:
        return []
    step = 0.004
    place = np.floor((heights - heights.min()) / step).astype(np.intp) + 1
    near = np.convolve(np.bincount(place, minlength=int(place.max()) + 2), np.ones(3), mode="same")
    least = max(_LEVEL_AREA / cell**2, 0.12 * len(heights))
    peaks = (near[1:-1] >= least) & (near[1:-1] >= near[:-2]) & (near[1:-1] > near[2:])
    return [float(np.median(heights[np.abs(place - k) <= 1])) for k in np.nonzero(peaks)[0] + 1]


def _stands_free(sight: Sight, part: Mask, raster: Grid, flat: grid.Cells, level: float) -> bool:
    """Whether a part is a thing that stands on the level surface `flat`, rather than its rim, wall or
    back."""
    points = sight.points[part]
    if len(points) < _LEAST_PIXELS or np.quantile(points[:, 2], 0.9) < level + _STANDING_HEIGHT:
        return False
    figure = raster.occupied(points)
    if figure.sum() * raster.cell**2 < _STANDING_AREA:
        return False
    outline = grid.hull(figure)
    # a rim or a wall has the surface it bounds inside its outline
    if (flat & outline).sum() > max(0.12 * flat.sum(), 0.3 * outline.sum()):
        return False
    ring = grid.grow(figure, 3) & ~grid.grow(figure, 1) & 1
    return bool((ring & grid.grow(flat, 1)).sum() > 0.4 * ring.sum())


def bounds(mask: Mask) -> tuple[int, int, int, int]:
    """u0, v0, u1, v1 of a mask that is not empty; u1 and v1 lie outside."""
    columns, rows = np.nonzero(mask.any(axis=0))[0], np.nonzero(mask.any(axis=1))[0]
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
