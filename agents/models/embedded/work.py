"""How to work on a part of a thing (open, close, turn, push, pull): by a rule of the memory, while exploring
by what was tried with part of the credit for part of the way, and candidates for rules from that."""

from collections.abc import Sequence
from random import Random
from typing import Any

from ....ledger.events import Entry
from ...grammar import parse
from ..base import Candidate
from .attempts import Worked
from .features import Vector, distance, part_look, spread_out
from .skills import Rule
from .variants import Variant
from .work_entry import work_entry
from .work_program import WORK
from .work_space import alike, families, neighbours, same_family, side_of

__all__ = ["CREDIT", "NAIVE", "WORK", "choose_work", "work_candidates"]

NAIVE: Variant = {"style": "front", "motion": "push", "tilt": 0.0, "length": 0.05, "lateral": 0.0}

# What the Verifier says of a move, from worst to best: how much of a success it is worth.
CREDIT = {
    "nothing was touched": 0.0,
    "another part moved": 0.05,
    "touched, but it did not move": 0.2,
    "moved the wrong way": 0.3,
    "moved partly": 0.45,
    "moved, but not by the fingers": 0.45,
    "moved nearly far enough": 0.7,
    "moved and sprang back": 0.85,
    "": 1.0,
}
WRONG_WAY = "moved the wrong way"

LIKE = 1.5  # parts as far apart as this share what was tried, by half
RADIUS = 2.0  # within which a rule speaks for a part
ELSEWHERE = 0.3  # how much a try with the same verb on another noun counts
PROMISING = 0.4  # credit from which a family is worth steps within it
STALE = 0.12  # promise lost by a try that did not better the best of its family
SETTLED = 0.9  # mean credit from which a variant is kept
FRESH = 0.35  # expected of what was not tried
FAILS = 2  # in a row, after which an instruction is no longer tried in the way that works elsewhere
GAIN, SUPPORT = 0.12, 2
NOISE = 0.06  # of choices, so that episodes of one batch do not all try the same


def choose_work(
    verb: str,
    noun: str,
    part: dict[str, Any],
    rules: Sequence[Entry],
    tried: Sequence[Worked] | None,
    rng: Random,
    instruction: str = "",
) -> Rule:
    """How to work on a part; `tried` None: by the memory alone. instruction: of the episode."""
    rule = rule_for(verb, noun, part, rules)
    if tried is None:
        return rule or Rule(NAIVE, "")
    seen = _seen(verb, noun, part_look(part), tried)
    variant = _explore(part, rule, seen, rng, instruction)
    return rule if rule is not None and rule.variant == variant else Rule(variant, "")


def rule_for(verb: str, noun: str, part: dict[str, Any], rules: Sequence[Entry]) -> Rule | None:
    """The rule for this verb and noun whose exemplars are nearest, if they are near enough."""
    look = part_look(part)
    best: tuple[float, Rule] | None = None
    for entry in rules:
        state = entry.state
        if (state["verb"], state["noun"]) != (verb, noun):
            continue
        near = min(distance(look, tuple(e)) for e in state["exemplars"])
        if near <= state["radius"] and (best is None or near < best[0]):
            best = (near, Rule(state["variant"], entry.id))
    return best[1] if best else None


Seen = list[tuple[float, Worked]]  # how much a try counts here


def _seen(verb: str, noun: str, look: Vector, tried: Sequence[Worked]) -> Seen:
    """What was tried with the verb: whole for the same noun and a like part, less for others."""
    seen = []
    for one in tried:
        if one.verb == verb and (weight := 0.5 ** (distance(look, part_look(one.part)) / LIKE)) > 0.02:
            seen.append((weight * (1.0 if one.noun == noun else ELSEWHERE), one))
    return seen


def credit(one: Worked) -> float:
    return 1.0 if one.good else min(CREDIT.get(one.kind, 0.0), 0.9)


def expected(variant: Variant, seen: Seen, prior: float = FRESH) -> tuple[float, float]:
    """Credit that a variant promises, and how many tries that stands on."""
    total, worth = 0.0, 0.0
    for weight, one in seen:
        share = weight * alike(variant, one.variant)
        total += share
        worth += share * credit(one)
    return (worth + 0.5 * prior) / (total + 0.5), total


def _explore(part: dict[str, Any], rule: Rule | None, seen: Seen, rng: Random, instruction: str) -> Variant:
    """Keep what works, but not where the same instruction has failed with it again and again; else the next
    family, or a step within one that moved it, whichever promises more."""
    here = [(weight, one) for weight, one in seen if weight > 0.25]
    own = [one for _, one in here]
    known: list[Variant] = [rule.variant] if rule else []
    known += [one.variant for one in own if credit(one) >= SETTLED]
    mine = [one for one in own if one.instruction == instruction]
    kept = [v for v in known if _mean(v, here, 1.0) >= 0.5 and not _failing(v, mine)]
    if kept:
        return max(kept, key=lambda v: (_mean(v, here, 1.0), -known.index(v)))
    options: list[tuple[float, Variant]] = []
    for family in families(part):
        tries = [one for one in own if same_family(one.variant, family)]
        worth = _worth(tries) if tries else _promise(family, own, seen)
        options.append((worth + rng.gauss(0.0, NOISE), family))
    if not options:
        return NAIVE
    chosen = max(options, key=lambda option: option[0])[1]
    tries = [one for one in own if same_family(one.variant, chosen)]
    return _step(max(tries, key=credit), here, rng) if tries else chosen


def _failing(variant: Variant, tries: list[Worked]) -> bool:
    """Whether a variant failed the last times: what works on a part elsewhere may not reach it here."""
    last = [one.good for one in tries if one.variant == variant][-FAILS:]
    return len(last) == FAILS and not any(last)


def _mean(variant: Variant, here: Seen, prior: float) -> float:
    exact = [(w, credit(one)) for w, one in here if one.variant == variant]
    total = sum(w for w, _ in exact)
    return (sum(w * c for w, c in exact) + 0.5 * prior) / (total + 0.5)


def _worth(tries: list[Worked]) -> float:
    """What another step in a family promises: its best credit, less for each try since that did not better
    it. What did not move at all is not worth a step before every family was tried."""
    credits = [credit(one) for one in tries]
    best = max(credits)
    stale = len(credits) - 1 - credits.index(best)
    return best - STALE * stale if best >= PROMISING else 0.5 * best - STALE * len(tries)


def _promise(family: Variant, own: list[Worked], seen: Seen) -> float:
    """What a family promises: by what its like did with this verb. What moved it says that motions to the
    same side are right, what went the wrong way that those to the other side are."""
    value = expected(family, seen)[0]
    for one in own:
        alike_style = 1.0 if one.variant["style"][:6] == family["style"][:6] else 0.6
        same = side_of(one.variant["motion"]) == side_of(family["motion"])
        if one.kind == WRONG_WAY:
            value += (-0.2 if same else 0.2) * alike_style
        elif credit(one) >= PROMISING and same:
            value = max(value, FRESH + 0.3 * credit(one) * alike_style)
    return value


def _step(one: Worked, here: Seen, rng: Random) -> Variant:
    """The variant of the same family that promises most, what is little known counting for more; never
    one that failed as it is twice."""
    inside = [(w, o) for w, o in here if same_family(o.variant, one.variant)]
    tired = [
        v for v in (o.variant for _, o in inside)
        if sum(1 for _, o in inside if o.variant == v) >= 2 and _mean(v, inside, 0.0) < SETTLED
    ]  # fmt: skip

    def worth(variant: Variant) -> float:
        mean, known = expected(variant, inside)
        return mean + 0.3 / (1.0 + known) + rng.gauss(0.0, NOISE)

    options = [v for v in neighbours(one.variant) if v not in tired]
    return max(options, key=worth)


def work_candidates(
    tried: Sequence[Worked], rules: Sequence[Entry], instructions: list[str]
) -> list[Candidate]:
    """For each verb, noun and kind of part: the variant that did it twice or more and promises more than the
    rule in force; the most promising first."""
    found: list[tuple[float, Candidate]] = []
    for (verb, noun), group in sorted(_by_words(tried).items()):
        for cluster in _clusters(group):
            looks = [part_look(one.part) for one in cluster]
            centre = min(looks, key=lambda p: sum(distance(p, q) for q in looks))
            seen = [(w, one) for w, one in _seen(verb, noun, centre, group) if w > 0.25]
            current = rule_for(verb, noun, cluster[looks.index(centre)].part, rules)
            gain, variant = _better(cluster, seen, current.variant if current else NAIVE)
            if variant is None:
                continue
            good = [one for one in cluster if one.good and alike(variant, one.variant) >= 0.5]
            exemplars = spread_out([part_look(one.part) for one in good], 8)
            entry = work_entry(
                verb, noun, variant, exemplars, RADIUS, good[0].part,
                list(dict.fromkeys(one.episode for one in good))[:12],
            )  # fmt: skip
            replaced = tuple(e.id for e in rules if current and e.id == current.entry == entry.id)
            reason = f"did it in {len(good)} tries: {entry.when}"
            tasks = _asking(verb, noun, instructions)
            found.append((gain, Candidate((entry,), replaced, "work", reason, tasks)))
    return [candidate for _, candidate in sorted(found, key=lambda item: -item[0])]


def _better(cluster: list[Worked], seen: Seen, current: Variant) -> tuple[float, Variant | None]:
    """How much the best of what succeeded promises over the current variant, and which it is."""
    done = [one.variant for one in cluster if one.good]
    options = [v for k, v in enumerate(done) if v not in done[:k]]
    best = max(options, key=lambda v: _success(v, seen), default=None)
    if best is None or sum(alike(best, v) >= 0.5 for v in done) < SUPPORT:
        return 0.0, None
    gain = _success(best, seen) - _success(current, seen)
    return (gain, best) if gain > GAIN and best != current else (gain, None)


def _success(variant: Variant, seen: Seen) -> float:
    """Share of successes that tries of a variant and its like promise."""
    near = [(w * alike(variant, one.variant), one.good) for w, one in seen]
    near = [(share, good) for share, good in near if share > 0.3]
    return (0.2 + sum(share for share, good in near if good)) / (1.0 + sum(share for share, _ in near))


def _by_words(tried: Sequence[Worked]) -> dict[tuple[str, str], list[Worked]]:
    groups: dict[tuple[str, str], list[Worked]] = {}
    for one in tried:
        groups.setdefault((one.verb, one.noun), []).append(one)
    return groups


def _clusters(group: list[Worked]) -> list[list[Worked]]:
    """Single pass: a try joins the first cluster whose first part is alike."""
    clusters: list[list[Worked]] = []
    for one in group:
        for cluster in clusters:
            if distance(part_look(cluster[0].part), part_look(one.part)) <= RADIUS:
                cluster.append(one)
                break
        else:
            clusters.append([one])
    return clusters


def _asking(verb: str, noun: str, instructions: list[str]) -> tuple[str, ...]:
    return tuple(
        text for text in instructions if any((c.verb, c.thing.noun) == (verb, noun) for c in parse(text))
    )
