"""Parts of things: studied before they are acted on, told apart by what was pointed at, studied again once
they have changed."""

from typing import Any

import msgspec
from test_embedded import episode, region

from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.agents.models.embedded.features import part_look
from skill2real.agents.models.embedded.model import EmbeddedModel
from skill2real.agents.models.embedded.skills import part_entry, rule_entry, word_entry
from skill2real.ledger import events as ev

CABINET = region("quib", 0.6, 0.2, height=0.22, size=0.2)
BOWL = region("zorp", 0.4, -0.2)


def part(kind: str, z: float, length: float = 0.1, depth: float = 0.02) -> dict[str, Any]:
    return {
        "kind": kind, "x": 0.5, "y": 0.2, "z": z, "outward": [-1.0, 0.0, 0.0], "axis": [0.0, 1.0, 0.0],
        "length": length, "width": 0.01, "depth": depth, "rise": z / 0.22, "along": 0.0, "hinge": None,
    }  # fmt: skip


PARTS = [part("bump", 0.05), part("level", 0.22, 0.2), part("bump", 0.11), part("bump", 0.18)]
OPEN = "open the top blim of the quib"


def shown(view: EpisodeView, parts: list[dict[str, Any]]) -> EpisodeView:
    """The episode after a study of region 0."""
    studied = Turn(
        ev.ProgramProposed(turn=1, source="", last=False),
        ev.ProgramExecuted(
            turn=1, calls=(), printed="", value={"parts": {"0": parts}}, error="", unread_failures=(),
            seconds=0.1,
        ),
    )  # fmt: skip
    return EpisodeView(view.id, view.started, [view.turns[0], studied], view.critique, view.finished)


def asked(instruction: str, **started: Any) -> EpisodeView:
    view = episode(0, instruction, [CABINET, BOWL], [], [])
    plain = {"purpose": "eval", "memory": ev.MemoryRef(), "round": "", "turns": 8} | started
    return EpisodeView("eval/1", msgspec.structs.replace(view.started, **plain), view.turns[:1])


def pointing(word: str, meant: int, count: int = 3) -> list[EpisodeView]:
    """Episodes in which the Verifier pointed at a part."""
    episodes = []
    for i in range(count):
        view = episode(
            i, f"open the {word} blim of the quib", [CABINET, BOWL],
            [{"clause": 0, "decision": "part", "verb": "open", "noun": "blim", "selector": word,
              "region": 0, "part": 1, "entry": ""}],
            [ev.Finding(clause=0, decision="part", good=False, kind="wrong part", region=0, part=meant)],
        )  # fmt: skip
        view.id = f"C1/train/{i}/{word}"
        act = view.turns.pop()
        view.turns = [*shown(view, PARTS).turns, act]
        episodes.append(view)
    return episodes


def test_a_verb_that_acts_on_a_part_studies_the_thing_first() -> None:
    proposal = EmbeddedModel().propose(asked(OPEN), (), [])
    assert not proposal.last
    assert proposal.choices == ()
    assert "studied" in proposal.source


def test_after_the_study_it_acts_on_one_of_the_parts() -> None:
    proposal = EmbeddedModel().propose(shown(asked(OPEN), PARTS), (), [])
    assert proposal.last
    assert [c["decision"] for c in proposal.choices] == ["which", "part", "work"]


def test_a_thing_without_parts_is_left_alone() -> None:
    proposal = EmbeddedModel().propose(shown(asked(OPEN), []), (), [])
    assert proposal.last
    assert [c["decision"] for c in proposal.choices] == ["which"]


def reflect(stage: str, evidence: list[EpisodeView], memory: tuple[ev.Entry, ...] = ()) -> list[Any]:
    request = ev.CandidatesRequested(round="C1", layer="cerebellum", stage=stage)
    return EmbeddedModel().reflect(request, memory, evidence, [])


def test_pointing_teaches_which_part_and_words_which_of_several_alike() -> None:
    evidence = pointing("top", 3) + pointing("bottom", 0)
    (candidate,) = reflect("parts", evidence)
    (entry,) = candidate.entries
    assert (entry.state["verb"], entry.state["noun"]) == ("open", "blim")
    found = {c.entries[0].id: c.entries[0].state["selection"] for c in reflect("words", evidence, (entry,))}
    assert found == {
        "word/top": {"axis": (0.0, 0.0, 1.0), "pick": "most"},
        "word/bottom": {"axis": (0.0, 0.0, -1.0), "pick": "most"},
    }


def test_learned_parts_and_words_choose_the_part() -> None:
    memory = (
        part_entry("open", "blim", [part_look(PARTS[0]), part_look(PARTS[3])], ["e"]),
        word_entry("top", {"axis": (0.0, 0.0, 1.0), "pick": "most"}, ["e"]),
    )
    proposal = EmbeddedModel().propose(shown(asked(OPEN), PARTS), memory, [])
    assert next(c["part"] for c in proposal.choices if c["decision"] == "part") == 3
    assert "studied0.parts[3]" in proposal.source


def test_what_has_been_moved_is_studied_again_before_something_is_put_into_it() -> None:
    memory = (rule_entry("order", {"rule": "as said"}, ["e"]),)
    view = shown(asked(f"{OPEN} and put the zorp in it"), PARTS)
    first = EmbeddedModel().propose(view, memory, [])
    assert not first.last
    assert "work" in [c["decision"] for c in first.choices]
    assert "grasp" not in [c["decision"] for c in first.choices]
    done = ev.ProgramExecuted(
        turn=2, calls=(), printed="", value=None, error="", unread_failures=(), seconds=0.1
    )
    view.turns.append(Turn(ev.ProgramProposed(turn=2, source="", last=False, choices=first.choices), done))
    again = EmbeddedModel().propose(view, memory, [])
    assert not again.last
    assert again.choices == ()
    view.turns.append(shown(asked(OPEN), [part("hollow", 0.15), *PARTS]).turns[1])
    last = EmbeddedModel().propose(view, memory, [])
    assert last.last
    assert [c["decision"] for c in last.choices if c["clause"] == 1][:2] == ["which", "grasp"]
    assert "work" not in [c["decision"] for c in last.choices]
