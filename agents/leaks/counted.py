"""Numbers that count things: "three bowls", "2 more times", "all three", "zero contact". No distances told in
things: "off by twelve bananas", "two bowls further", "three hands' widths".
"""

from .seen import Seen
from .tokens import Reader, Token
from .vocabulary import (
    COUNTED,
    DETERMINERS,
    DISTANT,
    FUNCTION,
    LABELS,
    MEASURES,
    NO_NOUN,
    PLURAL_VERBS,
    SHIFTED,
    SIGNS,
    SOFT_UNIT,
    UNIT,
    VERBS,
    words,
)

COUNTS = 20  # more things than this are not counted in a critique
CALLS = 99  # operations are
FEW = 5  # things of a kind that the guard does not know
_RATIO = words("as the its that larger longer wider higher")  # "three times as"
_STARTING = words("from starting counting beginning counted")
_MEASURED = SHIFTED | words("to at than = : ( point minus plus")  # before what is a measure
_VALUED = _MEASURED | words("is was")  # before a "1" that is a measure or a label


def counted(read: Reader, i: int, public: Seen) -> set[int]:
    """The number, and one that it is a range with; none where it counts no things."""
    token, after = read.at(i), read.at(i + 1)
    if after.text in ("or", "to", "and", "-") and read.at(i + 2).kind == "number":
        other = counted(read, i + 2, public) if token.spelled or after.text == "or" else set()
        small = is_up_to(token, FEW) and read.at(i - 1).text not in SHIFTED
        return {i} | other if other and small and noun_after(read, i + 3) else set()
    return {i} if _counts(read, i, public) else set()


def _counts(read: Reader, i: int, public: Seen) -> bool:
    token, before, after = read.at(i), read.at(i - 1).text, read.at(i + 1)
    if token.text == "one":
        return not _is_digit(read, i)
    noun = noun_after(read, i + 1)
    if noun:
        return _is_count(read, i, noun, public)
    if token.text in ("0", "zero") and read.text(i + 1, 2) == "- based":
        return True
    if after.kind == "word" and (token.text == "zero" or (token.text == "1" and before not in _VALUED)):
        digit = read.at(i - 1).kind == "number" or after.text in ("point", "more")
        plain = after.text not in FUNCTION | DISTANT | NO_NOUN or (token.text == "1" and after.text == "to")
        return plain and not digit and not is_aside(read, i + 1)
    if token.value in (0, 1) and after.kind in ("sign", "line"):
        return before in _STARTING or (before == "at" and read.at(i - 2).text in _STARTING)
    if token.spelled and is_up_to(token, FEW) and _is_plain_count(read, i):
        return True
    if is_up_to(token, COUNTS // 2) and (before in DETERMINERS or read.text(i - 2, 2) == "all but"):
        return after.kind in ("sign", "line") or after.text in VERBS
    return token.text in ("2", "3") and after.text == "d" and after.glued


def _is_plain_count(read: Reader, i: int) -> bool:
    """ "The two differ", "two acted and three looked", "cut into two"."""
    before, after = read.at(i - 1), read.at(i + 1)
    if after.kind in ("sign", "line"):
        return before.text in ("into", "make", "made", "took")
    if before.kind == "number" or before.text in _MEASURED or is_aside(read, i + 1):
        return False
    counted = after.text not in FUNCTION | NO_NOUN | MEASURES or after.text in PLURAL_VERBS
    return after.kind == "word" and counted


def noun_after(read: Reader, k: int) -> int:
    """Where the noun is that a number counts, after words that describe it; 0 for none."""
    for last in range(k, k + 6):
        token = read.at(last)
        if token.text == "-" and token.glued:
            continue
        if token.kind == "word" and token.stem in COUNTED:
            return last
        if token.kind != "word" or token.stem in NO_NOUN or token.text in FUNCTION:
            return 0
        if token.text.endswith("s") and len(token.text) > 3 and not token.text.endswith(("'s", "ss")):
            return last
    return 0


def is_aside(read: Reader, k: int) -> bool:
    """Whether a way follows: what stands before it is a distance."""
    while read.at(k).text in ("more", "too", "much", "a", "bit"):
        k += 1
    if read.at(k).text in DISTANT:
        return True
    return read.text(k, 3) in ("to the left", "to the right") and read.at(k + 3).text != "of"


def is_measured(read: Reader, i: int) -> bool:
    """Whether a unit follows: "3 mm", "5-cm", "10 %"."""
    k = i + 2 if read.at(i + 1).text == "-" else i + 1
    unit = read.at(k)
    if unit.text == "in":
        return unit.glued
    quote = unit.text in "\"'" and unit.glued and not read.at(k + 1).glued
    opened = read.at(i - 1).text == unit.text  # a number in quotes
    return (quote and not opened) or unit.text in SOFT_UNIT | SIGNS or bool(UNIT.fullmatch(unit.text))


def is_up_to(token: Token, most: int) -> bool:
    """Whether it is a whole number that is not larger."""
    return token.kind == "number" and token.value is not None and token.value <= most


def _is_count(read: Reader, i: int, noun: int, public: Seen) -> bool:
    word, then = read.at(noun).text, read.at(noun + 1).text
    known = word in COUNTED or {word, word.removesuffix("s")} & public.words
    most = CALLS if LABELS.get(word) == "call" else COUNTS if known else FEW
    if not is_up_to(read.at(i), most) or read.at(i - 1).text in SHIFTED or _multiplies(read, i):
        return False
    return not is_aside(read, noun + 1) and not (word == "times" and then in _RATIO)


def _multiplies(read: Reader, i: int) -> bool:
    """ "Three bowl diameters", "two hand's widths"."""
    for k in range(i + 1, i + 5):
        if read.at(k).stem in MEASURES:
            return True
        if read.at(k).kind != "word" or read.at(k).text in FUNCTION:
            return False
    return False


def _is_digit(read: Reader, i: int) -> bool:
    """Whether "one" belongs to a longer number: "four one six", "point one", "one-five"."""
    for step in (-1, 1):
        k = i + step
        while read.at(k).text in ("-", ","):
            k += step
        if read.at(k).kind == "number" or read.at(k).text in ("point", "dot", "comma", "minus", "plus"):
            return True
    return False
