"""A learned move on a part as a memory entry that reads as English."""

import math
import re
from typing import Any

from ....ledger.events import Entry, Provenance
from .features import Vector
from .variants import Variant
from .work_program import WORK

_KINDS = {
    "bump": "one that stands out {depth} from its face",
    "hollow": "open room {depth} deep",
    "level": "a flat top",
    "leaf": "a panel {depth} off the body",
}
_STYLES = {
    "bar": "close the fingers across it",
    "front": "put the closed fingers in front of it",
    "hook": "reach over it and behind it with closed fingers, until they touch",
    "beside+": "put the closed fingers beside it, on the one side",
    "beside-": "put the closed fingers beside it, on the other side",
    "top": "close the fingers on its edge from above",
}
_MOTIONS = {
    "pull": "pull it {length} out along its normal",
    "push": "push it {length} in along its normal, or until it stops",
    "twist+": "turn it {length} about its normal, anticlockwise as seen from in front",
    "twist-": "turn it {length} about its normal, clockwise as seen from in front",
    "swing+": "swing it {length} outwards about its hinge",
    "swing-": "swing it {length} inwards about its hinge, or until it stops",
}


def work_entry(
    verb: str,
    noun: str,
    variant: Variant,
    exemplars: list[Vector],
    radius: float,
    part: dict[str, Any],
    evidence: list[str],
) -> Entry:
    """exemplars: `part_look` of parts on which it worked; part: one of them, for the words."""
    kind = str(part["kind"])
    turns = variant["motion"][-1] in "+-"
    length = f"{math.degrees(variant['length']):.0f}°" if turns else _cm(variant["length"])
    where = _place(variant["lateral"])
    text = f"{verb} {noun} {kind} {part['length'] * 100:.0f} {part['width'] * 100:.0f}"
    return Entry(
        id="work/" + re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"),
        layer="cerebellum",
        kind="work",
        when=f'To {verb} a "{noun}" by a part like these ({_KINDS[kind].format(depth=_cm(part["depth"]))}, '
        f"about {_cm(part['length'])} by {_cm(part['width'])}, facing {_facing(part['outward'])}): "
        f"{_STYLES[variant['style']]}{where}, the hand tilted {math.degrees(variant['tilt']):.0f}°, and "
        f"{_MOTIONS[variant['motion']].format(length=length)}.",
        template=WORK.strip(),
        state={
            "verb": verb,
            "noun": noun,
            "variant": variant,
            "exemplars": [list(e) for e in exemplars],
            "radius": radius,
        },
        provenance=Provenance(evidence=tuple(evidence)),
    )


def _cm(metres: float) -> str:
    return f"{metres * 100:.0f} cm"


def _place(lateral: float) -> str:
    if not lateral:
        return ""
    end = "one" if lateral > 0 else "the other"
    return f" ({abs(lateral):.0%} of the way from its middle to {end} end)"


def _facing(outward: tuple[float, float, float]) -> str:
    up = outward[2]
    return "up" if up > 0.8 else "down" if up < -0.8 else "sideways"
