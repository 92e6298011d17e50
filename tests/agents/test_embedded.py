"""The embedded model's learning, on small made-up episodes: from critiques, and from nothing else."""

from typing import Any

import msgspec

from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.agents.models.embedded.model import EmbeddedModel
from skill2real.agents.models.embedded.skills import Skills, appearance_entry, grasp_entry, word_entry
from skill2real.agents.models.embedded.variants import GRASPS, NAIVE_GRASP
from skill2real.agents.models.embedded.words import SELECTIONS
from skill2real.ledger import events as ev

NAMES = ("zorp", "quib")
LAB = {"zorp": (30.0, 20.0, 5.0), "quib": (70.0, -10.0, 30.0), "other": (50.0, 0.0, 0.0)}


def region(kind: str, x: float, y: float, height: float = 0.09, size: float = 0.066) -> dict[str, Any]:
    return {
        "x": x, "y": y, "top": height, "height": height, "length": size, "width": size, "yaw": 0.0,
        "radius": 0.0, "hollow": False, "handle": False, "clipped": False, "lab": LAB[kind],
        "spread": (5.0, 3.0, 3.0), "hues": [0.1] * 12,
    }  # fmt: skip


SCENE = [region("other", 0.3, 0.1), region("zorp", 0.4, -0.2), region("quib", 0.6, 0.2, size=0.17)]


def episode(
    number: int,
    instruction: str,
    regions: list[dict[str, Any]],
    choices: list[dict[str, Any]],
    findings: list[ev.Finding],
    round: str = "C1",
) -> EpisodeView:
    started = ev.EpisodeStarted(
        task=ev.Task(suite="s", parts=(1,), instruction=instruction),
        state=number,
        purpose="train",
        memory=ev.MemoryRef(explore=True),
        round=round,
        batch=number,
    )
    look = Turn(
        ev.ProgramProposed(turn=0, source="", last=False),
        ev.ProgramExecuted(
            turn=0, calls=(), printed="", value={"regions": regions, "right": (0.0, 1.0)}, error="",
            unread_failures=(), seconds=0.1,
        ),
    )  # fmt: skip
    act = Turn(ev.ProgramProposed(turn=1, source="", last=True, choices=tuple(choices)))
    critique = ev.CritiqueWritten(text="", findings=tuple(findings), success=False)
    return EpisodeView(f"{round}/train/{number}/1", started, [look, act], critique, finished=True)


def naming(decision: str, noun: str, region: int, selector: str = "") -> dict[str, Any]:
    return {
        "clause": 0,
        "decision": decision,
        "noun": noun,
        "selector": selector,
        "region": region,
        "entry": "",
    }


def pointing(names: tuple[str, str] = NAMES, count: int = 3) -> list[EpisodeView]:
    """Episodes in which the Proposer took the wrong thing, and was shown the right ones."""
    thing, target = names
    return [
        episode(
            i, f"pick up the {thing} and put it in the {target}", SCENE,
            [naming("which", thing, 0), naming("target", target, 0)],
            [
                ev.Finding(clause=0, decision="which", good=False, region=1),
                ev.Finding(clause=0, decision="target", good=False, region=2),
            ],
        )
        for i in range(count)
    ]  # fmt: skip


def reflect(stage: str, evidence: list[EpisodeView], memory: tuple[ev.Entry, ...] = ()) -> list[Any]:
    layer: ev.Layer = "cerebellum" if stage in ("nouns", "grasps", "releases", "parts", "work") else "brain"
    return EmbeddedModel().reflect(
        ev.CandidatesRequested(round="C1", layer=layer, stage=stage), memory, evidence, []
    )


def test_nouns_come_from_pointing_and_name_the_thing() -> None:
    (candidate,) = reflect("nouns", pointing())
    assert [entry.state["noun"] for entry in candidate.entries] == ["quib", "zorp"]
    assert candidate.decision == "which"
    assert candidate.tasks == ("pick up the zorp and put it in the quib",)


def test_one_critique_is_not_enough() -> None:
    assert reflect("nouns", pointing(count=1)) == []


def test_what_is_known_and_found_is_not_proposed_again() -> None:
    memory = reflect("nouns", pointing())[0].entries
    assert reflect("nouns", pointing(), memory) == []


def test_renaming_every_noun_learns_the_same() -> None:
    (first,), (second,) = reflect("nouns", pointing()), reflect("nouns", pointing(("flurb", "drimple")))
    renamed = {"zorp": "flurb", "quib": "drimple"}
    before = {renamed[e.state["noun"]]: e.state["prototypes"] for e in first.entries}
    assert before == {e.state["noun"]: e.state["prototypes"] for e in second.entries}


def test_learned_nouns_are_chosen_and_unknown_ones_are_not_claimed_by_them() -> None:
    memory = reflect("nouns", pointing())[0].entries
    view = pointing()[0]
    asked = EpisodeView(
        "eval/1", msgspec.structs.replace(view.started, purpose="eval", memory=ev.MemoryRef()), view.turns[:1]
    )
    proposal = EmbeddedModel().propose(asked, memory, [])
    chosen = {c["decision"]: c["region"] for c in proposal.choices if "region" in c and "noun" in c}
    assert (chosen["which"], chosen["target"]) == (1, 2)
    assert "pick(regions[1]" in proposal.source


def test_without_memory_the_answer_depends_on_the_episode_alone() -> None:
    view = pointing()[0]
    asked = EpisodeView(
        "eval/1", msgspec.structs.replace(view.started, memory=ev.MemoryRef()), view.turns[:1]
    )
    assert EmbeddedModel(3).propose(asked, (), []) == EmbeddedModel(3).propose(asked, (), [])


def grasping(outcomes: dict[int, list[bool]]) -> list[EpisodeView]:
    """Episodes that tried grasp variants (by index) on the zorp."""
    episodes = []
    for variant, results in outcomes.items():
        for good in results:
            choices = [
                naming("which", "zorp", 1),
                {"clause": 0, "decision": "grasp", "region": 1, "variant": GRASPS[variant], "entry": ""},
            ]
            findings = [
                ev.Finding(clause=0, decision="which", good=True, region=1),
                ev.Finding(clause=0, decision="grasp", good=good),
            ]
            text = "pick up the zorp and put it in the quib"
            episodes.append(episode(len(episodes), text, SCENE, choices, findings))
    return episodes


def test_a_grasp_that_holds_replaces_the_naive_one_that_does_not() -> None:
    naive, deep = GRASPS.index(NAIVE_GRASP), GRASPS.index({"style": "centre", "depth": 0.035, "near": False})
    (candidate,) = reflect("grasps", grasping({naive: [False, False], deep: [True, True, True]}))
    (entry,) = candidate.entries
    assert entry.state["variant"] == GRASPS[deep]
    assert entry.provenance.evidence
    assert Skills((entry,)).grasp((0.066, 0.066, 0.09, 0.0, 0.0)) is not None
    assert Skills((entry,)).grasp((0.3, 0.3, 0.02, 0.0, 0.0)) is None


def test_nothing_is_proposed_where_the_rule_in_force_works() -> None:
    naive, deep = GRASPS.index(NAIVE_GRASP), GRASPS.index({"style": "centre", "depth": 0.035, "near": False})
    assert reflect("grasps", grasping({naive: [True, True, True], deep: [True, True]})) == []


def several(word: str, right: int, count: int = 4) -> list[EpisodeView]:
    """Three zorps along x; `word` means the one numbered `right`."""
    regions = [region("zorp", 0.3, 0.0), region("zorp", 0.45, 0.01), region("zorp", 0.6, 0.0), SCENE[2]]
    return [
        episode(
            i, f"put the {word} zorp in the quib", regions, [naming("which", "zorp", 0, word)],
            [ev.Finding(clause=0, decision="which", good=False, region=right)], "B1",
        )
        for i in range(count)
    ]  # fmt: skip


def test_words_get_the_meaning_that_the_pointing_shows() -> None:
    memory = reflect("nouns", pointing())[0].entries
    (front,) = reflect("words", several("front", 2), memory)
    (middle,) = reflect("words", several("middle", 1), memory)
    assert front.entries[0].state["selection"] == {"axis": (1.0, 0.0, 0.0), "pick": "most"}
    assert middle.entries[0].state["selection"] == {"axis": (1.0, 0.0, 0.0), "pick": "middle"}


def test_a_word_that_points_anywhere_is_not_proposed() -> None:
    memory = reflect("nouns", pointing())[0].entries
    mixed = [several("front", i % 3)[i] for i in range(4)]
    assert reflect("words", mixed, memory) == []


def test_entries_read_as_english() -> None:
    entries = [
        appearance_entry("zorp", [(1.0, 2.0)], ["e"]),
        grasp_entry("g", GRASPS[3], [(0.066, 0.066, 0.09, 0.0, 0.0)], 0.03, ["e"]),
        word_entry("front", SELECTIONS[0], ["e"]),
    ]
    assert entries[1].when.startswith(
        "To grasp a thing about 7 cm long, 7 cm wide and 9 cm high: by its centre"
    )
    assert all(entry.when.endswith(".") for entry in entries)


def test_entries_of_another_model_are_passed_over() -> None:
    foreign = [
        ev.Entry(id="grasp/x", layer="cerebellum", kind="grasp", when="w", template="", state={"tip": "low"}),
        ev.Entry(id="poem/x", layer="brain", kind="poem", when="w", template="", state={}),
    ]
    assert Skills(tuple(foreign)).grasp((0.06, 0.06, 0.09, 0.0, 0.0)) is None


def test_after_a_refused_bundle_the_names_of_one_instruction_come_together() -> None:
    evidence = pointing() + [
        episode(
            10 + i, "put the flim in the quib", SCENE, [naming("which", "flim", 2)],
            [ev.Finding(clause=0, decision="which", good=False, region=0)],
        )
        for i in range(2)
    ]  # fmt: skip
    request = ev.CandidatesRequested(round="C1", layer="cerebellum", stage="nouns")
    (bundle,) = EmbeddedModel().reflect(request, (), evidence, [])
    assert len(bundle.entries) == 3
    refused = ev.CandidateProposed(
        entries=bundle.entries, replaces=(), layer="cerebellum", stage="nouns", decision="which",
        reason="", tasks=bundle.tasks,
    )  # fmt: skip
    (again,) = EmbeddedModel().reflect(request, (), evidence, [refused])
    assert [entry.state["noun"] for entry in again.entries] == ["quib", "zorp"]
