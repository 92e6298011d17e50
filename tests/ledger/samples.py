"""Small real ledgers for the tests of this folder."""

import asyncio
from pathlib import Path

from skill2real.ledger.blobs import Blobs
from skill2real.ledger.checkpoint import sign_frozen
from skill2real.ledger.events import (
    CheckpointSigned,
    Entry,
    Event,
    LayerFrozen,
    MemoryChanged,
    ModelCalled,
    RunFinished,
    RunStarted,
    Struct,
    encode,
    make,
)
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.note import SigningKey
from skill2real.ledger.store import Committed, Store

API_HASH = "a" * 64
RUN = "sample"


def pair(type: str, actor: str, data: Struct, **more: object) -> tuple[Event, bytes]:
    """An event and its bytes, as `Store.append` takes them."""
    event = make(RUN, type, actor, data, **more)
    return event, encode(event)


def plain(number: int) -> list[tuple[Event, bytes]]:
    """Events without meaning for the ledger."""
    return [pair("run.finished", "operator", RunFinished(reason=f"event {i}")) for i in range(number)]


def entry(id: str, **state: object) -> Entry:
    return Entry(id=id, layer="cerebellum", kind="grasp", when=f"to grasp {id}", template="pass", state=state)


ENTRIES = (entry("bowl", depth=0.025), entry("can", depth=0.03, styles=["centre", "rim"]))


async def fill(path: Path, key: SigningKey | None, *, tail: int = 4) -> None:
    """A run with blobs, checkpoints C1 and B1 (signed if there is a key), and `tail` events after them."""
    blobs = Blobs(path.parent / "blobs")
    prompt, response = blobs.put(b"prompt"), blobs.put(b"response")
    store = await Store.open(path)
    await store.append(
        [
            pair("run.started", "trainer", RunStarted(config={}, seeds={}, packages={}, api_hash=API_HASH)),
            pair(
                "model.called",
                "proposer",
                ModelCalled(
                    role="proposer", model="m", input_tokens=1, output_tokens=1, seconds=0.1, cost=0.0
                ),
                blobs=(prompt, response),
            ),
        ]
    )
    memory: tuple[Entry, ...] = ()
    for name, parent, added in (("C1", "", ENTRIES[:1]), ("B1", "C1", ENTRIES[1:])):
        await store.append(plain(5))
        memory += added
        changed = MemoryChanged(candidate="c", added=added, removed=(), memory_hash=memory_hash(memory))
        await store.append([pair("memory.changed", "governor", changed)])
        layer = LayerFrozen(
            name=name, layer="cerebellum", memory_hash=memory_hash(memory), api_hash=API_HASH, parent=parent
        )
        event, raw = pair("layer.frozen", "trainer", layer)
        (seq,) = await store.append([(event, raw)])
        if key is not None:
            signed: CheckpointSigned = await sign_frozen(store, key, Committed(seq, raw))
            await store.append([pair("checkpoint.signed", "ledger", signed, cause=event.id)])
    await store.append(plain(tail))
    await store.close()


def make_ledger(folder: Path, key: SigningKey | None, *, tail: int = 4) -> Path:
    path = folder / "ledger.db"
    asyncio.run(fill(path, key, tail=tail))
    return path
