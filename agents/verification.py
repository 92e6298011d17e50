"""Exporting a checkpoint, and verifying ledgers and bundles against a key that is trusted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..backends.api import API_HASH
from ..ledger.bundle import FORMAT, Bundle, Verified, make_bundle, read_bundle, save_bundle, verify_bundle
from ..ledger.check import Report, check_ledger
from ..ledger.checkpoint import find_checkpoint
from ..ledger.errors import KeyMissing, NotALedger
from ..ledger.events import Entry
from ..ledger.note import VerifierKey
from ..ledger.reader import Reader
from ..replay.memory import memory_at
from ..replay.runs import find_run
from ..replay.state import LEDGER
from .errors import AgentError
from .lookup import UnknownName, check_checkpoint, nearest
from .source import pinned


class LedgerRefused(AgentError):
    """A file that should be a ledger is damaged so badly that nothing in it can be verified."""


def export(run: str, home: Path, checkpoint: str, output: Path) -> Bundle:
    """Write a run's checkpoint as a bundle. Raises UnknownRun, UnknownName, LedgerError or OSError."""
    check_checkpoint(home, run, checkpoint)
    with Reader(find_run(home, run) / LEDGER) as reader:
        memory = memory_at(reader, find_checkpoint(reader, checkpoint).seq)
        bundle = make_bundle(reader, checkpoint, memory)
    save_bundle(bundle, output)
    return bundle


def verify_file(path: Path, key: str | None) -> tuple[VerifierKey, Verified]:
    """What a bundle proves, and the key it was verified by. Raises BundleRefused, KeyMissing, KeyRefused."""
    trusted = pinned(key)
    return trusted, verify_bundle(read_bundle(path), trusted, API_HASH)


def bundle_memory(path: Path, key: str | None, name: str | None = None) -> tuple[Entry, ...]:
    """The memory of a bundle, once it is verified; or the one entry of this id.

    Raises what `verify_file` raises, and UnknownName.
    """
    _, verified = verify_file(path, key)
    if name is None:
        return verified.entries
    found = tuple(entry for entry in verified.entries if entry.id == name)
    if not found:
        raise UnknownName(
            f"{path} has no skill {name!r}; it has {nearest(name, (e.id for e in verified.entries))}."
        )
    return found


def verify_run(
    run: str, home: Path, key: str | None, against: Sequence[Path] = ()
) -> tuple[VerifierKey | None, Report]:
    """A ledger's report, and the key that signatures were checked with: None without a given and an own one.

    against: bundles or signed notes that were kept elsewhere. Raises UnknownRun, LedgerRefused, LedgerError.
    """
    try:
        trusted: VerifierKey | None = pinned(key)
    except KeyMissing:
        trusted = None
    notes = [_note(path) for path in against]
    try:
        return trusted, check_ledger(find_run(home, run) / LEDGER, trusted, notes)
    except NotALedger as error:
        raise LedgerRefused(str(error)) from error


def _note(path: Path) -> str:
    text = path.read_text(errors="replace")
    return read_bundle(path).note if f'"{FORMAT}"' in text[:1000] else text


def plain_report(report: Report) -> dict[str, Any]:
    """The report ready for JSON."""
    return {
        "ok": report.ok,
        "run": report.run,
        "path": str(report.path),
        "events": report.events,
        "root": report.root.hex(),
        "blobs": report.blobs,
        "checkpoints": report.checkpoints,
        "unsigned": report.unsigned,
        "outside": report.outside,
        "signatures_verified": report.signatures_verified,
        "findings": [{"seq": finding.seq, "what": finding.what} for finding in report.findings],
    }


def plain_bundle(verified: Verified) -> dict[str, Any]:
    """What a bundle proves, ready for JSON."""
    return {
        "ok": True,
        "checkpoint": verified.name,
        "run": verified.run,
        "memory_hash": verified.layer.memory_hash,
        "api_hash": verified.layer.api_hash,
        "skills": [entry.id for entry in verified.entries],
        "events": verified.checkpoint.size,
        "root": verified.checkpoint.root.hex(),
    }
