"""What can go wrong when a run is replayed, each with one sentence that says what would be right."""


class ReplayError(Exception):
    """Base of every error that this package raises for its users."""


class UnknownEvent(ReplayError):
    """An event of a type or version that this software does not know."""


class BadEvent(ReplayError):
    """An event whose bytes do not fit its type."""


class UnknownCandidate(ReplayError):
    """No candidate of this id was proposed in what was heard of the run."""


class UnknownSkill(ReplayError):
    """No entry of this id was ever in memory or proposed."""


class UnknownPoint(ReplayError):
    """A sequence number, time or checkpoint name that the run does not have."""


class UnknownRun(ReplayError):
    """No run of this name, or none that can be read."""


class MemoryMismatch(ReplayError):
    """The memory that was asked for has another hash than the one that came with the request."""


class NotPlayable(ReplayError):
    """An episode that does not exist or did not finish."""
