"""The Governor's screens: layer, evidence, duplicates."""

import pytest
from msgspec.structs import replace

from skill2real.agents.models.embedded.skills import appearance_entry, grasp_entry, word_entry
from skill2real.agents.models.embedded.variants import GRASPS
from skill2real.agents.models.embedded.words import SELECTIONS
from skill2real.agents.screening import screen
from skill2real.ledger import events as ev

EVIDENCE = {"C1/train/0/1", "B1/train/0/1"}
NOUN = appearance_entry("zorp", [(1.0, 2.0)], ["C1/train/0/1"])
WORD = word_entry("left", SELECTIONS[0], ["B1/train/0/1"])
GRASP = grasp_entry("rim", GRASPS[7], [(0.1, 0.1, 0.05, 0.05, 0.0)], 0.03, ["B1/train/0/1"])


def candidate(entry: ev.Entry, layer: ev.Layer, replaces: tuple[str, ...] = ()) -> ev.CandidateProposed:
    return ev.CandidateProposed(
        entries=(entry,), replaces=replaces, layer=layer, stage="s", decision="which", reason="r"
    )


def test_an_honest_candidate_passes() -> None:
    assert screen(candidate(NOUN, "cerebellum"), (), set(), EVIDENCE) == ""
    assert screen(candidate(WORD, "brain"), (NOUN,), {"cerebellum"}, EVIDENCE) == ""


@pytest.mark.parametrize(
    ("proposed", "memory", "frozen", "why"),
    [
        (candidate(NOUN, "cerebellum"), (), {"cerebellum"}, "frozen"),
        (candidate(NOUN, "cerebellum"), (NOUN,), set(), "duplicate"),
        (candidate(replace(NOUN, id="other"), "cerebellum"), (NOUN,), set(), "duplicate"),
        (candidate(NOUN, "cerebellum", ("gone",)), (), set(), "not in memory"),
        (candidate(replace(GRASP, layer="brain"), "brain"), (), set(), "out of layer"),
        (candidate(replace(WORD, template="set_gripper(0.0)"), "brain"), (), set(), "contact geometry"),
        (candidate(replace(NOUN, provenance=ev.Provenance()), "cerebellum"), (), set(), "no evidence"),
        (
            candidate(replace(NOUN, provenance=ev.Provenance(evidence=("made up",))), "cerebellum"),
            (), set(), "no evidence",
        ),
    ],
)  # fmt: skip
def test_each_fault_is_named(
    proposed: ev.CandidateProposed, memory: tuple[ev.Entry, ...], frozen: set[ev.Layer], why: str
) -> None:
    assert why in screen(proposed, memory, frozen, EVIDENCE)
