"""The embedded model: look first, then one program that does what the instruction says, with choices from
memory."""

import json
from random import Random
from typing import Any

from ....ledger import events as ev
from ...grammar import Clause, Phrase, parse
from ...rounds import layer_of
from ..base import Candidate, EpisodeView, Proposal
from . import attempts, choose, reflect
from .programs import BESIDE, LOOK, PICK, PUT, ROOM
from .skills import Rule, Skills
from .variants import Variant

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
        rng = Random(f"{self._seed}/{episode.id}")
        maker = Composer(episode.started, regions, Skills(memory), rng)
        if episode.started.memory.explore:
            maker.explore(attempts.read(evidence), layer_of(episode.started.round))
        return maker.compose()

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
            "room": lambda: reflect.rooms(skills, seen, instructions),
        }[request.stage]()
        before = {_content(t.entries) for t in tried}
        return [candidate for candidate in made if _content(candidate.entries) not in before]


def _content(entries: tuple[ev.Entry, ...]) -> str:
    return json.dumps([[e.id, e.state] for e in entries], sort_keys=True)


class Composer:
    """Makes the acting program of one episode, and the choices that it stands for."""

    def __init__(
        self, started: ev.EpisodeStarted, regions: list[dict[str, Any]], skills: Skills, rng: Random
    ) -> None:
        self._clauses = parse(started.task.instruction)
        self._regions, self._skills, self._rng = regions, skills, rng
        self._local: attempts.Attempts | None = None
        self._brain: attempts.Attempts | None = None
        self._choices: list[dict[str, Any]] = []
        self._taken: set[int] = set()
        self._filled: set[int] = set()

    def explore(self, tried: attempts.Attempts, layer: ev.Layer) -> None:
        """Also use what is not proven yet, for the decisions of the layer that is being learned."""
        self._local, self._brain = (tried, None) if layer == "cerebellum" else (None, tried)

    def compose(self) -> Proposal:
        lines = [PICK, ROOM, BESIDE, PUT]
        for number in self._order():
            lines += self._clause(number, self._clauses[number])
        lines.append("go_home()")
        return Proposal("\n".join(lines), last=True, choices=tuple(self._choices))

    def _order(self) -> list[int]:
        said = list(range(len(self._clauses)))
        if len(said) == 1:
            return said
        order = choose.order(self._skills, self._brain, self._rng)
        self._choices.append(
            {"clause": 0, "decision": "order", "variant": order.variant, "entry": order.entry}
        )
        return {"first": said[:1], "as said": said, "reversed": said[::-1]}[order.variant["rule"]]

    def _which(self, number: int, decision: str, phrase: Phrase) -> int:
        chosen = choose.which(
            phrase, self._regions, self._taken, self._skills, self._local, self._brain, self._rng
        )
        self._choices.append(
            {
                "clause": number,
                "decision": decision,
                "noun": phrase.noun,
                "selector": phrase.selector,
                "region": chosen.region,
                "entry": chosen.entry,
            }
        )
        return chosen.region

    def _clause(self, number: int, clause: Clause) -> list[str]:
        """Lines for one clause."""
        thing = self._which(number, "which", clause.thing)
        if thing < 0:
            return [f"# {clause.text()}: there is nothing left to take"]
        g = self._decide(
            number,
            "grasp",
            choose.grasp(self._regions[thing], self._skills, self._local, self._rng),
            region=thing,
        )
        self._taken.add(thing)
        pick = (
            f"held{number}, plan{number} = pick(regions[{thing}], shapes[{thing}], style={g['style']!r}, "
            f"depth={g['depth']}, near={g['near']})"
        )
        head = [f"# {clause.text()}"]
        if clause.target is None:
            return [*head, pick]
        target = self._which(number, "target", clause.target)
        if target < 0:
            return [*head, pick]
        before, after = self._put(number, clause.relation, clause.target.noun, target)
        return [*head, *before, pick, *after]

    def _decide(self, number: int, decision: str, rule: Rule, **about: Any) -> Variant:
        self._choices.append(
            {"clause": number, "decision": decision, "variant": rule.variant, "entry": rule.entry, **about}
        )
        return rule.variant

    def _put(self, number: int, relation: str, noun: str, target: int) -> tuple[list[str], list[str]]:
        """Lines before the hand is full, and after."""
        release = choose.release(relation, noun, self._skills, self._local, self._rng)
        r = self._decide(number, "release", release, relation=relation, noun=noun, region=target)
        free = r["reference"] == "free"
        if target in self._filled:
            room = choose.room(self._skills, self._brain, self._rng)
            free = free or self._decide(number, "room", room)["place"] == "free room"
        self._filled.add(target)
        shape, spot = f"shapes[{target}]", f"spot{number}"
        before = [f"{spot} = Point({shape}.x, {shape}.y, {shape}.top)"]
        after = [f"put({spot}, held{number}, plan{number}, clearance={r['clearance']}, carry={r['carry']})"]
        if (r["dx"], r["dy"]) != (0.0, 0.0):
            after.insert(0, f"{spot} = beside({shape}, held{number}, dx={r['dx']}, dy={r['dy']})")
        elif free:
            before.append(f"{spot} = room(regions[{target}], {shape}, {spot})")
        return before, after
