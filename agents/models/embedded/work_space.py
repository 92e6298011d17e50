"""The space of moves on a part: styles and motions that its measured geometry allows, and steps in tilt,
length and lateral.

Lengths exceed the range of what they move: they end at its stop.
"""

from math import log
from typing import Any

from .variants import Variant

Part = dict[str, Any]

LENGTHS = {"pull": 0.22, "push": 0.28, "twist": 2.3, "swing": 1.75}  # metres, radians
_TILT, _END = 0.5, 0.6  # where a family is tried first; an end of a part, as a share of half its length
_TILTS, _LATERALS, _SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.3), (-0.6, -0.3, 0.0, 0.3, 0.6), (0.5, 1.0, 1.25)
_SPAN = 0.075  # m: what is wider does not go between the fingers
_STEP = {"tilt": 0.25, "lateral": 0.5, "length": 0.4}  # a step after which half of a try still counts
_STYLE, _MOTION, _SIGN = 0.3, 0.2, 0.05  # how much of a try counts where these differ

# What a style can do at all: closed fingers cannot pull, a hook cannot push.
_GRIPPED = ("pull", "push", "twist+", "twist-", "swing+", "swing-")
_MOTIONS = {
    "bar": _GRIPPED,
    "top": ("pull", "push", "swing+", "swing-"),
    "front": ("push", "swing-"),
    "hook": ("pull", "swing+"),
    "beside+": ("twist+", "twist-"),
    "beside-": ("twist+", "twist-"),
}


def kind_of(motion: str) -> str:
    """The motion without its sign."""
    return motion.rstrip("+-")


def side_of(name: str) -> str:
    """To which side a motion goes: out of the face or into it, or which way round."""
    return {"pull": "out", "swing+": "out", "push": "in", "swing-": "in"}.get(name, name)


def families(part: Part) -> list[Variant]:
    """One variant for each style and motion that the part allows, with values in the middle."""
    return [
        {
            "style": style,
            "motion": motion,
            "tilt": 0.0 if style.startswith("beside") else _TILT,
            "length": LENGTHS[kind_of(motion)],
            "lateral": _end(style, motion) if style.startswith("beside") else 0.0,
        }
        for style, motions in _MOTIONS.items()
        for motion in motions
        if _possible(part, style, motion)
    ]


def _possible(part: Part, style: str, motion: str) -> bool:
    """Whether the geometry that a variant stands on was measured, and leaves room for it."""
    stands_out: bool = part["kind"] == "bump"
    faces_up: bool = abs(part["outward"][2]) > 0.8
    turns = part["hinge"] is not None or (stands_out and not faces_up)
    if kind_of(motion) == "twist" and not stands_out:
        return False
    if kind_of(motion) == "swing" and not turns:
        return False
    if style == "bar":
        return bool(stands_out and part["width"] < _SPAN)
    if style == "front":
        return True
    if style == "hook" or style == "top":
        return not faces_up and part["kind"] in ("bump", "leaf")
    return bool(stands_out)


def _end(style: str, motion: str) -> float:
    """The end of a part at which fingers on this side of it push it the way it is to turn."""
    return _END if style[-1] == motion[-1] else -_END


def same_family(a: Variant, b: Variant) -> bool:
    return bool(a["style"] == b["style"] and a["motion"] == b["motion"])


def neighbours(variant: Variant) -> list[Variant]:
    """All variants of the same family."""
    full = LENGTHS[kind_of(variant["motion"])]
    return [
        {**variant, "tilt": tilt, "lateral": lateral, "length": round(full * share, 3)}
        for tilt in _TILTS
        for lateral in _LATERALS
        for share in _SHARES
    ]


def alike(a: Variant, b: Variant) -> float:
    """How much a try of one says about the other: 1 for the same, less for each difference."""
    share = 1.0 if a["style"] == b["style"] else _STYLE
    if a["motion"] != b["motion"]:
        share *= _SIGN if kind_of(a["motion"]) == kind_of(b["motion"]) else _MOTION
        return share * _near(a, b, ("tilt", "lateral"))
    return share * _near(a, b, ("tilt", "lateral")) * float(0.5 ** (_lengths(a, b) / _STEP["length"]))


def _near(a: Variant, b: Variant, names: tuple[str, ...]) -> float:
    share = 1.0
    for name in names:
        share *= 0.5 ** (abs(a[name] - b[name]) / _STEP[name])
    return share


def _lengths(a: Variant, b: Variant) -> float:
    return abs(log(a["length"] / b["length"]))
