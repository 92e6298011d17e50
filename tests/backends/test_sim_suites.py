"""Suites: each lists its tasks, instructions come from the BDDL files, and wrong names say what is right."""

import re
from pathlib import Path

import pytest

from skill2real.backends.sim.errors import UnknownSuite, UnknownTask
from skill2real.backends.sim.suites import count_tasks, initial_states, list_suites, load_task

pytestmark = pytest.mark.sim


def test_lists_the_suites_that_are_installed():
    suites = list_suites()
    assert {
        "libero_90",
        "libero_10",
        "libero_10_task",
        "libero_10_swap",
        "libero_spatial",
        "robosuite",
    } <= set(suites)
    assert "libero_10_env" not in suites  # named by the distribution, without files
    assert count_tasks("libero_90") == 90
    assert count_tasks("libero_10_swap") == count_tasks("libero_10_task") == 10


@pytest.mark.parametrize("suite", ["libero_90", "libero_10_task", "libero_10_swap", "libero_goal_lan"])
def test_instruction_and_goal_come_from_the_bddl_file(suite):
    task = load_task(suite, (2,))
    text = Path(task.source).read_text()
    said = re.search(r"\(:language ([^)]*)\)", text)
    assert said is not None
    assert task.instruction.split() == said.group(1).split()
    for condition in task.goal:
        assert re.search(rf"\({condition[0]} +{' +'.join(condition[1:])}\)", text, re.IGNORECASE)
    assert len(initial_states(task)) == task.states


def test_perturbed_instruction_is_not_the_old_one():
    assert load_task("libero_goal_lan", (0,)).instruction != load_task("libero_goal", (0,)).instruction


def test_tasks_of_one_scene_share_it_and_can_be_joined():
    soup, cheese = load_task("libero_90", (46,)), load_task("libero_90", (47,))
    joined = load_task("libero_90", (46, 47))
    assert joined.scene == soup.scene == cheese.scene
    assert joined.instruction == f"{soup.instruction} and {cheese.instruction}"
    assert joined.goal == soup.goal + cheese.goal


def test_wrong_names_say_what_is_right():
    with pytest.raises(UnknownSuite, match="libero_90"):
        load_task("libero_91", (0,))
    with pytest.raises(UnknownTask, match="0 to 89"):
        load_task("libero_90", (90,))
    with pytest.raises(UnknownTask, match="one scene"):
        load_task("libero_90", (0, 46))
    with pytest.raises(UnknownTask, match="different"):
        load_task("libero_90", (46, 46))
