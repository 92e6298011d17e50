"""The embedded model: look first, then one program that does what the instruction says, with choices from memory."""

import json
from random import Random
from typing import Any

from ....ledger import events as ev
from ...grammar import Clause, parse
from ..base import Candidate, EpisodeView, Proposal
from . import attempts, choose, reflect
from .programs import LOOK, PICK, PUT
from .skills import Skills

LOOK_HEIGHT = 0.5  # metres between the wrist camera and the table
LOOK_COLUMNS = 2


class EmbeddedModel:
    """A Proposer that needs no key, no network and no GPU. `seed` makes its random choices repeatable."""

    name = "embedded"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def propose(
        self, episode: EpisodeView, memory: tuple[ev.Entry, ...], evidence: list[EpisodeView]
    ) -> Proposal:
        regions = episode.value("regions")
        if regions is None:
            return Proposal(
                f"HEIGHT = {LOOK_HEIGHT}\nCOLUMNS = {LOOK_COLUMNS}\n{LOOK}", last=bool(episode.turns)
            )
        explore = episode.started.memory.explore
        tried = attempts.read(evidence) if explore else None
        rng = Random(f"{self._seed}/{episode.id}")
        return compose(episode.started, regions, Skills(memory), tried, rng)

    def reflect(
        self,
        request: ev.CandidatesRequested,
        memory: tuple[ev.Entry, ...],
        evidence: list[EpisodeView],
        tried: list[ev.CandidateProposed],
    ) -> list[Candidate]:
        skills, seen = Skills(memory), attempts.read(evidence)
        instructions = list(dict.fromkeys(e.started.task.instruction for e in evidence))
        made = {
            "nouns": lambda: reflect.nouns(
                skills, seen, instructions, singly=any(len(t.entries) > 1 for t in tried)
            ),
            "grasps": lambda: reflect.grasps(skills, seen, instructions),
            "releases": lambda: reflect.releases(skills, seen, instructions),
            "words": lambda: reflect.words(skills, seen, instructions),
            "order": lambda: reflect.orders(skills, seen, instructions),
        }[request.stage]()
        before = {_content(t.entries) for t in tried}
        return [candidate for candidate in made if _content(candidate.entries) not in before]


def _content(entries: tuple[ev.Entry, ...]) -> str:
    return json.dumps([[e.id, e.state] for e in entries], sort_keys=True)


def compose(
    started: ev.EpisodeStarted,
    regions: list[dict[str, Any]],
    skills: Skills,
    tried: attempts.Attempts | None,
    rng: Random,
) -> Proposal:
    """The acting program, and the choices that it stands for."""
    clauses = parse(started.task.instruction)
    choices: list[dict[str, Any]] = []
    todo = list(range(len(clauses)))
    if len(clauses) > 1:
        explore_order = started.memory.explore and started.round.startswith("B")
        order = choose.order(skills, tried, explore_order, rng)
        todo = {"first": todo[:1], "as said": todo, "reversed": todo[::-1]}[order.variant["rule"]]
        choices.append({"clause": 0, "decision": "order", "variant": order.variant, "entry": order.entry})
    lines, taken = [PICK, PUT], set[int]()
    for number in todo:
        lines += _clause(number, clauses[number], regions, skills, tried, rng, choices, taken)
    lines.append("go_home()")
    return Proposal("\n".join(lines), last=True, choices=tuple(choices))


def _clause(
    number: int,
    clause: Clause,
    regions: list[dict[str, Any]],
    skills: Skills,
    tried: attempts.Attempts | None,
    rng: Random,
    choices: list[dict[str, Any]],
    taken: set[int],
) -> list[str]:
    """Lines for one clause; nothing where what it names cannot be told apart from nothing."""
    thing = choose.which(clause.thing, regions, taken, skills, tried, rng)
    choices.append(_naming(number, "which", clause.thing, thing))
    if thing.region < 0:
        return [f"# {clause.text()}: there is nothing left to take"]
    grasp = choose.grasp(regions[thing.region], skills, tried, rng)
    choices.append(
        {
            "clause": number,
            "decision": "grasp",
            "region": thing.region,
            "variant": grasp.variant,
            "entry": grasp.entry,
        }
    )
    g = grasp.variant
    lines = [
        f"# {clause.text()}",
        f"held{number}, plan{number} = pick(regions[{thing.region}], shapes[{thing.region}], style={g['style']!r}, "
        f"depth={g['depth']}, near={g['near']})",
    ]
    taken.add(thing.region)
    if clause.target is None:
        return lines
    target = choose.which(clause.target, regions, taken, skills, tried, rng)
    choices.append(_naming(number, "target", clause.target, target))
    if target.region < 0:
        return lines
    release = choose.release(clause.relation, clause.target.noun, skills, tried, rng)
    choices.append(
        {"clause": number, "decision": "release", "relation": clause.relation, "noun": clause.target.noun,
         "region": target.region, "variant": release.variant, "entry": release.entry}
    )  # fmt: skip
    r = release.variant
    lines.append(
        f"put(homes[{target.region}], regions[{target.region}], shapes[{target.region}], held{number}, plan{number}, "
        f"clearance={r['clearance']}, reference={r['reference']!r}, carry={r['carry']}, dx={r['dx']}, dy={r['dy']})"
    )
    return lines


def _naming(number: int, decision: str, phrase: Any, chosen: choose.Chosen) -> dict[str, Any]:
    return {
        "clause": number, "decision": decision, "noun": phrase.noun, "selector": phrase.selector,
        "region": chosen.region, "entry": chosen.entry,
    }  # fmt: skip
