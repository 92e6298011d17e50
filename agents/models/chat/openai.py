"""Chat completions as OpenAI defined them, and as vLLM, llama.cpp, Ollama, OpenRouter and others speak them.

Structure is asked for by `response_format` with a strict JSON schema, and in words where a server does not
know that; thinking by `reasoning_effort`. These servers keep prefixes of prompts by themselves, so nothing
marks them; the blocks of the system prompt only stand in the right order.
"""

import base64
from collections.abc import Container
from typing import Any, ClassVar, Literal

from .base import Message, Picture, Question, Text
from .client import Client
from .heard import Heard
from .optional import Fields
from .reading import as_dict, as_text, count, first


class OpenAI(Client):
    path = "chat/completions"
    structure = "response_format"
    optional: ClassVar[Fields] = (
        ("reasoning_effort", ("reasoning_effort", "reasoning effort")),
        ("stream_options", ("stream_options", "include_usage")),
        ("max_completion_tokens", ("max_completion_tokens", "max_tokens")),
        ("response_format", ("response_format", "json_schema", "structured output", "grammar")),
    )

    def body(self, question: Question, left_out: Container[str]) -> dict[str, Any]:
        system = "\n\n".join(question.system)
        messages = [_message(message) for message in question.messages]
        limit = "max_tokens" if "max_completion_tokens" in left_out else "max_completion_tokens"
        body: dict[str, Any] = {
            "model": self.address.model,
            "messages": [{"role": "system", "content": system}, *messages] if system else messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "reasoning_effort": question.effort,
            limit: question.max_tokens,
        }
        if question.schema is not None:
            form = {"name": question.name, "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return {name: value for name, value in body.items() if name not in left_out}

    def heard(self, question: Question) -> Heard:
        return _Heard(question)


class _Heard(Heard):
    finish: ClassVar[dict[str, Literal["length", "refused"]]] = {
        "length": "length",
        "content_filter": "refused",
    }

    def take(self, said: dict[str, Any]) -> bool:
        self.model = as_text(said.get("model")) or self.model
        self.usage = as_dict(said.get("usage")) or self.usage
        choice = first(said.get("choices"))
        part = as_dict(choice.get("delta") or choice.get("message"))
        self.thought += len(as_text(part.get("reasoning_content") or part.get("reasoning")))
        self.refusal += as_text(part.get("refusal"))
        self.stop = as_text(choice.get("finish_reason")) or self.stop
        return self.add(as_text(part.get("content")))

    def tokens(self) -> tuple[int, int, int]:
        kept = as_dict(self.usage.get("prompt_tokens_details")).get("cached_tokens")
        return count(self.usage.get("prompt_tokens")), count(self.usage.get("completion_tokens")), count(kept)


def _message(message: Message) -> dict[str, Any]:
    texts = [part.text for part in message.content if isinstance(part, Text)]
    if len(texts) == len(message.content):  # not every server takes a list of texts
        return {"role": message.role, "content": "\n\n".join(texts)}
    return {"role": message.role, "content": [_part(part) for part in message.content]}


def _part(part: Text | Picture) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    url = f"data:{part.type};base64,{base64.b64encode(part.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
