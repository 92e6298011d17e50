"""Looking at what a publisher sent: each event is to be committed, or refused with a code and a reason."""

import re
from typing import Final, Literal, NamedTuple

import msgspec

from . import events, wire
from .events import KINDS, Event
from .topics import Arrival

Code = Literal[
    "malformed", "oversized", "actor", "type", "version", "visibility", "data", "duplicate", "flood",
    "unsigned",
]  # fmt: skip
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_BLOB: Final = re.compile(r"[0-9a-f]{64}")
_EXCERPT: Final = 200  # characters of a refused message that are kept


class Refusal(NamedTuple):
    """Why an event, or a whole message, is not committed."""

    actor: str
    code: Code
    reason: str
    event: str = ""  # id, where one could be read
    excerpt: str = ""


class Checked(NamedTuple):
    """An event that may be committed, and its publisher's bytes."""

    event: Event
    raw: bytes


def check_message(where: Arrival, payload: bytes) -> list[Checked | Refusal]:
    """Every event of a message, in order; or one refusal for a message that cannot be taken apart."""
    if len(payload) > wire.MAX_MESSAGE:
        reason = f"the message has {len(payload)} bytes, {wire.MAX_MESSAGE} are allowed; send fewer events"
        return [_refuse(where, "oversized", reason, payload)]
    try:
        raws = wire.split(payload)
    except UnicodeDecodeError as error:
        return [_refuse(where, "malformed", f"the message is not UTF-8 ({error.reason})", payload)]
    except Exception as error:
        return [_refuse(where, "malformed", f"the message is not a JSON array of events ({error})", payload)]
    if not raws:
        return [_refuse(where, "malformed", "the message has no events", payload)]
    return [_check(where, raw) for raw in raws]


def _check(where: Arrival, raw: bytes) -> Checked | Refusal:
    if len(raw) > wire.MAX_EVENT:
        reason = f"the event has {len(raw)} bytes, {wire.MAX_EVENT} are allowed; put large things into blobs"
        return _refuse(where, "oversized", reason, raw)
    try:
        event = events.decode(raw)
    except Exception as error:  # whatever it is, a payload never stops the service
        return _refuse(where, "malformed", f"not an event ({error})", raw)
    if not _ID.fullmatch(event.id):
        return _refuse(where, "malformed", "the id is not a UUIDv7 in lower case", raw)
    found = _fault(where, event)
    return _refuse(where, *found, raw, event.id) if found else Checked(event, raw)


def _fault(where: Arrival, event: Event) -> tuple[Code, str] | None:
    if event.run != where.run:
        return "malformed", f"the event is of run {event.run[:64]!r}, its topic of {where.run!r}"
    if event.actor != where.actor:
        return "actor", f"the event names {event.actor} as its actor, but {where.actor} published it"
    kind = KINDS.get(event.type)
    if kind is None:
        return "type", f"there is no event type {event.type[:64]!r}"
    if event.actor not in kind.actors:
        return "actor", f"{event.actor} may not say {event.type}; only {', '.join(sorted(kind.actors))} may"
    if event.version != kind.version:
        return "version", f"{event.type} is written in version {kind.version}, not {event.version}"
    heard = kind.heard(event.actor)
    if event.visibility != heard or event.visibility != where.visibility:
        return "visibility", f"{event.type} is {heard}, and its topic must be as well"
    if event.blobs and not all(map(_BLOB.fullmatch, event.blobs)):
        return "data", "a blob's name is not a SHA-256 in lower-case hexadecimal"
    try:
        events.payload(event)
    except Exception as error:
        return "data", f"the data does not fit {event.type} ({error})"
    return None


def _refuse(where: Arrival, code: Code, reason: str, raw: bytes, event: str = "") -> Refusal:
    excerpt = raw[:_EXCERPT].decode("utf-8", "replace")
    return Refusal(where.actor, code, reason, event or _find_id(raw), excerpt)


class _WithId(msgspec.Struct):
    id: str = ""


_id_decoder = msgspec.json.Decoder(_WithId)


def _find_id(raw: bytes) -> str:
    """The id of an event that does not decode, so that its publisher hears of the refusal."""
    try:
        found = _id_decoder.decode(raw).id
    except Exception:
        return ""
    return found if _ID.fullmatch(found) else ""
