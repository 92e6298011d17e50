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

# Which of several: the one farthest along a direction of the base frame, or the one in the middle along it.
SELECTIONS: tuple[Variant, ...] = (
    {"axis": (1.0, 0.0), "pick": "most"},
    {"axis": (-1.0, 0.0), "pick": "most"},
    {"axis": (0.0, 1.0), "pick": "most"},
    {"axis": (0.0, -1.0), "pick": "most"},
    {"axis": (1.0, 0.0), "pick": "middle"},
    {"axis": (0.0, 1.0), "pick": "middle"},
)


def alike(a: Variant, b: Variant) -> float:
    """How much an attempt with one variant says about another: 1 for the same, less for each factor that differs."""
    share = 1.0
    for name, value in a.items():
        if value != b[name]:
            share *= 0.25 if isinstance(value, str) or name in ("dx", "dy") else 0.6
    return share


def select(selection: Variant, places: list[tuple[float, float]]) -> int:
    """Index of the place that a selection singles out; places are (x, y) in the base frame, metres."""
    ax, ay = selection["axis"]
    order = sorted(range(len(places)), key=lambda i: (ax * places[i][0] + ay * places[i][1], i))
    return order[-1] if selection["pick"] == "most" else order[len(order) // 2]
