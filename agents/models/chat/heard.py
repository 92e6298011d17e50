"""What an answer amounts to, piece by piece, whatever protocol it comes by."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from .base import Picture, Question, Reply
from .complete import Whole
from .reading import whole

CHARACTERS_A_TOKEN = 4  # where a server does not say how many tokens there were
PICTURE_TOKENS = 1_000  # the same for one picture
BLANKS = 200  # characters of nothing after an answer, from which on there will be nothing else


class Heard(ABC):
    """Filled by `take`. stop: why the model ended, in the protocol's words; empty while it has not."""

    finish: ClassVar[dict[str, Literal["length", "refused"]]]  # by `stop`; anything else is a normal end

    def __init__(self, question: Question) -> None:
        self._question = question
        self._object = Whole() if question.schema is not None else None
        self._text: list[str] = []
        self._blank = 0
        self.thought = 0  # characters that the model thought aloud
        self.usage: dict[str, Any] = {}
        self.model = self.stop = self.refusal = ""

    @abstractmethod
    def take(self, said: dict[str, Any]) -> bool:
        """Takes in one object of a stream, or the only one; whether nothing more is to be listened to."""

    @abstractmethod
    def tokens(self) -> tuple[int, int, int]:
        """Those in, those out, and those of the first that were kept from before; 0 for what was not told."""

    @property
    def ended(self) -> bool:
        """Whether this much is an answer: the model ended it, or the object that was asked for is whole."""
        return bool(self.stop) or (self._object is not None and self._object.done)

    def add(self, piece: str) -> bool:
        """Takes in text; whether the model goes on after the object that was asked for. What follows it at
        the end of a stream is still waited for, since the counts of tokens are there."""
        done = self._object is not None and self._object.done
        self._blank += len(piece) if done else 0
        self._text.append(self._object.take(piece) if self._object else piece)
        return done and (bool(piece.strip()) or self._blank > BLANKS)

    def reply(self, address: str) -> Reply | None:
        """The answer, None for an empty one. Tokens that were not told are estimated from the lengths."""
        text = whole("".join(self._text))
        finish: Literal["end", "length", "refused"] = self.finish.get(self.stop, "end")
        if self.refusal:
            text, finish = whole(self.refusal), "refused"
        elif finish != "refused" and not text.strip():
            return None
        given, written, kept = self.tokens()
        least = -(-(len(text) + self.thought) // CHARACTERS_A_TOKEN)
        return Reply(
            text=text,
            model=whole(self.model)[:200] or address,
            input_tokens=given or self._asked(),
            output_tokens=written if written and self.stop else max(written, least),
            cached_tokens=min(kept, given),
            finish=finish,
        )

    def _asked(self) -> int:
        question = self._question
        parts = [part for message in question.messages for part in message.content]
        texts = [*question.system, *(part.text for part in parts if not isinstance(part, Picture))]
        pictures = sum(isinstance(part, Picture) for part in parts)
        return sum(map(len, texts)) // CHARACTERS_A_TOKEN + pictures * PICTURE_TOKENS
