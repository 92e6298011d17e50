"""How decisions are taken: by a rule of the memory, in training also by what was tried before, else
naively."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from ...grammar import Phrase
from .attempts import Attempts, Sighting
from .features import Vector, appearance, distance, shape, spread_out
from .skills import MATCH, TIE, Rule, Skills
from .variants import (
    GRASPS,
    NAIVE_GRASP,
    NAIVE_ORDER,
    NAIVE_RELEASE,
    NAIVE_ROOM,
    ORDERS,
    RELEASES,
    ROOMS,
    SELECTIONS,
    Variant,
    alike,
    clearness,
    select,
)

SHAPE_LENGTH = 0.03  # metres within which what worked for one shape speaks for another
PROTOTYPES = 4
PRIOR = (0.6, 0.6)
TRUST = 4.0  # how many successes a rule of the committed memory is worth while exploring


SEEN = 0.7  # tries that make a variant known in a context

Try = tuple[float, Variant, bool]  # how much it counts, what was tried, whether it was good


@dataclass(frozen=True)
class Chosen:
    region: int
    entry: str
    ties: tuple[int, ...]


def prototypes(skills: Skills, attempts: Attempts | None) -> dict[str, tuple[str, list[Vector]]]:
    """Appearances by noun: what the memory knows, and while exploring what was pointed at so far."""
    known = dict(skills.nouns)
    if attempts is not None:
        seen: dict[str, list[Vector]] = {}
        for sighting in attempts.sightings:
            seen.setdefault(sighting.noun, []).append(sighting.look)
        for noun, looks in seen.items():
            entry, old = known.get(noun, ("", []))
            known[noun] = (entry, spread_out(old + looks, PROTOTYPES))
    return known


def matches(
    noun: str, known: dict[str, tuple[str, list[Vector]]], regions: list[dict[str, Any]]
) -> list[tuple[float, int]]:
    """(distance, region) of regions that look like the noun and not more like another known one, nearest
    first."""
    looks = [appearance(region) for region in regions]
    if noun not in known:
        return []
    found = []
    for i, look in enumerate(looks):
        own = min(distance(look, p) for p in known[noun][1])
        rival = min(
            (distance(look, p) for other, (_, ps) in known.items() if other != noun for p in ps), default=1e9
        )
        if own <= MATCH and own <= rival + 1e-9:
            found.append((own, i))
    return sorted(found)


def which(
    phrase: Phrase,
    regions: list[dict[str, Any]],
    taken: set[int],
    skills: Skills,
    attempts: Attempts | None,
    words: Attempts | None,
    rng: Random,
) -> Chosen:
    """The region that a phrase means; -1 where there is none left. `attempts` and `words`: what may be
    learned from while exploring appearances, and the meaning of words."""
    known = prototypes(skills, attempts)
    noun = phrase.noun
    found = [(d, i) for d, i in matches(noun, known, regions) if i not in taken]
    if found:
        ties = sorted(i for d, i in found if d <= found[0][0] + TIE)
        if len(ties) == 1 or not phrase.selector:
            return Chosen(found[0][1], known[noun][0], tuple(ties))
        return _one_of(phrase.selector, ties, regions, skills, words, rng)
    claimed = {i for other in known if other != noun for _, i in matches(other, known, regions)}
    free = [i for i in range(len(regions)) if i not in taken and i not in claimed]
    free = free or [i for i in range(len(regions)) if i not in taken]
    return Chosen(rng.choice(free) if free else -1, "", tuple(free))


def _one_of(
    word: str,
    ties: list[int],
    regions: list[dict[str, Any]],
    skills: Skills,
    words: Attempts | None,
    rng: Random,
) -> Chosen:
    rule = skills.words.get(word)
    entry = rule.entry if rule else ""
    selection = rule.variant if rule else None
    if selection is None and words is not None:
        meanings = word_meanings(word, skills, words)
        selection = meanings[0].selection if meanings and meanings[0].right > 0 else None
    if selection is None:
        return Chosen(rng.choice(ties), "", tuple(ties))
    index = select(selection, [(regions[i]["x"], regions[i]["y"]) for i in ties])
    return Chosen(ties[index] if index >= 0 else rng.choice(ties), entry, tuple(ties))


@dataclass(frozen=True)
class Meaning:
    """What a word may mean: how often that would have been right, and how clearly it told things apart
    (metres)."""

    right: float
    clear: float
    selection: Variant
    cases: int


def word_meanings(word: str, skills: Skills, attempts: Attempts) -> list[Meaning]:
    """All selections for a word, judged on the sightings where several things looked alike; the best
    first."""
    cases = ambiguous(word, skills, attempts)
    if not cases:
        return []
    meanings = []
    for selection in SELECTIONS:
        right, clear = 0, 0.0
        for sighting, ties in cases:
            places = [(sighting.regions[i]["x"], sighting.regions[i]["y"]) for i in ties]
            index = select(selection, places)
            right += index >= 0 and ties[index] == sighting.region
            clear += clearness(selection, places)
        meanings.append(Meaning(right / len(cases), clear / len(cases), selection, len(cases)))
    return sorted(meanings, key=lambda m: (-m.right, -m.clear))


def axis_support(selection: Variant, word: str, skills: Skills, attempts: Attempts) -> float:
    """How clearly (metres) the other words for the same nouns are told apart along this selection's axis:
    words that are used for the same things are likely to lie on one axis."""
    nouns = {s.noun for s in attempts.sightings if s.selector == word}
    others = sorted({s.selector for s in attempts.sightings if s.selector and s.noun in nouns} - {word})
    along = 0.0
    for other in others:
        fitting = [
            m.clear
            for m in word_meanings(other, skills, attempts)
            if m.right >= 0.8 and abs(m.selection["axis"][0]) == abs(selection["axis"][0])
        ]
        along += max(fitting, default=0.0)
    return along / len(others) if others else 0.0


def ambiguous(word: str, skills: Skills, attempts: Attempts) -> list[tuple[Sighting, list[int]]]:
    """Sightings with this word where several regions looked like the noun, the right one among them."""
    cases = []
    for sighting in attempts.sightings:
        if sighting.selector != word:
            continue
        found = matches(sighting.noun, skills.nouns, sighting.regions)
        ties = sorted(i for d, i in found if d <= found[0][0] + TIE) if found else []
        if len(ties) > 1 and sighting.region in ties:
            cases.append((sighting, ties))
    return cases


def estimate(space: tuple[Variant, ...], tried: list[Try], rule: Rule | None) -> list[tuple[float, float]]:
    """Beta parameters of each variant's success: what was tried counts by how near it is in context and
    variant."""
    beta = []
    for variant in space:
        a, b = PRIOR
        for weight, other, good in tried:
            share = weight * alike(variant, other)
            a, b = (a + share, b) if good else (a, b + share)
        if rule is not None:
            a += TRUST * alike(variant, rule.variant)
        beta.append((a, b))
    return beta


def _sample(
    space: tuple[Variant, ...], tried: list[Try], rule: Rule | None, naive: Variant, rng: Random
) -> Variant:
    """Thompson sampling; but what is done now comes first where it was not tried yet, as all is measured
    against it."""
    current = rule.variant if rule else naive
    if sum(weight for weight, variant, _ in tried if variant == current) < SEEN:
        return current
    draws = [rng.betavariate(a, b) for a, b in estimate(space, tried, rule)]
    return space[draws.index(max(draws))]


def grasp_tries(target: Vector, attempts: Attempts) -> list[Try]:
    return [(_near(target, g.shape), g.variant, g.good) for g in attempts.grasps]


def _near(a: Vector, b: Vector) -> float:
    return float(2.718281828 ** (-0.5 * (distance(a, b) / SHAPE_LENGTH) ** 2))


def grasp(region: dict[str, Any], skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    measured = shape(region)
    rule = skills.grasp(measured)
    if attempts is None:
        return rule or Rule(NAIVE_GRASP, "")
    space = tuple(v for v in GRASPS if v["style"] != "handle" or region["handle"])
    variant = _sample(space, grasp_tries(measured, attempts), rule, NAIVE_GRASP, rng)
    return rule if rule is not None and rule.variant == variant else Rule(variant, "")


def release_tries(relation: str, noun: str, attempts: Attempts) -> list[Try]:
    """Tries of the same relation count whole for the same noun, by half for others."""
    return [
        (1.0 if r.noun == noun else 0.5, r.variant, r.good)
        for r in attempts.releases
        if r.relation == relation
    ]


def release_space(relation: str, noun: str, attempts: Attempts) -> tuple[Variant, ...]:
    """Over the target; and beside it only on a side to which two critiques have pointed."""
    sides = Counter(
        RELEASES.index(_towards(r.correction))
        for r in attempts.releases
        if (r.relation, r.noun) == (relation, noun) and not r.good and r.correction != (0.0, 0.0)
    )
    return tuple(v for i, v in enumerate(RELEASES) if (v["dx"], v["dy"]) == (0.0, 0.0) or sides[i] >= 2)


def _towards(correction: tuple[float, float]) -> Variant:
    beside = [v for v in RELEASES if (v["dx"], v["dy"]) != (0.0, 0.0)]
    dot: Callable[[Variant], float] = lambda v: v["dx"] * correction[0] + v["dy"] * correction[1]  # noqa: E731
    return max(beside, key=dot)


def release(relation: str, noun: str, skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    rule = skills.release(relation, noun)
    if attempts is None:
        return rule or Rule(NAIVE_RELEASE, "")
    space = release_space(relation, noun, attempts)
    variant = _sample(space, release_tries(relation, noun, attempts), rule, NAIVE_RELEASE, rng)
    return rule if rule is not None and rule.variant == variant else Rule(variant, "")


def order(skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    if attempts is None:
        return skills.order or Rule(NAIVE_ORDER, "")
    tried = [(1.0, {"rule": o.rule}, o.good) for o in attempts.orders]
    variant = _sample(ORDERS, tried, skills.order, NAIVE_ORDER, rng)
    return skills.order if skills.order and skills.order.variant == variant else Rule(variant, "")


def room(skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    """Where a thing goes when its target has received another before."""
    if attempts is None:
        return skills.room or Rule(NAIVE_ROOM, "")
    tried = [(1.0, {"place": r.place}, r.good) for r in attempts.rooms]
    variant = _sample(ROOMS, tried, skills.room, NAIVE_ROOM, rng)
    return skills.room if skills.room and skills.room.variant == variant else Rule(variant, "")
