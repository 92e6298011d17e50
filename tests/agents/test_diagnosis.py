"""The Verifier's findings on episodes of a real run, each read by hand in its record; recorded with what
diagnosis needs of an episode: instruction, choices, what the look program saw, and the simulator's record."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from skill2real.agents.diagnosis import diagnose, seen_from_camera
from skill2real.agents.leaks import leak
from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.agents.wording import sentences
from skill2real.ledger import events as ev

EPISODES: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_episodes.json").read_text())
Found = tuple[int, str, bool, str, int, str, str]


def findings(episode: dict[str, Any]) -> tuple[ev.Finding, ...]:
    task = ev.Task(suite="libero_90", parts=(0,), instruction=episode["instruction"])
    started = ev.EpisodeStarted(task=task, state=0, purpose="train", memory=ev.MemoryRef())
    look = Turn(ev.ProgramProposed(turn=0, source="", last=False))
    look.executed = ev.ProgramExecuted(
        turn=0, calls=(), printed="", value=episode["value"], error="", unread_failures=(), seconds=0.0
    )
    act = Turn(ev.ProgramProposed(turn=1, source="", last=True, choices=tuple(episode["choices"])))
    view = EpisodeView("episode", started, [look, act], finished=True)
    return diagnose(view, episode["record"], episode["success"])


def plain(found: tuple[ev.Finding, ...]) -> list[Found]:
    return [(f.clause, f.decision, f.good, f.kind, f.region, f.direction, f.amount) for f in found]


def good(clause: int, decision: str, region: int = -1) -> Found:
    return (clause, decision, True, "", region, "", "")


def bad(
    clause: int, decision: str, kind: str, region: int = -1, direction: str = "", amount: str = ""
) -> Found:
    return (clause, decision, False, kind, region, direction, amount)


# Objects of the record at the regions' places, closings and openings with what was between the fingers, and
# resting places against the goal's say this; regions count from 0.
READ: dict[str, list[Found]] = {
    # cheese in the hand instead of soup, and lost at once
    "a slip of the wrong thing": [
        bad(0, "which", "wrong thing", 3),
        bad(0, "grasp", "slipped while lifting"),
        good(0, "target", 6),
    ],
    # butter, up by 39 cm, down in the basket
    "a success": [good(0, "which", 5), good(0, "grasp"), good(0, "target", 6), good(0, "release")],
    # the bowl came to rest 3 cm to the robot's right of the plate: the camera faces the robot
    "released beside": [
        good(0, "which", 1),
        good(0, "grasp"),
        good(0, "target", 0),
        bad(0, "release", "released beside", direction="left", amount="near"),
    ],
    # tomato sauce touched instead of milk, on the way to the orange juice instead of the basket
    "touched, in the wrong place": [
        bad(0, "which", "wrong thing", 2),
        bad(0, "grasp", "touched, not held"),
        bad(0, "target", "wrong thing", 6),
    ],
    "nothing between the fingers": [
        good(0, "which", 2),
        bad(0, "grasp", "nothing between the fingers"),
        good(0, "target", 6),
    ],
    "a part left out": [
        bad(0, "order", "a part was not tried"),
        good(0, "which", 5),
        good(0, "grasp"),
        good(0, "target", 6),
        good(0, "release"),
    ],
    "both parts done": [
        good(0, "order"),
        *(good(0, "which", 5), good(0, "grasp"), good(0, "target", 6), good(0, "release")),
        *(good(1, "which", 2), good(1, "grasp"), good(1, "target", 6), good(1, "release"), good(1, "room")),
    ],
    # soup on top of the milk: both near the middle of the basket, and too high to be in it
    "another order": [
        bad(0, "order", "another order than said"),
        *(good(1, "which", 2), good(1, "grasp"), good(1, "target", 6)),
        bad(1, "release", "released beside", direction="down", amount="near"),
        *(good(0, "which", 3), good(0, "grasp"), good(0, "target", 6)),
        bad(0, "release", "released beside", direction="right", amount="near"),
        bad(0, "room", "released beside"),
    ],
    # the nearest of three bowls stands on the plate; it was the one at the back that was meant
    "the other of two bowls": [
        bad(0, "which", "wrong thing", 2),
        good(0, "grasp"),
        good(0, "target", 0),
        good(0, "release"),
    ],
    "not reached": [
        bad(0, "order", "a part was not tried"),
        good(0, "which", 5),
        bad(0, "grasp", "the hand did not get there"),
        good(0, "target", 6),
    ],
}


@pytest.mark.parametrize("name", list(EPISODES))
def test_findings_are_what_the_record_shows(name: str) -> None:
    assert plain(findings(EPISODES[name])) == READ[name]


@pytest.mark.parametrize("name", list(EPISODES))
def test_the_words_for_them_leak_nothing(name: str) -> None:
    episode = EPISODES[name]
    text = sentences(findings(episode), episode["success"])
    assert leak(text, episode["record"]) == ""
    assert text.startswith("The goal was reached." if episode["success"] else "The goal was not reached.")
    for region in {f.region for f in findings(episode) if f.region >= 0}:
        assert f"region {region}" in text


def without_closing(episode: dict[str, Any], which: int) -> dict[str, Any]:
    """The same episode as if the hand had not closed for one of its parts, and so held nothing then."""
    changed = copy.deepcopy(episode)
    record = changed["record"]
    closings = [i for i, grip in enumerate(record["grips"]) if grip["closing"]]
    gone = closings[which]
    del record["grips"][gone]
    record["holds"] = [
        {**hold, "grip": hold["grip"] - (hold["grip"] > gone)}
        for hold in record["holds"]
        if hold["grip"] != gone
    ]
    changed["success"] = False
    return changed


@pytest.mark.parametrize("missed", [0, 1])
def test_a_hand_that_did_not_get_there_is_blamed_for_its_own_part(missed: int) -> None:
    found = plain(findings(without_closing(EPISODES["both parts done"], missed)))
    assert bad(missed, "grasp", "the hand did not get there") in found
    assert good(1 - missed, "grasp") in found
    assert good(1 - missed, "release") in found
    assert not [f for f in found if f[:2] == (missed, "release")]


def test_a_target_that_was_not_meant_says_nothing_of_the_release() -> None:
    episode = copy.deepcopy(EPISODES["released beside"])
    for choice in episode["choices"]:
        if choice["decision"] == "target":
            choice["region"] = 2
    found = plain(findings(episode))
    assert bad(0, "target", "wrong thing", 0) in found
    assert "release" not in [decision for _, decision, *_ in found]


def test_a_thing_that_was_not_found_is_not_among_the_regions() -> None:
    episode = copy.deepcopy(EPISODES["a success"])
    region = episode["value"]["regions"][5]
    region["x"] += 1.0
    assert bad(0, "which", "not among your regions") in plain(findings(episode))


@pytest.mark.parametrize(
    ("offset", "right", "direction"),
    [
        ((0.0, 0.1, 0.0), (0.0, 1.0), "right"),  # the scene camera faces the robot
        ((0.0, -0.1, 0.0), (0.0, 1.0), "left"),
        ((0.1, 0.0, 0.0), (0.0, 1.0), "down"),
        ((-0.1, 0.02, 0.0), (0.0, 1.0), "up"),
        ((0.1, 0.0, 0.0), (0.0, -1.0), "up"),  # from behind the robot
        ((0.1, 0.0, 0.3), (2.0, 0.0), "right"),  # height and the vector's length do not count
    ],
)
def test_directions_are_those_of_the_picture(
    offset: tuple[float, float, float], right: tuple[float, float], direction: str
) -> None:
    assert seen_from_camera(list(offset), right) == (direction, "hand")


@pytest.mark.parametrize(("far", "amount"), [(0.039, "near"), (0.041, "hand"), (0.119, "hand"), (0.2, "far")])
def test_amounts_are_coarse(far: float, amount: str) -> None:
    assert seen_from_camera([0.0, far, 0.0], (0.0, 1.0)) == ("right", amount)
