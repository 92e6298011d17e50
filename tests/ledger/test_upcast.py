"""Old versions of a type are raised on read, step by step, and the stored bytes stay."""

import asyncio

import msgspec
import pytest
from samples import RUN

from skill2real.ledger import upcast
from skill2real.ledger.check import check_ledger
from skill2real.ledger.errors import UpcastMissing
from skill2real.ledger.events import KINDS, Event, Struct, decode, encode, kind, new_id, payload
from skill2real.ledger.reader import Reader
from skill2real.ledger.store import Store


@pytest.fixture
def tuned(monkeypatch):
    """A made-up type, now at version 3: first millimetres, then metres, then a unit of its own field."""
    monkeypatch.setattr(upcast, "_UPCASTERS", dict(upcast._UPCASTERS))
    before = dict(KINDS)

    @kind("gripper.tuned", "operator", version=3)
    class GripperTuned(Struct, frozen=True):
        width: float
        unit: str

    @upcast.upcaster("gripper.tuned", 1)
    def to_metres(data: upcast.Data) -> upcast.Data:
        return {"width": data["width_mm"] / 1000}

    @upcast.upcaster("gripper.tuned", 2)
    def name_unit(data: upcast.Data) -> upcast.Data:
        return {**data, "unit": "m"}

    yield GripperTuned
    KINDS.clear()
    KINDS.update(before)


def stored(version: int, data: bytes) -> bytes:
    return encode(
        Event(
            id=new_id(),
            run=RUN,
            type="gripper.tuned",
            version=version,
            actor="operator",
            data=msgspec.Raw(data),
        )
    )


def test_each_old_version_reads_as_the_current_one(tuned):
    for version, data in ((1, b'{"width_mm":80}'), (2, b'{"width":0.08}'), (3, b'{"width":0.08,"unit":"m"}')):
        assert payload(decode(stored(version, data))) == tuned(width=0.08, unit="m")


def test_a_ledger_with_old_events_verifies_and_keeps_their_bytes(tuned, tmp_path):
    path = tmp_path / "ledger.db"
    old = stored(1, b'{"width_mm": 80}')

    async def fill() -> None:
        store = await Store.open(path)
        await store.append([(decode(old), old)])
        await store.close()

    asyncio.run(fill())
    with Reader(path) as reader:
        (only,) = reader.events()
    assert only.raw == old
    assert payload(decode(only.raw)).width == 0.08
    assert check_ledger(path).ok


def test_versions_that_cannot_be_read_say_so(tuned):
    with pytest.raises(UpcastMissing, match="install a later"):
        payload(decode(stored(4, b"{}")))
    with pytest.raises(UpcastMissing, match="no way to version 1"):
        payload(decode(stored(0, b"{}")))
    with pytest.raises(ValueError, match="already"):
        upcast.upcaster("gripper.tuned", 1)(lambda data: data)
