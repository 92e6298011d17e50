"""Candidates from evidence, at the end of a round: only what several attempts support and the memory does
not have."""

from typing import Any

from ....ledger import events as ev
from ...grammar import parse
from ..base import Candidate
from .attempts import Attempts
from .choose import (
    PROTOTYPES,
    SEEN,
    Try,
    ambiguous,
    axis_support,
    estimate,
    grasp_tries,
    matches,
    release_space,
    release_tries,
    word_meanings,
)
from .features import Vector, distance, shape, spread_out
from .skills import Skills, appearance_entry, grasp_entry, order_entry, release_entry, room_entry, word_entry
from .variants import (
    GRASPS,
    NAIVE_GRASP,
    NAIVE_RELEASE,
    NAIVE_ROOM,
    ORDERS,
    ROOMS,
    Variant,
    alike,
)

GAIN = 0.12  # predicted gain that a variant must promise
SUPPORT = 1.5  # successful tries of a variant, those of its like in part
CLUSTER = 0.03  # metres: shapes nearer than this are treated alike
RADIUS = 0.035


def nouns(skills: Skills, attempts: Attempts, instructions: list[str], singly: bool) -> list[Candidate]:
    """Nouns that were pointed at twice or more and are unknown, or known and still confused."""
    entries: list[ev.Entry] = []
    replaces: list[str] = []
    by_noun: dict[str, list[Any]] = {}
    for sighting in attempts.sightings:
        by_noun.setdefault(sighting.noun, []).append(sighting)
    for noun, sightings in sorted(by_noun.items()):
        known = skills.nouns.get(noun)
        missed = [s for s in sightings if known and not _found(noun, skills, s)]
        if len(sightings) < 2 or (known and len(missed) < 2):
            continue
        looks = ([*known[1]] if known else []) + [s.look for s in (missed if known else sightings)]
        entry = appearance_entry(noun, spread_out(looks, PROTOTYPES), _episodes(missed or sightings))
        entries.append(entry)
        replaces += [known[0]] if known else []
    groups = [[entry] for entry in entries] if singly else [entries] if entries else []
    return [
        Candidate(
            entries=tuple(group),
            replaces=tuple(r for r in replaces if r in {e.id for e in group}),
            decision="which",
            reason="the Verifier pointed at " + ", ".join(f'"{e.state["noun"]}"' for e in group),
            tasks=_naming({e.state["noun"] for e in group}, instructions),
        )
        for group in groups
    ]


def _found(noun: str, skills: Skills, sighting: Any) -> bool:
    found = matches(noun, skills.nouns, sighting.regions)
    return bool(found) and sighting.region in [i for _, i in found[:3]]


def grasps(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    """Clusters of shapes for which a variant promises more than the rule in force; clusters that agree
    share an entry."""
    wanted: dict[int, list[Vector]] = {}
    for cluster in _clusters([g.shape for g in attempts.grasps]):
        centre = min(cluster, key=lambda p: sum(distance(p, q) for q in cluster))
        tried = grasp_tries(centre, attempts)
        rule = skills.grasp(centre)
        best = _better(GRASPS, tried, rule.variant if rule else NAIVE_GRASP)
        if best is not None:
            wanted.setdefault(GRASPS.index(best), []).extend(cluster)
    candidates = []
    for index, shapes in sorted(wanted.items()):
        variant = GRASPS[index]
        exemplars = spread_out(shapes, 8)
        evidence = [
            g.episode
            for g in attempts.grasps
            if g.good and alike(variant, g.variant) >= 0.4 and _within(g.shape, exemplars)
        ]
        if not evidence:
            continue  # it was only inferred from its like
        name = (
            f"{variant['style']} {variant['depth'] * 1000:.0f}mm {'near ' if variant['near'] else ''}"
            + "-".join(f"{value * 100:.0f}" for value in exemplars[0][:3])
        )
        entry = grasp_entry(name, variant, exemplars, RADIUS, _unique(evidence))
        candidates.append(
            Candidate(
                (entry,),
                (),
                "grasp",
                f"held more often than the rule in force: {entry.when}",
                _grasping(exemplars, attempts) or tuple(instructions),
            )
        )
    return candidates


def _within(measured: Vector, exemplars: list[Vector]) -> bool:
    return min(distance(measured, e) for e in exemplars) <= RADIUS


def _grasping(exemplars: list[Vector], attempts: Attempts) -> tuple[str, ...]:
    """Instructions whose thing has such a shape: only their programs change."""
    meant = [s for s in attempts.sightings if s.decision == "which"]
    return tuple(
        dict.fromkeys(s.instruction for s in meant if _within(shape(s.regions[s.region]), exemplars))
    )


def releases(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    candidates = []
    for relation, noun in sorted({(r.relation, r.noun) for r in attempts.releases}):
        tried = release_tries(relation, noun, attempts)
        rule = skills.release(relation, noun)
        best = _better(
            release_space(relation, noun, attempts), tried, rule.variant if rule else NAIVE_RELEASE
        )
        if best is None:
            continue
        evidence = [r.episode for r in attempts.releases if (r.relation, r.noun) == (relation, noun)]
        entry = release_entry(relation, noun, best, _unique(evidence))
        replaced = (rule.entry,) if rule else ()
        tasks = tuple(
            text for text in instructions
            if any(c.target and (c.relation, c.target.noun) == (relation, noun) for c in parse(text))
        )  # fmt: skip
        candidates.append(
            Candidate((entry,), replaced, "release", f"ended where it should more often: {entry.when}", tasks)
        )
    return candidates


def words(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    """Words with three ambiguous cases or more, right in 80%, and clearly better than every rival meaning:
    more often right, or telling things apart along a longer distance."""
    candidates = []
    for word in sorted({s.selector for s in attempts.sightings if s.selector} - set(skills.words)):
        meanings = word_meanings(word, skills, attempts)
        if not meanings or meanings[0].cases < 3 or meanings[0].right < 0.8:
            continue
        fitting = [m for m in meanings if m.right > meanings[0].right - 0.1]
        clear = [m.clear + axis_support(m.selection, word, skills, attempts) for m in fitting]
        best = fitting[clear.index(max(clear))]
        if len(fitting) > 1 and max(clear) < 1.2 * sorted(clear)[-2]:
            continue
        evidence = _unique([s.episode for s, _ in ambiguous(word, skills, attempts)])
        tasks = tuple(
            text for text in instructions
            if any(word in (c.thing.selector, c.target.selector if c.target else "") for c in parse(text))
        )  # fmt: skip
        reason = (
            f"right in {best.right:.0%} of {best.cases} cases where several looked alike, "
            f"{best.clear * 100:.0f} cm apart"
            + (f"; clearer than {len(fitting) - 1} rival meanings" if len(fitting) > 1 else "")
        )
        entry = word_entry(word, best.selection, evidence)
        candidates.append(Candidate((entry,), (), "which", reason, tasks))
    return candidates


def orders(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    joined = tuple(text for text in instructions if len(parse(text)) > 1)
    tried = [(1.0, {"rule": o.rule}, o.good) for o in attempts.orders]
    current = skills.order.variant if skills.order else ORDERS[0]
    best = _better(ORDERS, tried, current)
    if best is None or not joined:
        return []
    entry = order_entry(best["rule"], _unique([o.episode for o in attempts.orders if o.rule == best["rule"]]))
    replaced = (skills.order.entry,) if skills.order else ()
    reason = f"parts of the instruction were left undone by the rule in force ({current['rule']})"
    return [Candidate((entry,), replaced, "order", reason, joined)]


def rooms(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    tried = [(1.0, {"place": r.place}, r.good) for r in attempts.rooms]
    current = skills.room.variant if skills.room else NAIVE_ROOM
    best = _better(ROOMS, tried, current)
    if best is None:
        return []
    tasks = tuple(dict.fromkeys(r.instruction for r in attempts.rooms))
    entry = room_entry(
        best["place"], _unique([r.episode for r in attempts.rooms if r.place == best["place"]])
    )
    reason = "the second thing for the same target did not stay where it should"
    return [Candidate((entry,), (skills.room.entry,) if skills.room else (), "room", reason, tasks)]


def _better(space: tuple[Variant, ...], tried: list[Try], current: Variant) -> Variant | None:
    """The variant with the best predicted success, if enough tries of it and its like support it, and it
    promises enough over the current one."""
    means = [a / (a + b) for a, b in estimate(space, tried, None)]
    exact = [one for one in tried if one[1] == current]
    if (
        sum(weight for weight, _, _ in exact) >= SEEN
    ):  # what was measured of it counts, not what its like suggest
        tried_itself = estimate((current,), exact, None)[0]
        own = tried_itself[0] / sum(tried_itself)
    else:
        own = means[space.index(current)]
    for i in sorted(range(len(space)), key=lambda i: -means[i]):
        if means[i] - own <= GAIN:
            return None
        support = sum(weight * alike(space[i], variant) for weight, variant, good in tried if good)
        if support >= SUPPORT:
            return space[i]
    return None


def _clusters(points: list[Vector]) -> list[list[Vector]]:
    """Single pass: a point joins the first cluster whose first member is near."""
    clusters: list[list[Vector]] = []
    for point in points:
        for cluster in clusters:
            if distance(cluster[0], point) <= CLUSTER:
                cluster.append(point)
                break
        else:
            clusters.append([point])
    return clusters


def _naming(names: set[str], instructions: list[str]) -> tuple[str, ...]:
    return tuple(
        text for text in instructions
        if any(c.thing.noun in names or (c.target and c.target.noun in names) for c in parse(text))
    )  # fmt: skip


def _episodes(sightings: list[Any]) -> list[str]:
    return _unique([s.episode for s in sightings])


def _unique(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(ids))[:12]
