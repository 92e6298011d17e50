"""Keys of language models: from the environment, or from a file that only its owner can read.

A vendor's usual variable is used for the vendor's own host only, so that no other server is ever sent it.
"""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ...errors import ConfigError, MissingError
from .address import Address

VARIABLE: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
FILE: Final = "SKILL2REAL_MODEL_KEYS"


def find_key(address: Address) -> str:
    """The key for this address; "" where a server on this machine has none, or the file says that one needs
    none.

    Raises MissingError where there is none, and ConfigError for a file that others can read or that is not
    what it should be.
    """
    key = os.environ.get(VARIABLE[address.vendor], "").strip() if address.is_default else ""
    if not key:
        found = _from_file(address)
        if found is None and not address.is_local:
            own = f"set {VARIABLE[address.vendor]}, or " if address.is_default else ""
            raise MissingError(
                f"there is no key for {address}; {own}name a TOML file with {FILE} that has "
                f'"{address.host}" = "…" under [keys], or "" there for a server that needs none'
            )
        key = found or ""
    if key and not address.is_local and address.url.startswith("http://"):
        raise ConfigError(f"the key for {address} would travel unencrypted; use https")
    if not key.isascii() or not key.isprintable():
        raise ConfigError(f"the key for {address} has characters that no key has; copy it again")
    return key


def _from_file(address: Address) -> str | None:
    """What the file says of a host with its port, else of the host; None for nothing."""
    named = os.environ.get(FILE)
    keys = _read(Path(named).expanduser()) if named else {}
    for host in (address.host, urlsplit(address.url).hostname or ""):
        if host in keys:
            if not isinstance(keys[host], str):
                raise ConfigError(f'the key of {host} in {named} is not a text; write "{host}" = "key"')
            return str(keys[host]).strip()
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise ConfigError(f"others can read the keys in {path}; close it with: chmod 600 {path}")
            keys = tomllib.load(file).get("keys")
    except OSError as error:
        raise MissingError(f"{path}, which {FILE} names, cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):  # its own words may quote a key
        keys = None
    if not isinstance(keys, dict):
        raise ConfigError(f'{path} is not as it should be: TOML with lines "host:port" = "key" under [keys]')
    return keys
