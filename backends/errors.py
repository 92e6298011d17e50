"""What can go wrong around a program that is not its own doing."""

from .trace import ProgramResult


class BackendError(Exception):
    """Base of this package's errors; its text is one sentence for a person."""


class StopProgram(BackendError):
    """Raised by an operation to end the program at once, e.g. after a protective stop or an operator's abort.
    The program cannot catch it; its result says `stopped: …` with this exception's text."""


class OperationFault(BackendError):
    """An operation raised or returned what the contract does not allow: a fault of the host, not of the
    program. result: everything up to it. __cause__: the exception."""

    def __init__(self, operation: str, result: ProgramResult) -> None:
        super().__init__(f"The operation {operation} failed inside the backend; the program was ended.")
        self.operation = operation
        self.result = result


class SandboxUnavailable(BackendError):
    """The program interpreter cannot be started; the text says what to install."""
