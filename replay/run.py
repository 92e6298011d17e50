"""A run as a fold: its configuration, rounds, episodes, checkpoints, evaluations, and what it cost."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

import msgspec

from ..ledger.events import (
    KINDS,
    CheckpointSigned,
    DeploymentFinished,
    DeploymentStarted,
    EvaluationFinished,
    EvaluationStarted,
    Event,
    Layer,
    LayerFrozen,
    MessageRefused,
    ModelCalled,
    RoundClosed,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    VerdictGiven,
)
from .episodes import Episode, EpisodeFold
from .fold import data_of


class Round(msgspec.Struct, kw_only=True):
    """A round of a layer. While it is open the counts are those heard so far."""

    name: str
    layer: Layer
    number: int
    seq: int  # of round.started
    closed: int = 0  # seq of round.closed
    episodes: int = 0
    successes: int = 0
    accepted: int = 0
    rejected: int = 0  # not testable ones are not counted
    memory_hash: str = ""


class Checkpoint(msgspec.Struct, kw_only=True):
    """A named state of memory. `signed` is the seq of its signature, 0 where the ledger had no key."""

    name: str
    layer: Layer
    seq: int  # of layer.frozen
    time: str
    closed: bool
    memory_hash: str
    api_hash: str
    parent: str = ""
    signed: int = 0
    tree_size: int = 0


class Evaluation(msgspec.Struct, kw_only=True):
    """One arm of an evaluation. `finished` is 0 and the results are empty while it runs."""

    checkpoint: str
    arm: str
    suite: str
    tasks: tuple[str, ...]
    states: tuple[int, ...]
    seq: int
    subject: str = ""
    finished: int = 0
    episodes: int = 0
    successes: int = 0
    settled: int = 0
    interval: tuple[float, float] = (0.0, 1.0)
    by_task: dict[str, tuple[int, int]] = {}
    seconds: float = 0.0


class Deployment(msgspec.Struct, kw_only=True):
    """A frozen memory at work on a backend."""

    seq: int
    checkpoint: str
    memory_hash: str
    backend: str
    task: str
    subject: str = ""
    status: str = "open"
    operations: int = 0
    seconds: float = 0.0


class ModelUse(msgspec.Struct):
    """What one role spent on one model. `cost` is in the currency of the model's price list."""

    calls: int = 0
    errors: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


class RunFold:
    """Hears everything; decodes only what it keeps."""

    types = frozenset(KINDS)

    def __init__(self) -> None:
        self.run = ""
        self.config: dict[str, Any] = {}
        self.seeds: dict[str, tuple[int, int]] = {}
        self.packages: dict[str, str] = {}
        self.api_hash = ""
        self.started = ""  # time of the first event
        self.latest = ""  # time of the last one heard
        self.seq = 0
        self.reason = ""  # of run.finished
        self.rounds: dict[str, Round] = {}
        self.checkpoints: dict[str, Checkpoint] = {}  # the last one of a name counts
        self.evaluations: list[Evaluation] = []
        self.deployments: list[Deployment] = []
        self.verdicts: Counter[str] = Counter()
        self.models: dict[tuple[str, str], ModelUse] = {}  # by (role, model)
        self.refusals: Counter[str] = Counter()  # by code
        self.counts: Counter[str] = Counter()  # events by type
        self._episodes = EpisodeFold()
        self._finished = False
        self._round = ""  # the one that is open

    @property
    def episodes(self) -> dict[str, Episode]:
        return self._episodes.episodes

    @property
    def state(self) -> str:
        """`new`, `running` or `finished`. A ledger alone cannot tell running from interrupted: see `runs`."""
        if not self.seq:
            return "new"
        return "finished" if self._finished else "running"

    @property
    def elapsed(self) -> float:
        """Seconds from the first event to the last by the publishers' clocks, 0 where they cannot be read."""
        try:
            first, last = datetime.fromisoformat(self.started), datetime.fromisoformat(self.latest)
            return max(0.0, (last - first).total_seconds())
        except (ValueError, TypeError):
            return 0.0

    @property
    def cost(self) -> float:
        return sum(use.cost for use in self.models.values())

    def hear(self, seq: int, event: Event) -> None:
        """Take in one event. Raises UnknownEvent or BadEvent."""
        self.counts[event.type] += 1
        self.seq = seq
        if event.time:
            self.started = self.started or event.time
            self.latest = event.time
        self.run = self.run or event.run
        take = _TAKE.get(event.type)
        if take is not None:
            take(self, seq, event, data_of(seq, event))
        self._episodes.hear(seq, event)
        if event.type in ("episode.finished", "outcome.measured"):
            self._count(event)

    def _count(self, event: Event) -> None:
        """Keep the open round's counts; closing it brings the trainer's own."""
        episode = self.episodes.get(event.subject)
        round = self.rounds.get(episode.round) if episode and episode.purpose == "train" else None
        if round is None or round.closed or episode is None:
            return
        if event.type == "episode.finished":
            round.episodes += 1
        elif episode.success:
            round.successes += 1

    def _run_started(self, seq: int, event: Event, data: RunStarted) -> None:
        self.config, self.seeds = data.config, data.seeds
        self.packages, self.api_hash = data.packages, data.api_hash
        self._finished, self.reason = False, ""

    def _run_resumed(self, seq: int, event: Event, data: RunResumed) -> None:
        self.packages = data.packages
        self._finished, self.reason = False, ""

    def _run_finished(self, seq: int, event: Event, data: RunFinished) -> None:
        self._finished, self.reason = True, data.reason

    def _round_started(self, seq: int, event: Event, data: RoundStarted) -> None:
        self._finished, self.reason = False, ""
        self._round = data.name
        if data.name not in self.rounds:  # a resumed run may say it again
            self.rounds[data.name] = Round(name=data.name, layer=data.layer, number=data.round, seq=seq)

    def _round_closed(self, seq: int, event: Event, data: RoundClosed) -> None:
        began = self.rounds.get(data.name)
        self.rounds[data.name] = Round(
            name=data.name,
            layer=data.layer,
            number=data.round,
            seq=began.seq if began else seq,
            closed=seq,
            episodes=data.episodes,
            successes=data.successes,
            accepted=data.accepted,
            rejected=data.rejected,
            memory_hash=data.memory_hash,
        )
        self._round = ""

    def _verdict_given(self, seq: int, event: Event, data: VerdictGiven) -> None:
        self.verdicts[data.verdict] += 1
        round = self.rounds.get(self._round)
        if round is None:
            return
        if data.verdict == "accepted":
            round.accepted += 1
        elif data.verdict == "rejected":
            round.rejected += 1

    def _layer_frozen(self, seq: int, event: Event, data: LayerFrozen) -> None:
        self.checkpoints.pop(data.name, None)
        self.checkpoints[data.name] = Checkpoint(
            name=data.name,
            layer=data.layer,
            seq=seq,
            time=event.time,
            closed=data.closed,
            memory_hash=data.memory_hash,
            api_hash=data.api_hash,
            parent=data.parent,
        )

    def _checkpoint_signed(self, seq: int, event: Event, data: CheckpointSigned) -> None:
        checkpoint = self.checkpoints.get(data.name)
        if checkpoint is not None and checkpoint.seq == data.frozen_seq:
            checkpoint.signed, checkpoint.tree_size = seq, data.tree_size

    def _evaluation_started(self, seq: int, event: Event, data: EvaluationStarted) -> None:
        self.evaluations.append(
            Evaluation(
                checkpoint=data.checkpoint,
                arm=data.arm,
                suite=data.suite,
                tasks=data.tasks,
                states=data.states,
                seq=seq,
                subject=event.subject,
            )
        )

    def _evaluation_finished(self, seq: int, event: Event, data: EvaluationFinished) -> None:
        # Its own beginning: the latest of this arm (and subject) that has not ended.
        for evaluation in reversed(self.evaluations):
            if not evaluation.finished and (evaluation.arm, evaluation.subject) == (data.arm, event.subject):
                break
        else:
            evaluation = Evaluation(checkpoint="", arm=data.arm, suite="", tasks=(), states=(), seq=seq)
            self.evaluations.append(evaluation)
        evaluation.finished = seq
        evaluation.episodes, evaluation.successes = data.episodes, data.successes
        evaluation.settled, evaluation.interval = data.settled, data.interval
        evaluation.by_task, evaluation.seconds = data.by_task, data.seconds

    def _deployment_started(self, seq: int, event: Event, data: DeploymentStarted) -> None:
        self.api_hash = self.api_hash or data.api_hash
        self.deployments.append(
            Deployment(
                seq=seq,
                checkpoint=data.checkpoint,
                memory_hash=data.memory_hash,
                backend=data.backend,
                task=data.task,
                subject=event.subject,
            )
        )

    def _deployment_finished(self, seq: int, event: Event, data: DeploymentFinished) -> None:
        for deployment in reversed(self.deployments):
            if deployment.status == "open" and deployment.subject == event.subject:
                deployment.status = data.status
                deployment.operations, deployment.seconds = data.operations, data.seconds
                self._finished, self.reason = True, data.status
                break

    def _model_called(self, seq: int, event: Event, data: ModelCalled) -> None:
        use = self.models.setdefault((data.role, data.model), ModelUse())
        use.calls += 1
        use.errors += bool(data.error)
        use.input_tokens += data.input_tokens
        use.output_tokens += data.output_tokens
        use.seconds += data.seconds
        use.cost += data.cost

    def _message_refused(self, seq: int, event: Event, data: MessageRefused) -> None:
        self.refusals[data.code] += data.count


_TAKE: Final[dict[str, Callable[[RunFold, int, Event, Any], None]]] = {
    "run.started": RunFold._run_started,
    "run.resumed": RunFold._run_resumed,
    "run.finished": RunFold._run_finished,
    "round.started": RunFold._round_started,
    "round.closed": RunFold._round_closed,
    "verdict.given": RunFold._verdict_given,
    "layer.frozen": RunFold._layer_frozen,
    "checkpoint.signed": RunFold._checkpoint_signed,
    "evaluation.started": RunFold._evaluation_started,
    "evaluation.finished": RunFold._evaluation_finished,
    "deployment.started": RunFold._deployment_started,
    "deployment.finished": RunFold._deployment_finished,
    "model.called": RunFold._model_called,
    "message.refused": RunFold._message_refused,
}
