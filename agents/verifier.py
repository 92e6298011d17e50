"""The Verifier: sees the simulator's record of an episode, and says in public words what went right and
wrong.

As controls there are two that say less: "public" sees what the Proposer sees, "shuffled" says of each episode
what is true of another one. A language model may stand behind the full one; whatever it is told to say, the
same guard stands between it and the public.
"""

from dataclasses import dataclass
from typing import Literal

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event
from .actor import Role, log
from .chain import Chains
from .diagnosis import diagnose
from .diagnosis_public import observe
from .exchange import Exchange, Words
from .leaks import leak
from .models.base import EpisodeView
from .models.language.caller import NoAnswer
from .models.language.verifier import LanguageVerifier, Refused
from .wording import sentences

Kind = Literal["full", "public", "shuffled"]
Findings = tuple[ev.Finding, ...]
TRIES = 3  # critiques of one episode that a language model may write until one passes the guard


@dataclass
class _Open:
    view: EpisodeView
    outcome: ev.OutcomeMeasured | None = None
    cause: str = ""
    written: bool = False


class Verifier(Role):
    """Judges training and trial episodes. Every critique passes the leak guard before it is said.

    seed: of what is drawn, where another episode's words are said. model: who writes, instead of the rules.
    """

    actor = "verifier"

    def __init__(
        self,
        bus: Bus,
        run: str,
        kind: Kind = "full",
        seed: int = 0,
        model: LanguageVerifier | None = None,
    ) -> None:
        super().__init__(bus, run)
        self._kind, self._model = kind, model
        self._exchange = Exchange(seed)
        self._chains = Chains()
        self._open: dict[str, _Open] = {}

    def hear(self, seq: int, event: Event) -> None:
        if not self._chains.follow(event):
            return
        id = event.subject
        if event.type == "episode.started":
            started: ev.EpisodeStarted = ev.payload(event)
            if started.purpose in ("train", "trial"):
                self._open[id] = _Open(EpisodeView(id, started))
            return
        episode = self._open.get(id)
        if episode is None:
            return
        episode.view.hear(event)
        match event.type:
            case "outcome.measured":
                episode.outcome, episode.cause = ev.payload(event), event.id
                self._keep(episode)
            case "episode.finished":
                if ev.payload(event).status == "stopped":
                    self._open.pop(id)
                self._keep(episode)
            case "critique.written":
                self._open.pop(id)

    async def react(self, seq: int, event: Event) -> None:
        if event.type in ("outcome.measured", "episode.finished") and event.subject in self._open:
            self.start(self._judge(event.subject))

    async def catch_up(self) -> None:
        for id in self._open:
            self.start(self._judge(id))

    async def _judge(self, id: str) -> None:
        episode = self._open.get(id)
        if episode is None or episode.outcome is None or not episode.view.finished or episode.written:
            return
        episode.written = True
        if self._model is not None:
            critique = await self._asked(self._model, episode, episode.outcome)
        else:
            findings, success = self._findings(episode.view, episode.outcome)
            text = sentences(findings, None if self._kind == "public" else success)
            critique = ev.CritiqueWritten(text=text, findings=findings, success=success)
            if await self._leaks(episode, episode.outcome, critique):
                critique = _bare(findings, success)
        await self.say("critique.written", critique, subject=id, cause=episode.cause)

    async def _asked(
        self, model: LanguageVerifier, episode: _Open, outcome: ev.OutcomeMeasured
    ) -> ev.CritiqueWritten:
        """What the model says, once the guard lets it pass; else only whether the goal was reached."""
        refused: list[Refused] = []
        while len(refused) < TRIES:
            try:
                text, findings = await model.judge(episode.view, outcome, refused)
            except NoAnswer:
                break
            critique = ev.CritiqueWritten(text=text, findings=findings, success=outcome.success)
            why = await self._leaks(episode, outcome, critique)
            if not why:
                return critique
            refused.append(Refused(text, why))
        return _bare((), outcome.success)

    async def _leaks(self, episode: _Open, outcome: ev.OutcomeMeasured, critique: ev.CritiqueWritten) -> str:
        """Why the critique may not be said, after putting the refusal on record; "" if it may."""
        kinds = "\n".join(f.kind for f in critique.findings if f.kind and f.kind not in critique.text)
        text = f"{critique.text}\n{kinds}" if kinds else critique.text
        why = leak(text, outcome.truth, episode.view)
        if why:
            log.warning("critique blocked", episode=episode.view.id, why=why)
            blocked = ev.CritiqueBlocked(text=text, reason=why)
            await self.say("critique.blocked", blocked, subject=episode.view.id, cause=episode.cause)
        return why

    def _keep(self, episode: _Open) -> None:
        """What is true of an episode, where others will be told it. Independent of whether it was said."""
        if self._kind == "shuffled" and episode.outcome is not None and episode.view.finished:
            view, outcome = episode.view, episode.outcome
            findings = diagnose(view, outcome.truth, outcome.success)
            self._exchange.keep(Words(view.id, view.started, findings, outcome.success))

    def _findings(
        self, view: EpisodeView, outcome: ev.OutcomeMeasured
    ) -> tuple[tuple[ev.Finding, ...], bool]:
        match self._kind:
            case "full":
                return diagnose(view, outcome.truth, outcome.success), outcome.success
            case "public":
                return observe(view), False
            case "shuffled":
                return self._exchange.draw(view)


def _bare(findings: Findings, success: bool) -> ev.CritiqueWritten:
    """A critique without kinds of failure, directions and amounts."""
    kept = tuple(
        ev.Finding(clause=f.clause, decision=f.decision, good=f.good, region=f.region, part=f.part)
        for f in findings
    )
    return ev.CritiqueWritten(text=sentences(kept, success), findings=kept, success=success)
