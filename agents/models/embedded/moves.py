"""Moves that an instruction asks for as a whole: wiping, both arms at one thing, handing over. How one is
chosen, by the memory or from what was tried, with part of the credit for part of the way; candidates for
rules."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from ....ledger.events import Entry, Provenance
from ...grammar import Clause, parse
from ..base import Candidate
from . import twoarm, wipe
from .attempts import Attempts, Moved
from .choose import Try, estimate
from .skills import Rule, Skills
from .variants import Variant, alike

GAIN, SUPPORT = 0.12, 2  # predicted gain that a variant must promise; times that it must have gone well
ELSEWHERE = 0.5  # how much a try with another noun counts
FRESH, NOISE = 0.35, 0.06  # credit expected of what was not tried; of choices


@dataclass(frozen=True)
class Move:
    """text: of the program. lines: from clause, region and variant. credit: of what the Verifier says, how
    much of a success it is worth. words: what an entry says, from noun and variant. thing: whether it is done
    to a region of the look. stays: whether the hands must stay where they end."""

    text: str
    lines: Callable[[int, int, Variant], list[str]]
    space: tuple[Variant, ...]
    naive: Variant
    credit: dict[str, float]
    words: Callable[[str, Variant], str]
    thing: bool = True
    stays: bool = True


MOVES: dict[str, Move] = {
    "wipe": Move(
        wipe.WIPE, wipe.wipe_lines, wipe.WIPES, wipe.NAIVE_WIPE,
        {"nothing was wiped off": 0.0, "a part was wiped off": 0.35, "nearly all was wiped off": 0.7},
        wipe.wipe_words, thing=False, stays=False,
    ),
    "both": Move(
        twoarm.BOTH, twoarm.both_lines, twoarm.BOTHS, twoarm.NAIVE_BOTH,
        {
            "neither hand held it": 0.0, "only one hand held it": 0.3, "it slipped from a hand": 0.5,
            "held by both, not lifted high enough": 0.7,
        },
        twoarm.both_words,
    ),
    "hand over": Move(
        twoarm.HAND_OVER, twoarm.hand_over_lines, twoarm.HANDOVERS, twoarm.NAIVE_HANDOVER,
        {
            "no hand held it": 0.0, "it slipped from the first hand while lifting": 0.1,
            "it slipped from the first hand": 0.2, "the other hand did not get it": 0.35,
            "it slipped from the other hand": 0.5, "both hands have it": 0.6,
            "the other hand has it, but not as it should": 0.7,
        },
        twoarm.hand_over_words,
    ),
}  # fmt: skip


def asked(clause: Clause) -> str:
    """The move that a clause asks for, "" for none."""
    if clause.verb == wipe.VERB:
        return "wipe"
    if twoarm.for_both(clause):
        return "both"
    return "hand over" if twoarm.hands_over(clause) else ""


def choose_move(decision: str, noun: str, skills: Skills, attempts: Attempts | None, rng: Random) -> Rule:
    """How to do it; `attempts` None: by the memory alone."""
    move = MOVES[decision]
    rule = skills.moves.get((decision, noun))
    if attempts is None:
        return rule or Rule(move.naive, "")
    variant = _explore(move, rule, _tries(decision, noun, attempts.moves), rng)
    return rule if rule is not None and rule.variant == variant else Rule(variant, "")


def _explore(move: Move, rule: Rule | None, tried: list[Try], rng: Random) -> Variant:
    """First what is in force; keep what works; else what promises most by its like, what is little known
    counting for more, and never what failed twice."""
    current = rule.variant if rule else move.naive
    if all(variant != current for _, variant, _ in tried):
        return current
    done = [variant for _, variant, credit in tried if credit == 1.0]
    kept = [v for v in [*([current] if rule else []), *done] if _mean(v, tried, 1.0) >= 0.5]
    if kept:
        return max(kept, key=lambda v: (_mean(v, tried, 1.0), -kept.index(v)))
    failed = [v for v in move.space if sum(v == other for _, other, _ in tried) >= 2]

    def worth(variant: Variant) -> float:
        shares = [(weight * alike(variant, other), credit) for weight, other, credit in tried]
        known = sum(share for share, _ in shares)
        mean = (sum(share * credit for share, credit in shares) + 0.5 * FRESH) / (known + 0.5)
        return mean + 0.3 / (1.0 + known) + rng.gauss(0.0, NOISE)

    return max((v for v in move.space if v not in failed), key=worth)


def _mean(variant: Variant, tried: list[Try], prior: float) -> float:
    """Credit of a variant by its own tries, with a prior that counts for half a try."""
    own = [(weight, credit) for weight, other, credit in tried if other == variant]
    return (sum(w * c for w, c in own) + 0.5 * prior) / (sum(w for w, _ in own) + 0.5)


def _tries(decision: str, noun: str, moved: Sequence[Moved]) -> list[Try]:
    return [
        (1.0 if one.noun == noun else ELSEWHERE, one.variant, _credit(one))
        for one in moved
        if one.decision == decision
    ]


def _credit(one: Moved) -> float:
    return 1.0 if one.good else MOVES[one.decision].credit.get(one.kind, 0.0)


def move_candidates(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    """For each move and noun: the variant that went well twice, its like in part, and promises more than what
    is in force."""
    found = []
    for decision, noun in sorted({(one.decision, one.noun) for one in attempts.moves}):
        rule = skills.moves.get((decision, noun))
        current = rule.variant if rule else MOVES[decision].naive
        own = [one for one in attempts.moves if (one.decision, one.noun) == (decision, noun)]
        best = _better(own, current)
        if best is None:
            continue
        good = [one.episode for one in own if one.good and alike(best, one.variant) >= 0.4]
        entry = _entry(decision, noun, best, list(dict.fromkeys(good))[:12])
        tasks = tuple(
            text for text in instructions
            if any((asked(c), c.thing.noun) == (decision, noun) for c in parse(text))
        )  # fmt: skip
        reason = f"did it in {len(good)} tries: {entry.when}"
        found.append(Candidate((entry,), (rule.entry,) if rule else (), decision, reason, tasks))
    return found


def _better(own: list[Moved], current: Variant) -> Variant | None:
    """Of the variants that went well, the one with the most success to be expected; None where too little
    supports it or it promises too little."""
    tried: list[Try] = [(1.0, one.variant, one.good) for one in own]
    done = [one.variant for one in own if one.good]
    options = tuple(v for k, v in enumerate(done) if v not in done[:k])
    if not options:
        return None
    means = [a / (a + b) for a, b in estimate((*options, current), tried, None)]
    best = max(range(len(options)), key=lambda i: (means[i], -i))
    support = sum(alike(options[best], variant) for variant in done)
    enough = support >= SUPPORT and means[best] - means[-1] > GAIN
    return options[best] if enough and options[best] != current else None


def _entry(decision: str, noun: str, variant: Variant, evidence: list[str]) -> Entry:
    return Entry(
        id=re.sub(r"[^a-z0-9/]+", "-", f"{decision}/{noun}".lower()).strip("-"),
        layer="cerebellum",
        kind=decision,
        when=MOVES[decision].words(noun, variant),
        template=MOVES[decision].text.strip(),
        state={"noun": noun, "variant": variant},
        provenance=Provenance(evidence=tuple(evidence)),
    )
