"""What the person who waits is told, where there is no terminal: plain lines, not too many."""

import pytest

from skill2real.agents import console
from skill2real.agents.director import Progress


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.partition("]  ")[2] for line in capsys.readouterr().err.splitlines()]


def test_each_step_is_a_line_and_counting_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with console.Watch() as watch:
        for done in range(5):
            watch(Progress("practice", done, 4, left=100.0 - done if done else None))
        watch(Progress("batch 1 of 5: 3 of 4 succeeded"))
    assert lines(capsys) == [
        "practice 0/4",
        "practice 4/4, about 1 min 36 s to the end",
        "batch 1 of 5: 3 of 4 succeeded",
    ]


def test_counting_is_told_again_after_a_while(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("skill2real.agents.console.time.monotonic", lambda: now[0])
    with console.Watch() as watch:
        for done in range(100):
            watch(Progress("practice", done, 1000, left=7300.0))
            now[0] += 1.0
    told = lines(capsys)
    assert len(told) == 4
    assert told[1].startswith("practice 30/1000")
    assert told[1].endswith("about 2 h 01 min to the end")
