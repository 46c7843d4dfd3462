"""Tasks as arrays: ``n``, ``c`` and what happened in the first ``k`` attempts, and the figures that follow from them.

Made once for a campaign; a part of it (a domain, a trap) is a selection of its tasks. Figures are named and defined in
`tb_envs.evaluation.summary`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tb_envs.evaluation.metrics.bootstrap import Interval, Values
from tb_envs.evaluation.metrics.formulas import pass_at_k, pass_hat_k
from tb_envs.evaluation.metrics.resampling import intervals_of_means
from tb_envs.evaluation.tally import Played, TaskTally

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
CURVES = ("pass_at_k", "pass_hat_k", "observed_k_of_k", "breadth")
OBSERVED = ("observed_k_of_k", "breadth")
EVERY = 32
"""Up to here a curve has a point at every k."""
SPARED = 10
"""One counted task in so many may have fewer than k attempts for k to be the headline's."""

_at = lru_cache(maxsize=65536)(pass_at_k)
_hat = lru_cache(maxsize=65536)(pass_hat_k)


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn."""

    seed: int
    draws: int
    level: float

    def intervals(self, values: Values) -> list[Interval]:
        """Of the mean over tasks (rows) of each figure (column)."""
        return intervals_of_means(values, draws=self.draws, seed=self.seed, level=self.level)

    def interval(self, values: Values) -> dict[str, float] | None:
        """Of the mean of one number per task, as plain data; None without tasks."""
        return self.intervals(values[:, None])[0]._asdict() if len(values) else None


@dataclass(frozen=True)
class Counts:
    """One entry per task.

    Attributes:
        n: counted attempts.
        c: successes.
        errors: system errors.
        leading: how many of the first counted attempts succeed before the first that does not.
        first: which counted attempt is the first success, from 1; 0 where there is none.
        kept: counted attempts in which every guard held.
        done: counted attempts in which every earned check passed.
        leading_kept: how many of the first counted attempts keep every guard before the first that does not.
        leading_done: likewise for the earned checks.
    """

    n: Ints
    c: Ints
    errors: Ints
    leading: Ints
    first: Ints
    kept: Ints
    done: Ints
    leading_kept: Ints
    leading_done: Ints

    @classmethod
    def of(cls, tasks: Sequence[TaskTally]) -> Counts:
        """The counts of tasks, in their order."""
        rows = [_row(task) for task in tasks]
        return cls(*np.array(rows, dtype=np.int64).reshape(len(rows), 9).T)

    def part(self, chosen: Mask) -> Counts:
        """The counts of some of the tasks."""
        return Counts(*(values[chosen] for values in vars(self).values()))

    @property
    def counted(self) -> Mask:
        """The tasks with a counted attempt."""
        return self.n > 0

    def headline_k(self) -> int:
        """The largest k that nearly all counted tasks have; 0 where nothing is counted."""
        return self.headline_of(self.n[self.counted])

    @staticmethod
    def headline_of(attempts: Ints) -> int:
        """The largest k that nearly all tasks with these numbers of attempts have; 0 for no tasks."""
        n = np.sort(attempts)
        return int(n[len(n) // SPARED]) if len(n) else 0

    def rates(self, hits: Ints, *, of: Ints | None = None) -> Values:
        """``hits / n`` of each task that has any; `of` in place of ``n``."""
        total = self.n if of is None else of
        return hits[total > 0] / total[total > 0]

    def at(self, curve: str, k: int) -> Values:
        """A curve's value at k, for each task with ``n >= k``."""
        enough = self.n >= k
        n, c = self.n[enough], self.c[enough]
        match curve:
            case "pass_at_k":
                return _each(_at, n, c, k)
            case "pass_hat_k":
                return _each(_hat, n, c, k)
            case "observed_k_of_k":
                return (self.leading[enough] >= k).astype(np.float64)
            case _:
                first = self.first[enough]
                return ((first > 0) & (first <= k)).astype(np.float64)

    def curves(self, resampling: Resampling) -> dict[str, list[dict[str, Any]]]:
        """All curves with their intervals; one of the points is at the headline's k."""
        out: dict[str, list[dict[str, Any]]] = {curve: [] for curve in CURVES}
        ks = points(int(self.n.max(initial=0)), self.headline_k())
        sizes = {k: int((self.n >= k).sum()) for k in ks}
        for size in dict.fromkeys(sizes.values()):  # the tasks with n >= k are the same ones where they are as many
            same = [k for k in ks if sizes[k] == size]
            columns = np.array([self.at(curve, k) for k in same for curve in CURVES]).T
            found = iter(resampling.intervals(columns))
            for k in same:
                for curve in CURVES:
                    out[curve].append(self._point(curve, k, next(found)))
        return out

    def _point(self, curve: str, k: int, interval: Interval) -> dict[str, Any]:
        point = {"k": k, "tasks": int((self.n >= k).sum()), **interval._asdict()}
        return {**point, "passed": int(self.at(curve, k).sum())} if curve in OBSERVED else point


def points(most: int, headline: int) -> list[int]:
    """The k at which a curve has points: each up to `EVERY`, then about sixteen a doubling; `most` and `headline`."""
    out = list(range(1, min(most, EVERY) + 1))
    while out and out[-1] < most:
        out.append(min(most, out[-1] + max(1, out[-1] // 16)))
    return sorted({*out, headline} - {0})


def _each(formula: Callable[[int, int, int], float], n: Ints, c: Ints, k: int) -> Values:
    return np.array([formula(a, b, k) for a, b in zip(n.tolist(), c.tolist(), strict=True)], dtype=np.float64)


def _row(task: TaskTally) -> tuple[int, ...]:
    counted = task.counted
    return (
        len(counted),
        sum(played.passed for played in counted),
        task.errors,
        _leading(counted, lambda played: played.passed),
        next((place for place, played in enumerate(counted, 1) if played.passed), 0),
        sum(played.kept for played in counted),
        sum(played.done for played in counted),
        _leading(counted, lambda played: played.kept),
        _leading(counted, lambda played: played.done),
    )


def _leading(counted: Sequence[Played], good: Callable[[Played], bool]) -> int:
    return next((place for place, played in enumerate(counted) if not good(played)), len(counted))
