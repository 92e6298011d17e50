"""Episodes with real privileged records, as the leak guard meets them: what was public, and the truth."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from skill2real.agents.models.base import EpisodeView, Turn
from skill2real.ledger import events as ev

HERE = Path(__file__).parent
CORPUS = HERE / "leak_corpus"
Record = dict[str, Any]


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


RECORDED: dict[str, Any] = {
    **_read(HERE / "recorded_work.json"),
    **_read(HERE / "recorded_episodes.json"),
    **_read(CORPUS / "episodes.json"),
}


@cache
def episode(name: str) -> tuple[EpisodeView, Record]:
    """What was public of a recorded episode, and its privileged record."""
    own = RECORDED[name]
    base = RECORDED[own["record"]] if isinstance(own["record"], str) else own
    record = base["record"] | ({"instruction": own["task"]} if "task" in own else {})
    task = ev.Task(suite="libero_90", parts=(0,), instruction=own["instruction"])
    started = ev.EpisodeStarted(task=task, state=0, purpose="train", memory=ev.MemoryRef())
    turns = [_turn(number, program) for number, program in enumerate(own.get("programs") or _programs(base))]
    return EpisodeView(name, started, turns, finished=True), record


def _programs(base: dict[str, Any]) -> list[dict[str, Any]]:
    """Of episodes that were recorded without their programs: what these returned, and the choices."""
    values = [base["value"]] if "value" in base else [base["look"], {"parts": base["parts"]}]
    return [{"value": value} for value in values] + [{"choices": base["choices"]}]


def _turn(number: int, program: dict[str, Any]) -> Turn:
    source, choices = program.get("source", ""), tuple(program.get("choices", ()))
    turn = Turn(ev.ProgramProposed(turn=number, source=source, last=False, choices=choices))
    if "value" in program:
        turn.executed = ev.ProgramExecuted(
            turn=number,
            calls=tuple(ev.Call(**call, seconds=0.1) for call in program.get("calls", ())),
            printed=program.get("printed", ""),
            value=program["value"],
            error=program.get("error", ""),
            unread_failures=tuple(program.get("unread_failures", ())),
            seconds=1.0,
        )
    return turn
