"""Where a language model is: `openai:NAME@URL`, `anthropic:NAME`."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

from ...errors import ConfigError, MissingError

Vendor = Literal["openai", "anthropic"]
DEFAULT: Final[dict[str, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}

_WITH_URL: Final = re.compile(r"(.*?)@(https?://.*)")


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
        return urlsplit(self.url).netloc.lower()

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

    Raises MissingError for a vendor that is not known, ConfigError for what is no address.
    """
    vendor, _, rest = text.partition(":")
    if vendor not in get_args(Vendor):
        others = f"{', '.join(built_in)}, " if built_in else ""
        raise MissingError(
            f"there is no model {text!r} here; give {others}openai:NAME@URL for any server that speaks "
            "OpenAI's chat completions, or anthropic:NAME"
        )
    named = _WITH_URL.fullmatch(rest)
    model, url = named.groups() if named else (rest, "")
    if not model.strip() or any(c.isspace() for c in rest):
        raise ConfigError(f"{text!r} names no model; write {vendor}:NAME, or {vendor}:NAME@URL")
    return Address(vendor, model, _base(url, text) if named else DEFAULT[vendor])  # type: ignore[arg-type]


def _base(url: str, text: str) -> str:
    parts = urlsplit(url)
    try:
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if parts.username or parts.password:
        raise ConfigError(
            f"the URL of {text.partition('@')[0]!r} has a name or password in it; leave them out, keys come "
            "from the environment or a file"
        )
    if not fits or parts.query or parts.fragment:
        raise ConfigError(f"{url!r} is not the base URL of a server; write http(s)://HOST:PORT/v1")
    return url.rstrip("/")
