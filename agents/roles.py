"""The roles of a run by name, as its configuration wants them: here, or in processes of their own."""

from ..ledger.blobs import Blobs
from ..ledger.bus import Bus
from .actor import Role
from .casting import Cast, kept_for
from .config import RoleName, RunConfig
from .governor import Governor
from .pool import Pool
from .proposer import Proposer
from .runner import Runner
from .verifier import Kind, Verifier


def make_role(
    name: RoleName, bus: Bus, cast: Cast, pool: Pool | None = None, blobs: Blobs | None = None
) -> Role:
    """A role that is connected through `bus`. The runner, and no other, needs a pool."""
    config = cast.config
    match name:
        case "proposer":
            return Proposer(bus, config.run, cast.proposer(bus, blobs))
        case "runner":
            assert pool is not None, "the runner plays on a pool"
            return Runner(bus, config.run, pool, blobs, keep_all=kept_for(config))
        case "verifier":
            assert config.verified, "a run without Verifier has none to make"
            return Verifier(bus, config.run, _kind(config), config.seed, cast.verifier(bus, blobs))
        case "governor":
            return Governor(
                bus, config.run, config.gated, verified=config.verified, model=cast.governor(bus, blobs)
            )


def _kind(config: RunConfig) -> Kind:
    """Which of the Verifiers; one that a language model plays sees everything."""
    match config.verifier:
        case "public":
            return "public"
        case "shuffled":
            return "shuffled"
        case _:
            return "full"
