"""A short run in a real ledger, with two layers frozen and signed, for the tests of the command."""

import asyncio
from pathlib import Path

import msgspec

from skill2real.agents.config import RunConfig
from skill2real.backends.api import API_HASH
from skill2real.ledger import events as ev
from skill2real.ledger.checkpoint import sign_frozen
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.note import SigningKey
from skill2real.ledger.store import Committed, Store

TASK = ev.Task(suite="libero_90", parts=(50,), instruction="pick up the can and put it in the basket")
CONFIG = RunConfig(suite="libero_90", tasks=("50",), run="lab", cerebellum_rounds=1, brain_rounds=1)
GRASP = ev.Entry(
    id="grasp-can",
    layer="cerebellum",
    kind="hint",
    when="when the thing is tall and round",
    template="grasp = compile_grasp(shape)\n",
    state={"depth": 0.02},
    provenance=ev.Provenance(candidate="C1/1", evidence=("C1/train/0/50",), round="C1"),
)
WORD = ev.Entry(
    id="word-left",
    layer="brain",
    kind="hint",
    when="when the instruction says left",
    template="target = regions[0]\n",
    state={"axis": "y"},
    provenance=ev.Provenance(candidate="B1/1", round="B1"),
)


class Author:
    """Appends events to a run's ledger, as the service would."""

    def __init__(self, store: Store, run: str, key: SigningKey | None) -> None:
        self._store, self._run, self._key = store, run, key
        self.entries: list[ev.Entry] = []

    async def say(self, type: str, actor: ev.Actor, data: ev.Struct, subject: str = "") -> int:
        event = ev.make(self._run, type, actor, data, subject=subject)
        (seq,) = await self._store.append([(event, ev.encode(event))])
        return seq

    async def learn(self, candidate: str, entry: ev.Entry, stage: str) -> None:
        proposed = ev.CandidateProposed(
            entries=(entry,),
            replaces=(),
            layer=entry.layer,
            stage=stage,
            decision=entry.kind,
            reason="it worked where it was tried",
            tasks=(TASK.instruction,),
        )
        await self.say("candidate.proposed", "proposer", proposed, candidate)
        await self.say(
            "candidate.screened", "governor", ev.CandidateScreened(passed=True, reason=""), candidate
        )
        verdict = ev.VerdictGiven(verdict="accepted", reason="9 wins, 1 loss")
        await self.say("verdict.given", "governor", verdict, candidate)
        self.entries.append(entry)
        changed = ev.MemoryChanged(
            candidate=candidate, added=(entry,), removed=(), memory_hash=memory_hash(self.entries)
        )
        await self.say("memory.changed", "governor", changed, candidate)

    async def freeze(self, name: str, layer: ev.Layer, parent: str = "") -> None:
        frozen = ev.LayerFrozen(
            name=name, layer=layer, memory_hash=memory_hash(self.entries), api_hash=API_HASH, parent=parent
        )
        seq = await self.say("layer.frozen", "trainer", frozen, name)
        if self._key is not None:
            (raw,) = await self._store.read(seq - 1, 1)
            signed = await sign_frozen(self._store, self._key, Committed(seq, raw.raw))
            await self.say("checkpoint.signed", "ledger", signed, name)


def write_run(home: Path, name: str = "lab", key: SigningKey | None = None, *, finished: bool = True) -> Path:
    """Write the run under `home`; its folder."""

    async def write() -> None:
        store = await Store.open(home / name / "ledger.db")
        try:
            author = Author(store, name, key)
            config = msgspec.to_builtins(msgspec.structs.replace(CONFIG, run=name))
            started = ev.RunStarted(config=config, seeds=CONFIG.states, packages={}, api_hash=API_HASH)
            await author.say("run.started", "trainer", started, name)
            await _first_round(author)
            await author.freeze("C1", "cerebellum")
            await author.learn("B1/1", WORD, "word")
            await author.freeze("C1/B1", "brain", "C1")
            if finished:
                await author.say("run.finished", "trainer", ev.RunFinished(reason="all rounds closed"), name)
        finally:
            await store.close()

    (home / name).mkdir(parents=True)
    asyncio.run(write())
    return home / name


async def _first_round(author: Author) -> None:
    await author.say(
        "round.started", "trainer", ev.RoundStarted(layer="cerebellum", round=1, name="C1"), "C1"
    )
    episode = "C1/train/0/50"
    started = ev.EpisodeStarted(task=TASK, state=0, purpose="train", memory=ev.MemoryRef(), round="C1")
    await author.say("episode.started", "trainer", started, episode)
    program = ev.ProgramProposed(turn=1, source="go_home()\n", last=True)
    await author.say("program.proposed", "proposer", program, episode)
    finished = ev.EpisodeFinished(
        status="done", start_digest="a", end_digest="b", operations=1, turns=1, seconds=1.0
    )
    await author.say("episode.finished", "runner", finished, episode)
    await author.learn("C1/1", GRASP, "grasp")
    refused = ev.CandidateProposed(
        entries=(msgspec.structs.replace(GRASP, id="grasp-box"),),
        replaces=(),
        layer="cerebellum",
        stage="grasp",
        decision="grasp",
        reason="perhaps",
    )
    await author.say("candidate.proposed", "proposer", refused, "C1/2")
    screened = ev.CandidateScreened(passed=False, reason="no evidence names a box")
    await author.say("candidate.screened", "governor", screened, "C1/2")
    closed = ev.RoundClosed(
        layer="cerebellum",
        round=1,
        name="C1",
        episodes=1,
        successes=0,
        accepted=1,
        rejected=1,
        memory_hash=memory_hash(author.entries),
    )
    await author.say("round.closed", "trainer", closed, "C1")
