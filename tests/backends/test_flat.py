"""Patches of another colour that lie flat on the table: found where find_regions looks at height zero."""

import pytest
from synthetic import Box as Block
from synthetic import Cell, Cylinder, Scene

from skill2real.backends.operations import CellOperations

SHEET = Block(0.5, -0.1, 0.2, 0.08, 0.001, yaw=0.4, colour=(90, 60, 20))
CAN = Cylinder(0.55, 0.2, 0.033, 0.1)


def test_a_flat_patch_is_found_by_its_colour_and_measured():
    ops = CellOperations(Cell(Scene([SHEET, CAN], noise=0.0013)))
    view = ops.capture()
    (found,) = [r for r in ops.find_regions(view, above=0.0) if abs(r.y - CAN.y) > 0.1]
    assert not any(abs(r.y - SHEET.y) < 0.05 for r in ops.find_regions(view))
    shape = ops.measure_region(found)
    assert (shape.x, shape.y, shape.yaw) == pytest.approx((SHEET.x, SHEET.y, SHEET.yaw), abs=0.04)
    assert (shape.length, shape.width) == pytest.approx((SHEET.length, SHEET.width), abs=0.015)
    assert shape.top < 0.01
    assert ops.describe_region(found).lab[0] < 45


def test_a_bare_table_has_none():
    ops = CellOperations(Cell(Scene([], noise=0.0013)))
    assert ops.find_regions(ops.capture(), above=0.0) == []
    assert ops.find_regions(ops.capture(), above=-0.1)[0].reason == "bad_argument"
