"""Two policies on the same tasks: what was gained, what was lost, and how sure that is.

The interval of a difference draws tasks and takes both policies' values of each (paired: what is hard for both cancels
out). Refuses to compare tasks that one side did not play, or that were changed in between (their content hashes
differ), and to call a change within a cell of few tasks certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from tb_envs.errors import UsageError
from tb_envs.evaluation.metrics import Interval, bootstrap_over_tasks
from tb_trainer.report.stats import DRAWS, Scores, measures

CERTAIN = 5
"""Tasks from which a difference within a cell gets an interval."""


class Metric(NamedTuple):
    """A metric before and after, on the tasks that have it on both sides, and its paired difference."""

    before: Interval
    after: Interval
    difference: Interval
    tasks: int


class Line(NamedTuple):
    """A label's pass rates before and after, and the interval of the difference where there are tasks enough."""

    label: str
    tasks: int
    before: float
    after: float
    interval: Interval | None

    @property
    def change(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def halved(self) -> bool:
        """Whether half of it, or more, is gone."""
        return self.before > 0 and self.after <= self.before / 2


class Comparison:
    """Two policies on the same tasks.

    Args:
        before, after: their scores.

    Attributes:
        before, after: of the shared tasks only.
        missing: tasks that only one side played.
        changed: tasks whose content is not the same on both sides.

    Raises:
        UsageError: they share no task.
    """

    def __init__(self, before: Scores, after: Scores) -> None:
        shared = before.passed.keys() & after.passed.keys()
        self.missing = sorted(before.passed.keys() ^ after.passed.keys())
        self.changed = sorted(
            task for task in shared if _other(before.rows[task].get("hash"), after.rows[task].get("hash"))
        )
        tasks = sorted(shared.difference(self.changed))
        if not tasks:
            raise UsageError("the two evaluations share no task")
        self.tasks, self.before, self.after = tasks, before.only(tasks), after.only(tasks)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """Each metric that both sides have."""
        out: dict[str, Metric] = {}
        for name, measure in measures(min(self.before.attempts, self.after.attempts)).items():
            ours, theirs = self.before.values(measure), self.after.values(measure)
            both = sorted(ours.keys() & theirs.keys())
            sides = [{task: side[task] for task in both} for side in (ours, theirs)]
            change = {task: theirs[task] - ours[task] for task in both}
            first, last, moved = (bootstrap_over_tasks(values, draws=DRAWS) for values in (*sides, change))
            out[name] = Metric(first, last, moved, len(both))
        return out

    def change(self, task: str) -> float:
        """How much a task's pass rate rose."""
        return self.after.rate(task) - self.before.rate(task)

    @cached_property
    def gained(self) -> list[str]:
        """Tasks solved only after, or whose pass rate rose by half or more; the largest first."""
        return sorted((task for task in self.tasks if self._moved(task) > 0), key=lambda task: -self.change(task))

    @cached_property
    def lost(self) -> list[str]:
        """Tasks solved only before, or whose pass rate fell by half or more; the largest first."""
        return sorted((task for task in self.tasks if self._moved(task) < 0), key=self.change)

    def _moved(self, task: str) -> float:
        change = self.change(task)
        ever = any(self.before.passed[task]), any(self.after.passed[task])
        return change if ever[0] != ever[1] or abs(change) >= 0.5 else 0.0

    def lines(self, kind: str) -> list[Line]:
        """Each family, cell or trap; those that lost first, the largest loss at the top."""
        found: dict[str, list[str]] = {}
        for task in self.tasks:
            for label in self.after.labels(task, kind):
                found.setdefault(label, []).append(task)
        lines = [self._line(label, tasks) for label, tasks in found.items()]
        return sorted(lines, key=lambda line: (round(line.change, 9), line.label))

    def _line(self, label: str, tasks: list[str]) -> Line:
        interval = None
        if len(tasks) >= CERTAIN:
            interval = bootstrap_over_tasks({task: self.change(task) for task in tasks}, draws=DRAWS)
        return Line(
            label, len(tasks), fmean(map(self.before.rate, tasks)), fmean(map(self.after.rate, tasks)), interval
        )


def pooled(comparisons: Sequence[Comparison]) -> Comparison | None:
    """Several seeds as one: each task's attempts side by side; None unless all hold the same tasks."""
    if len(comparisons) < 2 or any(other.tasks != comparisons[0].tasks for other in comparisons):
        return None
    sides: list[Scores] = []
    for side in ("before", "after"):
        parts: list[Scores] = [getattr(comparison, side) for comparison in comparisons]
        sides.append(
            Scores(
                {task: [x for part in parts for x in part.passed[task]] for task in parts[0].passed},
                {task: [x for part in parts for x in part.rewards[task]] for task in parts[0].passed},
                parts[0].rows,
            )
        )
    return Comparison(sides[0], sides[1])


def _other(mine: Any, theirs: Any) -> bool:
    return bool(mine and theirs and mine != theirs)
