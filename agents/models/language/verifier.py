"""A language model behind the Verifier: reads the simulator's record, writes what may be said in public."""

import json
from dataclasses import dataclass

from ....ledger import events as ev
from ..base import EpisodeView
from ..chat.base import Effort, Message, Question, Text
from . import answers
from .caller import Caller
from .fencing import fenced
from .history import cut, turns_text
from .memory_text import rounded
from .prompts import prompt

RECORD = 40_000  # characters of the record that are shown


@dataclass(frozen=True)
class Refused:
    """A critique that the guard did not let through, and why."""

    text: str
    reason: str


class LanguageVerifier:
    def __init__(self, caller: Caller, effort: Effort = "medium") -> None:
        self._caller, self._effort = caller, effort

    async def judge(
        self, episode: EpisodeView, outcome: ev.OutcomeMeasured, refused: list[Refused]
    ) -> tuple[str, tuple[ev.Finding, ...]]:
        """A critique and its findings, not guarded yet. Raises NoAnswer and ModelGone."""
        again = "\n".join(
            f"The guard refused this critique, because it {one.reason}:\n{fenced('refused', one.text)}"
            for one in refused
        )
        text = prompt(
            "judge",
            instruction=fenced("instruction", episode.started.task.instruction),
            history=turns_text(episode),
            reached="reached" if outcome.success else "not reached",
            record=fenced("record", cut(json.dumps(rounded(outcome.truth), sort_keys=True), RECORD)),
            refused=again,
        )
        question = Question(
            system=(prompt("verifier"),),
            messages=(Message("user", (Text(text),)),),
            schema=answers.CRITIQUE,
            name="critique",
            effort=self._effort,
        )
        answer = await self._caller.ask(
            question, answers.read_critique, purpose="critique", subject=episode.id
        )
        return answer.text, findings(episode, answer.findings)


def findings(episode: EpisodeView, judged: tuple[answers.Judged, ...]) -> tuple[ev.Finding, ...]:
    """Findings as events carry them; a region that the Proposer never listed is dropped."""
    listed = len(episode.regions())
    return tuple(
        ev.Finding(
            clause=max(0, one.clause), decision=one.decision, good=one.good, kind=one.kind,
            region=one.region if 0 <= one.region < listed else -1,
            direction=one.direction, amount=one.amount or "near" if one.direction else "",
        )
        for one in judged
    )  # fmt: skip
