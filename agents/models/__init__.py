"""What can stand behind a role: the embedded model, and later language models."""

from .base import ProposerModel
from .embedded.model import EmbeddedModel


def proposer_model(name: str, seed: int) -> ProposerModel:
    """The model behind the Proposer. Raises KeyError for a name that `RunConfig` would not let pass."""
    return {"embedded": EmbeddedModel}[name](seed)
