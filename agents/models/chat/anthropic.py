"""Anthropic's Messages.

Structure is asked for by `output_config.format`, not by a forced tool: it goes together with thinking, whose
extent `output_config.effort` sets. `cache_control` ends a kept prefix after each block of the system prompt
and after the last message, so that an episode's next turn pays for what is new. What a model does not know
is left out once it was refused.
"""

import base64
from typing import Any

from .address import Address
from .base import Message, Picture, Question, Reply, Text
from .complete import Whole
from .http import Answer, Connection
from .optional import Optional
from .reading import CHARACTERS_A_TOKEN, as_dict, as_text, count, fault, in_words, json_object
from .stream import events

VERSION = "2023-06-01"
BREAKS = 4  # places where a kept prefix may end, at most
FIELDS = (
    ("effort", ("output_config",)),
    ("cache_control", ("caching",)),
    ("format", ("output_config", "json_schema", "structured output")),
)


class Anthropic:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known = Optional(FIELDS)

    @property
    def address(self) -> Address:
        return self._connection.address

    async def close(self) -> None:
        await self._connection.close()

    async def ask(self, question: Question) -> Reply:
        """Raises ChatError. Where reading a stream ends before the server has counted, tokens are estimated
        from the length of the text."""
        return await self._connection.ask(
            "messages",
            lambda: self._body(question),
            lambda answer: self._read(answer, question),
            self._known.refuse,
        )

    def _body(self, question: Question) -> dict[str, Any]:
        system = [{"type": "text", "text": text} for text in question.system if text]
        messages = [_message(message) for message in question.messages]
        body: dict[str, Any] = {
            "model": self.address.model,
            "max_tokens": question.max_tokens,
            "stream": True,
            "messages": messages,
        }
        if system:
            body["system"] = system
        output: dict[str, Any] = {}
        if question.effort != "none" and "effort" in self._known:
            output["effort"] = question.effort
        if question.schema is not None and "format" in self._known:
            output["format"] = {"type": "json_schema", "schema": question.schema}
        elif question.schema is not None:
            messages[-1]["content"].append({"type": "text", "text": in_words(question.schema)})
        if output:
            body["output_config"] = output
        if "cache_control" in self._known:
            for block in [*system[: BREAKS - 1], messages[-1]["content"][-1]]:
                block["cache_control"] = {"type": "ephemeral"}
        return body

    async def _read(self, answer: Answer, question: Question) -> Reply:
        heard = _Heard(question, self._connection)
        if answer.type == "text/event-stream":
            async for data in events(answer.chunks):
                if heard.take(json_object(data, self._connection)):
                    break
            else:
                raise self._connection.error("broken", "broke off its answer in the middle")
        elif answer.type == "application/json":
            heard.whole(json_object(await answer.text(), self._connection))
        else:
            what = (
                f"answered with {answer.type or 'no content type'} instead of JSON; is it a model's server?"
            )
            raise self._connection.error("content_type", what)
        return heard.reply()


class _Heard:
    """What an answer amounts to, event by event."""

    def __init__(self, question: Question, connection: Connection) -> None:
        self._connection = connection
        self._whole = Whole() if question.schema is not None else None
        self._text: list[str] = []
        self._usage: dict[str, Any] = {}
        self._model = self._stop = ""

    def take(self, said: dict[str, Any]) -> bool:
        """Takes in one event; whether the answer has ended, or the model adds to what was asked for."""
        match said.get("type"):
            case "error":
                raise self._connection.error("server", f"broke off: {fault(said, self._connection)}")
            case "message_start":
                message = as_dict(said.get("message"))
                self._model = as_text(message.get("model"))
                self._usage |= as_dict(message.get("usage"))
            case "content_block_start":
                return self._add(as_text(as_dict(said.get("content_block")).get("text")))
            case "content_block_delta":
                return self._add(as_text(as_dict(said.get("delta")).get("text")))
            case "message_delta":
                self._stop = as_text(as_dict(said.get("delta")).get("stop_reason")) or self._stop
                self._usage |= as_dict(said.get("usage"))
            case "message_stop":
                return True
        return False

    def whole(self, said: dict[str, Any]) -> None:
        """Takes in an answer that was not streamed."""
        if said.get("type") == "error":
            raise self._connection.error("server", f"broke off: {fault(said, self._connection)}")
        content = said.get("content")
        for block in content if isinstance(content, list) else []:
            self._text.append(as_text(as_dict(block).get("text")))
        self._model, self._stop = as_text(said.get("model")), as_text(said.get("stop_reason"))
        self._usage = as_dict(said.get("usage"))

    def _add(self, piece: str) -> bool:
        over = self._whole is not None and self._whole.done and bool(piece.strip())
        self._text.append(self._whole.take(piece) if self._whole else piece)
        return over

    def reply(self) -> Reply:
        text = "".join(self._text)
        if self._stop != "refusal" and not text.strip():
            raise self._connection.error("empty", "gave an empty answer")
        cached = count(self._usage.get("cache_read_input_tokens"))
        fresh = count(self._usage.get("input_tokens")) + count(self._usage.get("cache_creation_input_tokens"))
        written = count(self._usage.get("output_tokens"))
        return Reply(
            text=text,
            model=self._model or self._connection.address.model,
            input_tokens=fresh + cached,
            output_tokens=max(written, len(text) // CHARACTERS_A_TOKEN) if not self._stop else written,
            cached_tokens=cached,
            finish=(
                "refused"
                if self._stop == "refusal"
                else "length"
                if self._stop in ("max_tokens", "model_context_window_exceeded")
                else "end"
            ),
        )


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [_part(part) for part in message.content]}


def _part(part: Text | Picture) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": part.type, "data": data}}
