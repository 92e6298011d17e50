"""Signed checkpoints: a C2SP tlog-checkpoint over the tree that ends with a `layer.frozen` event."""

import base64
from dataclasses import dataclass

from .errors import LedgerError, NoteRefused
from .events import CheckpointSigned, LayerFrozen, decode, payload
from .merkle import HASH_SIZE, verify_consistency
from .note import SigningKey, VerifierKey, sign, split, unbase64, verify
from .reader import Reader
from .store import Committed, Store


@dataclass(frozen=True)
class Checkpoint:
    """A tree's size and root, and whose it is. The origin is the signer's key name, a slash, and the run."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> "Checkpoint":
        """Raises NoteRefused. Extension lines, which the standard allows, are skipped."""
        lines = text.split("\n")
        root = unbase64(lines[2]) if len(lines) >= 4 else None
        if root is None or len(root) != HASH_SIZE or not lines[0]:
            raise NoteRefused(
                "The note is not a checkpoint: it needs the lines origin, tree size and root hash."
            )
        size = lines[1]
        if not (size.isascii() and size.isdigit()) or len(size) > 18 or (size[0] == "0" and size != "0"):
            raise NoteRefused(f"The checkpoint's tree size {size[:40]!r} is not a number.")
        return cls(lines[0], int(size), root)


def origin(key_name: str, run: str) -> str:
    """Names the log: one key signs many runs."""
    return f"{key_name}/{run}"


def sign_tree(key: SigningKey, run: str, size: int, root: bytes) -> str:
    """The signed note of a run's tree."""
    return sign(Checkpoint(origin(key.name, run), size, root).text(), key)


async def sign_frozen(store: Store, key: SigningKey, frozen: Committed) -> CheckpointSigned:
    """What `checkpoint.signed` says about a committed `layer.frozen`: the tree that ends with it, signed."""
    event = decode(frozen.raw)
    layer: LayerFrozen = payload(event)
    size, root = await store.tree(frozen.seq)
    note = sign_tree(key, event.run, size, root)
    return CheckpointSigned(name=layer.name, note=note, frozen_seq=frozen.seq, tree_size=size)


def open_note(note: str, key: VerifierKey | None = None) -> Checkpoint:
    """The checkpoint in a note. With a key its signature must hold; without one only the form is checked."""
    if key is None:
        return Checkpoint.parse(split(note)[0])
    return Checkpoint.parse(verify(note, key))


@dataclass(frozen=True)
class Frozen:
    """A named checkpoint of a run: the event that froze it and, if the ledger had a key, the signature."""

    name: str
    seq: int  # of layer.frozen
    raw: bytes  # its publisher's bytes
    layer: LayerFrozen
    signed: CheckpointSigned | None


def checkpoints(reader: Reader) -> list[Frozen]:
    """All checkpoints of a run in order. A name can come twice; its last one counts."""
    frozen: dict[int, Frozen] = {}
    for seq, raw in reader.events(types=("layer.frozen", "checkpoint.signed")):
        data = payload(decode(raw))
        if isinstance(data, LayerFrozen):
            frozen[seq] = Frozen(data.name, seq, raw, data, None)
        elif (known := frozen.get(data.frozen_seq)) is not None and known.name == data.name:
            frozen[data.frozen_seq] = Frozen(known.name, known.seq, known.raw, known.layer, data)
    return list(frozen.values())


def find_checkpoint(reader: Reader, name: str) -> Frozen:
    """The last checkpoint of this name. Raises LedgerError with the names that there are."""
    found = checkpoints(reader)
    for one in reversed(found):
        if one.name == name:
            return one
    names = ", ".join(dict.fromkeys(one.name for one in found)) or "none yet"
    raise LedgerError(f"{reader.path} has no checkpoint {name!r}; it has {names}.")


def prove_extends(reader: Reader, old: Checkpoint, size: int) -> list[bytes]:
    """Consistency proof that the tree of `size` events extends an old checkpoint's."""
    if old.size > size:
        raise LedgerError(f"A tree of {size} events cannot extend a checkpoint over {old.size}.")
    return reader.tree(size).consistency(old.size, size)


def verify_extends(old: Checkpoint, new: Checkpoint, proof: list[bytes]) -> None:
    """Raise ProofFailed unless the proof shows that `new` extends `old`, NoteRefused for different logs."""
    if old.origin != new.origin:
        raise NoteRefused(f"The checkpoints are of different logs: {old.origin} and {new.origin}.")
    verify_consistency(old.size, new.size, proof, old.root, new.root)
