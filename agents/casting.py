"""Who plays which role: the built-in rules, or language models that were connected and asked before a run."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..ledger.blobs import Blobs
from ..ledger.bus import Bus
from ..replay.runs import find_run
from ..replay.state import LEDGER
from .config import ModelRole, RunConfig
from .errors import ConfigError
from .models import ProposerModel, embedded
from .models.chat import connect
from .models.chat.base import Chat
from .models.language.caller import Caller
from .models.language.calling import Call, Price
from .models.language.governor import LanguageScreen
from .models.language.probe import probe
from .models.language.proposer import LanguageProposer
from .models.language.recording import Recorded, recorded_calls
from .models.language.verifier import LanguageVerifier


@dataclass(frozen=True)
class Cast:
    """The models of a run by role; roles that are built in have none. probes: how each answered before."""

    config: RunConfig
    chats: Mapping[ModelRole, Chat] = field(default_factory=dict)
    probes: Mapping[ModelRole, Call] = field(default_factory=dict)

    def proposer(self, bus: Bus, blobs: Blobs | None = None) -> ProposerModel:
        """What stands behind the Proposer."""
        if "proposer" not in self.chats:
            return embedded(self.config.seed)
        return LanguageProposer(self._caller("proposer", bus, blobs), self.config.effort, self.config.trials)

    def verifier(self, bus: Bus, blobs: Blobs | None = None) -> LanguageVerifier | None:
        """What writes critiques, None for the rules."""
        if "verifier" not in self.chats:
            return None
        return LanguageVerifier(self._caller("verifier", bus, blobs), self.config.effort)

    def governor(self, bus: Bus, blobs: Blobs | None = None) -> LanguageScreen | None:
        """What screens candidates besides the rules, None for nothing."""
        if "governor" not in self.chats:
            return None
        return LanguageScreen(self._caller("governor", bus, blobs), self.config.effort)

    def _caller(self, role: ModelRole, bus: Bus, blobs: Blobs | None) -> Caller:
        chat = self.chats[role]
        price = price_of(self.config, str(chat.address), chat.address.model)
        probed = self.probes.get(role)
        unsaid = (probed.told(role, str(chat.address), price, "probe"),) if probed else ()
        return Caller(chat, bus, role, blobs, price, unsaid)


@asynccontextmanager
async def cast(
    config: RunConfig, home: Path | None = None, only: tuple[str, ...] = ("proposer", "verifier", "governor")
) -> AsyncIterator[Cast]:
    """Connect the language models of some roles, and ask each one question before anything else happens.

    home: of the runs, where a recorded one is meant. Raises MissingError for a key that is missing or
    refused, a model that does not answer, or does not see; ConfigError for a limit on cost without a price,
    and UnknownRun for a recording that is not there.
    """
    wanted = {role: address for role, address in config.language().items() if role in only}
    check_prices(config)
    async with AsyncExitStack() as stack:
        chats: dict[ModelRole, Chat] = {}
        probes: dict[ModelRole, Call] = {}
        if config.recorded and wanted:
            chats = _recorded(config, home)
        else:
            for role, address in wanted.items():
                chats[role] = connect(address)
                stack.push_async_callback(chats[role].close)
            for role, chat in chats.items():
                probes[role] = await probe(chat, sees=role == "proposer")
        yield Cast(config, chats, probes)


def _recorded(config: RunConfig, home: Path | None) -> dict[ModelRole, Chat]:
    if home is None:
        raise ConfigError("recorded answers lie beside a local ledger; leave --broker out")
    path = find_run(home, config.recorded)
    calls, blobs = recorded_calls(path / LEDGER), Blobs(path / "blobs")
    return {role: Recorded(at, calls.get(role, {}), blobs) for role, at in config.language().items()}


def check_prices(config: RunConfig) -> None:
    """Raises ConfigError where a limit on cost could never be reached."""
    if not config.max_cost:
        return
    for address in config.language().values():
        if price_of(config, str(address), address.model) == Price():
            raise ConfigError(
                f"there is a limit on cost, but no price of {address}; give one under [prices] of the "
                f'configuration, such as "{address.model}" = [3.0, 15.0] for a million tokens in and out'
            )


def price_of(config: RunConfig, address: str, model: str) -> Price:
    """The price by address, or by the model's name."""
    return Price(*config.prices.get(address, config.prices.get(model, (0.0, 0.0))))


def kept_for(config: RunConfig) -> bool:
    """Whether pictures of all episodes are kept: a language model looks at them, trials included."""
    return "proposer" in config.language()
