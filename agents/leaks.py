"""The leak guard: a critique may not carry ground truth, in any unit, frame or spelling.

It compares every number and name of a critique with the privileged record of its episode. What the
Proposer could see (numbers of regions, parts of the instruction, counts) passes.
"""

import re
from collections.abc import Iterator
from itertools import combinations
from math import dist, pi
from typing import Any

UNITS = {
    "m": 1.0, "metre": 1.0, "meter": 1.0, "dm": 0.1, "cm": 0.01, "centimetre": 0.01, "centimeter": 0.01,
    "mm": 0.001,
    "millimetre": 0.001, "millimeter": 0.001, "inch": 0.0254, "in": 0.0254, "foot": 0.3048, "feet": 0.3048,
    "radian": 1.0, "rad": 1.0, "degree": pi / 180, "deg": pi / 180,
}  # fmt: skip  # angles stand beside lengths: the record holds both as plain numbers
WORDS = {
    name: value
    for value, name in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}

_UNIT = (
    "|".join(sorted((f"{unit}s?" for unit in UNITS if unit != "in"), key=len, reverse=True)) + "|inches|in"
)
_HARMLESS = re.compile(
    r"\b(?:regions?|parts?|steps?|turns?|programs?|clauses?|operations?|pictures?|views?|lines?)\s+(?:number\s+)?\d+"
    r"(?:\s*(?:,|and|or)\s*\d+)*"
    r"|\b\d+\s+(?:of|out of)\s+\d+\b"
    r"|\b\d+\s+(?:(?:more|other|different)\s+)?(?:times?|things?|regions?|parts?|programs?)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?<![\w.])([-+−]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)\s*({_UNIT})?(?![\w])", re.IGNORECASE)
_SPELLED = re.compile(
    rf"\b((?:(?:{'|'.join(WORDS)}|point|hundred|minus)[\s-]*)+)\s*({_UNIT})\b", re.IGNORECASE
)
_SHARE = re.compile(r"\b\d+(?:[.,]\d+)?\s*(?:%|per ?cent\b)", re.IGNORECASE)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Za-z]\d")
_LABEL = re.compile(
    r"\b(?:seed|initial state|state)\s*(?:number|no\.?|=|:)?\s*\d+"
    r"|\b(?:success|done|reward|label|predicate)\s*(?:=|:|is)\s*"
    r"(?:true|false|0|1)\b|\bqpos\b|\bqvel\b|\bground truth\b",
    re.IGNORECASE,
)


def leak(text: str, record: dict[str, Any], state: int | None = None) -> str:
    """Why a critique may not be said, or "" if it may. `record`: the privileged record of its episode."""
    found = _LABEL.search(text)
    if found:
        return f"names simulator state ({found.group(0)!r})"
    share = _SHARE.search(text)
    if share:
        return f"carries a measured share ({share.group(0)!r})"
    for name in _names(record):
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            return f"uses an internal name ({name!r})"
    secret = sorted(_lengths(record))
    for shown, metres in _numbers(_HARMLESS.sub(" ", text.replace("°", " degrees "))):
        if any(_same(value, known) for value in metres for known in secret):
            return f"carries a measured value ({shown.strip()!r})"
    return ""


def _same(value: float, known: float) -> bool:
    """Equal within rounding: 3 mm, or 2% of a larger value."""
    return abs(abs(value) - abs(known)) <= max(0.003, 0.02 * abs(known))


def _names(record: Any) -> set[str]:
    """Identifiers of the simulator: keys and strings that no sentence has, with an underscore, a capital or a
    digit within."""
    names: set[str] = set()
    for item in _walk(record):
        word = isinstance(item, str) and re.fullmatch(r"\w+", item)
        if word and ("_" in item or _INNER_CAPITAL.search(item)):
            names.add(item)
    return names


def _walk(item: Any) -> Iterator[Any]:
    if isinstance(item, dict):
        for key, value in item.items():
            yield key
            yield from _walk(value)
    elif isinstance(item, list | tuple):
        for value in item:
            yield from _walk(value)
    else:
        yield item


def _lengths(record: Any) -> set[float]:
    """All lengths in the record, in metres, and the distances and differences of its points. Tiny ones say
    nothing."""
    lengths = {abs(float(i)) for i in _walk(record) if isinstance(i, float)}
    points = list(_points(record))[:60]
    for a, b in combinations(points, 2):
        lengths.add(dist(a, b))
        lengths.update(abs(x - y) for x, y in zip(a, b, strict=True))
    return {round(length, 4) for length in lengths if length > 0.008}


def _points(item: Any) -> Iterator[tuple[float, ...]]:
    if isinstance(item, dict):
        for value in item.values():
            yield from _points(value)
    elif isinstance(item, list | tuple):
        if len(item) == 3 and all(isinstance(v, float) for v in item):
            yield tuple(item)
        else:
            for value in item:
                yield from _points(value)


def _numbers(text: str) -> Iterator[tuple[str, list[float]]]:
    """Numbers with what they can mean in metres: a number without a unit can mean any of them."""
    for match in _NUMBER.finditer(text):
        value = float(match.group(1).replace(",", ".").replace("−", "-"))
        yield match.group(0), _in_metres(value, match.group(2))
    for match in _SPELLED.finditer(text):
        spelled = _spelled(match.group(1))
        if spelled is not None:
            yield match.group(0), _in_metres(spelled, match.group(2))


def _in_metres(value: float, unit: str | None) -> list[float]:
    if unit is None:
        return [value * scale for scale in (1.0, 0.01, 0.001, 0.0254)]
    name = unit.lower()
    name = {"inches": "inch"}.get(name, name)
    return [value * UNITS.get(name, UNITS.get(name.rstrip("s"), 1.0))]


def _spelled(words: str) -> float | None:
    """ "twelve", "twenty-five", "zero point four"."""
    whole, _, fraction = words.lower().replace("-", " ").partition(" point ")
    value = 0
    for word in whole.split():
        if word == "hundred":
            value = max(1, value) * 100
        elif word in WORDS:
            value += WORDS[word]
    digits = "".join(str(WORDS[w]) for w in fraction.split() if w in WORDS)
    return float(f"{value}.{digits or 0}")
