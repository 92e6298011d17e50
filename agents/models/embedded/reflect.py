"""Candidates from evidence, at the end of a round: only what several attempts support and the memory does
not have."""

import json
from collections.abc import Sequence

from ....ledger import events as ev
from ...grammar import parse
from ..base import Candidate, EpisodeView
from .attempts import Attempts
from .choose import SEEN, Try, estimate, grasp_tries, release_space, release_tries
from .features import Vector, distance, shape, spread_out
from .moves import move_candidates
from .reflect_names import nouns, parts, unique, words
from .skills import Skills, grasp_entry, release_entry, rule_entry
from .variants import GRASPS, NAIVE_GRASP, NAIVE_RELEASE, RULES, Variant, alike
from .work import work_candidates

GAIN = 0.2  # predicted gain that a variant must promise: less is seldom seen in 25 pairs
SUPPORT = 1.5  # successful tries of a variant, those of its like in part
CLUSTER = 0.03  # metres: shapes nearer than this are treated alike
RADIUS = 0.035
NAMES = ("nouns", "parts")
ONE_BY_ONE = ("grasps", "work")  # stages in which what is accepted changes what else is worth a trial


def candidates(
    stage: str,
    round: str,
    skills: Skills,
    attempts: Attempts,
    evidence: Sequence[EpisodeView],
    tried: list[ev.CandidateProposed],
) -> list[Candidate]:
    """What a stage of a round proposes. tried: what this stage has proposed before; after a first bundle of
    names, those of one instruction at a time."""
    singly = any(len(t.entries) > 1 for t in tried)
    made = _made(stage, skills, attempts, evidence, singly)
    if stage not in ONE_BY_ONE:
        before = {content(t.entries) for t in tried}
        fresh = [candidate for candidate in made if content(candidate.entries) not in before]
        return fresh[:1] if stage in NAMES and singly else fresh
    own = [e for t in tried for e in t.entries if e.provenance.round == round]
    fresh = [c for c in made if not any(_like(entry, old) for entry in c.entries for old in own)]
    return fresh[:1]


def _made(
    stage: str, skills: Skills, attempts: Attempts, evidence: Sequence[EpisodeView], singly: bool
) -> list[Candidate]:
    instructions = list(dict.fromkeys(e.started.task.instruction for e in evidence))
    if stage == "nouns":
        return nouns(skills, attempts, instructions, singly)
    if stage == "parts":
        return parts(skills, attempts, instructions, singly)
    if stage == "grasps":
        return grasps(skills, attempts)
    if stage == "releases":
        return releases(skills, attempts, instructions)
    if stage == "work":
        made = work_candidates(attempts.works, skills.works, instructions)
        return made + move_candidates(skills, attempts, instructions)
    if stage == "words":
        return words(skills, attempts, instructions)
    return ruled(stage, skills, attempts)


def _like(entry: ev.Entry, old: ev.Entry) -> bool:
    """Whether a skill says what another one said before, for much the same things."""
    if entry.kind != old.kind or "exemplars" not in entry.state:
        return bool((entry.kind, entry.state) == (old.kind, old.state))
    apart = min(
        distance(tuple(a), tuple(b)) for a in entry.state["exemplars"] for b in old.state["exemplars"]
    )
    return bool(old.state["variant"] == entry.state["variant"] and apart <= old.state["radius"])


def content(entries: tuple[ev.Entry, ...]) -> str:
    """What entries say, apart from where it comes from."""
    return json.dumps([[e.id, e.state] for e in entries], sort_keys=True)


def grasps(skills: Skills, attempts: Attempts) -> list[Candidate]:
    """Clusters of shapes for which a variant promises more than the rule in force; clusters that agree
    share an entry. One at a time, the most promising first: once it is in memory, it may serve others."""
    wanted: dict[int, list[Vector]] = {}
    promise: dict[int, float] = {}
    for cluster in _clusters([g.shape for g in attempts.grasps]):
        centre = min(cluster, key=lambda p: sum(distance(p, q) for q in cluster))
        tried = grasp_tries(centre, attempts)
        rule = skills.grasp(centre)
        best, gain = _better(GRASPS, tried, rule.variant if rule else NAIVE_GRASP)
        if best is not None:
            index = GRASPS.index(best)
            wanted.setdefault(index, []).extend(cluster)
            promise[index] = promise.get(index, 0.0) + gain * len(cluster)
    found = []
    for index in sorted(wanted, key=lambda i: (-promise[i], i)):
        variant, exemplars = GRASPS[index], spread_out(wanted[index], 8)
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
        entry = grasp_entry(name, variant, exemplars, RADIUS, unique(evidence))
        reason = f"held more often than the rule in force: {entry.when}"
        tasks = _grasping(exemplars, attempts)
        if not tasks:
            continue  # only what nobody asked for has such a shape
        found.append(Candidate((entry,), (), "grasp", reason, tasks))
    return found


def _within(measured: Vector, exemplars: list[Vector]) -> bool:
    return min(distance(measured, e) for e in exemplars) <= RADIUS


def _grasping(exemplars: list[Vector], attempts: Attempts) -> tuple[str, ...]:
    """Instructions whose thing has such a shape and is grasped: only their programs change."""
    grasped = {g.episode for g in attempts.grasps}
    meant = [s for s in attempts.sightings if s.decision == "which" and s.episode in grasped]
    return tuple(dict.fromkeys(s.instruction for s in meant if _within(shape(s.things[s.index]), exemplars)))


def releases(skills: Skills, attempts: Attempts, instructions: list[str]) -> list[Candidate]:
    found = []
    for relation, noun in sorted({(r.relation, r.noun) for r in attempts.releases}):
        tried = release_tries(relation, noun, attempts)
        rule = skills.release(relation, noun)
        best, _ = _better(
            release_space(relation, noun, attempts), tried, rule.variant if rule else NAIVE_RELEASE
        )
        if best is None:
            continue
        evidence = [r.episode for r in attempts.releases if (r.relation, r.noun) == (relation, noun)]
        entry = release_entry(relation, noun, best, unique(evidence))
        replaced = (rule.entry,) if rule else ()
        tasks = tuple(
            text for text in instructions
            if any(c.target and (c.relation, c.target.noun) == (relation, noun) for c in parse(text))
        )  # fmt: skip
        reason = f"ended where it should more often: {entry.when}"
        found.append(Candidate((entry,), replaced, "release", reason, tasks))
    return found


def ruled(decision: str, skills: Skills, attempts: Attempts) -> list[Candidate]:
    """A rule for a decision that is one for the whole episode: order, room, retry."""
    tried = attempts.rules[decision]
    rule = skills.rules.get(decision)
    current = rule.variant if rule else RULES[decision][0]
    best, _ = _better(RULES[decision], [(1.0, one.variant, one.good) for one in tried], current)
    if best is None:
        return []
    entry = rule_entry(decision, best, unique([one.episode for one in tried if one.variant == best]))
    tasks = tuple(dict.fromkeys(one.instruction for one in tried))
    reason = f"went well more often than what is in force ({', '.join(map(str, current.values()))})"
    return [Candidate((entry,), (rule.entry,) if rule else (), decision, reason, tasks)]


def _better(space: tuple[Variant, ...], tried: list[Try], current: Variant) -> tuple[Variant | None, float]:
    """The variant with the best predicted success, if enough tries of it and its like support it and it
    promises enough over the current one; and how much it promises."""
    means = [a / (a + b) for a, b in estimate(space, tried, None)]
    exact = [one for one in tried if one[1] == current]
    if sum(weight for weight, _, _ in exact) >= SEEN:
        # what was measured of it counts, not what its like suggest
        tried_itself = estimate((current,), exact, None)[0]
        own = tried_itself[0] / sum(tried_itself)
    else:
        own = estimate((current,), tried, None)[0][0] / sum(estimate((current,), tried, None)[0])
    for i in sorted(range(len(space)), key=lambda i: -means[i]):
        if means[i] - own <= GAIN:
            break
        support = sum(weight * alike(space[i], variant) for weight, variant, good in tried if good)
        if support >= SUPPORT:
            return space[i], means[i] - own
    return None, 0.0


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
