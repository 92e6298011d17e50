"""The driver's end of the pipe: every call has a deadline, and a process that misses it is killed."""

import itertools
import multiprocessing as mp
import time
from typing import Any

from ..errors import RobotError
from .messages import OK, Sample
from .worker import serve

_END = 2.0  # s to end in good order


class LinkLost(RobotError):
    """The process that holds the connection died or did not answer; it has been killed."""


class Refused(RobotError):
    """The library raised, or the controller did not do what was asked; the text is the library's."""


class Link:
    """A process of its own, started with spawn so that it shares nothing."""

    def __init__(self, answer: float) -> None:
        context = mp.get_context("spawn")
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=serve, args=(far,), daemon=True)
        self._process.start()
        far.close()
        self._answer, self._numbers = answer, itertools.count(1)
        self.alive = True

    def ask(self, name: str, *arguments: Any, deadline: float | None = None) -> Any:
        """What the process answers. deadline: s. Raises LinkLost, or Refused with the library's words."""
        number = next(self._numbers)
        until = time.monotonic() + (deadline or self._answer)
        try:
            self._pipe.send((number, name, arguments))
            while self._pipe.poll(max(0.0, until - time.monotonic())):
                answered, status, value = self._pipe.recv()
                if answered != number:
                    continue  # to a call that was broken off
                if status != OK:
                    raise Refused(status)
                return value
            lost = f"did not answer {name} in time"
        except RobotError:
            raise
        except Exception as error:  # closed, or bytes of a reply that was broken off
            lost = f"is gone ({type(error).__name__})"
        self.kill()
        raise LinkLost(f"The process that holds the arm's connection {lost}.")

    def sample(self) -> Sample:
        """The newest reading."""
        reading: Sample = self.ask("sample")
        return reading

    def close(self) -> None:
        """Ends the controller's program, then the process."""
        if self.alive:
            self._pipe.close()  # the process stops the arm and leaves
            self._process.join(_END)
            self.kill()

    def kill(self) -> None:
        """At once; the controller's watchdog stops the arm."""
        self.alive = False
        self._process.kill()
        self._process.join(_END)
        self._pipe.close()
