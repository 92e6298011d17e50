"""Learning to work on parts, on small made-up tries: from what the Verifier says of them, nothing else."""

import dataclasses
from random import Random
from typing import Any

import pytest

from skill2real.agents.models.embedded.attempts import Worked
from skill2real.agents.models.embedded.features import part_look
from skill2real.agents.models.embedded.work import (
    CREDIT,
    NAIVE,
    WORK,
    choose_work,
    rule_for,
    work_candidates,
)
from skill2real.agents.models.embedded.work_entry import work_entry
from skill2real.agents.models.embedded.work_space import LENGTHS, families, kind_of, neighbours
from skill2real.backends.sandbox import Sandbox

BAR: dict[str, Any] = {
    "kind": "bump", "x": 0.65, "y": -0.2, "z": 0.18, "outward": (0.0, 1.0, 0.0), "axis": (1.0, 0.0, 0.0),
    "length": 0.09, "width": 0.012, "depth": 0.03, "rise": 0.85, "along": 0.0, "hinge": None,
}  # fmt: skip
KNOB = BAR | {"outward": (0.0, 0.0, 1.0), "width": 0.024, "depth": 0.037, "rise": 1.0}
PANEL = BAR | {"kind": "leaf", "length": 0.25, "width": 0.18, "depth": 0.2, "hinge": [0.8, -0.2, 0.1]}
SLIDER = PANEL | {"hinge": None}


def tried(
    number: int, variant: dict[str, Any], kind: str, part: dict[str, Any] = BAR, noun: str = "zorp"
) -> Worked:
    return Worked(f"e{number}", f"open the {noun}", "open", noun, part, variant, not kind, kind)


def family(part: dict[str, Any], style: str, motion: str) -> dict[str, Any]:
    (found,) = [f for f in families(part) if (f["style"], f["motion"]) == (style, motion)]
    return found


def test_the_program_passes_the_type_check() -> None:
    with Sandbox() as sandbox:
        assert sandbox.check(WORK) is None
        call = 'work(measure_region(find_regions(capture("scene"))[0]).parts[0], Shape(), style="poke")\n'
        assert sandbox.check(WORK + call) is not None


@pytest.mark.parametrize(
    ("part", "motions"),
    [
        (BAR, {"pull", "push", "twist", "swing"}),
        (KNOB, {"pull", "push", "twist"}),
        (PANEL, {"pull", "push", "swing"}),
        (SLIDER, {"pull", "push"}),
    ],
)
def test_only_moves_that_the_geometry_allows_are_in_the_space(
    part: dict[str, Any], motions: set[str]
) -> None:
    space = families(part)
    assert {kind_of(f["motion"]) for f in space} == motions
    assert not any(f["style"] == "bar" for f in space) or part["width"] < 0.075
    assert all(f in neighbours(f) or f["style"].startswith("beside") for f in space)


def test_ranges_exceed_those_of_joints() -> None:
    longest = {kind: max(v["length"] for v in neighbours({"style": "bar", "motion": kind + "+", "tilt": 0.0,
        "length": 1.0, "lateral": 0.0})) for kind in ("twist", "swing")}  # fmt: skip
    assert LENGTHS["push"] >= 0.28
    assert longest["twist"] >= 2.3
    assert longest["swing"] >= 1.66


def test_without_memory_and_evidence_the_naive_move_is_made() -> None:
    assert choose_work("open", "zorp", BAR, [], None, Random(0)).variant == NAIVE


def test_every_family_is_tried_before_one_that_touched_nothing_is_tried_again() -> None:
    tries: list[Worked] = []
    for number in range(len(families(KNOB))):
        variant = choose_work("open", "zorp", KNOB, [], tries, Random(number)).variant
        tries.append(tried(number, variant, "nothing was touched", KNOB))
    assert len({(t.variant["style"], t.variant["motion"]) for t in tries}) == len(families(KNOB))


def test_what_did_it_is_done_again() -> None:
    good = family(BAR, "hook", "pull")
    tries = [tried(0, family(BAR, "front", "push"), "touched, but it did not move"), tried(1, good, "")]
    assert {str(choose_work("open", "zorp", BAR, [], tries, Random(k)).variant) for k in range(5)} == {
        str(good)
    }


def test_what_moved_it_partly_is_followed_up_to_the_same_side() -> None:
    tries = [tried(0, family(BAR, "bar", "pull"), "moved partly")]
    for number in range(1, 4):
        variant = choose_work("open", "zorp", BAR, [], tries, Random(number)).variant
        assert variant not in [t.variant for t in tries]
        assert variant["motion"] in ("pull", "swing+")
        tries.append(tried(number, variant, "moved partly"))


def test_the_wrong_way_says_that_the_other_side_is_right() -> None:
    tries = [tried(0, family(PANEL, "top", "pull"), "moved the wrong way", PANEL)]
    chosen = [choose_work("open", "zorp", PANEL, [], tries, Random(k)).variant["motion"] for k in range(8)]
    assert all(motion in ("push", "swing-") for motion in chosen)


def test_nearly_twice_changes_a_factor() -> None:
    near = family(KNOB, "bar", "twist+")
    tries = [tried(k, near, "moved nearly far enough", KNOB) for k in range(2)]
    assert all(choose_work("open", "zorp", KNOB, [], tries, Random(k)).variant != near for k in range(8))


def test_what_works_elsewhere_but_fails_here_gives_way() -> None:
    pull = family(BAR, "bar", "pull")
    elsewhere = [tried(k, pull, "") for k in range(12)]
    here = [tried(20 + k, pull, "moved nearly far enough", noun="zorp") for k in range(2)]
    here = [dataclasses.replace(one, instruction="open the low zorp") for one in here]
    for said, kept in (("open the zorp", True), ("open the low zorp", False)):
        tries = [*elsewhere, *here]
        chosen = [choose_work("open", "zorp", BAR, [], tries, Random(k), said).variant for k in range(6)]
        assert all((variant == pull) is kept for variant in chosen)


def test_what_worked_for_the_verb_elsewhere_is_tried_first() -> None:
    pull = family(BAR, "hook", "pull")
    tries = [tried(k, pull, "", BAR, "quib") for k in range(6)]
    first = [choose_work("open", "zorp", BAR, [], tries, Random(k)).variant for k in range(8)]
    assert sum(v == pull for v in first) > 4


def test_credit_rises_with_what_the_verifier_says() -> None:
    worth = list(CREDIT.values())
    assert worth == sorted(worth)


def test_two_successes_make_a_candidate_and_it_is_then_the_rule() -> None:
    good = family(BAR, "hook", "pull")
    tries = [tried(0, NAIVE, "touched, but it did not move"), *(tried(k, good, "") for k in (1, 2))]
    asked = ["open the zorp", "open the quib", "close the zorp"]
    assert work_candidates(tries[:2], [], asked) == []
    (candidate,) = work_candidates(tries, [], asked)
    (entry,) = candidate.entries
    assert candidate.tasks == ("open the zorp",)
    assert entry.provenance.evidence == ("e1", "e2")
    assert choose_work("open", "zorp", BAR, [entry], None, Random(0)).entry == entry.id
    assert rule_for("close", "zorp", BAR, [entry]) is None
    assert rule_for("open", "zorp", PANEL, [entry]) is None
    assert work_candidates(tries, [entry], asked) == []


def test_a_condition_covers_only_parts_like_those_it_worked_on() -> None:
    pull, twist = family(BAR, "hook", "pull"), family(KNOB, "bar", "twist+")
    low = BAR | {"rise": 0.2}
    tries = [tried(k, pull, "", BAR if k % 2 else low) for k in range(4)]
    tries += [tried(k, twist, "", KNOB | {"outward": (0.0, 0.0, 1.0)}) for k in range(4, 7)]
    found = {str(c.entries[0].state["variant"]): c.entries[0] for c in work_candidates(tries, [], [])}
    assert set(found) == {str(pull), str(twist)}
    assert rule_for("open", "zorp", low, list(found.values())).entry == found[str(pull)].id  # type: ignore[union-attr]


def test_an_entry_reads_as_english() -> None:
    entry = work_entry(
        "turn on", "zorp", family(KNOB, "beside+", "twist+"), [part_look(KNOB)], 2.0, KNOB, ["e"]
    )
    assert entry.when == (
        'To turn on a "zorp" by a part like these (one that stands out 4 cm from its face, about 9 cm by '
        "2 cm, facing up): put the closed fingers beside it, on the one side (60% of the way from its middle "
        "to one end), the hand tilted 0°, and turn it 132° about its normal, anticlockwise as seen from in "
        "front."
    )
    assert entry.template == WORK.strip()
