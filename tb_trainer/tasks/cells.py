"""Outcome cells that a run trades away: each cell's pass rate at its start and now, and which have fallen.

A cell's *start* is its first whole attempts in the run: those of each update are added, all of them, until there are at
least `attempts`. Its rate *now* is that of the latest updates that it was played in, as few as hold `attempts`, none of
which is part of the start. A cell has fallen while its rate now is half of its start's or less; one that was never
solved at its start cannot fall. Counted are groups that were trained on and groups that a filter replaced: all were
played by the policy as it was. Pass is the verdict, also where the reward is dense.

`tb_trainer.tasks.source.Posterior` draws fallen cells about twice as often. Refuses no attempts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.runner import Rollout

Count = tuple[int, int]
"""(passed, attempts)"""


@dataclass
class _Cell:
    start: Count = (0, 0)
    now: list[Count] = field(default_factory=list[Count])

    def add(self, new: Count, attempts: int) -> None:
        if self.start[1] < attempts:
            self.start = (self.start[0] + new[0], self.start[1] + new[1])
            return
        self.now.append(new)
        while sum(tried for _, tried in self.now[1:]) >= attempts:
            del self.now[0]

    def fallen(self, attempts: int) -> bool:
        passed, tried = (sum(part) for part in zip(*self.now, strict=True)) if self.now else (0, 0)
        # 2 passed / tried <= start passed / start tried, in whole numbers
        return tried >= attempts and self.start[0] > 0 and 2 * passed * self.start[1] <= self.start[0] * tried


class CellWatch:
    """Which outcome cells have fallen to half of their start.

    Args:
        cells: task id → its cell.
        attempts: that a rate is taken over, at least.

    Attributes:
        fallen: cells, by what was seen so far.

    Raises:
        UsageError: no attempts.
    """

    def __init__(self, cells: Mapping[str, str], attempts: int) -> None:
        if attempts < 1:
            raise UsageError(f"a pass rate is taken over one attempt at least, not {attempts}")
        self.cells, self.attempts = cells, attempts
        self.fallen: frozenset[str] = frozenset()
        self._seen: dict[str, _Cell] = {}

    def has_fallen(self, task_id: str) -> bool:
        """Whether a task is of a fallen cell."""
        return self.cells[task_id] in self.fallen

    def seen(self, rollouts: Iterable[Rollout]) -> None:
        """Hear of an update's whole episodes, in any order."""
        new: dict[str, Count] = {}
        for rollout in rollouts:
            cell = self.cells[rollout.job.task_id]
            passed, tried = new.get(cell, (0, 0))
            new[cell] = (passed + (rollout.outcome == "success"), tried + 1)
        for cell in sorted(new):
            self._seen.setdefault(cell, _Cell()).add(new[cell], self.attempts)
        self._judge()

    def state(self) -> dict[str, Any]:
        """What a resumed run needs, as plain JSON: cell → [start, latest updates], each count [passed, attempts]."""
        return {name: [list(cell.start), [list(one) for one in cell.now]] for name, cell in sorted(self._seen.items())}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up a `state`."""
        self._seen = {
            name: _Cell((start[0], start[1]), [(one[0], one[1]) for one in now]) for name, (start, now) in state.items()
        }
        self._judge()

    def _judge(self) -> None:
        self.fallen = frozenset(name for name, cell in self._seen.items() if cell.fallen(self.attempts))
