"""One request to a model's server: time limits, retries with back-off, a limit on the answer's size."""

import asyncio
import email.utils
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from .address import Address
from .errors import ChatError, ErrorKind, excerpt

T = TypeVar("T")
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
LARGEST = 10_000_000  # bytes of an answer
LONGEST_WAIT = 60.0  # seconds between two tries, whatever the server asks for
_PASSING = frozenset({"unreachable", "timeout", "rate_limited", "server", "broken"})
_NOT = ("not support", "unsupported", "not a multi", "only text", "does not", "no endpoints", "cannot")
_KINDS: dict[int, ErrorKind] = {
    401: "refused_key", 403: "refused_key", 408: "timeout", 413: "too_long", 429: "rate_limited",
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """Seconds: to connect; between two pieces of an answer; of one call with all its tries. attempts: tries
    of one call."""

    connect: float = 10.0
    idle: float = 120.0
    total: float = 600.0
    attempts: int = 5


NORMAL = Limits()


class Again(Exception):
    """The same question is to be asked in another form, at once."""


@dataclass
class Answer:
    """What a server answers with. chunks: its bytes, as they arrive."""

    status: int
    type: str
    chunks: AsyncIterator[bytes]

    async def text(self) -> str:
        """All of it."""
        return b"".join([chunk async for chunk in self.chunks]).decode("utf-8", "replace")


@dataclass
class Connection:
    """A server of one model. The key is a header of the request and stands nowhere else."""

    address: Address
    headers: dict[str, str] = field(repr=False)
    key: str = field(repr=False)
    limits: Limits = NORMAL
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        limits = self.limits
        # A proxy that the environment names is used: on many networks there is no other way out.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(limits.idle, connect=limits.connect), follow_redirects=False
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(
        self,
        path: str,
        body: Callable[[], Any],
        read: Callable[[Answer], Awaitable[T]],
        mend: Callable[[str], bool] = lambda said: False,
    ) -> T:
        """Post the body and read the answer, again where that may help. Raises ChatError.

        mend: given the words of a refusal, whether the next body leaves out what was refused.
        """
        deadline = time.monotonic() + self.limits.total
        attempt = 0
        while True:
            try:
                async with asyncio.timeout_at(
                    asyncio.get_running_loop().time() + deadline - time.monotonic()
                ):
                    return await self._once(path, body(), read, mend)
            except Again:
                continue
            except TimeoutError:
                raise self.error("timeout", f"gave no answer within {self.limits.total:.0f} s") from None
            except _Passing as passing:
                attempt += 1
                wait = passing.wait if passing.wait is not None else _back_off(attempt)
                if attempt >= self.limits.attempts or time.monotonic() + wait > deadline:
                    raise passing.error from None
                await self.sleep(wait)

    async def _once(
        self,
        path: str,
        body: Any,
        read: Callable[[Answer], Awaitable[T]],
        mend: Callable[[str], bool],
    ) -> T:
        try:
            async with self._post(path, body) as response:
                answer = Answer(
                    response.status_code,
                    response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                    self._bounded(response),
                )
                if response.status_code != 200:
                    await self._refused(response, answer, mend)
                return await read(answer)
        except httpx.ConnectError as error:
            raise _Passing(self.error("unreachable", f"cannot be reached ({_words(error)})")) from None
        except httpx.TimeoutException:
            what = f"sent nothing for {self.limits.idle:.0f} s"
            raise _Passing(self.error("timeout", what)) from None
        except httpx.DecodingError:
            raise self.error("broken", "sent a compressed answer that cannot be read") from None
        except (httpx.TransportError, httpx.StreamError) as error:
            raise _Passing(
                self.error("broken", f"closed the connection in mid-answer ({_words(error)})")
            ) from None
        except ChatError as error:
            if error.kind in _PASSING:
                raise _Passing(error) from None
            raise

    @asynccontextmanager
    async def _post(self, path: str, body: Any) -> AsyncIterator[httpx.Response]:
        url = f"{self.address.url}/{path}"
        async with self._client.stream("POST", url, json=body, headers=self.headers) as response:
            yield response

    async def _bounded(self, response: httpx.Response) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > LARGEST:
                raise self.error("too_large", f"sent more than {LARGEST // 1_000_000} MB")
            yield chunk

    async def _refused(self, response: httpx.Response, answer: Answer, mend: Callable[[str], bool]) -> None:
        """Raises what a status other than 200 means."""
        status, whole = response.status_code, await answer.text()
        if status in (400, 422) and mend(whole):
            raise Again
        said = excerpt(whole, self.key)
        kind: ErrorKind = _KINDS.get(status, "server" if status >= 500 else "bad_request")
        words = said.lower()
        if status in (400, 404, 415, 422, 500) and _about_pictures(words):
            kind = "no_vision"
        elif status == 400 and any(w in words for w in ("context length", "too long", "maximum context")):
            kind = "too_long"
        error = self.error(kind, f"answered {status}{': ' + said if said else ''}")
        if status in AGAIN and kind != "no_vision":
            raise _Passing(error, _asked_wait(response.headers.get("retry-after", "")))
        raise error

    def error(self, kind: ErrorKind, what: str) -> ChatError:
        """An error of this server, as a sentence."""
        return ChatError(kind, f"{self.address} {what}")


class _Passing(Exception):
    """A fault that may pass. wait: seconds that the server asked for."""

    def __init__(self, error: ChatError, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


def _about_pictures(words: str) -> bool:
    """Whether a refusal says that the model takes no pictures."""
    subject = any(w in words for w in ("image", "vision", "multimodal", "multi-modal", "mmproj"))
    return subject and any(sign in words for sign in _NOT)


def _asked_wait(value: str) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date; None without one."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return min(LONGEST_WAIT, max(0.0, seconds)) if seconds == seconds else None


def _back_off(attempt: int) -> float:
    """Seconds to wait: at most 1, 2, 4, …, by chance, so that many callers do not come back together."""
    return random.uniform(0.0, min(LONGEST_WAIT, 2.0 ** (attempt - 1)))


def _words(error: Exception) -> str:
    return excerpt(str(error)) or type(error).__name__
