"""Finding, measuring and describing things of known size in scenes made by ray casting."""

import math

import numpy as np
import pytest
from synthetic import Box, Cylinder, Scene

from skill2real.backends.geometry import turn_between
from skill2real.backends.perception import appearance, matching, measuring, segmenting, support
from skill2real.backends.perception.scene import Scene as Memory
from skill2real.backends.perception.sight import Hand, Sight

BOX = ((0.2, 0.8), (-0.45, 0.45), (-0.05, 0.9))
ABOVE = 0.008

CARTON = Box(0.45, -0.15, 0.06, 0.05, 0.14, yaw=0.4)
BLOCK = Box(0.5, 0.15, 0.09, 0.04, 0.03, yaw=-0.7, colour=(230, 200, 40))
CAN = Cylinder(0.6, 0.0, 0.033, 0.085, colour=(60, 160, 60))
BOWL = Cylinder(0.45, 0.0, 0.055, 0.055, wall=0.004, colour=(150, 150, 155))


def look(frame, table=0.0):
    return Sight(frame, BOX, [], table)


def pieces_of(scene, frame):
    return segmenting.find_pieces(look(frame, scene.table), ABOVE)


def nearest(pieces, thing):
    def off(piece):
        middle = np.median(piece.sight.points[piece.mask], axis=0)
        return math.hypot(middle[0] - thing.x, middle[1] - thing.y)

    return min(pieces, key=off)


@pytest.mark.parametrize("noise", [0.0, 0.0013])
def test_every_thing_is_found_once_from_above(noise):
    scene = Scene([CARTON, BLOCK, CAN, BOWL], noise=noise)
    pieces = pieces_of(scene, scene.above(0.5, 0.0, 0.6))
    assert len(pieces) == 4
    for thing in scene.things:
        piece = nearest(pieces, thing)
        colours = piece.sight.frame.colour[piece.mask]
        assert (colours == thing.colour).all(axis=1).mean() > 0.97


def test_every_thing_is_found_once_from_the_stand():
    scene = Scene([CARTON, BLOCK, CAN], noise=0.0013)
    assert len(pieces_of(scene, scene.front())) == 3


def test_nothing_is_found_on_an_empty_table():
    scene = Scene([], noise=0.0013)
    assert pieces_of(scene, scene.above(0.5, 0.0)) == []
    assert pieces_of(scene, scene.front()) == []


def test_things_one_centimetre_apart_are_two():
    scene = Scene([Box(0.45, 0.0, 0.05, 0.05, 0.05), Box(0.51, 0.0, 0.05, 0.05, 0.05)])
    assert len(pieces_of(scene, scene.above(0.5, 0.0))) == 2


def test_a_thing_on_a_flat_thing_is_a_piece_with_its_own_support():
    shelf = Box(0.5, 0.0, 0.3, 0.3, 0.1)
    cup = Cylinder(0.5, 0.05, 0.04, 0.06, wall=0.004, bottom=0.1, colour=(40, 160, 160))
    scene = Scene([shelf, cup])
    pieces = pieces_of(scene, scene.above(0.5, 0.0, 0.7))
    assert len(pieces) == 2
    top = min(pieces, key=lambda p: p.mask.sum())
    assert (top.sight.frame.colour[top.mask] == cup.colour).all(axis=1).mean() > 0.97
    assert top.support == pytest.approx(0.1, abs=0.002)
    body = measuring.measure([top])
    assert body.hollow
    assert body.top - body.bottom == pytest.approx(0.06, abs=0.003)


@pytest.mark.parametrize("noise", [0.0, 0.0013])
@pytest.mark.parametrize("thing", [CARTON, BLOCK])
def test_a_box_is_measured_to_millimetres_from_one_view(thing, noise):
    scene = Scene([thing], noise=noise)
    body = measuring.measure(pieces_of(scene, scene.above(thing.x - 0.1, thing.y, 0.5)))
    assert body.centre[:2] == pytest.approx([thing.x, thing.y], abs=0.004)
    assert body.rectangle.length == pytest.approx(thing.length, abs=0.004)
    assert body.rectangle.width == pytest.approx(thing.width, abs=0.004)
    assert body.top - body.bottom == pytest.approx(thing.height, abs=0.003)
    assert not body.hollow
    assert body.circle is None
    if thing is BLOCK:
        assert abs(turn_between(body.rectangle.yaw, thing.yaw)) < math.radians(3)
    upright = thing.height > thing.length
    assert (abs(body.axis[2]) > 0.9) == upright


@pytest.mark.parametrize("thing", [CAN, BOWL])
def test_a_round_thing_has_its_radius_and_middle(thing):
    scene = Scene([thing], noise=0.0013)
    for frame in (scene.above(thing.x, thing.y, 0.4), scene.above(thing.x - 0.12, thing.y + 0.05, 0.5)):
        body = measuring.measure(pieces_of(scene, frame))
        assert body.circle is not None
        assert body.circle.radius == pytest.approx(thing.radius, abs=0.003)
        assert body.centre[:2] == pytest.approx([thing.x, thing.y], abs=0.003)
        assert body.hollow == (thing is BOWL)


def test_a_handle_is_the_part_that_stands_out():
    mug = [Cylinder(0.5, 0.0, 0.045, 0.1, wall=0.004), Box(0.5, 0.065, 0.012, 0.04, 0.07, bottom=0.015)]
    scene = Scene(mug)
    body = measuring.measure(pieces_of(scene, scene.above(0.5, 0.0, 0.5)))
    middle, outward = body.handle
    assert middle[:2] == pytest.approx([0.5, 0.067], abs=0.01)
    assert outward == pytest.approx([0.0, 1.0, 0.0], abs=0.1)
    assert body.circle.radius == pytest.approx(0.045, abs=0.003)


def test_two_views_show_what_one_cuts_off():
    long = Box(0.5, 0.0, 0.34, 0.05, 0.03, yaw=math.pi / 2)
    scene = Scene([long])
    halves = [scene.above(0.5, y, 0.3) for y in (0.12, -0.12)]
    parts = [pieces_of(scene, frame)[0] for frame in halves]
    assert all(segmenting.clipped(part) for part in parts)
    assert all(measuring.measure([part]).rectangle.length < 0.3 for part in parts)
    whole = measuring.measure(parts)
    assert whole.rectangle.length == pytest.approx(0.34, abs=0.005)
    assert whole.centre[:2] == pytest.approx([0.5, 0.0], abs=0.004)


def test_measuring_does_not_depend_on_the_order_of_views():
    scene = Scene([CARTON], noise=0.0013)
    parts = [pieces_of(scene, f)[0] for f in (scene.above(0.45, -0.1), scene.front())]
    a, b = measuring.measure(parts), measuring.measure(parts[::-1])
    assert a.rectangle.length == pytest.approx(b.rectangle.length, abs=1e-9)
    assert a.centre == pytest.approx(b.centre, abs=1e-9)


def test_the_largest_flat_face_is_the_one_seen():
    wall = Box(0.45, 0.0, 0.05, 0.3, 0.3)
    scene = Scene([wall])
    body = measuring.measure(pieces_of(scene, scene.front()))
    assert body.facing == pytest.approx([1.0, 0.0, 0.0], abs=0.05)


@pytest.mark.parametrize("thing", [CARTON, BLOCK, CAN, BOWL])
def test_a_loose_box_finds_its_thing(thing):
    scene = Scene([CARTON, BLOCK, CAN, BOWL])
    sight = look(scene.above(0.5, 0.0, 0.6))
    u0, v0, u1, v1 = segmenting.bounds((sight.frame.colour == thing.colour).all(axis=-1))
    for du, dv in ((0, 0), (2, -2), (-2, 2)):
        piece = matching.piece_in_box(sight, (u0 + du, v0 - dv, u1 - du, v1 + dv), ABOVE)
        assert (sight.frame.colour[piece.mask] == thing.colour).all(axis=1).mean() > 0.95


def test_an_empty_box_finds_nothing():
    scene = Scene([CAN])
    assert matching.piece_in_box(look(scene.above(0.5, 0.0, 0.6)), (5, 5, 40, 40), ABOVE) is None


@pytest.mark.parametrize("thing", [CARTON, BLOCK, CAN, BOWL])
def test_a_thing_is_known_again_in_another_view(thing):
    scene = Scene([CARTON, BLOCK, CAN, BOWL], noise=0.0013)
    there = nearest(pieces_of(scene, scene.front()), thing)
    cloud = measuring.fuse([there.sight.points[there.mask]])
    here = pieces_of(scene, scene.above(0.5, 0.0, 0.6))
    found = matching.piece_at(here, cloud, 0.015)
    assert (found.sight.frame.colour[found.mask] == thing.colour).all(axis=1).mean() > 0.95
    at = matching.piece_under(here, np.array([thing.x, thing.y, thing.height / 2]), 0.03)
    assert (at.mask == found.mask).all()


def test_a_thing_that_is_gone_is_not_known_again():
    scene = Scene([CAN])
    cloud = measuring.fuse(
        [pieces_of(scene, scene.front())[0].sight.points[pieces_of(scene, scene.front())[0].mask]]
    )
    rest = Scene([CARTON])
    assert matching.piece_at(pieces_of(rest, rest.above(0.5, 0.0, 0.6)), cloud, 0.015) is None


def test_colour_is_the_same_from_other_places():
    scene = Scene([CARTON, BLOCK])
    looks = []
    for frame in (scene.above(0.45, 0.0, 0.6), scene.front()):
        looks.append(appearance.describe(nearest(pieces_of(scene, frame), BLOCK)))
    assert looks[0].lab == pytest.approx(looks[1].lab, abs=1.0)
    assert looks[0].hues == pytest.approx(looks[1].hues, abs=0.02)


def test_hues_run_from_red_through_green_and_blue_and_grey_has_none():
    def hues(colour):
        scene = Scene([Box(0.5, 0.0, 0.1, 0.1, 0.05, colour=colour)])
        return appearance.describe(pieces_of(scene, scene.above(0.5, 0.0))[0]).hues

    places = [int(np.argmax(hues(c))) for c in ((220, 30, 30), (220, 210, 40), (40, 180, 60), (40, 60, 200))]
    assert places == sorted(places)
    assert len(set(places)) == 4
    assert hues((220, 30, 30)).sum() == pytest.approx(1.0, abs=0.05)
    assert hues((128, 128, 128)).sum() < 0.02


def test_the_floor_of_a_cup_is_its_support():
    cup = Cylinder(0.5, 0.0, 0.08, 0.1, wall=0.005)
    scene = Scene([cup], noise=0.0013)
    piece = pieces_of(scene, scene.above(0.47, 0.0, 0.6))[0]
    surface = support.find_surface(piece.sight, piece.mask, unseen_is_free=True)
    assert surface.centre == pytest.approx([0.5, 0.0, 0.005], abs=0.01)
    assert surface.free == pytest.approx(0.075, abs=0.015)
    assert surface.wall == pytest.approx(0.1, abs=0.004)
    assert surface.normal[2] > 0.99


def test_room_on_the_table_keeps_clear_of_things():
    scene = Scene([Box(0.5, -0.1, 0.1, 0.1, 0.1)])
    sight = look(scene.above(0.5, 0.0, 0.7))
    everything = np.ones(sight.seen.shape, dtype=bool)
    surface = support.find_surface(sight, everything, unseen_is_free=False)
    assert surface.centre[2] == pytest.approx(0.0, abs=0.003)
    off = np.maximum(np.abs(surface.centre[:2] - [0.5, -0.1]) - 0.05, 0.0)
    gap = float(np.hypot(*off))
    assert surface.free <= gap + 0.006
    assert surface.free > 0.08


def test_no_support_where_nothing_is_flat():
    sight = look(Scene([]).above(0.5, 0.0))
    assert support.find_surface(sight, np.zeros(sight.seen.shape, dtype=bool), unseen_is_free=True) is None


def test_the_table_is_the_level_that_fills_most():
    scene = Scene([Box(0.5, 0.0, 0.2, 0.2, 0.15)], table=-0.03, noise=0.0013)
    memory = Memory(BOX)
    assert memory.table is None
    for frame in (scene.front(), scene.above(0.5, 0.1, 0.6)):
        sight = look(frame)
        memory.add(sight)
        assert sight.table == pytest.approx(-0.03, abs=0.002)


def test_memory_forgets_what_a_new_view_sees_through():
    memory = Memory(BOX)
    memory.add(look(Scene([CAN]).above(0.6, 0.0)))
    assert (memory.near(np.array([CAN.x, CAN.y]), 0.05)[:, 2] > 0.05).any()
    memory.add(look(Scene([]).above(0.6, 0.0)))
    assert not (memory.near(np.array([CAN.x, CAN.y]), 0.05)[:, 2] > 0.03).any()


def test_memory_keeps_what_a_new_view_does_not_see():
    memory = Memory(BOX)
    memory.add(look(Scene([CAN]).above(0.6, 0.0)))
    memory.add(look(Scene([CAN]).above(0.3, -0.4, 0.25)))
    assert (memory.near(np.array([CAN.x, CAN.y]), 0.05)[:, 2] > 0.05).any()


def test_the_hand_is_not_a_thing():
    finger = Box(0.45, 0.05, 0.02, 0.015, 0.05, bottom=0.1)
    scene = Scene([finger])
    tool = np.array([[0.0, 1, 0, 0.45], [1, 0, 0, 0.0], [0, 0, -1, 0.1], [0, 0, 0, 1.0]])
    frame = scene.above(0.45, 0.0)
    with_hand = Sight(frame, BOX, [Hand(tool, 0.08, 0.2, 0.045, True)], 0.0)
    assert segmenting.find_pieces(with_hand, ABOVE) == []
    assert len(segmenting.find_pieces(look(frame), ABOVE)) == 1


def test_pixels_without_reading_do_not_cut_things():
    scene = Scene([CARTON, BOWL])
    frame = scene.above(0.45, -0.05, 0.5)
    holes = np.random.default_rng(1).random(frame.depth.shape) < 0.08
    frame.depth[holes] = 0.0
    assert len(segmenting.find_pieces(look(frame), ABOVE)) == 2


def test_a_thing_behind_the_hands_blind_part_is_cut_off():
    scene = Scene([CARTON])
    frame = scene.above(0.5, -0.15, 0.5)
    rows = np.nonzero((frame.colour == CARTON.colour).all(axis=-1))[0]
    frame.depth[int(rows.mean()) :] = 0.0
    hand = Hand(np.eye(4), 0.08, 0.2, 0.045, True)
    (cut,) = segmenting.find_pieces(Sight(frame, BOX, [hand], 0.0), ABOVE)
    assert segmenting.clipped(cut)
    (whole,) = segmenting.find_pieces(Sight(scene.above(0.5, -0.15, 0.5), BOX, [hand], 0.0), ABOVE)
    assert not segmenting.clipped(whole)
