"""The subset for ablations: the LIBERO-90 tasks whose verbs and nouns all occur in Pro Long's instructions.

Computed from the suites by grammar; nothing of Pro Long but its words is looked at.
"""

from collections.abc import Iterable

from .grammar import parse
from .renaming import phrases


def vocabulary(instructions: Iterable[str]) -> frozenset[tuple[str, str]]:
    """("verb", …) and ("noun", …) of all instructions, nouns of wholes too."""
    words: set[tuple[str, str]] = set()
    for instruction in instructions:
        for clause in parse(instruction):
            words.add(("verb", clause.verb))
            words.update(("noun", phrase.noun) for phrase in phrases(clause))
    return frozenset(words)


def covered(instructions: Iterable[str], by: Iterable[str]) -> list[int]:
    """Positions of the instructions that use only verbs and nouns which occur in `by`."""
    known = vocabulary(by)
    return [i for i, instruction in enumerate(instructions) if vocabulary([instruction]) <= known]
