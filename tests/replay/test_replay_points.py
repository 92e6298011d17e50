"""Points of a run: numbers, times, checkpoint names; and the difference of two."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import entry, sample, write

from skill2real.ledger.reader import Reader
from skill2real.replay.diff import diff, entry_change, value_changes
from skill2real.replay.errors import UnknownPoint
from skill2real.replay.point import resolve
from skill2real.replay.state import State, state_at

RUN = sample()
LAST = len(RUN.events)
FROZEN = [seq for seq, event in enumerate(RUN.events, 1) if event.type == "layer.frozen"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("runs") / "sample", RUN.events)


@pytest.mark.parametrize(
    ("point", "seq"),
    [
        ("0", 0),
        ("17", 17),
        (str(LAST), LAST),
        ("end", LAST),
        ("C1", FROZEN[0]),
        ("C2", FROZEN[1]),
        ("C2/B1", FROZEN[2]),
        ("2025-03-01T10:00:00Z", 1),
        ("2025-03-01T10:00:09.5Z", 10),
        ("2025-03-01T11:00:09+01:00", 10),
        ("2025-03-01T10:00:09", 10),
        ("10:00:09", 10),
        ("10:01", 61),
        ("23:00", LAST),
        ("2030-01-01", LAST),
    ],
)
def test_points(folder: Path, point: str, seq: int) -> None:
    with Reader(folder / "ledger.db") as reader:
        assert resolve(reader, point) == seq
    assert state_at(folder, point).seq == seq


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (str(LAST + 1), f"events 0 to {LAST}"),
        ("9" * 40, f"events 0 to {LAST}"),
        ("C7", r"checkpoint \(C1, C2, C2/B1\).*14:05"),
        ("-1", "no point of this run"),
        ("", "no point of this run"),
        ("25:00", "no point of this run"),
        ("09:59", "before this run began; it spans 2025-03-01T10:00:00"),
        ("2024-01-01T00:00:00Z", "before this run began"),
    ],
)
def test_points_that_are_not_there_list_what_is(folder: Path, point: str, said: str) -> None:
    with Reader(folder / "ledger.db") as reader, pytest.raises(UnknownPoint, match=said):
        resolve(reader, point)


def test_a_time_of_day_that_comes_twice_needs_its_date(tmp_path: Path) -> None:
    first, second = sample(), sample()
    later = [
        msgspec.structs.replace(event, time=event.time.replace("03-01", "03-02")) for event in second.events
    ]
    folder = write(tmp_path / "two-days", [*first.events, *later])
    with Reader(folder / "ledger.db") as reader:
        with pytest.raises(UnknownPoint, match="2025-03-01T10:00:09Z, 2025-03-02T10:00:09Z"):
            resolve(reader, "10:00:09")
        assert resolve(reader, "2025-03-02T10:00:09Z") == LAST + 10
        assert resolve(reader, "09:00") == LAST  # only the second day has it
        assert resolve(reader, "C1") == LAST + FROZEN[0]  # the last of a name counts


def test_an_empty_run_is_at_0(tmp_path: Path) -> None:
    folder = write(tmp_path / "empty", [])
    assert state_at(folder).summary().state == "new"
    with Reader(folder / "ledger.db") as reader, pytest.raises(UnknownPoint, match="none yet"):
        resolve(reader, "C1")
    with Reader(folder / "ledger.db") as reader, pytest.raises(UnknownPoint, match="no time"):
        resolve(reader, "12:00")


def test_diff_of_two_checkpoints(folder: Path) -> None:
    found = diff(state_at(folder, "C1"), state_at(folder, "end"))
    assert (found.before, found.after) == (FROZEN[0], LAST)
    assert [one.id for one in found.added] == ["left"]
    assert found.removed == ()
    (change,) = found.changed
    assert [(v.path, v.before, v.after) for v in change.state] == [
        ("depth", 0.02, 0.03),
        ("styles[1]", "top", "side"),
    ]
    assert "+move_to(grasp.pose)" in change.template
    assert [(v.candidate, v.verdict) for v in found.verdicts] == [
        ("c3", "accepted"),
        ("c4", "not_testable"),
        ("c5", "accepted"),
    ]
    assert {purpose: (c.episodes, c.successes) for purpose, c in found.episodes.items()} == {"eval": (1, 1)}
    assert [c.name for c in found.checkpoints] == ["C2", "C2/B1"]
    assert [r.name for r in found.rounds] == ["C2"]


def test_diff_backwards_swaps_memory_and_keeps_what_lies_between(folder: Path) -> None:
    a, b = state_at(folder, "C1"), state_at(folder, "end")
    there, back = diff(a, b), diff(b, a)
    assert (back.added, back.removed) == (there.removed, there.added)
    assert [one.after for one in back.changed] == [one.before for one in there.changed]
    assert (back.verdicts, back.checkpoints) == (there.verdicts, there.checkpoints)


def test_a_candidate_that_was_screened_out_is_between(folder: Path) -> None:
    found = diff(State(folder), state_at(folder, "C1"))
    assert [(v.candidate, v.verdict, v.reason) for v in found.verdicts] == [
        ("c1", "accepted", "9 wins, 1 loss"),
        ("c2", "rejected", "no evidence names a carton"),
    ]


def test_no_difference(folder: Path) -> None:
    same = diff(state_at(folder), state_at(folder))
    assert same.memory_before == same.memory_after
    assert [*same.added, *same.removed, *same.changed, *same.verdicts, *same.episodes] == []


json = st.recursive(
    st.booleans() | st.integers(2, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@given(json, json)
def test_values_differ_where_something_is_listed(before: object, after: object) -> None:
    assert value_changes(before, before) == []
    changes = value_changes(before, after)
    assert bool(changes) == (before != after)
    assert all(change.before != change.after for change in changes)
    assert len({change.path for change in changes}) == len(changes)


def test_template_lines_that_look_like_a_file_name_are_kept() -> None:
    before = msgspec.structs.replace(entry("a"), template="x\n-- old\n")
    after = msgspec.structs.replace(entry("a"), template="x\n++ new\n")
    assert entry_change(before, after).template == ("@@ -1,2 +1,2 @@", " x", "--- old", "+++ new")
