"""Whether a supervised start is good enough for reward to go on from: its greedy pass rate, and each outcome cell.

Reward reinforces what is sometimes done right. A cell that the start never solves gives it nothing, and a start that
solves little greedily has not learned to copy. Measured before any habit (`WarmStartConfig.habits`). Tells, and chooses
nothing: the run goes on, and whoever reads the message may stop it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from tb_trainer.evaluate import family_of

START, CELL = 0.85, 0.5
"""Greedy pass rates that are wanted of all tasks and of each outcome cell."""


def gate(rows: Iterable[dict[str, Any]]) -> tuple[bool, str]:
    """Whether the start passes, and a sentence that says so with the cells that miss it.

    Args:
        rows: of a trial file (`tb_trainer.evaluate.trial`); system errors are no trials.
    """
    cells: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row["status"] != "system_error":
            cells[f"{family_of(row['task'])}: {row['cell']}"].append(row["outcome"] == "success")
    solved = [passed for trials in cells.values() for passed in trials]
    if not solved:
        return False, "the start was not measured: no trial was played"
    rate = fmean(solved)
    low = {name: trials for name, trials in sorted(cells.items()) if fmean(trials) < CELL}
    told = f"greedily the start solves {rate:.1%} of {len(solved)} tasks ({START:.0%} wanted)"
    if low:
        told += f"; cells below {CELL:.0%}: " + ", ".join(
            f"{name} ({sum(trials)} of {len(trials)})" for name, trials in low.items()
        )
    passed = rate >= START and not low
    if not passed:
        told += ". More warmstart.steps may help"
    return passed, told
