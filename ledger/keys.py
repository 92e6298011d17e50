"""Where the signing key lies, and how it is made and loaded."""

import os
import stat
from pathlib import Path

from .errors import KeyMissing, KeyRefused
from .note import SigningKey, VerifierKey

DEFAULT_NAME = "skill2real"


def key_path() -> Path:
    """`$SKILL2REAL_KEY`, or signing.key in the user's configuration folder."""
    if named := os.environ.get("SKILL2REAL_KEY"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "skill2real" / "signing.key"


def new_key(name: str = DEFAULT_NAME, path: Path | None = None) -> SigningKey:
    """Make a key and write it where only its owner may read it. Never replaces a key: raises KeyRefused."""
    path = path or key_path()
    key = SigningKey.new(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyRefused(
            f"There is a key at {path} already, and checkpoints signed by it need it; "
            "move it away, or set SKILL2REAL_KEY to another place."
        ) from None
    except OSError as error:
        raise KeyRefused(
            f"A key cannot be written at {path} ({error.strerror}); set SKILL2REAL_KEY to another place."
        ) from error
    with os.fdopen(handle, "w") as file:
        file.write(key.encode() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return key


def load_key(path: Path | None = None) -> SigningKey:
    """The signing key. Raises KeyMissing, or KeyRefused where others may read it or it is damaged."""
    path = path or key_path()
    try:
        mode = path.stat().st_mode
        text = path.read_text()
    except FileNotFoundError:
        raise KeyMissing(f"There is no signing key at {path}; make one with `skill2real key new`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise KeyRefused(f"The signing key at {path} cannot be read ({error}).") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyRefused(f"Others may read the signing key at {path}; run `chmod 600 {path}`.")
    try:
        return SigningKey.parse(text)
    except KeyRefused as error:
        raise KeyRefused(f"{path}: {error}") from None


def read_verifier(text: str) -> VerifierKey:
    """A verifier key from its text, or from a file that holds it. Raises KeyRefused."""
    if text.count("+") < 2 and Path(text).is_file():
        text = Path(text).read_text(errors="replace")
    return VerifierKey.parse(text)
