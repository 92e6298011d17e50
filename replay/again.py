"""Playing an episode again from what the ledger holds: the same programs must lead to the same states.

The simulator is needed for this, and only for this; it is imported when the first episode is played.
"""

from pathlib import Path

import msgspec

from ..ledger.events import EpisodeFinished, EpisodeStarted, ProgramProposed, decode, payload
from ..ledger.reader import Reader
from .errors import NotPlayable
from .state import LEDGER

_TYPES = ("episode.started", "program.proposed", "episode.finished")


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """An episode as recorded and as played again. Digests are SHA-256 of the simulator's state."""

    episode: str
    instruction: str
    state: int
    programs: int
    recorded_start: str
    recorded_end: str
    start: str
    end: str
    success: bool
    settled: bool

    @property
    def same(self) -> bool:
        return (self.recorded_start, self.recorded_end) == (self.start, self.end)


def play_again(run: Path, episode: str) -> Again:
    """Play a finished episode of a run again. Raises NotPlayable, or the simulator's own errors."""
    started: EpisodeStarted | None = None
    finished: EpisodeFinished | None = None
    sources: list[str] = []
    with Reader(run / LEDGER) as reader:
        for committed in reader.events(types=_TYPES, subject=episode):
            data = payload(decode(committed.raw))
            if isinstance(data, EpisodeStarted):  # one that was started again counts from there
                started, sources, finished = data, [], None
            elif isinstance(data, ProgramProposed):
                sources.append(data.source)
            else:
                finished = data
        known = [] if started else _some_episodes(reader)
    if started is None:
        raise NotPlayable(
            f"Run {run.name} has no episode {episode!r}; it has, among others: {', '.join(known) or 'none'}."
        )
    if finished is None or not finished.end_digest:
        raise NotPlayable(f"Episode {episode} did not finish, so there is nothing to compare it with.")
    from ..backends.sim.rollout import Player, Rollout

    task = started.task
    played = Player(forks=0).play(
        Rollout(task.suite, task.parts, started.state, tuple(sources), True, task.scene, started.pixels)
    )
    outcome = played.outcome or {}
    return Again(
        episode=episode,
        instruction=task.instruction,
        state=started.state,
        programs=len(sources),
        recorded_start=finished.start_digest,
        recorded_end=finished.end_digest,
        start=played.start_digest,
        end=played.end_digest,
        success=bool(outcome.get("success")),
        settled=bool(outcome.get("settled")),
    )


def _some_episodes(reader: Reader, count: int = 5) -> list[str]:
    found: dict[str, None] = {}
    for committed in reader.events(types=("episode.finished",)):
        found[decode(committed.raw).subject] = None
        if len(found) >= count:
            break
    return list(found)
