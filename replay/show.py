"""What `runs`, `replay` and `checkpoints` print, as text to lay out; and everything's form for --json."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from rich.console import Group, RenderableType

from ..ledger.events import Entry
from .again import Again
from .audit import CandidateLine, CandidateStory, SkillStory
from .diff import Diff, EntryChange
from .layout import (
    block,
    count,
    duration,
    heading,
    json_text,
    moment,
    percent,
    plain,
    short,
    stack,
    table,
    text,
)
from .run import Checkpoint, Evaluation, Round
from .runs import RunLine, run_state
from .state import EpisodeCount, State
from .story import show_candidates, show_story

__all__ = [
    "plain",
    "show_audit",
    "show_checkpoints",
    "show_diff",
    "show_runs",
    "show_state",
    "to_json",
]


def to_json(value: Any) -> Any:
    """A state, difference, story or list of them as dictionaries and lists, ready for JSON."""
    return msgspec.to_builtins(value.summary() if isinstance(value, State) else value)


def show_runs(lines: Sequence[RunLine]) -> RenderableType:
    """All runs of a home folder."""
    if not lines:
        return text("No runs yet; `skill2real train` or `skill2real demo` makes one.")
    rows = [
        (
            line.name,
            line.state,
            moment(line.started) if line.started else "",
            duration(line.elapsed),
            f"{line.events:,}",
            f"{line.episodes:,}",
            f"{line.accepted}",
            f"{line.rejected}",
            f"{line.skills}",
            ", ".join(line.checkpoints) or line.problem,
        )
        for line in lines
    ]
    columns = ("run", "state", "began", ">took", ">events", ">episodes", ">accepted", ">rejected", ">skills")
    return table((*columns, "checkpoints"), rows)


def show_again(again: Again) -> RenderableType:
    """An episode that was played again, beside its record."""
    rows = [
        ("start", again.recorded_start[:16], again.start[:16]),
        ("end", again.recorded_end[:16], again.end[:16]),
    ]
    verdict = (
        "the same to the bit"
        if again.same
        else "NOT the same: another version or machine, or a changed program"
    )
    return Group(
        heading(again.episode, again.instruction, f"state {again.state}", verdict),
        table(("state of the simulator", "recorded", "now"), rows),
    )


def show_state(state: State) -> RenderableType:
    """A run at a point."""
    run = state.summary()
    suite = f"suite {run.config['suite']}" if "suite" in run.config else ""
    facts = [moment(run.time), run_state(state), run.reason, suite, f"took {duration(run.elapsed)}"]
    return stack(
        heading(f"{run.run} at event {run.seq:,}", *filter(None, facts)),
        _rounds(run.rounds),
        _episodes("Episodes", run.episodes),
        _candidates(run.candidates),
        _memory(run.memory, run.memory_hash, run.frozen),
        _checkpoints(run.checkpoints),
        _evaluations(run.evaluations),
        _deployments(state),
        _models(state),
        _refusals(run.refusals),
        _doubts(run.doubts),
    )


def show_checkpoints(state: State) -> RenderableType:
    """The checkpoints of a run, in order."""
    shown = _checkpoints(tuple(state.run.checkpoints.values()))
    return shown or text("No checkpoints yet; training freezes them, or `skill2real freeze` does.")


def show_diff(difference: Diff) -> RenderableType:
    """What changed from one point to another."""
    d = difference
    same = d.memory_before == d.memory_after
    memory = "memory is the same" if same else f"memory {short(d.memory_before)} → {short(d.memory_after)}"
    verdicts = [(v.seq, v.verdict, ", ".join(v.entries), v.reason) for v in d.verdicts]
    return stack(
        heading(f"From event {d.before:,} to event {d.after:,}", memory),
        _entries("Added", d.added),
        _entries("Removed", d.removed),
        *(_change(change) for change in d.changed),
        _titled("Verdicts between", (">event", "verdict", "entries", "reason"), verdicts),
        _rounds(d.rounds),
        _episodes("Episodes between", d.episodes),
        _checkpoints(d.checkpoints),
    )


def show_audit(story: CandidateStory | SkillStory | Sequence[CandidateLine]) -> RenderableType:
    """A candidate's or skill's story, or all candidates with verdict and reason."""
    if isinstance(story, CandidateStory | SkillStory):
        return show_story(story)
    return show_candidates(story)


def _titled(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> RenderableType | None:
    """A heading and its table, or nothing where there are no rows."""
    return Group(heading(title), table(columns, rows)) if rows else None


def _rounds(rounds: Iterable[Round]) -> RenderableType | None:
    rows = [
        (
            r.name,
            r.layer,
            f"{r.episodes}",
            f"{r.successes}",
            f"{r.accepted}",
            f"{r.rejected}",
            "closed" if r.closed else "open",
        )
        for r in rounds
    ]
    return _titled(
        "Rounds", ("round", "layer", ">episodes", ">successes", ">accepted", ">rejected", ""), rows
    )


def _episodes(title: str, counts: Mapping[str, EpisodeCount]) -> RenderableType | None:
    rows = [(name, c.episodes, c.finished, c.successes) for name, c in counts.items()]
    return _titled(title, ("purpose", ">begun", ">finished", ">successes"), rows)


def _candidates(counts: Mapping[str, int]) -> RenderableType | None:
    if not counts:
        return None
    words = (f"{number} {status.replace('_', ' ')}" for status, number in counts.items())
    return heading("Candidates", ", ".join(words))


def _memory(entries: Sequence[Entry], hash: str, frozen: Sequence[str]) -> RenderableType:
    facts = [count(len(entries), "entry", "entries"), f"hash {short(hash)}"]
    if frozen:
        facts.append(f"frozen: {', '.join(frozen)}")
    head = heading("Memory", *facts)
    return Group(head, _entry_table(entries)) if entries else head


def _entries(title: str, entries: Sequence[Entry]) -> RenderableType | None:
    return Group(heading(title), _entry_table(entries)) if entries else None


def _entry_table(entries: Sequence[Entry]) -> RenderableType:
    rows = [(e.id, e.layer, e.kind, e.when, json_text(e.state, 160)) for e in entries]
    return table(("skill", "layer", "kind", "when", "state"), rows)


def _change(change: EntryChange) -> RenderableType:
    before, after = change.before, change.after
    parts = [
        block(f"{name}: {old} → {new}")
        for name, old, new in (
            ("when", before.when, after.when),
            ("kind", before.kind, after.kind),
            ("layer", before.layer, after.layer),
            ("from candidate", before.provenance.candidate, after.provenance.candidate),
        )
        if old != new
    ]
    parts += [
        block(f"{value.path}: {json_text(value.before, 80)} → {json_text(value.after, 80)}")
        for value in change.state
    ]
    if change.template:
        parts.append(block(change.template))
    return Group(heading("Changed", change.id), *parts)


def _checkpoints(checkpoints: Sequence[Checkpoint]) -> RenderableType | None:
    rows = [
        (
            c.name,
            c.layer,
            "closed" if c.closed else "snapshot",
            f"{c.seq:,}",
            moment(c.time),
            short(c.memory_hash),
            c.parent,
            f"event {c.signed:,}, tree of {c.tree_size:,}" if c.signed else "not signed",
        )
        for c in checkpoints
    ]
    columns = ("name", "layer", "", ">event", "frozen", "memory", "builds on", "signed")
    return _titled("Checkpoints", columns, rows)


def _evaluations(evaluations: Sequence[Evaluation]) -> RenderableType | None:
    rows: list[tuple[object, ...]] = []
    for e in evaluations:
        result = f"{e.successes}/{e.episodes}" if e.finished else "running"
        rows.append(
            (e.arm, e.checkpoint, e.suite, result, percent(e.interval), e.settled, duration(e.seconds))
        )
        rows += [("", "", text(task, "dim"), f"{good}/{total}") for task, (good, total) in e.by_task.items()]
    columns = ("arm", "checkpoint", "suite", ">successes", ">95%", ">settled", ">took")
    return _titled("Evaluations", columns, rows)


def _deployments(state: State) -> RenderableType | None:
    rows = [
        (d.checkpoint, d.backend, d.task, d.status, d.operations, duration(d.seconds))
        for d in state.run.deployments
    ]
    columns = ("checkpoint", "backend", "task", "status", ">operations", ">took")
    return _titled("Deployments", columns, rows)


def _models(state: State) -> RenderableType | None:
    rows = [
        (
            role,
            model,
            f"{use.calls:,}",
            f"{use.errors:,}",
            f"{use.input_tokens:,}",
            f"{use.output_tokens:,}",
            duration(use.seconds),
            f"{use.cost:.4f}",
        )
        for (role, model), use in state.run.models.items()
    ]
    columns = ("role", "model", ">calls", ">errors", ">tokens in", ">tokens out", ">time", ">cost")
    return _titled("Models", columns, rows)


def _refusals(refusals: Mapping[str, int]) -> RenderableType | None:
    words = (f"{number:,} for {code}" for code, number in refusals.items())
    return heading("Refused messages", ", ".join(words)) if refusals else None


def _doubts(doubts: Iterable[tuple[int, str]]) -> RenderableType | None:
    return _titled("What does not fit", (">event", "what"), [(seq, what) for seq, what in doubts])
