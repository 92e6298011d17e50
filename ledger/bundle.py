"""A bundle: one text file with all that a robot's computer needs to trust and use a frozen memory."""

import contextlib
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from .checkpoint import Checkpoint, Frozen, find_checkpoint, open_note, origin, prove_extends, verify_extends
from .errors import BundleRefused, LedgerError, NoteRefused, ProofFailed
from .events import Entry, LayerFrozen, decode, payload
from .memory import memory_hash
from .merkle import leaf_hash, verify_inclusion
from .note import VerifierKey
from .reader import Reader

FORMAT: Final = "skill2real-bundle"
VERSION: Final = 1
_MAX_BYTES: Final = 64 * 1024 * 1024


class FrozenEvent(msgspec.Struct, frozen=True, kw_only=True):
    """The `layer.frozen` event as it was stored, and its inclusion in the signed tree."""

    seq: int  # from 1; its leaf is seq − 1
    raw: str
    proof: tuple[bytes, ...]  # audit path, lowest node first; base64 in the file


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    """The signed checkpoint that this one builds on, and the proof that the signed tree extends it."""

    note: str
    proof: tuple[bytes, ...]


class Bundle(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file's content. Nothing in it is to be believed before `verify_bundle`."""

    format: str = FORMAT
    version: int = VERSION
    key: str  # name of the verifier key
    note: str  # signed checkpoint
    frozen: FrozenEvent
    parent: Parent | None = None
    memory: tuple[Entry, ...]


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle says, once all of it is proven."""

    name: str
    run: str
    layer: LayerFrozen
    entries: tuple[Entry, ...]
    checkpoint: Checkpoint
    note: str


def make_bundle(reader: Reader, name: str, entries: Sequence[Entry]) -> Bundle:
    """The bundle of a run's checkpoint, with its memory as replayed by the caller up to `layer.frozen`.

    Raises LedgerError for an unknown or unsigned checkpoint, or a memory that is not the one it froze.
    """
    frozen = find_checkpoint(reader, name)
    if frozen.signed is None:
        raise LedgerError(
            f"Checkpoint {name} is not signed: the ledger had no key. "
            "Run `skill2real key new`, then freeze again."
        )
    found = memory_hash(entries)
    if found != frozen.layer.memory_hash:
        raise LedgerError(
            f"The memory at {name} has the hash {found}, the checkpoint froze {frozen.layer.memory_hash}; "
            "run `skill2real verify` on the run."
        )
    note = frozen.signed.note
    checkpoint = open_note(note)
    tree = reader.tree(checkpoint.size)
    return Bundle(
        key=checkpoint.origin.removesuffix("/" + decode(frozen.raw).run),
        note=note,
        frozen=FrozenEvent(
            seq=frozen.seq,
            raw=frozen.raw.decode(),
            proof=tuple(tree.inclusion(frozen.seq - 1, checkpoint.size)),
        ),
        parent=_parent(reader, frozen, checkpoint),
        memory=tuple(sorted(entries, key=lambda entry: entry.id)),
    )


def _parent(reader: Reader, frozen: Frozen, checkpoint: Checkpoint) -> Parent | None:
    if not frozen.layer.parent:
        return None
    older = find_checkpoint(reader, frozen.layer.parent)
    if older.signed is None or older.seq >= frozen.seq:
        return None
    proof = prove_extends(reader, open_note(older.signed.note), checkpoint.size)
    return Parent(note=older.signed.note, proof=tuple(proof))


def save_bundle(bundle: Bundle, path: Path) -> None:
    """Write the file whole or not at all. Raises LedgerError where it cannot be written."""
    text = msgspec.json.format(msgspec.json.encode(bundle), indent=2) + b"\n"
    path = Path(path)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(aside, "xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError as error:
        raise LedgerError(
            f"The bundle {path} cannot be written ({error.strerror}); name another file."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(aside)  # gone already where all went well


def read_bundle(path: Path) -> Bundle:
    """The file's content, not yet verified. Raises BundleRefused for what is not a bundle."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BundleRefused(
            f"The bundle {path} cannot be read ({error.strerror}); name an exported file."
        ) from error
    if len(text) > _MAX_BYTES:
        raise BundleRefused(f"{path} is over {_MAX_BYTES >> 20} MiB, too long for a bundle; export it again.")
    try:
        head = msgspec.json.decode(text)
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise BundleRefused(f"{path} is not a bundle; make one with `skill2real export`.")
        _check_version(head.get("version"), str(path))
        return msgspec.convert(head, Bundle)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BundleRefused(f"{path} is not a whole bundle ({error}); export it again.") from error


def _check_version(version: Any, what: str) -> None:
    if version != VERSION:
        raise BundleRefused(
            f"{what} has bundle version {version!r}, this software reads {VERSION}; "
            "use the skill2real that exported it, or export it again."
        )


def verify_bundle(bundle: Bundle, key: VerifierKey, api_hash: str) -> Verified:
    """Check signature, inclusion, memory and interface (guarantee G7), in this order.

    `key` is the pinned key, `api_hash` that of the backend's interface. Raises BundleRefused if anything is
    wrong.
    """
    _check_version(bundle.version, "The bundle")
    try:
        checkpoint = open_note(bundle.note, key)
    except NoteRefused as error:
        raise BundleRefused(f"The bundle's signature does not hold: {error}") from error
    raw = bundle.frozen.raw.encode()
    try:
        verify_inclusion(
            leaf_hash(raw), bundle.frozen.seq - 1, checkpoint.size, bundle.frozen.proof, checkpoint.root
        )
    except ProofFailed as error:
        raise BundleRefused(
            f"The layer.frozen event is not proven to be in the signed tree: {error}. Export it again."
        ) from error
    event, layer = _frozen(raw)
    if checkpoint.origin != origin(key.name, event.run):
        raise BundleRefused(
            f"The signature is for the log {checkpoint.origin}, the frozen layer is of the run {event.run}; "
            "export the bundle again."
        )
    if bundle.parent is not None:
        _verify_parent(bundle.parent, checkpoint, key)
    try:
        found = memory_hash(bundle.memory)
    except ValueError as error:
        raise BundleRefused(f"The bundle's memory is malformed: {error}. Export it again.") from error
    if found != layer.memory_hash:
        raise BundleRefused(
            f"The memory in the bundle has the hash {found}, but {layer.name} froze {layer.memory_hash}: "
            "it was changed after it was frozen. Export the bundle again from its run."
        )
    if layer.api_hash != api_hash:
        raise BundleRefused(
            f"{layer.name} was learned with the interface {layer.api_hash}, this backend has {api_hash}; "
            "use the version of skill2real that it was trained with, or train again."
        )
    return Verified(
        name=layer.name,
        run=event.run,
        layer=layer,
        entries=bundle.memory,
        checkpoint=checkpoint,
        note=bundle.note,
    )


def _frozen(raw: bytes) -> tuple[Any, LayerFrozen]:
    try:
        event = decode(raw)
        data = payload(event)
    except (msgspec.MsgspecError, KeyError, LedgerError) as error:
        raise BundleRefused(f"The bundle's frozen event cannot be read ({error}).") from error
    if not isinstance(data, LayerFrozen):
        raise BundleRefused(f"The bundle proves a {event.type} event where it needs layer.frozen.")
    return event, data


def _verify_parent(parent: Parent, checkpoint: Checkpoint, key: VerifierKey) -> None:
    try:
        verify_extends(open_note(parent.note, key), checkpoint, list(parent.proof))
    except (NoteRefused, ProofFailed) as error:
        raise BundleRefused(
            f"The bundle does not prove that it extends the checkpoint it builds on: {error} "
            "Export it again from its run."
        ) from error
