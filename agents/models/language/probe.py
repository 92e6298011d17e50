"""One small question to a model before a run begins: does it answer, and does it see?"""

import cv2
import numpy as np

from ...errors import MissingError
from ..chat.base import Chat, Message, Picture, Question, Text
from ..chat.errors import ChatError
from .answers import COLOURS, NotUnderstood, read_colours
from .calling import Call, call

SIDE = 64  # pixels
ANSWER_TOKENS = 4_000  # room for models that think before they answer
LEFT, RIGHT = "red", "blue"


async def probe(chat: Chat, sees: bool) -> Call:
    """Ask what a picture shows, where the model has to see, else for a word.

    Raises MissingError with one sentence: no answer, a refused key, no vision, or not the form asked for.
    """
    done = await call(chat, _question(sees))
    if done.error is not None:
        raise _missing(chat, done.error)
    assert done.reply is not None
    try:
        said = read_colours(done.reply.text)
    except NotUnderstood as error:
        raise MissingError(
            f"{chat.address} does not answer in JSON of a given form, which every role needs ({error}); "
            "choose another model"
        ) from None
    if sees and (said.left.casefold(), said.right.casefold()) != (LEFT, RIGHT):
        raise MissingError(
            f"{chat.address} does not see: of a picture that is {LEFT} on the left and {RIGHT} on the right "
            f"it says {said.left!r} and {said.right!r}; choose a model with vision for the proposer"
        )
    return done


def _question(sees: bool) -> Question:
    text = (
        "Answer with the colour of the left and of the right half of the picture, each in one English word."
    )
    words = f"Answer with {LEFT} for left and {RIGHT} for right."
    content = (Text(text), Picture(_picture(), "image/png")) if sees else (Text(words),)
    return Question(
        system=("You check that pictures and answers arrive.",),
        messages=(Message("user", content),),
        schema=COLOURS,
        name="colours",
        effort="low",
        max_tokens=ANSWER_TOKENS,
    )


def _picture() -> bytes:
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    picture[:, : SIDE // 2] = (0, 0, 255)
    picture[:, SIDE // 2 :] = (255, 0, 0)
    done, data = cv2.imencode(".png", picture)
    assert done
    return data.tobytes()


def _missing(chat: Chat, error: ChatError) -> MissingError:
    match error.kind:
        case "refused_key":
            what = "give a key that is valid"
        case "no_vision":
            what = "choose a model with vision for the proposer"
        case _:
            what = "start the server, or choose another model"
    return MissingError(f"{error}; {what}")
