"""Every message that can be thought of becomes events to commit or refusals with a reason."""

import json
from typing import Any, get_args

import msgspec
import pytest
from brokers import public, secret, verdict
from hypothesis import given
from hypothesis import strategies as st

from skill2real.ledger import wire
from skill2real.ledger.events import KINDS, Event, MessageRefused, decode, encode, new_id
from skill2real.ledger.floods import SINGLE, WINDOW, Floods
from skill2real.ledger.intake import Checked, Code, Refusal, check_message
from skill2real.ledger.topics import Arrival

TRAINER = Arrival("lab", "events", "trainer", "public")


def changed(event: Event, **fields: Any) -> bytes:
    return json.dumps({**json.loads(encode(event)), **fields}).encode()


def only(payload: bytes, where: Arrival = TRAINER) -> Checked | Refusal:
    (found,) = check_message(where, payload)
    return found


GOOD = public()


def test_a_good_event_keeps_its_bytes() -> None:
    spaced = b' [ {"id" : "%s", "run":"lab", "actor":"trainer","type":"round.started",  "data":%s } ] ' % (
        GOOD.id.encode(), bytes(GOOD.data),
    )  # fmt: skip
    found = only(spaced)
    assert isinstance(found, Checked)
    assert found.raw == spaced[3:-3]


@pytest.mark.parametrize(
    ("payload", "code", "reason"),
    [
        (b"", "malformed", "not a JSON array"),
        (b"[]", "malformed", "no events"),
        (b"{}", "malformed", "not a JSON array"),
        (b"[{}]", "malformed", "not an event"),
        (b"[1]", "malformed", "not an event"),
        (b'["\xff"]', "malformed", "not UTF-8"),
        (b"[" * 100_000, "malformed", "not a JSON array"),
        (b"[" + b"[" * 5_000 + b"]" * 5_000 + b"]", "malformed", ""),
        (wire.join([changed(GOOD, id="x")]), "malformed", "UUIDv7"),
        (wire.join([changed(GOOD, id=GOOD.id.upper() + "")]), "malformed", "UUIDv7"),
        (wire.join([changed(GOOD, run="other")]), "malformed", "run"),
        (wire.join([changed(GOOD, extra=1)]), "malformed", "extra"),
        (wire.join([changed(GOOD, version="1")]), "malformed", "int"),
        (wire.join([changed(GOOD, actor="governor")]), "actor", "trainer published it"),
        (wire.join([changed(GOOD, actor="ledger", type="checkpoint.signed")]), "actor", "trainer published"),
        (wire.join([changed(verdict("trainer"))]), "actor", "only governor may"),
        (wire.join([changed(GOOD, type="round.dreamt")]), "type", "no event type"),
        (wire.join([changed(GOOD, version=99)]), "version", "not 99"),
        (wire.join([changed(GOOD, visibility="privileged")]), "visibility", "is public"),
        (wire.join([changed(GOOD, data={"layer": "brain"})]), "data", "round.started"),
        (wire.join([changed(GOOD, data={"layer": "brain", "round": "1", "name": "B1"})]), "data", "int"),
        (wire.join([changed(GOOD, blobs=["../../etc/passwd"])]), "data", "SHA-256"),
        (wire.join([changed(GOOD, cause="x" * wire.MAX_EVENT)]), "oversized", "blobs"),
        (b"[" + b" " * wire.MAX_MESSAGE + b"]", "oversized", "fewer"),
    ],
)  # fmt: skip
def test_each_fault_has_its_code_and_reason(payload: bytes, code: str, reason: str) -> None:
    found = only(payload)
    assert isinstance(found, Refusal)
    assert found.code == code
    assert reason in found.reason
    assert len(found.excerpt) <= 200


def test_a_fault_is_reported_under_the_events_id_where_one_can_be_read() -> None:
    found = only(wire.join([changed(GOOD, version="1")]))
    assert found.event == GOOD.id  # type: ignore[union-attr]


def test_privileged_events_do_not_pass_on_a_public_topic() -> None:
    found = only(wire.join([encode(secret())]), Arrival("lab", "events", "runner", "public"))
    assert isinstance(found, Refusal)
    assert found.code == "visibility"


def test_one_bad_event_does_not_take_the_others_with_it() -> None:
    found = check_message(TRAINER, wire.join([encode(public()), b"7", encode(public())]))
    assert [type(one) for one in found] == [Checked, Refusal, Checked]


def test_every_code_can_be_recorded() -> None:
    recorded = get_args(MessageRefused.__annotations__["code"])
    assert set(recorded) == set(get_args(Code))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from([*Event.__struct_fields__, "surplus"])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A good message, then something done to its fields, and something to its bytes."""
    fields = json.loads(encode(public()))
    for name in draw(st.lists(FIELDS, max_size=3)):
        if draw(st.booleans()):
            fields.pop(name, None)
        else:
            fields[name] = draw(JSON)
    if draw(st.booleans()):
        fields["type"] = draw(st.sampled_from(sorted(KINDS)))
    raw = bytearray(b"[" + json.dumps(fields).encode() + b"]")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(raw)))
        raw[at : at + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(raw)


@given(st.one_of(mutated(), st.binary(max_size=200), JSON.map(lambda value: json.dumps(value).encode())))
def test_whatever_comes_ends_as_commit_or_refusal(payload: bytes) -> None:
    found = check_message(TRAINER, payload)
    assert found
    for one in found:
        if isinstance(one, Checked):
            assert decode(one.raw) == one.event
            assert one.event.actor in KINDS[one.event.type].actors
            one.raw.decode()
        else:
            assert one.code in get_args(Code)
            assert one.reason
            one.excerpt.encode()  # can be written


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.floats(0, WINDOW)), max_size=120))
def test_a_flood_is_counted_and_not_written(arrivals: list[tuple[str, float]]) -> None:
    now = [0.0]
    floods = Floods(lambda: now[0])
    written: dict[str, int] = {"a": 0, "b": 0}
    for actor, wait in arrivals:
        now[0] += wait / 10
        for refusal, count in floods.summaries():
            assert refusal.code == "flood"
            written[refusal.actor] += count
        written[actor] += floods.admit(Refusal(actor, "data", "no", new_id()))
    for refusal, count in floods.summaries(all=True):
        written[refusal.actor] += count
    assert floods.wait is None
    assert written == {name: sum(actor == name for actor, _ in arrivals) for name in "ab"}


def test_the_first_of_a_flood_are_written() -> None:
    floods = Floods(lambda: 0.0)
    admitted = [floods.admit(Refusal("a", "data", "no")) for _ in range(SINGLE + 5)]
    assert admitted == [True] * SINGLE + [False] * 5
    ((summary, count),) = floods.summaries(all=True)
    assert count == 5
    assert "data 5" in summary.reason
    assert msgspec.json.encode(summary)
