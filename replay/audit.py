"""Why a skill is what it is: its story from evidence to verdict, checked against the trials on record."""

from collections.abc import Iterable, Sequence
from math import comb, isclose
from typing import Any

import msgspec

from ..ledger.events import (
    CandidateScreened,
    Entry,
    Finding,
    Layer,
    Statistic,
    Task,
    TrialFinished,
    VerdictGiven,
    decode,
)
from ..ledger.reader import Reader
from .candidates import Candidate, Tally
from .errors import UnknownCandidate, UnknownSkill
from .fold import data_of
from .state import LEDGER, State


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """An episode that a candidate rests on. `found` is False where the ledger has no such episode."""

    episode: str
    found: bool
    seq: int = 0
    task: Task | None = None
    state: int = 0
    round: str = ""
    status: str = ""
    success: bool | None = None
    choices: tuple[dict[str, Any], ...] = ()  # of its last program
    critiques: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class Recount(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict's numbers, counted again from the trials on record."""

    decision: Tally
    completion: Tally
    p: float  # exact one-sided McNemar of the decision
    complete: bool  # every planned trial is on record, or all until its trials ended early
    agrees: bool | None  # with the verdict; None where there is nothing to compare


class Fate(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an entry that the candidate brought: `how` is kept, replaced or removed."""

    entry: str
    how: str
    seq: int = 0
    candidate: str = ""  # the one that replaced or removed it


class CandidateStory(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate from the episodes it rests on to the checkpoints that hold it.

    Names that end in `_at` are event numbers, 0 for what did not happen.
    """

    id: str
    seq: int
    time: str
    status: str
    reason: str  # why it stands as it does
    layer: Layer
    round: str
    stage: str
    decision: str
    proposal: str  # the Proposer's reason
    tasks: tuple[str, ...]
    entries: tuple[Entry, ...]
    replaces: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    screened_at: int
    screening: CandidateScreened | None
    planned_at: int
    planned: int
    memory_at: int  # the memory that was tried without the candidate
    trials: tuple[TrialFinished, ...]
    recount: Recount
    verdict_at: int
    verdict: VerdictGiven | None
    changed_at: int
    memory_hash: str  # after the change
    fates: tuple[Fate, ...]
    checkpoints: tuple[str, ...]  # those that hold an entry of it


class CandidateLine(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate in short. `statistic` is that of the decision it was tried on."""

    id: str
    seq: int
    round: str
    layer: Layer
    stage: str
    decision: str
    entries: tuple[str, ...]
    status: str
    reason: str
    gated: bool
    planned: int
    tried: int
    statistic: Statistic | None


class SkillVersion(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it was in memory from one event until another (0: to the end)."""

    entry: Entry
    candidate: str
    since: int
    until: int
    checkpoints: tuple[str, ...]


class SkillStory(msgspec.Struct, frozen=True, kw_only=True):
    """One skill: its versions in memory, all that was ever proposed for it, and the story of the last one."""

    id: str
    in_memory: bool
    entry: Entry  # the last in memory, else the last proposed
    versions: tuple[SkillVersion, ...]
    candidates: tuple[CandidateLine, ...]
    story: CandidateStory | None


def audit(state: State, name: str) -> CandidateStory | SkillStory:
    """The story of a skill or a candidate; the beginning of an id does where only one begins so.

    Raises UnknownSkill with what the run has.
    """
    skills, candidates = _skills(state), state.candidates.candidates
    if name in skills:
        return audit_skill(state, name)
    if name in candidates:
        return audit_candidate(state, name)
    begun = [id for id in (*skills, *candidates) if name and id.startswith(name)]
    if len(begun) == 1:
        return audit(state, begun[0])
    if begun:
        raise UnknownSkill(
            f"{name!r} is the beginning of {len(begun)} ids: {_some(begun)}; write more of it."
        )
    raise UnknownSkill(
        f"This run has no skill or candidate {name!r}. Skills: {_some(skills)}. "
        f"Candidates: {_some(candidates)}."
    )


def audit_candidate(state: State, id: str) -> CandidateStory:
    """The whole story of one candidate. Raises UnknownCandidate."""
    candidate = state.candidates.candidates.get(id)
    if candidate is None:
        raise UnknownCandidate(
            f"This run has no candidate {id!r}. Candidates: {_some(state.candidates.candidates)}."
        )
    proposal, change = candidate.proposal, candidate.change
    return CandidateStory(
        id=id,
        seq=candidate.seq,
        time=candidate.time,
        status=candidate.status,
        reason=candidate.reason,
        layer=proposal.layer,
        round=candidate.round,
        stage=proposal.stage,
        decision=proposal.decision,
        proposal=proposal.reason,
        tasks=proposal.tasks,
        entries=proposal.entries,
        replaces=proposal.replaces,
        evidence=_evidence(state, candidate.evidence),
        screened_at=candidate.screened_at,
        screening=candidate.screening,
        planned_at=candidate.planned_at,
        planned=len(candidate.plan.pairs) if candidate.plan else 0,
        memory_at=candidate.plan.memory_at if candidate.plan else 0,
        trials=tuple(candidate.trials[index] for index in sorted(candidate.trials)),
        recount=recount(candidate),
        verdict_at=candidate.verdict_at,
        verdict=candidate.verdict,
        changed_at=candidate.changed_at,
        memory_hash=change.memory_hash if change else "",
        fates=tuple(_fate(state, candidate, entry) for entry in change.added) if change else (),
        checkpoints=_holding(state, change.added, candidate.changed_at) if change else (),
    )


def audit_skill(state: State, id: str) -> SkillStory:
    """The story of one skill. Raises UnknownSkill."""
    about = [
        candidate
        for candidate in state.candidates.candidates.values()
        if id in candidate.proposal.replaces or any(e.id == id for e in candidate.proposal.entries)
    ]
    versions = _versions(state, id)
    proposed = [entry for candidate in about for entry in candidate.proposal.entries if entry.id == id]
    if not versions and not proposed:
        raise UnknownSkill(f"This run has no skill {id!r}. Skills: {_some(_skills(state))}.")
    last = versions[-1] if versions else None
    origin = last.candidate if last else about[-1].id
    return SkillStory(
        id=id,
        in_memory=id in state.memory.entries,
        entry=last.entry if last else proposed[-1],
        versions=tuple(versions),
        candidates=tuple(_line(candidate) for candidate in about),
        story=audit_candidate(state, origin) if origin in state.candidates.candidates else None,
    )


def audit_all(state: State) -> tuple[CandidateLine, ...]:
    """All candidates of a run in order, each with its verdict and the reason."""
    return tuple(_line(candidate) for candidate in state.candidates.candidates.values())


def recount(candidate: Candidate) -> Recount:
    """Count a candidate's trials again and compare with what its verdict says."""
    decision, completion = candidate.tally(), candidate.tally(completion=True)
    p = _mcnemar(decision)
    planned = len(candidate.plan.pairs) if candidate.plan is not None else 0
    ended = candidate.verdict
    early = ended is not None and ended.verdict != "accepted" and ended.planned == planned and ended.decision
    complete = decision.pairs > 0 and decision.pairs == (early.pairs if early else planned)
    verdict, agrees = candidate.verdict, None
    if verdict is not None and verdict.decision is not None and decision.pairs == verdict.decision.pairs:
        said = verdict.decision
        # A candidate about completion is judged by it, whatever its trials call the decision.
        counted = completion if candidate.proposal.decision == "completion" else decision
        p = _mcnemar(counted)
        agrees = _same(said, counted) and isclose(said.p, p, abs_tol=1e-9)
        if verdict.completion is not None:
            agrees = agrees and _same(verdict.completion, completion)
    return Recount(decision=decision, completion=completion, p=p, complete=complete, agrees=agrees)


def _same(said: Statistic, counted: Tally) -> bool:
    return (said.pairs, said.without, said.with_candidate, said.wins, said.losses) == (
        counted.pairs,
        counted.without,
        counted.with_candidate,
        counted.wins,
        counted.losses,
    )


def _mcnemar(tally: Tally) -> float:
    """Chance of at least these wins among the pairs that differ, if both sides were alike."""
    n = tally.wins + tally.losses
    return float(sum(comb(n, k) for k in range(tally.wins, n + 1)) / 2**n)


def _line(candidate: Candidate) -> CandidateLine:
    verdict = candidate.verdict
    return CandidateLine(
        id=candidate.id,
        seq=candidate.seq,
        round=candidate.round,
        layer=candidate.proposal.layer,
        stage=candidate.proposal.stage,
        decision=candidate.proposal.decision,
        entries=tuple(entry.id for entry in candidate.proposal.entries),
        status=candidate.status,
        reason=candidate.reason,
        gated=verdict.gated if verdict else True,
        planned=len(candidate.plan.pairs) if candidate.plan else 0,
        tried=len(candidate.trials),
        statistic=verdict.decision if verdict else None,
    )


def _evidence(state: State, ids: Sequence[str]) -> tuple[Evidence, ...]:
    if not ids:
        return ()
    with Reader(state.path / LEDGER) as reader:
        return tuple(_episode(state, reader, id) for id in ids)


def _episode(state: State, reader: Reader, id: str) -> Evidence:
    episode = state.run.episodes.get(id)
    if episode is None:
        return Evidence(episode=id, found=False)
    choices: tuple[dict[str, Any], ...] = ()
    if episode.programs:
        seq = episode.programs[-1]
        choices = data_of(seq, decode(reader.at(seq).raw)).choices
    return Evidence(
        episode=id,
        found=True,
        seq=episode.seq,
        task=episode.task,
        state=episode.state,
        round=episode.round,
        status=episode.status,
        success=episode.success,
        choices=choices,
        critiques=tuple(critique.text for critique in episode.critiques),
        findings=tuple(finding for critique in episode.critiques for finding in critique.findings),
    )


def _fate(state: State, candidate: Candidate, entry: Entry) -> Fate:
    for other in state.candidates.candidates.values():
        if other.change is None or other.changed_at <= candidate.changed_at:
            continue
        if any(added.id == entry.id for added in other.change.added):
            return Fate(entry=entry.id, how="replaced", seq=other.changed_at, candidate=other.id)
        if entry.id in other.change.removed:
            return Fate(entry=entry.id, how="removed", seq=other.changed_at, candidate=other.id)
    return Fate(entry=entry.id, how="kept")


def _holding(state: State, entries: Iterable[Entry], since: int) -> tuple[str, ...]:
    """Names of the checkpoints whose memory holds one of these entries as it is."""
    wanted = {entry.id: entry for entry in entries}
    return tuple(
        checkpoint.name
        for checkpoint in state.run.checkpoints.values()
        if checkpoint.seq > since
        and any(wanted.get(entry.id) == entry for entry in state.memory.at(checkpoint.seq))
    )


def _versions(state: State, id: str) -> list[SkillVersion]:
    """Each span of events in which memory held one form of the entry."""
    spans: list[tuple[Entry, int, int]] = []
    for seq, entries in state.memory.history():
        entry = next((entry for entry in entries if entry.id == id), None)
        if spans and spans[-1][2] == 0 and spans[-1][0] != entry:
            spans[-1] = (*spans[-1][:2], seq)
        if entry is not None and (not spans or spans[-1][2]):
            spans.append((entry, seq, 0))
    brought = {c.changed_at: c.id for c in state.candidates.candidates.values() if c.change}
    return [
        SkillVersion(
            entry=entry,
            candidate=brought.get(since, entry.provenance.candidate),
            since=since,
            until=until,
            checkpoints=tuple(
                c.name
                for c in state.run.checkpoints.values()
                if since < c.seq and (not until or c.seq < until)
            ),
        )
        for entry, since, until in spans
    ]


def _skills(state: State) -> list[str]:
    """Ids of every entry that was in memory or proposed, each once."""
    ids = [entry.id for _, entries in state.memory.history() for entry in entries]
    ids += [e.id for c in state.candidates.candidates.values() for e in c.proposal.entries]
    return list(dict.fromkeys(ids))


def _some(ids: Iterable[str]) -> str:
    known = list(ids)
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    return (", ".join(known[:12]) or "none") + more
