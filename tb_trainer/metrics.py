"""What is logged of an update's episodes: counts, means, shares by family, cell and trap; system errors apart.

Pass rates and reward are of all whole groups that were played: those that a filter left in, a mean over which would say
more of the filter than of the policy, stand apart as ``trained_…``. Counts are sums over what was trained on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from tb_envs.task import get_task
from tb_trainer.evaluate import cell_of, family_of
from tb_trainer.groups import Batch
from tb_trainer.runner import Rollout

COUNTS = ("turns", "user_turns", "tool_calls", "tool_errors", "malformed", "cut_off")
EARLY = 2
"""An episode that the agent ends within so many turns is an early exit."""


def batch_row(batch: Batch) -> dict[str, Any]:
    """The numbers of one update's whole episodes, and of what the system broke on the way."""
    rollouts, played = batch.rollouts, batch.played
    ended = Counter(rollout.ended_by for rollout in rollouts)
    return {
        "episodes": len(rollouts),
        "played_episodes": len(played),
        **_means(played),
        **{f"trained_{name}": mean for name, mean in _means(rollouts).items()},
        "groups": len(batch.groups),
        "informative_groups": sum(group.informative for group in batch.groups),
        "solved_groups": sum(min(group.rewards) == 1 for group in batch.groups),
        "failed_groups": sum(max(group.rewards) == 0 for group in batch.groups),
        "uniform_replaced": len(batch.uniform),
        "tokens": {
            "prompt": sum(rollout.tokens.prompt for rollout in rollouts),
            "action": sum(rollout.tokens.actions for rollout in rollouts),
            "observation": sum(len(r.tokens) - r.tokens.prompt - r.tokens.actions for r in rollouts),
            "longest": max(len(rollout.tokens) for rollout in rollouts),
        },
        **{name: sum(getattr(rollout, name) for rollout in rollouts) for name in COUNTS},
        "early_exits": sum(rollout.ended_by == "agent" and rollout.turns <= EARLY for rollout in rollouts),
        "ended_by": dict(sorted(ended.items())),
        "limits_hit": sum(count for name, count in ended.items() if name.startswith("limit:")),
        "system_errors": dict(sorted(batch.errors.items())),
        **{f"{part}_cost": _rounded(cost.dollars) for part, cost in batch.costs.items()},
        **{f"{part}_tokens": cost.tokens for part, cost in batch.costs.items()},
        "retries": batch.retries,
        "dropped_groups": len(batch.dropped),
        "families": rates_by(played, lambda task_id: [family_of(task_id)]),
        "cells": rates_by(played, lambda task_id: [cell_of(task_id)]),
        "traps": rates_by(played, lambda task_id: get_task(task_id).traps),
        "failed_checks": dict(Counter(name for rollout in rollouts for name in rollout.checks).most_common(8)),
    }


def _means(rollouts: Sequence[Rollout]) -> dict[str, float]:
    return {
        "reward_mean": fmean(rollout.reward or 0.0 for rollout in rollouts),
        "pass_rate": fmean(rollout.outcome == "success" for rollout in rollouts),
    }


def _rounded(dollars: float | None) -> float | None:
    """Dollars to a millionth; None: unknown, since nobody named the model's price."""
    return None if dollars is None else round(dollars, 6)


def rates_by(rollouts: Iterable[Rollout], labels: Any) -> dict[str, list[float]]:
    """Label → [pass rate, episodes], for a function that names a task's labels."""
    passed: dict[str, list[bool]] = defaultdict(list)
    for rollout in rollouts:
        for label in labels(rollout.job.task_id):
            passed[label].append(rollout.outcome == "success")
    return {label: [round(fmean(values), 4), len(values)] for label, values in sorted(passed.items())}


def line(rollout: Rollout, decode: Any) -> dict[str, Any]:
    """An episode as a person reads it, for the rollouts file."""
    tokens = rollout.tokens
    return {
        "task": rollout.job.task_id,
        "group": rollout.job.key.group,
        "slot": rollout.job.key.slot,
        "outcome": rollout.outcome,
        "ended_by": rollout.ended_by,
        "failed_checks": list(rollout.checks),
        "text": decode(tokens.ids),
    }
