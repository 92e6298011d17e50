"""Names and labels that only the simulator gives: of its things, of what it checks, of its own workings.

A thing may be called what the instruction calls it, by colour and place, or by one plain word. Names are
compared without what separates their words, forwards and backwards; what is written like a name of a program
must be one that the Proposer wrote or that the interface has.
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from ..renaming import KEPT
from .seen import Seen
from .vocabulary import LABELS

Record = dict[str, Any]
Name = tuple[str, ...]  # its words, in small letters and without numbers
_WORD = re.compile(r"[a-z]+")
_WRITTEN = re.compile(r"\w*[a-z_]\w*", re.IGNORECASE)
_LIKE_CODE = re.compile(r"\w_\w|[a-z][A-Z]|[A-Za-z]\d")
_LABELLED = re.compile(r"([a-z]+)_?(\d+)", re.IGNORECASE)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|d)", re.IGNORECASE)
_LETTERED = re.compile(r"([A-Za-z]+[a-z])([A-Z])")  # "cubeA"
_WORKINGS = re.compile(
    r"\b(?:mujoco|bddl|xml|libero|robosuite|mjcf|qpos|qvel|xpos|xquat|xmat|geoms?|mocap|keyframes?|simulat\w*|sim"
    r"|physics engine|ground[\s-]?truth|privileged|oracle|contact pairs?|body ids?|sites?|predicates?"
    r"|rewards?|seed\w*|joint (?:range|value|limit|position|angle)s?"
    r"|(?:success|goal|internal) (?:flag|label|signal|value|bit)s?|turn(?:on|off)"
    r"|base64|rot13|hex|hexadecimal|binary|morse|ascii)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\b(?:success|successful|done|return|label|flag|score|progress|settled|terminated|truncated|completed"
    r"|solved)(?: (?:flag|label|value))?[\s\"']*(?:={1,2}|:|->|→|\bis\b|\bwas\b|\bequals\b|\breturned\b)"
    r"[\s\"']*"
    r"(?:true|false|yes|no|positive|negative|zero|one|[01]|0?\.\d+)\b",
    re.IGNORECASE,
)
_PREDICATE = (
    r"\b(?:on|in|inside|under|open|opened|close|closed|up|upright|lifted|clean|handed|stack|stacked|above|below"
    r"|contains|touching|grasped|holding|reached)"
)
_CALLED = re.compile(rf"{_PREDICATE}\((?=\w)", re.IGNORECASE)
_OF_THINGS = re.compile(
    rf"\({_PREDICATE}((?:\s+\w+){{1,2}})\s*\)|{_PREDICATE}\s+\(([^(),]+,[^()]+)\)", re.IGNORECASE
)


def internal_name(text: str, record: Record, public: Seen) -> str:
    """What a plain text names that only the simulator does, as the end of a sentence; "" for nothing."""
    names = set(_names(record))
    workings = (one for one in _WORKINGS.finditer(text) if one[0].casefold() not in public.words)
    found = next(workings, None) or _LABEL.search(text) or _CALLED.search(text) or _of_things(text, names)
    if found:
        return f"names simulator state ({found[0].strip()!r})"
    for written in _WRITTEN.finditer(text):
        if _LIKE_CODE.search(written[0]) and not _is_public(written[0], public):
            return f"uses a name that is not public ({written[0]!r})"
    for thing in record.get("objects", {}):
        lettered = _LETTERED.fullmatch(thing)
        if lettered and re.search(rf"(?i:\b{lettered[1]})\W?{lettered[2]}\b", text):
            return f"uses an internal name ({thing!r})"
    return _spelled(text, names, _own_words(record, public), public)


def _of_things(text: str, names: set[Name]) -> re.Match[str] | None:
    """A predicate of things by their names: "(in soup basket)", "in (soup, basket)"."""
    known = {word for name in names for word in name}
    said = _OF_THINGS.finditer(text)
    return next((one for one in said if known.issuperset(_WORD.findall((one[1] or one[2]).casefold()))), None)


def _is_public(word: str, public: Seen) -> bool:
    labelled = _LABELLED.fullmatch(word)
    return (
        word in public.identifiers
        or word.casefold() in public.words
        or bool(labelled and labelled[1].casefold() in LABELS)
        or bool(_ORDINAL.fullmatch(word))
    )


def _spelled(text: str, names: set[Name], own: set[str], public: Seen) -> str:
    """A name of the record whose words stand in the text, however they are separated."""
    words = [word.removesuffix("'s") for word in re.findall(r"[a-z]+(?:'s)?", text.casefold())]
    lines = _Joined(words), _Joined([word[::-1] for word in reversed(words)])
    strange = {name for name in names if len(name) > 1 and not public.words.issuperset(name)}
    for name in sorted(strange | {(word,) for word in own}, key=lambda name: (-len("".join(name)), name)):
        if any(line.has("".join(name)) for line in lines):
            return f"uses an internal name ({' '.join(name)!r})"
    return ""


class _Joined:
    """Words of a text without what separates them."""

    def __init__(self, words: list[str]) -> None:
        self._text = "".join(words)
        self._edges = {0, *accumulate(map(len, words))}

    def has(self, name: str) -> bool:
        """Whether whole words make up the name, or its plural."""
        start = self._text.find(name)
        while start >= 0:
            end = start + len(name)
            plural = self._text[end : end + 1] == "s" and end + 1 in self._edges
            if start in self._edges and (end in self._edges or plural):
                return True
            start = self._text.find(name, start + 1)
        return False


def _own_words(record: Record, public: Seen) -> set[str]:
    """Nouns that things have in the simulator, where the Proposer's instruction has others in their place."""
    renamed = set(_WORD.findall(str(record.get("instruction", "")).casefold())) - KEPT - public.words
    if not renamed:
        return set()
    kinds = {word for name in record.get("objects", {}) for word in _parted(name)}
    return {word for word in renamed | kinds if len(word) > 2} - KEPT - public.words


def _names(record: Record) -> Iterator[Name]:
    """Names in the record; of places and joints also what they add to the name of their thing."""
    objects = [_parted(name) for name in record.get("objects", {})]
    for item in _strings(record):
        name = _parted(item)
        if re.fullmatch(r"\w+", item) and name:
            yield name
            for thing in objects:
                if name[: len(thing)] == thing and len(name) > len(thing) + 1:
                    yield name[len(thing) :]


def _parted(name: str) -> Name:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return tuple(part.casefold() for part in parts if len(part) > 1)


def _strings(item: Any) -> Iterator[str]:
    """All strings in a record, and its keys: names of things are among them."""
    if isinstance(item, dict):
        for key, value in item.items():
            yield str(key)
            yield from _strings(value)
    elif isinstance(item, list | tuple):
        for value in item:
            yield from _strings(value)
    elif isinstance(item, str):
        yield item
