"""Where a language model is: `openai:NAME@URL`, `anthropic:NAME`."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, Literal, get_args
from urllib.parse import SplitResult, urlsplit

from ...errors import ConfigError, MissingError

Vendor = Literal["openai", "anthropic"]
DEFAULT: Final[dict[str, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
_PORTS: Final = {"http": 80, "https": 443}
_URL: Final = re.compile(r"(.*?)@([A-Za-z][A-Za-z0-9+.-]*://.*)")
_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")  # of a host, in lower case
_HOST: Final = re.compile(r".*@([^@]*:.*|localhost\b.*)")  # behind it a URL that lacks its scheme


@dataclass(frozen=True)
class Address:
    """A model behind a base URL that speaks a vendor's protocol."""

    vendor: Vendor
    model: str
    url: str

    def __str__(self) -> str:
        named = f"{self.vendor}:{self.model}"
        return named if self.is_default else f"{named}@{self.url}"

    @property
    def is_default(self) -> bool:
        """Whether it is the vendor's own service."""
        return self.url == DEFAULT[self.vendor]

    @property
    def host(self) -> str:
        """Host and, where the URL names one, port."""
        return urlsplit(self.url).netloc

    @property
    def is_local(self) -> bool:
        """Whether what is sent stays on this machine."""
        name = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return name == "localhost"


def parse(text: str, built_in: tuple[str, ...] = ()) -> Address:
    """The address of a model. built_in: what else might have been meant.

    Raises MissingError for a vendor that is not known, ConfigError for what is no address. Neither repeats
    what follows an @: it may hold a password.
    """
    vendor, colon, rest = text.partition(":")
    shown = text.partition("@")[0]
    if vendor not in get_args(Vendor):
        others = f"{', '.join(built_in)}, " if built_in else ""
        wrong = MissingError if colon else ConfigError  # a vendor that is not there, or no address at all
        raise wrong(
            f"there is no model {shown!r} here; give {others}openai:NAME@URL for any server that speaks "
            "OpenAI's chat completions, or anthropic:NAME"
        )
    named = _URL.fullmatch(rest)
    model, url = named.groups() if named else (rest, "")
    if not model or not rest.isprintable() or " " in rest:
        raise ConfigError(f"{shown!r} names no model; write {vendor}:NAME, or {vendor}:NAME@URL")
    if not named and _HOST.fullmatch(model):  # as a model's name it would send the prompts to the vendor
        raise ConfigError(f"the URL of {shown!r} does not begin with http:// or https://")
    return Address(vendor, model, _base(vendor, url, shown) if named else DEFAULT[vendor])  # type: ignore[arg-type]


def _base(vendor: str, url: str, shown: str) -> str:
    """The URL in its one form. Anthropic's clients leave the version out of it, OpenAI's do not."""
    parts = _split(url)
    if parts is None or (host := _host(parts)) is None or parts.query or parts.fragment:
        raise ConfigError(
            f"the URL of {shown!r} is not the base URL of a server; write http(s)://HOST:PORT/v1, without a "
            "name or password: keys come from the environment or a file"
        )
    path = parts.path.rstrip("/")
    version = "/v1" if vendor == "anthropic" and not path.endswith("/v1") else ""
    return f"{parts.scheme}://{host}{path}{version}"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and "@" not in parts.netloc else None


def _host(parts: SplitResult) -> str | None:
    """Host and, where it is not the usual one, port; None for what is no host."""
    try:
        name, port = parts.hostname or "", parts.port
        if ":" in name:
            name = f"[{ipaddress.IPv6Address(name)}]"
        elif not _NAME.fullmatch(name):
            return None
    except ValueError:
        return None
    if port == 0 or parts.netloc.endswith(":"):
        return None
    return name if port in (None, _PORTS[parts.scheme]) else f"{name}:{port}"
