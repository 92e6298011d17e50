"""The hash by which ledger, bundle and replay name a memory."""

from collections.abc import Iterable
from hashlib import sha256
from itertools import pairwise

import msgspec

from .events import Entry

_canonical = msgspec.json.Encoder(order="sorted")


def memory_hash(entries: Iterable[Entry]) -> str:
    """SHA-256 (hex) over the entries as canonical JSON: sorted by id, keys sorted, no white space.

    Raises ValueError where two entries have one id.
    """
    ordered = sorted(entries, key=lambda entry: entry.id)
    for first, second in pairwise(ordered):
        if first.id == second.id:
            raise ValueError(f"two entries of a memory have the id {first.id}")
    return sha256(_canonical.encode(ordered)).hexdigest()
