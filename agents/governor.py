"""The Governor: screens candidates, plans their trials, and lets into memory only what 25 pairs support."""

from dataclasses import dataclass, field

import structlog

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event
from ..ledger.memory import memory_hash
from ..replay.memory import MemoryFold
from .actor import Role
from .rounds import layer_of
from .screening import screen
from .trials import Judged, judge, plan

log = structlog.get_logger()


@dataclass
class _Case:
    """One candidate on its way to a verdict."""

    proposed: ev.CandidateProposed
    cause: str
    planned: ev.TrialsPlanned | None = None
    screened: bool = False
    closed: bool = False
    recorded: set[int] = field(default_factory=set)


def arm_episode(candidate: str, index: int, with_candidate: bool) -> str:
    """Id of a trial episode."""
    return f"{candidate}/trial/{index}/{'with' if with_candidate else 'without'}"


class Governor(Role):
    """Hears privileged events. gated False: everything that passes the screens is accepted, as a control."""

    actor = "governor"

    def __init__(self, bus: Bus, run: str, gated: bool = True, verified: bool = True) -> None:
        super().__init__(bus, run)
        self._gated, self._verified = gated, verified
        self._memory = MemoryFold()
        self._cases: dict[str, _Case] = {}
        self._trials, self._states = 25, (0, 0)
        self._tasks: dict[str, dict[str, ev.Task]] = {"cerebellum": {}, "brain": {}}
        self._started: dict[str, ev.EpisodeStarted] = {}
        self._critiques: dict[str, ev.CritiqueWritten] = {}
        self._outcomes: dict[str, bool] = {}
        self._seq = 0

    def hear(self, seq: int, event: Event) -> None:
        self._memory.hear(seq, event)
        self._seq = seq
        id = event.subject
        match event.type:
            case "run.started":
                started: ev.RunStarted = ev.payload(event)
                self._trials = started.config["trials"]
                self._states = started.seeds["trial"]
            case "episode.started":
                episode: ev.EpisodeStarted = ev.payload(event)
                if episode.purpose in ("train", "trial"):
                    self._started[id] = episode
                if episode.purpose == "train":
                    self._tasks[layer_of(episode.round)][episode.task.instruction] = episode.task
            case "critique.written" if id in self._started:
                self._critiques[id] = ev.payload(event)
            case "outcome.measured" if id in self._started:
                outcome: ev.OutcomeMeasured = ev.payload(event)
                self._outcomes[id] = outcome.success
            case "candidate.proposed":
                self._cases[id] = _Case(ev.payload(event), event.id)
            case "candidate.screened":
                self._cases[id].screened = True
            case "trials.planned":
                self._cases[id].planned = ev.payload(event)
            case "verdict.given":
                self._cases[id].closed = True

    async def react(self, seq: int, event: Event) -> None:
        if event.type in ("candidate.proposed", "critique.written", "outcome.measured", "verdict.given"):
            await self.catch_up()

    async def catch_up(self) -> None:
        """One candidate at a time, each on top of what was accepted before it."""
        case = next(((id, c) for id, c in self._cases.items() if not c.closed), None)
        if case is None:
            return
        id, open_case = case
        if not open_case.screened:
            await self._screen(id, open_case)
        elif open_case.planned is not None:
            await self._judge(id, open_case, open_case.planned)

    async def _screen(self, id: str, case: _Case) -> None:
        case.screened = True
        memory = tuple(self._memory.entries.values())
        judged = {e for e, s in self._started.items() if s.purpose == "train" and e in self._outcomes}
        why_not = screen(case.proposed, memory, self._memory.frozen, judged)
        screened = ev.CandidateScreened(
            passed=not why_not, reason=why_not or "right layer, tied to evidence, new"
        )
        messages = [self.event("candidate.screened", screened, subject=id, cause=case.cause)]
        if why_not:
            verdict = ev.VerdictGiven(
                verdict="rejected", reason=f"screened out: {why_not}", gated=self._gated
            )
            messages.append(self.event("verdict.given", verdict, subject=id, cause=messages[0].id))
        elif not self._gated:
            verdict = ev.VerdictGiven(verdict="accepted", reason="this run has no Governor", gated=False)
            messages.append(self.event("verdict.given", verdict, subject=id, cause=messages[0].id))
            messages.append(self._change(id, case, messages[-1].id))
        else:
            messages.append(self.event("trials.planned", self._plan(case), subject=id, cause=messages[0].id))
        await self.bus.publish(*messages)

    def _plan(self, case: _Case) -> ev.TrialsPlanned:
        known = self._tasks[case.proposed.layer]
        tasks = [known[text] for text in case.proposed.tasks if text in known] or list(known.values())
        failing = {
            e.task.instruction
            for id, e in self._started.items()
            if e.purpose == "train"
            and layer_of(e.round) == case.proposed.layer
            and not self._good(id, case.proposed.decision)
        }
        often = {text for text in failing if self._failure_rate(text, case.proposed) > 0.5}
        offset = 7 * self._proposed_before(case)
        pairs = plan(tasks, often, self._trials, self._states, offset)
        return ev.TrialsPlanned(pairs=pairs, decision=case.proposed.decision, memory_at=self._seq)

    def _proposed_before(self, case: _Case) -> int:
        """How often these entries were tried before: a second proposal meets fresh initial states, while
        different candidates share theirs, and with them the episodes that both have in common."""
        own = {entry.id for entry in case.proposed.entries}
        tried = [c for c in self._cases.values() if c is not case and c.planned is not None]
        return sum(bool(own & {entry.id for entry in c.proposed.entries}) for c in tried)

    def _good(self, episode: str, decision: str) -> bool:
        return self._judged(episode).arm(decision).decision

    def _failure_rate(self, instruction: str, proposed: ev.CandidateProposed) -> float:
        own = [
            self._good(id, proposed.decision)
            for id, e in self._started.items()
            if e.purpose == "train" and e.task.instruction == instruction and id in self._outcomes
        ]
        return own.count(False) / len(own) if own else 0.0

    def _judged(self, episode: str) -> Judged:
        return Judged(episode, self._critiques.get(episode), self._outcomes.get(episode, False))

    async def _judge(self, id: str, case: _Case, planned: ev.TrialsPlanned) -> None:
        arms = [arm_episode(id, pair.index, side) for pair in planned.pairs for side in (False, True)]
        heard = self._outcomes.keys() & (self._critiques.keys() if self._verified else self._outcomes.keys())
        if case.closed or not heard.issuperset(arms):
            return
        case.closed = True
        trials = [
            ev.TrialFinished(
                index=pair.index,
                task=pair.task.instruction,
                state=pair.state,
                without=self._judged(arm_episode(id, pair.index, False)).arm(planned.decision),
                with_candidate=self._judged(arm_episode(id, pair.index, True)).arm(planned.decision),
            )
            for pair in planned.pairs
        ]
        verdict = judge(trials, planned.decision)
        messages = [self.event("trial.finished", trial, subject=id) for trial in trials]
        messages.append(self.event("verdict.given", verdict, subject=id, cause=case.cause))
        if verdict.verdict == "accepted":
            messages.append(self._change(id, case, messages[-1].id))
        await self.bus.publish(*messages)

    def _change(self, id: str, case: _Case, cause: str) -> Event:
        proposed = case.proposed
        after = {k: e for k, e in self._memory.entries.items() if k not in proposed.replaces}
        after.update((e.id, e) for e in proposed.entries)
        change = ev.MemoryChanged(
            candidate=id,
            added=proposed.entries,
            removed=proposed.replaces,
            memory_hash=memory_hash(after.values()),
        )
        return self.event("memory.changed", change, subject=id, cause=cause)
