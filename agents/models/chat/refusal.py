"""What it means that a server refuses a request: which kind of fault, and whether waiting may help."""

import email.utils
import random
import re
import time
from typing import Final

from .errors import ErrorKind

LONGEST_WAIT: Final = 60.0  # seconds between two tries, whatever the server asks for
_PASSING: Final = frozenset({408, 409, 425, 429})  # and all from 500 on
_KINDS: Final[dict[int, ErrorKind]] = {
    401: "refused_key", 403: "refused_key", 408: "timeout", 413: "too_long", 429: "rate_limited",
}  # fmt: skip
_PICTURES: Final = re.compile(r"\bimages?\b|image_url|\bvision\b|multi-?modal|mmproj")
_NOT: Final = re.compile(
    "not support|unsupported|not accept|no endpoints|not a multi|text.only|only.{0,9} text|at most 0|"
    "expected `text`"
)
_LENGTH: Final = re.compile(r"context (length|window|size)|maximum context|too long|too many tokens")


def kind_of(status: int, said: str) -> ErrorKind:
    """The kind of fault, from the status and the server's words: what is wrong with a request comes with
    various statuses, 500 among them."""
    words = said.lower()
    if status in (400, 404, 415, 422, 500, 501):
        if _PICTURES.search(words) and _NOT.search(words):
            return "no_vision"
        if status in (400, 422) and _LENGTH.search(words):
            return "too_long"
    return _KINDS.get(status, "server" if status >= 500 else "bad_request")


def may_pass(status: int, kind: ErrorKind) -> bool:
    """Whether the same request may succeed later."""
    return kind != "no_vision" and (status in _PASSING or status >= 500)


def asked_wait(value: str) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date; None without one."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(LONGEST_WAIT, max(0.0, seconds)) if seconds == seconds else None


def back_off(attempt: int) -> float:
    """Seconds to wait: at most 1, 2, 4, …, by chance, so that many callers do not come back together."""
    return random.uniform(0.0, min(LONGEST_WAIT, 2.0 ** (attempt - 1)))
