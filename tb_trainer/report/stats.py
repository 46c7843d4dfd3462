"""The numbers of one evaluation, from its rows. System errors are no trials and are counted apart.

Every interval is a percentile bootstrap over tasks (`tb_envs.evaluation.metrics`): a task's attempts stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from tb_envs.errors import DomainError, UsageError
from tb_envs.evaluation.metrics import Interval, bootstrap_over_tasks, pass_at_k, pass_hat_k
from tb_envs.task import get_task
from tb_trainer.report.read import number

DRAWS = 2000
"""Resamples: as many as `tb_trainer.evaluate` takes, so that a run's own intervals are those of its log."""
FULL = 0.9
"""Share of tasks that must have k attempts for pass@k and pass^k to be given."""
KINDS = ("cells", "families", "traps")
Measure = Callable[[Sequence[bool], Sequence[float]], float | None]


@dataclass
class Scores:
    """One policy's trials by task.

    Attributes:
        passed: task id → whether each attempt passed, in order.
        rewards: task id → each attempt's reward.
        rows: task id → its first attempt's row.
        unplayed: attempts that a system error broke.
    """

    passed: dict[str, list[bool]] = field(default_factory=dict[str, list[bool]])
    rewards: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    rows: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    unplayed: int = 0

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Scores:
        """The scores of some rows of a trial file; of an attempt that is there twice the last counts."""
        scores = cls()
        last = {(row["task"], row["attempt"]): dict(row) for row in rows}
        for (task, _), row in sorted(last.items()):
            if row.get("status") == "system_error" or row["outcome"].startswith("error:"):
                scores.unplayed += 1
                continue
            scores.passed.setdefault(task, []).append(row["outcome"] == "success")
            scores.rewards.setdefault(task, []).append(float(number(row, "reward") or 0.0))
            scores.rows.setdefault(task, row)
        return scores

    @property
    def trials(self) -> int:
        """Attempts that count."""
        return sum(map(len, self.passed.values()))

    @cached_property
    def attempts(self) -> int:
        """The largest number of attempts that nearly every task has."""
        counts = sorted((len(passed) for passed in self.passed.values()), reverse=True)
        return counts[int(FULL * (len(counts) - 1))] if counts else 0

    def only(self, tasks: Iterable[str]) -> Scores:
        """The scores of some of the tasks."""
        chosen = list(tasks)
        return Scores(
            {task: self.passed[task] for task in chosen},
            {task: self.rewards[task] for task in chosen},
            {task: self.rows[task] for task in chosen},
        )

    def rate(self, task: str) -> float:
        """Share of a task's attempts that passed."""
        return fmean(self.passed[task])

    def values(self, measure: Measure) -> dict[str, float]:
        """Task id → a measure of it, for the tasks that have one."""
        found = {task: measure(self.passed[task], self.rewards[task]) for task in self.passed}
        return {task: value for task, value in found.items() if value is not None}

    def metrics(self) -> dict[str, Interval]:
        """Every metric with its interval; empty without trials."""
        values = {name: self.values(measure) for name, measure in measures(self.attempts).items()}
        return {name: bootstrap_over_tasks(found, draws=DRAWS) for name, found in values.items() if found}

    def bounds(self, planned: int = 0) -> tuple[float, float] | None:
        """Of pass@1 over all trials, unplayed ones as failed and as solved; None if all were played.

        Args:
            planned: trials that were meant, where the rows of some are missing; as many at each task.
        """
        played, solved = self.trials, sum(map(sum, self.passed.values()))
        every = max(planned, played + self.unplayed)
        return (solved / every, (solved + every - played) / every) if every > played else None

    def labels(self, task: str, kind: str) -> list[str]:
        """The families, outcome cells or traps that a task belongs to."""
        family, row = task.rpartition("/")[0], self.rows[task]
        if kind == "families":
            return [family]
        if kind == "cells":
            cell = row["cell"] if isinstance(row.get("cell"), str) else _looked_up(task)[0]
            return [f"{family}: {cell or 'no cell'}"]
        traps = row["traps"] if isinstance(row.get("traps"), list) else _looked_up(task)[1]
        return [str(trap) for trap in traps]

    def rates(self, kind: str) -> dict[str, tuple[float, int]]:
        """Label → pass rate (mean over its tasks) and how many tasks it has."""
        found: dict[str, list[float]] = {}
        for task in self.passed:
            for label in self.labels(task, kind):
                found.setdefault(label, []).append(self.rate(task))
        return {label: (fmean(rates), len(rates)) for label, rates in sorted(found.items())}


def measures(attempts: int) -> dict[str, Measure]:
    """pass@1, pass@k and pass^k for k = 2, 4, 8, … and all attempts, and the reward: of one task's attempts."""
    ks = sorted({k for power in range(1, 12) if (k := 2**power) < attempts} | ({attempts} if attempts > 1 else set()))
    found: dict[str, Measure] = {"pass@1": lambda passed, _: fmean(passed)}
    for k in ks:
        found[f"pass@{k}"] = lambda passed, _, k=k: pass_at_k(len(passed), sum(passed), k) if len(passed) >= k else None
    for k in ks:
        found[f"pass^{k}"] = lambda passed, _, k=k: (
            pass_hat_k(len(passed), sum(passed), k) if len(passed) >= k else None
        )
    found["reward"] = lambda _, rewards: fmean(rewards)
    return found


def _looked_up(task: str) -> tuple[str, tuple[str, ...]]:
    """Cell and traps of a task whose row does not say, from the domain as it is installed now."""
    try:
        found = get_task(task)
    except (UsageError, DomainError):
        return "unknown", ()
    return found.scenario.cell, found.traps
