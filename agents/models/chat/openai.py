"""Chat completions as OpenAI defined them, and as vLLM, llama.cpp, Ollama, OpenRouter and others speak them.

Answers are streamed: a long one then trips no time limit on the way, and a model that goes on after the
object that was asked for is cut short. Servers differ in what they know: a field that one refuses by name is
left out from then on, the schema last of all, since words alone ask for JSON then.
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

FIELDS = (
    ("reasoning_effort", ("reasoning effort",)),
    ("stream_options", ("include_usage",)),
    ("max_completion_tokens", ("max_tokens",)),
    ("response_format", ("json_schema", "structured output", "grammar")),
)


class OpenAI:
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
        from the length of the texts."""
        return await self._connection.ask(
            "chat/completions",
            lambda: self._body(question),
            lambda answer: self._read(answer, question),
            self._known.refuse,
        )

    def _body(self, question: Question) -> dict[str, Any]:
        system = "\n\n".join(question.system)
        body: dict[str, Any] = {
            "model": self.address.model,
            "messages": [
                *([{"role": "system", "content": system}] if system else []),
                *map(_message, question.messages),
            ],
            "stream": True,
        }
        if "max_completion_tokens" in self._known:
            body["max_completion_tokens"] = question.max_tokens
        else:
            body["max_tokens"] = question.max_tokens
        if "stream_options" in self._known:
            body["stream_options"] = {"include_usage": True}
        if "reasoning_effort" in self._known:
            body["reasoning_effort"] = question.effort
        if question.schema is not None and "response_format" in self._known:
            form = {"name": question.name, "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif question.schema is not None:
            body["messages"].append({"role": "user", "content": in_words(question.schema)})
        return body

    async def _read(self, answer: Answer, question: Question) -> Reply:
        heard = _Heard(question, self._connection)
        if answer.type == "text/event-stream":
            async for data in events(answer.chunks):
                if data == "[DONE]" or heard.take(json_object(data, self._connection)):
                    break
            else:
                heard.check_end()
        elif answer.type == "application/json":
            heard.take(json_object(await answer.text(), self._connection))
        else:
            what = (
                f"answered with {answer.type or 'no content type'} instead of JSON; is it a model's server?"
            )
            raise self._connection.error("content_type", what)
        return heard.reply()


class _Heard:
    """What an answer amounts to, piece by piece."""

    def __init__(self, question: Question, connection: Connection) -> None:
        self._question, self._connection = question, connection
        self._whole = Whole() if question.schema is not None else None
        self._text: list[str] = []
        self._usage: dict[str, Any] = {}
        self._model, self._finish, self._refusal = "", "", ""

    def take(self, said: dict[str, Any]) -> bool:
        """Takes in one object; whether the model has begun to add to what was asked for."""
        if said.get("error"):
            raise self._connection.error("server", f"broke off: {fault(said, self._connection)}")
        self._model = as_text(said.get("model")) or self._model
        usage = said.get("usage")
        self._usage = usage if isinstance(usage, dict) else self._usage
        choices = said.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return False
        part = as_dict(choices[0].get("message") or choices[0].get("delta"))
        piece = as_text(part.get("content"))
        over = self._whole is not None and self._whole.done and bool(piece.strip())
        self._text.append(self._whole.take(piece) if self._whole else piece)
        self._refusal += as_text(part.get("refusal"))
        self._finish = as_text(choices[0].get("finish_reason")) or self._finish
        return over

    def check_end(self) -> None:
        """For a stream that ended by itself. Raises ChatError where it had not come to an end."""
        if not self._finish:
            raise self._connection.error("broken", "broke off its answer in the middle")

    def reply(self) -> Reply:
        text = "".join(self._text)
        if self._refusal or self._finish == "content_filter":
            text, finish = self._refusal or text, "refused"
        elif not text.strip():
            raise self._connection.error("empty", "gave an empty answer")
        else:
            finish = "length" if self._finish == "length" else "end"
        details = as_dict(self._usage.get("prompt_tokens_details"))
        texts = [p.text for m in self._question.messages for p in m.content if isinstance(p, Text)]
        asked = sum(map(len, (*self._question.system, *texts)))
        return Reply(
            text=text,
            model=self._model or self._connection.address.model,
            input_tokens=count(self._usage.get("prompt_tokens"), asked // CHARACTERS_A_TOKEN),
            output_tokens=count(self._usage.get("completion_tokens"), len(text) // CHARACTERS_A_TOKEN),
            cached_tokens=count(details.get("cached_tokens")),
            finish=finish,  # type: ignore[arg-type]
        )


def _message(message: Message) -> dict[str, Any]:
    if all(isinstance(part, Text) for part in message.content):  # not every server takes a list of texts
        text = "\n\n".join(part.text for part in message.content if isinstance(part, Text))
        return {"role": message.role, "content": text}
    return {"role": message.role, "content": [_part(part) for part in message.content]}


def _part(part: Text | Picture) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    url = f"data:{part.type};base64,{base64.b64encode(part.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
