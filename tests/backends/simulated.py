"""Shared by the tests on the simulator: one cache of worlds for the process, and a scripted pick and place.

The script takes poses from ground truth, which programs cannot: it tests the cell, not a skill.
"""

import functools

import numpy as np

from skill2real.backends.device import Matrix, Motion
from skill2real.backends.sim.suites import load_task
from skill2real.backends.sim.world import SimWorld, WorldCache


@functools.cache
def worlds() -> WorldCache:
    return WorldCache(3)


def opened(suite: str, *parts: int, state: int = 0) -> SimWorld:
    return worlds().open(load_task(suite, parts), state)


def downward(closing: np.ndarray, place: np.ndarray) -> Matrix:
    """Tool pose with the fingers pointing down."""
    down = np.array([0.0, 0.0, -1.0])
    closing = closing * [1.0, 1.0, 0.0] / np.linalg.norm(closing[:2])
    pose = np.eye(4)
    pose[:3, :3] = np.column_stack([closing, np.cross(down, closing), down])
    pose[:3, 3] = place
    return pose


def go(world: SimWorld, *poses: Matrix, tolerance: float = 0.004) -> Motion:
    return world.device.follow("arm", list(poses), 0.5, 40.0, 0.0, tolerance, None)


def shifted(world: SimWorld, dx: float, dy: float, dz: float) -> Matrix:
    pose = world.device.arm("arm").tool_to_base.copy()
    pose[:3, 3] += [dx, dy, dz]
    return pose


def pick(world: SimWorld, thing: str) -> float:
    """Grasps along the narrow side and lifts by 15 cm; returns how far below the top the fingers are."""
    box = world.truth()["objects"][thing]["start"]
    axes, half, middle = np.reshape(box["rotation"], (3, 3)), np.array(box["half"]), np.array(box["centre"])
    level = [k for k in range(3) if abs(axes[2, k]) < 0.7]
    closing = axes[:, min(level, key=lambda k: half[k])]
    closing = closing * np.sign(closing[1] or 1.0)
    top = middle[2] + (np.abs(axes) @ half)[2]
    low = max(top - 0.03, middle[2] - (np.abs(axes) @ half)[2] + 0.004)
    world.device.grip("arm", 0.08, 20.0)
    go(world, downward(closing, [*middle[:2], top + 0.1]), downward(closing, [*middle[:2], low]))
    world.device.grip("arm", 0.0, 20.0)
    go(world, downward(closing, [*middle[:2], top + 0.15]))
    return top - low


def drop(world: SimWorld, target: str, above: float) -> None:
    """Lets go over a thing's middle, the fingers' ends `above` its top, and withdraws."""
    box = world.truth()["objects"][target]["start"]
    top = box["centre"][2] + (np.abs(np.reshape(box["rotation"], (3, 3))) @ box["half"])[2]
    closing = world.device.arm("arm").tool_to_base[:3, 0]
    place = [*box["centre"][:2], top + above]
    go(world, downward(closing, [*place[:2], max(place[2], 0.3)]), downward(closing, place))
    world.device.grip("arm", 0.08, 20.0)
    go(world, shifted(world, 0.0, 0.0, 0.1))
