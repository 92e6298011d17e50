"""All depth seen in an episode: the points to keep clear of, and the table's height."""

import numpy as np
from numpy.typing import NDArray

from ..geometry import Array
from .sight import Sight

_VOXEL = 0.005
_THROUGH = 0.02  # a view that measures this much behind a remembered point has seen that it is gone
_BIN = 0.003
_OFFSET = 1 << 20


class Scene:
    """Remembers one point a voxel; where a newer view sees, it wins."""

    def __init__(self, box: tuple[tuple[float, float], ...]) -> None:
        self._box = box
        self._points: Array = np.empty((0, 3))
        self._keys: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        low, high = box[2][0] - 0.1, box[2][1]
        self._edges = np.arange(low, high + _BIN, _BIN)
        self._area = np.zeros(len(self._edges) - 1)
        self._moment = np.zeros(len(self._edges) - 1)

    @property
    def points(self) -> Array:
        """(N, 3), base frame, not the robot's own."""
        return self._points

    @property
    def table(self) -> float | None:
        """Height of the level that fills most of the area seen inside the box; None before anything was
        seen."""
        if not self._area.any():
            return None
        area = np.convolve(self._area, np.ones(3), mode="same")
        peak = int(area.argmax())
        around = slice(max(peak - 1, 0), peak + 2)
        return float(self._moment[around].sum() / self._area[around].sum())

    def snapshot(self) -> tuple[Array, NDArray[np.int64], Array, Array]:
        """What was seen so far; changed by nothing later."""
        return self._points, self._keys, self._area.copy(), self._moment.copy()

    def restore(self, kept: tuple[Array, NDArray[np.int64], Array, Array]) -> None:
        """Sets what `snapshot` took."""
        self._points, self._keys = kept[:2]  # replaced, never written to
        self._area, self._moment = kept[2].copy(), kept[3].copy()

    def add(self, sight: Sight) -> None:
        """Takes in a view and sets its `table`."""
        points = sight.points[sight.seen]
        self._weigh(points, sight.pitch[sight.seen])
        sight.table = self.table or 0.0
        self._forget_seen_through(sight)
        keys = _keys(points)
        _, first = np.unique(keys, return_index=True)
        merged = np.concatenate([keys[first], self._keys])
        kept, index = np.unique(merged, return_index=True)  # the first wins: the newer view's
        self._points = np.concatenate([points[first], self._points])[index]
        self._keys = kept

    def forget_near(self, middle: Array, radius: float, above: float) -> None:
        """Drops what stood around a place and higher than `above`: it has been taken away."""
        off = np.hypot(self._points[:, 0] - middle[0], self._points[:, 1] - middle[1])
        self._keep((off > radius) | (self._points[:, 2] < above))

    def near(self, middle: Array, radius: float) -> Array:
        """Points within a horizontal distance of a place."""
        off = np.hypot(self._points[:, 0] - middle[0], self._points[:, 1] - middle[1])
        return np.asarray(self._points[off < radius])

    def _weigh(self, points: Array, pitch: Array) -> None:
        (x0, x1), (y0, y1), _ = self._box
        x, y, z = points.T
        inside = (x > x0) & (x < x1) & (y > y0) & (y < y1)
        weight, height = pitch[inside] ** 2, z[inside]
        self._area += np.histogram(height, bins=self._edges, weights=weight)[0]
        self._moment += np.histogram(height, bins=self._edges, weights=weight * height)[0]

    def _forget_seen_through(self, sight: Sight) -> None:
        if len(self._points) == 0:
            return
        u, v, depth = sight.pixels_of(self._points)
        visible = (
            (depth > 0.05) & (u > -0.5) & (u < sight.width - 0.5) & (v > -0.5) & (v < sight.height - 0.5)
        )
        where = np.nonzero(visible)[0]
        column, row = np.rint(u[where]).astype(int), np.rint(v[where]).astype(int)
        measured = sight.frame.depth[row, column]
        # the robot in front hides: its depth is nearer, so nothing is forgotten there
        gone = (measured > 0) & (measured > depth[where] + _THROUGH)
        keep = np.ones(len(self._points), dtype=bool)
        keep[where[gone]] = False
        self._keep(keep)

    def _keep(self, keep: NDArray[np.bool_]) -> None:
        self._points, self._keys = self._points[keep], self._keys[keep]


def _keys(points: Array) -> NDArray[np.int64]:
    cells = np.floor(points / _VOXEL).astype(np.int64) + _OFFSET
    return np.asarray((cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2])
