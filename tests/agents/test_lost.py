"""Initial states that fall apart before the start are told from whole ones."""

import pytest

from skill2real.agents.lost import lost_things
from skill2real.backends.sim import suites
from skill2real.backends.sim.world import WorldCache


def thing(height: float, fixed: bool = False) -> dict[str, object]:
    return {"fixed": fixed, "start": {"centre": [0.5, 0.0, height]}}


def test_what_lies_far_below_or_above_the_others_is_lost() -> None:
    table = {f"t{i}": thing(0.02 * i) for i in range(4)}
    assert lost_things({"objects": table}) == ()
    assert lost_things({"objects": {**table, "floor": thing(-0.4)}}) == ("floor",)
    assert lost_things({"objects": {**table, "sky": thing(2.5)}}) == ("sky",)
    assert lost_things({"objects": {**table, "shelf": thing(0.4), "base": thing(-0.9, fixed=True)}}) == ()
    assert lost_things({}) == ()


@pytest.mark.sim
def test_a_recorded_state_that_the_simulator_does_not_hold_together() -> None:
    worlds = WorldCache(1)
    try:
        task = suites.load_task("libero_10_swap", (1,))
        assert lost_things(worlds.open(task, 5).truth()) == ()
        assert len(lost_things(worlds.open(task, 6).truth())) >= 1
    finally:
        worlds.close()
