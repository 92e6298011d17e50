"""A language model behind the Governor: it looks once more at candidates that pass the rules, and can only
refuse."""

from ....ledger import events as ev
from ..chat.base import Effort, Message, Question, Text
from . import answers
from .caller import Caller, NoAnswer
from .fencing import fenced
from .memory_text import memory_text
from .prompts import prompt


class LanguageScreen:
    def __init__(self, caller: Caller, effort: Effort = "medium") -> None:
        self._caller, self._effort = caller, effort

    async def why_not(
        self,
        id: str,
        candidate: ev.CandidateProposed,
        memory: tuple[ev.Entry, ...],
        critiques: dict[str, str],
    ) -> str:
        """Why the candidate should not be tried, "" where nothing speaks against it or no answer came: trials
        decide then. critiques: by episode. Raises ModelGone."""
        asked = prompt(
            "candidate",
            memory=memory_text(memory),
            layer=candidate.layer,
            candidate=fenced(
                "candidate", f"{memory_text(candidate.entries)}\n\nReason given: {candidate.reason}"
            ),
            evidence=fenced("critiques", "\n".join(f"- {key}: {text}" for key, text in critiques.items())),
        )
        question = Question(
            system=(prompt("governor"),),
            messages=(Message("user", (Text(asked),)),),
            schema=answers.SCREENING,
            name="screening",
            effort=self._effort,
        )
        try:
            answer = await self._caller.ask(question, answers.read_screening, purpose="screening", subject=id)
        except NoAnswer:
            return ""
        return "" if answer.passed else f"the model screens it out: {' '.join(answer.reason.split())}"
