"""The trainer: rounds of a layer, each of training episodes, reflection, trials, and a signed freeze."""

import itertools
from collections import Counter
from collections.abc import Callable

import anyio
import msgspec

from ..backends.api import API_HASH
from ..ledger import events as ev
from ..ledger.bus import Bus
from ..ledger.events import Event, Layer
from .config import CHANGEABLE, RunConfig, read
from .director import ABREAST, Director, Job, Judgement, Progress
from .errors import RunMismatch
from .forecast import ahead, plan
from .governor import arm_episode
from .packages import installed
from .rounds import name_of, stages
from .spending import limit_of
from .trials import BATCH, hopeless

SCENES = 8  # whose tasks are practised at a time: what two workers keep loaded
PASSES = 24  # how often a stage is asked again while it yields candidates
LANGUAGE_PASSES = 3  # the same for a language model, whose every answer costs


class Trainer(Director):
    """Drives one run from its configuration. `tasks` and `brain_tasks` are resolved by the caller."""

    def __init__(
        self,
        bus: Bus,
        config: RunConfig,
        tasks: list[ev.Task],
        brain_tasks: list[ev.Task],
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._language = bool(config.language().get("proposer"))
        abreast = max(config.workers, ABREAST) if self._language else config.workers
        super().__init__(bus, config.run, abreast, config.verified, progress, limit_of(config))
        self.config, self.pixels = config, config.pixels
        self.tasks: dict[Layer, list[ev.Task]] = {"cerebellum": tasks, "brain": brain_tasks}
        self._run_started: ev.RunStarted | None = None
        self._finished_run = False
        self._rounds: set[str] = set()
        self._closed: dict[str, ev.RoundClosed] = {}
        self._reflected: dict[str, list[tuple[str, ...]]] = {}
        self._verdicts: dict[str, ev.VerdictGiven] = {}
        self._planned: dict[str, ev.TrialsPlanned] = {}
        self._recorded: dict[str, list[ev.TrialFinished]] = {}  # pairs by candidate
        self._frozen: dict[str, int] = {}
        self._signed: set[str] = set()
        self._applied: set[str] = set()
        self._plan = plan(config, len(tasks), len(brain_tasks))
        self._trials: Counter[str] = Counter()  # trial episodes by round
        self._round_name = ""
        self._curve: dict[str, list[float]] = {}  # share of successes by round and batch

    def hear(self, seq: int, event: Event) -> None:
        super().hear(seq, event)
        match event.type:
            case "run.started":
                self._run_started = ev.payload(event)
            case "run.finished":
                self._finished_run = True
            case "round.started":
                self._rounds.add(event.subject)
            case "round.closed":
                self._closed[event.subject] = ev.payload(event)
            case "candidates.closed":
                closed: ev.CandidatesClosed = ev.payload(event)
                self._reflected.setdefault(event.subject, []).append(closed.candidates)
            case "trials.planned":
                planned: ev.TrialsPlanned = ev.payload(event)
                self._planned[event.subject] = planned
                self._trials[event.subject.partition("/")[0]] += 2 * len(planned.pairs)
            case "trial.finished":
                self._recorded.setdefault(event.subject, []).append(ev.payload(event))
            case "verdict.given":
                self._verdicts[event.subject] = ev.payload(event)
            case "memory.changed":
                self._applied.add(event.subject)
            case "layer.frozen":
                self._frozen[event.subject] = seq
            case "checkpoint.signed":
                self._signed.add(event.subject)

    async def train(self) -> None:
        """Run to the end, from wherever the ledger stands, once it is open."""
        layers: tuple[tuple[Layer, int], ...] = (
            ("cerebellum", self.config.cerebellum_rounds),
            ("brain", self.config.brain_rounds),
        )
        for layer, rounds in layers:
            for number in range(1, rounds + 1):
                await self._round(layer, number, last=number == rounds)
        if not self._finished_run:
            await self.say("run.finished", ev.RunFinished(reason="all rounds closed"), subject=self.run)

    async def open(self, resume: bool = True) -> None:
        """Begin the run, or take it up again where that is allowed. Raises RunMismatch where it is not, and
        for a run of another configuration."""
        await self.ready.wait()
        config = msgspec.json.decode(msgspec.json.encode(self.config))  # as it stands in the ledger
        if self._run_started is None:
            started = ev.RunStarted(
                config=config, seeds=self.config.states, packages=installed(), api_hash=API_HASH
            )
            await self.say("run.started", started, subject=self.run)
            return
        if not resume:
            raise RunMismatch(
                f"there is a run {self.run} already; go on with --resume, or choose another --run"
            )
        recorded = read(self._run_started.config)
        differ = [
            k for k in config if k not in CHANGEABLE and getattr(recorded, k) != getattr(self.config, k)
        ]
        if differ:
            raise RunMismatch(
                f"run {self.run} was started with another {', '.join(differ)}; resume it with the same "
                "flags, or choose another --run name"
            )
        seq = await self.say("run.resumed", ev.RunResumed(packages=installed()), subject=self.run)
        await self.until(lambda: self.seq >= seq)  # what is open, or could not be played, is forgotten then
        self._finished_run = False

    async def _round(self, layer: Layer, number: int, last: bool) -> None:
        name = self._round_name = name_of(layer, number)
        if name not in self._closed:
            if name not in self._rounds:
                await self.say(
                    "round.started", ev.RoundStarted(layer=layer, round=number, name=name), subject=name
                )
            judgements = await self._practise(layer, name)
            for stage in stages(layer, self._language):
                await self._stage(layer, name, stage)
            await self._close(layer, number, name, judgements)
        await self.freeze(layer, self._checkpoint_name(layer, number), closed=last)

    def _checkpoint_name(self, layer: Layer, number: int) -> str:
        if layer == "cerebellum" or self.config.cerebellum_rounds == 0:
            return name_of(layer, number)
        return f"{name_of('cerebellum', self.config.cerebellum_rounds)}/{name_of(layer, number)}"

    async def _practise(self, layer: Layer, name: str) -> list[Judgement]:
        """Training episodes in batches, each of one episode a task, so that each batch learns from the last.

        Tasks of a few scenes at a time go through all their batches before the next ones begin: what they
        taught helps there from the first episode on, and a scene is loaded once a round.
        """
        first, last = self.config.states["train"]
        judgements: list[Judgement] = []
        total = self.config.episodes * len(self.tasks[layer])
        self.progress(Progress(f"{name} practice", 0, total))
        groups = by_scenes(self.tasks[layer], SCENES)
        for number, turn in itertools.product(range(len(groups)), range(self.config.episodes)):
            jobs = [
                Job(
                    id=f"{name}/train/{turn}/{'+'.join(map(str, task.parts))}",
                    task=task,
                    state=first + turn % (last - first + 1),
                    purpose="train",
                    memory=self.memory_ref(explore=True),
                    round=name,
                    batch=number * self.config.episodes + turn,
                )
                for task in groups[number]
            ]
            played = await self.episodes(jobs, f"{name} practice", len(judgements), total)
            judgements += played
            self._tell(name, len(groups) * self.config.episodes, played)
        return judgements

    def _tell(self, name: str, batches: int, played: list[Judgement]) -> None:
        """The success of a batch, and of the batches before it."""
        wins = sum(bool(judgement.success) for judgement in played)
        curve = self._curve.setdefault(name, [])
        curve.append(wins / max(1, len(played)))
        self.progress(
            Progress(
                f"{name} batch {len(curve)} of {batches}: {wins} of {len(played)} succeeded; "
                f"batches so far: {', '.join(f'{share:.0%}' for share in curve)}"
            )
        )

    def ahead(self, here: int) -> float:
        return here + ahead(self._plan, tuple(self._closed), self._trials, self._round_name)

    async def _stage(self, layer: Layer, name: str, stage: str) -> None:
        """Ask for candidates until there are none, and see each through its trials."""
        subject = f"{name}/{stage}"
        for turn in range(LANGUAGE_PASSES if self._language else PASSES):
            self.check_spending()
            if len(self._reflected.get(subject, ())) <= turn:
                request = ev.CandidatesRequested(round=name, layer=layer, stage=stage)
                await self.say("candidates.requested", request, subject=subject)
                await self.until(lambda turn=turn: len(self._reflected.get(subject, ())) > turn)  # type: ignore[misc]
            candidates = self._reflected[subject][turn]
            for candidate in candidates:
                await self._try(name, candidate)
            if not candidates:
                return

    async def _try(self, name: str, candidate: str) -> None:
        await self.until(lambda: candidate in self._verdicts or candidate in self._planned)
        planned = self._planned.get(candidate)
        if candidate not in self._verdicts and planned is not None:
            await self._pairs(name, candidate, planned)
            await self.until(lambda: candidate in self._verdicts)
        verdict = self._verdicts[candidate]
        self.progress(Progress(f"{candidate}: {verdict.verdict}, {verdict.reason}"))
        if verdict.verdict == "accepted":
            await self.until(lambda: candidate in self._applied)

    async def _pairs(self, name: str, candidate: str, planned: ev.TrialsPlanned) -> None:
        """Play a candidate's pairs; with `early_stop` in batches, until it can no longer be accepted."""
        count = len(planned.pairs)
        size = BATCH if self.config.early_stop else count
        for first in range(0, count, size):
            jobs = [
                Job(
                    id=arm_episode(candidate, pair.index, side),
                    task=pair.task,
                    state=pair.state,
                    purpose="trial",
                    memory=self.memory_ref(at=planned.memory_at, candidate=candidate if side else ""),
                    round=name,
                )
                for pair in planned.pairs[first : first + size]
                for side in (False, True)
            ]
            await self.episodes(jobs, f"{candidate} trials", 2 * first, 2 * count)
            if size < count:
                played = min(first + size, count)
                await self.until(lambda played=played: len(self._recorded.get(candidate, ())) >= played)  # type: ignore[misc]
                if hopeless(self._recorded[candidate], count):
                    return

    async def _close(self, layer: Layer, number: int, name: str, judgements: list[Judgement]) -> None:
        verdicts = [v for id, v in self._verdicts.items() if id.startswith(f"{name}/")]
        accepted = sum(v.verdict == "accepted" for v in verdicts)
        closed = ev.RoundClosed(
            layer=layer,
            round=number,
            name=name,
            episodes=len(judgements),
            successes=sum(bool(j.success) for j in judgements),
            accepted=accepted,
            rejected=len(verdicts) - accepted,
            memory_hash=self.memory.hash,
        )
        await self.say("round.closed", closed, subject=name)
        rounds = {**self._closed, name: closed}
        self.progress(
            Progress(
                f"{name} closed: {closed.successes} of {closed.episodes} episodes, "
                f"{accepted} of {len(verdicts)} accepted; rounds so far: "
                + ", ".join(f"{r.name} {r.successes / max(1, r.episodes):.0%}" for r in rounds.values())
            )
        )

    async def freeze(self, layer: Layer, name: str, closed: bool = True) -> None:
        """Freeze the memory under a name, and wait until the ledger has signed it."""
        if name not in self._frozen:
            parent = list(self._frozen)[-1] if self._frozen else ""
            frozen = ev.LayerFrozen(
                name=name,
                layer=layer,
                memory_hash=self.memory.hash,
                api_hash=API_HASH,
                parent=parent,
                closed=closed,
            )
            await self.say("layer.frozen", frozen, subject=name)
        with anyio.move_on_after(30):
            await self.until(lambda: name in self._signed)
        self.progress(
            Progress(
                f"checkpoint {name} " + ("signed" if name in self._signed else "NOT signed: no signing key")
            )
        )

    def frozen_at(self, name: str) -> int:
        """Sequence number of the event that froze this checkpoint."""
        return self._frozen[name]

    def checkpoints(self) -> tuple[str, ...]:
        """Names frozen so far, in order."""
        return tuple(self._frozen)


def by_scenes(tasks: list[ev.Task], most: int) -> list[list[ev.Task]]:
    """Tasks in groups of at most `most` scenes, in the order in which the scenes first occur."""
    scenes = list(dict.fromkeys(task.scene for task in tasks))
    groups = [scenes[i : i + most] for i in range(0, len(scenes), most)]
    return [[task for task in tasks if task.scene in group] for group in groups]
