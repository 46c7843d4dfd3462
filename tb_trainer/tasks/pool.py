"""The pool file: which tasks a run draws from, as `tbx select` wrote it. Read by the trainer, checked against today.

Refuses a file that is no pool, and tasks that are no longer what they were when they were selected.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.registration import load_domain
from tb_envs.task import get_task

KIND = "tbx pool 1"


def read_pool(path: Path) -> list[str]:
    """The ids of a pool's tasks.

    Raises:
        UsageError: no such file, no pool, or a task or its domain has changed since.
    """
    pool = _read(path)
    for name, digest in pool["domains"].items():
        if load_domain(name).digest != digest:
            raise UsageError(f"{path}: domain {name} has changed since (tools, policy or seed rows); probe it again")
    for entry in pool["tasks"]:
        if get_task(entry["id"]).hash != entry["hash"]:
            raise UsageError(f"{path}: {entry['id']} has changed since it was selected; probe it again")
    return [entry["id"] for entry in pool["tasks"]]


def read_counts(path: Path) -> dict[str, tuple[float, float]]:
    """Task id → (solved, failed) attempts of the probe."""
    return {entry["id"]: (entry["solved"], entry["runs"] - entry["solved"]) for entry in _read(path)["tasks"]}


def pool_text(pool: dict[str, Any]) -> str:
    """A pool as its file holds it: the same pool, the same bytes."""
    return json.dumps({"kind": KIND, **pool}, indent=1, sort_keys=True) + "\n"


def _read(path: Path) -> dict[str, Any]:
    try:
        pool = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the pool {path}: {error.strerror}") from None
    except ValueError:
        pool = None
    if not isinstance(pool, dict) or pool.get("kind") != KIND:
        raise UsageError(f"{path} is no pool file; `tbx select` writes one")
    return pool
