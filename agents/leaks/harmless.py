"""Numbers in forms that tell nothing but which of its own things the Proposer is to look at, or how many
there are: those that point or count, "2 of 5", "the second try", "1." before an item.
"""

from .counted import COUNTS, counted, is_measured, is_up_to, noun_after
from .pointing import OPENING, SAYING, pointing
from .seen import Seen
from .tokens import Reader
from .vocabulary import COUNTED, LABELS, STATES, VERBS, words

_PARTS = words("last one any none some each both all most either neither only two three")


def harmless(read: Reader, public: Seen) -> set[int]:
    """Indices of tokens whose numbers are harmless."""
    fine = _items(read)
    for i, token in enumerate(read.tokens):
        if i in fine:
            continue
        if token.kind == "ordinal" and _says_which(read, i, public):
            fine.add(i)
        elif token.kind == "number" and not is_measured(read, i) and not _is_state(read, i):
            fine |= pointing(read, i, public) | _of_several(read, i) or counted(read, i, public)
    return fine


def _items(read: Reader) -> set[int]:
    """ "1." at the beginning of a line and "(2)" anywhere, where they count on and a word follows."""
    fine, last = set(), 0
    for i, token in enumerate(read.tokens):
        mark, then = read.at(i + 1).text, read.at(i + 2)
        item = mark == ")" or (mark == "." and read.at(i - 1).kind == "line")
        digits = token.kind == "number" and not token.spelled
        if item and digits and token.value in (1, last + 1) and (then.kind == "word" or then.text in "\"'"):
            fine.add(i)
            last = token.value
    return fine


def _of_several(read: Reader, i: int) -> set[int]:
    """ "2 of 5", "one of the three", "3/5 tries", "three of them", "the first of two"."""
    if read.at(i - 1).text in SAYING:
        return set()
    k = i - 1
    while read.at(k).text in ("the", "your", "these", "those"):
        k -= 1
    part = read.at(k - 1)
    if (
        read.at(k).text == "of"
        and (part.kind == "ordinal" or part.text in _PARTS)
        and is_up_to(read.at(i), COUNTS)
    ):
        return {i}
    slash = read.at(i + 1).text == "/"
    k = i + 3 if read.text(i + 1, 2) == "out of" else i + 2 if slash or read.at(i + 1).text == "of" else i
    if k == i:
        return set()
    if not slash and read.at(k).text in ("which", "them", "these", "those") and is_up_to(read.at(i), COUNTS):
        return {i}
    while read.at(k).text in ("the", "your", "these", "all", "those"):
        k += 1
    whole, after = read.at(k), read.at(k + 1)
    if not is_up_to(whole, COUNTS) or not is_up_to(read.at(i), whole.value or 0) or is_measured(read, k):
        return set()
    ends = not slash and (after.kind in ("sign", "line") or after.text in VERBS)
    return {i, k} if ends or noun_after(read, k + 1) else set()


def _says_which(read: Reader, i: int, public: Seen) -> bool:
    """Whether an ordinal says which, and neither divides nor numbers what is not the Proposer's."""
    value = read.at(i).value or 0
    if any(read.at(k).stem in STATES for k in (i - 1, i + 1, i + 2, i + 3)):
        return False
    before = read.at(i - 2 if read.at(i - 1).text == "-" else i - 1)
    noun = read.at(i + 1).stem
    known = noun in COUNTED or noun == "one"
    if value > 2 and (before.kind == "number" or before.text in ("a", "an")):
        return known and not noun.endswith("s") and before.text in ("a", "an", "one")
    return value <= COUNTS // 2 or (known and value <= (public.limit(noun) if noun in LABELS else COUNTS))


def _is_state(read: Reader, i: int) -> bool:
    """Whether a number is that of an initial state, an episode, a seed."""
    k = i - 1
    while read.at(k).text in OPENING | SAYING | {"is", "was", ":", "-"}:
        k -= 1
    return read.at(k).stem in STATES
