"""The figures of a campaign that is still going: counts alone, so that memory does not grow with its rows.

Refuses to be the result: `tb_envs.evaluation.summary` computes that from the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from tb_envs.evaluation.metrics import Interval, bootstrap_over_tasks
from tb_envs.evaluation.pacing import span

DRAWS = 200
EVERY = 2.0
"""Seconds between two computations of the interval."""


class Running:
    """Counts of the rows heard so far.

    Attributes:
        done: attempts with a row.
        errors: of those, system errors.
        tokens: read and written by the models, as far as servers say.
        dollars: paid, as far as prices are known.
        unknown_cost: attempts whose cost is not known.
        playing: whether earlier rows are counted and attempts are played.
        on_change: is called after each row.
        notice: says why nothing goes on just now; empty where it does.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = self.errors = self.passed = self.tokens = self.unknown_cost = 0
        self.dollars = 0.0
        self.playing = False
        self.on_change: Callable[[], None] = lambda: None
        self.notice: Callable[[], str] = lambda: ""
        self._tasks: dict[str, list[int]] = {}
        self._interval: tuple[float, Interval | None] = (-EVERY, None)
        self.begin()

    def begin(self) -> None:
        """From here on rows are new; rates are those of new rows."""
        self._began = time.monotonic()
        self._done_before, self._tokens_before = self.done, self.tokens

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row."""
        self._count(row)
        self.on_change()

    def _count(self, row: Mapping[str, Any]) -> None:
        self.done += 1
        for used in row["tokens"].values():
            self.tokens += (used["input"] + used["output"]) if used else 0
        for dollars in row["cost"].values():
            self.dollars += dollars or 0.0
        self.unknown_cost += None in row["cost"].values()
        if row["outcome"].startswith("error:"):
            self.errors += 1
            return
        passed = row["outcome"] == "success"
        counts = self._tasks.setdefault(row["task_id"], [0, 0])
        counts[0] += 1
        counts[1] += passed
        self.passed += passed

    @property
    def counted(self) -> int:
        """Attempts that were no system errors."""
        return self.done - self.errors

    def pass_at_1(self) -> Interval | None:
        """The mean over tasks of the share of attempts that succeeded, some seconds old at most; None before any."""
        now = time.monotonic()
        if now - self._interval[0] >= EVERY and self._tasks:
            counts = list(self._tasks.items())  # a copy: the bar is drawn by a thread of its own
            shares = {task: passed / tried for task, (tried, passed) in counts}
            self._interval = now, bootstrap_over_tasks(shares, draws=DRAWS)
        return self._interval[1]

    def tokens_per_second(self) -> float:
        """Tokens of new rows by the time since `begin`."""
        return (self.tokens - self._tokens_before) / max(time.monotonic() - self._began, 1e-9)

    def seconds_left(self) -> float | None:
        """At the pace so far; None before the first new row."""
        new = self.done - self._done_before
        return (time.monotonic() - self._began) / new * (self.total - self.done) if new else None

    def show(self) -> str:
        """The figures as one short line."""
        found = self.pass_at_1()
        parts = [
            self.notice(),
            f"pass@1 {100 * found.estimate:.1f} % [{100 * found.low:.0f}–{100 * found.high:.0f}]" if found else "",
        ]
        parts.append(f"{self.errors} system errors" if self.errors else "")
        rate = self.tokens_per_second()
        parts.append(f"{rate:,.0f} tok/s" if rate else "")
        if self.unknown_cost:
            parts.append("cost unknown" if not self.dollars else f"≥ ${self.dollars:,.2f}")
        elif self.dollars:
            parts.append(f"${self.dollars:,.2f}")
        left = self.seconds_left()
        parts.append(f"{span(left)} left" if left is not None and self.done < self.total else "")
        return " · ".join(filter(None, parts))
