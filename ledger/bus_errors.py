"""What can go wrong on the bus, each with one sentence that says what to do."""

from .errors import LedgerError


class BusError(LedgerError):
    """Base of the errors of broker, bus and service."""


class BadAddress(BusError):
    """A broker URL that cannot be used."""


class NoPassword(BusError):
    """No password is set for this actor."""


class BrokerUnreachable(BusError):
    """Nothing answers at the broker's address."""


class BrokerRefused(BusError):
    """The broker does not accept the credentials, or a subscription."""


class LedgerSilent(BusError):
    """The broker answers, but no ledger service does."""


class NotAllowed(BusError):
    """The actor's rights do not cover what was asked for."""


class PortInUse(BusError):
    """Another program listens on the port already."""


class ServiceFailed(BusError):
    """The broker and ledger process could not be started, or keeps ending."""


class ServiceRunning(BusError):
    """Another ledger service serves the same broker."""


class BusClosed(BusError):
    """The connection was closed while events still waited for their commit."""


class LedgerWentBack(BusError):
    """The ledger has fewer events than were read from it before."""


class Refused(BusError):
    """The ledger refused an event. `code` is one of `message.refused`'s, or "ledger" for a closed one."""

    def __init__(self, event: str, code: str, reason: str) -> None:
        super().__init__(f"The ledger refused event {event} ({code}): {reason}")
        self.event = event
        self.code = code
        self.reason = reason
