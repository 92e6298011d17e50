"""What waits for its commit: gathered, bounded, sent again."""

import asyncio
from collections.abc import Callable

import pytest
from brokers import public, secret

from skill2real.ledger import outbox, wire
from skill2real.ledger.bus_errors import BusClosed, Refused
from skill2real.ledger.events import RoundStarted, decode, make
from skill2real.ledger.outbox import Outbox


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def inside(test: Callable[[], None]) -> Callable[[], None]:
    """Run in a loop: batches have futures."""

    def run() -> None:
        async def main() -> None:
            test()

        asyncio.run(main())

    run.__name__ = test.__name__
    return run


def sent(box: Outbox) -> list[tuple[str, list[str]]]:
    found = []
    while (message := box.next_message()) is not None:
        found.append((message[0], [decode(raw).id for raw in wire.split(message[1])]))
    return found


@inside
def test_what_is_said_together_travels_together_and_in_order() -> None:
    box = Outbox()
    said = [public(), public(), secret(), public()]
    box.add(said[:1])
    box.add(said[1:])
    ids = [event.id for event in said]
    assert sent(box) == [("public", ids[:2]), ("privileged", ids[2:3]), ("public", ids[3:])]
    assert sent(box) == []


@inside
def test_messages_are_bounded() -> None:
    box = Outbox()
    box.add([public() for _ in range(outbox.MESSAGE_EVENTS + 1)])
    box.add([public(pad="x" * 300_000) for _ in range(3)])
    sizes = [len(ids) for _, ids in sent(box)]
    assert sizes == [outbox.MESSAGE_EVENTS, 2, 1, 1]


@inside
def test_what_is_in_flight_is_bounded_by_commits() -> None:
    box = Outbox()
    said = [public() for _ in range(outbox.WINDOW_EVENTS + 1000)]
    batch = box.add(said)
    first = [id for _, ids in sent(box) for id in ids]
    assert len(first) == outbox.WINDOW_EVENTS
    for id in first:
        box.acknowledge(wire.Ack(id, 1))
    assert sum(len(ids) for _, ids in sent(box)) == 1000
    for event in said:
        box.acknowledge(wire.Ack(event.id, 1))
    assert batch.done.result() == [1] * len(said)
    assert not len(box)


@inside
def test_the_same_ids_are_sent_until_they_are_acknowledged() -> None:
    clock = Clock()
    box = Outbox(clock)
    said = [public(), public()]
    batch = box.add(said)
    (first,) = sent(box)
    assert not box.resend()
    box.acknowledge(wire.Ack(said[0].id, 7))
    for wait in (2.0, 4.0, 8.0, 16.0, 30.0, 30.0):  # less and less often
        clock.now += wait - 0.1
        assert not box.resend()
        clock.now += 0.1
        assert box.resend()
        assert sent(box) == [("public", [said[1].id])]
    assert box.resend(all=True)  # as after a reconnection
    box.acknowledge(wire.Ack(said[1].id, 8))
    assert sent(box) == []
    assert batch.done.result() == [7, 8]
    assert first == ("public", [event.id for event in said])


@inside
def test_what_no_one_waits_for_is_not_sent_again() -> None:
    box = Outbox()
    event = public()
    first, second = box.add([event]), box.add([event])
    box.forget(first)
    assert len(box) == 1
    box.forget(second)
    assert sent(box) == []
    assert not len(box)


@inside
def test_a_refusal_is_reported_when_all_is_settled() -> None:
    box = Outbox()
    said = [public(), public()]
    batch = box.add(said)
    box.acknowledge(wire.Ack(said[0].id, 0, "data", "no"))
    assert not batch.done.done()
    box.acknowledge(wire.Ack(said[1].id, 1))
    error = batch.done.exception()
    assert isinstance(error, Refused)
    assert (error.event, error.code, error.reason) == (said[0].id, "data", "no")


@inside
def test_what_no_broker_would_carry_is_refused_at_once() -> None:
    """Sent, it would end the connection, and after the reconnection again, for ever."""
    box = Outbox()
    large = make(
        "lab", "round.started", "trainer", RoundStarted(layer="brain", round=1, name="x" * wire.MAX_MESSAGE)
    )
    with pytest.raises(Refused, match="blobs") as caught:
        box.add([public(), large])
    assert caught.value.code == "oversized"
    assert not len(box)


@inside
def test_closing_fails_what_waits() -> None:
    box = Outbox()
    batch = box.add([public()])
    box.fail()
    with pytest.raises(BusClosed):
        batch.done.result()
