"""Where a parallel gripper can close on a measured thing, and where it has to go to put the thing down.

Tool frame: origin between the finger tips, x along the closing direction, z along the approach. Every
candidate is checked against the points that were seen, over the whole way from its start: with the fingers
fully open, and where something stands too near for that, opened no farther than needed.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from . import geometry
from .geometry import Array, Rectangle
from .perception.feature import Feature
from .perception.measuring import Body

Style = Literal["auto", "centre", "rim", "handle", "bar"]
Trouble = Literal["too_wide", "no_clearance", "unreachable", "not_found"]
Reachable = Callable[[list[Array]], bool]

_FINGER_THICK = 0.015  # outwards, along the closing direction
_FINGER_BREADTH = 0.022  # across it
_PALM_BREADTH = 0.07
_PALM_HEIGHT = 0.09
_TOUCHING = 3  # more points than this inside the hand are a collision; fewer are noise
_LEAST_GAP = 0.003  # between an open finger and the thing, each side
_OFF_SUPPORT = 0.012  # the tips stay this far above what the thing stands on …
_OFF_SUPPORT_SHARE = 0.4  # … or this share of the thing's height, if that is less
_OFF_FACE = 0.004  # … and from the face that a part stands on
_DIRECTIONS = 12
_RIM_PLACES = 24
_MOST_REACHED = 8  # grasps for which the way of the arm is looked for, best first …
_MORE_REACHED = 8  # … and, where none of these is in reach, so many of the others, spread evenly
_MARGIN = 0.01  # between a narrowly opened finger and the thing, each side
_NARROW = 0.25  # what it costs to come with the fingers opened narrowly
_CLEAR = 0.06  # start: the tips are this far before the thing's nearest part …
_CLEAR_LEAST = 0.02  # … or of a part, where other things stand before it, this far


@dataclass(frozen=True)
class Gripper:
    """Lengths in metres; closing: the present closing direction in the base frame."""

    max_width: float
    hand_width: float
    finger_length: float
    closing: Array


@dataclass(frozen=True)
class Grip:
    """start, tool: 4×4 tool_to_base before and at the place where the fingers close or open. width: of
    what is between them. score: 0 to 1, higher is better. opening: how far the fingers may be open on the
    way from start to tool, or after letting go."""

    start: Array
    tool: Array
    width: float
    score: float
    opening: float


@dataclass(frozen=True)
class _Place:
    """A point (3,) near which to close along a direction (3,). span: how far to both sides the part to be
    held can reach. cost: what speaks against it beforehand. half: half the footprint's width there, 0 where
    that says nothing about the part to be held."""

    point: Array
    closing: Array
    span: float
    cost: float
    half: float = 0.0


def plan_grasp(
    thing: Body | Feature,
    scene: Array,
    gripper: Gripper,
    style: Style,
    depth: float,
    approach: Array,
    rank: int,
    reachable: Reachable,
) -> Grip | Trouble:
    """The `rank`-th best grasp of a thing or a part among all points seen (N, 3), in the base frame."""
    if isinstance(thing, Feature):
        clear: tuple[float, ...] = (_CLEAR, _CLEAR_LEAST)
        body, whole = _alone(thing), thing.body.cloud
        depth = min(depth, _behind(thing, approach))
    else:
        body, whole, clear = thing, thing.cloud, (_CLEAR,)
    places = list(_places(body, gripper, style, approach))
    if not places:
        return "not_found"
    near = scene[np.hypot(*(scene[:, :2] - body.centre[:2]).T) < 0.45]
    obstacles = np.concatenate([near, whole])
    tried = [_settle(place, body, obstacles, gripper, depth, approach, clear) for place in places]
    grips = sorted((g for g in tried if isinstance(g, Grip)), key=lambda g: -g.score)
    best, others = grips[: _MOST_REACHED + rank], grips[_MOST_REACHED + rank :]
    for grip in best + others[:: len(others) // _MORE_REACHED + 1]:
        possible = _turned_to_reach(grip, gripper, reachable)
        if possible is not None:
            if rank == 0:
                return possible
            rank -= 1
    if grips:
        return "unreachable" if rank == 0 else "not_found"
    return "no_clearance" if "no_clearance" in tried else "too_wide"


def _alone(part: Feature) -> Body:
    """A part as a thing of its own, that stands where its thing does."""
    cloud = part.cloud
    rectangle = geometry.smallest_rectangle(cloud[:, :2], 0.0)
    middle = Rectangle(
        float(part.centre[0]), float(part.centre[1]), rectangle.length, rectangle.width, rectangle.yaw
    )
    low, high = float(cloud[:, 2].min()), float(cloud[:, 2].max())
    return Body(cloud, middle, None, low, high, None, part.axis, part.outward, None)


def _behind(part: Feature, approach: Array) -> float:
    """How far along the approach the tips may pass the near side of a bump before they meet the face that
    it stands on."""
    steep = -float(approach @ part.outward)
    if part.kind != "bump" or steep < 0.3:
        return math.inf
    return max(part.depth - _OFF_FACE, 0.5 * part.depth) / steep


def _places(body: Body, gripper: Gripper, style: Style, approach: Array) -> Iterator[_Place]:
    if style in ("auto", "centre"):
        yield from _centre_places(body, gripper, approach, 0.3 if style == "auto" and body.hollow else 0.0)
    if style in ("auto", "rim") and (body.hollow or style == "rim"):
        yield from _rim_places(body, approach)
    if style in ("auto", "handle") and body.handle is not None:
        middle, outward = body.handle
        for turn in (0.0, math.pi / 6, -math.pi / 6):
            closing = geometry.rotation(approach, turn) @ geometry.across(
                np.cross(outward, approach), approach
            )
            yield _Place(middle, closing, 0.03, abs(turn) / 4 + (0.35 if style == "auto" else 0.0))
    if style == "bar":
        # `across` finds some perpendicular where the axis is along the approach
        yield _Place(
            body.centre, geometry.across(np.cross(body.axis, approach), approach), gripper.max_width, 0.0
        )


def _centre_places(body: Body, gripper: Gripper, approach: Array, cost: float) -> Iterator[_Place]:
    yaw = body.rectangle.yaw
    narrow = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    first = geometry.across(narrow, approach)
    middle = body.centre if body.circle else np.array([body.rectangle.x, body.rectangle.y, body.centre[2]])
    long, wide = body.rectangle.length / 2, body.rectangle.width / 2
    for k in range(_DIRECTIONS):
        turn = k * math.pi / _DIRECTIONS
        closing = geometry.rotation(approach, turn) @ first
        if body.circle:
            yield _Place(middle, closing, gripper.max_width, cost, body.circle.radius)
            continue
        # a body with corners is held across its sides
        slant = min(turn, abs(math.pi / 2 - turn), math.pi - turn) / (math.pi / 4)
        half = min(wide / max(abs(math.cos(turn)), 1e-6), long / max(abs(math.sin(turn)), 1e-6))
        upright = abs(approach[2]) > 0.9
        yield _Place(middle, closing, gripper.max_width, cost + 0.3 * slant, half if upright else 0.0)


def _rim_places(body: Body, approach: Array) -> Iterator[_Place]:
    """Around the upper edge, closing across the wall."""
    if body.circle:
        c = body.circle
        for k in range(_RIM_PLACES):
            angle = 2 * math.pi * k / _RIM_PLACES
            outward = np.array([math.cos(angle), math.sin(angle), 0.0])
            point = np.array([c.x, c.y, body.top]) + outward * (c.radius - 0.004)
            yield _Place(point, geometry.across(outward, approach), 0.025, 0.0)
        return
    r = body.rectangle
    along = np.array([math.cos(r.yaw), math.sin(r.yaw), 0.0])
    sideways = np.array([-along[1], along[0], 0.0])
    middle = np.array([r.x, r.y, body.top])
    for outward, half, other, other_half in (
        (along, r.length / 2, sideways, r.width / 2),
        (sideways, r.width / 2, along, r.length / 2),
    ):
        for sign in (1.0, -1.0):
            for share in (0.0, 0.4, -0.4):
                point = middle + outward * sign * (half - 0.006) + other * share * other_half
                yield _Place(point, geometry.across(outward, approach), 0.025, abs(share) / 4)


def _settle(
    place: _Place,
    body: Body,
    obstacles: Array,
    gripper: Gripper,
    depth: float,
    approach: Array,
    clear: tuple[float, ...],
) -> Grip | Trouble:
    """Finds how deep the fingers go at a place, centres them on what is between them, and checks the
    hand's way."""
    tool = geometry.pose_matrix(place.point, approach, place.closing)
    local = geometry.transform(geometry.inverse(tool), body.cloud)
    beside = np.abs(local[:, 1]) < _FINGER_BREADTH / 2
    within = beside & (np.abs(local[:, 0]) < place.span)
    if within.sum() < 3:
        return "not_found"
    nearest = float(np.sort(local[within, 2])[min(2, int(within.sum()) - 1)])
    tip = nearest + depth
    if approach[2] < -0.7:
        tip = min(tip, _deepest(tool, approach, body))
    if tip <= nearest:
        return "no_clearance"
    held = local[within & (local[:, 2] < tip + 0.004)]
    low, high = (float(edge) for edge in np.quantile(held[:, 0], (0.01, 0.99)))
    half = place.half
    if high - low < half and abs(low + high) / 2 > 0.4 * half:
        # one side alone is seen: the footprint says where the other one is
        low, high = min(low, -half), max(high, half)
    width = high - low
    if width > gripper.max_width - 2 * _LEAST_GAP:
        return "too_wide"
    tool[:3, 3] += tool[:3, 0] * (low + high) / 2 + approach * tip
    narrow = min(width + 2 * _MARGIN, gripper.max_width)
    ways = [(wide, (tip - nearest) + before) for wide in (gripper.max_width, narrow) for before in clear]
    way = next((way for way in ways if not collides(tool, obstacles, gripper, *way)), None)
    if way is None:
        return "no_clearance"
    opening, travel = way
    start = tool.copy()
    start[:3, 3] -= approach * travel
    turn = math.acos(min(1.0, abs(float(tool[:3, 0] @ geometry.across(gripper.closing, approach)))))
    cost = place.cost + 0.4 * width / gripper.max_width + 0.15 * turn / (math.pi / 2)
    cost += _NARROW if opening < gripper.max_width else 0.0
    return Grip(start, tool, width, max(0.0, 1.0 - cost), opening)


def _deepest(tool: Array, approach: Array, body: Body) -> float:
    """How far along the approach from the tool's origin the tips may go before they are too near to the
    support."""
    reserve = min(_OFF_SUPPORT, _OFF_SUPPORT_SHARE * (body.top - body.bottom))
    return float((body.bottom + reserve - tool[2, 3]) / approach[2])


def collides(tool: Array, points: Array, gripper: Gripper, opening: float, travel: float) -> bool:
    """Whether the open hand touches points (N, 3) anywhere on its last `travel` metres along the approach."""
    local = geometry.transform(geometry.inverse(tool), points)
    x, y, z = np.abs(local[:, 0]), np.abs(local[:, 1]), local[:, 2]
    finger = (x > opening / 2) & (x < opening / 2 + _FINGER_THICK) & (y < _FINGER_BREADTH / 2)
    finger &= (z < 0.0) & (z > -gripper.finger_length - travel)
    palm = (x < gripper.hand_width / 2) & (y < _PALM_BREADTH / 2)
    palm &= (z < -gripper.finger_length) & (z > -gripper.finger_length - _PALM_HEIGHT - travel)
    return int((finger | palm).sum()) > _TOUCHING


def _turned_to_reach(grip: Grip, gripper: Gripper, reachable: Reachable) -> Grip | None:
    """A gripper is the same turned by half a turn: the nearer to its present state first."""
    sign = 1.0 if float(grip.tool[:3, 0] @ gripper.closing) >= 0.0 else -1.0
    for s in (sign, -sign):
        flip = np.diag([s, s, 1.0, 1.0])
        start, tool = grip.start @ flip, grip.tool @ flip
        if reachable([start, tool]):
            return replace(grip, start=start, tool=tool)
    return None
