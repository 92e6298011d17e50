"""Memory entries as rules that decisions look up, and how such entries are made."""

import re
from dataclasses import dataclass
from typing import Any

from ....ledger.events import Entry, Layer, Provenance
from .features import Vector, distance
from .over import OVER, over_words
from .programs import PICK, PUT
from .variants import Variant

MATCH = 4.5  # farthest appearance that still counts as the same thing
TIE = 2.0  # as close as this to the best match is a tie
SEVERAL = 4.0  # the same where a word says that there are several: light and view make them differ
PART_TIE = 2.5  # the same for parts


NEEDS = {
    "appearance": {"noun", "prototypes"},
    "grasp": {"variant", "exemplars", "radius"},
    "release": {"relation", "noun", "variant"},
    "word": {"word", "selection"},
    "order": {"rule"},
    "room": {"place"},
    "part": {"verb", "noun", "prototypes"},
    "work": {"verb", "noun", "variant", "exemplars", "radius"},
    "retry": {"tries"},
    "wipe": {"noun", "variant"},
    "both": {"noun", "variant"},
    "hand over": {"noun", "variant"},
}
MOVES = ("wipe", "both", "hand over")  # kinds of entry for moves that an instruction asks for as a whole


@dataclass(frozen=True)
class Rule:
    """A variant with the entry that gave it ("" for a default)."""

    variant: Variant
    entry: str


def part_name(verb: str, noun: str) -> str:
    """Parts go by what is done with them: a drawer is opened by one part, and things are put into
    another."""
    return f"{verb} {noun}"


class Skills:
    """What a memory says, by decision."""

    def __init__(self, memory: tuple[Entry, ...]) -> None:
        self.nouns: dict[str, tuple[str, list[Vector]]] = {}
        self.words: dict[str, Rule] = {}
        self._grasps: list[tuple[Entry, list[Vector]]] = []
        self._releases: dict[tuple[str, str], Rule] = {}
        self.parts: dict[str, tuple[str, list[Vector]]] = {}
        self.works: list[Entry] = []
        self.moves: dict[tuple[str, str], Rule] = {}  # by decision and noun
        self.rules: dict[str, Rule] = {}  # order, room, retry
        for entry in memory:
            state = entry.state
            if not NEEDS.get(entry.kind, {""}) <= state.keys():
                continue  # another model's skill: text that this one cannot read
            if entry.kind == "appearance":
                self.nouns[state["noun"]] = (entry.id, [tuple(p) for p in state["prototypes"]])
            elif entry.kind == "grasp":
                self._grasps.append((entry, [tuple(e) for e in state["exemplars"]]))
            elif entry.kind == "release":
                rule = Rule(state["variant"], entry.id)
                self._releases[(state["relation"], state["noun"])] = rule
            elif entry.kind == "word":
                self.words[state["word"]] = Rule(state["selection"], entry.id)
            elif entry.kind == "part":
                name = part_name(state["verb"], state["noun"])
                self.parts[name] = (entry.id, [tuple(p) for p in state["prototypes"]])
            elif entry.kind == "work":
                self.works.append(entry)
            elif entry.kind in MOVES:
                self.moves[entry.kind, state["noun"]] = Rule(state["variant"], entry.id)
            else:
                variant = {name: state[name] for name in NEEDS[entry.kind]}
                self.rules[entry.kind] = Rule(variant, entry.id)

    def grasp(self, shape: Vector) -> Rule | None:
        """The grasp whose exemplars are nearest, if they are near enough."""
        best: tuple[float, Rule] | None = None
        for entry, exemplars in self._grasps:
            near = min(distance(shape, e) for e in exemplars)
            if near <= entry.state["radius"] and (best is None or near < best[0]):
                best = (near, Rule(entry.state["variant"], entry.id))
        return best[1] if best else None

    def release(self, relation: str, noun: str) -> Rule | None:
        return self._releases.get((relation, noun))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _entry(
    layer: Layer, kind: str, name: str, when: str, template: str, state: dict[str, Any], evidence: list[str]
) -> Entry:
    return Entry(
        id=f"{kind}/{_slug(name)}",
        layer=layer,
        kind=kind,
        when=when,
        template=template.strip(),
        state=state,
        provenance=Provenance(evidence=tuple(evidence)),
    )


def appearance_entry(noun: str, prototypes: list[Vector], evidence: list[str]) -> Entry:
    return _entry(
        "cerebellum", "appearance", noun,
        f'To find the "{noun}": the region whose colour and size are nearest to one of these prototypes.',
        "", {"noun": noun, "prototypes": [list(p) for p in prototypes]}, evidence,
    )  # fmt: skip


def part_entry(verb: str, noun: str, prototypes: list[Vector], evidence: list[str]) -> Entry:
    return _entry(
        "cerebellum", "part", part_name(verb, noun),
        f'Where "{verb} … {noun}" is said: the part of the thing that is nearest in kind and size to one of '
        "these prototypes.",
        "", {"verb": verb, "noun": noun, "prototypes": [list(p) for p in prototypes]}, evidence,
    )  # fmt: skip


def grasp_entry(
    name: str, variant: Variant, exemplars: list[Vector], radius: float, evidence: list[str]
) -> Entry:
    sizes = sorted(exemplars)
    low, high = [min(e[i] for e in sizes) for i in range(4)], [max(e[i] for e in sizes) for i in range(4)]
    return _entry(
        "cerebellum", "grasp", name,
        f"To grasp a thing about {_range(low[0], high[0])} long, {_range(low[1], high[1])} wide and "
        f"{_range(low[2], high[2])} high: by its {variant['style']}, the finger tips "
        f"{variant['depth'] * 1000:.0f} mm past the nearest part"
        f"{', after a look from close by' if variant['near'] else ''}.",
        PICK, {"variant": variant, "exemplars": [list(e) for e in exemplars], "radius": radius}, evidence,
    )  # fmt: skip


def _range(low: float, high: float) -> str:
    a, b = round(low * 100), round(high * 100)
    return f"{a} cm" if a == b else f"{a} to {b} cm"


def release_entry(relation: str, noun: str, variant: Variant, evidence: list[str]) -> Entry:
    state = {"relation": relation, "noun": noun, "variant": variant}
    if variant["reference"] == "over":
        words = over_words(relation, noun, variant)
        return _entry("cerebellum", "release", f"{relation} {noun}", words, OVER, state, evidence)
    where = {
        (0.0, 0.0): "over its middle" if variant["reference"] == "middle" else "over the free room inside",
        (1.0, 0.0): "beside it, away from the robot", (-1.0, 0.0): "beside it, towards the robot",
        (0.0, 1.0): "beside it, to the robot's left", (0.0, -1.0): "beside it, to the robot's right",
    }[(variant["dx"], variant["dy"])]  # fmt: skip
    return _entry(
        "cerebellum", "release", f"{relation} {noun}",
        f'To put a thing {relation} the "{noun}": let go {where}, {variant["clearance"] * 100:.1f} cm '
        f"above the surface{', the offset of the grasp carried along' if variant['carry'] else ''}"
        f"{', turned so that its length lies along that of the target' if variant['turn'] else ''}.",
        PUT, state, evidence,
    )  # fmt: skip


def word_entry(word: str, selection: Variant, evidence: list[str]) -> Entry:
    axis = {
        (1.0, 0.0, 0.0): "away from the robot",
        (-1.0, 0.0, 0.0): "towards the robot",
        (0.0, 1.0, 0.0): "to the robot's left",
        (0.0, -1.0, 0.0): "to the robot's right",
        (0.0, 0.0, 1.0): "upwards",
        (0.0, 0.0, -1.0): "downwards",
    }[tuple(selection["axis"])]
    which = (
        f"the one farthest {axis}" if selection["pick"] == "most" else f"the middle one along the line {axis}"
    )
    return _entry(
        "brain", "word", word, f'When one of several is called "{word}": {which}.',
        "", {"word": word, "selection": selection}, evidence,
    )  # fmt: skip


def rule_entry(decision: str, variant: Variant, evidence: list[str]) -> Entry:
    """A rule of the Brain for whole episodes: "order", "room" or "retry"."""
    value = next(iter(variant.values()))
    when = {
        "order": f"When an instruction has several parts: do all of them, in the order {value}.",
        "room": "When something was put on or in the same target before: look at the target again, before "
        f"taking the next thing, and put that where there is {value}.",
        "retry": f"When nothing is held after grasping: look again, and try up to {value} times in all.",
    }[decision]
    return _entry("brain", decision, str(value), when, "", variant, evidence)
