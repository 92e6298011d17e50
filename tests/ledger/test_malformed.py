"""Whatever arrives on the bus is committed or refused, and the service goes on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from brokers import KINDS, Lab, lab, public, secret
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_intake import mutated

from skill2real.ledger import events, topics, wire
from skill2real.ledger.intake import Refusal, check_message
from skill2real.ledger.topics import Arrival

TRAINER = Arrival("lab", "events", "trainer", "public")
TOPIC = topics.events("lab", "trainer", "public")


async def outcome(client: Any, payload: bytes) -> list[wire.Ack]:
    """The acknowledgements of one message, and last that of a good event sent after it."""
    marker = public()
    await client.publish(TOPIC, payload, qos=1)
    await client.publish(TOPIC, wire.join([events.encode(marker)]), qos=1)
    found: list[wire.Ack] = []
    async with asyncio.timeout(20):
        async for message in client.messages:
            found += wire.decode_acks(message.payload)
            if found and found[-1].id == marker.id:
                assert found[-1].seq
                return found
    raise AssertionError("the connection ended")


async def attempt(here: Lab, payloads: list[bytes], timeout: float = 10) -> list[list[wire.Ack]]:
    async with here.client("trainer", timeout=timeout) as client:
        await client.subscribe(topics.acks("lab", "trainer"))
        return [await outcome(client, payload) for payload in payloads]


@given(payloads=st.lists(st.one_of(mutated(), st.binary(max_size=100)), min_size=1, max_size=30))
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("kind", KINDS)
def test_every_message_is_answered(
    kind: str, payloads: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path_factory.mktemp("fuzz")) as here:
            answers = await attempt(here, payloads)
            for payload, (*acks, _) in zip(payloads, answers, strict=True):
                expected = check_message(TRAINER, payload)
                assert len(acks) == len(expected)
                for ack, checked in zip(acks, expected, strict=True):
                    if isinstance(checked, Refusal):
                        assert (ack.id, ack.seq, ack.code) == (checked.event, 0, checked.code)
                    else:  # committed, or known already with other bytes, where an example changed a twin
                        assert ack.id == checked.event.id
                        assert ack.seq or ack.code == "duplicate"
        # The service has stopped, and what it only counted is summarised: all that came is in the ledger.
        acks = [ack for answer in answers for ack in answer]
        stored = {event.id for _, event in here.stored() if event.actor == "trainer"}
        assert stored >= {ack.id for ack in acks if ack.seq}
        assert len(stored) == 1 + len({ack.seq for ack in acks if ack.seq})
        assert sum(one.count for one in here.refusals()) == sum(not ack.seq for ack in acks)

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_messages_as_large_as_the_broker_lets_through(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            large = b"[" + b" " * (wire.MAX_MESSAGE + 1) + b"]"
            fields = {**json.loads(events.encode(public())), "cause": "c" * 900_000}
            fits = wire.join([json.dumps(fields).encode()])
            (refused, _), (committed, _) = await attempt(here, [large, fits])
            assert refused.code == "oversized"
            assert committed.seq
            # Larger still, and the broker ends the connection; nobody else notices.
            async with here.connect("trainer") as trainer:
                with pytest.raises((aiomqtt.MqttError, TimeoutError)):
                    await attempt(here, [b" " * (20 << 20)], timeout=1)
                assert await trainer.publish(public())

    asyncio.run(main())


def test_replayed_and_doubled_messages_change_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here:
            event = public()
            message = wire.join([events.encode(event)] * 3)
            first, again = await attempt(here, [message, message])
            assert {ack.seq for ack in first[:-1] + again[:-1]} == {2}
            assert [stored.id for _, stored in here.stored()].count(event.id) == 1

    asyncio.run(main())


def test_anothers_event_cannot_be_replayed_as_ones_own(tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here, here.connect("runner") as runner:
            event = secret()
            await runner.publish(event)
            ((ack, _),) = await attempt(here, [wire.join([events.encode(event)])])
            assert (ack.id, ack.seq, ack.code) == (event.id, 0, "actor")

    asyncio.run(main())


@pytest.mark.parametrize(
    "request_bytes",
    [b"", b"{}", b"\xff", b"[" * 100_000, b'{"after":-1,"token":"00000000000000000000000000000000"}',
     b'{"after":0,"token":"../../x/#"}', b'{"after":0,"token":"+"}',
     b'{"after":99999999999999999999999,"token":"00000000000000000000000000000000"}',
     b'{"after":9223372036854775807,"token":"00000000000000000000000000000000","limit":-5}'],
)  # fmt: skip
def test_bad_requests_do_no_harm(request_bytes: bytes, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab("embedded", tmp_path) as here:
            async with here.client("proposer") as client:
                await client.publish(topics.sync("lab", "proposer", "public"), request_bytes, qos=1)
            async with here.connect("proposer") as proposer:
                assert [seq async for seq, _ in proposer.follow(live=False)] == [1]

    asyncio.run(main())
