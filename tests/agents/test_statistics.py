"""Exact McNemar and Wilson against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from skill2real.agents.statistics import mcnemar, wilson


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_one_sided_binomial_test(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses, alternative="greater").pvalue if wins + losses else 1.0
    assert mcnemar(wins, losses) == pytest.approx(expected)


@given(st.integers(1, 200), st.data())
def test_wilson_is_scipys(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-9)


def test_five_to_none_is_the_least_that_counts_with_25_pairs() -> None:
    assert mcnemar(5, 0) < 0.05 < mcnemar(4, 0)
