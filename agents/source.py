"""Where a memory comes from: a run's named checkpoint, or a bundle file; verified before anything uses it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..backends.api import API_HASH
from ..ledger.bundle import Verified, make_bundle, read_bundle, verify_bundle
from ..ledger.checkpoint import find_checkpoint
from ..ledger.events import RunStarted, decode, payload
from ..ledger.keys import load_key, read_verifier
from ..ledger.note import VerifierKey
from ..ledger.reader import Reader
from ..replay.memory import memory_at
from ..replay.runs import find_run
from ..replay.state import LEDGER
from .errors import AgentError


@dataclass(frozen=True)
class Source:
    """A verified memory and the name under which it was frozen."""

    verified: Verified
    from_file: bool
    config: dict[str, Any] = field(default_factory=dict)  # that the run was trained with; a bundle has none

    @property
    def renamed(self) -> bool:
        """Whether it was learned with made-up words for nouns."""
        return bool(self.config.get("rename", False))

    @property
    def label(self) -> str:
        return f"{self.verified.run} {self.verified.name}"


def pinned(key: str | None) -> VerifierKey:
    """The key that must have signed: the one given, else this person's own."""
    return read_verifier(key) if key else load_key().verifier


def is_bundle(target: str) -> bool:
    """Whether a command's target is a bundle file rather than a run."""
    return Path(target).is_file() and Path(target).name != LEDGER


def open_source(target: str, home: Path, checkpoint: str | None, key: str | None) -> Source:
    """Verify a bundle file, or the bundle of a run's checkpoint (its last one, if none is named).

    Raises BundleRefused, UnknownRun, LedgerError, KeyMissing, AgentError.
    """
    if is_bundle(target):
        verified = verify_bundle(read_bundle(Path(target)), pinned(key), API_HASH)
        if checkpoint is not None and checkpoint != verified.name:
            raise AgentError(
                f"{target} holds checkpoint {verified.name}, not {checkpoint}; leave --checkpoint out"
            )
        return Source(verified, True)
    with Reader(find_run(home, target) / LEDGER) as reader:
        name = checkpoint or _last(reader)
        frozen = find_checkpoint(reader, name)
        bundle = make_bundle(reader, name, memory_at(reader, frozen.seq))
        config = config_of(reader)
    return Source(verify_bundle(bundle, pinned(key), API_HASH), False, config)


def config_of(reader: Reader) -> dict[str, Any]:
    """The configuration that a run was started with, {} for a run that did not get so far."""
    for committed in reader.events(types=("run.started",)):
        started: RunStarted = payload(decode(committed.raw))
        return dict(started.config)
    return {}


def _last(reader: Reader) -> str:
    from ..ledger.checkpoint import checkpoints

    found = checkpoints(reader)
    if not found:
        raise AgentError(
            f"{reader.path.parent.name} has no checkpoint yet; train it further, or use `skill2real freeze`"
        )
    return found[-1].name
