"""The broker's address, and passwords: from the environment, from one secret, or random for one run."""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from .bus_errors import BadAddress, NoPassword
from .events import ACTORS, Actor

SECRET: Final = "SKILL2REAL_BROKER_SECRET"
PASSWORD: Final = "SKILL2REAL_BROKER_PASSWORD"

Passwords = Mapping[str, str]


class Address(NamedTuple):
    """A broker's address."""

    host: str
    port: int
    tls: bool

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.tls else 'mqtt'}://{host}:{self.port}"


def parse_url(url: str) -> Address:
    """`mqtt://host[:1883]`, or `mqtts://host[:8883]` for TLS by the system's authorities, or BadAddress."""
    right = "write it as mqtt://host:1883, or mqtts://host:8883 for TLS"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadAddress(f"The broker URL {url!r} is not one ({error}); {right}.") from None
    if parts.username is not None or parts.password is not None:
        raise BadAddress(f"A broker URL must not carry credentials; set {PASSWORD} or {SECRET} instead.")
    if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname or parts.path not in ("", "/"):
        raise BadAddress(f"The broker URL {url!r} cannot be used; {right}.")
    tls = parts.scheme == "mqtts"
    return Address(parts.hostname, port or (8883 if tls else 1883), tls)


def derive(secret: str, actor: Actor) -> str:
    """The actor's password under a master secret (HMAC-SHA-256): no actor learns another's from its own."""
    digest = hmac.digest(secret.encode(), f"skill2real/{actor}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def derive_all(secret: str) -> dict[str, str]:
    """Every actor's password under a master secret."""
    return {actor: derive(secret, actor) for actor in ACTORS}


def random_passwords() -> dict[str, str]:
    """New passwords, to be kept in memory only."""
    return {actor: secrets.token_urlsafe(32) for actor in ACTORS}


def secret_from_environment() -> str:
    """The master secret. Raises NoPassword."""
    if not (secret := os.environ.get(SECRET)):
        raise NoPassword(
            f"No secret for the broker's passwords: set {SECRET} to a long random text, "
            "the same for the service and for every agent that runs elsewhere."
        )
    return secret


def password_from_environment(actor: Actor) -> str:
    """This actor's password: its own if one is set, else derived from the secret. Raises NoPassword."""
    if own := os.environ.get(PASSWORD):
        return own
    if secret := os.environ.get(SECRET):
        return derive(secret, actor)
    raise NoPassword(f"No broker password for {actor}: set {PASSWORD}, or {SECRET} to the service's secret.")
