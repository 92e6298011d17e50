"""Attempts to read what is private and to say what one may not, with a client that obeys no rule of ours.

Every probe runs against the embedded broker and against Mosquitto with the access list that we print for it.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiomqtt
import pytest
from brokers import KINDS, Lab, lab, public, secret, verdict

from skill2real.ledger import events, topics, wire
from skill2real.ledger.credentials import parse_url

pytestmark = pytest.mark.parametrize("kind", KINDS)

WIDER = [
    "#",
    "+/#",
    "skill2real/#",
    "skill2real/lab/#",
    "skill2real/lab/+/+",
    "skill2real/+/ledger/+",
    "skill2real/+/ledger/#",
    "skill2real/lab/ledger/privileged",
    "skill2real/lab/ledger/privileged/#",
    "+/+/ledger/privileged",
    "$share/group/skill2real/+/ledger/privileged",
    "$share/group/#",
    "skill2real/lab/events/runner/privileged",
    "skill2real/+/events/+/+",
    "skill2real/lab/acks/runner",
    "skill2real/lab/acks/+",
    "skill2real/lab/replies/verifier/privileged/+",
    "skill2real/lab/replies/+/+/+",
    "skill2real/services",
]


@asynccontextmanager
async def heard_by(client: aiomqtt.Client) -> AsyncIterator[list[str]]:
    """The topics of everything that a client receives."""
    found: list[str] = []

    async def listen() -> None:
        async for message in client.messages:
            found.append(str(message.topic))

    task = asyncio.create_task(listen())
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(found: list[str], topic: str) -> None:
    async with asyncio.timeout(10):
        while topic not in found:  # noqa: ASYNC110 (a list has nothing to wait for)
            await asyncio.sleep(0.01)


async def reveal(here: Lab) -> None:
    """Let the runner and the trainer speak, privileged before public, and the verifier ask."""
    async with (
        here.connect("runner") as runner,
        here.connect("verifier", privileged=True) as verifier,
        here.connect("trainer") as trainer,
    ):
        await runner.publish(secret(), secret())
        assert [seq async for seq, _ in verifier.follow(live=False)]
        await trainer.publish(public())


@pytest.mark.parametrize("actor", ["proposer", "deployer"])
def test_no_subscription_reaches_privileged_topics(kind: str, actor: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here, here.client(actor) as spy, heard_by(spy) as heard:
            for pattern in WIDER:
                codes = await spy.subscribe(pattern, qos=1)
                if kind == "embedded":  # Mosquitto grants and then delivers nothing
                    assert [getattr(code, "value", code) for code in codes] == [0x80], pattern
            mine = topics.ledger("lab", "public")
            await spy.subscribe(mine)
            await reveal(here)
            await until(heard, mine)
            assert {topic for topic in heard if not topic.startswith(mine)} <= {topics.acks("lab", actor)}

    asyncio.run(main())


def test_no_subscription_slips_in_beside_an_allowed_one(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here, here.client("proposer") as spy, heard_by(spy) as heard:
            mine = topics.ledger("lab", "public")
            await spy.subscribe([(mine, 0), (topics.ledger("lab", "privileged"), 0), ("#", 0)])
            await reveal(here)
            await until(heard, mine)
            assert set(heard) == {mine}

    asyncio.run(main())


def test_a_public_actor_cannot_ask_for_privileged_events(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            await reveal(here)
            token = "0" * 32
            for asked in (
                topics.sync("lab", "proposer", "privileged"),
                topics.sync("lab", "verifier", "privileged"),
            ):
                async with here.client("proposer") as spy, heard_by(spy) as heard:
                    for visibility in topics.VISIBILITIES:
                        await spy.subscribe(topics.replies("lab", "proposer", visibility, token))
                    request = wire.encode(wire.Request(0, token))
                    with suppress(aiomqtt.MqttError):
                        await spy.publish(asked, request, qos=1)
                        await spy.publish(topics.sync("lab", "proposer", "public"), request, qos=1)
                        await until(heard, topics.replies("lab", "proposer", "public", token))
                    assert topics.replies("lab", "proposer", "privileged", token) not in heard

    asyncio.run(main())


@pytest.mark.parametrize(
    "topic",
    [
        "skill2real/lab/events/governor/public",
        "skill2real/lab/events/proposer/privileged",
        "skill2real/lab/ledger/public",
        "skill2real/lab/ledger/privileged",
        "skill2real/lab/acks/runner",
        "skill2real/lab/replies/governor/privileged/00000000000000000000000000000000",
        "skill2real/lab/events/ledger/public",
        "$SYS/broker/version",
        "skill2real/services",
        "elsewhere",
    ],
)
def test_nobody_speaks_as_another(kind: str, topic: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            lab(kind, tmp_path) as here,
            here.client("ledger") as ledger,
            here.client("governor") as governor,
            heard_by(ledger) as at_ledger,
            heard_by(governor) as at_governor,
        ):
            await ledger.subscribe(topics.events("+", "+", "+"))
            for visibility in topics.VISIBILITIES:
                await governor.subscribe(topics.ledger("+", visibility))
                await governor.subscribe(topics.replies("+", "governor", visibility, "+"))
            before = len(here.stored())
            async with here.client("proposer") as liar:
                payload = wire.join([events.encode(verdict("governor"))])
                try:
                    await liar.publish(topic, payload, qos=1)
                    accepted = True
                except aiomqtt.MqttError:
                    accepted = False
                # A QoS 1 publication that is denied must not look accepted. MQTT 3.1.1 leaves a broker two
                # ways, and Mosquitto acknowledges and drops; that is why only the ledger's commit counts.
                assert kind == "mosquitto" or not accepted
            async with here.connect("trainer") as trainer:
                await trainer.publish(public())
            await until(at_governor, topics.ledger("lab", "public"))
            assert set(at_ledger) == {topics.events("lab", "trainer", "public")}
            assert set(at_governor) == {topics.ledger("lab", "public")}
            assert len(here.stored()) == before + 1

    asyncio.run(main())


def test_a_proposers_verdict_is_refused(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            mine = topics.acks("lab", "proposer")
            async with here.client("proposer") as liar:
                await liar.subscribe(mine)
                for claimed in ("proposer", "governor"):
                    payload = wire.join([events.encode(verdict(claimed))])
                    await liar.publish(topics.events("lab", "proposer", "public"), payload, qos=1)
                    message = await asyncio.wait_for(anext(aiter(liar.messages)), 10)
                    (ack,) = wire.decode_acks(message.payload)
                    assert (ack.seq, ack.code) == (0, "actor")
            assert not [event for _, event in here.stored() if event.type == "verdict.given"]
            assert [refused.code for refused in here.refusals()] == ["actor", "actor"]

    asyncio.run(main())


@pytest.mark.parametrize("retain", [True, False])
def test_a_will_says_nothing_that_its_owner_may_not(kind: str, retain: bool, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            for topic in (
                topics.ledger("lab", "public"),
                topics.events("lab", "governor", "public"),
                topics.events("lab", "proposer", "public"),
            ):
                will = aiomqtt.Will(topic, wire.join([events.encode(verdict("governor"))]), 1, retain)
                with suppress(aiomqtt.MqttError):
                    async with here.client("proposer", will=will) as dying:
                        if kind == "embedded":
                            raise AssertionError("a client with a will was let in")
                        # The end of the socket without DISCONNECT is what releases a will.
                        dying._client.socket().shutdown(socket.SHUT_RDWR)
                        await asyncio.sleep(0.2)
            async with here.client("governor") as later, heard_by(later) as heard:
                await later.subscribe(topics.ledger("lab", "public"))
                async with here.connect("trainer") as trainer:
                    (seq,) = await trainer.publish(public())
                await until(heard, topics.ledger("lab", "public"))
                assert len(heard) == 1  # nothing was retained
            assert not [event for _, event in here.stored() if event.type == "verdict.given"]
            assert here.stored()[-1][0] == seq

    asyncio.run(main())


def test_nothing_is_retained(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            for user, topic in (
                ("trainer", topics.events("lab", "trainer", "public")),
                ("ledger", topics.ledger("lab", "public")),
            ):
                with suppress(aiomqtt.MqttError):
                    async with here.client(user) as client:
                        await client.publish(topic, b"[]", qos=1, retain=True)
            async with here.client("ledger") as later, heard_by(later) as heard:
                await later.subscribe(topics.events("+", "+", "+"))
                async with here.connect("trainer") as trainer:
                    await trainer.publish(public())
                await until(heard, topics.events("lab", "trainer", "public"))
                assert len(heard) == 1
            async with here.client("proposer") as later, heard_by(later) as heard:
                await later.subscribe(topics.ledger("lab", "public"))
                async with here.connect("trainer") as trainer:
                    await trainer.publish(public())
                await until(heard, topics.ledger("lab", "public"))
                assert len(heard) == 1

    asyncio.run(main())


@pytest.mark.parametrize("live", [True, False], ids=["connected", "gone"])
def test_a_client_id_gives_no_access_to_anothers_messages(kind: str, live: bool, tmp_path: Path) -> None:
    """Even when the id, which is random, has become known."""

    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            name = "verifier-known"
            victim = here.client("verifier", name, clean_session=False)
            await victim.__aenter__()
            await victim.subscribe(
                [(topics.ledger("lab", visibility), 1) for visibility in topics.VISIBILITIES]
            )
            if not live:
                await victim.__aexit__(None, None, None)
                await reveal(here)  # would be queued for the victim's persistent session
            thief = here.client("proposer", name, clean_session=False)
            if kind == "embedded":
                with pytest.raises(aiomqtt.MqttError):
                    await thief.__aenter__()
            else:
                await thief.__aenter__()
                async with heard_by(thief) as heard:
                    await thief.subscribe(topics.ledger("lab", "public"))
                    await reveal(here)
                    await until(heard, topics.ledger("lab", "public"))
                    assert topics.ledger("lab", "privileged") not in heard
                await thief.__aexit__(None, None, None)
            if kind == "embedded" and live:
                async with heard_by(victim) as heard:  # was not even disturbed
                    await reveal(here)
                    await until(heard, topics.ledger("lab", "privileged"))
            if live:
                with suppress(aiomqtt.MqttError):
                    await victim.__aexit__(None, None, None)

    asyncio.run(main())


def test_sessions_end_with_their_connection(kind: str, tmp_path: Path) -> None:
    """Our own clients ask for clean sessions; the embedded broker knows no other."""

    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            if kind == "mosquitto":
                pytest.skip("a broker that others run may keep sessions; the bus never asks for one")
            async with here.client("verifier", "verifier-one", clean_session=False) as first:
                await first.subscribe(topics.ledger("lab", "privileged"), qos=1)
            await reveal(here)
            async with (
                here.client("verifier", "verifier-one", clean_session=False) as again,
                heard_by(again) as heard,
            ):
                await again.subscribe(topics.ledger("lab", "public"))
                await reveal(here)
                await until(heard, topics.ledger("lab", "public"))
                assert set(heard) == {topics.ledger("lab", "public")}

    asyncio.run(main())


@pytest.mark.parametrize(
    ("user", "password", "name"),
    [
        ("proposer", "wrong", "proposer-1"),
        ("proposer", "", "proposer-1"),
        ("nobody", "x", "nobody-1"),
        (None, None, "proposer-1"),
        ("verifier", "of the proposer", "verifier-1"),
    ],
)
def test_only_who_proves_to_be_an_actor_comes_in(
    kind: str, user: str | None, password: str | None, name: str, tmp_path: Path
) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here:
            given = here.passwords["proposer"] if password == "of the proposer" else password
            address = parse_url(here.url)
            with pytest.raises(aiomqtt.MqttError):
                async with aiomqtt.Client(
                    address.host, address.port, username=user, password=given, identifier=name, timeout=3
                ):
                    pass

    asyncio.run(main())


def test_garbage_on_the_socket_harms_nobody(kind: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with lab(kind, tmp_path) as here, here.connect("trainer") as trainer:
            address = parse_url(here.url)
            for garbage in (
                b"",
                b"GET / HTTP/1.1\r\n\r\n",
                b"\x10\xff\xff\xff\x7f" + b"\0" * 100,  # a CONNECT of 256 MiB
                b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00",  # neither user nor client id
                b"\xff" * 1000,
            ):
                _, writer = await asyncio.open_connection(address.host, address.port)
                writer.write(garbage)
                await writer.drain()
                writer.close()
            assert await trainer.publish(public())

    asyncio.run(main())
