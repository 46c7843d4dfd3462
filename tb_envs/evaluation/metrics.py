"""Unbiased success metrics, and an interval for them.

A task is attempted ``n`` times and ``c`` of the attempts succeed. Of the ``k``-subsets of those attempts,

* pass@k is the share with at least one success: what an agent *can* do, given ``k`` tries;
* pass^k is the share with nothing but successes: what an agent can be *relied on* to do, ``k`` times in a row.

Both are unbiased for ``n`` independent attempts, need ``n >= k``, and are the observed rate ``c / n`` at ``k = 1``. The
plug-in estimates ``1 - (1 - c/n)**k`` and ``(c/n)**k`` are biased, the first low and the second high. A benchmark's
figure is the mean over its tasks. Attempts that ended in a system error are no attempts: they count in neither
``n`` nor ``c``.

The counts are combined as integers and rounded once, so the value is exact to the last bit of a float for any ``n``.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import comb, isnan
from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
"""One number per task, or one row of numbers per task."""


class Interval(NamedTuple):
    """An estimate between its confidence limits, all three in the unit of the statistic."""

    low: float
    estimate: float
    high: float


def pass_at_k(n: SupportsIndex, c: SupportsIndex, k: SupportsIndex) -> float:
    """Probability that at least one of ``k`` attempts at a task succeeds: ``1 - C(n-c, k) / C(n, k)``.

    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv 2107.03374, equation 1.

    Args:
        n: attempts made, at least ``k``.
        c: attempts that succeeded, 0 to ``n``.
        k: attempts allowed, at least 1.

    Returns:
        A probability, 0 to 1.

    Raises:
        ValueError: a count is no integer or out of its range.
    """
    n, c, k = _counts(n, c, k)
    return float(1 - Fraction(comb(n - c, k), comb(n, k)))


def pass_hat_k(n: SupportsIndex, c: SupportsIndex, k: SupportsIndex) -> float:
    """Probability that all of ``k`` attempts at a task succeed, written pass^k: ``C(c, k) / C(n, k)``.

    Yao et al. 2024, "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains", arXiv 2406.12045.

    Args:
        n: attempts made, at least ``k``.
        c: attempts that succeeded, 0 to ``n``.
        k: attempts that all have to succeed, at least 1.

    Returns:
        A probability, 0 to 1.

    Raises:
        ValueError: a count is no integer or out of its range.
    """
    n, c, k = _counts(n, c, k)
    return float(Fraction(comb(c, k), comb(n, k)))


def _counts(n: SupportsIndex, c: SupportsIndex, k: SupportsIndex) -> tuple[int, int, int]:
    attempts, successes, subset = _count("n", n), _count("c", c), _count("k", k)
    if successes > attempts:
        raise ValueError(f"c={successes} successes are more than n={attempts} attempts")
    if subset < 1:
        raise ValueError("k=0: at least one attempt has to be looked at")
    if subset > attempts:
        raise ValueError(f"k={subset} needs at least {subset} attempts, and there are n={attempts}")
    return attempts, successes, subset


def _count(name: str, value: SupportsIndex) -> int:
    if isinstance(value, bool):
        raise ValueError(f"{name}={value!r} is no count: an integer is needed")
    try:
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} is no count: an integer is needed") from None
    if count < 0:
        raise ValueError(f"{name}={count} is negative")
    return count


def mean(values: Values) -> float:
    """The arithmetic mean of all the numbers."""
    return float(values.mean())


def bootstrap_over_tasks(
    values_per_task: Mapping[str, float | Sequence[float]] | Sequence[float] | Sequence[Sequence[float]] | Values,
    statistic: Callable[[Values], float] = mean,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of a statistic over tasks.

    Each draw takes as many tasks as there are, with replacement, and computes the statistic of them; the limits are the
    ``(1 - level) / 2`` and ``(1 + level) / 2`` quantiles of the draws (Efron and Tibshirani 1993, chapter 13). A task
    is drawn whole. Its attempts are not independent of each other (one task is hard, another easy), so to draw
    attempts would call a benchmark of few tasks, each tried often, far more certain than it is.

    The same values, seed and NumPy give the same interval. The tasks of a mapping are taken in the order of their
    names, so the order in which a campaign happened to finish them does not matter.

    Args:
        values_per_task: for each task one number (its pass@k, say), or a row of numbers, as many in each row (its
            attempts; or its cost and its successes, for a ratio).
        statistic: from the drawn tasks' values, of shape ``(tasks,)`` or ``(tasks, numbers in a row)``, to one number.
        draws: how many resamples; 10,000 hold the limits still to about 1 % of the interval's width.
        level: the interval's coverage, between 0 and 1.
        seed: of the resampling.

    Returns:
        The limits and, between them, the statistic of the values as they are.

    Raises:
        ValueError: no tasks, rows of unequal length, values that are not finite numbers, a level or a number of draws
            out of range, or a statistic that is not a number for some resample.
    """
    values = _values(values_per_task)
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is not between 0 and 1")
    if draws < 1:
        raise ValueError(f"draws={draws!r}: at least one is needed")
    rng = np.random.default_rng(seed)
    tasks = len(values)
    estimate = float(statistic(values))
    resampled = [float(statistic(values[rng.integers(tasks, size=tasks)])) for _ in range(draws)]
    if isnan(estimate) or any(map(isnan, resampled)):
        raise ValueError("the statistic is not a number for these tasks or for a resample of them")
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), estimate, float(high))


def _values(
    values_per_task: Mapping[str, float | Sequence[float]] | Sequence[float] | Sequence[Sequence[float]] | Values,
) -> Values:
    if isinstance(values_per_task, Mapping):
        rows = [values_per_task[task] for task in sorted(values_per_task)]
    else:
        rows = values_per_task
    try:
        values = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"one number per task, or rows of equal length, are needed: {error}") from None
    if values.ndim not in (1, 2) or values.size == 0:
        raise ValueError(f"one number or one row per task is needed, for at least one task; got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("values_per_task holds a value that is not finite")
    return values
