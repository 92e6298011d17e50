"""Type-checks a program against the contract and the earlier programs of its episode, without running
anything.

The interpreter's own check of one text after another declares each name with the type it had first, so that a
later `n = 6` after `n = 5` is refused. Here the texts are joined and checked as one.
"""

import re
import textwrap
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from pydantic_monty import (
    FunctionSnapshot,
    Monty,
    MontyCrashedError,
    MontyError,
    MontySession,
    MontySyntaxError,
    MontyTypingError,
)

from .api import STUB
from .trace import Rejection

_DIAGNOSTIC: Final = re.compile(r"^program:(\d+):\d+: error\[([a-z-]+)\] (.*)$", re.MULTILINE)
_MOST_SHOWN = 10
_SECONDS = 10.0  # of one check: many times what the longest takes on an idle core
_MEMORY = 128 * 1024 * 1024  # bytes
_TRIES = 2  # an interpreter that has checked thousands of programs may run out of memory on a small one
# The type checker takes `del`, the parser behind it does not: what passes the check is refused there, unrun.
_BARRIER: Final = "\n\n_checked = 0\ndel _checked\n"


@dataclass(frozen=True)
class Played:
    """An earlier program of the episode. whole: it ran to its end, so all that it defines exists."""

    source: str
    whole: bool

    def text(self) -> str:
        """Source for the joined check; after a program that broke off, what follows must still count as
        reached."""
        if self.whole:
            return self.source
        return "try:\n" + textwrap.indent(self.source, " ") + "\n pass\nexcept BaseException:\n pass"


class _Exhausted(Exception):
    """The interpreter was ended at a limit, and another one may do."""


class Checker:
    """One interpreter kept for type checks; safe to use from several threads."""

    def __init__(self, pool: Monty, memory: int = _MEMORY) -> None:
        self._pool, self._memory = pool, memory
        self._interpreter: MontySession | None = None
        self._lock = threading.Lock()

    def check(self, source: str, history: Iterable[Played] = ()) -> Rejection | None:
        """None for a program that may run after those in `history`."""
        before = "".join(f"{played.text()}\n" for played in history)
        offset = before.count("\n")
        with self._lock:
            for _ in range(_TRIES):
                try:
                    return self._verdict(before + source + _BARRIER, offset)
                except _Exhausted:
                    self.close()
            return Rejection("limits", "The program is too large, or nested too deeply, to be checked.")

    def close(self) -> None:
        interpreter, self._interpreter = self._interpreter, None
        if interpreter is not None:
            interpreter.__exit__(None, None, None)

    def _verdict(self, joined: str, offset: int) -> Rejection | None:
        end = joined.count("\n") - _BARRIER.count("\n")
        try:
            snapshot = self._opened().feed_start(joined)
            while isinstance(snapshot, FunctionSnapshot) and snapshot.function_name == "import_stubs":
                snapshot = snapshot.resume_not_handled()
        except MontyTypingError as error:
            return _diagnosed(str(error), offset)
        except MontySyntaxError as error:
            return Rejection("syntax", _refused(error, offset))
        except MontyCrashedError:
            raise _Exhausted from None
        except MontyError as error:
            if isinstance(error.exception(), MemoryError | TimeoutError):
                raise _Exhausted from None
            if isinstance(error.exception(), NotImplementedError) and _line(error) > end:
                return None
            return Rejection("syntax", _refused(error, offset))
        self.close()  # a parser that has learned `del`: the text was begun; it ends at its first operation
        return None

    def _opened(self) -> MontySession:
        if self._interpreter is None:
            session = self._pool.checkout(
                script_name="program",
                limits={"max_turn_duration_secs": _SECONDS, "max_memory": self._memory},
                type_check=True,
                type_check_stubs=STUB,
                type_check_format="concise",
            )
            session.__enter__()
            self._interpreter = session
        return self._interpreter


def _diagnosed(text: str, offset: int) -> Rejection | None:
    """The diagnostics that concern this program; None where there are none."""
    found = [(int(line) - offset, code, said) for line, code, said in _DIAGNOSTIC.findall(text)]
    mine = list(dict.fromkeys(f"line {line}: {said}" for line, _, said in found if line > 0))
    if not mine:
        return None
    bad_syntax = any(code == "invalid-syntax" for line, code, _ in found if line > 0)
    stage: Literal["syntax", "types"] = "syntax" if bad_syntax else "types"
    return Rejection(stage, "\n".join(mine[:_MOST_SHOWN]))


def _refused(error: MontyError, offset: int) -> str:
    said = str(error.exception()).replace(
        "The monty syntax parser does not yet support", "Programs do not have"
    )
    return f"line {max(_line(error) - offset, 1)}: {said}"


def _line(error: MontyError) -> int:
    traceback = getattr(error, "traceback", None)
    frames = traceback() if traceback is not None else []
    return int(frames[-1].line) if frames else 0
