"""A square ring with a handle, as a nut has: the hole is its middle, and the handle is found."""

import numpy as np
import pytest

from skill2real.backends.perception import figure, grid
from skill2real.backends.perception.grid import Grid

CELL = 0.003


def cells(*rectangles, margin=0.03):
    """Points of upright rectangles (x0, x1, y0, y1), those marked False cut out again."""
    xs, ys = np.meshgrid(np.arange(-0.1, 0.12, 0.001), np.arange(-0.1, 0.1, 0.001))
    inside = np.zeros(xs.shape, dtype=bool)
    for x0, x1, y0, y1, kept in rectangles:
        part = (xs >= x0) & (xs <= x1) & (ys >= y0) & (ys <= y1)
        inside = inside | part if kept else inside & ~part
    return np.column_stack([xs[inside], ys[inside], np.full(inside.sum(), 0.02)])


FRAME = (-0.044, 0.044, -0.044, 0.044, True)
HOLE = (-0.022, 0.022, -0.022, 0.022, False)
HANDLE = (0.044, 0.08, -0.015, 0.015, True)


def read(*rectangles):
    cloud = cells(*rectangles)
    raster = Grid.around(cloud, CELL)
    occupied = raster.occupied(cloud)
    filled = grid.fill(grid.close(occupied, 2))
    inside = grid.depth_inside(filled)
    hole = figure.find_hole(raster, occupied, filled, 0.02)
    return hole, figure.find_handle(raster, filled, inside, cloud)


def test_ring_with_a_handle():
    hole, handle = read(FRAME, HOLE, HANDLE)
    assert hole == pytest.approx([0.0, 0.0], abs=0.002)
    middle, outward = handle
    assert middle[:2] == pytest.approx([0.064, 0.0], abs=0.008)
    assert outward == pytest.approx([1.0, 0.0, 0.0], abs=0.05)


def test_block_has_neither():
    assert read(FRAME) == (None, None)


def test_two_holes_are_no_middle_and_two_handles_no_handle():
    wide = (-0.08, 0.08, -0.03, 0.03, True)
    holes = [(-0.06, -0.02, -0.015, 0.015, False), (0.02, 0.06, -0.015, 0.015, False)]
    assert read(wide, *holes)[0] is None
    assert read(FRAME, HANDLE, (-0.08, -0.044, -0.015, 0.015, True))[1] is None
