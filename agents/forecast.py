"""How long a run has still to go, from the episodes that are ahead and the pace of those that were played."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..ledger.events import Layer
from .config import RunConfig
from .rounds import layer_of, name_of

SEEN = 200  # latest episodes whose pace counts
FEWEST = 5  # episodes before which nothing is foretold


class Pace:
    """Seconds an episode, over the latest that were played here: what a ledger already had does not count."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=SEEN)

    def began(self) -> None:
        """The first episode begins."""
        if not self._times:
            self._times.append(time.monotonic())

    def played(self) -> None:
        self._times.append(time.monotonic())

    def left(self, episodes: float) -> float | None:
        """Seconds that so many more will take, None where too few were played to tell."""
        if len(self._times) <= FEWEST:
            return None
        took = self._times[-1] - self._times[0]
        return episodes * took / (len(self._times) - 1)


class Planned(NamedTuple):
    """A round of the plan. practice: training episodes. trials: as many to expect before any are seen."""

    name: str
    practice: int
    trials: int


def plan(config: RunConfig, tasks: int, brain_tasks: int) -> list[Planned]:
    """The rounds of a run with these numbers of tasks."""
    counts: tuple[tuple[Layer, int, int], ...] = (
        ("cerebellum", config.cerebellum_rounds, tasks),
        ("brain", config.brain_rounds, brain_tasks),
    )
    return [
        Planned(
            name_of(layer, number),
            config.episodes * own,
            _candidates(own) * 2 * config.trials * config.gated,
        )
        for layer, rounds, own in counts
        for number in range(1, rounds + 1)
    ]


def _candidates(tasks: int) -> int:
    """How many a round may have: a few, and more with many tasks."""
    return 4 + tasks // 5


def ahead(
    rounds: Sequence[Planned], closed: Sequence[str], seen: Mapping[str, int], open_round: str
) -> float:
    """Episodes still to come after this round's practice: this round's further trials, and all of the rounds
    that have not begun.

    closed: rounds that are done. seen: trial episodes of each round so far.
    """
    further = 0.0
    for one in rounds:
        if one.name in closed:
            continue
        trials = _expected(one, closed, seen)
        further += (
            max(0.0, trials - seen.get(one.name, 0)) if one.name == open_round else one.practice + trials
        )
    return further


def _expected(one: Planned, closed: Sequence[str], seen: Mapping[str, int]) -> float:
    """Trial episodes of a round: as many as its layer's last one had, or another layer's, or the plan's."""
    own = [name for name in closed if layer_of(name) == layer_of(one.name)]
    known = own or list(closed)
    return seen.get(known[-1], 0) if known else one.trials
