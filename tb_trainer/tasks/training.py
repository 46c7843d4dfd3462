"""Which tasks a run draws from, and the hashes by which a checkpoint knows its run. Refuses foreign tasks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.registration import load_domain
from tb_envs.task import get_task
from tb_trainer.episodes import unusual
from tb_trainer.schema import TrainConfig
from tb_trainer.tasks.pool import read_pool
from tb_trainer.tasks.scope import training_domains, within


def training_tasks(config: TrainConfig) -> list[str]:
    """The ids that a run draws from.

    Raises:
        UsageError: there are none, too few, or one that does not belong.
    """
    environment = config.environment
    domains = training_domains(environment)
    if environment.pool:
        tasks = read_pool(Path(environment.pool))
    elif environment.tasks:
        tasks = list(environment.tasks)
    else:
        tasks = [task_id for name in domains for task_id in load_domain(name).suite_ids[environment.split]]
    if not tasks:
        raise UsageError(
            f"domain {domains[0]!r} has no frozen suite {environment.split!r}; name tasks instead: "
            f"--set 'environment.tasks=[{domains[0]}/<family>/0, …]'"
        )
    named, tasks = len(tasks), within(environment, tasks)
    if len(tasks) < config.grpo.groups:
        why = f" of the {named} that environment.families leaves" if len(tasks) < named else ""
        raise UsageError(f"grpo.groups is {config.grpo.groups}, but there are only {len(tasks)} tasks{why}")
    for task_id in tasks:
        if get_task(task_id).domain.name not in domains:
            raise UsageError(f"{task_id!r} is not of the domains that are trained on: {', '.join(domains)}")
    return tasks


def hashes_of(config: TrainConfig, task_ids: Sequence[str]) -> dict[str, str]:
    """Hashes of what decides a run's updates: its ``configuration`` and its ``tasks``."""
    return {
        "configuration": _hash(_essential(config)),
        "tasks": _hash([(task_id, get_task(task_id).hash) for task_id in task_ids]),
    }


def _essential(config: TrainConfig) -> Any:
    """What of the configuration decides the updates; how many there are, and where logs go, does not."""
    tree = config.to_json()
    for part in ("name", "note", "threads", "saving", "parallel", "from_nothing", "held_out"):
        del tree[part]
    del tree["grpo"]["updates"], tree["grpo"]["micro_tokens"], tree["engine"]
    for part in ("backend", "user", "judge", "pause"):
        del tree["environment"][part]
    tree["environment"] |= unusual(config.environment)
    return tree


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
