"""Instructions whose nouns are made-up words: what is learned must not depend on what things are called.

The same word becomes the same made-up word everywhere; verbs, relations, words that single one out and other
function words stay, so that the sentence has the same parts. Words are replaced one by one: "white mug" and
"red mug" still share their last word, as they did.
"""

import hashlib
import re
from collections.abc import Iterator

from .grammar import ARTICLES, PRONOUNS, RELATIONS, SELECTORS, VERBS, Clause, Phrase, parse

CONSONANTS, VOWELS = "bdfgklmnprtvz", "aeiou"  # no "s": it would read as a plural
SYLLABLES = 3
KEPT = (
    SELECTORS
    | ARTICLES
    | PRONOUNS
    | {word for phrase in (*VERBS, *RELATIONS) for word in phrase.split()}
    | {"and", "then", "of", "off", "its", "their", "other"}
    | {"arm", "arms", "hand", "hands"}  # the robot's own: nothing to be found
)


def rename(instruction: str, seed: int = 0) -> str:
    """The instruction with every noun made up. Raises ValueError where `parse` does."""
    nouns = {word for clause in parse(instruction) for word in _words(clause)} - KEPT

    def replace(found: re.Match[str]) -> str:
        word = found[0].lower()
        if word in nouns:
            return made_up(word, seed)
        if word.removesuffix("s") in nouns:
            return made_up(word.removesuffix("s"), seed) + "s"
        return found[0]

    return re.sub(r"[A-Za-z0-9\-]+", replace, instruction)


def made_up(word: str, seed: int = 0) -> str:
    """A word that means nothing, always the same for a word and seed."""
    digest = hashlib.sha256(f"{seed}:{word}".encode()).digest()
    picks = zip(digest[:SYLLABLES], digest[SYLLABLES : 2 * SYLLABLES], strict=True)
    return "".join(CONSONANTS[c % len(CONSONANTS)] + VOWELS[v % len(VOWELS)] for c, v in picks)


def phrases(clause: Clause) -> Iterator[Phrase]:
    """All phrases of a clause: thing and target, and what they are parts of."""
    for phrase in (clause.thing, clause.target):
        while phrase is not None:
            yield phrase
            phrase = phrase.whole


def _words(clause: Clause) -> Iterator[str]:
    for phrase in phrases(clause):
        yield from phrase.noun.split()
