"""The same resamples of the tasks for many figures at once: what `bootstrap_over_tasks` does, as one matrix product.

Each draw takes as many tasks as there are, with replacement (Efron and Tibshirani 1993, chapter 13); the draws of one
seed and number of tasks are those of `tb_envs.evaluation.metrics.bootstrap`. Only for means over tasks.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tb_envs.evaluation.metrics.bootstrap import Interval, Values

Counts = npt.NDArray[np.float64]
"""One row per draw: how often each task was taken."""


def intervals_of_means(values: Values, *, draws: int, seed: int, level: float) -> list[Interval]:
    """A percentile interval of each column's mean over tasks.

    Args:
        values: one row per task, at least one; one column per figure.
        draws: how many resamples.
        seed: of the resampling.
        level: the intervals' coverage, between 0 and 1.

    Raises:
        ValueError: no task, or a level or a number of draws out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is not between 0 and 1")
    if draws < 1:
        raise ValueError(f"draws={draws!r}: at least one is needed")
    tasks = len(values)
    if not tasks:
        raise ValueError("an interval over tasks needs at least one task")
    means = _taken(tasks, draws, seed) @ values / tasks
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [Interval(float(a), float(b), float(c)) for a, b, c in zip(low, values.mean(axis=0), high, strict=True)]


def interval_of_mean(values: Values, *, draws: int, seed: int, level: float) -> Interval:
    """`intervals_of_means` of one figure, given as one number per task."""
    return intervals_of_means(values[:, None], draws=draws, seed=seed, level=level)[0]


@lru_cache(maxsize=4)  # a campaign asks for the same number of tasks again and again; a matrix takes some megabytes
def _taken(tasks: int, draws: int, seed: int) -> Counts:
    chosen = np.random.default_rng(seed).integers(tasks, size=(draws, tasks))
    places = (chosen + np.arange(draws)[:, None] * tasks).ravel()
    return np.bincount(places, minlength=draws * tasks).reshape(draws, tasks).astype(np.float64)
