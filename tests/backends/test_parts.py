"""Parts of things of known size: bars, knobs, drawers, compartments, boards and doors, seen by ray casting
from several sides."""

import math

import numpy as np
import pytest
from synthetic import Box, Cylinder, Scene

from skill2real.backends.grasping import Grip, Gripper, collides, plan_grasp
from skill2real.backends.handles import to_part
from skill2real.backends.perception import measuring
from skill2real.backends.perception.parts import find_parts
from skill2real.backends.perception.segmenting import Piece
from skill2real.backends.perception.sight import Sight

CELL = ((0.2, 0.8), (-0.45, 0.45), (-0.05, 0.9))
X, Y = 0.5, 0.1
NOISE = 0.0013


def pieces_of(things, around=(X, Y, 0.08), noise=NOISE):
    """All of the scene as one thing, from above and from four slanted sides."""
    scene, pieces = Scene(list(things), noise=noise), []
    steps = [(0.0, 0.0)] + [(0.36 * math.cos(a), 0.36 * math.sin(a)) for a in (0.3, 1.87, 3.44, 5.01)]
    for dx, dy in steps:
        eye = (around[0] + dx, around[1] + dy, around[2] + (0.36 if dx or dy else 0.5))
        sight = Sight(scene.frame("wrist", eye, around, (256, 256)), CELL, [], 0.0)
        pieces.append(Piece(sight, sight.seen & (sight.points[..., 2] > 0.006), 0.0))
    return pieces


def parts_of(things, **more):
    pieces = pieces_of(things, **more)
    body = measuring.measure(pieces)
    return find_parts(pieces, body)


def only(parts, kind):
    return [part for part in parts if part.kind == kind]


def bar(x, y, z):
    """Two and a half centimetres off the face y = 0.2 of the cabinet below."""
    return Box(x, y + 0.028, 0.09, 0.012, 0.012, bottom=z - 0.006)


def cabinet():
    return [Box(X, Y, 0.24, 0.2, 0.22), *(bar(X, 0.2, z) for z in (0.04, 0.11, 0.18))]


def drawer(x, y, length, width, bottom, height, wall=0.006):
    """A box without a lid, its length along x."""
    return [
        Box(x, y, length, width, wall, bottom=bottom),
        Box(x - length / 2 + wall / 2, y, wall, width, height, bottom=bottom),
        Box(x + length / 2 - wall / 2, y, wall, width, height, bottom=bottom),
        Box(x, y - width / 2 + wall / 2, length, wall, height, bottom=bottom),
        Box(x, y + width / 2 - wall / 2, length, wall, height, bottom=bottom),
    ]


def test_bars_on_a_face_are_bumps_from_the_lowest_to_the_highest():
    bumps = only(parts_of(cabinet()), "bump")
    assert [round(b.centre[2], 2) for b in bumps] == [0.04, 0.11, 0.18]
    for bump in bumps:
        assert bump.centre == pytest.approx((X, 0.228, bump.centre[2]), abs=0.006)
        assert bump.outward == pytest.approx((0.0, 1.0, 0.0), abs=0.03)
        assert abs(bump.axis[0]) > 0.99
        assert (bump.length, bump.width) == pytest.approx((0.09, 0.012), abs=0.008)
        assert bump.depth == pytest.approx(0.034, abs=0.004)
        assert bump.along == pytest.approx(0.0, abs=0.1)
    assert [b.rise for b in bumps] == pytest.approx([0.18, 0.5, 0.82], abs=0.05)


def test_the_top_of_a_cabinet_is_a_level_with_nothing_above():
    (top,) = only(parts_of(cabinet()), "level")
    assert top.centre == pytest.approx((X, Y, 0.22), abs=0.006)
    assert (top.length, top.width) == pytest.approx((0.24, 0.2), abs=0.012)
    assert top.depth > 1.0


def test_along_goes_from_left_to_right_as_seen_facing_the_face():
    things = [Box(X, Y, 0.24, 0.2, 0.22), bar(X + 0.06, 0.2, 0.11)]
    (bump,) = only(parts_of(things), "bump")
    # who faces a face that looks along +y looks along -y: +x is on the left
    assert bump.along == pytest.approx(-0.5, abs=0.1)


def test_an_open_drawer_is_a_hollow_and_its_front_a_leaf_that_slides():
    body = Box(X, Y - 0.06, 0.24, 0.2, 0.22)
    things = [body, *drawer(X, Y + 0.11, 0.22, 0.14, 0.15, 0.055), bar(X, Y + 0.18, 0.18)]
    parts = parts_of(things)
    (hollow,) = only(parts, "hollow")
    assert hollow.outward == pytest.approx((0.0, 0.0, 1.0))
    assert hollow.centre == pytest.approx((X, Y + 0.11, 0.156), abs=0.012)
    assert hollow.depth == pytest.approx(0.05, abs=0.01)
    assert hollow.length == pytest.approx(0.21, abs=0.015)
    assert hollow.width == pytest.approx(0.125, abs=0.02)
    (leaf,) = only(parts, "leaf")
    assert leaf.hinge is None
    assert leaf.outward == pytest.approx((0.0, 1.0, 0.0), abs=0.05)
    assert leaf.centre[1] == pytest.approx(Y + 0.18, abs=0.006)
    assert leaf.depth == pytest.approx(0.14, abs=0.012)
    (bump,) = only(parts, "bump")
    assert bump.centre[1] == pytest.approx(Y + 0.208, abs=0.006)


@pytest.mark.parametrize("yaw", [0.0, 0.5])
def test_compartments_are_hollows_of_their_own_turned_like_the_thing(yaw):
    wall, height, length = 0.006, 0.09, 0.28
    c, s = math.cos(yaw), math.sin(yaw)

    def placed(along, across, long, wide, high):
        return Box(X + c * along - s * across, Y + s * along + c * across, long, wide, high, yaw=yaw)

    walls = [placed(0.0, e * 0.07, length, wall, height) for e in (-1, 1)]
    walls += [placed(a, 0.0, wall, 0.14, height) for a in (-0.14, -0.03, 0.14)]
    hollows = only(parts_of([placed(0.0, 0.0, length, 0.14, 0.012), *walls]), "hollow")
    assert len(hollows) == 2
    places = sorted(((h.centre[0] - X) * c + (h.centre[1] - Y) * s, h) for h in hollows)
    assert [along for along, _ in places] == pytest.approx([-0.085, 0.055], abs=0.008)
    for (_, hollow), room in zip(places, (0.104, 0.164), strict=True):
        assert hollow.centre[2] == pytest.approx(0.012, abs=0.004)
        assert hollow.depth == pytest.approx(height - 0.012, abs=0.008)
        long = max(room, 0.134)
        assert hollow.length == pytest.approx(long, abs=0.015)
        turn = math.atan2(hollow.axis[1], hollow.axis[0]) - yaw
        assert abs(math.sin(2 * turn)) < 0.1


def test_a_board_under_a_roof_is_a_level_with_the_height_that_is_free():
    sides = [Box(X + e * 0.14, Y, 0.01, 0.16, 0.2) for e in (-1, 1)]
    boards = [Box(X, Y, 0.28, 0.16, 0.01, bottom=b) for b in (0.06, 0.19)]
    levels = only(parts_of([*sides, *boards]), "level")
    heights = {round(level.centre[2], 2): level for level in levels}
    assert heights[0.2].depth > 1.0
    assert heights[0.07].depth == pytest.approx(0.12, abs=0.008)
    assert heights[0.07].centre[:2] == pytest.approx((X, Y), abs=0.02)
    assert heights[0.0].depth == pytest.approx(0.06, abs=0.008)


def test_an_open_door_is_a_leaf_with_its_hinge():
    body = Box(X, Y, 0.3, 0.2, 0.2)
    turn = math.radians(110.0)  # from closed, along -x from the hinge, about the corner x = 0.65, y = 0.2
    lying = np.array([math.cos(math.pi - turn), math.sin(math.pi - turn)])
    middle = np.array([0.65, 0.2]) + 0.13 * lying
    yaw = math.atan2(lying[1], lying[0])
    door = Box(*middle, 0.26, 0.02, 0.18, yaw=yaw, bottom=0.01)
    handle_at = middle + 0.08 * lying + 0.04 * np.array([math.sin(yaw), -math.cos(yaw)])
    handle = Box(*handle_at, 0.012, 0.012, 0.1, yaw=yaw, bottom=0.05)
    parts = parts_of([body, door, handle])
    (leaf,) = only(parts, "leaf")
    assert leaf.hinge[:2] == pytest.approx((0.65, 0.2), abs=0.02)
    # a door that has turned clockwise from above has come along the turn's tangent
    assert leaf.outward[:2] == pytest.approx((lying[1], -lying[0]), abs=0.1)
    assert (leaf.length, leaf.width) == pytest.approx((0.26, 0.18), abs=0.03)
    (bump,) = only(parts, "bump")
    assert bump.centre[:2] == pytest.approx(handle_at, abs=0.012)
    assert abs(bump.axis[2]) > 0.95


def test_a_ridge_on_a_disc_is_a_bump_that_looks_up():
    (bump,) = only(parts_of([Cylinder(X, Y, 0.045, 0.02), Box(X, Y, 0.07, 0.02, 0.05, yaw=0.4)]), "bump")
    assert bump.outward == pytest.approx((0.0, 0.0, 1.0))
    assert bump.centre == pytest.approx((X, Y, bump.centre[2]), abs=0.006)
    assert bump.depth == pytest.approx(0.03, abs=0.005)
    assert abs(bump.axis @ (math.cos(0.4), math.sin(0.4), 0.0)) > 0.97


@pytest.mark.parametrize("thing", [Box(X, Y, 0.1, 0.06, 0.12, yaw=0.3), Cylinder(X, Y, 0.04, 0.1)])
def test_plain_things_have_no_bumps_hollows_or_leaves(thing):
    assert {part.kind for part in parts_of([thing])} <= {"level"}


def test_one_view_shows_no_parts():
    pieces = pieces_of(cabinet())[:1]
    assert find_parts(pieces, measuring.measure(pieces)) == []


def test_parts_do_not_depend_on_the_order_of_views():
    pieces = pieces_of(cabinet())
    first = find_parts(pieces, measuring.measure(pieces))
    again = find_parts(pieces[::-1], measuring.measure(pieces[::-1]))
    assert [p.kind for p in first] == [p.kind for p in again]
    assert np.allclose([p.centre for p in first], [p.centre for p in again], atol=1e-6)


def test_a_bar_is_grasped_across_clear_of_its_face():
    gripper = Gripper(0.08, 0.2, 0.04, np.array([0.0, 1.0, 0.0]))
    pieces = pieces_of(cabinet())
    body = measuring.measure(pieces)
    highest = only(find_parts(pieces, body), "bump")[-1]
    scene = np.concatenate([piece.sight.points[piece.sight.seen] for piece in pieces])
    grip = plan_grasp(highest, scene, gripper, "bar", 0.05, -highest.outward, 0, lambda targets: True)
    assert isinstance(grip, Grip)
    assert abs(grip.tool[:3, 0] @ highest.axis) < 0.05
    assert grip.tool[1, 3] > 0.2 + 0.002
    assert grip.tool[1, 3] < 0.228
    assert grip.tool[2, 3] == pytest.approx(0.18, abs=0.004)
    assert not collides(grip.tool, scene, gripper, 0.08, 0.0)


def test_a_part_of_the_contract_says_what_was_measured():
    pieces = pieces_of(cabinet())
    features = find_parts(pieces, measuring.measure(pieces))
    for feature in features:
        part = to_part(feature)
        assert part.ok
        assert (part.kind, part.length, part.depth) == (feature.kind, feature.length, feature.depth)
        assert part.hinge.reason == "not_found"
