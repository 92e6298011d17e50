"""Anthropic's Messages.

Structure is asked for by `output_config.format`, not by a forced tool, which cannot go together with
thinking. Thinking is `adaptive`, its extent `output_config.effort`, since newer models refuse budgets of
tokens.
`cache_control` ends a kept prefix after each block of the system prompt and after the last message, so that
an episode's next turn pays for what is new. What a model does not know of these is left out once it was
refused.
"""

import base64
from collections.abc import Container
from typing import Any, ClassVar, Literal

from .base import Message, Picture, Question, Text
from .client import Client
from .heard import Heard
from .optional import Fields
from .reading import as_dict, as_text, count

VERSION = "2023-06-01"
BREAKS = 4  # places where a kept prefix may end, at most


class Anthropic(Client):
    path = "messages"
    structure = "format"
    optional: ClassVar[Fields] = (
        ("thinking", ("thinking", "adaptive")),
        ("cache_control", ("cache_control", "caching")),
        ("format", ("output_config.format", "json_schema", "structured output")),
        ("effort", ("effort", "output_config")),
        ("format", ("output_config",)),
    )

    def body(self, question: Question, left_out: Container[str]) -> dict[str, Any]:
        system = [{"type": "text", "text": text} for text in question.system if text.strip()]
        messages = [_message(message) for message in question.messages]
        output: dict[str, Any] = {"effort": question.effort} if question.effort != "none" else {}
        if question.schema is not None:
            output["format"] = {"type": "json_schema", "schema": question.schema}
        body: dict[str, Any] = {
            "model": self.address.model,
            "max_tokens": question.max_tokens,
            "stream": True,
            "messages": messages,
            "system": system,
            "output_config": {name: value for name, value in output.items() if name not in left_out},
        }
        if "thinking" not in left_out:
            body["thinking"] = {"type": "disabled" if question.effort == "none" else "adaptive"}
        if "cache_control" not in left_out:
            for block in [*system[: BREAKS - 1], messages[-1]["content"][-1]]:
                block["cache_control"] = {"type": "ephemeral"}
        return {name: value for name, value in body.items() if value not in ([], {})}

    def heard(self, question: Question) -> Heard:
        return _Heard(question)


class _Heard(Heard):
    finish: ClassVar[dict[str, Literal["length", "refused"]]] = {
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refused",
    }

    def take(self, said: dict[str, Any]) -> bool:
        match said.get("type"):
            case "message_start":
                self._begin(as_dict(said.get("message")))
            case "content_block_start":
                return self._block(as_dict(said.get("content_block")))
            case "content_block_delta":
                return self._block(as_dict(said.get("delta")))
            case "message_delta":
                self._end(as_dict(said.get("delta")), said)
            case "message_stop":
                return True
            case "message" | None:  # not streamed
                self._begin(said)
                self._end(said, said)
                for block in said["content"] if isinstance(said.get("content"), list) else []:
                    self._block(as_dict(block))
        return False

    def tokens(self) -> tuple[int, int, int]:
        kept = count(self.usage.get("cache_read_input_tokens"))
        new = count(self.usage.get("input_tokens")) + count(self.usage.get("cache_creation_input_tokens"))
        return new + kept, count(self.usage.get("output_tokens")), kept

    def _begin(self, message: dict[str, Any]) -> None:
        self.model = as_text(message.get("model"))
        self.usage = as_dict(message.get("usage"))

    def _end(self, delta: dict[str, Any], said: dict[str, Any]) -> None:
        self.stop = as_text(delta.get("stop_reason")) or self.stop
        told = as_dict(said.get("usage"))
        self.usage = self.usage | {name: value for name, value in told.items() if value is not None}

    def _block(self, block: dict[str, Any]) -> bool:
        self.thought += len(as_text(block.get("thinking")))
        return self.add(as_text(block.get("text")))


def _message(message: Message) -> dict[str, Any]:
    # Blank texts are refused by the server.
    parts = [part for part in message.content if not isinstance(part, Text) or part.text.strip()]
    return {"role": message.role, "content": [_part(part) for part in parts or [Text("(nothing)")]]}


def _part(part: Text | Picture) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": part.type, "data": data}}
