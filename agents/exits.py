"""Exit codes of the command, and which error ends in which."""

import errno
from typing import Final

import click

from ..backends.errors import BackendError, SandboxUnavailable
from ..backends.sim.errors import RenderingMissing, SimError, SimulatorMissing, UnknownSuite, UnknownTask
from ..ledger import bus_errors as bus
from ..ledger import errors as ledger
from ..replay import errors as replay
from .errors import AgentError, ConfigError, MissingError, RunMismatch
from .lookup import UnknownName
from .verification import LedgerRefused

FAILED: Final = 1
USAGE: Final = 2
REFUSED: Final = 3  # a check said no
MISSING: Final = 4  # a library, a device, a key, a service
HALTED: Final = 5  # the robot was stopped
INTERRUPTED: Final = 130

_CODES: Final[tuple[tuple[int, tuple[type[Exception], ...]], ...]] = (
    (
        MISSING,
        (
            MissingError,
            SimulatorMissing,
            RenderingMissing,
            SandboxUnavailable,
            ledger.KeyMissing,
            ledger.LedgerMissing,
            bus.NoPassword,
            bus.BrokerUnreachable,
            bus.LedgerSilent,
        ),
    ),
    (REFUSED, (LedgerRefused, ledger.BundleRefused, ledger.NoteRefused, ledger.ProofFailed)),
    (
        USAGE,
        (
            ConfigError,
            RunMismatch,
            UnknownName,
            UnknownSuite,
            UnknownTask,
            replay.NotPlayable,
            replay.UnknownRun,
            replay.UnknownPoint,
            replay.UnknownCandidate,
            replay.UnknownSkill,
            ledger.BadName,
            bus.BadAddress,
        ),
    ),
    (FAILED, (AgentError, BackendError, SimError, ledger.LedgerError, replay.ReplayError)),
)


def code_of(error: BaseException) -> int | None:
    """The exit code of an error that has a sentence for people; None for one that nobody expected."""
    for code, kinds in _CODES:
        if isinstance(error, kinds):
            return code
    return FAILED if isinstance(error, OSError) else None


def sentence(error: BaseException) -> str:
    """The error in one line."""
    if isinstance(error, OSError):
        return _of_system(error)
    said = error.format_message() if isinstance(error, click.ClickException) else str(error)
    text = " ".join(said.split()) or type(error).__name__
    if text.split()[0].isalpha():
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def _of_system(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno == errno.ENOSPC:
        return f"The disk is full{where}; make room and go on, what was acknowledged is kept."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"There is no permission to use {error.filename or 'a file'}; choose another place."
    return f"{error.strerror or type(error).__name__}{where}."


def root(error: BaseException) -> BaseException:
    """The first error in a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
