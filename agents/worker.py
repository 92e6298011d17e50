"""The body of a rollout worker process: one rollout in, one answer out."""

import os
import signal
from multiprocessing.connection import Connection

from ..backends.errors import SandboxUnavailable
from ..backends.sim.errors import RenderingMissing, SimulatorMissing
from ..backends.sim.rollout import Played, Player
from .errors import AgentError, MissingError

WORLDS = "SKILL2REAL_WORLDS"  # how many scenes a worker keeps loaded


def _described(error: BaseException) -> str:
    said = f"{type(error).__name__}: {error}"
    return f"{said} ({_described(error.__cause__)})" if error.__cause__ is not None else said


def work(pipe: Connection) -> None:
    """Body of a worker process: one rollout in, one answer out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    player: Player | None = None
    while True:
        try:
            rollout = pipe.recv()
        except (EOFError, OSError):
            return
        answer: Played | Exception
        try:
            player = player or Player(int(os.environ.get(WORLDS, "2")))
            answer = player.play(rollout)
        except (RenderingMissing, SimulatorMissing, SandboxUnavailable) as error:
            answer = MissingError(str(error))
        except Exception as error:
            answer = AgentError(_described(error))
        pipe.send(answer)
