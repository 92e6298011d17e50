"""Recorded answers in the place of a language model: a run is driven again without any network.

Answers are found by the exact prompt, so they come back right in whatever order the questions are asked.
"""

from collections import deque
from hashlib import sha256
from pathlib import Path

import msgspec

from ....ledger import events as ev
from ....ledger.blobs import Blobs
from ....ledger.errors import LedgerError
from ....ledger.reader import Reader
from ...errors import AgentError
from ..chat.address import Address
from ..chat.base import Question, Reply
from ..chat.errors import ChatError
from .calling import packed


class NotRecorded(AgentError):
    """A question that the recorded run never asked."""


class _Answer(msgspec.Struct, frozen=True):
    text: str
    model: str
    finish: str


class Recorded:
    """A chat whose answers were given in an earlier run. Prompts that were asked several times get their
    answers in the order in which these came, and then the last one again."""

    def __init__(self, address: Address, calls: dict[str, deque[ev.ModelCalled]], blobs: Blobs) -> None:
        self.address = address
        self._calls, self._blobs = calls, blobs

    async def ask(self, question: Question) -> Reply:
        """Raises NotRecorded, and ChatError where the recorded call failed."""
        calls = self._calls.get(sha256(packed(question)).hexdigest())
        if not calls:
            raise NotRecorded(
                f"the recording of {self.address} has no answer to a question that is asked now; it holds "
                "for the same version, configuration and memory only"
            )
        called = calls.popleft() if len(calls) > 1 else calls[0]
        if called.error:
            raise ChatError(called.error_kind, called.error)  # type: ignore[arg-type]
        try:
            answer = msgspec.json.decode(self._blobs.get(called.response), type=_Answer)
        except (LedgerError, msgspec.MsgspecError) as error:
            raise NotRecorded(f"a recorded answer cannot be read: {error}") from None
        return Reply(
            answer.text, answer.model, called.input_tokens, called.output_tokens, called.cached_tokens,
            answer.finish,  # type: ignore[arg-type]
        )  # fmt: skip

    async def close(self) -> None:
        """There is nothing to close."""


def recorded_calls(ledger: Path) -> dict[str, dict[str, deque[ev.ModelCalled]]]:
    """All calls of a run by role, and by prompt."""
    found: dict[str, dict[str, deque[ev.ModelCalled]]] = {}
    with Reader(ledger) as reader:
        for committed in reader.events(types=("model.called",)):
            called: ev.ModelCalled = ev.payload(ev.decode(committed.raw))
            if called.purpose != "probe":
                found.setdefault(called.role, {}).setdefault(called.prompt, deque()).append(called)
    return found
