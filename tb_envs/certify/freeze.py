"""Freezing suites: ids, content hashes and certificates written to the domain's package. Refuses unproved tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tb_envs.authoring.domain import SPLITS, Domain
from tb_envs.certify.task_proofs import Result
from tb_envs.errors import DomainError
from tb_envs.grading.verdict import GRADER
from tb_envs.task import get_task

VERSION = 0


def freeze(domain: Domain, results: Sequence[Result]) -> list[Path]:
    """Write the suite files from the results of certifying every planned task; return their paths.

    Raises:
        DomainError: a planned task was not certified or not proved; nothing is written then.
    """
    by_id = {result.task_id: result for result in results}
    for split in SPLITS:
        for task_id in domain.planned_ids(split):
            if task_id not in by_id:
                raise DomainError(f"{task_id} was not certified; certify all suites before freezing")
            if not by_id[task_id].proved:
                raise DomainError(f"{task_id} is not proved: {by_id[task_id].failures[0]}")
    folder = domain.folder / "suites"
    folder.mkdir(exist_ok=True)
    paths: list[Path] = []
    for split in SPLITS:
        body = {
            "domain": domain.name,
            "split": split,
            "version": VERSION,
            "tasks": [_entry(domain, by_id[task_id]) for task_id in domain.planned_ids(split)],
        }
        path = folder / f"{split}.json"
        path.write_text(json.dumps(body, indent=1, ensure_ascii=True) + "\n", "utf-8")
        paths.append(path)
    domain.__dict__.pop("suites", None)
    domain.__dict__.pop("suite_ids", None)
    return paths


def _entry(domain: Domain, result: Result) -> dict[str, object]:
    task = get_task(result.task_id)
    return {
        "id": result.task_id,
        "hash": result.task_hash,
        "traps": list(task.traps),
        "cell": task.scenario.cell,
        "certificate": {
            "domain": domain.digest,
            "grader": GRADER,
            "proofs": sorted(result.proofs),
            "calls": result.calls,
            "writes": result.writes,
            "mistakes": result.mistakes,
        },
    }
