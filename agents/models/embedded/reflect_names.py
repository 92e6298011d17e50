"""Candidates that name things: what nouns look like, which part is meant, what a word singles out."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from ....ledger import events as ev
from ...grammar import Clause, Phrase, parse
from ..base import Candidate
from .attempts import Attempts, Pointed
from .features import Vector, appearance, part_look, prototypes
from .identify import PROTOTYPES, Experience, Looks, alike
from .skills import PART_TIE, TIE, Skills, appearance_entry, part_entry, part_name, word_entry
from .words import axis_support

LEAST_GAIN = 3  # more pointings found, before a known name is worth trials again

Learned = dict[str, tuple[str, list[Vector]]]


def nouns(skills: Skills, attempts: Attempts, instructions: list[str], singly: bool) -> list[Candidate]:
    """Nouns that were pointed at twice or more, and are unknown or better known by what was seen since."""

    def found(looks: Looks, one: Pointed) -> bool:
        near = looks.matches(one.name, [appearance(region) for region in one.things])
        return bool(near) and one.index in alike(near, TIE)

    made = _names(skills.nouns, attempts.sightings, found, appearance_entry)
    return _candidates(made, "which", instructions, singly, lambda name, clause: name in _nouns(clause))


def parts(skills: Skills, attempts: Attempts, instructions: list[str], singly: bool) -> list[Candidate]:
    """The same for parts: by verb or relation, and noun."""

    def found(looks: Looks, one: Pointed) -> bool:
        if one.name not in looks:
            return False
        near = looks.near(one.name, [part_look(part) for part in one.things])
        return one.index in alike(near, PART_TIE)

    pairs = {part_name(*pair): pair for text in instructions for pair in _parts(text)}

    def entry(name: str, looks: list[Vector], evidence: list[str]) -> ev.Entry:
        return part_entry(*pairs[name], looks, evidence)

    pointed = [one for one in attempts.parts if one.name in pairs]
    made = _names(skills.parts, pointed, found, entry)
    return _candidates(
        made, "part", instructions, singly,
        lambda name, clause: name in {part_name(*pair) for pair in _pairs(clause)},
    )  # fmt: skip


def _names(
    known: Learned,
    pointed: Sequence[Pointed],
    found: Callable[[Looks, Pointed], bool],
    make: Callable[[str, list[Vector], list[str]], ev.Entry],
) -> list[tuple[str, ev.Entry, str]]:
    """(name, entry, entry that it replaces or ""). A known name is proposed again only if, over all that
    was pointed at, more would have been found."""
    by_name: dict[str, list[Pointed]] = defaultdict(list)
    for one in pointed:
        by_name[one.name].append(one)
    current = Looks(known)
    missed = {one.name for one in pointed if not found(current, one)}
    made = []
    for name, seen in sorted(by_name.items()):
        old = known.get(name)
        if len(seen) < 2 or (old and name not in missed):
            continue
        looks = prototypes([*(old[1] if old else []), *(one.look for one in seen)], PROTOTYPES, TIE)
        if old:
            changed = Looks(known | {name: (old[0], looks)})
            gain = sum(found(changed, one) - found(current, one) for one in pointed)
            if gain < LEAST_GAIN:
                continue
        entry = make(name, looks, unique([one.episode for one in seen]))
        made.append((name, entry, old[0] if old else ""))
    return made


def _candidates(
    made: list[tuple[str, ev.Entry, str]],
    decision: str,
    instructions: list[str],
    singly: bool,
    about: Callable[[str, Clause], bool],
) -> list[Candidate]:
    groups = _together(made, instructions, about) if singly else [made] if made else []
    return [
        Candidate(
            entries=tuple(entry for _, entry, _ in group),
            replaces=tuple(old for _, _, old in group if old),
            decision=decision,
            reason="the Verifier pointed at " + ", ".join(f'"{name}"' for name, _, _ in group),
            tasks=tuple(
                text for text in instructions
                if any(about(name, clause) for clause in parse(text) for name, _, _ in group)
            ),
        )
        for group in groups
    ]  # fmt: skip


def _together(
    made: list[tuple[str, ev.Entry, str]], instructions: list[str], about: Callable[[str, Clause], bool]
) -> list[list[tuple[str, ev.Entry, str]]]:
    """Names that one instruction needs together: one alone would change nothing there."""
    groups = {}
    for text in instructions:
        group = [one for one in made if any(about(one[0], clause) for clause in parse(text))]
        if group:
            groups[tuple(name for name, _, _ in group)] = group
    return list(groups.values())


def _phrases(clause: Clause) -> list[Phrase]:
    return [clause.thing, *([clause.target] if clause.target else [])]


def _nouns(clause: Clause) -> set[str]:
    """Of the regions that a clause names."""
    return {(phrase.whole or phrase).noun for phrase in _phrases(clause)}


def _pairs(clause: Clause) -> list[tuple[str, str]]:
    """(verb or relation, noun) by which a clause can mean a part."""
    pairs = [(clause.verb, clause.thing.noun)]
    return [*pairs, (clause.relation, clause.target.noun)] if clause.target else pairs


def _parts(instruction: str) -> list[tuple[str, str]]:
    return [pair for clause in parse(instruction) for pair in _pairs(clause)]


def words(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    """Words with three ambiguous cases or more, right in 80%, and clearly better than every rival meaning:
    more often right, or telling things apart along a longer distance."""
    experience = Experience(skills, attempts, looks=False)
    found = []
    for word in sorted({case.word for case in experience.cases} - set(skills.words)):
        ranked = experience.meanings(word)
        if ranked[0].cases < 3 or ranked[0].right < 0.8:
            continue
        fitting = [m for m in ranked if m.right > ranked[0].right - 0.1]
        clear = [m.clear + axis_support(m.selection, word, experience.cases) for m in fitting]
        best = fitting[clear.index(max(clear))]
        if len(fitting) > 1 and max(clear) < 1.2 * sorted(clear)[-2]:
            continue
        evidence = unique([case.episode for case in experience.cases if case.word == word])
        tasks = tuple(
            text for text in instructions
            if any(word == phrase.selector for c in parse(text) for phrase in _phrases(c))
        )  # fmt: skip
        reason = (
            f"right in {best.right:.0%} of {best.cases} cases where several looked alike, "
            f"{best.clear * 100:.0f} cm apart"
            + (f"; clearer than {len(fitting) - 1} rival meanings" if len(fitting) > 1 else "")
        )
        entry = word_entry(word, best.selection, evidence)
        found.append(Candidate((entry,), (), "which", reason, tasks))
    return found


def unique(ids: Sequence[str]) -> list[str]:
    """Episodes that a provenance names: the first dozen."""
    return list(dict.fromkeys(ids))[:12]
