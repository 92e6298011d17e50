"""Benchmarks by name: which suites and tasks each stands for, how many held-out states, and what is added up.

A benchmark's name goes wherever a suite's does. One that is a single suite names its tasks by number, as
the suite does; one of several suites names them suite/number.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..backends.sim import suites
from ..backends.sim.robosuite_tasks import ROBOSUITE
from ..ledger import events as ev
from .categories import CATEGORIES, WORDS, Categories
from .config import parts
from .errors import ConfigError
from .renaming import rename as renamed
from .subset import covered

Grouping = Callable[[list[ev.Task]], list[str]]  # the group of each task

PRO_LONG = ("libero_10_task", "libero_10_swap")
SUBSET_OF, SUBSET_WORDS = "libero_90", "pro_long"
SINGLE_ARMED = ("Lift", "Stack", "Restack", "NutAssembly", "Wipe")
TWO_ARMED = ("TwoArmLift", "TwoArmHandover")
EXTRAS = ("PickPlaceCan", "PickPlaceMilk", "PickPlaceCereal")
SINGLE = "five single-armed"  # the group that robosuite's figure is the average of


@dataclass(frozen=True)
class Benchmark:
    """suites: what it consists of. sources: the tasks of robosuite that belong to it, () for all.
    extras: further ones, evaluated outside the average. seeds: held-out states a task, by default."""

    name: str
    suites: tuple[str, ...]
    seeds: int
    about: str
    sources: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


BENCHMARKS = {
    one.name: one
    for one in (
        Benchmark("pro_long", PRO_LONG, 20, "LIBERO-Pro Long: instructions and positions perturbed"),
        Benchmark(
            "robosuite_seven",
            (ROBOSUITE,),
            20,
            "five single-armed and two two-armed tasks; evaluated with three extras",
            (*SINGLE_ARMED, *TWO_ARMED),
            EXTRAS,
        ),
    )
}
PERTURBED = {"libero_10_task": "instruction perturbation", "libero_10_swap": "position perturbation"}
MANY_SEEDS = 10  # of a suite that is no benchmark above


def default_seeds(name: str) -> int:
    """Held-out initial states a task where nobody says how many."""
    return BENCHMARKS[name].seeds if name in BENCHMARKS else MANY_SEEDS


def resolve(
    name: str, names: Iterable[str] = (), *, rename: bool = False, extras: bool = False
) -> list[ev.Task]:
    """Tasks of a suite or benchmark by name ("12" or "12+15"; suite/12 in a benchmark of several suites); all
    without names.

    rename: with made-up words for nouns. extras: with those that are evaluated beside the benchmark's own.
    Raises UnknownSuite, UnknownTask, ConfigError.
    """
    wanted = [_named(name, one) for one in names] or _all(name, extras)
    found = [suites.load_task(suite, ids) for suite, ids in wanted]
    return [
        ev.Task(
            suite=task.suite,
            parts=task.parts,
            instruction=renamed(task.instruction) if rename else task.instruction,
            scene=task.scene,
        )
        for task in found
    ]


def _named(name: str, task: str) -> tuple[str, tuple[int, ...]]:
    own = BENCHMARKS[name].suites if name in BENCHMARKS else (name,)
    suite, _, number = task.rpartition("/")
    if suite and suite not in own:
        raise ConfigError(f"task {task!r} is of another suite than {', '.join(own)}; leave it out")
    if not suite and len(own) > 1:
        raise ConfigError(f"task {task!r} does not say of which suite; write {own[0]}/{task}")
    return suite or own[0], parts(number)


def _all(name: str, extras: bool) -> list[tuple[str, tuple[int, ...]]]:
    if name not in BENCHMARKS:
        return [(name, (i,)) for i in range(suites.count_tasks(name))]
    benchmark = BENCHMARKS[name]
    found: list[tuple[str, tuple[int, ...]]] = [
        (suite, (i,)) for suite in benchmark.suites for i in range(suites.count_tasks(suite))
    ]
    if not benchmark.sources:
        return found
    by_source = {suites.load_task(suite, ids).source: (suite, ids) for suite, ids in found}
    wanted = (*benchmark.sources, *(benchmark.extras if extras else ()))
    return [by_source[source] for source in wanted if source in by_source]


def subset() -> tuple[str, ...]:
    """Numbers of the LIBERO-90 tasks whose verbs and nouns all occur in Pro Long's instructions."""
    own = [task.instruction for task in resolve(SUBSET_OF)]
    return tuple(str(i) for i in covered(own, [task.instruction for task in resolve(SUBSET_WORDS)]))


def key_of(task: ev.Task) -> str:
    """A task's name in results: suite and number, since different scenes have the same instruction."""
    return f"{task.suite}/{'+'.join(map(str, task.parts))}"


def groups(name: str, tasks: list[ev.Task]) -> dict[str, list[ev.Task]]:
    """What is added up apart beside the whole; {} where there is nothing to tell apart."""
    if name == "pro_long":
        return _grouped(tasks, [PERTURBED[task.suite] for task in tasks])
    if name in ("robosuite_seven", ROBOSUITE):
        return _grouped(tasks, [_arms(task) for task in tasks])
    try:
        reading = Categories(task.instruction for task in resolve(name))
    except ValueError:  # a suite with words that the grammar does not know
        return {}
    named = [WORDS[reading.of(suites.load_task(task.suite, task.parts).instruction)] for task in tasks]
    ordered = [WORDS[category] for category in CATEGORIES]
    return dict(sorted(_grouped(tasks, named).items(), key=lambda one: ordered.index(one[0])))


def counts(name: str, task: ev.Task) -> bool:
    """Whether a task counts for the benchmark's own figure; two-armed tasks and extras have their own."""
    return name not in ("robosuite_seven", ROBOSUITE) or _arms(task) == SINGLE


def _arms(task: ev.Task) -> str:
    source = suites.load_task(task.suite, task.parts).source
    if source in SINGLE_ARMED:
        return SINGLE
    return "two-armed" if source in TWO_ARMED else f"beside: {source}"


def _grouped(tasks: list[ev.Task], names: list[str]) -> dict[str, list[ev.Task]]:
    found: dict[str, list[ev.Task]] = {}
    for task, name in zip(tasks, names, strict=True):
        found.setdefault(name, []).append(task)
    return found
