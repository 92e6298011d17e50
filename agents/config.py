"""One typed run configuration: flags, a TOML file and the `run.started` event all carry this struct."""

import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import msgspec

from .errors import ConfigError
from .models.chat.address import Address, parse
from .models.chat.base import Effort

Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]

RoleName = Literal["proposer", "runner", "verifier", "governor"]
VerifierKind = Literal["full", "public", "shuffled", "none"]
ModelRole = Literal["proposer", "verifier", "governor"]
ROLES: Final[tuple[RoleName, ...]] = get_args(RoleName)  # besides the trainer
MODEL_ROLES: Final[tuple[ModelRole, ...]] = get_args(ModelRole)  # those that a language model can play
PLAYED: Final[dict[ModelRole, tuple[str, ...]]] = {
    "proposer": ("embedded",),
    "verifier": get_args(VerifierKind),
    "governor": ("embedded", "none"),
}
# What may differ when a run is resumed: how fast it goes, and how far.
CHANGEABLE = ("workers", "max_cost", "max_tokens")
STATES = {"train": (0, 4), "trial": (5, 29), "eval": (30, 49)}


class RunConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a training run does. Rounds, episodes and trials follow the published protocol by default."""

    suite: str
    tasks: tuple[
        str, ...
    ] = ()  # "12", or "12+15" for two instructions of one scene joined; empty: the whole suite
    brain_tasks: tuple[str, ...] = ()  # tasks of the Brain's rounds; empty: the same as `tasks`
    run: str = ""
    cerebellum_rounds: Count = 3
    brain_rounds: Count = 4
    episodes: Positive = 5  # training episodes a task and round
    trials: Annotated[int, msgspec.Meta(ge=5)] = 25  # pairs a candidate
    workers: Positive = 2
    seed: Count = 0
    # A role is played by what is built in, or by a language model at an address such as openai:NAME@URL.
    proposer: str = "embedded"
    verifier: str = "full"  # "public", "shuffled" and "none" are controls
    governor: str = "embedded"  # "none": what passes the screens is accepted, as a control
    pixels: Annotated[int, msgspec.Meta(ge=128, le=2048)] = 256  # width and height of pictures
    effort: Effort = "medium"  # how long language models are to think
    prices: dict[str, tuple[float, float]] = {}  # by address or name: of a million tokens in, and out
    max_cost: Amount = 0.0  # by those prices; 0: no limit
    max_tokens: Count = 0  # in and out, of all roles; 0: no limit
    recorded: str = ""  # run whose recorded answers stand in for the language models
    early_stop: bool = False  # end trials that can no longer be passed; acceptances are the same
    pairs: bool = False  # the Brain's rounds also practise tasks of one scene joined two by two
    rename: bool = False  # every noun of the instructions is a made-up word
    states: dict[str, tuple[int, int]] = msgspec.field(default_factory=lambda: dict(STATES))

    def __post_init__(self) -> None:
        for role in MODEL_ROLES:
            if getattr(self, role) not in PLAYED[role]:
                parse(getattr(self, role), PLAYED[role])
        if set(self.states) != set(STATES):
            raise ValueError(f"states names {', '.join(self.states)}; it must name {', '.join(STATES)}")
        ranges = sorted(self.states.values())
        if any(a > b for a, b in ranges) or any(p[1] >= q[0] for p, q in pairwise(ranges)):
            raise ValueError("states must be three ranges [first, last] that do not overlap")

    @property
    def roles(self) -> tuple[RoleName, ...]:
        """The roles that this run has: without a Verifier nobody writes critiques."""
        return tuple(name for name in ROLES if name != "verifier" or self.verified)

    @property
    def verified(self) -> bool:
        """Whether there are critiques."""
        return self.verifier != "none"

    @property
    def gated(self) -> bool:
        """Whether candidates must pass trials."""
        return self.governor != "none"

    def language(self) -> dict[ModelRole, Address]:
        """The roles that language models play, and where these are."""
        asked = {role: getattr(self, role) for role in MODEL_ROLES}
        return {role: parse(name) for role, name in asked.items() if name not in PLAYED[role]}


BUILT_IN: Final = RunConfig(suite="")  # no language model anywhere


def parts(task: str) -> tuple[int, ...]:
    """Task ids of "12" or "12+15". Raises ConfigError for anything else."""
    try:
        return tuple(int(part) for part in task.split("+"))
    except ValueError:
        raise ConfigError(
            f"task {task!r} is not a number, or numbers joined by +, such as 12 or 12+15"
        ) from None


def load(file: Path | None, flags: dict[str, Any]) -> RunConfig:
    """The file's values, overridden by the flags that were given (not None). Raises ConfigError."""
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values = tomllib.loads(file.read_text())
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{file} is not valid TOML: {error}") from None
    values.update({name: value for name, value in flags.items() if value is not None})
    try:
        return read(values)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the run configuration does not fit: {error}") from None


def read(values: dict[str, Any]) -> RunConfig:
    """The configuration as a file or a ledger has it, older forms too. Raises msgspec.ValidationError."""
    values = dict(values)
    if isinstance(values.get("verifier"), bool):  # before there were several kinds
        values["verifier"] = "full" if values["verifier"] else "none"
    if isinstance(values.get("governor"), bool):
        values["governor"] = "embedded" if values["governor"] else "none"
    if "proposer_model" in values:
        values["proposer"] = values.pop("proposer_model")
    return msgspec.convert(values, RunConfig)


def command_of(config: RunConfig) -> str:
    """The command line that trains by this configuration."""
    words = ["skill2real", "train", "--suite", config.suite]
    standard = RunConfig(suite=config.suite)
    for field in msgspec.structs.fields(RunConfig):
        value = getattr(config, field.name)
        if field.name in ("suite", "states", "workers", "prices") or value == getattr(standard, field.name):
            continue
        flag = "--" + {"tasks": "task", "brain_tasks": "brain-task"}.get(
            field.name, field.name.replace("_", "-")
        )
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [
                word for one in (value if isinstance(value, tuple) else (value,)) for word in (flag, str(one))
            ]
    return shlex.join(words)
