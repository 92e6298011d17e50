"""What the figure of a flat-sided thing shows in the table's plane: a hole through it, and a handle."""

import numpy as np

from .. import geometry
from ..geometry import Array
from . import grid
from .grid import Cells, Grid

_HOLE = 1.5e-4  # m², the least area of a hole
_THIN = 0.6  # height of a thing over the width of its hole, up to which one sees through it
_CORE = 0.6  # radius of the disc that is pushed through the figure, as a share of the largest inside it
_REACH, _OF_DISC = 0.015, 0.6  # a handle reaches out so far: metres, share of the disc's radius


def find_hole(raster: Grid, occupied: Cells, figure: Cells, height: float) -> Array | None:
    """Middle (2,) of the one hole through a thing, None where it has none or several."""
    count, labels = grid.components(figure & ~grid.close(occupied, 1))
    areas = np.bincount(labels.ravel(), minlength=count + 1)[1:] * raster.cell**2
    holes = np.nonzero(areas >= _HOLE)[0]
    if len(holes) != 1 or height > _THIN * np.sqrt(areas[holes[0]]):
        return None
    return np.asarray(raster.centres(labels == holes[0] + 1).mean(axis=0))


def find_handle(raster: Grid, figure: Cells, inside: Array, cloud: Array) -> tuple[Array, Array] | None:
    """Middle (3,) and outward direction (3,) of what sticks out of the body of a figure to one side."""
    radius = int(_CORE * inside.max())
    if radius < 2:
        return None
    body = grid.grow((inside > radius).astype(np.uint8), radius)
    count, labels = grid.components(figure & ~grid.grow(body, 1))
    if not count:
        return None
    away = np.asarray(grid.depth_inside(1 - body)) * raster.cell
    reaches = [float(away[labels == k].max()) for k in range(1, count + 1)]
    best = int(np.argmax(reaches))
    least = max(_REACH, _OF_DISC * radius * raster.cell)
    if reaches[best] < least or sum(reach >= least for reach in reaches) != 1:
        return None
    i, j = raster.index(cloud)
    points = cloud[labels[i, j] == best + 1]
    if len(points) < 6:
        return None
    middle = np.median(points, axis=0)
    core = raster.centres(body).mean(axis=0)
    outward = geometry.unit(np.array([middle[0] - core[0], middle[1] - core[1], 0.0]))
    return None if outward is None else (middle, outward)
