"""Proofs about a whole domain: size, frozen suites, laws, decision tables, and the mutants of its policy."""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

from tb_envs.authoring.domain import SPLITS, SUITE_SIZES, Domain
from tb_envs.authoring.steps import Call
from tb_envs.certify.mutants import Mutant, installed, load, mutants_of
from tb_envs.errors import DomainError
from tb_envs.registration import load_domain
from tb_envs.store.dump import canonical_json
from tb_envs.task import build_task, get_task, plain

FLOORS = {
    "tables": 16, "seed_rows": 2000, "read_tools": 16, "write_tools": 12, "policy_words": 1800, "articles": 10,
    "families_train": 16, "families_bench": 8, "traps": 14,
}  # fmt: skip

SHOWN = 12
"""How many faults a proof lists."""


@dataclass(frozen=True)
class Proof:
    """One proof about a domain."""

    name: str
    passed: bool
    detail: str


def facts(domain: Domain) -> dict[str, int]:
    """What a domain contains, counted."""
    tools = Counter(tool.effect for tool in domain.tools.values())
    splits = Counter(family.split for family in domain.families.values())
    return {
        "tables": len(domain.specs),
        "seed_rows": sum(len(rows) for rows in domain.seed_rows.values()),
        "read_tools": tools["read"],
        "write_tools": tools["write"],
        "policy_words": len(domain.policy_text.split()),
        "articles": len(domain.articles.by_id),
        "families_train": splits["train"],
        "families_bench": splits["bench"],
        "traps": len({trap for family in domain.families.values() for trap in family.traps}),
        "tasks_train": len(domain.suite_ids["train"]),
        "tasks_dev": len(domain.suite_ids["dev"]),
        "tasks_bench": len(domain.suite_ids["bench"]),
    }


def certify_domain(domain: Domain, *, jobs: int = 0, on_progress: Callable[[str], None] | None = None) -> list[Proof]:
    """All proofs of a domain, in order; `on_progress` hears what is being tried."""
    proofs: list[Proof] = []
    tried: Sequence[tuple[str, Callable[[], Iterator[str]]]] = (
        ("floors", lambda: _floors(domain)),
        ("suites frozen", lambda: _suites(domain)),
        ("reference lengths", lambda: _lengths(domain)),
        ("families distinct", lambda: _distinct(domain)),
        ("laws of the seed", lambda: _laws(domain)),
        ("decision tables", lambda: _tables(domain)),
        ("mutants of the policy", lambda: _mutants(domain, jobs)),
    )
    for name, proof in tried:
        if on_progress is not None:
            on_progress(name)
        wrong = _tried(proof)
        more = f" (+{len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
        proofs.append(Proof(name, not wrong, "; ".join(wrong[:SHOWN]) + more))
    return proofs


def _tried(proof: Callable[[], Iterator[str]]) -> list[str]:
    """What a proof finds wrong; one that breaks is a failed proof, so that the others are still told."""
    wrong: list[str] = []
    try:
        wrong.extend(proof())
    except Exception as error:
        wrong.append(f"the proof broke: {type(error).__name__}: {error}")
    return wrong


def _floors(domain: Domain) -> Iterator[str]:
    counted = facts(domain)
    for name, floor in FLOORS.items():
        if counted[name] < floor:
            yield f"{name}: {counted[name]}, at least {floor} are meant"


def _suites(domain: Domain) -> Iterator[str]:
    for split in SPLITS:
        entries = domain.suites[split]
        if len(entries) != SUITE_SIZES[split]:
            yield f"{split} has {len(entries)} tasks, {SUITE_SIZES[split]} are meant"
        if list(entries) != domain.planned_ids(split):
            yield f"{split} does not hold the planned ids; freeze it again under a new version"
        for task_id, entry in entries.items():
            if not entry.get("certificate"):
                yield f"{task_id} has no certificate"
            elif entry["certificate"]["domain"] != domain.digest:
                yield f"{task_id}: the domain has changed since its certificate was made"
            elif entry["hash"] != get_task(task_id).hash:
                yield f"{task_id} is not the task that was frozen"
    train, bench = (set(domain.suite_ids[split]) for split in ("train", "bench"))
    if train & bench:
        yield "train and bench share tasks"


def _lengths(domain: Domain) -> Iterator[str]:
    lengths: list[int] = []
    writes: list[int] = []
    for split in SPLITS:
        for task_id in domain.planned_ids(split):
            steps = [step for step in get_task(task_id).scenario.solution if isinstance(step, Call)]
            lengths.append(len(steps))
            writes.append(sum(domain.tools[step.tool].effect == "write" for step in steps))
    if statistics.median(lengths) < 6:
        yield f"the median reference has {statistics.median(lengths)} calls, at least 6 are meant"
    share = sum(count >= 2 for count in writes) / len(writes)
    if share < 0.7:
        yield f"{share:.0%} of the tasks need two writes or more, at least 70 % are meant"


def _distinct(domain: Domain) -> Iterator[str]:
    families = list(domain.families.values())
    for i, one in enumerate(families):
        for other in families[i + 1 :]:
            if one.goal == other.goal and one.traps == other.traps:
                yield f"{one.name} and {other.name} share goal and traps"


def _laws(domain: Domain) -> Iterator[str]:
    raw = sqlite3.connect(":memory:")
    raw.deserialize(domain.image)
    for name, statement in domain.laws.items():
        row = raw.execute(statement).fetchone()
        if row is not None:
            yield f"{name}: {row}"
    raw.close()


# -- decision tables


@cache
def decision_cells(domain: Domain) -> dict[str, list[dict[str, Any]]]:
    """The domain's decision tables: rule → cells with ``section``, ``input``, ``expect``."""
    return json.loads((domain.folder / "decision_tables.json").read_text("utf-8"))


def wrong_cells(domain: Domain) -> Iterator[str]:
    """Cells whose expected value the installed policy does not give."""
    rules: dict[str, Callable[[dict[str, Any]], Any]] = domain.module("decisions").RULES
    for rule, cells in decision_cells(domain).items():
        if rule not in rules:
            yield f"{rule}: no such rule in decisions.py"
            continue
        for cell in cells:
            try:
                found = rules[rule](cell["input"])
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            if json.loads(json.dumps(found)) != cell["expect"]:
                where = f"{rule} ({cell['section']}, {cell['why']})"
                yield f"{where}: {cell['input']} gives {found!r}, the text {cell['expect']!r}"


def _tables(domain: Domain) -> Iterator[str]:
    yield from wrong_cells(domain)
    missing = set(domain.module("decisions").RULES) - set(decision_cells(domain))
    if missing:
        yield f"rules without a table: {', '.join(sorted(missing))}"


# -- mutants


def _mutants(domain: Domain, jobs: int) -> Iterator[str]:
    path = domain.folder / "policy.py"
    found = list(mutants_of(path.read_text("utf-8")))
    if not found:
        yield "policy.py has nothing to mutate"
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for name, cell, task in pool.map(_try, [domain.name] * len(found), found, chunksize=4):
            if not cell:
                yield f"{name}: no decision cell notices"
            if not task:
                yield f"{name}: no task notices"


def _try(domain_name: str, mutant: Mutant) -> tuple[str, bool, bool]:
    domain = load_domain(domain_name)
    module = domain.module("policy")
    _fingerprints(domain)
    names = load(module, mutant.source)  # a mutant that cannot be loaded proves nothing: let it be seen
    with installed(module, names):
        return mutant.name, next(wrong_cells(domain), None) is not None, _task_notices(domain)


@cache
def _fingerprints(domain: Domain) -> dict[str, str]:
    ids = [task_id for split in SPLITS for task_id in domain.planned_ids(split)]
    # One of each family first: a mutant is noticed by the few families that use its rule.
    ids.sort(key=lambda task_id: int(task_id.rsplit("/", 1)[1]))
    return {task_id: _right_end(get_task(task_id)) for task_id in ids}


def _right_end(task: Any) -> str:
    scenario = task.scenario
    return canonical_json([plain(scenario.expects), plain(scenario.solution)])


def _task_notices(domain: Domain) -> bool:
    for task_id, fingerprint in _fingerprints(domain).items():
        _, family, index = task_id.split("/")
        try:
            task = build_task(domain, domain.families[family], int(index))
        except DomainError:  # the family breaks under the mutant
            return True
        if _right_end(task) != fingerprint:
            return True
    return False
