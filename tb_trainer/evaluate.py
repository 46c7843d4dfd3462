"""Held-out evaluation: every task played n times, one row a trial, and the numbers that are read off them.

A system error is never a trial: it is played again. Where some trials stay unplayed they are counted, and there is no
mean: one over what happened to be played would flatter whoever breaks most. Bounds over all tasks are given instead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.evaluation.metrics import bootstrap_over_tasks, pass_at_k, pass_hat_k
from tb_envs.task import get_task
from tb_trainer.backlog import PAUSE
from tb_trainer.engines import Key
from tb_trainer.play import play_all
from tb_trainer.runner import Job, Rollout, Runner

TRIALS = -1
"""In place of an update's number in the keys of evaluation: its random numbers are the same at every update."""


def family_of(task_id: str) -> str:
    """``hotel/cancel/3`` → ``hotel/cancel``."""
    return task_id.rpartition("/")[0]


def cell_of(task_id: str) -> str:
    """The outcome cell of a task under its family: ``hotel/cancel: denied``."""
    return f"{family_of(task_id)}: {get_task(task_id).scenario.cell or 'no cell'}"


def spread(task_ids: Sequence[str], count: int) -> list[str]:
    """`count` of the tasks, as many of each family as can be; all of them if `count` is 0."""
    if not count or count >= len(task_ids):
        return list(task_ids)
    families: dict[str, list[str]] = {}
    for task_id in task_ids:
        families.setdefault(family_of(task_id), []).append(task_id)
    columns = list(families.values())
    rows = max(map(len, columns))
    ordered = [column[row] for row in range(rows) for column in columns if row < len(column)]
    chosen = set(ordered[:count])
    return [task_id for task_id in task_ids if task_id in chosen]


def evaluate(
    runner: Runner,
    task_ids: Sequence[str],
    *,
    attempts: int = 1,
    greedy: bool = False,
    seed: int = 0,
    retries: int = 8,
    slots: int = 256,
    pause: float = PAUSE,
    first: int = 0,
    trials: Path | None = None,
    on_rollout: Callable[[Rollout], None] | None = None,
) -> dict[str, Any]:
    """Play the tasks and summarise.

    Args:
        runner: plays, with the policy's engine.
        task_ids: what to play.
        attempts: at each task.
        greedy: take the likeliest token.
        seed: of the run.
        first: number of the first task in the keys of the random numbers.
        retries, slots, pause: as of `tb_trainer.play.play_all`.
        trials: a JSONL file for one row a trial.
        on_rollout: called with each finished episode.

    Returns:
        `summary` of the trials.
    """
    if not task_ids:
        raise UsageError("there are no tasks to evaluate on")
    jobs = [
        Job(Key(seed, TRIALS, group, slot), task_id)
        for group, task_id in enumerate(task_ids, first)
        for slot in range(attempts)
    ]
    usual = runner.engine.sampling
    runner.engine.sampling = replace(usual, temperature=0.0) if greedy else usual
    try:
        rollouts = play_all(runner, jobs, retries, slots=slots, pause=pause, on_rollout=on_rollout)
    finally:
        runner.engine.sampling = usual
    if trials is not None:
        trials.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(trial(rollout), ensure_ascii=False) for rollout in rollouts]
        trials.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return summary(rollouts, attempts)


def trial(rollout: Rollout) -> dict[str, Any]:
    """One row of a trial file; ``transcript`` only where the runner kept one."""
    job = rollout.job
    task = get_task(job.task_id)
    return {
        "task": job.task_id,
        "attempt": job.key.slot,
        "hash": task.hash,
        "cell": task.scenario.cell,
        "traps": list(task.traps),
        "status": rollout.status,
        "outcome": rollout.outcome,
        "reward": rollout.reward,
        "ended_by": rollout.ended_by,
        "turns": rollout.turns,
        "tool_calls": rollout.tool_calls,
        "tool_errors": rollout.tool_errors,
        "malformed": rollout.malformed,
        "cut_off": rollout.cut_off,
        "tokens": len(rollout.tokens),
        "sampled": rollout.tokens.actions,
        "failed_checks": list(rollout.checks),
        "error": rollout.error,
        **({"transcript": rollout.transcript} if rollout.transcript else {}),
    }


def summary(rollouts: Sequence[Rollout], attempts: int) -> dict[str, Any]:
    """The numbers of some trials.

    Returns:
        ``pass@1`` with a 95 % ``interval`` (bootstrap over tasks), ``pass@k`` and ``pass^k`` for k = `attempts`, both
        unbiased; ``reward``; ``families`` (pass rate each); ``breadth`` (share of tasks solved at least once);
        ``trials``, ``tasks``, ``unplayed``. With unplayed trials these means are None or left out, ``families`` holds
        the families without one, and ``bounds`` are those of pass@1 over all tasks: unplayed trials as failed, as
        solved.
    """
    by_task: dict[str, list[bool]] = {}
    planned, rewards = Counter[str](), list[float]()
    for rollout in rollouts:
        planned[rollout.job.task_id] += 1
        if rollout.status != "system_error":
            by_task.setdefault(rollout.job.task_id, []).append(rollout.outcome == "success")
            rewards.append(rollout.reward or 0.0)
    broken = {family_of(task_id) for task_id, count in planned.items() if count > len(by_task.get(task_id, ()))}
    rates = {task_id: fmean(passed) for task_id, passed in by_task.items()}
    families: dict[str, list[float]] = {}
    for task_id, rate in rates.items():
        families.setdefault(family_of(task_id), []).append(rate)
    out: dict[str, Any] = {
        "trials": len(rewards),
        "tasks": len(by_task),
        "unplayed": len(rollouts) - len(rewards),
        "pass@1": None if broken else fmean(rates.values()),
        "reward": None if broken else fmean(rewards),
        "breadth": None if broken else fmean(map(any, by_task.values())),
        "families": {name: round(fmean(values), 4) for name, values in sorted(families.items()) if name not in broken},
    }
    if broken:
        solved = {task_id: sum(by_task.get(task_id, ())) for task_id in planned}
        missing = {task_id: count - len(by_task.get(task_id, ())) for task_id, count in planned.items()}
        low = fmean(solved[task_id] / count for task_id, count in planned.items())
        high = fmean((solved[task_id] + missing[task_id]) / count for task_id, count in planned.items())
        return {**out, "bounds": [round(low, 4), round(high, 4)]}
    low, _, high = bootstrap_over_tasks(rates, draws=2000)
    out["interval"] = [round(low, 4), round(high, 4)]
    if attempts > 1:
        passed = by_task.values()
        out[f"pass@{attempts}"] = fmean(pass_at_k(attempts, sum(each), attempts) for each in passed)
        out[f"pass^{attempts}"] = fmean(pass_hat_k(attempts, sum(each), attempts) for each in passed)
    return out
