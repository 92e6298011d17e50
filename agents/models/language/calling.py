"""One call to a language model, as it goes on record."""

import json
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ....ledger import events as ev
from ..chat.base import Chat, Picture, Question, Reply, Text
from ..chat.errors import ChatError

MILLION = 1e6


@dataclass(frozen=True)
class Price:
    """Of a million tokens."""

    input: float = 0.0
    output: float = 0.0

    def of(self, reply: Reply) -> float:
        return (reply.input_tokens * self.input + reply.output_tokens * self.output) / MILLION


FREE = Price()


@dataclass(frozen=True)
class Call:
    """A question and what came of it: exactly one of `reply` and `error` is there."""

    question: Question
    prompt: bytes
    reply: Reply | None
    error: ChatError | None
    seconds: float

    @property
    def answer(self) -> bytes:
        """The answer as the bytes of its blob, empty without one."""
        if self.reply is None:
            return b""
        plain = {"text": self.reply.text, "model": self.reply.model, "finish": self.reply.finish}
        return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")

    def blobs(self) -> list[bytes]:
        """All that is worth keeping: prompt, answer, pictures."""
        parts = [part for message in self.question.messages for part in message.content]
        return [self.prompt, self.answer, *(p.data for p in parts if isinstance(p, Picture))]

    def told(self, role: str, model: str, price: Price, purpose: str) -> ev.ModelCalled:
        """What the ledger says of it."""
        reply, error = self.reply, self.error
        return ev.ModelCalled(
            role=role,
            model=model,
            purpose=purpose,
            input_tokens=reply.input_tokens if reply else 0,
            output_tokens=reply.output_tokens if reply else 0,
            cached_tokens=reply.cached_tokens if reply else 0,
            seconds=round(self.seconds, 3),
            cost=round(price.of(reply), 8) if reply else 0.0,
            prompt=sha256(self.prompt).hexdigest(),
            response=sha256(self.answer).hexdigest() if reply else "",
            error=str(error or ""),
            error_kind=error.kind if error else "",
        )


async def call(chat: Chat, question: Question) -> Call:
    """Ask once; what the model's side does wrong is a part of the result."""
    prompt, began = packed(question), time.monotonic()
    try:
        return Call(question, prompt, await chat.ask(question), None, time.monotonic() - began)
    except ChatError as error:
        return Call(question, prompt, None, error, time.monotonic() - began)


def packed(question: Question) -> bytes:
    """A question as the bytes of its blob: equal questions have equal names. Pictures stand as the names of
    theirs."""
    plain: dict[str, Any] = {
        "system": list(question.system),
        "messages": [{"role": m.role, "content": [_part(p) for p in m.content]} for m in question.messages],
        "schema": question.schema,
        "name": question.name,
        "effort": question.effort,
        "max_tokens": question.max_tokens,
    }
    return json.dumps(plain, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")


def _part(part: Text | Picture) -> dict[str, str]:
    if isinstance(part, Text):
        return {"text": part.text}
    return {"picture": sha256(part.data).hexdigest(), "type": part.type}
