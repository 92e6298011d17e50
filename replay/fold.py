"""A fold hears events in order and keeps what they amount to: the same object live and from a ledger."""

from typing import Any, Protocol

import msgspec

from ..ledger.errors import UpcastMissing
from ..ledger.events import KINDS, Event, decode, payload
from ..ledger.reader import Reader
from .errors import BadEvent, UnknownEvent


class Fold(Protocol):
    """Anything that can be fed. It may be given events of other types than `types`, and ignores them."""

    @property
    def types(self) -> frozenset[str]:
        """The event types that it has a use for."""
        ...

    def hear(self, seq: int, event: Event) -> None:
        """Take in one event. Events come in the order of their sequence numbers."""
        ...


def data_of(seq: int, event: Event) -> Any:
    """The event's data as its struct. Raises UnknownEvent or BadEvent."""
    try:
        return payload(event)
    except (KeyError, UpcastMissing):
        raise _unknown(seq, event) from None
    except msgspec.DecodeError as error:  # ValidationError is one
        raise BadEvent(
            f"Event {seq} ({event.type}) does not have the data of its type ({error}); "
            "check the run with `skill2real verify`."
        ) from error


def _unknown(seq: int, event: Event) -> UnknownEvent:
    return UnknownEvent(
        f"Event {seq} is of type {event.type} version {event.version}, which this software does not know; "
        "read the run with the version of skill2real that wrote it, or a later one."
    )


def feed(reader: Reader, *folds: Fold, after: int = 0, upto: int | None = None) -> int:
    """Let the folds hear the events after < seq ≤ upto of a ledger; gives the last number heard.

    Every event is looked at, so that one of an unknown type is never passed over in silence: raises
    UnknownEvent or BadEvent, or the ledger's own errors.
    """
    last = after
    routes = {
        type: (known.version, [fold.hear for fold in folds if type in fold.types])
        for type, known in KINDS.items()
    }
    for chunk in reader.chunks(after, upto):
        for seq, raw in chunk:
            try:
                event = decode(raw)
            except msgspec.DecodeError as error:
                raise BadEvent(
                    f"Event {seq} cannot be read ({error}); check the run with `skill2real verify`."
                ) from error
            route = routes.get(event.type)
            if route is None or event.version > route[0]:
                raise _unknown(seq, event)
            for hear in route[1]:
                hear(seq, event)
        last = chunk[-1][0]
    return last
