"""Moves that an instruction asks for as a whole, releases over narrow targets, and looking again: chosen,
judged and learned, on made-up episodes; and played in the simulator."""

import dataclasses
import math
from random import Random
from typing import Any

import cv2
import numpy as np
import pytest
from test_embedded import episode, region

from skill2real.agents.diagnosis import diagnose
from skill2real.agents.diagnosis_moves import move
from skill2real.agents.grammar import parse
from skill2real.agents.leaks import leak
from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.agents.models.embedded.attempts import Attempts, Released, read
from skill2real.agents.models.embedded.choose import NOT_BESIDE, release, release_space
from skill2real.agents.models.embedded.model import EmbeddedModel
from skill2real.agents.models.embedded.moves import MOVES, asked, choose_move
from skill2real.agents.models.embedded.over import OVERS
from skill2real.agents.models.embedded.skills import Skills
from skill2real.agents.models.embedded.twoarm import CLEAR, HAND_OVER, NAIVE_BOTH
from skill2real.agents.models.embedded.variants import RELEASES
from skill2real.agents.screening import screen
from skill2real.agents.wording import sentences
from skill2real.backends.api import Point, Region, Shape
from skill2real.backends.sim import suites
from skill2real.backends.sim.rollout import Player, Rollout
from skill2real.ledger import events as ev

BOTH, HAND, WIPE = (
    "lift the zorp with both arms",
    "lift the zorp and hand it over to the other arm",
    "wipe it",
)
RESTACK = "put the quib next to the zorp and stack the zorp on the quib"
GOOD_BOTH = {"ends": "length", "inset": 0.012, "depth": 0.02}
GOOD_WIPE = {"press": 30.0, "speed": 0.15, "step": 0.09, "beyond": 0.03, "turns": 5}


def entry(kind: str, noun: str, variant: dict[str, Any]) -> ev.Entry:
    state = {"noun": noun, "variant": variant}
    return ev.Entry(id=f"{kind}/{noun}", layer="cerebellum", kind=kind, when="", template="", state=state)


def started(instruction: str, **more: Any) -> EpisodeView:
    task = ev.Task(suite="robosuite", parts=(0,), instruction=instruction)
    settings = {"purpose": "eval", "memory": ev.MemoryRef(), "state": 0} | more
    return EpisodeView("eval/1", ev.EpisodeStarted(task=task, **settings))


def looked(view: EpisodeView, regions: list[dict[str, Any]]) -> EpisodeView:
    """With a further program whose value says that there are these regions."""
    turn = Turn(ev.ProgramProposed(turn=len(view.turns), source="", last=False))
    turn.executed = ev.ProgramExecuted(
        turn=len(view.turns), calls=(), printed="", value={"regions": regions, "right": (0.0, 1.0)}, error="",
        unread_failures=(), seconds=0.0,
    )  # fmt: skip
    view.turns.append(turn)
    return view


def acted(view: EpisodeView, proposal: Any) -> EpisodeView:
    number = len(view.turns)
    proposed = ev.ProgramProposed(
        turn=number, source=proposal.source, last=proposal.last, choices=proposal.choices
    )
    done = ev.ProgramExecuted(
        turn=number, calls=(), printed="", value=None, error="", unread_failures=(), seconds=0.0
    )
    view.turns.append(Turn(proposed, done))
    return view


def tried(variant: dict[str, Any], kind: str, number: int = 0) -> EpisodeView:
    choice = {"clause": 0, "decision": "both", "noun": "zorp", "region": 0, "variant": variant, "entry": ""}
    finding = ev.Finding(clause=0, decision="both", good=not kind, kind=kind)
    return episode(number, BOTH, [region("zorp", 0.5, 0.0)], [choice], [finding])


def chosen(evidence: list[EpisodeView], seed: int = 0) -> dict[str, Any]:
    return choose_move("both", "zorp", Skills(()), read(evidence), Random(seed)).variant


def test_instructions_that_ask_for_a_move_as_a_whole() -> None:
    assert [asked(clause) for text in (BOTH, HAND, WIPE) for clause in parse(text)] == [
        "both", "hand over", "wipe",
    ]  # fmt: skip
    (clause,) = parse(HAND)
    assert (clause.verb, clause.thing.noun, clause.relation) == ("hand over", "zorp", "to")
    for plain in ("lift the zorp", "pick up the zorp and put it over the quib", "put the zorp on the quib"):
        assert not any(asked(clause) for clause in parse(plain))


@pytest.mark.parametrize(
    ("text", "line", "home"), [(BOTH, "lift_both(", 0), (WIPE, "wipe(", 1), (HAND, "take(", 0)]
)
def test_the_program_has_the_move_and_leaves_the_hands_where_they_hold(
    text: str, line: str, home: int
) -> None:
    proposal = EmbeddedModel().propose(looked(started(text), [region("zorp", 0.5, 0.0)]), (), [])
    (choice,) = [c for c in proposal.choices if c["decision"] in MOVES]
    assert choice["variant"] == MOVES[choice["decision"]].naive
    assert proposal.source.count(f"def {line}") == 1
    assert f"0 = {line}" in proposal.source
    assert proposal.source.splitlines()[-1:].count("go_home()") == home


def test_other_programs_do_not_carry_these_moves() -> None:
    seen = [region("zorp", 0.5, 0.0), region("quib", 0.6, 0.2, size=0.2)]
    model = EmbeddedModel()
    source = model.propose(looked(started("put the zorp on the quib"), seen), (), []).source
    assert not any(f"def {name}(" in source for name in ("wipe", "lift_both", "hand_over", "put_over"))
    assert CLEAR not in model.propose(started("lift the zorp"), (), []).source
    assert CLEAR in model.propose(started(BOTH), (), []).source


def test_exploring_begins_with_what_is_done_now_and_keeps_what_works() -> None:
    assert chosen([]) == NAIVE_BOTH
    good = [tried(NAIVE_BOTH, "neither hand held it"), tried(GOOD_BOTH, "", 1)]
    assert all(chosen(good, seed) == GOOD_BOTH for seed in range(20))


def test_part_of_the_way_draws_the_search_near() -> None:
    near = {"ends": "width", "inset": 0.0, "depth": 0.035}
    failed = [tried(v, "neither hand held it", i) for i, v in enumerate(MOVES["both"].space[:6])]
    half = [*failed, tried(near, "it slipped from a hand", 9)]
    drawn = [chosen(half, seed) for seed in range(30)]
    blind = [chosen(failed, seed) for seed in range(30)]
    assert sum(v["ends"] == "width" for v in drawn) > sum(v["ends"] == "width" for v in blind)
    twice = [*half, tried(near, "it slipped from a hand", 10)]
    assert all(chosen(twice, seed) != near for seed in range(30))


def candidates(evidence: list[EpisodeView]) -> list[Any]:
    asked_for = ev.CandidatesRequested(round="C1", layer="cerebellum", stage="work")
    return EmbeddedModel().reflect(asked_for, (), evidence, [])


def test_a_rule_needs_two_successes_and_something_to_mend() -> None:
    once = [tried(NAIVE_BOTH, "only one hand held it"), tried(GOOD_BOTH, "", 1)]
    assert candidates(once) == []
    (candidate,) = candidates([*once, tried(GOOD_BOTH, "", 2)])
    (made,) = candidate.entries
    assert (made.id, made.kind, made.state["variant"]) == ("both/zorp", "both", GOOD_BOTH)
    assert "12 mm" in made.when
    assert candidate.decision == "both"
    assert candidate.tasks == (BOTH,)
    assert candidates([tried(NAIVE_BOTH, "", i) for i in range(4)]) == []
    proposed = ev.CandidateProposed(
        entries=(made,), replaces=(), layer="cerebellum", stage="work", decision="both", reason=""
    )
    assert screen(proposed, (), set(), set(made.provenance.evidence)) == ""
    skills = Skills((made,))
    assert choose_move("both", "zorp", skills, None, Random(0)).entry == made.id


def hold(arm: str, lifted: float = 0.2, ended: str = "held") -> dict[str, Any]:
    return {"thing": "zorp_1", "arm": arm, "lifted": lifted, "ended": ended}


@pytest.mark.parametrize(
    ("decision", "holds", "done", "kind"),
    [
        ("both", [], False, "neither hand held it"),
        ("both", [hold("first")], False, "only one hand held it"),
        ("both", [hold("first"), hold("second", ended="slipped")], False, "it slipped from a hand"),
        ("both", [hold("first"), hold("second")], False, "held by both, not lifted high enough"),
        ("both", [hold("first"), hold("second")], True, ""),
        ("both", [hold("first")], True, "only one hand held it"),
        ("hand over", [], False, "no hand held it"),
        ("hand over", [hold("first", 0.01)], False, "it slipped from the first hand while lifting"),
        ("hand over", [hold("first", ended="slipped")], False, "it slipped from the first hand"),
        ("hand over", [hold("first")], False, "the other hand did not get it"),
        ("hand over", [hold("first"), hold("second")], False, "both hands have it"),
        ("hand over", [hold("first", ended="released"), hold("second", ended="slipped")], False,
         "it slipped from the other hand"),
        ("hand over", [hold("first", ended="released"), hold("second")], False,
         "the other hand has it, but not as it should"),
        ("hand over", [hold("first", ended="released"), hold("second")], True, ""),
    ],
)  # fmt: skip
def test_what_came_of_it(decision: str, holds: list[Any], done: bool, kind: str) -> None:
    found = move(0, decision, {"thing": "zorp_1", "ever": done}, {"holds": holds, "grips": []}, True)
    assert found is not None
    assert (found.good, found.kind) == (not kind, kind)
    assert found.good or kind in MOVES[decision].credit
    assert move(0, decision, {"thing": "zorp_1", "ever": done}, {"holds": holds, "grips": []}, False) is None


@pytest.mark.parametrize(
    ("share", "kind"),
    [(0.0, "nothing was wiped off"), (0.5, "a part was wiped off"), (0.9, "nearly all was wiped off")],
)
def test_how_much_was_wiped_off(share: float, kind: str) -> None:
    found = move(0, "wipe", {"thing": "table", "ever": False, "share": share}, {"holds": []}, False)
    assert found is not None
    assert found.kind == kind
    assert kind in MOVES["wipe"].credit


def released(narrow: bool = False, kind: str = "released beside") -> Released:
    return Released("e", "on", "quib", RELEASES[0], False, (0.0, 0.0), narrow, kind)


def test_wide_misses_on_one_side_lead_to_the_other_side() -> None:
    wide = [
        Released("e", "by", "quib", variant, False, (0.0, 1.0), wide=True)
        for variant in (RELEASES[0], RELEASES[3], RELEASES[7])
    ]
    near = [dataclasses.replace(one, wide=False) for one in wide]

    def aside(tries: list[Released]) -> int:
        chosen = [release("by", "quib", Skills(()), Attempts(releases=tries), Random(k)) for k in range(40)]
        return sum(rule.variant["dy"] == 1.0 for rule in chosen)

    assert aside(wide) > 30
    assert aside(near) < aside(wide) - 15


def test_over_a_narrow_target_only_where_releases_on_it_went_wrong() -> None:
    space = [release_space("on", "quib", Attempts(releases=[released(n) for n in missed]))
             for missed in ([False] * 4, [True], [True, True])]  # fmt: skip
    assert [set(map(str, OVERS)) <= set(map(str, s)) for s in space] == [False, False, True]
    beside = release_space("on", "quib", Attempts(releases=[released(kind=NOT_BESIDE)] * 2))
    assert beside == RELEASES


def test_what_was_moved_is_looked_at_again_before_it_is_named_again() -> None:
    model, stack = EmbeddedModel(), [region("quib", 0.5, 0.0)]
    view = looked(started(RESTACK, purpose="train", round="C1", memory=ev.MemoryRef(explore=True)), stack)
    first = model.propose(view, (), [])
    assert not first.last
    assert {c["clause"] for c in first.choices if c["decision"] == "grasp"} == {0}
    assert [c["region"] for c in first.choices if c["decision"] in ("target", "release")] == [0]
    again = model.propose(acted(view, first), (), [])
    assert again.choices == ()
    assert "find_regions" in again.source
    assert "def pick" not in again.source
    both = [region("zorp", 0.5, 0.0), region("quib", 0.5, 0.1)]
    last = model.propose(looked(view, both), (), [])
    assert last.last
    assert {c["clause"] for c in last.choices} == {1}
    assert {c["decision"] for c in last.choices} >= {"which", "grasp", "target", "release"}


def test_each_choice_is_read_with_the_regions_of_its_own_look() -> None:
    view = looked(started(RESTACK), [region("quib", 0.5, 0.0)])
    looked(view, [region("zorp", 0.5, 0.0), region("quib", 0.5, 0.1)])
    assert [len(view.regions(turn)) for turn in (0, 1, 2)] == [0, 1, 2]
    assert [view.looked(turn) for turn in (0, 1, 2, None)] == [-1, 0, 1, 1]


def played(task: int, state: int, memory: tuple[ev.Entry, ...]) -> tuple[EpisodeView, dict[str, Any]]:
    """An episode as it is played: proposed, run, judged."""
    about = suites.load_task("robosuite", (task,))
    view, player, sources = started(about.instruction, state=state), Player(1), list[str]()
    while True:
        proposal = EmbeddedModel().propose(view, memory, [])
        sources.append(proposal.source)
        done = player.play(Rollout("robosuite", (task,), state, tuple(sources), proposal.last, about.scene))
        assert done.result.rejected is None
        assert not done.result.error
        acted(view, proposal)
        view.turns[-1].executed = ev.ProgramExecuted(
            turn=len(view.turns) - 1, calls=(), printed="", value=done.result.value, error="",
            unread_failures=(), seconds=0.0,
        )  # fmt: skip
        if proposal.last:
            assert done.outcome is not None
            return view, done.outcome


@pytest.mark.sim
@pytest.mark.parametrize(
    ("task", "state", "memory", "kind"),
    [
        (10, 12, (), "a part was wiped off"),
        (10, 12, (entry("wipe", "dirt", GOOD_WIPE),), ""),
        (12, 1, (entry("both", "pot", GOOD_BOTH),), ""),
    ],
)
def test_in_the_simulator(task: int, state: int, memory: tuple[ev.Entry, ...], kind: str) -> None:
    view, outcome = played(task, state, memory)
    found = diagnose(view, outcome["record"], outcome["success"])
    assert found[-1].kind == kind
    assert outcome["success"] is not bool(kind)
    assert leak(sentences(found, outcome["success"]), outcome["record"]) == ""


def hammer(turn: float) -> tuple[Any, Any, tuple[float, float], float]:
    """Region and shape of a thing like a T, measured by its smallest rectangle; its true light tip and
    direction."""
    boxes = [(0.0, 0.2, -0.012, 0.012), (0.2, 0.245, -0.055, 0.055)]
    points = np.array(
        [(x, y) for a, b, c, d in boxes for x in np.arange(a, b, 0.002) for y in np.arange(c, d, 0.002)]
    )
    c, s = math.cos(turn), math.sin(turn)
    points = points @ np.array([[c, s], [-s, c]])
    (x, y), (w, h), angle = cv2.minAreaRect((points * 1000).astype(np.float32))
    yaw = math.radians(angle if w >= h else angle + 90.0)
    shape = Shape(x=x / 1000, y=y / 1000, length=max(w, h) / 1000, width=min(w, h) / 1000, yaw=yaw)
    return Region(x=points[:, 0].mean(), y=points[:, 1].mean()), shape, (0.0, 0.0), turn


@pytest.mark.parametrize("turn", [0.0, 0.4, 1.2, 2.0, 2.9, 4.0, 5.5])
def test_the_direction_of_a_thing_with_a_head_is_that_of_its_handle(turn: float) -> None:
    names: dict[str, Any] = {"Point": Point, "Shape": Shape, "Region": Region, "Robot": Any}
    exec(HAND_OVER, names)
    region, shape, tip, direction = hammer(turn)
    found, c, s = names["axis"](region, shape)
    assert math.hypot(found.x - tip[0], found.y - tip[1]) < 0.015
    assert math.hypot(c - math.cos(direction), s - math.sin(direction)) < 0.08
