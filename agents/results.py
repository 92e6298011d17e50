"""What `train`, `eval`, `deploy`, `demo`, `verify`, `doctor` and `suites` print, as text to lay out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    from .demo import DemoResult
    from .deploy import DeployResult
    from .doctor import Check
    from .evaluation import EvalResult
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
    """Success by memory, and by task."""
    rows = [
        (
            MEMORY_WORDS.get(r.arm, r.arm),
            f"{r.successes}/{r.episodes}",
            f"{100 * r.successes / max(1, r.episodes):.0f}%",
            percent(r.interval),
            f"{r.settled}/{r.episodes}",
            f"{r.seconds / max(1, r.episodes):.1f}",
        )
        for r in results
    ]
    columns = ("memory", ">success", ">", "95% interval", ">at rest", ">s an episode")
    tasks = list(dict.fromkeys(task for r in results for task in r.by_task))
    by_task = [(task, *(_share(r.by_task.get(task)) for r in results)) for task in tasks]
    names = tuple(f">{MEMORY_WORDS.get(r.arm, r.arm)}" for r in results)
    title = heading("Held-out initial states", *dict.fromkeys(r.checkpoint for r in results))
    return stack(Group(title, table(columns, rows)), table(("instruction", *names), by_task))


def _share(counts: tuple[int, int] | None) -> str:
    return f"{counts[0]}/{counts[1]}" if counts else ""


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


def show_suites(suites: Sequence[tuple[str, int]]) -> RenderableType:
    return table(("suite", ">tasks"), suites)
