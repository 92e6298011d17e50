"""What the clients of both protocols share: asking, leaving out what a server refuses, and reading."""

import json
from abc import ABC, abstractmethod
from collections.abc import Container
from dataclasses import replace
from typing import Any, ClassVar

from .address import Address
from .base import Message, Question, Reply, Text
from .errors import excerpt
from .heard import Heard
from .http import Answer, Connection
from .optional import Fields, refused
from .reading import as_dict, as_text, in_words
from .stream import events


class Client(ABC):
    """A chat with one model. Answers are streamed: a long one then trips no time limit on the way, and a
    model that goes on after the object that was asked for is cut short."""

    path: ClassVar[str]
    optional: ClassVar[Fields]
    structure: ClassVar[str]  # the optional field that asks for a schema

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._unknown: frozenset[str] = frozenset()

    @property
    def address(self) -> Address:
        return self._connection.address

    async def close(self) -> None:
        await self._connection.close()

    async def ask(self, question: Question) -> Reply:
        """Raises ChatError. Tokens that the server has not counted when reading ends are estimated.

        A field that the server refuses by name is left out, and remembered once that has helped. Calls may
        run side by side.
        """
        left_out = set(self._unknown)

        def body() -> dict[str, Any]:
            asked = question
            if question.schema is not None and self.structure in left_out:
                asked = _in_words(question, question.schema)
            return self.body(asked, left_out)

        def mend(said: str) -> bool:
            name = refused(said, self.optional, left_out)
            left_out.update([name] if name else [])
            return name is not None

        reply = await self._connection.ask(self.path, body, lambda answer: self._read(answer, question), mend)
        self._unknown |= left_out
        return reply

    @abstractmethod
    def body(self, question: Question, left_out: Container[str]) -> dict[str, Any]:
        """The request's body without these optional fields."""

    @abstractmethod
    def heard(self, question: Question) -> Heard:
        """For an answer to this question."""

    async def _read(self, answer: Answer, question: Question) -> Reply:
        heard = self.heard(question)
        if answer.type == "text/event-stream":
            async for data in events(answer.chunks):
                if data == "[DONE]" or heard.take(self._object(data)):
                    break
            else:
                if not heard.ended:
                    raise self._connection.error("broken", "broke off its answer in the middle")
        elif answer.type == "application/json":
            heard.take(self._object(await answer.text()))
        else:
            kind = answer.type[:60] or "no content type"
            what = f"answered with {kind} instead of JSON; is it a model's server?"
            raise self._connection.error("content_type", self._connection.hide(what))
        reply = heard.reply(self.address.model)
        if reply is None:
            why = ": the tokens were used up by thinking" if heard.finish.get(heard.stop) == "length" else ""
            raise self._connection.error("empty", f"gave an empty answer{why}")
        return replace(
            reply, text=self._connection.hide(reply.text), model=self._connection.hide(reply.model)
        )

    def _object(self, data: str) -> dict[str, Any]:
        """Raises ChatError for anything but a JSON object, and for one that tells of a fault."""
        try:
            said = json.loads(data)
        except (ValueError, RecursionError):
            raise self._connection.error("broken", "sent JSON that cannot be read") from None
        if not isinstance(said, dict):
            raise self._connection.error("broken", "sent JSON that is no object")
        if error := said.get("error"):
            words = as_text(as_dict(error).get("message")) or as_text(error) or "no reason was given"
            raise self._connection.error("server", f"broke off: {excerpt(words, self._connection.key)}")
        return said


def _in_words(question: Question, schema: dict[str, Any]) -> Question:
    """The question with its schema behind what was said last: on many servers the roles must take turns."""
    *before, last = question.messages
    asked = Message(last.role, (*last.content, Text(in_words(schema))))
    return replace(question, messages=(*before, asked))
