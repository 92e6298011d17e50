"""kill -9 of the service and of the broker under load: nothing acknowledged is lost, nothing is doubled."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from brokers import free_port, mosquitto, opening, public

from skill2real.ledger import events
from skill2real.ledger.check import check_ledger
from skill2real.ledger.credentials import random_passwords
from skill2real.ledger.local import LocalBus, local_bus
from skill2real.ledger.reader import Reader
from skill2real.ledger.service import ledger_path

PUBLISHERS, CALLS, EVENTS = 3, 40, 25


async def load(local: LocalBus, disturb: "asyncio.Task[None]") -> dict[str, int]:
    """Publish from several connections while something is killed; what was acknowledged, by id."""
    acknowledged: dict[str, int] = {}

    async def publisher() -> None:
        async with local.connect("lab", "trainer") as bus:
            for call in range(CALLS):
                said = [public(number=call) for _ in range(EVENTS)]
                seqs = await bus.publish(*said)
                acknowledged.update(zip((event.id for event in said), seqs, strict=True))
                await asyncio.sleep(0.05)

    async def reader() -> list[int]:
        found: list[int] = []
        async with local.connect("lab", "governor", privileged=True) as bus:
            async for seq, _ in bus.follow():
                found.append(seq)
                if len(found) == PUBLISHERS * CALLS * EVENTS + 1:
                    break
        return found

    async with local.connect("lab", "trainer") as bus:
        await bus.publish(opening())
    reading = asyncio.create_task(reader())
    async with asyncio.timeout(90):
        await asyncio.gather(*(publisher() for _ in range(PUBLISHERS)), disturb)
        assert await reading == list(range(1, PUBLISHERS * CALLS * EVENTS + 2))
    return acknowledged


def judge(home: Path, acknowledged: dict[str, int]) -> None:
    path = ledger_path(home, "lab")
    with Reader(path) as reader:
        stored = {events.decode(raw).id: seq for seq, raw in reader.events(types=["round.started"])}
        assert reader.head == len(stored) + 1  # none doubled, nothing refused
    assert len(acknowledged) == PUBLISHERS * CALLS * EVENTS
    assert acknowledged == stored
    assert check_ledger(path).ok


def test_the_process_of_broker_and_service_is_killed(tmp_path: Path) -> None:
    async def main() -> dict[str, int]:
        async with local_bus(tmp_path) as local:

            async def disturb() -> None:
                assert local.keeper is not None
                for _ in range(3):
                    await asyncio.sleep(0.6)
                    before = local.keeper.pid
                    os.kill(before, signal.SIGKILL)
                    while local.keeper.pid == before:  # noqa: ASYNC110 (until it was started again)
                        await asyncio.sleep(0.05)

            return await load(local, asyncio.create_task(disturb()))

    judge(tmp_path, asyncio.run(main()))


@pytest.mark.parametrize("victim", ["service", "broker"])
def test_the_service_or_mosquitto_is_killed(victim: str, tmp_path: Path) -> None:
    passwords, port = random_passwords(), free_port()
    folder = tmp_path / "broker"

    async def main() -> dict[str, int]:
        managers = [mosquitto(folder, passwords, port)]
        url, broker = managers[0].__enter__()
        try:
            async with local_bus(tmp_path / "runs", broker=url, passwords=passwords) as local:

                async def disturb() -> None:
                    nonlocal broker
                    assert local.keeper is not None
                    for _ in range(3):
                        await asyncio.sleep(0.6)
                        if victim == "service":
                            before = local.keeper.pid
                            os.kill(before, signal.SIGKILL)
                            while local.keeper.pid == before:  # noqa: ASYNC110
                                await asyncio.sleep(0.05)
                        else:
                            os.kill(broker, signal.SIGKILL)
                            await asyncio.sleep(0.2)
                            managers.append(mosquitto(folder, passwords, port))
                            _, broker = await asyncio.to_thread(managers[-1].__enter__)

                return await load(local, asyncio.create_task(disturb()))
        finally:
            for manager in managers:
                manager.__exit__(None, None, None)

    judge(tmp_path / "runs", asyncio.run(main()))
