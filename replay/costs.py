"""What language models cost in a run: per role, purpose, episode and accepted skill, and the share of the
time that was spent waiting for them."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from ..ledger.events import EpisodeFinished, Event, ModelCalled, VerdictGiven
from ..ledger.reader import Reader
from .fold import data_of, feed
from .run import ModelUse
from .state import LEDGER


class RoleCost(msgspec.Struct):
    """Of one role on one model for one purpose. cached_tokens are a part of the input's. latency: median
    seconds of a call."""

    role: str
    model: str
    purpose: str
    use: ModelUse
    cached_tokens: int
    latency: float


class Costs(msgspec.Struct):
    """cost: in the currency of the run's price table. waited: seconds in which at least one call was open.
    elapsed: seconds of all sessions of the run. per_episode and per_skill: cost and seconds of calls, 0 where
    there is none."""

    run: str
    calls: int
    errors: int
    tokens: int
    cost: float
    episodes: int
    accepted: int
    per_episode: tuple[float, float]
    per_skill: tuple[float, float]
    waited: float
    elapsed: float
    waiting: float
    roles: list[RoleCost]


class CostFold:
    """Hears calls, ends of episodes and verdicts, and when each session began and ended."""

    types = frozenset(
        {"run.started", "run.resumed", "model.called", "episode.finished", "verdict.given", "run.finished"}
    )

    def __init__(self) -> None:
        self.run = ""
        self._calls: list[ModelCalled] = []
        self._open: list[tuple[float, float]] = []  # when each call was open
        self._in_episodes: list[ModelCalled] = []
        self._sessions: list[list[float]] = []
        self._episodes: set[str] = set()
        self._accepted = 0

    def hear(self, seq: int, event: Event) -> None:
        if event.type not in self.types:
            return
        self.run = self.run or event.run
        at = _seconds(event.time)
        if event.type in ("run.started", "run.resumed") or not self._sessions:
            self._sessions.append([at, at])
        self._sessions[-1][1] = max(self._sessions[-1][1], at)
        data = data_of(seq, event)
        if isinstance(data, ModelCalled):
            self._calls.append(data)
            self._open.append((at - data.seconds, at))
            if data.purpose in ("program", "critique"):
                self._in_episodes.append(data)
        elif isinstance(data, EpisodeFinished):
            self._episodes.add(event.subject)
        elif isinstance(data, VerdictGiven):
            self._accepted += data.verdict == "accepted"

    def costs(self) -> Costs:
        """What was heard so far amounts to."""
        total, spent = sum(c.cost for c in self._calls), sum(c.seconds for c in self._calls)
        elapsed = sum(last - first for first, last in self._sessions)
        waited = covered(self._open)
        count = len(self._episodes)
        inside = sum(c.cost for c in self._in_episodes), sum(c.seconds for c in self._in_episodes)
        return Costs(
            run=self.run,
            calls=len(self._calls),
            errors=sum(bool(c.error) for c in self._calls),
            tokens=sum(c.input_tokens + c.output_tokens for c in self._calls),
            cost=total,
            episodes=count,
            accepted=self._accepted,
            per_episode=(inside[0] / count, inside[1] / count) if count else (0.0, 0.0),
            per_skill=(total / self._accepted, spent / self._accepted) if self._accepted else (0.0, 0.0),
            waited=waited,
            elapsed=elapsed,
            waiting=min(1.0, waited / elapsed) if elapsed > 0 else 0.0,
            roles=self._roles(),
        )

    def _roles(self) -> list[RoleCost]:
        grouped: dict[tuple[str, str, str], list[ModelCalled]] = {}
        for called in self._calls:
            grouped.setdefault((called.role, called.model, called.purpose), []).append(called)
        return [_role(*key, calls) for key, calls in sorted(grouped.items())]


def _role(role: str, model: str, purpose: str, calls: list[ModelCalled]) -> RoleCost:
    use = ModelUse(
        calls=len(calls),
        errors=sum(bool(c.error) for c in calls),
        input_tokens=sum(c.input_tokens for c in calls),
        output_tokens=sum(c.output_tokens for c in calls),
        seconds=sum(c.seconds for c in calls),
        cost=sum(c.cost for c in calls),
    )
    latency = sorted(c.seconds for c in calls)[len(calls) // 2]
    return RoleCost(role, model, purpose, use, sum(c.cached_tokens for c in calls), latency)


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Length of the union of spans."""
    total, end = 0.0, float("-inf")
    for first, last in sorted(spans):
        total += max(0.0, last - max(first, end))
        end = max(end, last)
    return total


def costs_of(path: Path) -> Costs:
    """What language models cost in the run whose folder this is."""
    fold = CostFold()
    with Reader(path / LEDGER) as reader:
        feed(reader, fold)
    return fold.costs()


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0
