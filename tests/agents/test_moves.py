"""The moves of the embedded model, as programs: what they do where the first look was not enough."""

import math

import pytest

from skill2real.agents.models.base import EpisodeView
from skill2real.agents.models.embedded.model import EmbeddedModel
from skill2real.agents.models.embedded.programs import BESIDE, PICK
from skill2real.backends.api import Point, Shape
from skill2real.backends.sim.rollout import Player, Rollout
from skill2real.ledger import events as ev

TASK, STATE, BOTTLE = 58, 6, "ketchup_1"  # stands at the edge of what the first look shows


@pytest.fixture(scope="module")
def player():
    return Player(1)


@pytest.fixture(scope="module")
def look():
    started = ev.EpisodeStarted(
        ev.Task("libero_90", (TASK,), "pick up the bottle"),
        state=STATE,
        purpose="eval",
        memory=ev.MemoryRef(),
        turns=4,
    )
    return EmbeddedModel().propose(EpisodeView("eval/0", started, []), (), []).source


@pytest.fixture(scope="module")
def bottle(player, look):
    """Number of the bottle's region."""
    first = Rollout("libero_90", (TASK,), STATE, (look,), True)
    played = player.play(first)
    x, y, _ = played.outcome["record"]["objects"][BOTTLE]["start"]["centre"]
    regions = played.result.value["regions"]
    return min(range(len(regions)), key=lambda k: abs(regions[k]["x"] - x) + abs(regions[k]["y"] - y))


@pytest.mark.sim
def test_a_thing_at_the_edge_of_the_first_look_is_picked_after_a_second(player, look, bottle):
    act = f"{PICK}\npick(regions[{bottle}], shapes[{bottle}], style='centre', depth=0.035, near=True)[1].ok"
    played = player.play(Rollout("libero_90", (TASK,), STATE, (look, act), True))
    assert (played.result.rejected, played.result.error, played.result.value) == (None, "", True)
    held = [hold["lifted"] for hold in played.outcome["record"]["holds"] if hold["thing"] == BOTTLE]
    assert max(held, default=0.0) > 0.1


@pytest.mark.sim
@pytest.mark.parametrize(("tries", "held"), [(1, False), (3, True)])
def test_a_further_try_looks_closely_and_ends_when_something_is_held(player, look, bottle, tries, held):
    # a hand that does not close the first time
    move = PICK.replace("set_gripper(0.0)", "set_gripper(0.0 if k > 0 else plan.opening)")
    assert move != PICK
    setting = f"style='centre', depth=0.035, near=True, tries={tries}"
    act = f"{move}\npick(regions[{bottle}], shapes[{bottle}], {setting})\nread_robot().holding"
    played = player.play(Rollout("libero_90", (TASK,), STATE, (look, act), True))
    grips = played.outcome["record"]["grips"]
    assert played.result.value is held
    assert ([BOTTLE] in [grip["between"] for grip in grips if grip["closing"]]) is held
    assert sum(grip["closing"] for grip in grips) == int(held)


@pytest.mark.parametrize(("dx", "dy", "half"), [(1.0, 0.0, 0.05), (0.0, 1.0, 0.2)])
def test_beside_a_long_thing_is_nearer_across_it(dx, dy, half):
    names = {"Point": Point, "Shape": Shape}
    exec(BESIDE, names)
    long = Shape(x=0.5, y=0.1, bottom=0.02, length=0.4, width=0.1, yaw=math.pi / 2)
    spot = names["beside"](long, Shape(), dx, dy)
    step = half + 0.02
    assert (spot.x, spot.y, spot.z) == pytest.approx((0.5 + dx * step, 0.1 + dy * step, 0.02))
