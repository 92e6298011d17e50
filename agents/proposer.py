"""The Proposer: writes programs from public events and memory, and proposes memory updates from critiques."""

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Entry, Event
from ..replay.memory import MemoryFold
from .actor import Role
from .chain import Chains
from .models.base import Candidate, EpisodeView, ProposerModel
from .rounds import before


class Proposer(Role):
    """Hears public events only. Episodes that wait for an answer do so side by side.

    base: a memory that comes from outside the run: a bundle's, when deploying.
    """

    actor = "proposer"

    def __init__(self, bus: Bus, run: str, model: ProposerModel, base: tuple[Entry, ...] = ()) -> None:
        super().__init__(bus, run)
        self.model = model
        self._base = base
        self._memory = MemoryFold()
        self._chains = Chains()
        self._episodes: dict[str, EpisodeView] = {}
        self._evidence: list[EpisodeView] = []
        self._request: Event | None = None
        self._proposed: dict[str, ev.CandidateProposed] = {}

    def hear(self, seq: int, event: Event) -> None:
        self._memory.hear(seq, event)
        if not self._chains.follow(event):
            return
        episode = self._episodes.get(event.subject)
        if episode is not None:
            episode.hear(event)
        match event.type:
            case "episode.started":
                self._episodes[event.subject] = EpisodeView(event.subject, ev.payload(event))
            case "critique.written" | "episode.finished" if episode:
                self._file(episode)
            case "run.resumed":
                self._episodes = {id: e for id, e in self._episodes.items() if e.finished}
            case "candidates.requested":
                self._request = event
            case "candidate.proposed":
                self._proposed[event.subject] = ev.payload(event)
            case "candidates.closed":
                self._request = None

    def _file(self, episode: EpisodeView) -> None:
        """Keep a training episode as evidence once it is judged; forget the others."""
        if not episode.finished:
            return
        if episode.started.purpose != "train":
            self._episodes.pop(episode.id, None)
        elif episode.critique is not None:
            self._episodes.pop(episode.id, None)
            self._evidence.append(episode)

    async def react(self, seq: int, event: Event) -> None:
        episode = self._episodes.get(event.subject)
        if event.type == "candidates.requested":
            self.start(self._reflect(event))
        elif episode and event.id == self._chains.last(episode.id):
            self.start(self._answer(episode))

    async def catch_up(self) -> None:
        for episode in self._episodes.values():
            self.start(self._answer(episode))
        if self._request is not None:
            self.start(self._reflect(self._request))

    async def _answer(self, episode: EpisodeView) -> None:
        """Propose a program where it is this role's turn."""
        if episode.finished:
            return
        if episode.turns:
            turn = episode.turns[-1]
            played = turn.executed is not None or turn.rejected is not None
            ended = turn.proposed.last and turn.rejected is None  # a refused program can be mended
            if not played or ended or turn.proposed.turn + 1 >= episode.started.turns:
                return
        await self._propose(episode, cause=self._chains.last(episode.id))

    async def _propose(self, episode: EpisodeView, cause: str) -> None:
        wanted = episode.started.memory
        if self._base:
            memory = tuple(entry for entry in self._base if entry.layer in wanted.layers)
        else:
            memory = self._memory.resolve(wanted)
        evidence = self._before(episode.started) if episode.started.memory.explore else []
        answer = await self.model.propose(episode, memory, evidence)
        data = ev.ProgramProposed(
            turn=len(episode.turns), source=answer.source, last=answer.last, choices=answer.choices
        )
        await self.say("program.proposed", data, subject=episode.id, cause=cause)

    def _before(self, started: ev.EpisodeStarted) -> list[EpisodeView]:
        """Evidence of earlier batches, in an order that does not depend on who finished first."""
        known = [e for e in self._evidence if before(e.started, started)]
        return sorted(known, key=lambda e: e.id)

    async def _reflect(self, event: Event) -> None:
        request: ev.CandidatesRequested = ev.payload(event)
        memory = tuple(self._memory.entries.values())
        evidence = sorted(self._evidence, key=lambda e: e.id)
        tried = [c for c in self._proposed.values() if c.stage == request.stage]
        made = await self.model.reflect(request, memory, evidence, tried)
        messages, ids = [], []
        for number, candidate in enumerate(made):
            ids.append(f"{request.round}/{request.stage}/{len(tried) + number + 1}")
            data = _proposed(candidate, request, ids[-1])
            messages.append(self.event("candidate.proposed", data, subject=ids[-1], cause=event.id))
        closed = ev.CandidatesClosed(round=request.round, stage=request.stage, candidates=tuple(ids))
        subject = f"{request.round}/{request.stage}"
        await self.bus.publish(
            *messages, self.event("candidates.closed", closed, subject=subject, cause=event.id)
        )


def _proposed(candidate: Candidate, request: ev.CandidatesRequested, id: str) -> ev.CandidateProposed:
    entries = tuple(
        ev.Entry(
            id=e.id, layer=e.layer, kind=e.kind, when=e.when, template=e.template, state=e.state,
            provenance=ev.Provenance(candidate=id, evidence=e.provenance.evidence, round=request.round),
        )
        for e in candidate.entries
    )  # fmt: skip
    return ev.CandidateProposed(
        entries=entries, replaces=candidate.replaces, layer=request.layer, stage=request.stage,
        decision=candidate.decision, reason=candidate.reason, tasks=candidate.tasks,
    )  # fmt: skip
