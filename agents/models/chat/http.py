"""One request to a model's server: time limits, retries with back-off, a limit on the answer's size."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from ...errors import MissingError
from .address import Address
from .errors import ChatError, ErrorKind, excerpt
from .reading import own_words
from .refusal import asked_wait, kind_of, may_pass
from .refusal import back_off as _back_off

T = TypeVar("T")
LARGEST = 10_000_000  # bytes of an answer, unpacked
SECRET = 8  # characters from which on a key is one that a text would not hold by chance
_PASSING = frozenset({"unreachable", "timeout", "rate_limited", "server", "broken"})

for _name in ("httpx", "httpcore"):  # they log what servers say, with a key in it that one of them may echo
    logging.getLogger(_name).setLevel(logging.WARNING)


@dataclass(frozen=True)
class Limits:
    """Seconds: to connect; between two pieces of an answer; of one call with all its tries. attempts: tries
    of one call."""

    connect: float = 10.0
    idle: float = 120.0
    total: float = 600.0
    attempts: int = 5


NORMAL = Limits()


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
    """A server of one model. The key is a header of each request and stands nowhere else.

    Raises MissingError where the environment names a proxy or certificates that cannot be used.
    """

    address: Address
    headers: dict[str, str] = field(repr=False)
    key: str = field(repr=False)
    limits: Limits = NORMAL
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        try:
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(self.limits.idle, connect=self.limits.connect),
                follow_redirects=False,  # a key is for one host
                headers={"accept-encoding": "identity"},  # packing holds back the pieces of a stream
                # A proxy that the environment names is used, since many networks have no other way out; but
                # none can reach a server of this machine.
                trust_env=not self.address.is_local,
            )
        except (ImportError, OSError, ValueError, httpx.InvalidURL):
            raise MissingError(
                "the proxy or the certificates that the environment names cannot be used; see HTTPS_PROXY, "
                "ALL_PROXY (of kind http or https), SSL_CERT_FILE and SSL_CERT_DIR"
            ) from None

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

        mend: given the words of a refusal, whether the next body leaves out what was refused; it says so a
        limited number of times.
        """
        now = asyncio.get_running_loop().time
        deadline = now() + self.limits.total
        attempt = 0
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._once(path, body(), read, mend)
            except _Again:
                continue
            except TimeoutError:
                raise self.error("timeout", f"gave no answer within {self.limits.total:g} s") from None
            except _Passing as passing:
                attempt += 1
                wait = passing.wait if passing.wait is not None else _back_off(attempt)
                if attempt >= self.limits.attempts or now() + wait > deadline:
                    raise passing.error from None
                await self.sleep(wait)

    async def _once(
        self, path: str, body: Any, read: Callable[[Answer], Awaitable[T]], mend: Callable[[str], bool]
    ) -> T:
        try:
            async with self._client.stream(
                "POST",
                f"{self.address.url}/{path}",
                content=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
                headers={"content-type": "application/json", **self.headers},
            ) as response:
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                answer = Answer(response.status_code, kind, self._bounded(response))
                if answer.status != 200:
                    await self._refused(answer, response.headers.get("retry-after", ""), mend)
                return await read(answer)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise _Passing(self.error("unreachable", f"cannot be reached ({self._words(error)})")) from None
        except httpx.TimeoutException:
            raise _Passing(self.error("timeout", f"sent nothing for {self.limits.idle:g} s")) from None
        except httpx.DecodingError:
            raise self.error("broken", "sent a packed answer that cannot be unpacked") from None
        except httpx.InvalidURL:
            raise self.error("unreachable", "cannot be reached: there can be no such host") from None
        except (httpx.TransportError, httpx.StreamError) as error:
            what = f"closed the connection, or does not speak HTTP ({self._words(error)})"
            raise _Passing(self.error("broken", what)) from None
        except ChatError as error:
            if error.kind in _PASSING:
                raise _Passing(error) from None
            raise

    async def _bounded(self, response: httpx.Response) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > LARGEST:
                raise self.error("too_large", f"sent more than {LARGEST // 1_000_000} MB")
            yield chunk

    async def _refused(self, answer: Answer, retry_after: str, mend: Callable[[str], bool]) -> None:
        """Raises what a status other than 200 means."""
        said = self.hide(await answer.text())
        if answer.status in (400, 422) and mend(said):
            raise _Again
        kind = kind_of(answer.status, said)
        words = excerpt(own_words(said))
        if 300 <= answer.status < 400:
            words = "it sends requests elsewhere; give the URL where it does not"
        error = self.error(kind, f"answered {answer.status}{': ' if words else ''}{words}")
        if may_pass(answer.status, kind):
            raise _Passing(error, asked_wait(retry_after))
        raise error

    def error(self, kind: ErrorKind, what: str) -> ChatError:
        """An error of this server, as a sentence."""
        return ChatError(kind, f"{self.address} {what}")

    def hide(self, said: str) -> str:
        """A text of the server's without the key, which it may echo."""
        return said.replace(self.key, "[…]") if len(self.key) >= SECRET else said

    def _words(self, error: Exception) -> str:
        name = type(error).__name__
        return name if isinstance(error, httpx.LocalProtocolError) else excerpt(str(error), self.key) or name


class _Again(Exception):
    """The same question is to be asked in another form, at once."""


class _Passing(Exception):
    """A fault that may pass. wait: seconds that the server asked for."""

    def __init__(self, error: ChatError, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait
