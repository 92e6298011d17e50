"""What travels on the bus beside events: acknowledgements, committed spans, and requests for missed ones.

Events travel as a JSON array of envelopes; everything here is JSON as well.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

MAX_EVENT: Final = 1 << 20  # bytes of one event; larger things belong into blobs
MAX_MESSAGE: Final = 4 << 20  # bytes of one message of events
SPAN_BYTES: Final = 256 << 10  # a span is cut after this many, so that no follower waits long for one message


class Ack(msgspec.Struct, frozen=True, array_like=True):
    """What became of an event: its sequence number, or 0 with the code and reason of its refusal."""

    id: str
    seq: int
    code: str = ""
    reason: str = ""


class Span(msgspec.Struct, frozen=True):
    """All events with after < seq ≤ upto that the receiver may see.

    Live, on a ledger topic: those of one visibility; `after` is the last one before on the same topic, which
    shows a lost message. As a reply: those of every visibility asked for. `head`: the ledger's last event.
    """

    after: int
    upto: int
    head: int
    events: list[tuple[int, msgspec.Raw]]
    error: str = ""


class Request(msgspec.Struct, frozen=True):
    """Asks for the events after a number. The reply comes on the topic that ends with the token.

    With `limit` 0 it only asks where the ledger ends.
    """

    after: int
    token: str
    limit: int = 1000


_encoder = msgspec.json.Encoder()
_acks = msgspec.json.Decoder(list[Ack])
_span = msgspec.json.Decoder(Span)
_request = msgspec.json.Decoder(Request)
_array = msgspec.json.Decoder(list[msgspec.Raw])


def encode(message: Span | Request | list[Ack]) -> bytes:
    """The bytes to publish."""
    return _encoder.encode(message)


def join(events: Iterable[bytes]) -> bytes:
    """A message of encoded events."""
    return b"[" + b",".join(events) + b"]"


def split(payload: bytes) -> list[bytes]:
    """The publisher's bytes of each event of a message.

    Raises UnicodeDecodeError, msgspec.DecodeError or RecursionError if it is not UTF-8 or not a JSON array.
    """
    payload.decode()  # msgspec skips over what it does not need without looking at its encoding
    return [bytes(raw) for raw in _array.decode(payload)]


def decode_acks(payload: bytes) -> list[Ack]:
    """Raises msgspec.DecodeError."""
    return _acks.decode(payload)


def decode_span(payload: bytes) -> Span:
    """Raises msgspec.DecodeError."""
    return _span.decode(payload)


def decode_request(payload: bytes) -> Request:
    """Raises msgspec.DecodeError."""
    return _request.decode(payload)


def spans(after: int, events: Sequence[tuple[int, bytes]], head: int) -> Iterable[bytes]:
    """Encoded live spans of new events of one visibility; the last one before them was `after`."""
    part: list[tuple[int, msgspec.Raw]] = []
    size = 0
    for seq, raw in events:
        part.append((seq, msgspec.Raw(raw)))
        size += len(raw)
        if size >= SPAN_BYTES:
            yield encode(Span(after, seq, head, part))
            after, part, size = seq, [], 0
    if part:
        yield encode(Span(after, part[-1][0], head, part))
