"""Laws of the folds: any prefix folds, halves equal the whole, and memory at n is the fold of the first n."""

import asyncio
import copy
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_run import RUN, Writer, entry, sample, write

from skill2real.ledger import events as ev
from skill2real.ledger.memory import memory_hash
from skill2real.ledger.reader import Reader
from skill2real.ledger.store import Store
from skill2real.replay.errors import BadEvent, MemoryMismatch, UnknownCandidate, UnknownEvent
from skill2real.replay.fold import feed
from skill2real.replay.memory import MemoryFold, memory_at
from skill2real.replay.state import State, state_at

EVENTS = sample().events


def folded(events: list[ev.Event], state: State | None = None, after: int = 0) -> State:
    state = state or State(Path("nowhere"))
    for seq, event in enumerate(events, after + 1):
        state.hear(seq, event)
    return state


def form(state: State) -> bytes:
    """All that a state knows, as bytes."""
    parts = (
        state.summary(),
        tuple(state.run.episodes.values()),
        tuple(state.candidates.candidates.values()),
        tuple(state.memory.history()),
        state.memory.candidates,
    )
    return msgspec.json.encode(parts)


# A run of any course, also one that no trainer would take: what the ledger holds must fold.
names = st.sampled_from(["a", "b", "c", "d"])
layers: st.SearchStrategy[ev.Layer] = st.sampled_from(["cerebellum", "brain"])
entries = st.builds(
    lambda id, layer, x: entry(id, layer, candidate="k1", evidence=("e1", "e2"), x=x),
    names,
    layers,
    st.integers(0, 3),
)
few = st.lists(entries, max_size=3, unique_by=lambda one: one.id).map(tuple)
ids = st.lists(names, max_size=2, unique=True).map(tuple)
candidates = st.sampled_from(["", "k1", "k2"])
episodes = st.sampled_from(["e1", "e2"])
task = ev.Task(suite="s", parts=(1,), instruction="lift it")
arm = st.builds(ev.ArmResult, episode=episodes, decision=st.booleans(), completed=st.booleans())


def event(
    type: str, actor: ev.Actor, data: st.SearchStrategy, subject: st.SearchStrategy
) -> st.SearchStrategy:
    return st.builds(lambda d, s: ev.make(RUN, type, actor, d, subject=s), data, subject)


any_event = st.one_of(
    event(
        "memory.changed",
        "governor",
        st.builds(ev.MemoryChanged, candidate=candidates, added=few, removed=ids, memory_hash=st.just("")),
        candidates,
    ),
    event(
        "candidate.proposed",
        "proposer",
        st.builds(
            ev.CandidateProposed,
            entries=few,
            replaces=ids,
            layer=layers,
            stage=st.just("grasp"),
            decision=st.sampled_from(["grasp", "completion"]),
            reason=st.just("why"),
        ),
        candidates,
    ),
    event(
        "candidate.screened",
        "governor",
        st.builds(ev.CandidateScreened, passed=st.booleans(), reason=st.just("")),
        candidates,
    ),
    event(
        "trial.finished",
        "governor",
        st.builds(
            ev.TrialFinished,
            index=st.integers(0, 3),
            task=st.just("lift it"),
            state=st.integers(10, 12),
            without=arm,
            with_candidate=arm,
        ),
        candidates,
    ),
    event(
        "verdict.given",
        "governor",
        st.builds(
            ev.VerdictGiven,
            verdict=st.sampled_from(["accepted", "rejected", "not_testable"]),
            reason=st.just(""),
        ),
        candidates,
    ),
    event(
        "layer.frozen",
        "trainer",
        st.builds(
            ev.LayerFrozen,
            name=st.sampled_from(["C1", "C2", "C2/B1"]),
            layer=layers,
            memory_hash=st.just(""),
            api_hash=st.just("api"),
            closed=st.booleans(),
        ),
        st.just("C1"),
    ),
    event(
        "episode.started",
        "trainer",
        st.builds(
            ev.EpisodeStarted,
            task=st.just(task),
            state=st.integers(0, 3),
            purpose=st.sampled_from(["train", "trial", "eval"]),
            memory=st.just(ev.MemoryRef()),
            round=st.sampled_from(["", "C1"]),
        ),
        episodes,
    ),
    event(
        "program.proposed",
        "proposer",
        st.builds(ev.ProgramProposed, turn=st.just(1), source=st.just("1"), last=st.booleans()),
        episodes,
    ),
    event(
        "episode.finished",
        "runner",
        st.builds(
            ev.EpisodeFinished,
            status=st.sampled_from(["done", "error"]),
            start_digest=st.just("aa"),
            end_digest=st.just("bb"),
            operations=st.just(1),
            turns=st.just(1),
            seconds=st.just(0.5),
        ),
        episodes,
    ),
    event(
        "outcome.measured",
        "runner",
        st.builds(
            ev.OutcomeMeasured,
            success=st.booleans(),
            settled=st.booleans(),
            progress=st.just(0.5),
            truth=st.just({}),
        ),
        episodes,
    ),
    event(
        "round.started",
        "trainer",
        st.just(ev.RoundStarted(layer="brain", round=1, name="C1")),
        st.just(""),
    ),
    event("run.resumed", "trainer", st.just(ev.RunResumed(packages={})), st.just("")),
    event("run.finished", "trainer", st.just(ev.RunFinished()), st.just("")),
    event(
        "evaluation.finished",
        "trainer",
        st.just(
            ev.EvaluationFinished(
                arm="both", episodes=1, successes=1, settled=1, interval=(0.2, 1.0), by_task={}, seconds=1.0
            )
        ),
        st.just(""),
    ),
    event(
        "deployment.finished",
        "deployer",
        st.just(ev.DeploymentFinished(status="done", operations=1, seconds=1.0)),
        episodes,
    ),
)
any_run = st.lists(any_event, max_size=25)


@settings(max_examples=60, deadline=None)
@given(any_run, st.data())
def test_halves_equal_the_whole(run: list[ev.Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(run)))
    half = folded(run[:cut])
    assert form(folded(run[cut:], half, after=cut)) == form(folded(run))


@settings(max_examples=60, deadline=None)
@given(any_run)
def test_memory_at_any_point_is_the_fold_of_what_came_before(run: list[ev.Event]) -> None:
    whole = folded(run).memory
    for seq in range(len(run) + 1):
        prefix = folded(run[:seq]).memory
        assert whole.at(seq) == tuple(prefix.entries.values()) == prefix.at(seq)
        assert prefix.hash == memory_hash(whole.at(seq))


@settings(max_examples=60, deadline=None)
@given(any_run)
def test_a_frozen_layer_never_changes(run: list[ev.Event]) -> None:
    fold, closed = MemoryFold(), dict[ev.Layer, tuple[ev.Entry, ...]]()
    for seq, one in enumerate(run, 1):
        fold.hear(seq, one)
        for layer in fold.frozen:
            assert fold.at(seq, [layer]) == closed.setdefault(layer, fold.at(seq, [layer]))


def test_every_prefix_of_a_run_folds_as_if_it_had_ended_there(tmp_path: Path) -> None:
    folder = write(tmp_path / "sample", EVENTS)
    live = State(folder)
    with Reader(folder / "ledger.db") as reader:
        for seq, one in enumerate(EVENTS, 1):
            live.hear(seq, one)
            again = State(folder)
            assert feed(reader, again, upto=seq) == seq
            assert form(again) == form(live)
    assert live.summary().doubts == ()


def test_feeding_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder = write(tmp_path / "sample", EVENTS[:30])
    state = state_at(folder)
    assert state.seq == 30
    write(folder, EVENTS)  # known ones are committed once
    with Reader(folder / "ledger.db") as reader:
        feed(reader, state, after=state.seq)
    assert form(state) == form(folded(EVENTS))


def test_an_event_heard_twice_changes_no_memory() -> None:
    fold = MemoryFold()
    for seq, one in enumerate(EVENTS, 1):
        fold.hear(seq, one)
        before = copy.deepcopy(tuple(fold.history()))
        fold.hear(seq, one)
        assert tuple(fold.history()) == before


def test_a_resumed_run_starts_open_episodes_anew() -> None:
    w = Writer()
    w.episode("e1", success=True)
    w.episode("e2", success=False)
    started, proposed = w.events[5], w.events[6]
    resumed = ev.make(RUN, "run.resumed", "trainer", ev.RunResumed(packages={}))
    state = folded([*w.events[:5], started, proposed, resumed])
    assert [(e.id, e.status) for e in state.run.episodes.values()] == [("e1", "done"), ("e2", "lost")]
    state = folded([started], state, after=8)
    again = state.run.episodes["e2"]
    assert (again.seq, again.status, again.programs) == (9, "open", [])
    state = folded([started], State(Path("nowhere")))
    state = folded([*w.events[:5], started], state, after=1)
    assert list(state.run.episodes) == ["e1", "e2"]  # in the order of their last beginning


def test_memory_with_a_candidate_and_by_layer() -> None:
    fold = folded(EVENTS).memory
    change = next(i for i, one in enumerate(EVENTS, 1) if one.type == "memory.changed")
    assert fold.at(0) == fold.at(change - 1) == fold.at(-1) == ()
    (tried,) = fold.with_candidate(change - 1, "c1")
    assert fold.at(change) == (tried,)
    assert [one.state["depth"] for one in fold.with_candidate(change, "c3")] == [0.03]
    assert [one.id for one in fold.at(len(EVENTS))] == ["can", "left"]
    assert [one.id for one in fold.at(len(EVENTS), ["brain"])] == ["left"]
    assert [one.id for one in fold.with_candidate(len(EVENTS), "c5", ["brain"])] == ["left"]
    assert fold.frozen == {"cerebellum", "brain"}
    with pytest.raises(UnknownCandidate, match="c1, c2, c3, c4, c5"):
        fold.with_candidate(change, "c9")


def test_what_a_candidate_replaces_is_gone() -> None:
    fold = MemoryFold()
    old, new = entry("old"), entry("new")
    change = ev.MemoryChanged(candidate="", added=(old,), removed=(), memory_hash="")
    fold.hear(1, ev.make(RUN, "memory.changed", "governor", change))
    proposal = ev.CandidateProposed(
        entries=(new,), replaces=("old",), layer="cerebellum", stage="", decision="grasp", reason=""
    )
    fold.hear(2, ev.make(RUN, "candidate.proposed", "proposer", proposal, subject="k"))
    assert fold.with_candidate(2, "k") == (new,)
    assert fold.at(2) == (old,)


def test_resolving_a_memory_checks_its_hash() -> None:
    fold = folded(EVENTS).memory
    end = len(EVENTS)
    ref = ev.MemoryRef(at=end, hash=fold.hash)
    assert fold.resolve(ref) == fold.at(end)
    assert fold.resolve(ev.MemoryRef()) == ()
    with pytest.raises(MemoryMismatch, match="catch up"):
        fold.resolve(msgspec.structs.replace(ref, at=1))


def test_a_change_that_does_not_fit_is_doubted() -> None:
    fold = MemoryFold()
    wrong = ev.MemoryChanged(candidate="", added=(entry("a"),), removed=(), memory_hash="0" * 64)
    fold.hear(1, ev.make(RUN, "memory.changed", "governor", wrong))
    frozen = ev.LayerFrozen(name="C1", layer="cerebellum", memory_hash=fold.hash, api_hash="")
    fold.hear(2, ev.make(RUN, "layer.frozen", "trainer", frozen))
    late = ev.MemoryChanged(candidate="", added=(), removed=("a",), memory_hash="")
    fold.hear(3, ev.make(RUN, "memory.changed", "governor", late))
    swap = ev.MemoryChanged(candidate="", added=(entry("a", "brain"),), removed=(), memory_hash="")
    fold.hear(4, ev.make(RUN, "memory.changed", "governor", swap))
    assert list(fold.entries) == ["a"]
    assert [seq for seq, _ in fold.doubts] == [1, 3, 4]


def unknown(**changes: object) -> ev.Event:
    return msgspec.structs.replace(EVENTS[0], id=ev.new_id(), **changes)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"type": "weather.changed"}, UnknownEvent, "Event 2 is of type weather.changed version 1"),
        ({"type": "memory.changed", "version": 99}, UnknownEvent, "memory.changed version 99"),
        ({"data": msgspec.Raw(b'{"config": 7}')}, BadEvent, "skill2real verify"),
    ],
)
def test_events_that_cannot_be_read_are_named(
    tmp_path: Path, changes: dict[str, object], error: type[Exception], said: str
) -> None:
    folder = write(tmp_path / "later", [EVENTS[0], unknown(**changes)])
    with pytest.raises(error, match=said):
        state_at(folder)
    assert state_at(folder, "1").seq == 1  # what came before can still be read


def test_bytes_that_are_no_event_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "odd", EVENTS[:1])

    async def commit() -> None:
        store = await Store.open(folder / "ledger.db")
        await store.append([(unknown(), b"not JSON")])
        await store.close()

    asyncio.run(commit())
    with Reader(folder / "ledger.db") as reader, pytest.raises(BadEvent, match="Event 2 cannot be read"):
        memory_at(reader, 2)
