"""What the list of episodes knows of each attempt: enough to find it by, small enough for ten thousand."""

from __future__ import annotations

from typing import Any

from tb_envs.evaluation.report.campaigns import Attempt
from tb_envs.evaluation.report.episodes import failed

COLUMNS = (
    "run", "task", "attempt", "outcome", "ended", "failed", "reason", "tool", "error", "turns", "calls", "errors",
    "tokens", "cost", "seconds", "chunk", "place",
)  # fmt: skip
"""Of an entry. ``run`` is a number; ``chunk`` and ``place`` say where the episode is packed, -1 if it is not."""
LONGEST = 160
"""Characters kept of a system error."""


def entry(run: int, attempt: Attempt, where: tuple[int, int] = (-1, -1)) -> list[Any]:
    """An attempt as a line of the list, in the order of `COLUMNS`."""
    row = attempt.row
    tokens, cost, seconds = row["tokens"]["agent"], row["cost"], row["seconds"]["total"]
    return [
        run,
        row["task_id"],
        row["attempt"],
        row["outcome"],
        row["ended_by"],
        [check["name"] for check in failed(row)],
        attempt.reason.kind,
        attempt.reason.tool,
        row["error"][:LONGEST],
        row["turns"],
        row["tool_calls"],
        row["tool_errors"],
        None if tokens is None else tokens["input"] + tokens["output"],
        None if None in cost.values() else sum(cost.values()),
        round(seconds, 3),
        *where,
    ]


def task(attempt: Attempt) -> dict[str, Any]:
    """What all attempts at a task share."""
    row = attempt.row
    return {name: row[name] for name in ("domain", "family", "traps", "cell", "split", "reference_length")}
