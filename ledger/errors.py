"""What can go wrong with a ledger, each with one sentence that says what to do."""


class LedgerError(Exception):
    """Base of every error that this package raises for its users."""


class LedgerMissing(LedgerError):
    """No ledger at this place."""


class NotALedger(LedgerError):
    """The file is something else, or its pages cannot be read."""


class LedgerTooNew(LedgerError):
    """The file was written by a later version of this software."""


class LedgerBusy(LedgerError):
    """Another process is this ledger's one writer."""


class DiskFull(LedgerError):
    """Nothing of the batch was committed; the same batch may be tried again once there is room."""


class EventChanged(LedgerError):
    """An event's stored bytes do not match its leaf hash."""


class BlobMissing(LedgerError):
    """A blob that an event names is not beside the ledger."""


class BlobDamaged(LedgerError):
    """A blob's bytes do not match its name."""


class BadName(LedgerError):
    """A blob name or key name that does not have the right form."""


class ProofFailed(LedgerError):
    """A Merkle proof does not lead to the root that it should."""


class NoteRefused(LedgerError):
    """A signed note is malformed, or none of its signatures is by the pinned key."""


class KeyMissing(LedgerError):
    """There is no signing key at the place where it is looked for."""


class KeyRefused(LedgerError):
    """A key file or verifier key that cannot be used as it is."""


class BundleRefused(LedgerError):
    """A bundle that must not be deployed."""


class UpcastMissing(LedgerError):
    """An event of a version that this software cannot read."""
