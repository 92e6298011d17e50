"""The look and the study of a thing, played in the simulator: its parts are found and nothing is touched."""

import math

import pytest

from skill2real.agents.models.base import EpisodeView
from skill2real.agents.models.embedded.model import EmbeddedModel
from skill2real.agents.models.embedded.study import study
from skill2real.backends.sim.rollout import Player, Rollout
from skill2real.ledger import events as ev

pytestmark = pytest.mark.sim


@pytest.fixture(scope="module")
def player():
    return Player(1)


def look_source():
    started = ev.EpisodeStarted(
        ev.Task("libero_90", (7,), "open it"), state=0, purpose="eval", memory=ev.MemoryRef(), turns=8
    )
    return EmbeddedModel().propose(EpisodeView("eval/0", started, []), (), []).source


def studied(player, task):
    """Parts of the largest thing in a scene, and how far the rest has moved."""
    look = look_source()
    seen = player.play(Rollout("libero_90", (task,), 0, (look,), False))
    regions = seen.result.value["regions"]
    large = max(range(len(regions)), key=lambda k: regions[k]["length"] * regions[k]["height"])
    programs = (look, study(large), f"(len(studied{large}.parts), studied{large}.ok)")
    result = player.play(Rollout("libero_90", (task,), 0, programs[:2], False)).result
    assert (result.rejected, result.error) == (None, "")
    parts = result.value["parts"][str(large)]
    played = player.play(Rollout("libero_90", (task,), 0, programs, True))
    assert played.result.value == [len(parts), True]
    things = played.outcome["record"]["objects"].values()
    moved = [math.dist(thing["start"]["centre"], thing["end"]["centre"]) for thing in things]
    return parts, max(moved)


def test_bars_of_a_chest_of_drawers(player):
    parts, moved = studied(player, 7)
    bars = [part for part in parts if part["kind"] == "bump"]
    heights = [bar["z"] for bar in bars]
    assert len(bars) == 3
    assert heights == sorted(heights)
    assert heights[1] - heights[0] == pytest.approx(0.07, abs=0.008)
    assert heights[2] - heights[1] == pytest.approx(0.07, abs=0.008)
    for bar in bars:
        assert bar["length"] == pytest.approx(0.088, abs=0.008)
        assert bar["depth"] == pytest.approx(0.032, abs=0.005)
        assert bar["outward"] == pytest.approx((0.0, 1.0, 0.0), abs=0.05)
    assert any(part["kind"] == "level" and part["depth"] > 1.0 for part in parts)
    assert moved < 0.01


def test_compartments_of_a_caddy(player):
    parts, moved = studied(player, 73)
    rooms = [part for part in parts if part["kind"] == "hollow"]
    assert len(rooms) == 4
    assert max(room["z"] for room in rooms) - min(room["z"] for room in rooms) < 0.01
    assert moved < 0.01
