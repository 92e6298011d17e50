"""Numbers that point at the Proposer's own things: "region 3", "regions[3]", "lines 4, 5 and 7", "which: 3",
"you took 4 instead of 3".
"""

from itertools import pairwise

from .counted import is_aside, is_measured, is_up_to
from .seen import Seen
from .tokens import Reader
from .vocabulary import COUNTED, LABELS, words

SAYING = words("number numbers no nr num index id")
OPENING = frozenset("[(#=_\"'")
_CONTRAST = words(", and but not or instead of rather than (")
_LISTING = _CONTRAST | words("to through & / - vs")
_CHOOSING = words("chose choose chosen picked pick took selected select meant wanted grasped")
_DECISIONS = words("which target thing")  # about regions
_TELLING = frozenset(":=→>-")


def pointing(read: Reader, i: int, public: Seen) -> set[int]:
    """The number, and those that are listed with it; none where it points at nothing."""
    k = _before(read, i)
    if read.at(k).text == ":":
        k = _before(read, k)
        if not _is_value(read, i, k):
            return _chosen(read, i, public)
    label = read.at(k).stem
    if label not in LABELS:
        return _named_apart(read, i, k, public) or _chosen(read, i, public)
    if LABELS[label] not in ("region", "part") and is_aside(read, i + 1):  # "step 12 to the left"
        return set()
    return _listed(read, i, public.limit(label))


def _before(read: Reader, i: int) -> int:
    """Where the word is that a number belongs to."""
    k = i - 1
    while read.at(k).text in OPENING | SAYING:
        k -= 1
    return k


def _is_value(read: Reader, i: int, k: int) -> bool:
    """Whether a colon gives a label its number: "regions: 2 and 3", '"part": 1'."""
    plural = read.at(k).text in ("regions", "parts")
    return plural or read.at(i + 1).kind == "line" or read.at(i + 1).text in ',}]"'


def _listed(read: Reader, i: int, most: int) -> set[int]:
    """Numbers from here on. Commas alone make no list: "region 3, 12 to the left"."""
    if not is_up_to(read.at(i), most):
        numbers = read.at(i).text.split(",")  # "regions 1,2"
        together = len(numbers) > 1 and all(n.isdigit() and len(n) < 3 and int(n) <= most for n in numbers)
        return {i} if together else set()
    more, joined, k = {i}, False, i + 1
    while True:
        between = set()
        while read.at(k).text in _LISTING:
            between.add(read.at(k).text)
            k += 1
        new = between and is_up_to(read.at(k), most)
        if not new or is_measured(read, k) or is_aside(read, k + 1):
            return more if joined else {i}
        more.add(k)
        joined = joined or between != {","}
        k += 1


def _named_apart(read: Reader, i: int, k: int, public: Seen) -> set[int]:
    """ "Of your regions, number 3 is meant", "release 1: too high"."""
    listed = _told_apart(read, i, public)
    if listed:
        return listed
    titled = read.at(k).stem in COUNTED and read.at(i + 1).text in (":", "(")
    if titled and is_up_to(read.at(i), public.limit("step")):
        return {i}
    stated = read.at(k).kind == "word" and read.at(k).text not in ("is", "not")
    if read.at(i - 1).text not in SAYING or stated:
        return set()
    while read.at(k).kind != "line" and read.at(k).text != ".":
        label = read.at(k).stem
        if label in LABELS:
            return {i} if is_up_to(read.at(i), public.limit(label)) else set()
        k -= 1
    return set()


def _told_apart(read: Reader, i: int, public: Seen) -> set[int]:
    """ "Three regions look the same, 1, 2 and 3": a rising list between signs, its label earlier."""
    most = public.limit("region")
    if read.at(i - 1).text not in (",", ":", "(", "-") or read.at(i).spelled:
        return set()
    found = sorted(_listed(read, i, most))
    values = [read.at(n).value or 0 for n in found]
    rising = len(found) > 1 and all(a < b for a, b in pairwise(values))
    ended = rising and read.at(found[-1] + 1).kind in ("sign", "line")
    return set(found) if ended and _on_a_decision(read, i) else set()


def _chosen(read: Reader, i: int, public: Seen) -> set[int]:
    """ "Which: wrong (3, not 4)", "you took 4 instead of 3": numbers of regions, as a choice says them."""
    most = public.limit("region")
    if read.at(i).spelled or not is_up_to(read.at(i), most) or is_aside(read, i + 1):
        return set()
    k = i + 1
    while read.at(k).text in _CONTRAST:
        k += 1
    against = {read.at(n).text for n in range(i + 1, k)} & {"not", "than", "instead"}
    other = {k} if against and is_up_to(read.at(k), most) else set()
    if any(is_measured(read, n) or is_aside(read, n + 1) for n in other):
        return set()
    if read.at(i - 1).text in _CHOOSING:
        return {i} | other if other or read.at(i + 1).kind in ("sign", "line") else set()
    decision = read.at(i - 2 if read.at(i - 2).kind == "word" else i - 3)  # "->" is two signs
    told = read.at(i - 1).text in _TELLING and decision.text in _DECISIONS
    return (
        {i} | other
        if told or (other and (read.at(i - 1).kind == "line" or _on_a_decision(read, i)))
        else set()
    )


def _on_a_decision(read: Reader, i: int) -> bool:
    """Whether a sentence is about which thing was taken."""
    for k in range(i - 1, -1, -1):
        if read.at(k).kind == "line" or read.at(k).text == ".":
            return False
        if read.at(k).text in _DECISIONS or LABELS.get(read.at(k).stem) == "region":
            return True
    return False
