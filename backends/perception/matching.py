"""Which of the things in a picture is meant: by a box drawn round it, or known from another view."""

import numpy as np
from numpy.typing import NDArray

from . import grid
from .grid import Grid
from .segmenting import CELL, Piece, bounds, find_pieces, rising, separate, substantial
from .sight import Mask, Sight


def piece_in_box(sight: Sight, box: tuple[int, int, int, int], above: float) -> Piece | None:
    """The thing whose bounds match a box (u0, v0, u1, v1) best, None where nothing in it stands out.
    Things standing on other things, and parts cut off at several heights, are tried as well."""
    u0, v0, u1, v1 = box
    du, dv = max(3, (u1 - u0) // 3), max(3, (v1 - v0) // 3)
    window = np.zeros(sight.seen.shape, dtype=bool)
    window[max(v0 - dv, 0) : v1 + dv, max(u0 - du, 0) : u1 + du] = True
    inner = np.zeros_like(window)
    inner[v0:v1, u0:u1] = True
    candidates = find_pieces(sight, above, window)
    heights = sight.points[..., 2][inner & sight.seen]
    if len(heights):
        low, high = float(np.quantile(heights, 0.02)), float(np.quantile(heights, 0.98))
        for share in (0.0, 0.25, 0.5):
            cut = low + share * (high - low) + above / 2
            if cut > sight.table + above:
                higher = window & rising(sight, cut)
                candidates += [Piece(sight, m, cut - above / 2) for m in separate(sight, higher)]
        flat = inner & sight.seen & (np.abs(sight.points[..., 2] - sight.table) >= above / 3)
        candidates += [Piece(sight, m, sight.table) for m in separate(sight, flat)]
    scored = [(_box_match(piece.mask, box), -k) for k, piece in enumerate(candidates) if substantial(piece)]
    best = max(scored, default=(0.0, 0))
    return candidates[-best[1]] if best[0] > 0.25 else None


def _box_match(mask: Mask, box: tuple[int, int, int, int]) -> float:
    """Intersection over union of a mask's bounds and a box."""
    a = bounds(mask)
    width = min(a[2], box[2]) - max(a[0], box[0])
    height = min(a[3], box[3]) - max(a[1], box[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (box[2] - box[0]) * (box[3] - box[1]) - shared)


def piece_under(pieces: list[Piece], point: NDArray[np.float64], slack: float) -> Piece | None:
    """The piece whose points come nearest to a point (3,), within `slack`; one that the point lies over or
    in counts as near, so the middle of something hollow will do."""
    best, best_score = None, slack
    for piece in pieces:
        points = piece.sight.points[piece.mask]
        off = points - point
        beside = np.hypot(off[:, 0], off[:, 1])
        score = float(np.sqrt((off**2).sum(axis=1)).min())
        raster = Grid.around(np.vstack([points, point[None]]), 2 * CELL)
        i, j = raster.index(point[None])
        if grid.hull(raster.occupied(points))[i[0], j[0]] and points[:, 2].min() - slack < point[2]:
            over = max(0.0, float(point[2] - points[:, 2].max()))
            score = min(score, over + 0.2 * float(beside.min()))
        if score < best_score:
            best, best_score = piece, score
    return best


def piece_at(pieces: list[Piece], cloud: NDArray[np.float64], slack: float) -> Piece | None:
    """The piece that shares most of the table's plane and height with a cloud (N, 3) of the same thing."""
    best, best_score = None, 0.15
    bottom, top = (float(z) for z in np.quantile(cloud[:, 2], (0.05, 0.95)))
    far = 2 * slack + 4 * CELL
    for piece in pieces:
        points = piece.points
        apart = np.maximum(points.min(axis=0) - cloud.max(axis=0), cloud.min(axis=0) - points.max(axis=0))
        low, high = piece.heights
        if max(apart[:2]) > far or max(low, bottom) - min(high, top) > 2.5 * slack:
            continue
        raster = Grid.around(np.vstack([points, cloud]), 2 * CELL)
        reach = max(1, round(slack / raster.cell))
        a, b = raster.occupied(points), raster.occupied(cloud)
        shared_a = (a & grid.grow(b, reach)).sum() / a.sum()
        shared_b = (b & grid.grow(a, reach)).sum() / b.sum()
        # what one view cuts off still lies within what the other shows
        score = float(max(shared_a, shared_b) * (0.3 + min(shared_a, shared_b)))
        if score > best_score:
            best, best_score = piece, score
    return best
