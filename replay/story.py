"""What `audit` prints: the story of a candidate or skill, step by step, and the list of all candidates."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..ledger.events import ArmResult, Entry, Statistic, TrialFinished
from .audit import CandidateLine, CandidateStory, Evidence, SkillStory
from .layout import block, count, heading, json_text, moment, percent, short, stack, table, text

_STYLES = {"accepted": "green", "rejected": "red", "not_testable": "yellow"}


def show_candidates(lines: Sequence[CandidateLine]) -> RenderableType:
    """All candidates with verdict and reason."""
    if not lines:
        return text("No candidates were proposed yet.")
    rows = [
        (
            line.id,
            line.round,
            line.layer,
            line.decision,
            ", ".join(line.entries),
            _status(line.status, line.gated),
            _tried(line),
            line.reason,
        )
        for line in lines
    ]
    columns = ("candidate", "round", "layer", "decision", "skills", "verdict", "trials", "reason")
    return table(columns, rows)


def show_story(story: CandidateStory | SkillStory) -> RenderableType:
    """A candidate from its evidence to the checkpoints that hold it; a skill with its versions first."""
    if isinstance(story, CandidateStory):
        return _candidate(story)
    versions = [
        (f"{v.since:,}", f"{v.until:,}" if v.until else "now", v.candidate, ", ".join(v.checkpoints))
        for v in story.versions
    ]
    columns = (">from event", ">until", "candidate", "checkpoints")
    return stack(
        heading(f"Skill {story.id}", "in memory" if story.in_memory else "not in memory"),
        _entry(story.entry),
        Group(heading("In memory"), table(columns, versions)) if versions else None,
        Group(heading("Proposed"), show_candidates(story.candidates)) if story.candidates else None,
        _candidate(story.story) if story.story else None,
    )


def _candidate(story: CandidateStory) -> RenderableType:
    verdict = story.verdict
    proposed = f"proposed at event {story.seq:,}, {moment(story.time)}"
    facts = [story.layer, story.round, story.stage, story.decision, proposed]
    return stack(
        Group(
            heading(f"Candidate {story.id}", *filter(None, facts)),
            block(story.proposal, by=2),
            text("  verdict: ").append_text(_status(story.status, verdict.gated if verdict else True)),
            block(story.reason, by=2),
        ),
        _evidence(story.evidence),
        *(_entry(entry) for entry in story.entries),
        heading("Replaces", ", ".join(story.replaces)) if story.replaces else None,
        _screening(story),
        _trials(story),
        _verdict(story),
        _change(story),
    )


def _status(status: str, gated: bool) -> Text:
    words = status.replace("_", " ") + ("" if gated else " (no Governor)")
    return text(words, _STYLES.get(status, ""))


def _entry(entry: Entry) -> RenderableType:
    return Group(
        heading(f"Entry {entry.id}", entry.layer, entry.kind),
        block(f"when: {entry.when}", by=2),
        block(f"state: {json_text(entry.state, 2000)}", by=2),
        block(entry.template, "cyan"),
    )


def _evidence(evidence: Sequence[Evidence]) -> RenderableType | None:
    if not evidence:
        return None
    parts: list[RenderableType] = [heading("Evidence", count(len(evidence), "episode"))]
    for e in evidence:
        if not e.found or e.task is None:
            parts.append(block(f"{e.episode}: not in this ledger", "red", by=2))
            continue
        success = {True: "success", False: "no success", None: ""}[e.success]
        facts = [f"event {e.seq:,}", e.round, f"state {e.state}", e.status, success]
        parts.append(block(" · ".join([f"{e.episode}: {e.task.instruction}", *filter(None, facts)]), by=2))
        parts += [block(f"choice: {json_text(choice, 200)}", "dim") for choice in e.choices]
        parts += [block(f"critique: {critique}") for critique in e.critiques]
    return Group(*parts)


def _screening(story: CandidateStory) -> RenderableType | None:
    if story.screening is None:
        return None
    said = "passed" if story.screening.passed else "refused"
    return heading("Screening", f"event {story.screened_at:,}", said, *filter(None, [story.screening.reason]))


def _trials(story: CandidateStory) -> RenderableType | None:
    if not story.planned:
        return None
    head = heading(
        "Trials",
        f"{len(story.trials)} of {story.planned} on record",
        f"planned at event {story.planned_at:,}",
        f"against memory at event {story.memory_at:,}",
    )
    rows = [
        (t.index, t.task, t.state, _arm(t.without), _arm(t.with_candidate), _difference(t, story.decision))
        for t in story.trials
    ]
    columns = (">", "task", ">state", "without", "with", "")
    return Group(head, table(columns, rows)) if rows else head


def _arm(arm: ArmResult) -> str:
    words = ["yes" if arm.decision else "no", "completed" if arm.completed else ""]
    return ", ".join(filter(None, [*words, arm.failure]))


def _difference(trial: TrialFinished, decision: str) -> str:
    before, after = trial.without.decision, trial.with_candidate.decision
    if decision == "completion":
        before, after = trial.without.completed, trial.with_candidate.completed
    return "" if before == after else "win" if after else "loss"


def _tried(line: CandidateLine) -> str:
    if (s := line.statistic) is not None:
        return f"{s.without} → {s.with_candidate} of {s.pairs}, +{s.wins} −{s.losses}, p {s.p:.2g}"
    return f"{line.tried} of {line.planned}" if line.planned else ""


def _statistic(name: str, s: Statistic) -> str:
    return (
        f"{name}: {s.without}/{s.pairs} ({percent(s.interval_without)}) without, "
        f"{s.with_candidate}/{s.pairs} ({percent(s.interval_with)}) with; "
        f"{count(s.wins, 'win')}, {count(s.losses, 'loss', 'losses')}, one-sided exact p = {s.p:.3g}"
    )


def _verdict(story: CandidateStory) -> RenderableType | None:
    verdict = story.verdict
    if verdict is None:
        return None
    parts: list[RenderableType] = [
        heading("Verdict", f"event {story.verdict_at:,}", story.status.replace("_", " "), verdict.reason)
    ]
    if verdict.decision is not None:
        parts.append(block(_statistic(f"decision ({story.decision})", verdict.decision), by=2))
    if verdict.completion is not None:
        parts.append(block(_statistic("completion", verdict.completion), by=2))
    if story.recount.agrees is not None:
        said = "agree with" if story.recount.agrees else "CONTRADICT"
        style = "green" if story.recount.agrees else "bold red"
        parts.append(block(f"the trials on record, counted again, {said} these numbers", style, by=2))
    kinds = sorted({*verdict.failures_without, *verdict.failures_with})
    rows = [
        (kind, verdict.failures_without.get(kind, 0), verdict.failures_with.get(kind, 0)) for kind in kinds
    ]
    if rows:
        parts.append(table(("failure", ">without", ">with"), rows))
    worse = [(r.task, r.pairs, r.wins, r.losses) for r in verdict.regressions]
    if worse:
        parts.append(table(("completed less often with it", ">pairs", ">won", ">lost"), worse))
    return Group(*parts)


def _change(story: CandidateStory) -> RenderableType | None:
    if not story.changed_at:
        return None
    parts: list[RenderableType] = [
        heading("Memory changed", f"event {story.changed_at:,}", f"hash {short(story.memory_hash)}")
    ]
    for fate in story.fates:
        end = f" at event {fate.seq:,} by candidate {fate.candidate}" if fate.seq else " to the end"
        parts.append(block(f"{fate.entry}: {fate.how}{end}", by=2))
    held = ", ".join(story.checkpoints) or "none"
    parts.append(block(f"checkpoints that hold it: {held}", by=2))
    return Group(*parts)
