"""Worlds: the same episode is the same to the bit, success is watched, and truth tells what happened."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from simulated import downward, drop, go, opened, pick, shifted, worlds

from skill2real.backends.sim.errors import SimError, UnknownTask
from skill2real.backends.sim.suites import load_task
from skill2real.backends.sim.truth import object_at
from skill2real.backends.sim.world import WorldCache

pytestmark = pytest.mark.sim
SOUP, CHEESE, BASKET = "alphabet_soup_1", "cream_cheese_1", "basket_1"


def episode() -> list[str]:
    """Digests of an episode with contact, pictures and a settled end."""
    world = opened("libero_90", 46, state=1)
    digests = [world.digest()]
    picture = world.device.frame("scene")
    pick(world, SOUP)
    drop(world, BASKET, 0.0)
    outcome = world.outcome()
    depth = world.device.frame("wrist").depth
    digests += [
        world.digest(),
        sha256(picture.colour.tobytes() + depth.tobytes()).hexdigest(),
        json.dumps(outcome.record),
    ]
    return digests


def test_same_episode_is_the_same_to_the_bit_in_and_across_processes():
    mine = episode()
    other_task = opened("libero_90", 47, state=5)
    go(other_task, shifted(other_task, 0.0, 0.1, 0.0))
    assert episode() == mine
    code = "import json, test_sim_world; print(json.dumps(test_sim_world.episode()))"
    here = Path(__file__).parent
    other = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True)
    assert json.loads(other.stdout) == mine  # and nothing else was printed


def test_reused_world_equals_a_fresh_one():
    reused = opened("libero_90", 46, state=2)
    fresh = WorldCache(1)
    assert fresh.open(load_task("libero_90", (46,)), 2).digest() == reused.digest()
    fresh.close()


def test_states_differ_and_an_old_world_is_over():
    first = opened("libero_90", 46, state=0)
    start = first.digest()
    second = opened("libero_90", 46, state=1)
    assert second.digest() != start
    with pytest.raises(SimError, match="over"):
        first.digest()
    with pytest.raises(SimError, match="over"):
        first.device.frame("scene")
    with pytest.raises(UnknownTask, match="0 to 49"):
        worlds().open(load_task("libero_90", (46,)), 50)


def test_joined_task_succeeds_when_both_parts_hold():
    world = opened("libero_90", 46, 47)
    pick(world, SOUP)
    drop(world, BASKET, 0.0)
    half = world.truth()["goal"]
    assert [condition["held"] for condition in half] == [True, False]
    pick(world, CHEESE)
    drop(world, BASKET, 0.0)
    outcome = world.outcome()
    assert (outcome.success, outcome.settled, outcome.progress) == (True, True, 1.0)
    assert outcome is world.outcome()


def test_success_counts_at_any_step_and_the_settled_state_beside_it():
    world = opened("robosuite", 0, state=1)
    pick(world, "cube")
    go(world, shifted(world, 0.0, 0.0, -0.145))
    world.device.grip("arm", 0.08, 20.0)
    outcome = world.outcome()
    assert outcome.success
    assert not outcome.settled
    assert outcome.progress == 0.0


def test_record_tells_what_was_held_lifted_and_where_it_came_to_rest():
    world = opened("libero_90", 46)
    world.device.frame("scene")
    pick(world, SOUP)
    drop(world, BASKET, 0.0)
    world.device.frame("scene")
    record = world.outcome().record
    json.dumps(record)
    assert [grip["closing"] for grip in record["grips"]] == [False, True, False]
    assert record["grips"][1]["between"] == [SOUP]
    (hold,) = record["holds"]
    assert (hold["thing"], hold["ended"]) == (SOUP, "released")
    assert 0.1 < hold["lifted"] < 0.5
    (goal,) = hold["goals"]
    assert goal["fits"]
    assert np.linalg.norm(goal["offset"][:2]) < 0.03
    assert record["objects"][SOUP]["kind"] == "alphabet_soup"
    before, after = record["captures"]
    for capture in (before, after):
        for name, box in capture["objects"].items():
            assert object_at(capture["objects"], *box["centre"]) in (name, SOUP)
    assert object_at(after["objects"], *after["objects"][SOUP]["centre"]) == SOUP  # not the basket round it
    assert object_at(before["objects"], 0.45, 0.05, 0.6) == ""


def test_record_tells_of_a_wrong_thing_and_a_miss():
    world = opened("libero_90", 46)
    pick(world, CHEESE)
    closing = world.device.arm("arm").tool_to_base[:3, 0]
    go(world, downward(closing, [0.45, 0.0, 0.1]))
    world.device.grip("arm", 0.08, 20.0)
    outcome = world.outcome()
    (hold,) = outcome.record["holds"]
    assert hold["thing"] == CHEESE
    assert not hold["goals"][0]["fits"]
    basket = np.array(outcome.record["objects"][BASKET]["end"]["centre"])
    assert np.allclose(np.array(hold["rest"]) - hold["goals"][0]["offset"], basket, atol=0.05)
    assert (outcome.success, outcome.progress) == (False, 0.0)


def test_drawer_joints_are_in_the_record():
    record = opened("libero_90", 0).truth()
    top = record["joints"]["wooden_cabinet_1_top_level"]
    assert top["object"] == "wooden_cabinet_1"
    assert top["low"] <= top["start"] < -0.1  # the top drawer stands open
    assert record["objects"]["wooden_cabinet_1"]["fixed"]


@pytest.mark.parametrize("part", [1, 5, 10])
def test_robosuite_states_are_seeds(part):
    world = opened("robosuite", part, state=3)
    start = world.digest()
    assert opened("robosuite", part, state=4).digest() != start
    again = opened("robosuite", part, state=3)
    assert again.digest() == start
    assert not again.outcome().success


def test_record_tells_what_moved_a_drawer_and_for_which_values_it_is_closed():
    world = opened("libero_90", 0)
    before = world.truth()
    name = "wooden_cabinet_1_top_level"
    joint = before["joints"][name]
    assert before["goal"][0]["joints"] == [name]
    assert joint["asked"]["close"][0] == pytest.approx(0.0, abs=1e-3)
    assert before["places"]["wooden_cabinet_1_top_region"]["joint"] == name
    assert before["places"]["wooden_cabinet_1_top_side"]["joint"] == ""
    (x, y, z), half = joint["box"]["start"]["centre"], joint["box"]["start"]["half"]
    front = [x, y + half[1], z]
    closing = world.device.arm("arm").tool_to_base[:3, 0]
    world.device.grip("arm", 0.0, 20.0)
    high = [front[0], front[1] + 0.06, front[2]]
    go(world, downward(closing, [*high[:2], 0.35]), downward(closing, high))
    go(world, downward(closing, [front[0], front[1] - 0.05, front[2]]))
    go(world, downward(closing, high))
    world.device.frame("scene")
    record = world.outcome().record
    after = record["joints"][name]
    (touch,) = [t for t in after["touches"] if t["fingers"]]
    assert touch["before"] == pytest.approx(joint["start"], abs=2e-3)
    assert after["end"] > joint["start"] + 0.02
    assert record["captures"][0]["moved"]["joints"].keys() == {name}
    assert record["captures"][0]["moved"]["places"].keys() == {"wooden_cabinet_1_top_region"}
    assert not any(j["touches"] for other, j in record["joints"].items() if other != name)
