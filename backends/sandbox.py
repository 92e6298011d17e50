"""Runs programs in an interpreter of their own: type-checked, suspended at each operation, inside limits.

A program's names survive to the next program of its session. Limits, files, network and everything else that
is not one of the 18 operations end it in a way that it cannot catch; the session then goes on in a fresh
interpreter.
"""

import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, NoReturn, Self, cast
from uuid import UUID

from pydantic_monty import (
    FunctionSnapshot,
    Monty,
    MontyComplete,
    MontyConversionError,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
    NameLookupSnapshot,
    SyncSnapshot,
)

from .api import OPERATIONS, Operations, Result
from .arguments import BadArgument, bind, failure, signature, tidy
from .checking import Checker, Played
from .errors import OperationFault, SandboxUnavailable, StopProgram
from .exposure import expose, names
from .screening import screen
from .trace import Call, Handles, Json, ProgramResult, Rejection, plain, shortened

_FORGOTTEN: Final = " Names from earlier programs of this episode are gone."
_SHORT = 300
_DEEP = 5


@dataclass(frozen=True)
class Told:
    """A program that ran to its end, what each of its operations gave, and its result."""

    source: str
    results: tuple[Any, ...]
    result: ProgramResult


@dataclass(frozen=True)
class Limits:
    """What one program may use. seconds: wall clock, operations included. compute: seconds of its own between
    two operations. memory: bytes. steps: operations, look-ups and constructions together. The rest counts
    characters."""

    operations: int = 400
    seconds: float = 600.0
    compute: float = 2.0
    memory: int = 64 * 1024 * 1024
    recursion: int = 200
    steps: int = 5_000
    printed: int = 20_000
    value: int = 200_000
    source: int = 40_000


class Sandbox:
    """A pool of interpreter processes. Use as a context manager, or call close(); sessions of it are not
    shared between threads. workers: most sessions open at once."""

    def __init__(self, limits: Limits | None = None, workers: int = 1) -> None:
        self.limits = limits or Limits()
        try:
            self._pool = Monty(
                min_processes=1,
                max_processes=workers + 1,  # one is the type checker's
                checkout_timeout=60.0,
                request_timeout=self.limits.compute + 10.0,
            )
            self._pool.__enter__()
        except (OSError, RuntimeError, MontyError) as error:
            raise SandboxUnavailable(
                f"The program interpreter does not start ({error}); reinstall the package pydantic-monty."
            ) from error
        self._checker = Checker(self._pool)

    def check(self, source: str) -> Rejection | None:
        """Whether a program that an episode begins with would be refused before anything moves, and why."""
        source = _unified(source)
        return screen(source, self.limits.source) or self._checker.check(source)

    def session(self) -> "Session":
        """A session for one episode, itself a context manager."""
        return Session(self._pool, self._checker, self.limits)

    def close(self) -> None:
        self._checker.close()
        self._pool.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Session:
    """The programs of one episode, one after another. The ids of handles count on through the episode."""

    def __init__(self, pool: Monty, checker: Checker, limits: Limits) -> None:
        self._pool = pool
        self._checker = checker
        self._limits = limits
        self._interpreter: MontySession | None = None
        self._handles = Handles()
        self._played: list[Played] = []
        self._told: list[Told] | None = []

    def memory(self) -> tuple[Told, ...] | None:
        """All that made the session what it is, for `recall`. None where a program broke off."""
        return None if self._told is None else tuple(self._told)

    def recall(self, memory: tuple[Told, ...]) -> bool:
        """Makes a new session what another one was, names and ids of handles included: runs its programs
        again on what their operations gave, the same objects, so nothing moves. False, and the session is
        closed, where a program ends otherwise than it did: so it can only be played from the start."""
        for told in memory:
            answers = cast(Operations, _Answers(told.results))
            run = _Run(told.source, answers, self._handles, self._limits, time.monotonic())
            try:
                result = run.play(self._checked_out())
            except (_Over, OperationFault):
                self.close()
                return False
            if _lasting(result) != _lasting(told.result):
                self.close()
                return False
            self._played.append(Played(told.source, whole=True))
        self._told = list(memory)
        return True

    def run(self, source: str, operations: Operations) -> ProgramResult:
        """Runs one program to its end, error or limit. Raises OperationFault where an operation raises, and
        nothing for whatever the program does.

        unread_failures names each failed result that the program did not look at. A look is a read of its ok
        or reason, which is observed exactly; looking at a failure that it was passed on to, or ending with it
        as the program's value, counts as well; printing it does not."""
        started = time.monotonic()
        source = _unified(source)
        rejected = screen(source, self._limits.source) or self._checker.check(source, self._played)
        if rejected is not None:
            return ProgramResult(rejected=rejected, seconds=time.monotonic() - started)
        run = _Run(source, operations, self._handles, self._limits, started)
        try:
            result = run.play(self._checked_out())
            if result.rejected is None:
                self._played.append(Played(source, whole=not result.error))
                if result.error:
                    self._told = None
                elif self._told is not None:
                    self._told.append(Told(source, tuple(run.told), result))
            return result
        except _Over as over:
            self.close()
            return run.result(error=over.text + _FORGOTTEN)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives the interpreter back. The session may be used again, without its names."""
        self._played.clear()
        self._told = None  # ids of handles would count on
        interpreter, self._interpreter = self._interpreter, None
        if interpreter is not None:
            interpreter.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def worker_pid(self) -> int | None:
        """Process id of the interpreter; None while there is none or a program computes."""
        return self._interpreter.worker_pid if self._interpreter else None

    def _checked_out(self) -> MontySession:
        if self._interpreter is None:
            session = self._pool.checkout(
                script_name="program",
                limits={
                    "max_turn_duration_secs": self._limits.compute,
                    "max_memory": self._limits.memory,
                    "max_recursion_depth": self._limits.recursion,
                    "max_suspensions": 2**31,  # counted here, where a program cannot catch it
                },
                # the same program behaves the same: no clock, no sleep, no entropy
                os_policy={
                    "random_start": {"seed": 0},
                    "datetime": datetime.datetime(2000, 1, 1),
                    "sleep": "zero",
                },
            )
            session.__enter__()
            self._interpreter = session
        return self._interpreter


class _Answers:
    """Stands for the operations of a program that ran before: each gives what it gave then."""

    def __init__(self, results: tuple[Any, ...]) -> None:
        self._results = iter(results)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        return lambda **arguments: next(self._results)


def _lasting(result: ProgramResult) -> tuple[Any, ...]:
    """What of a result is the same whenever the program is played."""
    calls = [(call.operation, call.arguments, call.result) for call in result.calls]
    return calls, result.printed, result.value, result.error, result.rejected, result.unread_failures


class _Over(Exception):
    """The program is ended and its interpreter dropped."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass
class _Failure:
    """A failed result, where it came from, and the failures among its arguments."""

    result: Result
    text: str
    causes: list["_Failure"]
    read: bool = False

    def look(self) -> None:
        self.read = True
        for cause in self.causes:
            if not cause.read:
                cause.look()


class _Run:
    """One program from its first operation to its last."""

    def __init__(
        self, source: str, operations: Operations, handles: Handles, limits: Limits, started: float
    ) -> None:
        self._source = source.encode()
        self._operations = operations
        self._handles = handles
        self._limits = limits
        self._started = started
        self._calls: list[Call] = []
        self.told: list[Any] = []  # what the operations gave
        self._printed: list[str] = []
        self._room = limits.printed
        self._steps = 0
        self._failures: list[_Failure] = []
        self._watched: dict[UUID, _Failure] = {}

    def play(self, interpreter: MontySession) -> ProgramResult:
        try:
            snapshot = interpreter.feed_start(
                self._source.decode(), inputs=names(), print_callback=self._hear
            )
            while not isinstance(snapshot, MontyComplete):
                snapshot = self._answer(snapshot)
            return self.result(value=snapshot.output)
        except MontySyntaxError as error:
            return self.result(rejected=Rejection("syntax", _located(error)))
        except MontyCrashedError as error:
            raise _Over(
                "limit: the program took too long." if error.timed_out else "limit: the interpreter died."
            ) from None
        except MontyConversionError as error:
            return self.result(error=str(error))
        except MontyRuntimeError as error:
            return self._ended_by(error)

    def result(
        self, value: object = None, error: str = "", rejected: Rejection | None = None
    ) -> ProgramResult:
        for failure_ in self._failures:
            if _contains(value, failure_.result):
                failure_.look()
        return ProgramResult(
            calls=tuple(self._calls),
            printed="".join(self._printed),
            value=shortened(plain(value), self._limits.value),
            error=error,
            rejected=rejected,
            unread_failures=tuple(f.text for f in self._failures if not f.read),
            seconds=time.monotonic() - self._started,
        )

    def _ended_by(self, error: MontyRuntimeError) -> ProgramResult:
        if self._room < 0:
            raise _Over(f"limit: more than {self._limits.printed} characters printed.") from None
        inner = error.exception()
        text = str(inner)
        if isinstance(inner, NotImplementedError) and "syntax parser" in text and not self._steps:
            return self.result(rejected=Rejection("syntax", _located(error)))
        if isinstance(inner, TimeoutError) and "time limit exceeded" in text:
            raise _Over(f"limit: more than {self._limits.compute:g} s between two operations.") from None
        if isinstance(inner, MemoryError):
            raise _Over(f"limit: more than {self._limits.memory // 2**20} MiB of memory.") from None
        return self.result(error=_located(error))

    def _hear(self, stream: str, text: str) -> None:
        self._printed.append(text[: max(self._room, 0)])
        self._room -= len(text)
        if self._room < 0:
            raise RuntimeError("printed too much")  # ends the feed, see _ended_by

    def _answer(self, snapshot: SyncSnapshot) -> SyncSnapshot:
        self._steps += 1
        if self._steps > self._limits.steps:
            raise _Over(f"limit: more than {self._limits.steps} steps in one program.")
        if time.monotonic() - self._started > self._limits.seconds:
            raise _Over(f"limit: more than {self._limits.seconds:g} s for one program.")
        if isinstance(snapshot, NameLookupSnapshot):
            return self._look_up(snapshot)
        if not isinstance(snapshot, FunctionSnapshot):
            raise _Over("refused: programs do not wait for anything but operations.")
        if snapshot.is_os_function:
            if snapshot.function_name in ("import", "import_stubs"):
                return snapshot.resume_not_handled()
            raise _Over(f"refused: {snapshot.function_name} is not available to programs.")
        if snapshot.object_id is not None:
            return snapshot.resume_auto()
        name = snapshot.function_name
        if name not in OPERATIONS:
            return snapshot.resume({"exception": NameError(f"there is no operation {name}")})
        return snapshot.resume({"return_value": self._call(snapshot)})

    def _look_up(self, snapshot: NameLookupSnapshot) -> SyncSnapshot:
        if snapshot.object_id is not None:
            if snapshot.object_id in self._watched:
                self._watched[snapshot.object_id].look()
            return snapshot.resume_auto()
        stand_in = _STAND_INS.get(snapshot.variable_name)
        return snapshot.resume() if stand_in is None else snapshot.resume(value=stand_in)

    def _call(self, snapshot: FunctionSnapshot) -> Any:
        operation, args, kwargs = snapshot.function_name, snapshot.args, snapshot.kwargs
        if len(self._calls) >= self._limits.operations:
            raise _Over(f"limit: more than {self._limits.operations} operations in one program.")
        began = time.monotonic()
        try:
            arguments, detail = bind(operation, args, kwargs), ""
        except BadArgument as error:
            arguments, detail = {}, str(error)
            result = failure(operation, "bad_argument")
        else:
            result = self._operate(operation, arguments)
        given = _given(operation, args, kwargs)
        items = result if isinstance(result, list) else [result]
        for item in items:
            self._handles.add(item)
        recorded = self._handles.result(result)
        if detail and isinstance(recorded, dict):
            recorded["detail"] = detail
        self._calls.append(
            Call(
                operation,
                {name: shortened(self._handles.argument(value), _SHORT) for name, value in given.items()},
                recorded,
                time.monotonic() - began,
            )
        )
        return self._watch(result, f"{operation}{self._place(snapshot)}", detail, given)

    def _operate(self, operation: str, arguments: dict[str, Any]) -> Any:
        try:
            given = getattr(self._operations, operation)(**arguments)
            if not isinstance(self._operations, _Answers):  # those are the very objects it gave then
                given = tidy(operation, given)
            self.told.append(given)
            return given
        except StopProgram as stop:
            raise _Over(f"stopped: {stop}") from None
        except Exception as error:
            self._fault(operation, error)

    def _fault(self, operation: str, error: Exception) -> NoReturn:
        raise OperationFault(
            operation, self.result(error=f"fault: {type(error).__name__}: {error}")
        ) from error

    def _watch(self, result: Any, where: str, detail: str, given: dict[str, Any]) -> Any:
        """The result as the program gets it, its failures under watch."""
        if isinstance(result, list):
            return [self._watch(item, where, detail, given) for item in result]
        if result.ok:
            return expose(result)
        said = f"{result.reason}: {detail}" if detail else result.reason
        causes = [f for f in self._failures if any(_contains(value, f.result) for value in given.values())]
        failure_ = _Failure(result, f"{where}: {said}", causes)
        self._failures.append(failure_)
        return expose(result, lambda object_id: self._watched.update({object_id: failure_}))

    def _place(self, snapshot: FunctionSnapshot) -> str:
        """ " in line 12" of this program; empty for a call in a function that an earlier program defined."""
        start, end = snapshot.position.start, snapshot.position.end
        if snapshot.function_name.encode() not in self._source[start:end]:
            return ""
        line = self._source.count(b"\n", 0, start) + 1
        return f" in line {line}"


def _unified(source: str) -> str:
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _given(operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they were given, by parameter name; those beyond the signature by their position."""
    parameters = list(signature(operation).parameters)
    named = {parameters[i] if i < len(parameters) else f"#{i}": value for i, value in enumerate(args)}
    return {**named, **kwargs}


def _contains(value: object, item: object, depth: int = 0) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return depth < _DEEP and any(_contains(inner, item, depth + 1) for inner in value)
    return value is item


def _located(error: MontyRuntimeError | MontySyntaxError) -> str:
    """ "line 4, called from line 9: ValueError: …" with lines of the program."""
    lines = [frame.line for frame in error.traceback()]
    where = ", called from ".join(f"line {line}" for line in reversed(lines[-3:]))
    said = error.display("type-msg")
    return f"{where}: {said}" if where else said


def _stand_in(name: str) -> Callable[..., None]:
    """A function that crosses into a program as a name for an operation, so that operations can be passed
    around."""

    def operation(*args: object, **kwargs: object) -> None:
        raise NotImplementedError(name)  # calls of it suspend the program and never run here

    operation.__name__ = operation.__qualname__ = name
    return operation


_STAND_INS: Final = {name: _stand_in(name) for name in OPERATIONS}
__all__ = ["Json", "Limits", "Sandbox", "Session"]
