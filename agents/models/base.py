"""What a model behind the Proposer must do: answer an episode's state with a program, and a round with
candidates."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from ...ledger import events as ev


@dataclass
class Turn:
    """One program of an episode and what came of it. pictures: blobs of what it captured, in order."""

    proposed: ev.ProgramProposed
    executed: ev.ProgramExecuted | None = None
    pictures: tuple[str, ...] = ()
    rejected: ev.ProgramRejected | None = None


@dataclass
class EpisodeView:
    """Everything public about an episode so far."""

    id: str
    started: ev.EpisodeStarted
    turns: list[Turn] = field(default_factory=list)
    critique: ev.CritiqueWritten | None = None
    finished: bool = False

    def hear(self, event: ev.Event) -> None:
        """Take in an event that is about this episode; what does not change the view is passed over."""
        match event.type:
            case "program.proposed":
                self.turns.append(Turn(ev.payload(event)))
            case "program.executed":
                self.turns[-1].executed, self.turns[-1].pictures = ev.payload(event), event.blobs
            case "program.rejected":
                self.turns[-1].rejected = ev.payload(event)
            case "critique.written":
                self.critique = ev.payload(event)
            case "episode.finished":
                self.finished = True

    def value(self, key: str) -> Any:
        """The latest program value under this key, or None."""
        for turn in reversed(self.turns):
            value = turn.executed.value if turn.executed else None
            if isinstance(value, dict) and key in value:
                return value[key]
        return None

    def looked(self, turn: int | None = None) -> int:
        """The latest turn before this one (None: of all) whose program said what regions there are; -1 for
        none."""
        values = [one.executed.value if one.executed else None for one in self.turns[:turn]]
        return max((i for i, v in enumerate(values) if isinstance(v, dict) and "regions" in v), default=-1)

    def regions(self, turn: int | None = None) -> list[dict[str, Any]]:
        """Regions as they were known when this turn's program was written (None: by now)."""
        look = self.looked(turn)
        executed = self.turns[look].executed if look >= 0 else None
        return executed.value["regions"] if executed else []

    def parts(self, turn: int | None = None) -> dict[int, list[dict[str, Any]]]:
        """Parts by region, as they were known when this turn's program was written (None: by now)."""
        known: dict[int, list[dict[str, Any]]] = {}
        for one in self.turns[:turn]:
            value = one.executed.value if one.executed else None
            if isinstance(value, dict):
                known.update({int(region): parts for region, parts in value.get("parts", {}).items()})
        return known


@dataclass(frozen=True)
class Proposal:
    source: str
    last: bool
    choices: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A proposed memory update before it has an id."""

    entries: tuple[ev.Entry, ...]
    replaces: tuple[str, ...]
    decision: str
    reason: str
    tasks: tuple[str, ...]


class ProposerModel(Protocol):
    """The embedded model's answers depend on the arguments alone: the same question gets the same answer, in
    any process. A language model's are recorded instead."""

    name: str

    async def propose(
        self, episode: EpisodeView, memory: tuple[ev.Entry, ...], evidence: list[EpisodeView]
    ) -> Proposal:
        """The next program. `evidence`: finished training episodes that may be learned from, in a fixed
        order."""
        ...

    async def reflect(
        self,
        request: ev.CandidatesRequested,
        memory: tuple[ev.Entry, ...],
        evidence: list[EpisodeView],
        tried: list[ev.CandidateProposed],
    ) -> list[Candidate]:
        """Memory updates that the evidence supports. `tried`: what this stage has proposed before."""
        ...
