"""The whole loop in small, on the real simulator and bus: learn, freeze, sign, evaluate, export, deploy."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import aiomqtt
import pytest
from small_run import Said, by_subject, config, digests, memories, read

from skill2real.agents.casting import Cast
from skill2real.agents.config import STATES, RunConfig
from skill2real.agents.crew import Link, linked
from skill2real.agents.deploy import DeployResult, deploy
from skill2real.agents.evaluation import Arm, EvalPlan, evaluate, run_arm
from skill2real.agents.pool import local_pool
from skill2real.agents.scores import EvalResult
from skill2real.agents.session import crew_train, resolve
from skill2real.agents.trainer import Trainer
from skill2real.agents.verification import export, verify_file
from skill2real.ledger import topics
from skill2real.ledger.bus import Bus
from skill2real.ledger.bus_errors import NotAllowed
from skill2real.ledger.check import check_ledger
from skill2real.ledger.credentials import parse_url
from skill2real.ledger.keys import load_key, new_key
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.topics import ANY
from skill2real.replay.again import play_again
from skill2real.replay.errors import NotPlayable

pytestmark = pytest.mark.sim
CONFIG = config("spine")
CHECKPOINT = "C1/B1"
JOINED = "51+52"
STATE = STATES["eval"][0]
ARMS: tuple[Arm, ...] = ("empty", "cerebellum", "both")
FORBIDDEN = ("#", "skill2real/#", topics.ledger(ANY, ANY), topics.ledger("spine", "privileged"))


@dataclass
class Spy:
    """What somebody with the Proposer's password gets out of the bus while a run is going on."""

    run: str
    granted: list[str] = field(default_factory=list)
    heard: list[bytes] = field(default_factory=list)
    privileged_bus: bool = False

    async def listen(self, link: Link) -> None:
        """Until cancelled. Asks for what is allowed on one connection, for what is not on others."""
        try:
            async with Bus.connect(
                link.url, self.run, "proposer", link.password("proposer"), privileged=True
            ):
                self.privileged_bus = True
        except NotAllowed:
            pass
        await asyncio.gather(
            *(self._tap(link, pattern) for pattern in (*FORBIDDEN, topics.ledger(ANY, "public")))
        )

    async def _tap(self, link: Link, pattern: str) -> None:
        address = parse_url(link.url)
        async with aiomqtt.Client(
            address.host,
            address.port,
            username="proposer",
            password=link.password("proposer"),
            identifier=f"proposer-{os.urandom(4).hex()}",
        ) as client:
            (code,) = await client.subscribe(pattern)
            if int(getattr(code, "value", code)) < 0x80:
                self.granted.append(pattern)
            async for message in client.messages:
                self.heard.append(bytes(message.payload))  # type: ignore[arg-type]


@dataclass
class Loop:
    """Everything that the loop left behind."""

    home: Path
    said: list[Said]
    spy: Spy
    arms: list[EvalResult]
    bundle: Path
    again: list[EvalResult]
    deployed: DeployResult
    plan: RunConfig = CONFIG

    @property
    def ledger(self) -> Path:
        return self.home / self.plan.run / "ledger.db"


async def training(home: Path, spy: Spy) -> list[EvalResult]:
    """Train and evaluate in one go, spied upon."""
    results: list[EvalResult] = []
    tasks, brain_tasks = (resolve(CONFIG.suite, names) for names in (CONFIG.tasks, CONFIG.brain_tasks))

    async def afterwards(trainer: Trainer) -> None:
        joined = resolve(CONFIG.suite, (JOINED,))
        for arm in ARMS:
            at = trainer.frozen_at(CHECKPOINT)
            results.append(await run_arm(trainer, CHECKPOINT, at, arm, joined, [STATE]))

    async with linked(home, None) as link, local_pool(CONFIG.workers) as pool:
        listening = asyncio.create_task(spy.listen(link))
        await crew_train(link, Cast(CONFIG), tasks, brain_tasks, pool, lambda progress: None, afterwards)
        assert not listening.done(), "the spy was thrown out and heard nothing"
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
    return results


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
    folder = tmp_path_factory.mktemp("spine")
    home, bundle, spy = folder / "runs", folder / "learned.s2r", Spy(CONFIG.run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKILL2REAL_KEY", str(folder / "signing.key"))
        new_key("spine.test", folder / "signing.key")
        arms = asyncio.run(training(home, spy))
        export(CONFIG.run, home, CHECKPOINT, bundle)
        again = asyncio.run(
            evaluate(
                EvalPlan(
                    target=str(bundle), suite=CONFIG.suite, tasks=(JOINED,), seeds=1, arms=("empty", "both")
                ),
                folder / "lab",
                workers=1,
            )
        )
        deployed = asyncio.run(deploy(str(bundle), folder / "robot", None, CONFIG.suite, JOINED, STATE))
        said = read(home / CONFIG.run / "ledger.db")
        yield Loop(home, said, spy, arms, bundle, again.results, deployed)


def test_every_round_is_closed(loop: Loop) -> None:
    types = [one.event.type for one in loop.said]
    assert types[0] == "run.started"
    assert types.count("run.started") == types.count("run.finished") == 1
    closed = by_subject(loop.said, "round.closed")
    assert list(closed) == list(by_subject(loop.said, "round.started")) == ["C1", "B1"]
    assert [closed[name].episodes for name in closed] == [2 * CONFIG.episodes, CONFIG.episodes]
    verdicts = by_subject(loop.said, "verdict.given")
    for name, data in closed.items():
        own = [v.verdict for id, v in verdicts.items() if id.startswith(f"{name}/")]
        assert (data.accepted, data.rejected) == (
            own.count("accepted"),
            len(own) - own.count("accepted"),
        )


def test_every_episode_is_proposed_played_measured_and_judged(loop: Loop) -> None:
    started = by_subject(loop.said, "episode.started")
    course: dict[str, Counter[str]] = {id: Counter() for id in started}
    for one in loop.said:
        if one.event.subject in course:
            course[one.event.subject][one.event.type] += 1
    assert started
    for id, episode in started.items():
        seen = course[id]
        assert seen["episode.started"] == seen["episode.finished"] == seen["outcome.measured"] == 1, id
        assert seen["program.proposed"] == seen["program.executed"] + seen["program.rejected"] >= 1, id
        assert seen["critique.written"] == (episode.purpose in ("train", "trial")), id
    finished = by_subject(loop.said, "episode.finished")
    assert {data.status for data in finished.values()} <= {"done", "error", "rejected"}
    assert all(data.operations > 0 for data in finished.values() if data.status == "done")


def test_what_leads_to_what_is_on_record(loop: Loop) -> None:
    ids = {one.event.id: one for one in loop.said}
    for one in loop.said:
        if one.event.cause:
            assert ids[one.event.cause].seq < one.seq
    for type, causes in {
        "program.proposed": {"episode.started", "program.executed", "program.rejected"},
        "program.executed": {"program.proposed"},
        "critique.written": {"outcome.measured"},
        "candidate.proposed": {"candidates.requested"},
        "candidate.screened": {"candidate.proposed"},
        "memory.changed": {"verdict.given"},
        "checkpoint.signed": {"layer.frozen"},
    }.items():
        found = [one for one in loop.said if one.event.type == type]
        assert found, type
        assert {ids[one.event.cause].event.type for one in found} <= causes, type


def test_states_for_training_trials_and_evaluation_are_apart(loop: Loop) -> None:
    started = by_subject(loop.said, "episode.started")
    assert {episode.purpose for episode in started.values()} == {"train", "trial", "eval"}
    recorded = by_subject(loop.said, "run.started")[CONFIG.run].seeds
    assert recorded == STATES
    for episode in started.values():
        first, last = recorded[episode.purpose]
        assert first <= episode.state <= last
    assert {episode.memory.explore for episode in started.values() if episode.purpose != "train"} == {False}


def test_every_candidate_is_screened_and_gets_a_verdict(loop: Loop) -> None:
    proposed = by_subject(loop.said, "candidate.proposed")
    screened = by_subject(loop.said, "candidate.screened")
    verdicts = by_subject(loop.said, "verdict.given")
    planned = by_subject(loop.said, "trials.planned")
    assert proposed
    assert proposed.keys() == screened.keys() == verdicts.keys()
    assert planned.keys() == {id for id, data in screened.items() if data.passed}
    assert planned, "no candidate came to its trials: this run proves nothing"
    judged = {id for id, e in by_subject(loop.said, "episode.started").items() if e.purpose == "train"}
    for candidate in proposed.values():
        for entry in candidate.entries:
            assert entry.provenance.evidence
            assert judged.issuperset(entry.provenance.evidence)


def test_each_verdict_rests_on_as_many_pairs_as_were_asked_for(loop: Loop) -> None:
    verdicts = by_subject(loop.said, "verdict.given")
    started = by_subject(loop.said, "episode.started")
    for id, plan in by_subject(loop.said, "trials.planned").items():
        trials = [
            one.data for one in loop.said if one.event.type == "trial.finished" and one.event.subject == id
        ]
        assert [trial.index for trial in trials] == list(range(CONFIG.trials))
        assert len({(pair.task.instruction, pair.state) for pair in plan.pairs}) == CONFIG.trials
        for trial in trials:
            without, added = (started[arm.episode] for arm in (trial.without, trial.with_candidate))
            assert (without.task, without.state) == (added.task, added.state)
            assert without.memory.at == added.memory.at == plan.memory_at
            assert (without.memory.candidate, added.memory.candidate) == ("", id)
        verdict = verdicts[id]
        wins = sum(t.with_candidate.decision > t.without.decision for t in trials)
        losses = sum(t.with_candidate.decision < t.without.decision for t in trials)
        assert verdict.decision.pairs == CONFIG.trials
        assert (verdict.decision.wins, verdict.decision.losses) == (wins, losses)
        assert (verdict.verdict == "accepted") <= (verdict.decision.p < 0.05)


def test_memory_is_what_the_accepted_candidates_say(loop: Loop) -> None:
    verdicts = by_subject(loop.said, "verdict.given")
    proposed = by_subject(loop.said, "candidate.proposed")
    changes = list(memories(loop.said))
    accepted = [id for id, verdict in verdicts.items() if verdict.verdict == "accepted"]
    assert [one.event.subject for one, _ in changes] == accepted
    for one, entries in changes:
        assert one.data.memory_hash == memory_hash(entries.values())
        assert one.data.added == proposed[one.data.candidate].entries
    for one in loop.said:
        if one.event.type in ("layer.frozen", "round.closed"):
            before = [entries for change, entries in changes if change.seq < one.seq]
            assert one.data.memory_hash == memory_hash((before[-1] if before else {}).values())


def test_the_ledger_is_sound_and_its_checkpoints_are_signed(loop: Loop) -> None:
    report = check_ledger(loop.ledger, load_key().verifier)
    assert report.findings == ()
    assert report.signatures_verified
    assert report.checkpoints == ("C1", CHECKPOINT)
    assert report.unsigned == ()
    assert report.events == len(loop.said)
    frozen = by_subject(loop.said, "layer.frozen")
    assert [(name, data.layer, data.parent) for name, data in frozen.items()] == [
        ("C1", "cerebellum", ""),
        (CHECKPOINT, "brain", "C1"),
    ]
    refused = [one.data for one in loop.said if one.event.type == "message.refused"]
    assert refused == []


def test_the_bundle_proves_the_frozen_memory(loop: Loop) -> None:
    _, verified = verify_file(loop.bundle, None)
    frozen = by_subject(loop.said, "layer.frozen")[CHECKPOINT]
    assert (verified.name, verified.run) == (CHECKPOINT, CONFIG.run)
    assert memory_hash(verified.entries) == verified.layer.memory_hash == frozen.memory_hash


def test_every_arm_is_evaluated_with_its_layers_of_memory(loop: Loop) -> None:
    assert [(result.arm, result.episodes) for result in loop.arms] == [(arm, 1) for arm in ARMS]
    started = by_subject(loop.said, "episode.started")
    on_record = by_subject(loop.said, "evaluation.finished")
    outcomes = by_subject(loop.said, "outcome.measured")
    for result in loop.arms:
        subject = f"eval/{CHECKPOINT}/{result.arm}"
        own = [id for id in started if id.startswith(f"{subject}/")]
        assert len(own) == result.episodes
        assert result.successes == on_record[subject].successes == sum(outcomes[id].success for id in own)
        layers = {"empty": (), "cerebellum": ("cerebellum",), "both": ("cerebellum", "brain")}[result.arm]
        assert {started[id].memory.layers for id in own} == {layers}


def test_a_deployment_names_its_checkpoint_and_learns_nothing(loop: Loop) -> None:
    said = read(loop.deployed.path / "ledger.db")
    assert said[0].event.type == "deployment.started"
    _, verified = verify_file(loop.bundle, None)
    assert (said[0].data.checkpoint, said[0].data.memory_hash) == (
        CHECKPOINT,
        verified.layer.memory_hash,
    )
    assert said[0].data.note == verified.note
    assert loop.deployed.status in ("done", "error", "rejected")
    types = {one.event.type for one in said}
    assert types.isdisjoint({"critique.written", "candidate.proposed", "verdict.given", "memory.changed"})
    assert check_ledger(loop.deployed.path / "ledger.db").ok


def test_the_proposer_never_hears_a_privileged_event(loop: Loop) -> None:
    assert not loop.spy.privileged_bus
    assert loop.spy.granted == [topics.ledger(ANY, "public")]
    heard = b"".join(loop.spy.heard)
    assert b'"visibility":"privileged"' not in heard
    secret = [one for one in loop.said if one.event.visibility == "privileged"]
    assert {one.event.type for one in secret} >= {"outcome.measured", "trial.finished"}
    for one in loop.said:
        known = f'"id":"{one.event.id}"'.encode() in heard
        if one.event.visibility == "privileged":
            assert not known
        elif one.event.type == "program.proposed":  # it did listen all the time
            assert known


def test_the_same_episode_elsewhere_has_the_same_digests(loop: Loop) -> None:
    (lab,) = (loop.bundle.parent / "lab").iterdir()
    here, there = digests(loop.said), digests(read(lab / "ledger.db"))
    names = [f"eval/{CHECKPOINT}/{arm}/{CONFIG.suite}/{JOINED}/{STATE}" for arm in ("empty", "both")]
    assert list(there) == names
    for name in names:
        assert here[name] == there[name]
        assert all(here[name])
    assert {result.arm: result.successes for result in loop.again} == {
        result.arm: result.successes for result in loop.arms if result.arm != "cerebellum"
    }
    starts = {start for start, _ in there.values()}
    assert len(starts) == 1
    # The memory decides how it ends; a digest that never differs would compare nothing.
    assert len({end for _, end in here.values()}) > 1


def test_an_episode_played_again_leads_to_the_recorded_states(loop: Loop) -> None:
    again = play_again(loop.ledger.parent, f"eval/{CHECKPOINT}/both/{CONFIG.suite}/{JOINED}/{STATE}")
    assert again.same
    assert again.programs == 2
    assert again.start != again.end
    with pytest.raises(NotPlayable, match="it has, among others: C1/train/0"):
        play_again(loop.ledger.parent, "nobody")


def test_the_same_deployment_ends_as_the_evaluation_did(loop: Loop) -> None:
    ((start, end),) = digests(read(loop.deployed.path / "ledger.db")).values()
    name = f"eval/{CHECKPOINT}/both/{CONFIG.suite}/{JOINED}/{STATE}"
    programs = [
        [
            one.data.source
            for one in said
            if one.event.type == "program.proposed" and one.event.subject == subject
        ]
        for said, subject in ((loop.said, name), (read(loop.deployed.path / "ledger.db"), "deploy/0"))
    ]
    assert start == digests(loop.said)[name][0]
    if programs[0] == programs[1]:  # the model may choose by the episode's name where its memory does not say
        assert end == digests(loop.said)[name][1]
