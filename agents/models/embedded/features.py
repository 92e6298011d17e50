"""Measured features of a region, and distances between them: appearance (what it looks like) and shape
(how it can be
grasped). The scales say what difference is worth noticing, for any thing; they know no object."""

from math import sqrt
from typing import Any

Vector = tuple[float, ...]

# Lab units, share of hues, metres.
_LAB = (9.0, 5.0, 5.0)
_SPREAD = 9.0
_HUE = 0.18
_HEIGHT = 0.015
_EXTENT = 0.025
_PART = 0.03
_DEEP = 0.15  # what is deeper, or has more room above it, is no different
_UPWARD = 0.4  # share of a direction that points up
_MANY = 3
_KIND = 4.0  # two kinds of part are this far apart, times the root of two


def appearance(region: dict[str, Any]) -> Vector:
    """Colour and size in units of noticeable difference."""
    lab = [value / scale for value, scale in zip(region["lab"], _LAB, strict=True)]
    spread = [value / _SPREAD for value in region["spread"]]
    hues = [value / _HUE for value in region["hues"]]
    size = [region["height"] / _HEIGHT, region["length"] / _EXTENT, region["width"] / _EXTENT]
    return tuple(round(value, 3) for value in (*lab, *spread, *hues, *size))


def shape(region: dict[str, Any]) -> Vector:
    """Length, width, height, rim radius and hollowness, in metres (hollow counts as 4 cm)."""
    return (
        round(region["length"], 4),
        round(region["width"], 4),
        round(region["height"], 4),
        round(region["radius"], 4),
        0.04 if region["hollow"] else 0.0,
    )


def part_look(part: dict[str, Any]) -> Vector:
    """What a part is like, wherever it sits on its thing, in units of noticeable difference."""
    kinds = [_KIND if part["kind"] == kind else 0.0 for kind in ("bump", "hollow", "level", "leaf")]
    size = [part["length"] / _PART, part["width"] / _PART, min(part["depth"], _DEEP) / _PART]
    return tuple(round(value, 3) for value in (*kinds, *size, part["outward"][2] / _UPWARD, part["rise"]))


def distance(a: Vector, b: Vector) -> float:
    """Euclidean."""
    return sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def spread_out(points: list[Vector], count: int) -> list[Vector]:
    """At most `count` of the points, chosen far apart: the most central one first, then the farthest from
    those."""
    if not points:
        return []
    chosen = [min(points, key=lambda p: sum(distance(p, q) for q in points))]
    while len(chosen) < min(count, len(points)):
        far = max(points, key=lambda p: min(distance(p, q) for q in chosen))
        if min(distance(far, q) for q in chosen) < 1e-9:
            break
        chosen.append(far)
    return chosen


def prototypes(points: list[Vector], count: int, reach: float) -> list[Vector]:
    """At most `count` of the points that stand for the others: each time the one that has most of those not
    yet stood for within its reach. One that stands for itself alone is left out where there are many: it
    was seen badly."""
    left, chosen = list(range(len(points))), list[Vector]()
    near = [[j for j in left if distance(p, points[j]) <= reach] for p in points]
    while left and len(chosen) < count:
        best = max(left, key=lambda i: len([j for j in near[i] if j in left]))
        stands_for = [j for j in near[best] if j in left]
        if chosen and len(stands_for) == 1 and len(points) > _MANY:
            break
        chosen.append(points[best])
        left = [j for j in left if j not in stands_for]
    return chosen
