"""What can go wrong between this machine and a language model."""

import re
from typing import Literal

from ...errors import AgentError

ErrorKind = Literal[
    "unreachable", "timeout", "rate_limited", "server", "refused_key", "no_vision", "bad_request", "too_long",
    "broken", "too_large", "content_type", "empty",
]  # fmt: skip
LONGEST = 200  # characters of the server's own words
_MARK = "[…]"
_SECRET = re.compile(r"\b(?:sk|pk|key|token|bearer)[-_ ][\w.-]{6,}|[\w-]{32,}", re.IGNORECASE)


class ChatError(AgentError):
    """A call that brought no answer. kind: what sort of fault it was."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind


def excerpt(said: str, key: str = "") -> str:
    """A server's own words on one line, without the key that it may have echoed, or anything like one."""
    plain = said.replace(key, _MARK) if key else said
    line = " ".join(_SECRET.sub(_MARK, plain[: 20 * LONGEST]).split())
    line = "".join(c for c in line if c.isprintable())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
