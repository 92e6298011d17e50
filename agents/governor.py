"""The Governor: screens candidates, plans their trials, and lets into memory only what 25 pairs support."""

from collections import Counter
from dataclasses import dataclass, field

import structlog

from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event
from ..ledger.memory import memory_hash
from ..replay.memory import MemoryFold
from .actor import Role
from .models.language.governor import LanguageScreen
from .rounds import layer_of, position
from .screening import screen
from .trials import BATCH, Judged, Place, Taken, hopeless, judge, place, plan

log = structlog.get_logger()


@dataclass
class _Case:
    """One candidate on its way to a verdict."""

    proposed: ev.CandidateProposed
    cause: str
    planned: ev.TrialsPlanned | None = None
    screened: bool = False
    closed: bool = False
    trials: list[ev.TrialFinished] = field(default_factory=list)  # on record, in order

    def record(self, trial: ev.TrialFinished) -> None:
        if trial.index == len(self.trials):  # heard once when it is made, and again from the ledger
            self.trials.append(trial)


def arm_episode(candidate: str, index: int, with_candidate: bool) -> str:
    """Id of a trial episode."""
    return f"{candidate}/trial/{index}/{'with' if with_candidate else 'without'}"


class Governor(Role):
    """Hears privileged events. gated False: everything that passes the screens is accepted, as a control.
    model: screens what passes the rules once more."""

    actor = "governor"

    def __init__(
        self,
        bus: Bus,
        run: str,
        gated: bool = True,
        verified: bool = True,
        model: LanguageScreen | None = None,
    ) -> None:
        super().__init__(bus, run)
        self._gated, self._verified, self._model = gated, verified, model
        self._memory = MemoryFold()
        self._cases: dict[str, _Case] = {}
        self._trials, self._states = 25, (0, 0)
        self._early = self._shuffled = False
        self._tasks: dict[str, dict[Place, ev.Task]] = {"cerebellum": {}, "brain": {}}
        self._started: dict[str, ev.EpisodeStarted] = {}
        self._critiques: dict[str, ev.CritiqueWritten] = {}
        self._outcomes: dict[str, bool] = {}
        self._taken: dict[str, list[tuple[Taken, str]]] = {}  # by trial episode: decisions and their entries
        self._users: dict[str, set[str]] = {}  # instructions of programs that used an entry, by its id
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
                self._early = bool(started.config.get("early_stop", False))
                self._shuffled = started.config.get("verifier") == "shuffled"
            case "episode.started":
                episode: ev.EpisodeStarted = ev.payload(event)
                if episode.purpose in ("train", "trial"):
                    self._started[id] = episode
                if episode.purpose == "train":
                    self._tasks[layer_of(episode.round)][place(episode.task)] = episode.task
            case "program.proposed" if id in self._started:
                self._note_uses(id, ev.payload(event))
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
            case "trial.finished":
                self._cases[id].record(ev.payload(event))
            case "verdict.given":
                self._cases[id].closed = True

    def _note_uses(self, episode: str, program: ev.ProgramProposed) -> None:
        started = self._started[episode]
        for choice in program.choices:
            if choice.get("entry"):
                self._users.setdefault(choice["entry"], set()).add(started.task.instruction)
                if started.purpose == "trial":
                    taken = (choice["clause"], choice["decision"])
                    self._taken.setdefault(episode, []).append((taken, choice["entry"]))

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
        if not why_not and self._model is not None:
            why_not = await self._model.why_not(id, case.proposed, memory, self._named(case.proposed))
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

    def _named(self, proposed: ev.CandidateProposed) -> dict[str, str]:
        """Critiques of the episodes that a candidate names as its evidence."""
        named = dict.fromkeys(id for entry in proposed.entries for id in entry.provenance.evidence)
        return {id: self._critiques[id].text for id in named if id in self._critiques}

    def _plan(self, case: _Case) -> ev.TrialsPlanned:
        proposed = case.proposed
        known = list(self._tasks[proposed.layer].values())
        users = {text for gone in proposed.replaces for text in self._users.get(gone, ())}
        about = users | set(proposed.tasks)
        tasks = [task for task in known if task.instruction in about] or known
        pairs = plan(tasks, self._failing(proposed), self._trials, self._states, self._tried(case))
        return ev.TrialsPlanned(pairs=pairs, decision=proposed.decision, memory_at=self._seq)

    def _failing(self, proposed: ev.CandidateProposed) -> set[str]:
        """Instructions on which the decision went wrong in more than half of the layer's latest round."""
        practised = {
            id: e
            for id, e in self._started.items()
            if e.purpose == "train" and layer_of(e.round) == proposed.layer and id in self._outcomes
        }
        latest = max((position(e.round) for e in practised.values()), default=(0, 0))
        all_of: Counter[str] = Counter()
        bad: Counter[str] = Counter()
        for id, episode in practised.items():
            if position(episode.round) == latest:
                all_of[episode.task.instruction] += 1
                bad[episode.task.instruction] += not self._judged(id).arm(proposed.decision).decision
        return {text for text, count in all_of.items() if bad[text] > 0.5 * count}

    def _tried(self, case: _Case) -> Counter[Place]:
        """How many initial states of each task these entries met before: a second proposal meets fresh ones,
        while different candidates share theirs, and with them the episodes that both have in common."""
        own = {entry.id for entry in case.proposed.entries}
        met: Counter[Place] = Counter()
        for other in self._cases.values():
            if other is not case and other.planned and own & {e.id for e in other.proposed.entries}:
                met.update(place(pair.task) for pair in other.planned.pairs)
        return met

    def _judged(self, episode: str) -> Judged:
        critique = self._critiques.get(episode)
        success = self._outcomes.get(episode, False)
        if self._shuffled and critique is not None:
            success = critique.success  # another episode's, as its findings are
        return Judged(episode, critique, success)

    async def _judge(self, id: str, case: _Case, planned: ev.TrialsPlanned) -> None:
        """Puts trials on record, all together or batch by batch, and gives the verdict once it is certain."""
        size = BATCH if self._early else len(planned.pairs)
        messages: list[Event] = []
        while not case.closed:
            done = len(case.trials)
            over = self._early and done > 0 and hopeless(case.trials, len(planned.pairs))
            if done == len(planned.pairs) or over:
                case.closed = True
                verdict = judge(case.trials, planned.decision, len(planned.pairs))
                messages.append(self.event("verdict.given", verdict, subject=id, cause=case.cause))
                if verdict.verdict == "accepted":
                    messages.append(self._change(id, case, messages[-1].id))
                break
            batch = planned.pairs[done : done + size]
            if not all(self._heard(arm_episode(id, p.index, side)) for p in batch for side in (False, True)):
                break
            for pair in batch:
                touched = self._touched(case, arm_episode(id, pair.index, True))
                without, with_candidate = (
                    self._judged(arm_episode(id, pair.index, side)).arm(planned.decision, touched)
                    for side in (False, True)
                )
                trial = ev.TrialFinished(
                    index=pair.index,
                    task=pair.task.instruction,
                    state=pair.state,
                    without=without,
                    with_candidate=with_candidate,
                )
                case.record(trial)
                messages.append(self.event("trial.finished", trial, subject=id))
        if messages:
            await self.bus.publish(*messages)

    def _touched(self, case: _Case, episode: str) -> frozenset[Taken]:
        """Decisions that the arm with the candidate took by one of its entries: a grasp for one thing is not
        judged by how another one was grasped, nor a word by a second one beside it."""
        own = {entry.id for entry in case.proposed.entries}
        return frozenset(taken for taken, entry in self._taken.get(episode, ()) if entry in own)

    def _heard(self, episode: str) -> bool:
        """Whether all that counts of a trial episode is known."""
        return episode in self._outcomes and (episode in self._critiques or not self._verified)

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
