"""Findings about parts of things and how far they moved, on episodes of real worlds: what was looked at and
studied by the product's own programs, a scripted move, and the simulator's record."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from skill2real.agents.diagnosis import diagnose
from skill2real.agents.diagnosis_order import order
from skill2real.agents.diagnosis_parts import Parts, is_part
from skill2real.agents.leaks import leak
from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.agents.renaming import rename
from skill2real.agents.wording import sentences
from skill2real.ledger import events as ev

EPISODES: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_work.json").read_text())
MOVES = [name for name in EPISODES if not name.startswith("target")]
TOP, MIDDLE = "wooden_cabinet_1_top_level", "wooden_cabinet_1_middle_level"


def executed(value: Any, captures: int) -> ev.ProgramExecuted:
    call = ev.Call(operation="capture", arguments={}, result={"id": "view"}, seconds=0.0)
    return ev.ProgramExecuted(
        turn=0, calls=(call,) * captures, printed="", value=value, error="", unread_failures=(), seconds=0.0
    )


def view(episode: dict[str, Any], instruction: str = "") -> EpisodeView:
    task = ev.Task(suite="libero_90", parts=(0,), instruction=instruction or episode["instruction"])
    started = ev.EpisodeStarted(task=task, state=0, purpose="train", memory=ev.MemoryRef())
    values = episode["look"], {"parts": episode["parts"]}
    turns = [
        Turn(ev.ProgramProposed(turn=n, source="", last=False), executed(value, episode["captures"][n]))
        for n, value in enumerate(values)
    ]
    turns.append(Turn(ev.ProgramProposed(turn=2, source="", last=True, choices=tuple(episode["choices"]))))
    return EpisodeView("episode", started, turns, finished=True)


def found(episode: dict[str, Any], instruction: str = "") -> dict[str, ev.Finding]:
    findings = diagnose(view(episode, instruction), episode["record"], episode["success"])
    return {f.decision: f for f in findings}


# By which part was chosen and the joint's values: the part that was right, and what is said of the move.
READ: dict[str, tuple[bool, str | None]] = {
    "pushed shut": (True, ""),
    "pushed half": (True, "moved partly"),
    "not reached": (True, "nothing was touched"),
    "wrong drawer": (False, None),  # it was closed already: of that move nothing can be said
    "pulled open": (True, ""),
    "pulled a little": (True, "moved partly"),
    "pushed instead": (True, "touched, but it did not move"),
    "another drawer opened": (False, "nothing was touched"),
}


@pytest.mark.parametrize("name", MOVES)
def test_a_move_is_judged_for_the_part_that_was_chosen(name: str) -> None:
    episode = EPISODES[name]
    findings = found(episode)
    right, kind = READ[name]
    assert findings["which"].good
    assert findings["part"].good is right
    assert (findings["work"].kind if "work" in findings else None) == kind
    assert "work" not in findings or findings["work"].good is (kind == "")
    chosen = episode["choices"][1]
    if right:
        assert findings["part"].part == chosen["part"]
    else:
        meant = episode["parts"][str(chosen["region"])][findings["part"].part]
        assert findings["part"].kind == "wrong part"
        assert (meant["kind"], meant["rise"] > 0.8) == ("bump", True)  # the bar of the top drawer


@pytest.mark.parametrize("name", MOVES)
def test_the_words_for_parts_leak_nothing(name: str) -> None:
    episode = EPISODES[name]
    text = sentences(diagnose(view(episode), episode["record"], episode["success"]), episode["success"])
    assert leak(text, episode["record"]) == ""
    assert "part " in text


@pytest.mark.parametrize("name", MOVES)
def test_made_up_nouns_change_nothing(name: str) -> None:
    episode = EPISODES[name]
    made_up = rename(episode["instruction"])
    assert made_up != episode["instruction"]
    assert found(episode, made_up) == found(episode)


def moved(name: str, **values: float) -> dict[str, Any]:
    """The episode as if the top drawer's joint had taken other values in its last touch and at the end."""
    episode = copy.deepcopy(EPISODES[name])
    joint = episode["record"]["joints"][TOP]
    joint["touches"][-1].update({k: v for k, v in values.items() if k != "end"})
    joint["end"] = values.get("end", joint["end"])
    lowest, highest = joint["asked"][episode["record"]["goal"][0]["predicate"]]
    episode["record"]["goal"][0]["held"] = episode["success"] = lowest <= joint["end"] <= highest
    return episode


@pytest.mark.parametrize(
    ("episode", "kind"),
    [
        (moved("pushed shut", end=-0.05), "moved and sprang back"),
        (moved("pushed half", most=-0.02, after=-0.02, end=-0.02), "moved nearly far enough"),
        (moved("pushed half", least=-0.16, most=-0.146, after=-0.16, end=-0.16), "moved the wrong way"),
        (moved("pulled open", fingers=False), "moved, but not by the fingers"),
    ],
)
def test_kinds_of_movement(episode: dict[str, Any], kind: str) -> None:
    finding = found(episode)["work"]
    assert (finding.good, finding.kind) == (False, kind)


def test_a_neighbour_that_moved_is_no_success_of_the_part() -> None:
    episode = copy.deepcopy(EPISODES["another drawer opened"])
    episode["record"]["joints"][TOP] = copy.deepcopy(EPISODES["pulled open"]["record"]["joints"][TOP])
    episode["success"] = episode["record"]["goal"][0]["held"] = True
    findings = found(episode)
    assert findings["work"].kind == "another part moved"
    assert not findings["part"].good


def test_a_part_that_was_not_measured_is_not_among_them() -> None:
    episode = copy.deepcopy(EPISODES["another drawer opened"])
    region = str(episode["choices"][1]["region"])
    episode["parts"][region] = [p for p in episode["parts"][region] if p["rise"] < 0.8]
    finding = found(episode)["part"]
    assert (finding.good, finding.kind, finding.part) == (False, "not among your parts", -1)


# What each measured part is, by what is seen: compartments of a caddy by their places from the robot (x
# forward, y left), boards of a shelf and surfaces of a cabinet by their heights.
PLACES = {
    "target: pick up the book and place it in the front compartment of the caddy": (
        "desk_caddy_1",
        [
            ("left_contain", lambda p: p["y"] < -0.25),
            ("right_contain", lambda p: p["y"] > -0.05),
            ("back_contain", lambda p: -0.2 < p["y"] < -0.1 and p["x"] < 0.36),
            ("front_contain", lambda p: -0.2 < p["y"] < -0.1 and p["x"] > 0.36),
        ],
        True,
    ),
    "target: put the frying pan on the cabinet shelf": (
        "wooden_two_layer_shelf_1",
        [
            ("bottom", lambda p: p["z"] < 0.02),
            ("top_region", lambda p: 0.05 < p["z"] < 0.1),
            ("top_side", lambda p: p["z"] > 0.2),
        ],
        True,
    ),
    "target: put the black bowl in the top drawer of the cabinet": (
        "wooden_cabinet_1",
        [("top_region", lambda p: p["kind"] == "hollow"), ("top_side", lambda p: p["z"] > 0.2)],
        True,
    ),
    "target: put the black bowl on top of the cabinet": (
        "wooden_cabinet_1",
        [("top_side", lambda p: p["length"] > 0.2 and p["z"] > 0.2)],
        True,  # the look saw no more than its front: the middle of that is not on top
    ),
}


@pytest.mark.parametrize("name", list(PLACES))
def test_parts_are_the_places_that_goals_name(name: str) -> None:
    episode = EPISODES[name]
    thing, seen, part = PLACES[name]
    (region,) = episode["parts"]
    places = Parts(view(episode), episode["record"]).places(2, int(region), thing)
    for words, is_it in seen:
        fitting = [place for place, p in zip(places, episode["parts"][region], strict=True) if is_it(p)]
        assert fitting, words
        assert all(words in place for place in fitting)
    shown = episode["look"]["regions"][int(region)]
    assert is_part(episode["record"], episode["record"]["goal"][0]["region"], shown) is part


def put(episode: dict[str, Any], region: int, part: int | None) -> dict[str, Any]:
    """The episode with the choices of putting something into a region, or into one of its parts."""
    changed = copy.deepcopy(episode)
    target = {"clause": 0, "decision": "target", "noun": "x", "selector": "", "region": region, "entry": ""}
    changed["choices"] = [target]
    if part is not None:
        changed["choices"].append({**target, "decision": "part", "verb": "in", "part": part})
    return changed


@pytest.mark.parametrize("name", list(PLACES))
def test_a_target_that_is_a_part_is_said_to_be_one(name: str) -> None:
    episode = EPISODES[name]
    thing, _, part = PLACES[name]
    (region,) = episode["parts"]
    findings = found(put(episode, int(region), None))
    assert findings["target"].good
    assert ("part" in findings) is part
    if part:
        said = findings["part"]
        assert (said.good, said.kind) == (False, "it belongs in or on a part of it")
        assert (said.region, said.part) == (int(region), -1)
    places = Parts(view(episode), episode["record"]).places(2, int(region), thing)
    wanted = episode["record"]["goal"][0]["region"]
    for number, place in enumerate(places):
        chosen = found(put(episode, int(region), number))["part"]
        assert chosen.good is (place == wanted)
        assert places[chosen.part] == wanted


def test_the_middle_of_the_top_needs_no_part() -> None:
    episode = copy.deepcopy(EPISODES["target: put the black bowl on top of the cabinet"])
    (region,) = episode["parts"]
    top = episode["record"]["places"][episode["record"]["goal"][0]["region"]]["start"]["centre"]
    episode["look"]["regions"][int(region)].update(x=top[0], y=top[1] + 0.02, top=top[2], height=0.22)
    assert list(found(put(episode, int(region), None))) == ["target"]


OPENS = {"thing": "c", "target": "", "region": "r", "joints": ["j"], "predicate": "open"}
FILLS = {"thing": "b", "target": "c", "region": "r", "joints": ["j"], "predicate": "in"}
CLOSED: dict[str, Any] = {
    "j": {"low": -0.16, "high": 0.01, "start": 0.0, "end": -0.15, "touches": [],
          "asked": {"open": [-0.2, -0.14], "close": [0.0, 0.05]}}
}  # fmt: skip


@pytest.mark.parametrize(
    ("acted", "open_when_put", "ever", "kind"),
    [
        ([1, 0], 0.0, False, "another part had to be done first"),
        ([0, 1], 0.0, False, ""),  # said and done in order: the opening was at fault, not the order
        ([1, 0], -0.15, True, "done, then undone by another part"),
        ([1, 0], -0.15, False, "another order than said"),
        ([0], -0.15, False, "a part was not tried"),
    ],
)
def test_an_order_that_cannot_work_is_named(
    acted: list[int], open_when_put: float, ever: bool, kind: str
) -> None:
    goals = [{**OPENS, "held": True, "ever": True}, {**FILLS, "held": False, "ever": ever}]
    finding = order(acted, 2, False, goals, {1: {"open": {"j": open_when_put}}}, {"joints": CLOSED})
    assert (finding.good, finding.kind) == (not kind, kind)
