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
    {"clearance": clearance, "reference": reference, "carry": carry, "turn": False, "dx": 0.0, "dy": 0.0}
    for clearance, reference, carry in product((0.12, 0.03, 0.005), ("middle", "free"), (False, True))
)
_TURNED: tuple[Variant, ...] = tuple(
    {"clearance": clearance, "reference": "middle", "carry": True, "turn": True, "dx": 0.0, "dy": 0.0}
    for clearance in (0.03, 0.005)
)
_BESIDE: tuple[Variant, ...] = tuple(
    {"clearance": 0.005, "reference": "middle", "carry": True, "turn": False, "dx": dx, "dy": dy}
    for dx, dy in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
)
RELEASES: tuple[Variant, ...] = _MIDDLE + _TURNED + _BESIDE
NAIVE_RELEASE = RELEASES[0]

# Decisions for a whole episode; the first of each is what is done naively. order: which parts of an
# instruction are done. room: where a thing goes when something was put on or in the same target before.
# retry: how often a grasp is tried when nothing is held.
RULES: dict[str, tuple[Variant, ...]] = {
    "order": ({"rule": "first"}, {"rule": "as said"}, {"rule": "reversed"}),
    "room": ({"place": "as always"}, {"place": "free room"}),
    "retry": ({"tries": 1}, {"tries": 3}),
}

# How much of a try still counts where one factor differs; for lengths, by how many steps of this size.
_SHARE = {
    "style": 0.15,
    "near": 0.9,
    "reference": 0.4,
    "carry": 0.5,
    "turn": 0.3,
    "dx": 0.1,
    "dy": 0.1,
    "rule": 0.05,
    "place": 0.05,
    "tries": 0.05,
    "ends": 0.3,
    "end": 0.3,
}
_STEP = {
    "depth": 0.015,
    "clearance": 0.05,
    "press": 15.0,
    "speed": 0.4,
    "step": 0.04,
    "beyond": 0.06,
    "turns": 3.0,
    "inset": 0.03,
    "apart": 0.04,
    "tilt": 0.6,
    "height": 0.3,
}


def alike(a: Variant, b: Variant) -> float:
    """How much an attempt with one variant says about another: 1 for the same, less for each factor that
    differs."""
    share = 1.0
    for name, value in a.items():
        if value == b[name]:
            continue
        share *= 0.5 ** (abs(value - b[name]) / _STEP[name]) if name in _STEP else _SHARE[name]
    return share
