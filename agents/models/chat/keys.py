"""Keys of language models: from the environment, or from a file that only its owner can read.

A vendor's usual variable is used for the vendor's own host only, so that no other server is ever sent it.
"""

import os
import tomllib
from pathlib import Path
from typing import Final

from ...errors import ConfigError, MissingError
from .address import Address

VARIABLE: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
FILE: Final = "SKILL2REAL_KEYS"


def find_key(address: Address) -> str:
    """The key for this address, "" where a server on this machine has none.

    Raises MissingError where there is none, and ConfigError for a file that others can read or that is not
    what it should be.
    """
    key = os.environ.get(VARIABLE[address.vendor], "") if address.is_default else ""
    key = (key or _from_file(address.host)).strip()
    if not key and not address.is_local:
        own = f"set {VARIABLE[address.vendor]}, or " if address.is_default else ""
        raise MissingError(
            f"there is no key for {address}; {own}name a TOML file with {FILE} that has "
            f'"{address.host}" = "…" under [keys]'
        )
    if key and not address.is_local and address.url.startswith("http://"):
        raise ConfigError(f"the key for {address} would travel unencrypted; use https")
    if not key.isascii() or not key.isprintable():
        raise ConfigError(f"the key for {address} has characters that no key has; copy it again")
    return key


def _from_file(host: str) -> str:
    named = os.environ.get(FILE)
    if not named:
        return ""
    path = Path(named).expanduser()
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"others can read the keys in {path}; close it with: chmod 600 {path}")
        keys = tomllib.loads(path.read_text()).get("keys", {})
    except OSError as error:
        raise MissingError(f"{path}, which {FILE} names, cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ConfigError(
            f'{path} is not TOML; it holds lines such as "host:port" = "key" under [keys]'
        ) from None
    found = keys.get(host, keys.get(host.rpartition(":")[0] or host, "")) if isinstance(keys, dict) else ""
    return found if isinstance(found, str) else ""
