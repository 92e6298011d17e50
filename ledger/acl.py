"""Who may publish and subscribe to what: one table, used by the embedded broker and printed for Mosquitto."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from . import topics
from .events import ACTORS, KINDS, Actor, Visibility
from .topics import ANY, VISIBILITIES, covers

# Actors that hear privileged events: the judges, and those who report results to people. The runner says
# them and need not hear them. Proposer and deployer never.
PRIVILEGED: Final[frozenset[str]] = frozenset({"verifier", "governor", "trainer", "operator"})
MAX_PACKET: Final = 16 << 20  # bytes of one MQTT packet, on every broker


class Rights(NamedTuple):
    """Topic filters, all without `#`."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def _hears(actor: Actor) -> tuple[Visibility, ...]:
    return VISIBILITIES if actor in PRIVILEGED else ("public",)


def _says(actor: Actor) -> tuple[Visibility, ...]:
    spoken = {kind.heard(actor) for kind in KINDS.values() if actor in kind.actors}
    return tuple(visibility for visibility in VISIBILITIES if visibility in spoken)


def _rights(actor: Actor) -> Rights:
    if actor == "ledger":
        return Rights(
            publish=(
                topics.ledger(ANY, ANY),
                topics.acks(ANY, ANY),
                topics.replies(ANY, ANY, ANY, ANY),
                topics.services(),
            ),
            subscribe=(topics.events(ANY, ANY, ANY), topics.sync(ANY, ANY, ANY), topics.services()),
        )
    said = tuple(topics.events(ANY, actor, visibility) for visibility in _says(actor))
    asked = tuple(topics.sync(ANY, actor, visibility) for visibility in _hears(actor))
    heard = tuple(topics.ledger(ANY, visibility) for visibility in _hears(actor))
    told = tuple(topics.replies(ANY, actor, visibility, ANY) for visibility in _hears(actor))
    return Rights(publish=said + asked, subscribe=(*heard, topics.acks(ANY, actor), *told))


RIGHTS: Final[Mapping[str, Rights]] = {actor: _rights(actor) for actor in ACTORS}


def may_publish(actor: str, topic: str) -> bool:
    """Whether this user may publish to a topic name."""
    rights = RIGHTS.get(actor)
    return rights is not None and any(covers(allowed, topic) for allowed in rights.publish)


def may_subscribe(actor: str, pattern: str) -> bool:
    """Whether all that a filter can match is open to this user: a wider filter is refused, not narrowed."""
    rights = RIGHTS.get(actor)
    return rights is not None and any(covers(allowed, pattern) for allowed in rights.subscribe)


class MosquittoConfig(NamedTuple):
    """The contents of two files: mosquitto.conf (or a file in conf.d), and the access list it names."""

    settings: str
    access: str


def mosquitto_config(
    access_file: str = "/etc/mosquitto/skill2real.acl",
    password_file: str = "/etc/mosquitto/skill2real.passwd",
    host: str = "127.0.0.1",
    port: int = 1883,
) -> MosquittoConfig:
    """Settings and access list for Mosquitto 2. Make the password file with mosquitto_passwd."""
    settings = f"""\
# Skill2Real needs these. Users are the actors: {", ".join(ACTORS)}.
listener {port} {host}
allow_anonymous false
password_file {password_file}
acl_file {access_file}
# Without this a commit waits for Nagle and delayed ACK: some 88 ms instead of 2.
set_tcp_nodelay true
# The default drops messages to a slow subscriber in silence.
max_queued_messages 0
max_inflight_messages 1000
max_packet_size {MAX_PACKET}
# What the bus never uses, and what could carry messages past the access list.
retain_available false
persistence false
allow_zero_length_clientid false
"""
    lines = ["# Who may publish (write) and subscribe (read) what. Everything else is refused."]
    for actor, rights in RIGHTS.items():
        lines += ["", f"user {actor}"]
        lines += [f"topic write {pattern}" for pattern in rights.publish]
        lines += [f"topic read {pattern}" for pattern in rights.subscribe]
    return MosquittoConfig(settings, "\n".join(lines) + "\n")
