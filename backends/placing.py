"""Where the hand has to go to put down what it holds, clear of all that was seen."""

import math

import numpy as np
from numpy.typing import NDArray

from . import geometry
from .geometry import UP, Array
from .grasping import Grip, Gripper, Reachable, Trouble, collides
from .perception.measuring import Body

_OPENING = 0.015  # more than the held thing's width, where there is no room to open wide


def plan_place(
    target: Array,
    body: Body,
    grip: Grip,
    scene: Array,
    gripper: Gripper,
    clearance: float,
    yaw: float | None,
    reachable: Reachable,
) -> Grip | Trouble:
    """Where the hand goes so that the held thing's middle is over `target` (3,) and its bottom `clearance`
    above it; higher only as far as the hand would otherwise touch what was seen. yaw None: unturned, or
    else turned as little as makes it possible."""
    base = np.array([*body.centre[:2], body.bottom])
    elsewhere = scene[~_around(scene, body)]
    near = elsewhere[np.hypot(*(elsewhere[:, :2] - target[:2]).T) < 0.35]
    turns = [0.0, *(s * k * math.pi / 6 for k in (1, 2, 3) for s in (1, -1)), math.pi]
    if yaw is not None:
        turn = geometry.turn_between(body.rectangle.yaw, yaw)
        turns = [turn, turn - math.copysign(math.pi, turn)]
    trouble: Trouble = "no_clearance"
    for turn in turns:
        tool = np.eye(4)
        spin = geometry.rotation(UP, turn)
        tool[:3, :3] = spin @ grip.tool[:3, :3]
        tool[:3, 3] = target + spin @ (grip.tool[:3, 3] - base) + UP * clearance
        narrow = min(grip.width + _OPENING, gripper.max_width)
        lifted = _lift_clear(tool, near, gripper, narrow)
        if lifted is None:
            continue
        cramped = collides(lifted, near, gripper, gripper.max_width, 0.0)
        opening = narrow if cramped else gripper.max_width
        start = _above(lifted, near, body, grip, target)
        for height in (start, (start + lifted[2, 3]) / 2, lifted[2, 3] + 0.02):
            above = lifted.copy()
            above[2, 3] = height
            if reachable([above, lifted]):
                lift = float(lifted[2, 3] - tool[2, 3])
                score = max(0.0, 1.0 - 5.0 * lift - 0.1 * abs(turn))
                return Grip(above, lifted, grip.width, score, opening)
        trouble = "unreachable"
    return trouble


def _around(points: Array, body: Body) -> NDArray[np.bool_]:
    """Which points lie where the thing itself was seen."""
    low, high = body.cloud.min(axis=0) - 0.01, body.cloud.max(axis=0) + 0.01
    low[2] = body.bottom + 0.004
    return np.asarray(((points > low) & (points < high)).all(axis=1))


def _lift_clear(tool: Array, near: Array, gripper: Gripper, opening: float) -> Array | None:
    """The tool raised as little as needed for the hand to touch nothing, None where 0.3 m do not help."""
    for step in range(31):
        raised = tool.copy()
        raised[2, 3] += 0.01 * step
        if not collides(raised, near, gripper, opening, 0.0):
            return raised
    return None


def _above(tool: Array, near: Array, body: Body, grip: Grip, target: Array) -> float:
    """Tool height from which the held thing goes straight down without touching what stands around its
    target."""
    reach = math.hypot(body.rectangle.length, body.rectangle.width) / 2 + 0.04
    beside = near[np.hypot(*(near[:, :2] - target[:2]).T) < reach]
    highest = float(np.sort(beside[:, 2])[-3]) if len(beside) >= 3 else float(target[2])
    hanging = float(grip.tool[2, 3] - body.bottom)
    return max(float(tool[2, 3]) + 0.05, highest + hanging + 0.03)
