"""A raster over the table's plane: cells of equal size, and what figures of cells look like."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..geometry import Array

Cells = NDArray[np.uint8]


@dataclass(frozen=True)
class Grid:
    """x0, y0: the corner of cell (0, 0). shape: cells along x, along y. cell: its side in metres."""

    x0: float
    y0: float
    shape: tuple[int, int]
    cell: float

    @classmethod
    def around(cls, points: Array, cell: float, margin: int = 3) -> "Grid":
        """Covers points (N, >=2), N >= 1, with `margin` empty cells on every side."""
        # one column at a time: numpy is several times slower along an axis of length two
        columns = (points[:, 0], points[:, 1])
        i0, j0 = (math.floor(float(column.min()) / cell) - margin for column in columns)
        i1, j1 = (math.floor(float(column.max()) / cell) + margin + 1 for column in columns)
        return cls(i0 * cell, j0 * cell, (i1 - i0, j1 - j0), cell)

    def index(self, points: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Cells of points (N, >=2); those outside land in the nearest cell."""
        i = np.floor((points[:, 0] - self.x0) / self.cell).astype(np.intp)
        j = np.floor((points[:, 1] - self.y0) / self.cell).astype(np.intp)
        return np.clip(i, 0, self.shape[0] - 1), np.clip(j, 0, self.shape[1] - 1)

    def occupied(self, points: Array) -> Cells:
        cells = np.zeros(self.shape, dtype=np.uint8)
        cells[self.index(points)] = 1
        return cells

    def highest(self, points: Array) -> Array:
        """Largest z in each cell, -inf where there is no point."""
        cells = np.full(self.shape, -np.inf)
        np.maximum.at(cells, self.index(points), points[:, 2])
        return cells

    def centres(self, cells: NDArray[np.generic]) -> Array:
        """Middles (N, 2) of the cells that are not zero."""
        i, j = np.nonzero(cells)
        return np.column_stack([self.x0 + (i + 0.5) * self.cell, self.y0 + (j + 0.5) * self.cell])


def disc(radius: int) -> Cells:
    return np.asarray(
        cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), np.uint8
    )


def grow(cells: Cells, radius: int) -> Cells:
    return cells if radius < 1 else np.asarray(cv2.dilate(cells, disc(radius)), np.uint8)


def close(cells: Cells, radius: int) -> Cells:
    """Bridges gaps of up to twice the radius."""
    if radius < 1:
        return cells
    wide = np.pad(cells, radius)
    return np.asarray(cv2.morphologyEx(wide, cv2.MORPH_CLOSE, disc(radius)), np.uint8)[
        radius:-radius, radius:-radius
    ]


def fill(cells: Cells) -> Cells:
    """The figure with all of its holes."""
    contours, _ = cv2.findContours(cells, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    result = np.zeros_like(cells)
    cv2.drawContours(result, contours, -1, 1, cv2.FILLED)
    return result


def hull(cells: Cells) -> Cells:
    """The convex hull of all cells that are not zero."""
    where = cv2.findNonZero(cells)
    result = np.zeros_like(cells)
    if where is not None:
        cv2.fillConvexPoly(result, cv2.convexHull(where), 1)
    return result


def depth_inside(cells: Cells) -> Array:
    """Cells from each cell to the nearest one outside the figure; the raster's edge counts as outside."""
    wide = np.pad(cells, 1)
    distance = cv2.distanceTransform(wide, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return np.asarray(distance, dtype=np.float64)[1:-1, 1:-1]


def components(cells: Cells) -> tuple[int, NDArray[np.int32]]:
    """Number of 8-connected figures and each cell's label, 0 for empty."""
    count, labels = cv2.connectedComponents(cells, connectivity=8)
    return count - 1, np.asarray(labels, dtype=np.int32)
