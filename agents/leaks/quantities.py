"""Numbers, lengths, angles and shares in a plain text: which of them are harmless or known to the Proposer.

Every number needs a reason to be said: what it is a number of (harmless.py), or where the Proposer saw it
(quoted.py). Words that measure ("centimetres", "a third of", "half as far") are refused by themselves.
"""

from .counted import is_aside
from .disguised import disguised_text, disguised_word
from .harmless import harmless
from .quoted import quoted
from .seen import Seen
from .tokens import Reader, Token, tokens
from .vocabulary import FRACTIONS, FUNCTION, MEASURES, PLURALS, QUANTIFIERS, SIGNS, SOFT_UNIT, UNIT, words

_COMPASS = ("north", "south", "east", "west")
_POINTS = words("nne ne ene ese se sse ssw sw wsw wnw nw nnw")
_OWN_MEASURES = words("hand hand's hands finger finger's fingers")  # the robot's, as amounts are told


def unseen_number(text: str, public: Seen) -> str:
    """What a plain text measures or counts that the Proposer has not seen, as the end of a sentence; "" for
    nothing."""
    hidden = disguised_text(text)
    if hidden:
        return hidden
    read = Reader(tokens(text))
    fine = quoted(read, public) | _of_the_instruction(read, public) | harmless(read, public)
    for i, token in enumerate(read.tokens):
        if i in fine:
            continue
        if token.kind == "number":
            return f"carries a number that the Proposer has not seen ({read.text(i - 1, 3)!r})"
        if token.kind == "ordinal":
            return f"divides, or numbers what is not the Proposer's ({read.text(i - 1, 3)!r})"
        why = _word(read, i, public)
        if why:
            return why
    return ""


def _word(read: Reader, i: int, public: Seen) -> str:
    token, before, after = read.at(i), read.at(i - 1), read.at(i + 1)
    word = token.text
    if word in SIGNS:
        return f"measures something ({read.text(i - 1, 2)!r})"
    if token.kind != "word" or token.stem in public.words:
        return ""
    if UNIT.fullmatch(word) or (word == "per" and after.text == "cent") or _is_amount(read, i):
        return f"measures something ({read.text(i - 2, 3)!r})"
    if word in SOFT_UNIT - {"m"} and _is_quantity(read.at(i - 2) if before.text == "-" else before):
        return f"measures something ({read.text(i - 2, 3)!r})"
    if token.stem in PLURALS:
        return f"carries a number that the Proposer has not seen ({read.text(i - 1, 3)!r})"
    if word in FRACTIONS or _is_share(read, i):
        return f"gives a share or a ratio ({read.text(i - 1, 4)!r})"
    if _is_direction(read, i):
        return f"gives a direction finer than the picture's sides ({read.text(i - 1, 4)!r})"
    return disguised_word(read, i, public.identifiers)


def _of_the_instruction(read: Reader, public: Seen) -> set[int]:
    """Numbers that stand beside a word as they do in the instruction."""
    fine = set()
    for i, token in enumerate(read.tokens):
        before, after = read.at(i - 1).stem, read.at(i + 1).stem
        pairs = {(before, token.stem)} if before not in FUNCTION else set()
        pairs |= {(token.stem, after)} if after not in FUNCTION else set()
        if token.kind in ("number", "ordinal") and pairs & public.bigrams:
            fine.add(i)
    return fine


def _is_quantity(token: Token) -> bool:
    return token.kind in ("number", "ordinal") or token.text in QUANTIFIERS or token.text in FRACTIONS


def _is_share(read: Reader, i: int) -> bool:
    """ "Half as far", "half a turn", "two and a half", "half a hand's width", "twice its length"."""
    word, after = read.at(i).text, read.at(i + 1).text
    if word in ("half", "twice", "thrice", "double", "triple", "quadruple"):
        many = after in ("as", "that", "again", "past") or read.text(i - 2, 2) == "and a"
        return many or any(read.at(i + k).stem in MEASURES for k in range(1, 5))
    several = word in ("several", "few", "couple", "multiple")
    return several and any(read.at(i + k).stem in MEASURES for k in range(1, 4))


def _is_amount(read: Reader, i: int) -> bool:
    """ "By a thumb's width", "one plate's width further": a length that is not one of the hand."""
    if read.at(i).stem not in MEASURES or read.at(i + 3).text in _OWN_MEASURES:  # "the width of a hand"
        return False
    before = [read.at(k).text for k in range(i - 1, i - 7, -1)]
    if _OWN_MEASURES.intersection(before[:2]) or before[0] == "their":  # "sorted by their height"
        return False
    return "by" in before[1:] or is_aside(read, i + 1)


def _is_direction(read: Reader, i: int) -> bool:
    """ "North-north-east", "southwest", "WNW"."""
    word, then = read.at(i).text, read.at(i + 2 if read.at(i + 1).text == "-" else i + 1).text
    ways = [way for way in _COMPASS if way in word]
    return len(ways) > 1 or word in _POINTS or (word in _COMPASS and any(way in then for way in _COMPASS))
