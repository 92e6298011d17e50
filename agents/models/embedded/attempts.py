"""What training episodes taught, one decision at a time: what was pointed at, which grasps held, which
releases were right, what moved."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base import EpisodeView
from .features import Vector, appearance, part_look, shape
from .over import narrow
from .skills import MOVES, part_name
from .variants import Variant


@dataclass(frozen=True)
class Pointed:
    """The Verifier pointed at the region, or the part, that was meant. things: all that it could have been
    confused with, and `index`, which of them was meant."""

    episode: str
    instruction: str
    decision: str  # "which" for the thing, "target", "part"
    name: str  # a noun, or what `part_name` says
    selector: str
    look: Vector
    index: int
    things: list[dict[str, Any]]
    good: bool  # the Proposer had chosen it


@dataclass(frozen=True)
class Grasped:
    episode: str
    shape: Vector
    variant: Variant
    good: bool


@dataclass(frozen=True)
class Released:
    """correction: unit vector in the base frame along which it should have been, or (0, 0). narrow: whether
    the target was so narrow that the thing can only go over it. kind: of failure. wide: it ended a hand's
    width off, or more."""

    episode: str
    relation: str
    noun: str
    variant: Variant
    good: bool
    correction: tuple[float, float]
    narrow: bool = False
    kind: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Worked:
    """kind: what the Verifier said of the movement."""

    episode: str
    instruction: str
    verb: str
    noun: str
    part: dict[str, Any]
    variant: Variant
    good: bool
    kind: str


@dataclass(frozen=True)
class Moved:
    """A move that was asked for as a whole. kind: what the Verifier said of it."""

    episode: str
    decision: str
    noun: str
    variant: Variant
    good: bool
    kind: str


@dataclass(frozen=True)
class Ruled:
    """A decision that is one for a whole episode: order, room, retry."""

    episode: str
    instruction: str
    variant: Variant
    good: bool


@dataclass
class Attempts:
    """inside: how often a target turned out to be a part of what was taken for it, by `part_name`."""

    sightings: list[Pointed] = field(default_factory=list)
    parts: list[Pointed] = field(default_factory=list)
    grasps: list[Grasped] = field(default_factory=list)
    releases: list[Released] = field(default_factory=list)
    works: list[Worked] = field(default_factory=list)
    moves: list[Moved] = field(default_factory=list)
    rules: dict[str, list[Ruled]] = field(default_factory=lambda: {"order": [], "room": [], "retry": []})
    inside: Counter[str] = field(default_factory=Counter)


def read(evidence: Sequence[EpisodeView]) -> Attempts:
    """All attempts of these episodes, in their order. Episodes without a critique teach nothing."""
    attempts = Attempts()
    for episode in evidence:
        if episode.critique is None or episode.value("regions") is None:
            continue
        findings = {(f.clause, f.decision): f for f in episode.critique.findings}
        chosen = set()
        for number, turn in enumerate(episode.turns):
            regions = episode.regions(number)
            for choice in turn.proposed.choices:
                key = (choice["clause"], choice["decision"])
                chosen.add(key)
                if key in findings:
                    things = regions
                    if "part" in choice:
                        things = episode.parts(number).get(choice["region"], [])
                    _read_one(attempts, episode, regions, things, choice, findings[key])
                elif choice["decision"] == "target" and (choice["clause"], "part") in findings:
                    _hint(attempts, choice, findings[choice["clause"], "part"], episode)
    return attempts


def _hint(attempts: Attempts, choice: dict[str, Any], finding: Any, episode: EpisodeView) -> None:
    if not any(
        c["decision"] == "part" and c["clause"] == choice["clause"]
        for turn in episode.turns for c in turn.proposed.choices
    ):  # fmt: skip
        attempts.inside[part_name(choice["relation"], choice["noun"])] += 1


def _read_one(
    attempts: Attempts,
    episode: EpisodeView,
    regions: list[dict[str, Any]],
    things: list[dict[str, Any]],
    choice: dict[str, Any],
    finding: Any,
) -> None:
    decision, instruction = choice["decision"], episode.started.task.instruction
    if decision in ("which", "target"):
        if 0 <= finding.region < len(regions):
            look = appearance(regions[finding.region])
            attempts.sightings.append(
                Pointed(
                    episode.id, instruction, decision, choice["noun"], choice["selector"], look,
                    finding.region, regions, finding.good,
                )
            )  # fmt: skip
    elif decision == "part":
        if 0 <= finding.part < len(things):
            look = part_look(things[finding.part])
            name = part_name(choice["verb"], choice["noun"])
            attempts.parts.append(
                Pointed(
                    episode.id, instruction, decision, name, choice["selector"], look, finding.part, things,
                    finding.good,
                )
            )  # fmt: skip
    elif decision == "grasp":
        attempts.grasps.append(
            Grasped(episode.id, shape(regions[choice["region"]]), choice["variant"], finding.good)
        )
    elif decision == "release":
        attempts.releases.append(
            Released(
                episode.id, choice["relation"], choice["noun"], choice["variant"], finding.good,
                _correction(finding.direction, episode.value("right") or (0.0, 1.0)),
                _narrow(episode, regions, choice), finding.kind, finding.amount in ("hand", "far"),
            )
        )  # fmt: skip
    elif decision == "work":
        if 0 <= choice["part"] < len(things):
            attempts.works.append(
                Worked(
                    episode.id, instruction, choice["verb"], choice["noun"], things[choice["part"]],
                    choice["variant"], finding.good, finding.kind,
                )
            )  # fmt: skip
    elif decision in MOVES:
        attempts.moves.append(
            Moved(episode.id, decision, choice["noun"], choice["variant"], finding.good, finding.kind)
        )
    elif decision in attempts.rules:
        attempts.rules[decision].append(Ruled(episode.id, instruction, choice["variant"], finding.good))


def _narrow(episode: EpisodeView, regions: list[dict[str, Any]], choice: dict[str, Any]) -> bool:
    """Whether the target of a release is narrow for what was grasped for it."""
    things = [
        c["region"]
        for turn in episode.turns
        for c in turn.proposed.choices
        if (c["clause"], c["decision"]) == (choice["clause"], "grasp")
    ]
    return bool(things) and narrow(regions[choice["region"]], regions[things[-1]])


def _correction(direction: str, right: tuple[float, float]) -> tuple[float, float]:
    """Where it ended, in the picture, turned into the base frame and reversed."""
    size = (right[0] ** 2 + right[1] ** 2) ** 0.5 or 1.0
    rx, ry = right[0] / size, right[1] / size
    # the scene camera looks at the table from above: down is right turned clockwise seen from above
    down = (ry, -rx)
    return {
        "left": (rx, ry), "right": (-rx, -ry), "up": down, "down": (-down[0], -down[1])
    }.get(direction, (0.0, 0.0))  # fmt: skip
