"""The look, played in the simulator: things that no first view shows whole, and things on other things."""

import math

import pytest

from skill2real.agents.models.base import EpisodeView
from skill2real.agents.models.embedded.model import EmbeddedModel
from skill2real.backends.sim.rollout import Player, Rollout
from skill2real.backends.sim.truth import object_at
from skill2real.ledger import events as ev

pytestmark = pytest.mark.sim


@pytest.fixture(scope="module")
def player():
    return Player(1)


def look(player, task, state=2):
    """Value of the look, and its regions by the thing that they are of."""
    started = ev.EpisodeStarted(
        ev.Task("libero_90", (task,), "open it"), state=state, purpose="trial", memory=ev.MemoryRef(), turns=8
    )
    source = EmbeddedModel().propose(EpisodeView("trial/0", started, []), (), []).source
    played = player.play(Rollout("libero_90", (task,), state, (source,), True))
    assert (played.result.rejected, played.result.error) == (None, "")
    objects = {name: thing["start"] for name, thing in played.outcome["record"]["objects"].items()}
    found = {}
    for region in played.result.value["regions"]:
        name = object_at(objects, region["x"], region["y"], region["top"] - region["height"] / 2)
        found.setdefault(name, []).append(region)
    return played.result.value, found


def test_a_cabinet_at_the_edge_of_the_first_pictures(player):
    value, found = look(player, 6)
    assert len(found["akita_black_bowl_1"]) == len(found["plate_1"]) == 1
    (cabinet,) = found["wooden_cabinet_1"]
    assert (cabinet["x"], cabinet["y"]) == pytest.approx((0.65, -0.31), abs=0.02)
    assert cabinet["length"] == pytest.approx(0.26, abs=0.02)
    assert cabinet["height"] == pytest.approx(0.22, abs=0.02)
    # the scene camera looks along the table towards the robot: right is +y
    assert abs(math.atan2(value["right"][0], value["right"][1])) < math.radians(3.0)


def test_a_bowl_on_a_microwave(player):
    _, found = look(player, 35)
    (bowl,), (oven,) = found["white_bowl_1"], found["microwave_1"]
    assert bowl["length"] == pytest.approx(0.085, abs=0.01)
    assert (bowl["x"], bowl["y"]) == pytest.approx((oven["x"], oven["y"]), abs=0.06)
    assert oven["length"] == pytest.approx(0.33, abs=0.03)
    assert oven["width"] == pytest.approx(0.25, abs=0.04)
    assert bowl["top"] > oven["top"]


def test_a_caddy_near_the_robot(player):
    value, found = look(player, 73)
    (caddy,) = found["desk_caddy_1"]
    assert caddy["length"] == pytest.approx(0.43, abs=0.03)
    assert len(found["white_yellow_mug_1"]) == 1  # its handle is no thing
    assert all(math.hypot(r["x"], r["y"]) > 0.2 for r in value["regions"])  # nor is the robot's foot
