"""A critique as plain English text: one spelling for each character, no markup, nothing that a reader would
not see.

The alphabet is closed: what cannot be brought to ASCII letters, digits and common signs is refused, so that
look-alike letters, other scripts and invisible characters carry nothing past the rules that read words.
"""

import re
import unicodedata

LONGEST = 20_000  # characters: more is no critique
_SPACES = "\n\t\r"
_SIGNS = frozenset("✓✔✗✘☑→←↑↓⇒⇐≠≈≤≥±×÷−°·•|~^`<>=+$…&@⁄")
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o"})
_KEYCAPS = frozenset("\ufe0f\ufe0e\u20e3")  # how a sign or a digit is drawn
_TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]{0,80}>", re.DOTALL)
_EDGE = re.compile(r"(?<!\w)_+|_+(?!\w)")


class NotPlain(ValueError):
    """The text is not plain English. The message goes on after "it"."""


def plain(text: str) -> str:
    """The text in ASCII and a few signs, capitals kept, without markup. Raises NotPlain."""
    if len(text) > LONGEST:
        raise NotPlain(f"is longer than {LONGEST} characters")
    for char in text:
        if char not in _SPACES and unicodedata.category(char).startswith("C"):
            raise NotPlain(f"has hidden characters ({_named(char)})")
    same = unicodedata.normalize("NFKC", text.translate(_LETTERS))
    return _without_markup("".join(map(_ascii, same)))


def _ascii(char: str) -> str:
    if char.isascii() or char in _SIGNS:
        return char
    kind = unicodedata.category(char)
    if kind.startswith("Z"):
        return " "
    if kind == "Nd":
        return str(unicodedata.digit(char))
    if kind.startswith("N"):
        raise NotPlain(f"has a number in unusual signs ({_named(char)})")
    if char in _KEYCAPS:
        return ""
    if kind.startswith("L"):
        base = unicodedata.normalize("NFD", char)[0]
        if base.isascii():
            return base
        raise NotPlain(f"has letters that are not English ({_named(char)})")
    if kind == "Pd":
        return "-"
    if kind in ("Pi", "Pf"):
        return '"' if char in "“”„«»" else "'"
    if kind.startswith("P"):
        return char
    raise NotPlain(f"has signs that are not English ({_named(char)})")


def _without_markup(text: str) -> str:
    """Without emphasis and code marks; tags at the end: they may stand within a number or a word, and hold
    some."""
    tags = _TAG.findall(text)
    text = re.sub(r"[*`]|~~", "", "\n".join([_TAG.sub("", text), *(tag.strip("</!->") for tag in tags)]))
    return _EDGE.sub("", text)


def _named(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
