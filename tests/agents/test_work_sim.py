"""Moves on parts in the simulator: what is there to be learned does it, with what the study measured."""

import math

import pytest

from skill2real.agents.models.embedded.looking import look
from skill2real.agents.models.embedded.study import study
from skill2real.agents.models.embedded.work import WORK
from skill2real.backends.sim.rollout import Player, Rollout

pytestmark = pytest.mark.sim


@pytest.mark.parametrize(
    ("task", "place", "move"),
    [
        (7, (0.65, -0.21), "style='hook', motion='pull', tilt=0.5, length=0.22, lateral=0.0"),
        (20, (0.62, 0.2), "style='beside+', motion='twist+', tilt=0.0, length=2.3, lateral=0.6"),
    ],
)
def test_a_move_on_the_highest_bump_does_it(task, place, move):
    """The top drawer's bar is hooked from behind and pulled; the knob is pushed round from its side."""
    player = Player(1)
    seen = look("open the drawer")
    regions = player.play(Rollout("libero_90", (task,), 0, (seen,), False)).result.value["regions"]
    at = min(range(len(regions)), key=lambda i: math.dist((regions[i]["x"], regions[i]["y"]), place))
    act = (
        f"{WORK}\nbumps = [p for p in studied{at}.parts if p.kind == 'bump']\n"
        f"bumps.sort(key=lambda p: p.z)\nwork(bumps[-1], studied{at}, {move})\ngo_home()\n"
    )
    played = player.play(Rollout("libero_90", (task,), 0, (seen, study(at), act), True))
    assert (played.result.error, played.result.rejected) == ("", None)
    assert played.outcome["settled"]
