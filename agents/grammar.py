"""Instructions as clauses: verb, thing, relation, target. Nouns are opaque; only English function words
are known.

Words such as "left" or "middle" are recognised as words that single out one of several, not given a
meaning: what they mean is learned.
"""

import re
from dataclasses import dataclass, replace

VERBS = (
    "pick up", "turn on", "turn off", "put down", "put", "place", "stack", "move", "open", "close", "push",
    "pull", "lift", "insert", "hand over", "wipe", "sort", "grasp",
)  # fmt: skip
RELATIONS = (
    "to the left of", "to the right of", "to the front of", "to the back of", "in front of", "on top of",
    "next to", "on the top of", "behind", "beside", "between", "under", "below", "above", "over", "inside",
    "into", "onto", "in", "on", "to", "at", "out of", "off", "from", "with",
)  # fmt: skip
SELECTORS = frozenset(
    [
        "left",
        "right",
        "front",
        "back",
        "middle",
        "center",
        "centre",
        "top",
        "bottom",
        "upper",
        "lower",
        "nearest",
        "closest",
        "farthest",
        "near",
        "far",
        "first",
        "last",
        "leftmost",
        "rightmost",
    ]
)
ARTICLES = frozenset(("the", "a", "an", "both", "all", "some", "its"))
PRONOUNS = frozenset(("it", "them", "this", "that"))
CARRY_ON = frozenset(("put", "place", "stack", "move", "insert"))  # verbs that finish a "pick up"
HAND_OVER, TAKEN = "hand over", frozenset(("pick up", "lift", "grasp"))


@dataclass(frozen=True)
class Phrase:
    """A noun with the word that singles one out, and what it is a part of: "top drawer of the cabinet"."""

    noun: str
    selector: str = ""
    whole: "Phrase | None" = None

    def text(self) -> str:
        own = f"{self.selector} {self.noun}".strip()
        return f"{own} of the {self.whole.text()}" if self.whole else own


@dataclass(frozen=True)
class Clause:
    """One thing to do. `repeat` numbers clauses that name the same thing ("both pots")."""

    verb: str
    thing: Phrase
    relation: str = ""
    target: Phrase | None = None
    repeat: int = 0

    def text(self) -> str:
        tail = f" {self.relation} the {self.target.text()}" if self.target else ""
        return f"{self.verb} the {self.thing.text()}{tail}"


def parse(instruction: str) -> tuple[Clause, ...]:
    """The clauses of an instruction, in the order in which they are said. Raises ValueError where no verb
    is found."""
    words = re.sub(r"[^a-z0-9\- ]+", " ", instruction.lower().replace(",", " then ")).split()
    words = re.sub(rf"\bhand ({'|'.join(PRONOUNS)}) over\b", r"hand over \1", " ".join(words)).split()
    clauses: list[Clause] = []
    for verb, rest in _merge_pick_up(_split(words)):
        for clause in _clauses(verb, rest, clauses[-1] if clauses else None):
            clauses.append(_with_known_whole(clause, clauses))
    if not clauses:
        raise ValueError(f"no verb is known in {instruction!r}; start with one of: {', '.join(VERBS)}")
    return tuple(clauses)


def _with_known_whole(clause: Clause, before: list[Clause]) -> Clause:
    """ "Close the bottom drawer of the cabinet and open the top drawer": of the same cabinet."""
    thing = clause.thing
    if thing.whole is not None or not thing.selector:
        return clause
    said = [p for c in before for p in (c.thing, c.target) if p is not None and p.noun == thing.noun]
    whole = next((p.whole for p in reversed(said) if p.whole is not None), None)
    return replace(clause, thing=replace(thing, whole=whole)) if whole else clause


def _verb_at(words: list[str], i: int) -> str:
    for verb in VERBS:
        if words[i : i + len(verb.split())] == verb.split():
            return verb
    return ""


def _split(words: list[str]) -> list[tuple[str, list[str]]]:
    """Cut where a verb starts the sentence or follows a joining word."""
    parts: list[tuple[str, list[str]]] = []
    i = 0
    while i < len(words):
        joined = i == 0 or words[i - 1] in ("and", "then")
        verb = _verb_at(words, i) if joined else ""
        if verb:
            parts.append((verb, []))
            i += len(verb.split())
        else:
            if parts:
                parts[-1][1].append(words[i])
            i += 1
    for _, rest in parts:
        while rest and rest[-1] in ("and", "then"):
            rest.pop()
    return parts


def _merge_pick_up(parts: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """ "Pick up X and put it in Y" is one thing to do: put X in Y. So is "lift X and hand it over to Y"."""
    merged: list[tuple[str, list[str]]] = []
    for verb, rest in parts:
        if merged and merged[-1][0] == "pick up" and verb in CARRY_ON and rest[:1] and rest[0] in PRONOUNS:
            merged[-1] = ("put", merged[-1][1] + rest[1:])
        elif merged and merged[-1][0] in TAKEN and verb == HAND_OVER and rest[:1] and rest[0] in PRONOUNS:
            merged[-1] = (HAND_OVER, merged[-1][1] + rest[1:])
        else:
            merged.append(("put" if verb in CARRY_ON else verb, rest))
    return merged


def _relation_at(words: list[str], i: int) -> str:
    for relation in RELATIONS:
        if words[i : i + len(relation.split())] == relation.split():
            return relation
    return ""


def _clauses(verb: str, words: list[str], before: Clause | None) -> list[Clause]:
    things, relation, target = words, "", None
    more: list[str] = []
    i = 1
    while i < len(words):
        found = _relation_at(words, i)
        if found and not _is_selector_phrase(words, i, found):
            things, relation = words[:i], found
            rest, more = _without_next(words[i + len(found.split()) :])
            target = _phrase(rest, before)
            break
        i += 1
    plural = bool(things) and things[0] == "both" and "and" not in things
    if things[:1] == ["both"] and "and" in things:
        cut = len(things) - 1 - things[::-1].index("and")
        nouns = [things[:cut], things[cut + 1 :]]
    else:
        nouns = [things, things] if plural else [things]
    clauses = [
        Clause(verb, _phrase(noun, before, plural), relation, target, repeat=i if plural else 0)
        for i, noun in enumerate(nouns)
    ]
    return clauses + _clauses(verb, more, clauses[-1]) if more else clauses


def _without_next(words: list[str]) -> tuple[list[str], list[str]]:
    """ "On the plate and the cup on the tray": a target, and what goes on with the same verb."""
    for i in range(1, len(words) - 2):
        joined = words[i] == "and" and words[i + 1] in ARTICLES
        if joined and any(_relation_at(words, j) for j in range(i + 3, len(words))):
            return words[:i], words[i + 1 :]
    return words, []


def _is_selector_phrase(words: list[str], i: int, relation: str) -> bool:
    """ "at the front" after a noun singles one out; "on the plate" relates."""
    after = [w for w in words[i + len(relation.split()) :] if w not in ARTICLES]
    if len(relation.split()) > 1 or not after or after[0] not in SELECTORS:
        return False
    return len(after) == 1 or bool(_relation_at(after, 1)) or after[1] in ("and", "of")


def _phrase(words: list[str], before: Clause | None, plural: bool = False) -> Phrase:
    words = [w for w in words if w not in ARTICLES]
    if words and words[0] in PRONOUNS and before is not None:
        return before.target if before.target is not None else before.thing
    if "of" in words[1:]:
        cut = words.index("of", 1)
        return _with_whole(words[:cut], _phrase(words[cut + 1 :], before))
    return _with_whole(words, None, plural)


def _with_whole(words: list[str], whole: Phrase | None, plural: bool = False) -> Phrase:
    selector, noun = "", list(words)
    for i in range(1, len(words)):
        if _relation_at(words, i) and i + 1 < len(words) and words[i + 1] in SELECTORS:
            selector, noun = words[i + 1], words[:i]
            break
    if not selector and len(noun) > 1 and noun[0] in SELECTORS:
        selector, noun = noun[0], noun[1:]
    if plural and noun and noun[-1].endswith("s"):
        noun = [*noun[:-1], noun[-1][:-1]]
    return Phrase(" ".join(noun), selector, whole)
