"""How decisions are taken: by a rule of the memory, in training also by what was tried before, else
naively."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .attempts import Attempts
from .features import Vector, distance, shape
from .over import OVERS
from .skills import Rule, Skills
from .variants import (
    GRASPS,
    NAIVE_GRASP,
    NAIVE_RELEASE,
    RELEASES,
    RULES,
    Variant,
    alike,
)

NOT_BESIDE = "not beside it"  # what the Verifier says of what should be next to a thing and is not
SHAPE_LENGTH = 0.03  # metres within which what worked for one shape speaks for another
PRIOR = (0.6, 0.6)
TRUST = 4.0  # how many successes a rule of the committed memory is worth while exploring
SEEN = 0.7  # tries that make a variant known in a context

Try = tuple[float, Variant, float]  # how much it counts, what was tried, how much of a success it was


def estimate(
    space: tuple[Variant, ...], tried: Sequence[Try], rule: Rule | None
) -> list[tuple[float, float]]:
    """Beta parameters of each variant's success: what was tried counts by how near it is in context and
    variant."""
    beta = []
    for variant in space:
        a, b = PRIOR
        for weight, other, good in tried:
            share = weight * alike(variant, other)
            a, b = a + share * good, b + share * (1 - good)
        if rule is not None:
            a += TRUST * alike(variant, rule.variant)
        beta.append((a, b))
    return beta


def _sample(
    space: tuple[Variant, ...], tried: Sequence[Try], rule: Rule | None, naive: Variant, rng: Random
) -> Variant:
    """Thompson sampling; but what is done now comes first where it was not tried yet, as all is measured
    against it."""
    current = rule.variant if rule else naive
    if sum(weight for weight, variant, _ in tried if variant == current) < SEEN:
        return current
    draws = [rng.betavariate(a, b) for a, b in estimate(space, tried, rule)]
    return space[draws.index(max(draws))]


def grasp_tries(target: Vector, attempts: Attempts) -> list[Try]:
    """What was tried on things of a like shape; what is too far off to speak for it is left out."""
    near = ((_near(target, g.shape), g) for g in attempts.grasps)
    return [(weight, g.variant, g.good) for weight, g in near if weight > 0.01]


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


def release_hints(relation: str, noun: str, attempts: Attempts) -> list[Try]:
    """What wide misses say of releases that were not tried: all others to the same place would miss as well,
    and one on the side to which the critique points might not."""
    hints: list[Try] = []
    for r in attempts.releases:
        if r.relation != relation or not r.wide or r.correction == (0.0, 0.0):
            continue
        weight = 1.0 if r.noun == noun else 0.5
        same = [v for v in RELEASES if (v["dx"], v["dy"]) == (r.variant["dx"], r.variant["dy"])]
        hints += [(0.3 * weight, v, 0.0) for v in same]
        if (r.variant["dx"], r.variant["dy"]) == (0.0, 0.0):
            hints.append((weight, _towards(r.correction), 1.0))
    return hints


def release_space(relation: str, noun: str, attempts: Attempts) -> tuple[Variant, ...]:
    """On the target; beside it only on a side to which two critiques have pointed, or on all where two said
    that it is not beside it; down over it where two releases on a target that is narrow for the thing went
    wrong."""
    sides = Counter(
        RELEASES.index(_towards(r.correction))
        for r in attempts.releases
        if (r.relation, r.noun) == (relation, noun) and not r.good and r.correction != (0.0, 0.0)
    )
    own = [r for r in attempts.releases if (r.relation, r.noun) == (relation, noun) and not r.good]
    missed = sum(r.narrow for r in own)
    aside = sum(r.kind == NOT_BESIDE for r in own)
    near = tuple(
        v for i, v in enumerate(RELEASES) if (v["dx"], v["dy"]) == (0.0, 0.0) or sides[i] >= 2 or aside >= 2
    )
    return near + OVERS if missed >= 2 else near


def _towards(correction: tuple[float, float]) -> Variant:
    beside = [v for v in RELEASES if (v["dx"], v["dy"]) != (0.0, 0.0)]
    dot: Callable[[Variant], float] = lambda v: v["dx"] * correction[0] + v["dy"] * correction[1]  # noqa: E731
    return max(beside, key=dot)


def release(relation: str, noun: str, skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    rule = skills.release(relation, noun)
    if attempts is None:
        return rule or Rule(NAIVE_RELEASE, "")
    space = release_space(relation, noun, attempts)
    tries = release_tries(relation, noun, attempts) + release_hints(relation, noun, attempts)
    variant = _sample(space, tries, rule, NAIVE_RELEASE, rng)
    return rule if rule is not None and rule.variant == variant else Rule(variant, "")


def ruled(decision: str, skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    """A decision of the Brain for the whole episode: "order", "room" or "retry"."""
    space = RULES[decision]
    rule = skills.rules.get(decision)
    if attempts is None:
        return rule or Rule(space[0], "")
    tried = [(1.0, one.variant, one.good) for one in attempts.rules[decision]]
    variant = _sample(space, tried, rule, space[0], rng)
    return rule if rule is not None and rule.variant == variant else Rule(variant, "")
