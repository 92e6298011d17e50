"""Publishing and following, on the embedded broker and on Mosquitto."""

import asyncio
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from brokers import KINDS, Lab, free_port, lab, opening, public, secret, verdict

from skill2real.ledger import events
from skill2real.ledger.broker import EmbeddedBroker
from skill2real.ledger.bus import Bus, Refused
from skill2real.ledger.bus_errors import (
    BadAddress,
    BrokerRefused,
    BrokerUnreachable,
    BusClosed,
    BusError,
    LedgerSilent,
    NotAllowed,
    PortInUse,
)
from skill2real.ledger.credentials import random_passwords
from skill2real.ledger.service import Service
from skill2real.ledger.store import Committed


async def read(bus: Bus, count: int, after: int = 0) -> list[Committed]:
    """The next events, and an end to waiting for them."""
    found: list[Committed] = []
    async with asyncio.timeout(20):
        async for committed in bus.follow(after):
            found.append(committed)
            if len(found) == count:
                break
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_each_actor_hears_what_it_may_in_order_and_once(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            lab(kind, tmp_path) as here,
            here.connect("trainer") as trainer,
            here.connect("runner") as runner,
            here.connect("proposer") as proposer,
            here.connect("governor", privileged=True) as governor,
        ):
            heard = [asyncio.create_task(read(proposer, 21)), asyncio.create_task(read(governor, 41))]
            said = []
            for number in range(10):
                said += await trainer.publish(public(number=number), public(number=number))
                said += await runner.publish(secret(), secret())
            assert said == list(range(2, 42))
            for_proposer, for_governor = await asyncio.gather(*heard)
            assert [seq for seq, _ in for_governor] == list(range(1, 42))
            kinds = [events.decode(raw).visibility for _, raw in for_proposer]
            assert kinds == ["public"] * 21
            assert [seq for seq, _ in for_proposer] == [
                seq for seq, event in here.stored() if event.visibility == "public"
            ]
            # The publisher's bytes are what is stored and what is heard.
            assert [raw for _, raw in for_governor] == [events.encode(event) for _, event in here.stored()]

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_event_is_told_and_recorded_and_the_others_are_committed(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here, here.connect("proposer") as proposer:
            good = events.make(
                "lab", "program.proposed", "proposer", events.ProgramProposed(turn=0, source="", last=True)
            )
            bad = verdict("proposer")
            with pytest.raises(Refused) as caught:
                await proposer.publish(good, bad)
            assert (caught.value.code, caught.value.event) == ("actor", bad.id)
            assert "only governor may" in caught.value.reason
            assert [event.id for _, event in here.stored()][1] == good.id
            (refused,) = here.refusals()
            assert (refused.actor, refused.code, refused.event) == ("proposer", "actor", bad.id)
            assert "verdict.given" in refused.excerpt

    asyncio.run(main())


def test_an_id_is_committed_once_and_never_with_other_bytes(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here, here.connect("trainer") as trainer:
            event = public()
            assert await trainer.publish(event) == [2]
            assert await trainer.publish(event, event) == [2, 2]
            other = public(number=2)
            changed = events.msgspec.structs.replace(other, id=event.id)
            with pytest.raises(Refused, match="other bytes") as caught:
                await trainer.publish(changed)
            assert caught.value.code == "duplicate"
            assert [stored.id for _, stored in here.stored()].count(event.id) == 1

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_follower_catches_up_and_goes_on_live(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here, here.connect("trainer") as trainer:
            await trainer.publish(*[public(number=n, pad="x" * 500) for n in range(1500)])
            async with here.connect("verifier", privileged=True) as verifier:
                reading = asyncio.create_task(read(verifier, 1300, after=251))
                await asyncio.sleep(0)
                await trainer.publish(*[public() for _ in range(50)])
                assert [seq for seq, _ in await reading] == list(range(252, 1552))
                ended = [seq async for seq, _ in verifier.follow(1540, live=False)]
                assert ended == list(range(1541, 1552))

    asyncio.run(main())


def test_a_slow_reader_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skill2real.ledger.follow.MAX_READY", 50)

    async def main() -> None:
        async with lab("embedded", tmp_path) as here, here.connect("trainer") as trainer:
            following = trainer.follow()
            first = await anext(following)
            for _ in range(20):
                await trainer.publish(*[public() for _ in range(20)])
            rest = [await asyncio.wait_for(anext(following), 20) for _ in range(400)]
            assert [first.seq, *(seq for seq, _ in rest)] == list(range(1, 402))
            await following.aclose()

    asyncio.run(main())


def test_everything_survives_a_restart_of_the_broker(tmp_path: Path) -> None:
    async def main() -> None:
        passwords, port = random_passwords(), free_port()
        broker = EmbeddedBroker(passwords, port=port)
        await broker.start()
        url = broker.address.url
        service = Service(tmp_path, url, passwords["ledger"])
        serving = asyncio.create_task(service.run())
        await service.ready()
        async with (
            Bus.connect(url, "lab", "trainer", passwords["trainer"]) as trainer,
            Bus.connect(url, "lab", "governor", passwords["governor"], privileged=True) as governor,
        ):
            reading = asyncio.create_task(read(governor, 31))
            await trainer.publish(opening())
            for number in range(3):
                await broker.shutdown()
                said = [public(number=number) for _ in range(10)]
                saying = asyncio.ensure_future(trainer.publish(*said))
                await asyncio.sleep(0.2)
                assert not saying.done()
                broker = EmbeddedBroker(passwords, port=port)
                await broker.start()
                assert len(await asyncio.wait_for(saying, 20)) == 10
            assert [seq for seq, _ in await reading] == list(range(1, 32))
        service.stop()
        await serving
        await broker.shutdown()

    asyncio.run(main())


def test_a_ledger_begins_with_its_run(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path, begin=False) as here, here.connect("trainer") as trainer:
            with pytest.raises(Refused, match=r"first event must be deployment.started or run.started"):
                await trainer.publish(public())
            assert not here.home.exists()
            assert await trainer.publish(opening(), public()) == [1, 2]

    asyncio.run(main())


def test_what_cannot_be_connected_says_what_to_do(tmp_path: Path) -> None:
    async def attempt(url: str, run: str = "lab", actor: events.Actor = "proposer", **more: object) -> None:
        async with Bus.connect(url, run, actor, patience=1.0, **{"password": "x", **more}):
            pass

    async def main() -> None:
        with pytest.raises(BrokerUnreachable, match="skill2real serve"):
            await attempt(f"mqtt://127.0.0.1:{free_port()}")
        with pytest.raises(BadAddress, match="mqtt://host:1883"):
            await attempt("http://127.0.0.1")
        with pytest.raises(BadAddress, match="credentials"):
            await attempt("mqtt://proposer:x@127.0.0.1")
        with pytest.raises(NotAllowed, match="verifier"):
            await attempt("mqtt://127.0.0.1", privileged=True)
        with pytest.raises(BusError, match="cannot be called"):
            await attempt("mqtt://127.0.0.1", run="../other")
        passwords = random_passwords()
        async with EmbeddedBroker(passwords) as broker:
            url = broker.address.url
            with pytest.raises(BrokerRefused, match="password"):
                await attempt(url)
            with pytest.raises(LedgerSilent, match="no ledger service"):
                await attempt(url, password=passwords["proposer"])
            with pytest.raises(PortInUse, match="--port"):
                EmbeddedBroker(passwords, port=broker.address.port)

    asyncio.run(main())


def test_a_ledger_that_another_process_writes_is_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here:
            other = Lab(here.url, here.passwords, here.home, here.service)
            async with EmbeddedBroker(here.passwords) as broker:
                second = Service(other.home, broker.address.url, here.passwords["ledger"])
                serving = asyncio.create_task(second.run())
                with pytest.raises(LedgerSilent, match="another process"):
                    async with Bus.connect(broker.address.url, "lab", "trainer", here.passwords["trainer"]):
                        pass
                second.stop()
                await serving

    asyncio.run(main())


def test_closing_ends_what_waits(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here:
            async with here.connect("trainer") as trainer:
                here.service.stop()
                await asyncio.sleep(0.2)
                waiting = asyncio.create_task(trainer.publish(public()))
                await asyncio.sleep(0.1)
            with pytest.raises(BusClosed):
                await waiting
            with pytest.raises(BusClosed):
                await trainer.publish(public())

    asyncio.run(main())


def test_closing_ends_whatever_the_client_library_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disconnection that is not confirmed in time must not turn the end into a reconnection."""
    leave = aiomqtt.Client.__aexit__

    async def fail(self: aiomqtt.Client, *error: Any) -> None:
        await leave(self, *error)
        raise aiomqtt.MqttError("Operation timed out")

    async def main() -> None:
        async with lab("embedded", tmp_path) as here:
            monkeypatch.setattr(aiomqtt.Client, "__aexit__", fail)
            async with asyncio.timeout(10), here.connect("trainer") as trainer:
                assert await trainer.publish(public())

    asyncio.run(main())
