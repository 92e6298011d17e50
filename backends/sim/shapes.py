"""Extents of things in a MuJoCo model: the points that span a geom, and boxes around bodies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .library import load

Points = NDArray[np.float64]


def geom_points(model: Any, data: Any, geom: int) -> Points:
    """n×3 points in the world that span a geom: a mesh's vertices, else the corners of its box."""
    if model.geom_type[geom] == load().mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        start = model.mesh_vertadr[mesh]
        local = np.array(model.mesh_vert[start : start + model.mesh_vertnum[mesh]], dtype=np.float64)
    else:
        local = box_corners(model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:])
    world: Points = local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
    return world


def box_corners(middle: Points, half: Points) -> Points:
    """8×3 corners of a box along the axes."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    corners: Points = middle + signs * half
    return corners


def subtree(model: Any, root: int) -> list[int]:
    """A body and all that hangs on it."""
    inside = [root]
    for body in range(root + 1, model.nbody):  # MuJoCo numbers parents before children
        if model.body_parentid[body] in inside:
            inside.append(body)
    return inside


def body_box(model: Any, data: Any, root: int) -> tuple[Points, Points]:
    """Middle and half extents, in the root body's frame, of what a body and its subtree show."""
    bodies = subtree(model, root)
    geoms = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in bodies]
    shown = [geom for geom in geoms if model.geom_group[geom] == 1 and model.geom_rgba[geom, 3] > 0] or geoms
    if not shown:
        return np.zeros(3), np.full(3, 0.01)
    points = np.concatenate([geom_points(model, data, geom) for geom in shown])
    local = (points - data.xpos[root]) @ data.xmat[root].reshape(3, 3)
    low, high = local.min(axis=0), local.max(axis=0)
    return (low + high) / 2, (high - low) / 2
