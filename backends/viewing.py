"""From where a camera on a hand sees something."""

import math

import numpy as np

from . import geometry
from .geometry import Array
from .grasping import Reachable


def tool_for_view(
    camera_to_tool: Array,
    target: Array,
    distance: float,
    direction: Array,
    closing: Array,
    reachable: Reachable,
) -> Array | None:
    """tool_to_base from which the camera sees `target` (3,) in the middle, `distance` away along
    `direction`; turned about the line of sight as little as possible from the present closing direction.
    None: out of reach."""
    camera = geometry.pose_matrix(target - direction * distance, direction, np.array([0.0, 1.0, 0.0]))
    tool = camera @ geometry.inverse(camera_to_tool)
    now, wanted = (v - direction * float(v @ direction) for v in (tool[:3, 0], closing))
    angle = math.atan2(float(np.cross(now, wanted) @ direction), float(now @ wanted))
    for turn in (0.0, *(s * k * math.pi / 6 for k in (1, 2, 3) for s in (1, -1)), math.pi):
        spin = np.eye(4)
        spin[:3, :3] = geometry.rotation(direction, angle + turn)
        spin[:3, 3] = camera[:3, 3] - spin[:3, :3] @ camera[:3, 3]
        turned = np.asarray(spin @ tool)
        if reachable([turned]):
            return turned
    return None
