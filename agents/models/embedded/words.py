"""Words that single out one of several: what they may mean, and how well each meaning fits what was shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .variants import Variant

Place = tuple[float, float, float]  # base frame, metres

_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

# The one farthest along a direction of the base frame, or the one in the middle along it.
SELECTIONS: tuple[Variant, ...] = (
    *(
        {"axis": (sign * x, sign * y, sign * z), "pick": "most"}
        for x, y, z in _AXES
        for sign in (1.0, -1.0)
    ),
    *({"axis": axis, "pick": "middle"} for axis in _AXES),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A word was used where several things looked alike, and the right one was shown. about: what was
    named; places: of those that looked alike; right: which of them was meant."""

    word: str
    about: str
    episode: str
    places: tuple[Place, ...]
    right: int


@dataclass(frozen=True)
class Meaning:
    """What a word may mean: how often that would have been right, and how clearly it told things apart
    (metres)."""

    right: float
    clear: float
    selection: Variant
    cases: int


def place(thing: dict[str, Any]) -> Place:
    """Middle of a region or a part, as programs report them."""
    z = thing["z"] if "z" in thing else thing["top"] - 0.5 * thing["height"]
    return (thing["x"], thing["y"], z)


def select(selection: Variant, places: Sequence[Place]) -> int:
    """Index of the place that a selection singles out, -1 for the middle of less than three."""
    if selection["pick"] == "middle" and len(places) < 3:
        return -1
    order = sorted(range(len(places)), key=lambda i: (_along(selection, places[i]), i))
    return order[-1] if selection["pick"] == "most" else order[len(order) // 2]


def meanings(word: str, cases: Sequence[Case]) -> list[Meaning]:
    """All selections for a word, judged on its cases; the best first."""
    own = [case for case in cases if case.word == word]
    if not own:
        return []
    found = []
    for selection in SELECTIONS:
        right = sum(select(selection, case.places) == case.right for case in own)
        clear = sum(_clearness(selection, case.places) for case in own)
        found.append(Meaning(right / len(own), clear / len(own), selection, len(own)))
    return sorted(found, key=lambda m: (-m.right, -m.clear))


def axis_support(selection: Variant, word: str, cases: Sequence[Case]) -> float:
    """How clearly (metres) the other words for the same nouns are told apart along this selection's axis:
    words that are used for the same things are likely to lie on one axis."""
    nouns = {case.about for case in cases if case.word == word}
    others = sorted({case.word for case in cases if case.about in nouns} - {word})
    along = 0.0
    for other in others:
        fitting = [
            m.clear
            for m in meanings(other, cases)
            if m.right >= 0.8 and _line(m.selection) == _line(selection)
        ]
        along += max(fitting, default=0.0)
    return along / len(others) if others else 0.0


def _along(selection: Variant, at: Place) -> float:
    return float(sum(a * b for a, b in zip(selection["axis"], at, strict=False)))


def _line(selection: Variant) -> tuple[float, ...]:
    return tuple(abs(value) for value in selection["axis"])


def _clearness(selection: Variant, places: Sequence[Place]) -> float:
    """Metres by which the place that a selection singles out stands apart from its neighbours along the
    axis."""
    along = sorted(_along(selection, at) for at in places)
    at = len(along) - 1 if selection["pick"] == "most" else len(along) // 2
    gaps = [abs(along[at] - along[i]) for i in (at - 1, at + 1) if 0 <= i < len(along)]
    return min(gaps, default=0.0)
