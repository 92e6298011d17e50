"""A result as a small file: what was found, and all that is needed to find it again.

Commands, package versions, initial states, the interface's hash, and for each ledger its root hash, by
which anyone who has the ledger can tell that it is the one.
"""

import os
import platform
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from ..backends.api import API_HASH
from ..backends.sim.rollout import PIXELS
from ..ledger.errors import LedgerError
from ..ledger.reader import Reader
from ..replay.state import LEDGER
from .config import STATES, command_of, read
from .evaluation import EvalPlan, Evaluated
from .failures import failures
from .packages import installed
from .scores import EvalResult
from .source import is_bundle


def ledger_facts(path: Path) -> dict[str, Any]:
    """Number of events and root hash of a run's ledger. path: its folder."""
    with Reader(path / LEDGER) as reader:
        return {"run": path.name, "events": reader.head, "root": reader.tree().root(reader.head).hex()}


def evaluation_record(plan: EvalPlan, done: Evaluated, home: Path) -> dict[str, Any]:
    """An evaluation as plain data, ready for JSON."""
    verified = done.source.verified
    trained: dict[str, Any] = {
        "run": verified.run,
        "checkpoint": verified.name,
        "memory_hash": verified.layer.memory_hash,
        "skills": len(verified.entries),
        "signed_tree": {"events": verified.checkpoint.size, "root": verified.checkpoint.root.hex()},
    }
    commands = [eval_command(plan)]
    if not is_bundle(plan.target):
        commands.insert(0, command_of(read(done.source.config)))
        trained["ledger"] = ledger_facts(home / verified.run)
    return {
        "benchmark": plan.suite,
        "commands": commands,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "packages": installed(),
        "api_hash": API_HASH,
        "seeds": STATES,
        "states": [STATES["eval"][0], STATES["eval"][0] + plan.seeds - 1],
        "trained": trained,
        "evaluation": ledger_facts(done.path),
        "results": [plain_result(result) for result in done.results],
        "failures": {part.part.rpartition("/")[2]: part.kinds for part in failures(done.path, ("eval",))},
    }


def plain_result(result: EvalResult) -> dict[str, Any]:
    """One arm's result ready for JSON; of single tasks the counts, from which their intervals follow."""
    plain = {name: getattr(result, name) for name in result.__dataclass_fields__}
    plain["groups"] = {name: asdict(score) for name, score in result.groups.items()}
    plain["by_task"] = {
        task.key: {
            "instruction": task.instruction,
            "group": task.group,
            "episodes": task.score.episodes,
            "successes": task.score.successes,
            "settled": task.score.settled,
            "lost": task.score.lost,
        }
        for task in result.by_task
    }
    return plain


def eval_command(plan: EvalPlan) -> str:
    """The command line that evaluates by this plan."""
    words = ["skill2real", "eval", plan.target, "--suite", plan.suite, "--seeds", str(plan.seeds)]
    if plan.checkpoint:
        words += ["--checkpoint", plan.checkpoint]
    for task in plan.tasks:
        words += ["--task", task]
    for arm in plan.arms:
        words += ["--arm", arm]
    if plan.models.language():
        words += ["--proposer", plan.models.proposer, "--effort", plan.models.effort]
    if plan.models.pixels != PIXELS:
        words += ["--pixels", str(plan.models.pixels)]
    if plan.rename is not None:
        words.append("--rename" if plan.rename else "--no-rename")
    return " ".join(words)


def save(record: Any, path: Path) -> None:
    """Write a record as a small JSON file, made whole before it takes the place of an older one.

    Raises LedgerError where it cannot be written.
    """
    spread = msgspec.json.format(msgspec.json.encode(record), indent=1).decode()
    text = re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda inner: re.sub(r"\n\s*", " ", inner[0]), spread)
    aside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text + "\n")
        aside.replace(path)
    except OSError as error:
        raise LedgerError(f"{path} cannot be written ({error.strerror}); name another file.") from error
