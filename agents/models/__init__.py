"""What can stand behind a role: the embedded model, or a language model over HTTP."""

from ...ledger import events as ev
from .base import Candidate, EpisodeView, Proposal, ProposerModel
from .embedded.model import EmbeddedModel

__all__ = ["AtOnce", "ProposerModel", "embedded"]


class AtOnce:
    """A model that answers without waiting for anything, behind the interface of those that wait."""

    def __init__(self, model: EmbeddedModel) -> None:
        self.name = model.name
        self._model = model

    async def propose(
        self, episode: EpisodeView, memory: tuple[ev.Entry, ...], evidence: list[EpisodeView]
    ) -> Proposal:
        return self._model.propose(episode, memory, evidence)

    async def reflect(
        self,
        request: ev.CandidatesRequested,
        memory: tuple[ev.Entry, ...],
        evidence: list[EpisodeView],
        tried: list[ev.CandidateProposed],
    ) -> list[Candidate]:
        return self._model.reflect(request, memory, evidence, tried)


def embedded(seed: int = 0) -> ProposerModel:
    """The embedded model behind the Proposer."""
    return AtOnce(EmbeddedModel(seed))
