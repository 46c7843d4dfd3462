"""pass@k, pass^k and the bootstrap over tasks."""

from collections.abc import Callable
from itertools import combinations
from math import comb, inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_envs.evaluation import Interval, bootstrap_over_tasks, pass_at_k, pass_hat_k

both = pytest.mark.parametrize("metric", [pass_at_k, pass_hat_k])


@st.composite
def counts(draw: st.DrawFn, largest: int = 400) -> tuple[int, int, int]:
    n = draw(st.integers(1, largest))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@pytest.mark.parametrize(
    ("n", "c", "k", "at", "hat"),
    [
        (1, 1, 1, 1.0, 1.0),
        (1, 0, 1, 0.0, 0.0),
        (2, 1, 2, 1.0, 0.0),
        (4, 2, 2, 5 / 6, 1 / 6),  # of six pairs, one holds both failures and one both successes
        (5, 2, 3, 9 / 10, 0.0),
        (8, 4, 4, 69 / 70, 1 / 70),
        (10, 3, 5, 11 / 12, 0.0),  # C(7,5)/C(10,5) = 21/252
        # The usual 20 attempts a task.
        (20, 10, 1, 0.5, 0.5),
        (20, 10, 2, 29 / 38, 9 / 38),  # C(10,2)/C(20,2) = 45/190
        (20, 19, 20, 1.0, 0.0),
        (20, 19, 4, 1.0, 4 / 5),  # the one failure is among 4 of 20 with probability 4/20
        (20, 16, 8, 1.0, 12870 / 125970),  # C(16,8)/C(20,8)
        (20, 1, 10, 0.5, 0.0),
        (20, 12, 5, 1 - 56 / 15504, 792 / 15504),
    ],
)
def test_hand_checked(n: int, c: int, k: int, at: float, hat: float) -> None:
    assert pass_at_k(n, c, k) == at
    assert pass_hat_k(n, c, k) == hat


@pytest.mark.parametrize("n", range(1, 9))
def test_formulas_count_the_subsets(n: int) -> None:
    for c in range(n + 1):
        attempts = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            subsets = list(combinations(attempts, k))
            assert pass_at_k(n, c, k) == sum(any(s) for s in subsets) / len(subsets)
            assert pass_hat_k(n, c, k) == sum(all(s) for s in subsets) / len(subsets)


@given(counts())
def test_pass_hat_k_below_pass_1_below_pass_at_k(given_counts: tuple[int, int, int]) -> None:
    n, c, k = given_counts
    assert 0.0 <= pass_hat_k(n, c, k) <= c / n <= pass_at_k(n, c, k) <= 1.0
    assert pass_at_k(n, c, 1) == pass_hat_k(n, c, 1) == c / n


@given(counts())
def test_more_tries_help_pass_at_k_and_hurt_pass_hat_k(given_counts: tuple[int, int, int]) -> None:
    n, c, k = given_counts
    if k < n:
        assert pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1)
        assert pass_hat_k(n, c, k) >= pass_hat_k(n, c, k + 1)


@given(counts())
def test_failing_once_is_not_passing_always(given_counts: tuple[int, int, int]) -> None:
    n, c, k = given_counts
    assert pass_at_k(n, c, k) == pytest.approx(1 - pass_hat_k(n, n - c, k), abs=1e-15)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "k"), [(20, 4), (20, 20), (8, 3)])
def test_unbiased(p: float, n: int, k: int) -> None:
    chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    assert sum(w * pass_at_k(n, c, k) for c, w in enumerate(chances)) == pytest.approx(1 - (1 - p) ** k)
    assert sum(w * pass_hat_k(n, c, k) for c, w in enumerate(chances)) == pytest.approx(p**k)


def test_large_counts_stay_exact() -> None:
    # C(n, k) is far beyond a float here, and one success is among k of n with probability k/n.
    assert pass_at_k(100_000, 1, 30_000) == 0.3
    assert pass_hat_k(100_000, 99_999, 30_000) == 0.7
    assert pass_hat_k(100_000, 50_000, 2) == (50_000 * 49_999) / (100_000 * 99_999)


def test_numpy_integers_are_counts() -> None:
    assert pass_at_k(np.int64(4), np.int32(2), np.uint8(2)) == 5 / 6


@both
@pytest.mark.parametrize(
    ("n", "c", "k", "words"),
    [
        (4, 2, 5, "k=5 needs at least 5 attempts, and there are n=4"),
        (4, 5, 2, "c=5 successes are more than n=4"),
        (-1, 0, 1, "n=-1 is negative"),
        (4, -2, 1, "c=-2 is negative"),
        (4, 2, -1, "k=-1 is negative"),
        (4, 2, 0, "k=0"),
        (0, 0, 1, "n=0"),
        (4.0, 2, 1, "n=4.0 is no count"),
        (4, 0.5, 1, "c=0.5 is no count"),
        (4, 2, "1", "k='1' is no count"),
        (4, True, 1, "c=True is no count"),
        (4, np.bool_(True), 1, "is no count"),
        (None, 2, 1, "n=None is no count"),
    ],
)
def test_impossible_counts(metric: Callable[[Any, Any, Any], float], n: Any, c: Any, k: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        metric(n, c, k)


def test_interval_of_a_proportion() -> None:
    # 40 of 100 tasks: the normal approximation is 0.4 ± 1.96 · sqrt(0.24 / 100).
    low, estimate, high = bootstrap_over_tasks([1.0] * 40 + [0.0] * 60)
    half = 1.96 * sqrt(0.24 / 100)
    assert estimate == 0.4
    assert low == pytest.approx(0.4 - half, abs=0.011)
    assert high == pytest.approx(0.4 + half, abs=0.011)


def test_every_resample_of_two_tasks() -> None:
    # Draws of {0, 1} have mean 0, ½, ½ or 1: the quartiles are known, and so are the tails.
    assert bootstrap_over_tasks([0.0, 1.0], level=0.4, draws=2_000) == Interval(0.5, 0.5, 0.5)
    assert bootstrap_over_tasks([0.0, 1.0], level=0.9, draws=2_000) == Interval(0.0, 0.5, 1.0)


def test_tasks_are_drawn_not_attempts() -> None:
    # Ten tasks, half always solved and half never, 20 attempts each: certain about each task, not about the benchmark.
    rows = [[1.0] * 20] * 5 + [[0.0] * 20] * 5
    by_task = bootstrap_over_tasks(rows)
    assert by_task == bootstrap_over_tasks([1.0] * 5 + [0.0] * 5)
    assert by_task.high - by_task.low > 0.5
    as_if_attempts_were_tasks = bootstrap_over_tasks([1.0] * 100 + [0.0] * 100)
    assert as_if_attempts_were_tasks.high - as_if_attempts_were_tasks.low < 0.2


def test_a_ratio_of_columns() -> None:
    cost_and_successes = [[2.0, 1.0], [4.0, 3.0], [6.0, 1.0]]
    interval = bootstrap_over_tasks(cost_and_successes, lambda rows: rows[:, 0].sum() / rows[:, 1].sum())
    assert interval.estimate == 12 / 5
    assert interval.low == pytest.approx(4 / 3)  # the second task three times
    assert interval.high == pytest.approx(6.0)  # the third task three times


def test_seeded_and_independent_of_the_order_of_finishing() -> None:
    rates = {f"hotel/late_cancellation/{i}": i % 7 / 6 for i in range(40)}
    shuffled = dict(sorted(rates.items(), key=lambda item: item[1]))
    assert bootstrap_over_tasks(rates, seed=3) == bootstrap_over_tasks(shuffled, seed=3)
    assert bootstrap_over_tasks(rates, seed=3) != bootstrap_over_tasks(rates, seed=4)


def test_wider_at_a_higher_level() -> None:
    values = np.linspace(0, 1, 30)
    wide, narrow = bootstrap_over_tasks(values, level=0.99), bootstrap_over_tasks(values, level=0.5)
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 2**32))
def test_within_the_range_of_the_values(values: list[float], seed: int) -> None:
    low, estimate, high = bootstrap_over_tasks(values, draws=50, seed=seed)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12
    assert min(values) - 1e-12 <= estimate <= max(values) + 1e-12


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([], {}, "at least one task"),
        ({}, {}, "at least one task"),
        ([[], []], {}, "at least one task"),
        ([[1.0], [1.0, 0.0]], {}, "rows of equal length"),
        (["good"], {}, "one number per task"),
        ([[[1.0]]], {}, "got shape"),
        ([1.0, nan], {}, "not finite"),
        ([1.0, inf], {}, "not finite"),
        ([1.0], {"level": 1.0}, "level=1.0"),
        ([1.0], {"level": 95}, "level=95"),
        ([1.0], {"draws": 0}, "draws=0"),
        ([1.0], {"statistic": lambda _: nan}, "not a number"),
    ],
)
def test_impossible_resamples(values: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bootstrap_over_tasks(values, **options)
