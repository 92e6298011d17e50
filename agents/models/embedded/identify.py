"""Which region a phrase means, and which part of it: by what was pointed at, among those that look alike by
the word that singles one out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from ...grammar import Phrase
from .attempts import Attempts, Pointed
from .features import Vector, appearance, part_look, prototypes
from .skills import MATCH, PART_TIE, SEVERAL, TIE, Skills
from .words import Case, Meaning, meanings, place, select

PROTOTYPES = 4

Things = list[dict[str, Any]]  # regions or parts, as programs report them
Near = list[tuple[float, int]]  # distances and indices, nearest first


@dataclass(frozen=True)
class Chosen:
    """index: of the region or part, -1 for none. entry: of the memory, "" where it was guessed."""

    index: int
    entry: str


class Looks:
    """Prototypes by name: what the memory knows, and while exploring what was pointed at so far."""

    def __init__(self, learned: dict[str, tuple[str, list[Vector]]], pointed: Sequence[Pointed] = ()) -> None:
        known = dict(learned)
        seen: dict[str, list[Vector]] = {}
        for one in pointed:
            seen.setdefault(one.name, []).append(one.look)
        for name, looks in seen.items():
            entry, old = known.get(name, ("", []))
            known[name] = (entry, prototypes(old + looks, PROTOTYPES, TIE))
        self.entries = {name: entry for name, (entry, _) in known.items()}
        self._names = list(known)
        self._prototypes = np.array([p for _, ps in known.values() for p in ps])
        self._starts = np.cumsum([0, *(len(ps) for _, ps in known.values())])[:-1]

    def __contains__(self, name: str) -> bool:
        return bool(self._kin(name))

    def entry(self, name: str) -> str:
        """The memory entry that says what this name looks like, "" where none does."""
        return self.entries[self._names[self._kin(name)[0]]]

    def _kin(self, name: str) -> list[int]:
        """The name itself; or where it was never heard, those that end in the same word and say more or
        less: a "pan" may be the "frying pan"."""
        if name in self.entries:
            return [self._names.index(name)]
        own, kin = name.split(), []
        for i, other in enumerate(self._names):
            words = other.split()
            if words[-1:] == own[-1:] and (set(own) <= set(words) or set(words) <= set(own)):
                kin.append(i)
        return kin

    def near(self, name: str, looks: Sequence[Vector]) -> Near:
        """All things, by how much they look like this name."""
        distances = self._distances(looks)[self._kin(name)].min(axis=0)
        return sorted((float(d), i) for i, d in enumerate(distances))

    def matches(self, name: str, looks: Sequence[Vector]) -> Near:
        """Those that look like the name and not more like another known one."""
        kin = self._kin(name)
        if not kin or not looks:
            return []
        table = self._distances(looks)
        own, best = table[kin].min(axis=0), table.min(axis=0)
        return sorted((float(d), i) for i, d in enumerate(own) if d <= MATCH and d <= best[i] + 1e-9)

    def claimed(self, name: str, looks: Sequence[Vector]) -> set[int]:
        """Things that look like another known name."""
        if not self.entries or not looks:
            return set()
        table, kin = self._distances(looks), self._kin(name)
        owner = table.argmin(axis=0)
        return {i for i, k in enumerate(owner) if table[k, i] <= MATCH and int(k) not in kin}

    def _distances(self, looks: Sequence[Vector]) -> Any:
        """(names, things)."""
        offsets = self._prototypes[:, None, :] - np.array(looks)[None, :, :]
        apart = np.sqrt((offsets**2).sum(axis=-1))
        return np.minimum.reduceat(apart, self._starts, axis=0)


class Experience:
    """What choices stand on: the memory's skills and, while exploring, what was tried so far. looks False:
    only the meaning of words is explored."""

    def __init__(self, skills: Skills, attempts: Attempts | None = None, looks: bool = True) -> None:
        self.skills, self.attempts = skills, attempts
        self._looks = attempts if looks else None
        self._meanings: dict[str, list[Meaning]] = {}

    @cached_property
    def nouns(self) -> Looks:
        return Looks(self.skills.nouns, self._looks.sightings if self._looks else [])

    @cached_property
    def parts(self) -> Looks:
        return Looks(self.skills.parts, self._looks.parts if self._looks else [])

    @cached_property
    def cases(self) -> list[Case]:
        """Pointings with a word, where several things looked like what was named, the right one among
        them."""
        if self.attempts is None:
            return []
        found: list[Case] = []
        for pointed in self.attempts.sightings:
            if pointed.selector:
                looks = [appearance(thing) for thing in pointed.things]
                _add_case(found, pointed, self.nouns.matches(pointed.name, looks), SEVERAL)
        for pointed in self.attempts.parts:
            if pointed.selector and pointed.name in self.parts:
                looks = [part_look(thing) for thing in pointed.things]
                _add_case(found, pointed, self.parts.near(pointed.name, looks), PART_TIE)
        return found

    def meanings(self, word: str) -> list[Meaning]:
        """What a word may mean, by what was shown; the best first."""
        if word not in self._meanings:
            self._meanings[word] = meanings(word, self.cases)
        return self._meanings[word]

    def which_region(self, phrase: Phrase, regions: Things, taken: set[int], rng: Random) -> Chosen:
        """The region that a phrase means; -1 where none is left."""
        looks = [appearance(region) for region in regions]
        found = [(d, i) for d, i in self.nouns.matches(phrase.noun, looks) if i not in taken]
        if found:
            ties = alike(found, SEVERAL)
            if len(ties) == 1 or not phrase.selector:
                return Chosen(found[0][1], self.nouns.entry(phrase.noun))
            return self._one_of(phrase.selector, ties, regions, rng)
        left = [i for i in range(len(regions)) if i not in taken]
        claimed = self.nouns.claimed(phrase.noun, looks)
        free = [i for i in left if i not in claimed] or left
        return Chosen(rng.choice(free) if free else -1, "")

    def which_part(self, name: str, selector: str, parts: Things, rng: Random) -> Chosen:
        """The part that is meant, of a region that was studied; -1 where it has none. `name`: as
        `skills.part_name` says."""
        if not parts:
            return Chosen(-1, "")
        if name not in self.parts:
            return Chosen(rng.randrange(len(parts)), "")
        found = self.parts.near(name, [part_look(part) for part in parts])
        ties = alike(found, PART_TIE)
        if len(ties) == 1 or not selector:
            return Chosen(found[0][1], self.parts.entry(name))
        return self._one_of(selector, ties, parts, rng)

    def _one_of(self, word: str, ties: list[int], things: Things, rng: Random) -> Chosen:
        rule = self.skills.words.get(word)
        selection = rule.variant if rule else None
        if selection is None:
            fitting = self.meanings(word)
            selection = fitting[0].selection if fitting and fitting[0].right > 0 else None
        if selection is None:
            return Chosen(rng.choice(ties), "")
        index = select(selection, [place(things[i]) for i in ties])
        return Chosen(ties[index] if index >= 0 else rng.choice(ties), rule.entry if rule else "")


def alike(found: Near, tie: float) -> list[int]:
    """Those that are about as near as the nearest."""
    return sorted(i for d, i in found if d <= found[0][0] + tie)


def _add_case(found: list[Case], pointed: Pointed, near: Near, tie: float) -> None:
    ties = alike(near, tie) if near else []
    if len(ties) > 1 and pointed.index in ties:
        places = tuple(place(pointed.things[i]) for i in ties)
        right = ties.index(pointed.index)
        found.append(Case(pointed.selector, pointed.name, pointed.episode, places, right))
