"""Parts of one thing: what stands out of its faces, room in it, levels on it, panels that left its body."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..geometry import Array
from .measuring import Body
from .segmenting import Piece

Kind = Literal["bump", "hollow", "level", "leaf"]


@dataclass(frozen=True)
class Feature:
    """A part as the contract's `Part` describes it; directions are unit vectors (3,), metres, base frame.
    cloud (N, 3): its own points. hinge: a point (3,) of the edge at which it joins the body, None without
    one."""

    kind: Kind
    body: Body
    cloud: Array
    centre: Array
    outward: Array
    axis: Array
    length: float
    width: float
    depth: float
    rise: float
    along: float
    hinge: Array | None = None


def find_parts(pieces: list[Piece], body: Body) -> list[Feature]:
    """Parts of the thing that these pieces show, from the lowest to the highest."""
    return sorted([], key=lambda feature: float(np.round(feature.centre[2], 3)))
