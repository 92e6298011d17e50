"""The embedded model: look first, then programs that do what the instruction says, with choices from
memory."""

from ....ledger import events as ev
from ...rounds import layer_of
from ..base import Candidate, EpisodeView, Proposal
from . import attempts, reflect
from .compose import Composer
from .identify import Experience
from .looking import look
from .skills import Skills

KEPT = 8  # memories and bodies of evidence that are kept at hand


class EmbeddedModel:
    """A Proposer that needs no key, no network and no GPU. `seed` makes its random choices repeatable."""

    name = "embedded"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._attempts: dict[tuple[str, ...], attempts.Attempts] = {}  # by episodes
        self._experiences: dict[object, Experience] = {}

    def propose(
        self, episode: EpisodeView, memory: tuple[ev.Entry, ...], evidence: list[EpisodeView]
    ) -> Proposal:
        if episode.value("regions") is None:
            return Proposal(look(episode.started.task.instruction), last=bool(episode.turns))
        started = episode.started
        learning = layer_of(started.round) if started.round else ""
        # which parts of an instruction to do is the Brain's to learn: before, they are gone through as said
        all_parts = learning == "cerebellum"
        if not started.memory.explore:
            experience = self._experience(memory, None)
            return Composer(episode, experience, self._seed, all_parts=all_parts).compose()
        tried = self._read(evidence)
        experience = self._experience(memory, tried, looks=all_parts)
        if all_parts:
            return Composer(episode, experience, self._seed, local=tried, all_parts=True).compose()
        return Composer(episode, experience, self._seed, brain=tried).compose()

    def reflect(
        self,
        request: ev.CandidatesRequested,
        memory: tuple[ev.Entry, ...],
        evidence: list[EpisodeView],
        tried: list[ev.CandidateProposed],
    ) -> list[Candidate]:
        return reflect.candidates(
            request.stage, request.round, Skills(memory), self._read(evidence), evidence, tried
        )

    def _read(self, evidence: list[EpisodeView]) -> attempts.Attempts:
        """Many questions in a row stand on the same evidence."""
        key = tuple(episode.id for episode in evidence)
        if key not in self._attempts:
            self._attempts = dict([*self._attempts.items()][1 - KEPT :])
            self._attempts[key] = attempts.read(evidence)
        return self._attempts[key]

    def _experience(
        self, memory: tuple[ev.Entry, ...], tried: attempts.Attempts | None, looks: bool = True
    ) -> Experience:
        key = (tuple((e.id, e.provenance.candidate) for e in memory), id(tried), looks)
        if key not in self._experiences:
            self._experiences = dict([*self._experiences.items()][1 - KEPT :])
            self._experiences[key] = Experience(Skills(memory), tried, looks)
        return self._experiences[key]
