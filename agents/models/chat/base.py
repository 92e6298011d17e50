"""A question to a language model and its answer, whatever protocol carries them."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .address import Address

Effort = Literal["none", "low", "medium", "high"]


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Picture:
    """An encoded PNG or JPEG."""

    data: bytes
    type: str = "image/png"


@dataclass(frozen=True)
class Message:
    role: Literal["user", "assistant"]
    content: tuple[Text | Picture, ...]


@dataclass(frozen=True)
class Question:
    """system: blocks from most to least lasting; a cache may end after each. schema: JSON schema that the
    answer must fit, named `name`."""

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None
    name: str = "answer"
    effort: Effort = "medium"
    max_tokens: int = 16_000


@dataclass(frozen=True)
class Reply:
    """cached_tokens are a part of input_tokens."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    finish: Literal["end", "length", "refused"]


class Chat(Protocol):
    @property
    def address(self) -> Address: ...

    async def ask(self, question: Question) -> Reply:
        """Raises ChatError."""
        ...

    async def close(self) -> None: ...
