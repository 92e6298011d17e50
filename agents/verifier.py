"""The Verifier: sees the simulator's record of an episode, and says in public words what went right and
wrong."""

from dataclasses import dataclass

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event
from .actor import Role, log
from .chain import Chains
from .diagnosis import diagnose
from .leaks import leak
from .models.base import EpisodeView, Turn
from .wording import sentences


@dataclass
class _Open:
    view: EpisodeView
    outcome: ev.OutcomeMeasured | None = None
    cause: str = ""
    written: bool = False


class Verifier(Role):
    """Judges training and trial episodes. Every critique passes the leak guard before it is said."""

    actor = "verifier"

    def __init__(self, bus: Bus, run: str) -> None:
        super().__init__(bus, run)
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
        match event.type:
            case "program.proposed":
                episode.view.turns.append(Turn(ev.payload(event)))
            case "program.executed":
                episode.view.turns[-1].executed = ev.payload(event)
            case "program.rejected":
                episode.view.turns[-1].rejected = ev.payload(event)
            case "outcome.measured":
                episode.outcome, episode.cause = ev.payload(event), event.id
            case "episode.finished":
                episode.view.finished = True
                if ev.payload(event).status == "stopped":
                    self._open.pop(id)
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
        record = episode.outcome.truth
        findings = diagnose(episode.view, record, episode.outcome.success)
        text = sentences(findings, episode.outcome.success)
        why = leak(text, record)
        if why:
            log.warning("critique blocked", episode=id, why=why)
            await self.say(
                "critique.blocked", ev.CritiqueBlocked(text=text, reason=why), subject=id, cause=episode.cause
            )
            findings = tuple(
                ev.Finding(clause=f.clause, decision=f.decision, good=f.good, region=f.region)
                for f in findings
            )
            text = sentences(findings, episode.outcome.success)
        critique = ev.CritiqueWritten(text=text, findings=findings, success=episode.outcome.success)
        await self.say("critique.written", critique, subject=id, cause=episode.cause)
