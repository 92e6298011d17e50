"""The event envelope and one typed struct per event type: what may be said, by whom, and who may hear it.

An event is immutable. Its `data` is one of the structs below, chosen by `type`; the envelope around it is the
same for all. Order is the ledger's sequence number; `time` is the publisher's clock and is there for people.
"""

import builtins
import os
import time as clock
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeVar

import msgspec

from . import upcast

Actor = Literal["trainer", "proposer", "runner", "verifier", "governor", "deployer", "operator", "ledger"]
Visibility = Literal["public", "privileged"]
Layer = Literal["cerebellum", "brain"]
Purpose = Literal["train", "trial", "eval", "deploy"]
Json = Any  # what JSON can carry; msgspec has no recursive alias

ACTORS: Final[tuple[Actor, ...]] = (
    "trainer", "proposer", "runner", "verifier", "governor", "deployer", "operator", "ledger",
)  # fmt: skip


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The envelope. `data` stays as the publisher's JSON until `payload` decodes it."""

    id: str  # UUIDv7 in its usual 36 characters: the idempotency key
    run: str
    type: str  # noun.verb_past
    version: int = 1  # schema version of the type
    actor: Actor
    cause: str = ""  # id of the event that led to this one
    subject: str = ""  # the episode, candidate, skill or checkpoint that this is about
    time: str = ""  # RFC 3339, UTC, publisher's clock
    visibility: Visibility = "public"
    data: msgspec.Raw = msgspec.Raw(b"{}")
    blobs: tuple[str, ...] = ()  # SHA-256 hex names


class Struct(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all event data."""


class Kind(msgspec.Struct, frozen=True):
    """What is known of one event type: its struct, who may say it, and who hears it. closed: actors whose
    events of this type are privileged, whoever else says it in public."""

    type: str
    version: int
    data: "builtins.type[Struct]"
    actors: frozenset[str]
    visibility: Visibility
    closed: frozenset[str] = frozenset()

    def heard(self, actor: str) -> Visibility:
        """Who hears it when this actor says it."""
        return "privileged" if actor in self.closed else self.visibility


KINDS: Final[dict[str, Kind]] = {}
S = TypeVar("S", bound=type[Struct])


def kind(
    type: str,
    *actors: Actor,
    version: int = 1,
    visibility: Visibility = "public",
    closed: tuple[Actor, ...] = (),
) -> Callable[[S], S]:
    """Register a struct as the data of an event type."""

    def register(data: S) -> S:
        KINDS[type] = Kind(type, version, data, frozenset(actors), visibility, frozenset(closed))
        return data

    return register


# Memory -----------------------------------------------------------------------------------------------------


class Provenance(Struct, frozen=True):
    """Where an entry comes from."""

    candidate: str = ""
    evidence: tuple[str, ...] = ()  # episodes
    round: str = ""  # e.g. "C1" or "B2"


class Entry(Struct, frozen=True):
    """A skill: when to use it, the program text to use, and the few values it has learned."""

    id: str
    layer: Layer
    kind: str  # the decision it takes, e.g. "appearance", "grasp", "release", "word", "order"
    when: str  # plain English, for people and language models
    template: str  # program text over the 18 operations, with parameters
    state: dict[str, Json]
    provenance: Provenance = Provenance()


# Run and rounds ---------------------------------------------------------------------------------------------


@kind("run.started", "trainer", "deployer", "operator")
class RunStarted(Struct, frozen=True):
    """First event of a run. `seeds` names the disjoint ranges for training, trials and evaluation."""

    config: dict[str, Json]
    seeds: dict[str, tuple[int, int]]  # purpose → [first, last] initial-state numbers, both included
    packages: dict[str, str]
    api_hash: str


@kind("run.resumed", "trainer", "operator")
class RunResumed(Struct, frozen=True):
    """Episodes that were open before this event are dead: the trainer starts them again."""

    packages: dict[str, str]


@kind("run.finished", "trainer", "operator")
class RunFinished(Struct, frozen=True):
    reason: str = ""


@kind("round.started", "trainer")
class RoundStarted(Struct, frozen=True):
    layer: Layer
    round: int
    name: str  # C1…, B1…


@kind("round.closed", "trainer")
class RoundClosed(Struct, frozen=True):
    layer: Layer
    round: int
    name: str
    episodes: int
    successes: int
    accepted: int
    rejected: int
    memory_hash: str


# Episodes ---------------------------------------------------------------------------------------------------


class Task(Struct, frozen=True):
    """A task of a suite; `parts` has more than one id when instructions are joined."""

    suite: str
    parts: tuple[int, ...]
    instruction: str
    scene: str = ""


class MemoryRef(Struct, frozen=True):
    """The memory a Proposer is to use: the run's after `at`, one candidate more, or some layers only."""

    at: int = 0  # sequence number of the ledger up to which memory changes count
    candidate: str = ""  # proposed entry that is added
    layers: tuple[Layer, ...] = ("cerebellum", "brain")
    explore: bool = False  # training only: unproven working memory may be used
    hash: str = ""


@kind("episode.started", "trainer", "deployer", "operator")
class EpisodeStarted(Struct, frozen=True):
    task: Task
    state: int  # number of the initial state
    purpose: Purpose
    memory: MemoryRef
    round: str = ""  # "C1", "B1" or ""
    batch: int = 0  # evidence of earlier batches only may be used
    attempt: int = 1  # counts restarts of the same episode after a crash
    turns: int = 4  # most programs that may be proposed
    pixels: int = 256  # width and height of the cameras' pictures


@kind("program.proposed", "proposer")
class ProgramProposed(Struct, frozen=True):
    """A program for the runner. `choices` says which decision took which variant, and from which entry."""

    turn: int
    source: str
    last: bool
    choices: tuple[dict[str, Json], ...] = ()


@kind("program.rejected", "runner")
class ProgramRejected(Struct, frozen=True):
    turn: int
    stage: Literal["syntax", "types", "limits"]
    message: str


class Call(Struct, frozen=True):
    """One operation of a program, as it was called and what it gave."""

    operation: str
    arguments: dict[str, Json]
    result: Json
    seconds: float


@kind("program.executed", "runner")
class ProgramExecuted(Struct, frozen=True):
    """What running a program showed: nothing here comes from the simulator's ground truth."""

    turn: int
    calls: tuple[Call, ...]
    printed: str
    value: Json
    error: str
    unread_failures: tuple[str, ...]  # failed results that the program never looked at
    seconds: float
    repeats: str = ""  # id of the event whose result this is, where the same programs were played before


@kind("episode.finished", "runner")
class EpisodeFinished(Struct, frozen=True):
    status: Literal["done", "rejected", "error", "stopped"]
    start_digest: str
    end_digest: str
    operations: int
    turns: int
    seconds: float


@kind("outcome.measured", "runner", visibility="privileged")
class OutcomeMeasured(Struct, frozen=True):
    """Ground truth of one episode, for Verifier and Governor only."""

    success: bool  # at any step (LIBERO's rule)
    settled: bool  # in the settled final state
    progress: float  # share of goal conditions that hold in the end
    truth: dict[str, Json]


# Critique ---------------------------------------------------------------------------------------------------


class Finding(Struct, frozen=True):
    """One judgement in public words: about which clause and decision, how it went, and what to look at."""

    clause: int  # which part of the instruction, from 0
    # "which", "target", "part", "grasp", "release", "work", "wipe", "both", "hand over", "room", "order",
    # "retry"
    decision: str
    good: bool
    kind: str = ""  # kind of failure
    region: int = -1  # number of a region in the Proposer's own list
    part: int = -1  # number of a part of that region, in the Proposer's own list
    direction: str = ""  # in the scene picture: "left", "right", "up", "down"
    amount: str = ""  # "near", "hand", "far"


@kind("critique.written", "verifier")
class CritiqueWritten(Struct, frozen=True):
    text: str
    findings: tuple[Finding, ...]
    success: bool  # the Verifier's word on the goal as a whole


@kind("critique.blocked", "verifier", visibility="privileged")
class CritiqueBlocked(Struct, frozen=True):
    """A critique that would have leaked; kept where only privileged actors read it."""

    text: str
    reason: str


# Candidates -------------------------------------------------------------------------------------------------


@kind("candidates.requested", "trainer")
class CandidatesRequested(Struct, frozen=True):
    """The trainer asks the Proposer to reflect on one stage of a round."""

    round: str
    layer: Layer
    stage: str


@kind("candidate.proposed", "proposer")
class CandidateProposed(Struct, frozen=True):
    entries: tuple[Entry, ...]
    replaces: tuple[str, ...]  # ids of entries that go
    layer: Layer
    stage: str
    decision: str  # the decision that its trials judge; "completion" for order and retry
    reason: str
    tasks: tuple[str, ...] = ()  # instructions whose programs it changes


@kind("candidates.closed", "proposer")
class CandidatesClosed(Struct, frozen=True):
    round: str
    stage: str
    candidates: tuple[str, ...]


@kind("candidate.screened", "governor")
class CandidateScreened(Struct, frozen=True):
    passed: bool
    reason: str


class Pair(Struct, frozen=True):
    """One initial state that is tried with and without the candidate."""

    index: int
    task: Task
    state: int


@kind("trials.planned", "governor")
class TrialsPlanned(Struct, frozen=True):
    pairs: tuple[Pair, ...]
    decision: str
    memory_at: int


class ArmResult(Struct, frozen=True):
    """One side of a trial."""

    episode: str
    decision: bool
    completed: bool
    failure: str = ""


@kind("trial.finished", "governor", visibility="privileged")
class TrialFinished(Struct, frozen=True):
    index: int
    task: str
    state: int
    without: ArmResult
    with_candidate: ArmResult


class Statistic(Struct, frozen=True):
    """Paired comparison: wins and losses are the discordant pairs, `p` is exact one-sided McNemar."""

    pairs: int
    without: int
    with_candidate: int
    wins: int
    losses: int
    p: float
    interval_without: tuple[float, float]  # Wilson 95%
    interval_with: tuple[float, float]


class Regression(Struct, frozen=True):
    """A task of which more pairs completed without the candidate only than with it only."""

    task: str
    pairs: int
    wins: int
    losses: int


@kind("verdict.given", "governor")
class VerdictGiven(Struct, frozen=True):
    """The statistics are over all pairs that were played."""

    verdict: Literal["accepted", "rejected", "not_testable"]
    reason: str
    decision: Statistic | None = None
    completion: Statistic | None = None
    failures_without: dict[str, int] = {}
    failures_with: dict[str, int] = {}
    regressions: tuple[Regression, ...] = ()
    planned: int = 0  # pairs planned; more than were played where the trials ended early
    gated: bool = True  # False where a run has no Governor


@kind("memory.changed", "governor")
class MemoryChanged(Struct, frozen=True):
    candidate: str
    added: tuple[Entry, ...]
    removed: tuple[str, ...]
    memory_hash: str


# Checkpoints ------------------------------------------------------------------------------------------------


@kind("layer.frozen", "trainer", "operator")
class LayerFrozen(Struct, frozen=True):
    name: str  # C1, C3/B4
    layer: Layer
    memory_hash: str
    api_hash: str
    parent: str = ""  # name of the checkpoint that this one builds on
    closed: bool = True  # False: a snapshot after a round, the layer goes on learning


@kind("checkpoint.signed", "ledger")
class CheckpointSigned(Struct, frozen=True):
    name: str
    note: str  # C2SP signed note over the tree that ends with layer.frozen
    frozen_seq: int
    tree_size: int


# Evaluation, deployment, models, safety ---------------------------------------------------------------------


@kind("evaluation.started", "trainer", "operator")
class EvaluationStarted(Struct, frozen=True):
    checkpoint: str
    arm: str  # "empty", "cerebellum", "brain", "both"
    suite: str
    tasks: tuple[str, ...]
    states: tuple[int, ...]


@kind("evaluation.finished", "trainer", "operator")
class EvaluationFinished(Struct, frozen=True):
    arm: str
    episodes: int
    successes: int
    settled: int
    interval: tuple[float, float]
    by_task: dict[str, tuple[int, int]]  # suite/number (once: instruction) → successes, episodes
    seconds: float


@kind("model.called", "proposer", "verifier", "governor", closed=("verifier", "governor"))
class ModelCalled(Struct, frozen=True):
    """One question to a language model and its answer, or why there was none. The Verifier's and the
    Governor's are privileged: what they ask carries ground truth."""

    role: str
    model: str  # address, such as openai:NAME@URL
    input_tokens: int
    output_tokens: int
    seconds: float
    cost: float  # in the currency of the run's price table
    purpose: str = ""  # "probe", "program", "reflection", "critique" or "screening"
    cached_tokens: int = 0  # of the input's, those that the vendor had kept
    prompt: str = ""  # blob
    response: str = ""  # blob
    error: str = ""
    error_kind: str = ""


@kind("deployment.started", "deployer")
class DeploymentStarted(Struct, frozen=True):
    checkpoint: str
    memory_hash: str
    api_hash: str
    backend: str
    note: str
    task: str = ""


@kind("deployment.finished", "deployer")
class DeploymentFinished(Struct, frozen=True):
    status: str
    operations: int
    seconds: float


@kind("safety.stopped", "deployer", "runner")
class SafetyStopped(Struct, frozen=True):
    cause: str
    message: str


@kind("message.refused", "ledger", visibility="privileged")
class MessageRefused(Struct, frozen=True):
    """A message or event that was not committed, and why. `count` is over 1 for the summary of a flood."""

    actor: str
    reason: str
    code: Literal[
        "malformed",
        "oversized",
        "actor",
        "type",
        "version",
        "visibility",
        "data",
        "duplicate",
        "flood",
        "unsigned",  # not a refusal: a frozen layer that no key could sign
    ]
    event: str = ""  # id, where one could be read
    excerpt: str = ""
    count: int = 1


# Making and reading -----------------------------------------------------------------------------------------

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Event)
_last: list[int] = [0]


def new_id() -> str:
    """A UUIDv7 (RFC 9562) that never runs backwards within this process."""
    now = max(clock.time_ns() // 1000, _last[0] + 1)
    _last[0] = now
    millis, micros = divmod(now, 1000)
    # 12 bits after the version carry the fraction of the millisecond, 62 bits are random.
    bits = (millis << 80) | (0x7 << 76) | ((micros * 4096 // 1000) << 64) | (0b10 << 62)
    bits |= int.from_bytes(os.urandom(8)) >> 2
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def make(
    run: str,
    type: str,
    actor: Actor,
    data: Struct,
    *,
    subject: str = "",
    cause: str = "",
    blobs: tuple[str, ...] = (),
) -> Event:
    """A new event of a registered type. Raises KeyError for an unknown type, TypeError for a wrong struct."""
    known = KINDS[type]
    if not isinstance(data, known.data):
        raise TypeError(f"{type} carries {known.data.__name__}, not {data.__class__.__name__}")
    return Event(
        id=new_id(),
        run=run,
        type=type,
        version=known.version,
        actor=actor,
        cause=cause,
        subject=subject,
        time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        visibility=known.heard(actor),
        data=msgspec.Raw(_encoder.encode(data)),
        blobs=blobs,
    )


def encode(event: Event) -> bytes:
    """The bytes that travel and are stored."""
    return _encoder.encode(event)


def decode(raw: bytes) -> Event:
    """Raises msgspec.DecodeError (malformed) or msgspec.ValidationError (wrong shape)."""
    return _decoder.decode(raw)


_payloads: dict[tuple[str, int], msgspec.json.Decoder[Any]] = {}


def payload(event: Event) -> Any:
    """The event's data as the current version of its struct; data of older versions is upcast.

    Raises KeyError for an unknown type, UpcastMissing for a version that cannot be read, and
    msgspec.ValidationError for data that does not fit.
    """
    decoder = _payloads.get((event.type, event.version))
    if decoder is not None:
        return decoder.decode(event.data)
    known = KINDS[event.type]
    if event.version != known.version:
        lifted = upcast.lift(event.type, event.version, known.version, msgspec.json.decode(event.data))
        return msgspec.convert(lifted, known.data)
    decoder = _payloads[event.type, event.version] = msgspec.json.Decoder(known.data)
    return decoder.decode(event.data)
