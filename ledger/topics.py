"""The bus's topics: their names, and which filter covers which. Every name starts `skill2real/{run}/`."""

import re
from typing import Final, NamedTuple

from .events import ACTORS, Actor, Visibility

ROOT: Final = "skill2real"
VISIBILITIES: Final[tuple[Visibility, ...]] = ("public", "privileged")
ANY: Final = "+"

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def is_run(name: str) -> bool:
    """Whether a run may have this name: one topic level, one folder, at most 64 characters."""
    return _RUN.fullmatch(name) is not None


def services() -> str:
    """Where ledger services find out whether another one serves the same broker."""
    return f"{ROOT}/services"


def events(run: str, actor: str, visibility: str) -> str:
    """What an actor publishes: a JSON array of events."""
    return f"{ROOT}/{run}/events/{actor}/{visibility}"


def sync(run: str, actor: str, visibility: str) -> str:
    """Where an actor asks for committed events that it missed."""
    return f"{ROOT}/{run}/sync/{actor}/{visibility}"


def ledger(run: str, visibility: str) -> str:
    """What the service publishes after each commit."""
    return f"{ROOT}/{run}/ledger/{visibility}"


def acks(run: str, actor: str) -> str:
    """Where an actor learns what became of its events."""
    return f"{ROOT}/{run}/acks/{actor}"


def replies(run: str, actor: str, visibility: str, token: str) -> str:
    """Where one connection of an actor gets what it asked for."""
    return f"{ROOT}/{run}/replies/{actor}/{visibility}/{token}"


class Arrival(NamedTuple):
    """A topic that the service listens to, taken apart."""

    run: str
    what: str  # "events" or "sync"
    actor: Actor
    visibility: Visibility


def parse_arrival(topic: str) -> Arrival | None:
    """None for a topic that no actor of ours may use, whatever the broker let through."""
    parts = topic.split("/")
    if len(parts) != 5 or parts[0] != ROOT or not is_run(parts[1]) or parts[2] not in ("events", "sync"):
        return None
    if parts[3] not in ACTORS or parts[3] == "ledger" or parts[4] not in VISIBILITIES:
        return None
    return Arrival(parts[1], parts[2], parts[3], parts[4])


def matches(pattern: str, topic: str) -> bool:
    """Whether a filter without `#` matches a topic name."""
    wanted, given = pattern.split("/"), topic.split("/")
    return len(wanted) == len(given) and all(
        want in (ANY, level) for want, level in zip(wanted, given, strict=True)
    )


def covers(allowed: str, wanted: str) -> bool:
    """Whether every topic that `wanted` (a name or a filter) matches is matched by `allowed` too.

    `allowed` has no `#`, so a filter with one is never covered; nor is one with `$share`.
    """
    mine, theirs = allowed.split("/"), wanted.split("/")
    return len(mine) == len(theirs) and all(
        level != "#" and have in (ANY, level) for have, level in zip(mine, theirs, strict=True)
    )
