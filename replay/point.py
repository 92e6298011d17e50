"""Points of a run: a sequence number, a time or a checkpoint name, as the number of the last event in it."""

import re
from datetime import UTC, datetime, time, timedelta

from ..ledger.checkpoint import checkpoints
from ..ledger.events import decode
from ..ledger.reader import Reader
from .errors import UnknownPoint

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")


def resolve(reader: Reader, point: str) -> int:
    """The sequence number of the last event that belongs to `point`.

    A point is a number from 0 (before the first event) to the last; a checkpoint's name, for the event that
    froze it (the last one, where a name came twice); a time, as RFC 3339 or HH:MM[:SS], both UTC if nothing
    else is said, for the last event before the first later one; or `end`. Raises UnknownPoint with what
    would be valid.
    """
    point = point.strip()
    names: dict[str, int] = {frozen.name: frozen.seq for frozen in checkpoints(reader)}
    if point in names:
        return names[point]
    if point == "end":
        return reader.head
    if point.isascii() and point.isdigit():
        if len(point) < 18 and int(point) <= reader.head:
            return int(point)
        raise UnknownPoint(f"Event {point} does not exist; this run has events 0 to {reader.head}.")
    if match := _CLOCK.fullmatch(point):
        hour, minute, second = (int(part or 0) for part in match.groups())
        return _at_time(reader, _dated(reader, time(hour, minute, second), point), point)
    try:
        when = datetime.fromisoformat(point)
    except ValueError:
        raise _unknown(reader, point, names) from None
    return _at_time(reader, when if when.tzinfo else when.replace(tzinfo=UTC), point)


def _unknown(reader: Reader, point: str, names: dict[str, int]) -> UnknownPoint:
    known = ", ".join(names) or "none yet"
    return UnknownPoint(
        f"{point!r} is no point of this run. Valid are an event number from 0 to {reader.head}, a checkpoint "
        f"({known}), a time such as 14:05 or {_time_of(reader, 1) or '2025-01-31T14:05:00Z'}, or end."
    )


def _time_of(reader: Reader, seq: int) -> str:
    return decode(reader.at(seq).raw).time if 0 < seq <= reader.head else ""


def _bounds(reader: Reader, point: str) -> tuple[datetime, datetime]:
    first, last = _parse(_time_of(reader, 1)), _parse(_time_of(reader, reader.head))
    if first is None or last is None:
        raise UnknownPoint(
            f"The events of this run bear no time, so {point} finds none; use an event number."
        )
    return first, max(first, last)


def _parse(text: str) -> datetime | None:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _dated(reader: Reader, clock: time, point: str) -> datetime:
    """The time of day on the one day of the run that has it."""
    first, last = _bounds(reader, point)
    days = range((last.astimezone(UTC).date() - first.astimezone(UTC).date()).days + 1)
    times = [datetime.combine(first.astimezone(UTC).date() + timedelta(days=day), clock, UTC) for day in days]
    within = [when for when in times if first <= when <= last]
    if len(within) > 1:
        dates = ", ".join(when.strftime("%Y-%m-%dT%H:%M:%SZ") for when in within[:5])
        raise UnknownPoint(f"{point} comes {len(within)} times in this run; say which: {dates}.")
    return within[0] if within else times[-1]


def _at_time(reader: Reader, when: datetime, point: str) -> int:
    first, last = _bounds(reader, point)
    # One event's clock says nothing of a run's order, so only a time before all of it is refused.
    if when < first:
        span = f"{first.isoformat(timespec='seconds')} to {last.isoformat(timespec='seconds')}"
        raise UnknownPoint(f"{point} is before this run began; it spans {span}.")
    found = 0
    for seq, raw in reader.events():
        event_time = _parse(decode(raw).time)
        if event_time is not None and event_time > when:
            break
        found = seq
    return found
