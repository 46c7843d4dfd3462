"""Certifying many tasks, over processes. Results come in the order of the ids whatever finishes first."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tb_envs.certify.task_proofs import Result, certify_task
from tb_envs.errors import DomainError, UsageError
from tb_envs.knobs import NONE, Knobs
from tb_envs.registration import load_domain
from tb_envs.task import get_task

FRESH = 1000
"""Indices from here on are in no suite."""


def certify_one(task_id: str, knobs: Knobs = NONE) -> Result:
    """Certify a task by id; a task that cannot be built is a failed result."""
    try:
        return certify_task(get_task(task_id, knobs))
    except UsageError:
        raise
    except Exception as error:
        message = f"the task cannot be built or played: {type(error).__name__}: {error}"
        return Result(task_id, "", {"builds": False}, (message,), 0, 0, 0)


def certify_tasks(
    task_ids: Sequence[str],
    *,
    jobs: int = 0,
    knobs: Knobs = NONE,
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Certify tasks, `jobs` at a time (0: one per core), as they are with these knobs."""
    jobs = jobs or os.cpu_count() or 1
    results: list[Result] = []

    def take(result: Result) -> None:
        results.append(result)
        if on_result is not None:
            on_result(result)

    if jobs == 1 or len(task_ids) < 4:
        for task_id in task_ids:
            take(certify_one(task_id, knobs))
        return results
    # Ctrl-C is for the parent to report; a worker would only print its own traceback.
    with ProcessPoolExecutor(jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        for result in pool.map(partial(certify_one, knobs=knobs), task_ids, chunksize=4):
            take(result)
    return results


def fresh_ids(domain_name: str, count: int) -> list[str]:
    """Ids of `count` tasks that are in no suite, spread over all families."""
    families = list(load_domain(domain_name).families)
    if not families:
        raise DomainError(f"domain {domain_name} has no families")
    return [f"{domain_name}/{families[i % len(families)]}/{FRESH + i // len(families)}" for i in range(count)]
