"""Initial states that are lost before the start: a thing lies on the floor, and no program can help."""

from statistics import median
from typing import Any

FALLEN, THROWN = 0.2, 1.0  # metres below and above where things stand


def lost_things(truth: dict[str, Any]) -> tuple[str, ...]:
    """Names of loose things that lay far below or above the others when an episode began: an initial state
    that its own simulation does not hold together. truth: the privileged record."""
    heights = {
        name: float(thing["start"]["centre"][2])
        for name, thing in truth.get("objects", {}).items()
        if not thing["fixed"]
    }
    if not heights:
        return ()
    usual = median(heights.values())
    return tuple(name for name, z in heights.items() if z < usual - FALLEN or z > usual + THROWN)
