"""Candidates as a fold: each one from its proposal through screening and trials to verdict and memory."""

from typing import Any, Final

import msgspec

from ..ledger.events import (
    CandidateProposed,
    CandidateScreened,
    Event,
    MemoryChanged,
    TrialFinished,
    TrialsPlanned,
    VerdictGiven,
)
from .fold import data_of

TYPES: Final = frozenset(
    {
        "candidate.proposed",
        "candidate.screened",
        "trials.planned",
        "trial.finished",
        "verdict.given",
        "memory.changed",
    }
)


class Tally(msgspec.Struct, frozen=True):
    """A paired comparison as counted from trials: wins and losses are the pairs that differ."""

    pairs: int
    without: int
    with_candidate: int
    wins: int
    losses: int


class Candidate(msgspec.Struct, kw_only=True):
    """A proposed update of memory. Numbers named `…_at` are sequence numbers, 0 for what did not happen."""

    id: str
    seq: int  # of candidate.proposed
    time: str
    proposal: CandidateProposed
    screening: CandidateScreened | None = None
    screened_at: int = 0
    plan: TrialsPlanned | None = None
    planned_at: int = 0
    trials: dict[int, TrialFinished] = {}  # by index; privileged
    verdict: VerdictGiven | None = None
    verdict_at: int = 0
    change: MemoryChanged | None = None
    changed_at: int = 0

    @property
    def status(self) -> str:
        """`proposed`, `screened`, `in trials`, `accepted`, `rejected` or `not_testable`."""
        if self.verdict is not None:
            return self.verdict.verdict
        if self.screening is not None and not self.screening.passed:
            return "rejected"
        if self.plan is not None:
            return "in trials"
        return "screened" if self.screening is not None else "proposed"

    @property
    def reason(self) -> str:
        """Why it stands as it does: of the verdict, else of the screening, else of the proposal."""
        for said in (self.verdict, self.screening, self.proposal):
            if said is not None and said.reason:
                return said.reason
        return ""

    @property
    def decided_at(self) -> int:
        """The event that accepted or refused it: its verdict, or the screening that it did not pass."""
        if self.screening is not None and not self.screening.passed:
            return self.verdict_at or self.screened_at
        return self.verdict_at

    @property
    def round(self) -> str:
        """The round of its entries' provenance."""
        return next((e.provenance.round for e in self.proposal.entries if e.provenance.round), "")

    @property
    def evidence(self) -> tuple[str, ...]:
        """Episodes that its entries name, each once."""
        return tuple(dict.fromkeys(id for e in self.proposal.entries for id in e.provenance.evidence))

    def tally(self, completion: bool = False) -> Tally:
        """Count the trials heard so far, by the decision that is tried or by completion."""
        pairs = [
            (t.without.completed, t.with_candidate.completed)
            if completion
            else (t.without.decision, t.with_candidate.decision)
            for t in self.trials.values()
        ]
        return Tally(
            pairs=len(pairs),
            without=sum(before for before, _ in pairs),
            with_candidate=sum(after for _, after in pairs),
            wins=sum(after and not before for before, after in pairs),
            losses=sum(before and not after for before, after in pairs),
        )


class CandidateFold:
    """Candidates by id, in the order of their proposals. Trials are there only for privileged readers."""

    types = TYPES

    def __init__(self) -> None:
        self.candidates: dict[str, Candidate] = {}
        self.doubts: list[tuple[int, str]] = []  # (seq, what does not fit)

    def hear(self, seq: int, event: Event) -> None:
        """Take in one event. Raises UnknownEvent or BadEvent."""
        if event.type not in TYPES:
            return
        data = data_of(seq, event)
        if isinstance(data, CandidateProposed):
            id = event.subject or event.id
            self.candidates[id] = Candidate(id=id, seq=seq, time=event.time, proposal=data)
            return
        about = data.candidate if isinstance(data, MemoryChanged) else event.subject
        candidate = self.candidates.get(about)
        if candidate is None:
            self.doubts.append((seq, f"{event.type} about candidate {about!r}, which nobody proposed"))
            return
        if isinstance(data, MemoryChanged):
            self.doubts += [(seq, what) for what in _objections(candidate, data)]
        _take_in(candidate, seq, data)


def _objections(candidate: Candidate, change: MemoryChanged) -> list[str]:
    """What is wrong with a memory change in view of the proposal and the verdict before it."""
    found = []
    if candidate.status != "accepted":
        found.append(f"memory changed by candidate {candidate.id}, which is {candidate.status}")
    proposed = {entry.id: entry for entry in candidate.proposal.entries}
    for entry in change.added:
        told = proposed.get(entry.id)
        content = (entry.layer, entry.kind, entry.when, entry.template, entry.state)
        if told is None or content != (told.layer, told.kind, told.when, told.template, told.state):
            found.append(f"entry {entry.id} entered memory as something else than {candidate.id} proposed")
    return found


def _take_in(candidate: Candidate, seq: int, data: Any) -> None:
    if isinstance(data, CandidateScreened):
        candidate.screening, candidate.screened_at = data, seq
    elif isinstance(data, TrialsPlanned):
        candidate.plan, candidate.planned_at = data, seq
    elif isinstance(data, TrialFinished):
        candidate.trials[data.index] = data
    elif isinstance(data, VerdictGiven):
        candidate.verdict, candidate.verdict_at = data, seq
    elif isinstance(data, MemoryChanged):
        candidate.change, candidate.changed_at = data, seq
