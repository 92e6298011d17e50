"""A small run, written through the real store: skills of two layers, accepted, refused and replaced."""

import asyncio
from pathlib import Path

import msgspec

from skill2real.ledger import events as ev
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.store import Store

RUN = "sample"
SOUP = ev.Task(suite="libero_90", parts=(3,), instruction="put the soup in the basket", scene="living")


def entry(
    id: str,
    layer: ev.Layer = "cerebellum",
    candidate: str = "",
    evidence: tuple[str, ...] = (),
    **state: object,
) -> ev.Entry:
    return ev.Entry(
        id=id,
        layer=layer,
        kind="grasp",
        when=f"when the thing is like {id}",
        template="shape = measure_region(region)\ngrasp = compile_grasp(shape, depth={depth})\n",
        state=dict(state),
        provenance=ev.Provenance(candidate=candidate, evidence=evidence, round="C1"),
    )


class Writer:
    """Collects events of a run with a clock that goes on a second an event."""

    def __init__(self, start: str = "2025-03-01T10:00:00Z") -> None:
        self.events: list[ev.Event] = []
        self.memory: dict[str, ev.Entry] = {}
        self._start = ev.datetime.fromisoformat(start)

    def say(self, type: str, actor: ev.Actor, data: ev.Struct, subject: str = "") -> int:
        made = ev.make(RUN, type, actor, data, subject=subject)
        time = self._start.timestamp() + len(self.events)
        stamp = ev.datetime.fromtimestamp(time, ev.UTC).isoformat().replace("+00:00", "Z")
        self.events.append(msgspec.structs.replace(made, time=stamp))
        return len(self.events)

    def episode(
        self, id: str, *, success: bool, purpose: ev.Purpose = "train", round: str = "C1", critique: str = ""
    ) -> None:
        memory = ev.MemoryRef(at=len(self.events))
        started = ev.EpisodeStarted(task=SOUP, state=1, purpose=purpose, memory=memory, round=round)
        self.say("episode.started", "trainer", started, id)
        choices = ({"decision": "grasp", "variant": "rim"},)
        program = ev.ProgramProposed(turn=1, source="go_home()", last=True, choices=choices)
        self.say("program.proposed", "proposer", program, id)
        call = ev.Call(operation="go_home", arguments={}, result={"ok": True, "reason": ""}, seconds=0.1)
        trace = ev.ProgramExecuted(
            turn=1, calls=(call,), printed="", value=None, error="", unread_failures=(), seconds=0.1
        )
        self.say("program.executed", "runner", trace, id)
        finished = ev.EpisodeFinished(
            status="done", start_digest="aa", end_digest="bb", operations=1, turns=1, seconds=0.5
        )
        self.say("episode.finished", "runner", finished, id)
        outcome = ev.OutcomeMeasured(
            success=success, settled=success, progress=float(success), truth={"x": 1}
        )
        self.say("outcome.measured", "runner", outcome, id)
        if critique:
            finding = ev.Finding(clause=0, decision="grasp", good=success, kind="slipped")
            words = ev.CritiqueWritten(text=critique, findings=(finding,), success=success)
            self.say("critique.written", "verifier", words, id)

    def propose(self, id: str, *entries: ev.Entry, replaces: tuple[str, ...] = ()) -> None:
        proposed = ev.CandidateProposed(
            entries=entries,
            replaces=replaces,
            layer=entries[0].layer,
            stage="grasp",
            decision="grasp",
            reason=f"{id} lifted more often",
            tasks=(SOUP.instruction,),
        )
        self.say("candidate.proposed", "proposer", proposed, id)

    def screen(self, id: str, passed: bool, reason: str = "") -> None:
        self.say("candidate.screened", "governor", ev.CandidateScreened(passed=passed, reason=reason), id)

    def try_out(self, id: str, results: list[tuple[bool, bool]]) -> None:
        pairs = tuple(ev.Pair(index=i, task=SOUP, state=10 + i) for i in range(len(results)))
        plan = ev.TrialsPlanned(pairs=pairs, decision="grasp", memory_at=len(self.events))
        self.say("trials.planned", "governor", plan, id)
        for i, (before, after) in enumerate(results):
            trial = ev.TrialFinished(
                index=i,
                task=SOUP.instruction,
                state=10 + i,
                without=ev.ArmResult(episode=f"{id}-a{i}", decision=before, completed=before),
                with_candidate=ev.ArmResult(
                    episode=f"{id}-b{i}", decision=after, completed=after, failure="" if after else "slipped"
                ),
            )
            self.say("trial.finished", "governor", trial, id)

    def judge(
        self,
        id: str,
        verdict: str,
        reason: str,
        decision: ev.Statistic | None = None,
        completion: ev.Statistic | None = None,
    ) -> None:
        given = ev.VerdictGiven(
            verdict=verdict,  # type: ignore[arg-type]
            reason=reason,
            decision=decision,
            completion=completion or decision,
            failures_with={"slipped": 2},
        )
        self.say("verdict.given", "governor", given, id)

    def change(self, candidate: str, *added: ev.Entry, removed: tuple[str, ...] = ()) -> int:
        for id in removed:
            self.memory.pop(id, None)
        self.memory.update((one.id, one) for one in added)
        changed = ev.MemoryChanged(candidate=candidate, added=added, removed=removed, memory_hash=self.hash())
        return self.say("memory.changed", "governor", changed, candidate)

    def freeze(self, name: str, layer: ev.Layer, *, closed: bool = True, parent: str = "") -> int:
        frozen = ev.LayerFrozen(
            name=name, layer=layer, memory_hash=self.hash(), api_hash="api", parent=parent, closed=closed
        )
        return self.say("layer.frozen", "trainer", frozen, name)

    def hash(self) -> str:
        return memory_hash(self.memory.values())


# 25 pairs: 8 succeed either way, 9 only with the candidate, 1 only without, 7 never.
RESULTS = [(True, True)] * 8 + [(False, True)] * 9 + [(True, False)] + [(False, False)] * 7
STATISTIC = ev.Statistic(
    pairs=25,
    without=9,
    with_candidate=17,
    wins=9,
    losses=1,
    p=11 / 1024,
    interval_without=(0.2, 0.56),
    interval_with=(0.48, 0.83),
)


def sample() -> Writer:
    """The run's events; 1, 2, … are their sequence numbers."""
    w = Writer()
    seeds = {"train": (0, 9), "trial": (10, 29), "eval": (30, 49)}
    config = {"suite": "libero_90", "tasks": ["3"]}
    w.say("run.started", "trainer", ev.RunStarted(config=config, seeds=seeds, packages={}, api_hash="api"))
    w.say("round.started", "trainer", ev.RoundStarted(layer="cerebellum", round=1, name="C1"))
    w.episode("e1", success=False, critique="the object slipped while lifting")
    w.episode("e2", success=True, critique="lifted and released in the basket")
    can = entry("can", candidate="c1", evidence=("e1", "e2", "e-lost"), depth=0.02, styles=["rim", "top"])
    w.propose("c1", can)
    w.screen("c1", True)
    w.try_out("c1", RESULTS)
    w.judge("c1", "accepted", "9 wins, 1 loss", STATISTIC)
    w.change("c1", can)
    w.propose("c2", entry("carton", candidate="c2"))
    w.screen("c2", False, "no evidence names a carton")
    usage = ev.ModelCalled(
        role="proposer", model="m", input_tokens=10, output_tokens=5, seconds=1.0, cost=0.25
    )
    w.say("model.called", "proposer", usage)
    w.say("round.closed", "trainer", _closed("C1", "cerebellum", w.hash()))
    frozen = w.freeze("C1", "cerebellum", closed=False)
    w.say(
        "checkpoint.signed",
        "ledger",
        ev.CheckpointSigned(name="C1", note="note", frozen_seq=frozen, tree_size=frozen),
        "C1",
    )
    w.say("round.started", "trainer", ev.RoundStarted(layer="cerebellum", round=2, name="C2"))
    better = msgspec.structs.replace(
        entry("can", candidate="c3", evidence=("e2",), depth=0.03, styles=["rim", "side"]),
        template=can.template + "move_to(grasp.pose)\n",
    )
    w.propose("c3", better, replaces=("can",))
    w.judge("c3", "accepted", "better still")
    w.change("c3", better)
    w.say("round.closed", "trainer", _closed("C2", "cerebellum", w.hash()))
    w.freeze("C2", "cerebellum", parent="C1")
    left = entry("left", "brain", candidate="c4", axis="y")
    w.propose("c4", left)
    w.judge("c4", "not_testable", "fewer than 5 failures without it")
    w.propose("c5", left)
    w.judge("c5", "accepted", "12 wins")
    w.change("c5", left)
    w.freeze("C2/B1", "brain", parent="C2")
    started = ev.EvaluationStarted(
        checkpoint="C2/B1", arm="both", suite="libero_90", tasks=(SOUP.instruction,), states=(30, 31)
    )
    w.say("evaluation.started", "trainer", started)
    w.episode("e9", success=True, purpose="eval", round="")
    finished = ev.EvaluationFinished(
        arm="both",
        episodes=1,
        successes=1,
        settled=1,
        interval=(0.2, 1.0),
        by_task={SOUP.instruction: (1, 1)},
        seconds=2.0,
    )
    w.say("evaluation.finished", "trainer", finished)
    w.say(
        "message.refused",
        "ledger",
        ev.MessageRefused(actor="proposer", reason="a verdict", code="type", count=3),
    )
    w.say("run.finished", "trainer", ev.RunFinished(reason="all rounds done"))
    return w


def _closed(name: str, layer: ev.Layer, hash: str) -> ev.RoundClosed:
    return ev.RoundClosed(
        layer=layer, round=1, name=name, episodes=2, successes=1, accepted=1, rejected=1, memory_hash=hash
    )


def write(folder: Path, events: list[ev.Event]) -> Path:
    """Commit the events as the run of this folder."""

    async def commit() -> None:
        store = await Store.open(folder / "ledger.db")
        try:
            await store.append([(event, ev.encode(event)) for event in events])
        finally:
            await store.close()

    asyncio.run(commit())
    return folder
