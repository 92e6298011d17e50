"""Keeping refusals from filling the ledger: some of each actor's are written one by one, the rest counted."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from .intake import Refusal

SINGLE: Final = 20  # refusals of one actor that are written one by one in a window
WINDOW: Final = 10.0  # seconds


class Floods:
    """The count of every actor's refusals."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._written: Counter[str] = Counter()
        self._counted: dict[str, Counter[str]] = {}

    @property
    def wait(self) -> float | None:
        """Seconds until a summary is due; None while nothing is counted."""
        if not self._counted:
            return None
        return max(0.0, min(self._until[actor] for actor in self._counted) - self._clock())

    def admit(self, refusal: Refusal) -> bool:
        """Whether this one is to be written by itself. If not, it is counted."""
        actor, now = refusal.actor, self._clock()
        if actor not in self._counted and self._until.get(actor, 0.0) <= now:
            self._until[actor] = now + WINDOW
            self._written[actor] = 0
        if self._written[actor] < SINGLE:
            self._written[actor] += 1
            return True
        self._counted.setdefault(actor, Counter())[refusal.code] += 1
        return False

    def summaries(self, *, all: bool = False) -> list[tuple[Refusal, int]]:
        """Summaries that are due (or all), each with its count; their windows end with this."""
        now = self._clock()
        due = [actor for actor in self._counted if all or self._until[actor] <= now]
        found = []
        for actor in due:
            codes = self._counted.pop(actor)
            self._until[actor] = 0.0
            count = codes.total()
            which = ", ".join(f"{code} {number}" for code, number in codes.most_common())
            reason = f"{count} more were refused within {WINDOW:.0f} s ({which})"
            found.append((Refusal(actor, "flood", reason), count))
        return found
