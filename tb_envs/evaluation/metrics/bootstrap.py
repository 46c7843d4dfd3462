"""An interval for any figure of a benchmark: percentile bootstrap over tasks, one statistic at a time.

`tb_envs.evaluation.metrics.resampling` draws the same resamples for many figures at once.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
"""One number per task, or one row of numbers per task."""


class Interval(NamedTuple):
    """An estimate between its confidence limits, all three in the unit of the statistic."""

    low: float
    estimate: float
    high: float


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
