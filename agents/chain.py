"""An episode is a chain of causes: what does not continue it is of a dead attempt, or was said twice.

A run that is resumed begins its open episodes anew, and a role that is started again may answer what its
predecessor has just answered. Whoever follows episodes asks here which events count.
"""

from ..ledger.events import Event

TYPES = frozenset(
    {
        "episode.started",
        "program.proposed",
        "program.executed",
        "program.rejected",
        "outcome.measured",
        "episode.finished",
    }
)


class Chains:
    """Follows the living attempt of each episode that is not finished."""

    def __init__(self) -> None:
        self._ends: dict[str, tuple[str, str]] = {}  # episode → last event in turn, last program proposed

    def follow(self, event: Event) -> bool:
        """Take in one event; False for an episode's event that does not count."""
        if event.type == "run.resumed":
            self._ends.clear()
        if event.type not in TYPES:
            return True
        if event.type == "episode.started":
            self._ends[event.subject] = (event.id, "")
            return True
        last, program = self._ends.get(event.subject, ("", ""))
        match event.type:
            case "program.proposed":
                counts = event.cause == last != program
                end = (event.id, event.id)
            case "program.executed" | "program.rejected":
                counts = event.cause == last == program
                end = (event.id, program)
            case _:  # how it ended; the outcome may come before or after what all may hear
                counts = event.cause == program
                end = (last, program)
        counts = counts and bool(event.cause)
        if counts:
            self._ends[event.subject] = end
        return counts

    def last(self, episode: str) -> str:
        """Id of the event that an answer has to name as its cause, "" for an episode that is not open."""
        return self._ends.get(episode, ("", ""))[0]
