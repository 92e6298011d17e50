"""What can go wrong around a training run: one sentence, the right exit code, and nothing lost."""

import asyncio
import os
import resource
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from apart import TRAIN, place
from rehearsed import Rehearsed
from small_run import by_subject, config, read

from skill2real.agents import exits, session
from skill2real.agents.casting import Cast
from skill2real.agents.config import ROLES, RoleName, RunConfig
from skill2real.agents.crew import linked
from skill2real.agents.errors import AgentError, RolloutFailed, RunMismatch
from skill2real.agents.session import crew_train, resolve
from skill2real.agents.trainer import Trainer
from skill2real.ledger import events as ev
from skill2real.ledger import local
from skill2real.ledger.bus import Bus
from skill2real.ledger.bus_errors import LedgerSilent, ServiceFailed
from skill2real.ledger.check import check_ledger
from skill2real.ledger.events import Event
from skill2real.ledger.keys import new_key

PLAN = config("bad", tasks=("51",), brain_rounds=0, episodes=2, trials=5)


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILL2REAL_KEY", str(tmp_path / "signing.key"))
    new_key("bad.test", tmp_path / "signing.key")


def opening() -> Event:
    data = ev.RunStarted(config={}, seeds={}, packages={}, api_hash="")
    return ev.make("bad", "run.started", "trainer", data)


def remark(pad: int = 0) -> Event:
    data = ev.RoundStarted(layer="brain", round=1, name=f"B1{'x' * pad}")
    return ev.make("bad", "round.started", "trainer", data)


def children() -> set[int]:
    """Process ids of this process's children."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_a_full_disk_ends_the_run_and_keeps_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit on file sizes of the service's process stands for the disk."""
    monkeypatch.setattr(local, "_PATIENCE", 1.0)
    acknowledged: dict[str, int] = {}

    async def publish(bus: Bus, *said: Event) -> None:
        seqs = await bus.publish(*said)
        acknowledged.update(zip((event.id for event in said), seqs, strict=True))

    async def fill() -> None:
        before = children()
        async with linked(tmp_path, None) as link, link.bus("bad", "trainer") as bus:
            await publish(bus, opening(), remark())
            (service,) = children() - before
            resource.prlimit(service, resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            while True:
                await publish(bus, remark(pad=5000))

    with pytest.raises(ServiceFailed, match="free some space") as failed:
        asyncio.run(fill())
    assert exits.code_of(failed.value) == exits.FAILED
    assert len(acknowledged) > 2
    ledger = tmp_path / "bad" / "ledger.db"
    assert check_ledger(ledger).ok
    assert {one.event.id: one.seq for one in read(ledger)}.items() >= acknowledged.items()

    async def go_on() -> list[int]:
        async with linked(tmp_path, None) as link, link.bus("bad", "trainer") as bus:
            return await bus.publish(remark())

    assert asyncio.run(go_on()) == [len(read(ledger))]


def test_a_service_that_keeps_dying_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_MOST_RESTARTS", 1)

    async def main() -> None:
        before = children()
        async with linked(tmp_path, None) as link, link.bus("bad", "trainer") as bus:
            await bus.publish(opening())
            while True:
                for service in children() - before:
                    os.kill(service, signal.SIGKILL)
                await asyncio.sleep(0.2)

    with pytest.raises(ServiceFailed, match="died") as failed:
        asyncio.run(asyncio.wait_for(main(), 60))
    assert exits.code_of(failed.value) == exits.FAILED
    assert len(read(tmp_path / "bad" / "ledger.db")) == 1


def train(home: Path, pool: Rehearsed, plan: RunConfig = PLAN, resume: bool = True) -> Trainer:
    """A run whose episodes are not really played."""
    tasks = resolve(plan.suite, plan.tasks)

    async def main() -> Trainer:
        async with linked(home, None) as link:
            return await crew_train(
                link, Cast(plan), tasks, tasks, pool, lambda progress: None, resume=resume
            )

    return asyncio.run(main())


@pytest.mark.sim
def test_a_rollout_that_fails_ends_the_run_and_is_tried_again(tmp_path: Path) -> None:
    plan = config("bad", tasks=("51",), brain_rounds=0, episodes=2, verifier="none")
    with pytest.raises(RolloutFailed, match=r"C1/train/0/51 could not be played: out of memory") as failed:
        train(tmp_path, Rehearsed(error=AgentError("out of memory")), plan)
    assert exits.code_of(failed.value) == exits.FAILED
    assert train(tmp_path, Rehearsed(), plan).checkpoints() == ("C1",)
    said = read(tmp_path / "bad" / "ledger.db")
    attempts = [one.data.attempt for one in said if one.event.type == "episode.started"]
    assert attempts == [1, 2, 1]
    assert {data.status for data in by_subject(said, "episode.finished").values()} == {"done"}


@pytest.mark.sim
def test_a_run_that_exists_is_not_begun_again(tmp_path: Path) -> None:
    plan = config("bad", tasks=("51",), brain_rounds=0, episodes=1, verifier="none")
    train(tmp_path, Rehearsed(), plan)
    ledger = tmp_path / "bad" / "ledger.db"
    before = read(ledger)
    with pytest.raises(RunMismatch, match=r"there is a run bad already; go on with --resume") as failed:
        train(tmp_path, Rehearsed(), plan, resume=False)
    assert exits.code_of(failed.value) == exits.USAGE
    other = config("bad", tasks=("52",), brain_rounds=0, episodes=1, verifier="none")
    with pytest.raises(RunMismatch, match="started with another tasks"):
        train(tmp_path, Rehearsed(), other)
    assert read(ledger) == before


@pytest.mark.sim
def test_a_ledger_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    plan = config("bad", tasks=("51",), brain_rounds=0, episodes=1, verifier="none")
    train(tmp_path, Rehearsed(), plan)
    ledger = tmp_path / "bad" / "ledger.db"
    connection = sqlite3.connect(ledger)
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    before = ledger.read_bytes()
    with pytest.raises(LedgerSilent, match="format 99"):
        train(tmp_path, Rehearsed(), plan)
    assert ledger.read_bytes() == before


@pytest.mark.sim
def test_a_trainer_says_whom_it_waits_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "QUIET_SECONDS", 0.3)
    tasks = resolve(PLAN.suite, PLAN.tasks)

    async def main() -> str:
        heard: asyncio.Queue[str] = asyncio.Queue()
        external: frozenset[RoleName] = frozenset({"proposer"})
        async with linked(tmp_path, None) as link:
            training = asyncio.create_task(
                session.crew_train(
                    link,
                    Cast(PLAN),
                    tasks,
                    tasks,
                    Rehearsed(),
                    lambda progress: heard.put_nowait(progress.what),
                    external=external,
                )
            )
            async with asyncio.timeout(60):
                while "nothing heard" not in (line := await heard.get()):
                    pass
            training.cancel()
            await asyncio.gather(training, return_exceptions=True)
        return line

    line = asyncio.run(main())
    assert "proposer" in line
    assert "runner" not in line
    assert "skill2real agent ROLE --run bad" in line


@pytest.mark.sim
@pytest.mark.slow
def test_a_runner_that_cannot_render_says_so_and_another_takes_its_place(tmp_path: Path) -> None:
    with place(tmp_path / "place") as here:
        here.serve("--port", "0")
        for role in ROLES:
            if role != "runner":
                here.agent(role)
        here.start_as("trainer", *TRAIN, "--cerebellum-rounds", "1", "--brain-rounds", "0", "--episodes", "1")
        here.until("program.proposed", 1)
        blind = here.agent("runner", MUJOCO_GL="egl", __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere")
        assert blind.wait(120) == exits.MISSING
        assert (
            here.log("runner").read_text().splitlines()[-1].startswith("Error: Pictures cannot be rendered")
        )
        time.sleep(0.5)
        assert here.count("episode.finished") == 0
        here.agent("runner")
        said = here.finish()
    assert {data.status for data in by_subject(said, "episode.finished").values()} == {"done"}
    assert not [one for one in said if one.event.type == "safety.stopped"]
