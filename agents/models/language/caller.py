"""Asking a language model on behalf of a role: each call is an event, and no single one ends a run."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import structlog

from ....ledger import events as ev
from ....ledger.blobs import Blobs
from ....ledger.bus import Bus
from ...errors import AgentError, MissingError
from ..chat.base import Chat, Message, Question, Reply, Text
from .answers import NotUnderstood
from .calling import FREE, Call, Price, call

log = structlog.get_logger()
T = TypeVar("T")
ABREAST = 8  # calls of one role at the same time
REPAIRS = 2  # how often an answer that does not fit goes back with what is wrong with it
IN_A_ROW = 5  # calls that fail one after the other before the run stops: the model is gone
QUOTED = 20_000  # characters of an answer that go back to be mended


class NoAnswer(AgentError):
    """A question that stays without a usable answer; the run goes on."""


class ModelGone(MissingError):
    """A model that fails every call; the run stops, to be resumed."""


class Caller:
    """Asks one model for one role; calls run side by side. `unsaid`: calls from before the bus was there."""

    def __init__(
        self,
        chat: Chat,
        bus: Bus,
        role: ev.Actor,
        blobs: Blobs | None = None,
        price: Price = FREE,
        unsaid: tuple[ev.ModelCalled, ...] = (),
    ) -> None:
        self.model = str(chat.address)
        self.blobs = blobs
        self._chat, self._bus, self._role, self._price = chat, bus, role, price
        self._room = asyncio.Semaphore(ABREAST)
        self._failed = 0
        self._unsaid = unsaid

    async def ask(
        self, question: Question, read: Callable[[str], T], *, purpose: str, subject: str, cause: str = ""
    ) -> T:
        """The answer as `read` understands it; one that it does not understand goes back with the reason.

        Raises NoAnswer where there is none in the end, and ModelGone where call after call fails.
        """
        for left in range(REPAIRS, -1, -1):
            reply = await self._call(question, purpose, subject, cause)
            if reply.finish == "refused":
                raise NoAnswer(f"{self.model} refused to answer")
            try:
                return read(reply.text)
            except NotUnderstood as error:
                cut_off = "The answer was cut off; make it shorter."
                what = cut_off if reply.finish == "length" else str(error)
                if not left:
                    raise NoAnswer(f"{self.model} gave no usable answer: {what}") from None
                question = _again(question, reply.text, what)
        raise AssertionError("the last turn returns or raises")

    async def _call(self, question: Question, purpose: str, subject: str, cause: str) -> Reply:
        async with self._room:
            done = await call(self._chat, question)
            await self._say(done, purpose, subject, cause)
            if done.reply is not None:
                self._failed = 0
                return done.reply
            self._failed += 1
            if self._failed >= IN_A_ROW:
                raise ModelGone(f"{self._failed} calls in a row failed, the last one so: {done.error}")
            raise NoAnswer(str(done.error))

    async def _say(self, done: Call, purpose: str, subject: str, cause: str) -> None:
        """Put the call on record; prompt, answer and pictures are blobs where there is a place for them."""
        blobs = self.blobs
        names: tuple[str, ...] = ()
        if blobs is not None:
            kept = [data for data in done.blobs() if data]
            names = await asyncio.to_thread(lambda: tuple(dict.fromkeys(map(blobs.put, kept))))
        if done.error is not None:
            log.warning("model call failed", role=self._role, kind=done.error.kind, error=str(done.error))
        said = [self._event(one, "probe", "", ()) for one in self._unsaid]
        self._unsaid = ()
        told = done.told(self._role, self.model, self._price, purpose)
        await self._bus.publish(*said, self._event(told, subject, cause, names))

    def _event(self, told: ev.ModelCalled, subject: str, cause: str, blobs: tuple[str, ...]) -> ev.Event:
        return ev.make(
            self._bus.run, "model.called", self._role, told, subject=subject, cause=cause, blobs=blobs
        )


def _again(question: Question, said: str, what: str) -> Question:
    """The question with the answer that did not fit, and why."""
    more = (
        Message("assistant", (Text(said[:QUOTED] or "(nothing)"),)),
        Message("user", (Text(f"{what} Answer again, in the form that was asked for."),)),
    )
    return replace(question, messages=(*question.messages, *more))
