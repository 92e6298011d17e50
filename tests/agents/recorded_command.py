"""The `skill2real` command, with a note on disk of every event that was acknowledged to it: LOG WORDS…

Tests kill it with SIGKILL, and compare the notes with the ledger.
"""

import os
import sys

from skill2real.cli import cli
from skill2real.ledger.bus import Bus
from skill2real.ledger.events import Event


def note_acknowledgements(path: str) -> None:
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    publish = Bus.publish

    async def noted(self: Bus, *said: Event) -> list[int]:
        numbers = await publish(self, *said)
        lines = [f"{event.id} {seq}\n" for event, seq in zip(said, numbers, strict=True)]
        os.write(log, "".join(lines).encode())
        return numbers

    Bus.publish = noted  # type: ignore[method-assign]


if __name__ == "__main__":
    note_acknowledgements(sys.argv[1])
    cli(sys.argv[2:])
