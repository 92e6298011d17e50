"""The runner on a real bus: what was played before is repeated, and nothing is said for a dead attempt."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rehearsed import Rehearsed
from small_run import Said, read

from skill2real.agents.crew import together
from skill2real.agents.errors import AgentError, MissingError
from skill2real.agents.runner import Runner
from skill2real.ledger import events as ev
from skill2real.ledger.blobs import Blobs
from skill2real.ledger.bus import Bus
from skill2real.ledger.events import Event
from skill2real.ledger.local import LocalBus, local_bus

RUN = "played"
TASK = ev.Task(suite="libero_90", parts=(50,), instruction="pick up the can")


@dataclass
class Stage:
    """A run in which this test says what trainer and proposer would."""

    home: Path
    local: LocalBus
    trainer: Bus
    proposer: Bus
    pool: Rehearsed = field(default_factory=Rehearsed)

    async def start(self, id: str, state: int = 0, purpose: ev.Purpose = "train", turns: int = 4) -> Event:
        data = ev.EpisodeStarted(task=TASK, state=state, purpose=purpose, memory=ev.MemoryRef(), turns=turns)
        event = ev.make(RUN, "episode.started", "trainer", data, subject=id)
        await self.trainer.publish(event)
        return event

    async def propose(self, id: str, cause: Event, source: str, turn: int = 0, last: bool = True) -> Event:
        data = ev.ProgramProposed(turn=turn, source=source, last=last)
        event = ev.make(RUN, "program.proposed", "proposer", data, subject=id, cause=cause.id)
        await self.proposer.publish(event)
        return event

    async def hear(self, type: str, id: str) -> Event:
        """The first event of a type about an episode, as soon as it is committed."""
        async with asyncio.timeout(20):
            async for committed in self.trainer.follow():
                event = ev.decode(committed.raw)
                if (event.type, event.subject) == (type, id):
                    return event
        raise AssertionError

    async def play(self, id: str, source: str, **more: Any) -> None:
        await self.propose(id, await self.start(id, **more), source)
        await self.hear("episode.finished", id)

    @asynccontextmanager
    async def runner(self) -> AsyncIterator[None]:
        """A runner that serves until the block ends."""
        async with self.local.connect(RUN, "runner") as bus:
            runner = Runner(bus, RUN, self.pool, Blobs(self.home / RUN / "blobs"))
            task = asyncio.create_task(runner.serve())
            try:
                yield
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def play(home: Path, scene: Callable[[Stage], Any]) -> list[Said]:
    """What the ledger says after a scene."""

    async def main() -> None:
        async with (
            local_bus(home, process=False) as local,
            local.connect(RUN, "trainer", privileged=True) as trainer,
            local.connect(RUN, "proposer") as proposer,
        ):
            started = ev.RunStarted(config={}, seeds={}, packages={}, api_hash="")
            await trainer.publish(ev.make(RUN, "run.started", "trainer", started, subject=RUN))
            await scene(Stage(home, local, trainer, proposer))

    asyncio.run(main())
    return read(home / RUN / "ledger.db")


def of(said: list[Said], type: str, id: str) -> list[Said]:
    return [one for one in said if (one.event.type, one.event.subject) == (type, id)]


def test_what_was_played_before_is_repeated_and_says_so(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        async with stage.runner():
            for id, source, state in (("a", "x", 0), ("b", "x", 0), ("c", "x", 1), ("d", "y", 0)):
                await stage.play(id, source, state=state)
            assert [(r.state, r.sources) for r in stage.pool.asked] == [
                (0, ("x",)),
                (1, ("x",)),
                (0, ("y",)),
            ]

    said = play(tmp_path, scene)
    results = {id: of(said, "program.executed", id)[0] for id in "abcd"}
    assert results["b"].data.repeats == results["a"].event.id
    assert [results[id].data.repeats for id in "acd"] == ["", "", ""]
    assert results["a"].data.value == results["b"].data.value
    assert results["a"].event.blobs == results["b"].event.blobs != ()
    ends = {id: of(said, "episode.finished", id)[0].data for id in "abcd"}
    assert ends["a"] == ends["b"]
    assert len({(end.start_digest, end.end_digest) for end in ends.values()}) == 3
    truths = {id: of(said, "outcome.measured", id)[0].data for id in "ab"}
    assert truths["a"] == truths["b"]


def test_a_trial_and_its_pair_that_resolve_to_one_program_are_played_once(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        async with stage.runner():
            for id in ("c/trial/0/without", "c/trial/0/with"):
                await stage.play(id, "x", purpose="trial", state=7)
            assert len(stage.pool.asked) == 1

    said = play(tmp_path, scene)
    assert not any(one.event.blobs for one in said)  # trials keep no pictures


def test_an_episode_of_two_programs_is_one_rollout_that_goes_on(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        async with stage.runner():
            look = await stage.propose("a", await stage.start("a"), "look", last=False)
            seen = await stage.hear("program.executed", "a")
            assert seen.cause == look.id
            await stage.propose("a", seen, "act", turn=1)
            await stage.hear("episode.finished", "a")
        assert [(r.sources, r.finish) for r in stage.pool.asked] == [
            (("look",), False),
            (("look", "act"), True),
        ]
        assert stage.pool.asked[1].continues(stage.pool.asked[0])

    said = play(tmp_path, scene)
    assert len(of(said, "outcome.measured", "a")) == 1


def test_the_last_turn_ends_an_episode_that_would_go_on(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        async with stage.runner():
            await stage.propose("a", await stage.start("a", turns=1), "look", last=False)
            await stage.hear("episode.finished", "a")

    play(tmp_path, scene)


def test_a_runner_that_comes_late_plays_what_waits(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.propose("a", await stage.start("a"), "x")
        await stage.start("b")  # no program yet: nothing to play
        async with stage.runner():
            await stage.hear("episode.finished", "a")
        assert len(stage.pool.asked) == 1

    play(tmp_path, scene)


def test_a_runner_that_is_started_again_says_what_its_predecessor_could_not(tmp_path: Path) -> None:
    """It died between the result, which all may hear, and the outcome."""

    async def scene(stage: Stage) -> None:
        program = await stage.propose("a", await stage.start("a"), "x")
        result = ev.ProgramExecuted(
            turn=0, calls=(), printed="", value=1, error="", unread_failures=(), seconds=0.0
        )
        async with stage.local.connect(RUN, "runner") as bus:
            await bus.publish(
                ev.make(RUN, "program.executed", "runner", result, subject="a", cause=program.id)
            )
        async with stage.runner():
            await stage.hear("episode.finished", "a")

    said = play(tmp_path, scene)
    assert len(of(said, "program.executed", "a")) == len(of(said, "outcome.measured", "a")) == 1


def test_programs_of_a_dead_attempt_are_not_played(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        async with stage.runner():
            dead = await stage.start("a")
            resumed = ev.RunResumed(packages={})
            await stage.trainer.publish(ev.make(RUN, "run.resumed", "trainer", resumed, subject=RUN))
            await stage.propose("a", dead, "old")
            await stage.propose("a", await stage.start("a"), "new")
            await stage.hear("episode.finished", "a")
        assert [r.sources for r in stage.pool.asked] == [("new",)]

    play(tmp_path, scene)


def test_what_cannot_be_played_ends_as_stopped(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        stage.pool.error = AgentError("the world fell off its table")
        async with stage.runner():
            await stage.play("a", "x")
            stage.pool.error = None
            await stage.play("b", "x")  # a failure is not remembered as a result

    said = play(tmp_path, scene)
    assert of(said, "episode.finished", "a")[0].data.status == "stopped"
    assert of(said, "safety.stopped", "a")[0].data.message == "the world fell off its table"
    assert of(said, "outcome.measured", "a") == []
    assert of(said, "episode.finished", "b")[0].data.status == "done"


def test_a_runner_that_lacks_something_gives_up_itself_and_not_the_episode(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        stage.pool.error = MissingError("there is no renderer here")
        await stage.propose("a", await stage.start("a"), "x")
        async with stage.local.connect(RUN, "runner") as bus:
            with pytest.raises(MissingError, match="no renderer"):
                await together([Runner(bus, RUN, stage.pool)], asyncio.Event().wait)
        stage.pool.error = None
        async with stage.runner():
            await stage.hear("episode.finished", "a")

    said = play(tmp_path, scene)
    assert of(said, "episode.finished", "a")[0].data.status == "done"
    assert not [one for one in said if one.event.type == "safety.stopped"]
