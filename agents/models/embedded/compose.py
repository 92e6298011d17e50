"""Makes the programs of one episode, one after the other, and the choices that they stand for.

After the look, the parts of an instruction are written down in order, as far as what is known allows. Where
one needs parts of a thing that was not studied, or has changed since, what stands so far is played first,
then the thing is studied, and the rest follows.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from ...grammar import Clause, Phrase, parse
from ..base import EpisodeView, Proposal
from . import choose
from .attempts import Attempts
from .identify import Experience
from .looking import look, moved_before, parts_left, under
from .moves import MOVES, asked, choose_move
from .over import OVER, over_line
from .programs import BESIDE, PICK, PUT, ROOM
from .skills import Rule, part_name
from .study import study
from .variants import Variant
from .work import WORK, choose_work

WORKED = frozenset(("open", "close", "turn on", "turn off", "push", "pull"))  # verbs that act on a part
ACTED = ("grasp", "work", *MOVES)  # decisions that show that a part of the instruction was acted on
Choice = dict[str, Any]


class _NotStudied(Exception):
    """The parts of this region must be known before the program can go on."""

    def __init__(self, region: int) -> None:
        self.region = region


class Composer:
    """`experience`: what choices of regions, parts and words stand on. local, brain: what may be learned
    from while exploring the decisions of either layer; None: the memory alone decides. all_parts: do every
    part of the instruction, whatever the memory says."""

    def __init__(
        self,
        episode: EpisodeView,
        experience: Experience,
        seed: int,
        local: Attempts | None = None,
        brain: Attempts | None = None,
        all_parts: bool = False,
    ) -> None:
        self._clauses = parse(episode.started.task.instruction)
        self._instruction = episode.started.task.instruction
        self._regions = episode.regions()
        self._experience, self._skills = experience, experience.skills
        self._local, self._brain, self._all = local, brain, all_parts
        self._seed = f"{seed}/{episode.id}"
        self._parts = parts_left(episode)
        self._earlier = [c for turn in episode.turns for c in turn.proposed.choices]
        look = max(0, episode.looked())
        self._since = [c for turn in episode.turns[look:] for c in turn.proposed.choices]
        self._left = episode.started.turns - len(episode.turns)
        self._choices: list[Choice] = []
        self._taken: set[int] = set()
        self._filled: set[int] = set()

    def compose(self) -> Proposal:
        """The next program."""
        lines: list[str] = []
        done: list[Clause] = []  # since the last look
        for number in self._order():
            if any(c["clause"] == number and c["decision"] in ACTED for c in self._earlier):
                if any(c["clause"] == number and c["decision"] in ACTED for c in self._since):
                    self._recall(number)
                    done.append(self._clauses[number])
                continue
            if moved_before(self._clauses[number], done) and self._left > 1:
                if lines:
                    return self._program(lines, last=False)
                return Proposal(look(self._instruction), last=False)
            done.append(self._clauses[number])
            before = len(self._choices), set(self._taken), set(self._filled)
            try:
                lines += self._clause(number, self._clauses[number])
            except _NotStudied as missing:
                del self._choices[before[0] :]
                self._taken, self._filled = before[1], before[2]
                if lines:
                    return self._program(lines, last=False)
                return Proposal(study(missing.region), last=False)
        return self._program(lines, last=True)

    def _program(self, lines: list[str], last: bool) -> Proposal:
        moves = [MOVES[name] for name in MOVES if any(c["decision"] == name for c in self._choices)]
        home = [] if any(move.stays for move in moves) else ["go_home()"]
        over = any(c.get("variant", {}).get("reference") == "over" for c in self._choices)
        more = [*([OVER] if over else []), *(move.text for move in moves)]
        text = "\n".join([PICK, ROOM, BESIDE, PUT, WORK, *more, *lines, *home])
        return Proposal(text, last=last, choices=tuple(self._choices))

    def _rng(self, clause: int, decision: str) -> Random:
        return Random(f"{self._seed}/{clause}/{decision}")

    def _order(self) -> list[int]:
        said = list(range(len(self._clauses)))
        if len(said) == 1 or self._all:
            return said
        order = choose.ruled("order", self._skills, self._brain, self._rng(0, "order"))
        if not any(c["decision"] == "order" for c in self._earlier):
            self._decide(0, "order", order)
        return {"first": said[:1], "as said": said, "reversed": said[::-1]}[order.variant["rule"]]

    def _recall(self, number: int) -> None:
        """What an earlier program has taken, filled and changed."""
        for choice in self._since:
            if choice["clause"] != number:
                continue
            if choice["decision"] == "grasp":
                self._taken.add(choice["region"])
            elif choice["decision"] == "release":
                self._filled.add(choice["region"])

    def _which(self, number: int, decision: str, phrase: Phrase, **more: Any) -> int:
        """Region of a phrase; of its whole, where it names a part."""
        named = phrase.whole or phrase
        taken = set() if decision == "work" else self._taken
        chosen = self._experience.which_region(named, self._regions, taken, self._rng(number, decision))
        self._choices.append(
            {
                "clause": number, "decision": "which" if decision == "work" else decision,
                "noun": named.noun, "selector": named.selector, "region": chosen.index,
                "entry": chosen.entry, **more,
            }
        )  # fmt: skip
        return chosen.index

    def _part(self, number: int, verb: str, phrase: Phrase, region: int) -> int:
        """Number of the part that a verb or a relation means; -1 where the region has none. Raises
        _NotStudied."""
        if region not in self._parts and self._left > 1:
            raise _NotStudied(region)
        parts = self._parts.get(region, [])
        name = part_name(verb, phrase.noun)
        # without a whole the word has singled out the region already
        selector = phrase.selector if phrase.whole else ""
        chosen = self._experience.which_part(name, selector, parts, self._rng(number, "part"))
        if chosen.index >= 0:
            self._choices.append(
                {
                    "clause": number, "decision": "part", "verb": verb, "noun": phrase.noun,
                    "selector": selector, "region": region, "part": chosen.index, "entry": chosen.entry,
                }
            )  # fmt: skip
        return chosen.index

    def _clause(self, number: int, clause: Clause) -> list[str]:
        """Lines for one clause. Raises _NotStudied."""
        head = [f"# {clause.text()}"]
        if clause.verb in WORKED:
            return [*head, *self._work(number, clause)]
        if asked(clause):
            return [*head, *self._move(number, clause, asked(clause))]
        thing = self._which(number, "which", clause.thing)
        if thing < 0:
            return [*head, "# there is nothing left to take"]
        g = self._decide(
            number,
            "grasp",
            choose.grasp(self._regions[thing], self._skills, self._local, self._rng(number, "grasp")),
            region=thing,
        )
        self._taken.add(thing)
        tries = choose.ruled("retry", self._skills, self._brain, self._rng(0, "retry"))
        if not any(c["decision"] == "retry" for c in [*self._earlier, *self._choices]):
            self._decide(0, "retry", tries)
        settings = "".join(f", {name}={value!r}" for name, value in (g | tries.variant).items())
        pick = f"held{number}, plan{number} = pick(regions[{thing}], shapes[{thing}]{settings})"
        if clause.target is None:
            return [*head, pick]
        if len(self._taken) == len(self._regions) and under(clause, self._clauses):
            target = thing  # nothing else is seen: it stands on what is meant
        else:
            target = self._which(number, "target", clause.target, relation=clause.relation)
        if target < 0:
            return [*head, pick]
        before, after = self._put(number, clause, target)
        return [*head, *before, pick, *after]

    def _work(self, number: int, clause: Clause) -> Iterator[str]:
        region = self._which(number, "work", clause.thing)
        if region < 0:
            return
        part = self._part(number, clause.verb, clause.thing, region)
        if part < 0:
            return
        noun, features = clause.thing.noun, self._parts[region][part]
        rule = choose_work(
            clause.verb, noun, features, self._skills.works,
            self._local.works if self._local else None, self._rng(number, "work"),
            self._instruction,
        )  # fmt: skip
        w = self._decide(number, "work", rule, verb=clause.verb, noun=noun, region=region, part=part)
        del self._parts[region]  # it has changed
        settings = ", ".join(f"{name}={value!r}" for name, value in w.items())
        yield f"work(studied{region}.parts[{part}], studied{region}, {settings})"

    def _move(self, number: int, clause: Clause, decision: str) -> list[str]:
        """Lines for what is asked for as a whole."""
        region = self._which(number, "which", clause.thing) if MOVES[decision].thing else -1
        if region < 0 and MOVES[decision].thing:
            return []
        noun, rng = clause.thing.noun, self._rng(number, decision)
        rule = choose_move(decision, noun, self._skills, self._local, rng)
        variant = self._decide(number, decision, rule, noun=noun, region=region)
        self._taken.add(region)
        return MOVES[decision].lines(number, region, variant)

    def _decide(self, number: int, decision: str, rule: Rule, **about: Any) -> Variant:
        self._choices.append(
            {"clause": number, "decision": decision, "variant": rule.variant, "entry": rule.entry, **about}
        )
        return rule.variant

    def _put(self, number: int, clause: Clause, target: int) -> tuple[list[str], list[str]]:
        """Lines before the hand is full, and after. Raises _NotStudied."""
        assert clause.target is not None
        relation, noun = clause.relation, clause.target.noun
        part = self._part(number, relation, clause.target, target) if self._inside(clause) else -1
        release = choose.release(relation, noun, self._skills, self._local, self._rng(number, "release"))
        r = self._decide(number, "release", release, relation=relation, noun=noun, region=target, part=part)
        if r["reference"] == "over":
            self._filled.add(target)
            return [], [over_line(number, target, r)]
        free = r["reference"] == "free"
        if target in self._filled:
            room = choose.ruled("room", self._skills, self._brain, self._rng(number, "room"))
            free = self._decide(number, "room", room)["place"] == "free room" or free
        self._filled.add(target)
        shape, spot = f"shapes[{target}]", f"spot{number}"
        inside = f"studied{target}.parts[{part}]"
        settings = f"clearance={r['clearance']}, carry={r['carry']}"
        if r["turn"]:
            along = f"math.atan2({inside}.axis[1], {inside}.axis[0])" if part >= 0 else f"{shape}.yaw"
            settings += f", yaw={along}"
        after = [f"put({spot}, held{number}, plan{number}, {settings})"]
        if part >= 0:
            return [f"{spot} = Point({inside}.x, {inside}.y, {inside}.z)"], after
        before = [f"{spot} = Point({shape}.x, {shape}.y, {shape}.top)"]
        if (r["dx"], r["dy"]) != (0.0, 0.0):
            after.insert(0, f"{spot} = beside({shape}, held{number}, dx={r['dx']}, dy={r['dy']})")
        elif free:
            before.append(f"{spot} = room(regions[{target}], {shape}, {spot})")
        return before, after

    def _inside(self, clause: Clause) -> bool:
        """Whether the target is a part of a thing: because it is said, known, or was pointed out."""
        assert clause.target is not None
        name = part_name(clause.relation, clause.target.noun)
        hinted = self._local is not None and self._local.inside[name] > 0
        return clause.target.whole is not None or name in self._experience.parts or hinted
