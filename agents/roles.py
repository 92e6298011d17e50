"""The roles of a run by name, as its configuration wants them: here, or in processes of their own."""

from ..ledger.blobs import Blobs
from ..ledger.bus import Bus
from .actor import Role
from .config import RoleName, RunConfig
from .governor import Governor
from .models import proposer_model
from .pool import Pool
from .proposer import Proposer
from .runner import Runner
from .verifier import Verifier


def make_role(
    name: RoleName, bus: Bus, config: RunConfig, pool: Pool | None = None, blobs: Blobs | None = None
) -> Role:
    """A role that is connected through `bus`. The runner, and no other, needs a pool."""
    match name:
        case "proposer":
            return Proposer(bus, config.run, proposer_model(config.proposer_model, config.seed))
        case "runner":
            assert pool is not None, "the runner plays on a pool"
            return Runner(bus, config.run, pool, blobs)
        case "verifier":
            assert config.verifier != "none", "a run without Verifier has none to make"
            return Verifier(bus, config.run, config.verifier, config.seed)
        case "governor":
            return Governor(bus, config.run, gated=config.governor, verified=config.verified)
