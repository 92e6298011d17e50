"""Perception and planning on real scenes with camera noise, against what the simulator knows."""

import math

import numpy as np
import pytest
from simulated import opened

from skill2real.backends.api import Point
from skill2real.backends.operations import CellOperations
from skill2real.backends.sim.truth import object_at

pytestmark = pytest.mark.sim

SCENES = {"groceries and a basket": ("libero_90", 52), "a bowl, a plate and a cabinet": ("libero_90", 9)}


def scan(ops):
    """The scene picture and three from the wrist, straight down."""
    table = ops.describe_workspace().table
    views = [ops.capture("scene")]
    for x, y in ((0.45, 0.15), (0.45, -0.15), (0.6, 0.0)):
        pose = ops.compile_view(Point(x, y, table), 0.5)
        assert ops.move_to(pose, speed=1.0, tolerance=0.02).ok
        views.append(ops.capture("wrist"))
    return views


def owned(ops, views, objects):
    """Per object the regions of it, largest first, that are not cut off."""
    found = {}
    for view in views:
        for region in ops.find_regions(view):
            shape = ops.measure_region(region)
            if shape.ok and not region.clipped:
                found.setdefault(object_at(objects, shape.x, shape.y, shape.z), []).append(region)
    return {name: sorted(regions, key=lambda r: -r.pixels) for name, regions in found.items()}


@pytest.fixture(scope="module", params=list(SCENES))
def seen(request):
    suite, task = SCENES[request.param]
    world = opened(suite, task)
    ops = CellOperations(world.device)
    objects = {name: record["start"] for name, record in world.truth()["objects"].items()}
    loose = {name for name, record in world.truth()["objects"].items() if not record["fixed"]}
    views = scan(ops)
    return ops, views, objects, loose, owned(ops, views, objects)


def test_every_loose_thing_is_found(seen):
    _, _, _, loose, regions = seen
    assert loose <= set(regions)


def test_middle_and_top_are_measured_to_millimetres(seen):
    ops, _, objects, loose, regions = seen
    for name in loose:
        shape = ops.measure_region([r for r in regions[name] if r.pixels > 0.3 * regions[name][0].pixels])
        box = objects[name]
        extent = np.abs(np.reshape(box["rotation"], (3, 3))) @ box["half"]
        assert math.dist((shape.x, shape.y), box["centre"][:2]) < 0.012, name
        assert shape.top == pytest.approx(box["centre"][2] + extent[2], abs=0.004), name
        assert shape.length == pytest.approx(2 * max(extent[:2]), abs=0.012), name


def test_regions_carry_over_to_another_view(seen):
    ops, views, objects, loose, regions = seen
    for name in loose:
        for view in views:
            again = ops.segment(view, regions[name][0])
            if again.ok and not again.clipped:
                shape = ops.measure_region(again)
                assert object_at(objects, shape.x, shape.y, shape.z) == name
    assert not ops.segment(views[-1], Point(0.3, 0.44, 0.4)).ok


def test_looks_and_sizes_tell_things_apart_from_above(seen):
    ops, views, objects, loose, _ = seen

    def features(region):
        look, shape = ops.describe_region(region), ops.measure_region(region)
        sizes = [shape.length / 0.02, shape.width / 0.02, shape.height / 0.02]
        return np.array([*(3 * h for h in look.hues), *(x / 15 for x in look.lab), *sizes])

    above = owned(ops, views[1:], objects)
    known = {name: [features(r) for r in above[name][:2]] for name in sorted(loose & set(above))}
    twice = [name for name, pair in known.items() if len(pair) == 2]
    assert twice
    for name in twice:
        nearest = min(
            (float(np.linalg.norm(other - known[name][0])), owner)
            for owner, pair in known.items()
            for other in (pair[1:] if owner == name else pair)
        )
        assert nearest[1] == name


def test_a_thing_is_put_where_it_belongs_with_defaults_only():
    world = opened("libero_90", 9)
    ops = CellOperations(world.device)
    goal = world.truth()["goal"][0]
    objects = {name: record["start"] for name, record in world.truth()["objects"].items()}
    views = scan(ops)
    regions = owned(ops, views, objects)
    shape = ops.measure_region(regions[goal["thing"]])
    target = regions[next(name for name in regions if goal["target"].startswith(name))][0]
    support = next(s for s in (ops.measure_support(view, target) for view in views) if s.ok)
    grasp = ops.compile_grasp(shape)
    ops.set_gripper(ops.describe_workspace().max_width)
    assert ops.move_to([ops.offset_pose(grasp.start, dz=0.1), grasp.start, grasp.pose], tolerance=0.005).ok
    assert ops.set_gripper(0.0).holding
    place = ops.compile_place(support, shape, grasp)
    above = ops.offset_pose(place.start, dz=0.15)
    assert ops.move_to([ops.offset_pose(grasp.pose, dz=0.25), above, place.start, place.pose]).ok
    ops.set_gripper(0.08)
    ops.move_to(place.start)
    assert world.outcome().settled
