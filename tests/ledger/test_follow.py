"""A follower's order, whatever the bus does to its messages on the way."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill2real.ledger import follow
from skill2real.ledger.bus_errors import LedgerWentBack
from skill2real.ledger.follow import Follower
from skill2real.ledger.store import Committed
from skill2real.ledger.wire import Span, decode_span, spans

VISIBILITIES = st.lists(st.sampled_from(["public", "privileged"]), min_size=1, max_size=40)


def raw(seq: int) -> bytes:
    return b'{"n":%d}' % seq


def reply(ledger: list[str], after: int, limit: int, *, privileged: bool) -> Span:
    """What the service answers."""
    head = len(ledger)
    seen = [seq for seq in range(after + 1, head + 1) if privileged or ledger[seq - 1] == "public"]
    upto = seen[limit - 1] if len(seen) > limit else max(after, head)
    return Span(after, upto, head, [(seq, msgspec.Raw(raw(seq))) for seq in seen[:limit]])


def live(ledger: list[str], rng: random.Random) -> list[Span]:
    """What the service publishes, in commits of random size."""
    found: list[Span] = []
    last, seq = {"public": 0, "privileged": 0}, 0
    while seq < len(ledger):
        batch = range(seq + 1, min(seq + rng.randint(1, 5), len(ledger)) + 1)
        seq = batch[-1]
        for visibility in last:
            fresh = [Committed(n, raw(n)) for n in batch if ledger[n - 1] == visibility]
            if fresh:
                found += [decode_span(span) for span in spans(last[visibility], fresh, seq)]
                last[visibility] = fresh[-1].seq
    return found


@given(
    ledger=VISIBILITIES,
    privileged=st.booleans(),
    seed=st.integers(0, 2**32),
    loss=st.sampled_from([0.0, 0.3, 1.0]),
    start=st.integers(0, 10),
    most=st.sampled_from([5, 10_000]),
)
def test_each_event_comes_once_and_in_order(
    ledger: list[str], privileged: bool, seed: int, loss: float, start: int, most: int
) -> None:
    """Live spans are lost, doubled and reordered; replies come at any moment; the reader is slow or fast."""
    rng = random.Random(seed)
    start = min(start, len(ledger))
    arriving = [
        span
        for span in live(ledger, rng)
        if privileged or all(ledger[seq - 1] == "public" for seq, _ in span.events)
        for _ in range(rng.choice([1, 1, 2]))
        if rng.random() >= loss
    ]
    if rng.random() < 0.5:
        rng.shuffle(arriving)
    before = follow.MAX_READY
    follow.MAX_READY = most
    try:
        follower = Follower(start, privileged=privileged)
        read: list[Committed] = []
        for span in arriving:
            follower.offer_live(span)
            if rng.random() < 0.3:  # the ledger as it was then
                now = ledger[: max(span.head, follower.position)]
                follower.offer_reply(reply(now, follower.position, 3, privileged=privileged))
            if rng.random() < 0.5:
                read += follower.ready
                follower.ready.clear()
        for _ in range(len(ledger) + 2):  # what the reader does when it is behind, or has waited in vain
            read += follower.ready
            follower.ready.clear()
            follower.offer_reply(reply(ledger, follower.position, 3, privileged=privileged))
        assert not follower.behind
        assert not follower.waiting
    finally:
        follow.MAX_READY = before
    wanted = [n for n in range(start + 1, len(ledger) + 1) if privileged or ledger[n - 1] == "public"]
    assert read == [Committed(n, raw(n)) for n in wanted]


def test_a_lost_message_is_noticed_by_the_next() -> None:
    follower = Follower(0, privileged=False)
    follower.offer_reply(reply([], 0, 3, privileged=False))
    assert not follower.behind
    first, second = (
        live(["public", "public"], random.Random(1))[:1],
        Span(1, 2, 2, [(2, msgspec.Raw(raw(2)))]),
    )
    del first
    follower.offer_live(second)
    assert follower.behind
    assert not follower.ready


def test_a_ledger_that_became_shorter_is_noticed() -> None:
    follower = Follower(5, privileged=True)
    with pytest.raises(LedgerWentBack, match="verify"):
        follower.offer_reply(reply(["public"] * 3, 5, 3, privileged=True))
