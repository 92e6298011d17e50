"""The Verifier: sees the simulator's record of an episode, and says in public words what went right and
wrong.

As controls there are two that say less: "public" sees what the Proposer sees, "shuffled" says of each episode
what is true of another one.
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
from .wording import sentences

Kind = Literal["full", "public", "shuffled"]


@dataclass
class _Open:
    view: EpisodeView
    outcome: ev.OutcomeMeasured | None = None
    cause: str = ""
    written: bool = False


class Verifier(Role):
    """Judges training and trial episodes. Every critique passes the leak guard before it is said.

    seed: of what is drawn, where another episode's words are said.
    """

    actor = "verifier"

    def __init__(self, bus: Bus, run: str, kind: Kind = "full", seed: int = 0) -> None:
        super().__init__(bus, run)
        self._kind = kind
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
            await self._judge(event.subject)

    async def catch_up(self) -> None:
        for id in list(self._open):
            await self._judge(id)

    async def _judge(self, id: str) -> None:
        episode = self._open[id]
        if episode.outcome is None or not episode.view.finished or episode.written:
            return
        episode.written = True
        findings, success = self._findings(episode.view, episode.outcome)
        record = episode.outcome.truth
        text = sentences(findings, None if self._kind == "public" else success)
        why = leak(text, record)
        if why:
            log.warning("critique blocked", episode=id, why=why)
            await self.say(
                "critique.blocked", ev.CritiqueBlocked(text=text, reason=why), subject=id, cause=episode.cause
            )
            findings = tuple(
                ev.Finding(clause=f.clause, decision=f.decision, good=f.good, region=f.region, part=f.part)
                for f in findings
            )
            text = sentences(findings, success)
        critique = ev.CritiqueWritten(text=text, findings=findings, success=success)
        await self.say("critique.written", critique, subject=id, cause=episode.cause)

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
