"""Numbers that the Proposer has seen: passed, printed or read under a name, and pixels of regions shown."""

from collections.abc import Iterator

from ...backends.api import OPERATIONS
from .seen import Seen
from .tokens import Reader, Token
from .vocabulary import IN_METRES, words

_FILLING = words(
    "of = : is was were to set at with a an the only still value as than both stayed gave given and or "
    ", ' \" ) ]"
)
_FILLERS = 5
_PICTURED = words("pixel pixels picture image")


def quoted(read: Reader, public: Seen) -> set[int]:
    """Indices of tokens of numbers that are public, with their units."""
    fine: set[int] = set()
    for i, token in enumerate(read.tokens):
        if token.kind != "number" or token.spelled or i in fine:
            continue
        unit = read.at(i + 1).text if read.at(i + 1).text in IN_METRES else ""
        value = _value(token, unit)
        after = i + 2 if unit else i + 1
        if value is not None and any(public.has(name, value) for name in _names(read, i, after)):
            fine |= {i, i + 1} if unit else {i}
        elif value is not None and not unit and public.passed(_operation(read, i), value):
            fine.add(i)
        fine |= _pixel(read, i, public)
    return fine


def _value(token: Token, unit: str) -> float | None:
    """In metres; None for what is no plain decimal number."""
    try:
        return float(token.text) * IN_METRES.get(unit, 1.0)
    except ValueError:
        return None


def _names(read: Reader, first: int, after: int) -> Iterator[str]:
    """What a number may be called: the names before it, those joined by underscores, and the one after it."""
    k = first - 1
    if read.at(k).text == "-":
        k -= 1
    for _ in range(_FILLERS + 1):
        token = read.at(k)
        if token.kind == "word" and token.text not in _FILLING:
            yield from _joined(read, k)
            break
        if token.text not in _FILLING:
            break
        k -= 1
    if read.at(after).kind == "word":
        yield read.at(after).stem


def _joined(read: Reader, k: int) -> Iterator[str]:
    """ "width" and "max_width"."""
    name = read.at(k).text
    yield name
    while read.at(k - 1).text == "_" and read.at(k - 1).glued:
        name = f"{read.at(k - 2).text}_{name}"
        k -= 2
        yield name


def _operation(read: Reader, i: int) -> str:
    """The operation among whose arguments a number stands: "set_gripper(0.08"."""
    depth = 0
    for k in range(i - 1, max(i - 40, -1), -1):
        text = read.at(k).text
        if read.at(k).kind == "line":
            return ""
        depth += (text == ")") - (text == "(")
        if depth < 0:
            names = list(_joined(read, k - 1))
            return next((name for name in names if name in OPERATIONS), "")
    return ""


def _pixel(read: Reader, i: int, public: Seen) -> set[int]:
    """ "Pixel (131, 150)", "u=131, v=150": both numbers, where they lie in a region that was shown."""
    k = i + 1
    while read.at(k).text in (",", "v", "=", ":"):
        k += 1
    if k == i + 1 or read.at(k).kind != "number":
        return set()
    u, v = read.at(i).value, read.at(k).value
    if u is None or v is None:
        return set()
    if not _is_pictured(read, i):
        return {i, k} if (u, v) in public.pixels else set()
    camera = "wrist" if any(token.text == "wrist" for token in read.tokens) else "scene"
    return {i, k} if public.shows(u, v, camera) else set()


def _is_pictured(read: Reader, i: int) -> bool:
    k = i - 1
    while read.at(k).text in ("(", "=", ":", "at", "["):
        k -= 1
    return read.at(k).text in _PICTURED or read.at(k).text == "u"
