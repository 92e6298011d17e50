"""The runner: plays proposed programs on the rollout pool, and says in public what they showed.

An episode is deterministic, so programs that were played before from the same initial state are not played
again: the earlier result is repeated, and the event says so. Pictures of training, evaluation and deployment
are kept as blobs beside the ledger. Ground truth leaves here in privileged events only.
"""

import asyncio
import hashlib
import pickle
import zlib
from dataclasses import dataclass, replace

from ..backends.sim.rollout import Played, Rollout
from ..ledger import events as ev
from ..ledger.blobs import Blobs
from ..ledger.bus import Bus
from ..ledger.events import Event
from .actor import Role, log
from .chain import Chains
from .errors import AgentError, MissingError
from .pool import Pool


@dataclass
class _Episode:
    started: ev.EpisodeStarted
    sources: tuple[str, ...] = ()
    waiting: Event | None = None  # the program whose result was not said yet
    ended: Event | None = None  # the program whose result was said, but not yet how the episode ended


@dataclass(frozen=True)
class _Known:
    """What was played before, with the names of its pictures and the event that says it. It is kept packed:
    a long run plays tens of thousands of programs."""

    packed: bytes
    pictures: tuple[str, ...]
    event: str

    @property
    def played(self) -> Played:
        found: Played = pickle.loads(zlib.decompress(self.packed))
        return found

    @staticmethod
    def pack(played: Played) -> bytes:
        return zlib.compress(pickle.dumps(replace(played, pictures=())), level=1)


class Runner(Role):
    actor = "runner"

    """keep_all: pictures of trials are kept as well, for a Proposer that looks at them."""

    def __init__(
        self, bus: Bus, run: str, pool: Pool, blobs: Blobs | None = None, keep_all: bool = False
    ) -> None:
        super().__init__(bus, run)
        self.pool = pool
        self._blobs, self._keep_all = blobs, keep_all
        self._chains = Chains()
        self._open: dict[str, _Episode] = {}
        self._memo: dict[str, _Known] = {}  # by the programs and where they were played

    def hear(self, seq: int, event: Event) -> None:
        if not self._chains.follow(event):
            return
        episode = self._open.get(event.subject)
        match event.type:
            case "episode.started":
                self._open[event.subject] = _Episode(ev.payload(event))
            case "program.proposed" if episode:
                episode.sources = (*episode.sources, ev.payload(event).source)
                episode.waiting = event
            case "program.executed" | "program.rejected" if episode:
                episode.waiting, episode.ended = None, episode.waiting
            case "episode.finished":
                self._open.pop(event.subject, None)
            case "run.resumed":
                self._open.clear()

    async def react(self, seq: int, event: Event) -> None:
        episode = self._open.get(event.subject)
        if event.type == "program.proposed" and episode and episode.waiting is event:
            self.start(self._play(event, episode))

    async def catch_up(self) -> None:
        for episode in self._open.values():
            unsaid = episode.waiting or episode.ended
            if unsaid is not None:
                self.start(self._play(unsaid, episode))

    async def _play(self, event: Event, episode: _Episode) -> None:
        proposed: ev.ProgramProposed = ev.payload(event)
        task = episode.started.task
        last = proposed.last or proposed.turn + 1 >= episode.started.turns
        if episode.waiting is None and not last:
            return
        started = episode.started
        rollout = Rollout(
            task.suite, task.parts, started.state, episode.sources, last, task.scene, started.pixels
        )
        key = _key(rollout)
        known = self._memo.get(key)
        if known is None:
            try:
                played = await self.pool.play(rollout)
            except MissingError:
                raise  # nothing can be played here: the episode waits for a runner that can
            except AgentError as error:
                log.error("rollout failed", episode=event.subject, error=str(error))
                await self._give_up(event, str(error))
                return
            wanted = self._keep_all or episode.started.purpose != "trial"
            pictures = await self._keep(played) if wanted else ()
            said = self._result(event, proposed.turn, played, "", pictures)
            self._memo[key] = _Known(_Known.pack(played), pictures, said.id)
        else:
            played = known.played
            said = self._result(event, proposed.turn, played, known.event, known.pictures)
        messages = [said] if episode.waiting is not None else []
        refused = played.result.rejected is not None and proposed.turn + 1 < episode.started.turns
        if last and not refused:
            messages += self._ending(event, proposed.turn, played)
        if messages:
            await self.bus.publish(*messages)

    async def _keep(self, played: Played) -> tuple[str, ...]:
        """Names of the pictures, kept where the runner has a place for them."""
        blobs = self._blobs
        if blobs is None:
            return ()
        return await asyncio.to_thread(lambda: tuple(blobs.put(data) for data in played.pictures))

    def _result(
        self, event: Event, turn: int, played: Played, repeats: str, pictures: tuple[str, ...]
    ) -> Event:
        result = played.result
        if result.rejected is not None:
            refused = result.rejected
            data: ev.Struct = ev.ProgramRejected(turn=turn, stage=refused.stage, message=refused.message)
            return self.event("program.rejected", data, subject=event.subject, cause=event.id)
        executed = ev.ProgramExecuted(
            turn=turn,
            calls=tuple(
                ev.Call(
                    operation=c.operation, arguments=c.arguments, result=c.result, seconds=round(c.seconds, 4)
                )
                for c in result.calls
            ),
            printed=result.printed,
            value=result.value,
            error=result.error or "",
            unread_failures=tuple(str(failure) for failure in result.unread_failures),
            seconds=round(result.seconds, 3),
            repeats=repeats,
        )
        return self.event("program.executed", executed, subject=event.subject, cause=event.id, blobs=pictures)

    def _ending(self, event: Event, turn: int, played: Played) -> list[Event]:
        assert played.outcome is not None
        status = "rejected" if played.result.rejected else "error" if played.result.error else "done"
        finished = ev.EpisodeFinished(
            status=status,  # type: ignore[arg-type]
            start_digest=played.start_digest,
            end_digest=played.end_digest,
            operations=played.operations,
            turns=turn + 1,
            seconds=round(played.seconds, 3),
        )
        outcome = ev.OutcomeMeasured(
            success=played.outcome["success"],
            settled=played.outcome["settled"],
            progress=played.outcome["progress"],
            truth=played.outcome["record"],
        )
        return [
            self.event("outcome.measured", outcome, subject=event.subject, cause=event.id),
            self.event("episode.finished", finished, subject=event.subject, cause=event.id),
        ]

    async def _give_up(self, event: Event, message: str) -> None:
        """An episode that cannot be played ends as stopped, so that nobody waits for it."""
        finished = ev.EpisodeFinished(
            status="stopped", start_digest="", end_digest="", operations=0, turns=0, seconds=0.0
        )
        stopped = ev.SafetyStopped(cause="rollout", message=message)
        await self.bus.publish(
            self.event("safety.stopped", stopped, subject=event.subject, cause=event.id),
            self.event("episode.finished", finished, subject=event.subject, cause=event.id),
        )


def _key(rollout: Rollout) -> str:
    played = replace(rollout, scene="")
    return hashlib.sha256(repr(played).encode()).hexdigest()
