"""What `train`, `eval`, `deploy`, `demo`, `verify`, `doctor` and `suites` print, as text to lay out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from ..ledger.bundle import Verified
from ..ledger.check import Report
from ..ledger.events import Entry
from ..ledger.note import VerifierKey
from ..replay.audit import CandidateLine, audit_all
from ..replay.layout import block, count, duration, heading, json_text, percent, stack, table, text
from ..replay.show import show_checkpoints
from ..replay.state import LEDGER, state_at

if TYPE_CHECKING:  # these bring the whole training machinery; the reading commands need none of it
    from .controls import ControlLine
    from .demo import DemoResult
    from .deploy import DeployResult
    from .doctor import Check
    from .failures import PartFailures
    from .scores import EvalResult
    from .session import Estimate, TrainResult

MEMORY_WORDS = {
    "empty": "empty",
    "cerebellum": "Cerebellum only",
    "brain": "Brain only",
    "both": "both layers",
}


def show_estimate(estimate: "Estimate", workers: int) -> RenderableType:
    rows = [
        ("tasks", f"{estimate.tasks:,}"),
        ("training episodes", f"{estimate.episodes:,}"),
        ("trial episodes, at most about", f"{estimate.trials:,}"),
        (f"time on {count(workers, 'worker')}, about", duration(estimate.seconds)),
    ]
    return Group(heading("This run would take"), table(("", ">"), rows))


def show_training(result: "TrainResult") -> RenderableType:
    if not (result.path / LEDGER).exists():  # it is where the ledger service runs
        return heading(f"Run {result.run}", count(result.skills, "skill"), ", ".join(result.checkpoints))
    return stack(
        heading(f"Run {result.run}", count(result.skills, "skill"), str(result.path)),
        show_checkpoints(state_at(result.path)),
        _next(
            (f"audit {result.run}", "what was accepted, what was not, and why"),
            (f"replay {result.run}", "the run as a whole"),
        ),
    )


def show_evaluations(results: Sequence["EvalResult"]) -> RenderableType:
    """Success by memory, by group of tasks, and by task."""
    columns = ("memory", ">success", ">", ">95% interval", ">at rest", ">operations", ">s an episode")
    rows = [
        (
            MEMORY_WORDS.get(r.arm, r.arm),
            *_share(r.successes, r.episodes, r.interval),
            f"{r.settled}/{r.episodes}",
            f"{r.operations / max(1, _played(r)):.0f}",
            f"{r.seconds / max(1, _played(r)):.1f}",
        )
        for r in results
    ]
    title = heading(
        "Held-out initial states", *dict.fromkeys(f"{r.checkpoint} on {r.benchmark}" for r in results)
    )
    return stack(Group(title, table(columns, rows)), _by_group(results), _by_task(results), _lost(results))


def _played(result: "EvalResult") -> int:
    return sum(task.score.episodes for task in result.by_task)


def _share(successes: int, episodes: int, interval: tuple[float, float]) -> tuple[str, str, str]:
    share = f"{100 * successes / episodes:.1f}%" if episodes else ""
    return f"{successes}/{episodes}", share, percent(interval)


def _by_group(results: Sequence["EvalResult"]) -> RenderableType | None:
    rows = [
        (
            name,
            MEMORY_WORDS.get(r.arm, r.arm),
            *_share(score.successes, score.episodes, score.interval),
            score.settled,
        )
        for name in dict.fromkeys(name for r in results for name in r.groups)
        for r in results
        if (score := r.groups.get(name))
    ]
    return table(("tasks", "memory", ">success", ">", ">95% interval", ">at rest"), rows) if rows else None


def _by_task(results: Sequence["EvalResult"]) -> RenderableType:
    names = tuple(f">{MEMORY_WORDS.get(r.arm, r.arm)}" for r in results)
    scores = [{task.key: task.score for task in r.by_task} for r in results]
    rows = [
        (
            task.key,
            task.instruction,
            *(f"{own[task.key].successes}/{own[task.key].episodes}" for own in scores),
        )
        for task in (results[0].by_task if results else ())
    ]
    return table(("task", "instruction", *names), rows)


def _lost(results: Sequence["EvalResult"]) -> RenderableType | None:
    """Initial states in which a thing was off the table before the start."""
    tasks = {task.key: task.score.lost for r in results for task in r.by_task if task.score.lost}
    if not tasks:
        return None
    named = ", ".join(f"{lost} of {key}" for key, lost in tasks.items())
    return text(f"Lost before the start, counted as they ended: {named} (a thing was off the table).")


def show_failures(parts: Sequence["PartFailures"]) -> RenderableType:
    """Kinds of failure for each part of a run, then by task."""
    shown: list[RenderableType | None] = []
    for part in parts:
        own = part.by_task.values()
        failed, episodes = sum(t.failed for t in own), sum(t.episodes for t in own)
        undone = sum(t.undone for t in own)
        facts = [f"{failed} of {count(episodes, 'episode')} failed"]
        facts += [f"{undone} more were reached, but not so at rest"] if undone else []
        kinds = [(number, kind) for kind, number in part.kinds.items()]
        tasks = [
            (
                t.key,
                f"{t.failed}/{t.episodes}",
                t.instruction,
                "; ".join(f"{n} {kind}" for kind, n in t.kinds.items()),
            )
            for t in own
            if t.failed
        ]
        shown.append(Group(heading(part.part, *facts), table((">", "what went wrong first"), kinds)))
        shown.append(
            table(("task", ">failed", "instruction", "what went wrong first"), tasks) if tasks else None
        )
    return stack(*shown) if shown else text("No judged episodes yet.")


def show_deployment(result: "DeployResult") -> RenderableType:
    outcome = {True: "reached", False: "not reached", None: "not measured"}[result.success]
    at_rest = "" if result.settled is None else f", {'still so' if result.settled else 'not so'} at rest"
    rows = [
        ("instruction", result.instruction),
        ("program", f"{result.status}, {count(result.operations, 'operation')}, {duration(result.seconds)}"),
        ("goal", outcome + at_rest),
        ("ledger", str(result.path)),
    ]
    return Group(heading(f"Deployed {result.checkpoint}"), table(("", ""), rows))


def show_demo(result: "DemoResult") -> RenderableType:
    lines = audit_all(state_at(result.path))
    return stack(
        heading("Learned", count(len(result.entries), "skill")),
        _learned(result.entries),
        _refused(lines),
        show_evaluations(result.results),
        show_deployment(result.deployed),
        heading("Verified", f"ledger of {result.run}: {'sound' if result.ledger_sound else 'NOT sound'}"),
        _next(
            (f"audit {result.run}", "every candidate, with its verdict"),
            (f"replay {result.run} --at C1", "the memory at a checkpoint"),
            (f"verify {result.bundle}", "what a robot's computer checks before it moves"),
        ),
    )


def _next(*commands: tuple[str, str]) -> RenderableType:
    """Commands to go on with."""
    rows = [(f"skill2real {command}", what) for command, what in commands]
    return Group(heading("To go on"), table(("", ""), rows))


def _learned(entries: Sequence[Entry]) -> RenderableType:
    rows = [(e.layer, e.kind, e.when, json_text(e.state, 60)) for e in entries]
    return table(("layer", "decides", "when", "what it learned"), rows)


def _refused(lines: Sequence[CandidateLine]) -> RenderableType | None:
    rows = [
        (", ".join(line.entries), line.status.replace("_", " "), line.reason)
        for line in lines
        if line.status != "accepted"
    ]
    if not rows:
        return None
    return Group(
        heading("Not taken into memory", count(len(rows), "candidate")), table(("candidate", "", "why"), rows)
    )


def show_report(report: Report, key: VerifierKey | None) -> RenderableType:
    """The verification of a ledger."""
    verdict = text("sound", "bold green") if report.ok else text("NOT sound", "bold red")
    head = heading(f"Ledger of {report.run or 'an empty run'} is ").append_text(verdict)
    signatures = f"checked with {key}" if key else "not checked: no key was given, and you have none"
    rows = [
        ("events", f"{report.events:,}"),
        ("root", report.root.hex()),
        ("blobs", f"{report.blobs:,}"),
        ("checkpoints", ", ".join(report.checkpoints) or "none"),
        ("signatures", signatures),
        *([("not signed", ", ".join(report.unsigned))] if report.unsigned else []),
        *([("from outside", f"{count(report.outside, 'checkpoint')} agree")] if report.outside else []),
    ]
    findings = [(f.seq or "", f.what) for f in report.findings]
    found = Group(heading("Findings"), table((">event", "what is wrong"), findings)) if findings else None
    return stack(Group(head, table(("", ""), rows)), found)


def show_bundle(verified: Verified, key: VerifierKey) -> RenderableType:
    """The verification of a bundle, which holds."""
    rows = [
        ("checkpoint", f"{verified.name} of run {verified.run}"),
        ("memory", f"{count(len(verified.entries), 'skill')}, hash {verified.layer.memory_hash}"),
        ("interface", verified.layer.api_hash),
        ("signed tree", f"{verified.checkpoint.size:,} events, root {verified.checkpoint.root.hex()}"),
        ("signed by", str(key)),
    ]
    head = heading("Bundle is ").append_text(text("sound", "bold green"))
    return Group(head, table(("", ""), rows))


def show_checks(checks: Sequence["Check"]) -> RenderableType:
    rows = [
        (text("ok", "green") if check.ok else text("wrong", "bold red"), check.name, check.found)
        for check in checks
    ]
    remedies = [f"{check.name}: {check.remedy}" for check in checks if not check.ok]
    todo = Group(heading("What to do"), block(remedies, by=2)) if remedies else None
    return stack(table(("", "what", "found"), rows), todo)


def show_tasks(tasks: Sequence[tuple[str, str, int]]) -> RenderableType:
    """Tasks of a suite: number, instruction, number of initial states."""
    return table((">task", "instruction", ">initial states"), tasks)


def show_suites(suites: Sequence[tuple[str, int, str]]) -> RenderableType:
    return table(("suite", ">tasks", ""), suites)


def show_memory(entries: Sequence[Entry], in_full: bool = False) -> RenderableType:
    """A verified memory: what each skill does, when, and where it comes from."""
    shown: list[RenderableType | None] = [heading("Memory", count(len(entries), "skill"))]
    for e in entries:
        evidence = count(len(e.provenance.evidence), "episode")
        facts = [("learned", json_text(e.state, 0 if in_full else 100))]
        facts += [("from", f"candidate {e.provenance.candidate}, round {e.provenance.round}, {evidence}")]
        head = Group(heading(e.id, e.layer, e.kind), block(e.when, by=2), table(("", ""), facts))
        program = block(e.template, "dim") if in_full else None
        named = block(", ".join(e.provenance.evidence)) if in_full and e.provenance.evidence else None
        shown.append(Group(*(part for part in (head, named, program) if part is not None)))
    return stack(*shown)


def show_controls(lines: Sequence["ControlLine"]) -> RenderableType:
    """Controls by name, and how far each is."""
    rows = [(line.name, line.what, line.run, line.state or "not begun") for line in lines]
    head = heading("Controls and ablations", "each by `skill2real controls NAME`")
    return Group(head, table(("control", "what it shows", "training run", ""), rows))


def show_control(record: dict[str, Any]) -> RenderableType:
    """A control's result in short."""
    rows = [
        (
            one["benchmark"],
            f"{result['successes']}/{result['episodes']}",
            percent(result["interval"]),
            result["settled"],
        )
        for one in record["evaluations"]
        for result in one["results"]
    ]
    head = heading(f"Control {record['control']}", record["what"])
    return Group(head, table(("evaluated on", ">success", ">95% interval", ">at rest"), rows))
