"""Running a command's work so that it can be interrupted: in order the first time, at once the second."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run(work: Coroutine[Any, Any, T]) -> T:
    """The work's result. Raises KeyboardInterrupt where SIGINT or SIGTERM ended it, whatever it ended with.

    Everything acknowledged is on disk already, so a second signal may end the process on the spot.
    """
    interrupted = False

    async def watched() -> list[T]:
        nonlocal interrupted
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            nonlocal interrupted
            if interrupted or task is None:
                os._exit(130)
            interrupted = True
            task.cancel()

        for number in _SIGNALS:
            loop.add_signal_handler(number, stop)
        try:
            return [await work]
        except BaseException:
            if interrupted:
                return []
            raise
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    result = asyncio.run(watched())
    if interrupted:
        raise KeyboardInterrupt
    return result[0]
