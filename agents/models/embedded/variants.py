"""The decisions of a pick-and-place program, and the space of variants that each can take."""

from itertools import product
from typing import Any

Variant = dict[str, Any]

GRASPS: tuple[Variant, ...] = tuple(
    {"style": style, "depth": depth, "near": near}
    for style, depth, near in product(("centre", "rim", "handle"), (0.005, 0.02, 0.035), (False, True))
)
NAIVE_GRASP = GRASPS[0]

_MIDDLE: tuple[Variant, ...] = tuple(
    {"clearance": clearance, "reference": reference, "carry": carry, "dx": 0.0, "dy": 0.0}
    for clearance, reference, carry in product((0.12, 0.03, 0.005), ("middle", "free"), (False, True))
)
_BESIDE: tuple[Variant, ...] = tuple(
    {"clearance": 0.005, "reference": "middle", "carry": True, "dx": dx, "dy": dy}
    for dx, dy in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
)
RELEASES: tuple[Variant, ...] = _MIDDLE + _BESIDE
NAIVE_RELEASE = RELEASES[0]

ORDERS: tuple[Variant, ...] = ({"rule": "first"}, {"rule": "as said"}, {"rule": "reversed"})
NAIVE_ORDER = ORDERS[0]

# Where a thing goes when something was put on or in the same target before.
ROOMS: tuple[Variant, ...] = ({"place": "as always"}, {"place": "free room"})
NAIVE_ROOM = ROOMS[0]

# Which of several: the one farthest along a direction of the base frame, or the one in the middle along it.
SELECTIONS: tuple[Variant, ...] = (
    {"axis": (1.0, 0.0), "pick": "most"},
    {"axis": (-1.0, 0.0), "pick": "most"},
    {"axis": (0.0, 1.0), "pick": "most"},
    {"axis": (0.0, -1.0), "pick": "most"},
    {"axis": (1.0, 0.0), "pick": "middle"},
    {"axis": (0.0, 1.0), "pick": "middle"},
)


# How much of a try still counts where one factor differs; for lengths, by how many steps of this size.
_SHARE = {
    "style": 0.15,
    "near": 0.9,
    "reference": 0.4,
    "carry": 0.5,
    "dx": 0.1,
    "dy": 0.1,
    "rule": 0.05,
    "place": 0.05,
}
_STEP = {"depth": 0.015, "clearance": 0.05}


def alike(a: Variant, b: Variant) -> float:
    """How much an attempt with one variant says about another: 1 for the same, less for each factor that
    differs."""
    share = 1.0
    for name, value in a.items():
        if value == b[name]:
            continue
        share *= 0.5 ** (abs(value - b[name]) / _STEP[name]) if name in _STEP else _SHARE[name]
    return share


def select(selection: Variant, places: list[tuple[float, float]]) -> int:
    """Index of the place that a selection singles out, -1 for the middle of less than three; places are
    (x, y) in the base frame, metres."""
    if selection["pick"] == "middle" and len(places) < 3:
        return -1
    ax, ay = selection["axis"]
    order = sorted(range(len(places)), key=lambda i: (ax * places[i][0] + ay * places[i][1], i))
    return order[-1] if selection["pick"] == "most" else order[len(order) // 2]


def clearness(selection: Variant, places: list[tuple[float, float]]) -> float:
    """Metres by which the place that a selection singles out stands apart from its neighbours along the
    axis."""
    ax, ay = selection["axis"]
    along = sorted(ax * x + ay * y for x, y in places)
    at = len(along) - 1 if selection["pick"] == "most" else len(along) // 2
    gaps = [abs(along[at] - along[i]) for i in (at - 1, at + 1) if 0 <= i < len(along)]
    return min(gaps, default=0.0)
