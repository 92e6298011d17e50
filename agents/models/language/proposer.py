"""A language model behind the Proposer: programs from pictures, history and memory; candidates from
critiques."""

import asyncio
from collections import Counter
from typing import Any

import structlog

from ....backends.api import STUB
from ....ledger import events as ev
from ....ledger.errors import LedgerError
from ..base import Candidate, EpisodeView, Proposal
from ..chat.base import Effort, Message, Picture, Question, Text
from . import answers
from .caller import Caller, NoAnswer
from .fencing import fenced
from .history import turns_text
from .memory_text import memory_text
from .pictures import shots, shown
from .prompts import prompt

log = structlog.get_logger()
PICTURES = 6  # newest ones of an episode that are shown
EARLIER = 4  # episodes of the same instruction whose critiques are told
EPISODES = 12  # episodes that a reflection is shown in full
MOST = 4  # candidates of one reflection
KIND = "skill"  # of entries that language models write
RULES = {
    "cerebellum": "It holds local manipulation skills: what things look like, how to grasp, release, push, "
    "pull, open, turn. What to choose and in which order belongs to the other layer.",
    "brain": "It holds choices: which of several things is meant, targets, the order of steps, what to check "
    "and how to try again. It may not use compile_grasp, compile_place, set_gripper, move_until_contact or "
    "offset_pose.",
}


class LanguageProposer:
    """effort: how long the model is to think. trials: what candidates are told they must pass."""

    def __init__(self, caller: Caller, effort: Effort = "medium", trials: int = 25) -> None:
        self.name = caller.model
        self._caller, self._effort, self._trials = caller, effort, trials

    async def propose(
        self, episode: EpisodeView, memory: tuple[ev.Entry, ...], evidence: list[EpisodeView]
    ) -> Proposal:
        """The next program; where the model gives none, one that does nothing and ends the episode."""
        question = Question(
            system=(prompt("proposer", interface=STUB), prompt("memory", memory=memory_text(memory))),
            messages=await self._messages(episode, evidence),
            schema=answers.PROGRAM,
            name="program",
            effort=self._effort,
        )
        try:
            answer = await self._caller.ask(
                question, answers.read_program, purpose="program", subject=episode.id
            )
        except NoAnswer as error:
            return Proposal(f"# no program: {' '.join(str(error).split())}\npass\n", last=True)
        known = {entry.id for entry in memory}
        used = dict.fromkeys(id for id in answer.uses if id in known)
        choices = tuple({"clause": 0, "decision": "completion", "entry": id} for id in used)
        return Proposal(answer.program, answer.last, choices)

    async def _messages(self, episode: EpisodeView, evidence: list[EpisodeView]) -> tuple[Message, ...]:
        started = episode.started
        task = prompt(
            "task",
            instruction=fenced("instruction", started.task.instruction),
            turns=started.turns,
            evidence=_told(evidence, started.task.instruction),
        )
        left = started.turns - len(episode.turns)
        ask = "Write the first program." if not episode.turns else "Write the next program."
        history = prompt("next", history=turns_text(episode), left=left, ask=ask)
        pictures = await asyncio.to_thread(self._pictures, episode)
        return (Message("user", (Text(task), Text(history), *pictures)),)

    def _pictures(self, episode: EpisodeView) -> list[Text | Picture]:
        """The newest pictures, each under a line that says which it is."""
        blobs = self._caller.blobs
        if blobs is None:
            return []
        parts: list[Text | Picture] = []
        for shot in shots(episode)[-PICTURES:]:
            try:
                images = shown(blobs.get(shot.blob), shot)
            except LedgerError as error:
                log.warning("picture not found", episode=episode.id, error=str(error))
                continue
            if images:
                parts.append(Text(f"{shot.name} of program {shot.turn + 1}, camera {shot.camera}:"))
                parts += [Picture(data, "image/jpeg") for data in images]
        return parts

    async def reflect(
        self,
        request: ev.CandidatesRequested,
        memory: tuple[ev.Entry, ...],
        evidence: list[EpisodeView],
        tried: list[ev.CandidateProposed],
    ) -> list[Candidate]:
        """Candidates for one layer; none where the model gives none."""
        system = prompt(
            "reflection", layer=request.layer, rule=RULES[request.layer], most=MOST, interface=STUB,
            trials=self._trials,
        )  # fmt: skip
        own = [episode for episode in evidence if episode.started.round == request.round]
        text = prompt("evidence", episodes=_episodes(own), tried=_tried(tried), layer=request.layer)
        question = Question(
            system=(system, prompt("memory", memory=memory_text(memory))),
            messages=(Message("user", (Text(text),)),),
            schema=answers.SKILLS,
            name="candidates",
            effort=self._effort,
        )
        subject = f"{request.round}/{request.stage}"
        try:
            found = await self._caller.ask(
                question, answers.read_skills, purpose="reflection", subject=subject
            )
        except NoAnswer as error:
            log.warning("no candidates", stage=subject, error=str(error))
            return []
        return [_candidate(skill, request) for skill in found.candidates[:MOST]]


def _candidate(skill: answers.Skill, request: ev.CandidatesRequested) -> Candidate:
    state: dict[str, Any] = {"advice": skill.advice}
    if skill.program.strip():
        state["program"] = len(skill.program.splitlines())
    entry = ev.Entry(
        id=skill.id, layer=request.layer, kind=KIND, when=skill.when, template=skill.program, state=state,
        provenance=ev.Provenance(evidence=skill.evidence, round=request.round),
    )  # fmt: skip
    return Candidate((entry,), skill.replaces, "completion", skill.reason, skill.tasks)


def _told(evidence: list[EpisodeView], instruction: str) -> str:
    """What earlier attempts at the same instruction were told."""
    same = [e for e in evidence if e.started.task.instruction == instruction and e.critique]
    if not same:
        return ""
    lines = [f"- {e.critique.text}" for e in same[-EARLIER:] if e.critique]
    return "Critiques of earlier attempts in training:\n" + fenced("critiques", "\n".join(lines))


def _episodes(evidence: list[EpisodeView]) -> str:
    """Results by instruction, and some episodes in full: failures first, each instruction in turn."""
    if not evidence:
        return "There are none."
    tallies: dict[str, Counter[bool]] = {}
    for episode in evidence:
        won = bool(episode.critique and episode.critique.success)
        tallies.setdefault(episode.started.task.instruction, Counter())[won] += 1
    lines = [f"- {text}: {t[True]} of {t.total()} succeeded" for text, t in sorted(tallies.items())]
    ranked: list[tuple[bool, int, str, EpisodeView]] = []
    seen: Counter[tuple[str, bool]] = Counter()
    for episode in evidence:
        won = bool(episode.critique and episode.critique.success)
        key = (episode.started.task.instruction, won)
        ranked.append((won, seen[key], episode.id, episode))
        seen[key] += 1
    chosen = [episode for *_, episode in sorted(ranked, key=lambda one: one[:3])[:EPISODES]]
    return "\n\n".join([fenced("tally", "\n".join(lines)), *map(_in_full, chosen)])


def _in_full(episode: EpisodeView) -> str:
    critique = episode.critique.text if episode.critique else ""
    return "\n".join(
        [
            f"# Episode {episode.id}",
            fenced("instruction", episode.started.task.instruction),
            turns_text(episode),
            f"Critique: {fenced('critique', critique)}",
        ]
    )


def _tried(tried: list[ev.CandidateProposed]) -> str:
    if not tried:
        return "Nothing."
    return "\n".join(f"- {entry.id}: {entry.when}" for candidate in tried for entry in candidate.entries)
