"""What training episodes taught, one decision at a time: who was pointed at, which grasps held, which
releases were right."""

from dataclasses import dataclass, field
from typing import Any

from ..base import EpisodeView
from .features import Vector, appearance, shape
from .variants import Variant


@dataclass(frozen=True)
class Sighting:
    """The Verifier pointed at the region that a noun meant. places: all regions that it could have been
    confused with, and which of them was meant."""

    episode: str
    instruction: str
    decision: str  # "which" for the thing, "target"
    noun: str
    selector: str
    look: Vector
    region: int
    regions: list[dict[str, Any]]
    good: bool  # the Proposer had chosen it


@dataclass(frozen=True)
class Grasped:
    episode: str
    shape: Vector
    variant: Variant
    good: bool


@dataclass(frozen=True)
class Released:
    episode: str
    relation: str
    noun: str
    variant: Variant
    good: bool
    correction: tuple[
        float, float
    ]  # unit vector in the base frame along which it should have been, or (0, 0)


@dataclass(frozen=True)
class Ordered:
    episode: str
    instruction: str
    rule: str
    good: bool


@dataclass(frozen=True)
class Roomed:
    episode: str
    instruction: str
    place: str
    good: bool


@dataclass
class Attempts:
    sightings: list[Sighting] = field(default_factory=list)
    grasps: list[Grasped] = field(default_factory=list)
    releases: list[Released] = field(default_factory=list)
    orders: list[Ordered] = field(default_factory=list)
    rooms: list[Roomed] = field(default_factory=list)


def read(evidence: list[EpisodeView]) -> Attempts:
    """All attempts of these episodes, in their order. Episodes without a critique teach nothing."""
    attempts = Attempts()
    for episode in evidence:
        regions = episode.value("regions")
        if episode.critique is None or regions is None:
            continue
        findings = {(f.clause, f.decision): f for f in episode.critique.findings}
        for choice in (c for turn in episode.turns for c in turn.proposed.choices):
            finding = findings.get((choice["clause"], choice["decision"]))
            if finding is not None:
                _read_one(attempts, episode, regions, choice, finding)
    return attempts


def _read_one(
    attempts: Attempts,
    episode: EpisodeView,
    regions: list[dict[str, Any]],
    choice: dict[str, Any],
    finding: Any,
) -> None:
    decision = choice["decision"]
    if decision in ("which", "target"):
        if 0 <= finding.region < len(regions):
            attempts.sightings.append(
                Sighting(
                    episode.id,
                    episode.started.task.instruction,
                    decision,
                    choice["noun"],
                    choice["selector"],
                    appearance(regions[finding.region]),
                    finding.region,
                    regions,
                    finding.good,
                )
            )
    elif decision == "grasp":
        attempts.grasps.append(
            Grasped(episode.id, shape(regions[choice["region"]]), choice["variant"], finding.good)
        )
    elif decision == "release":
        attempts.releases.append(
            Released(
                episode.id, choice["relation"], choice["noun"], choice["variant"], finding.good,
                _correction(finding.direction, episode.value("right") or (0.0, 1.0)),
            )
        )  # fmt: skip
    elif decision == "room":
        attempts.rooms.append(
            Roomed(episode.id, episode.started.task.instruction, choice["variant"]["place"], finding.good)
        )
    elif decision == "order":
        attempts.orders.append(
            Ordered(episode.id, episode.started.task.instruction, choice["variant"]["rule"], finding.good)
        )


def _correction(direction: str, right: tuple[float, float]) -> tuple[float, float]:
    """Where it ended, in the picture, turned into the base frame and reversed."""
    size = (right[0] ** 2 + right[1] ** 2) ** 0.5 or 1.0
    rx, ry = right[0] / size, right[1] / size
    down = (
        ry,
        -rx,
    )  # the scene camera looks at the table from above: down is right turned clockwise seen from above
    return {
        "left": (rx, ry), "right": (-rx, -ry), "up": down, "down": (-down[0], -down[1])
    }.get(direction, (0.0, 0.0))  # fmt: skip
