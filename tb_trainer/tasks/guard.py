"""Keeps training apart from what it is judged by: refuses to train on the benchmark or on anything that overlaps it.

A training task overlaps if it is a ``bench`` task of an installed domain or of a family that is held out for it (any
index), if it belongs to the held-out domain, or if it is a copy or a near duplicate of a ``bench`` task, whatever its
id, dates and family are called. The same holds for the tasks that a run is evaluated on: those of the domains that it
trains on choose its checkpoint, so they must overlap neither with what it trains on nor with the benchmark; those of
held-out domains choose nothing, and must not overlap either.

Near: the Jaccard index of the facts (`tb_trainer.tasks.similar`) is at least `NEAR`. Measured in the hotel: tasks of
different families reach 0.30 at most; of one family 0.42 at the median, 0.71 at most in the suites and 0.76 over 28,320
pairs of further indices; a copy with other ids and dates has 1.00, with one other price 0.96 or more, with another
name, e-mail, phone and postcode for every guest 0.78 to 0.90. So `NEAR` finds every such copy, and no pair of the
suites.

Overlap with the benchmark can be allowed only in so many words (`FLAG`), and is then written into the run's log and
every checkpoint, also of runs that begin from one of those. Overlap with the evaluation cannot: evaluate on something
else, or on nothing. Of a domain that is not frozen yet, the bench suite that it is to have is protected.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tb_envs.errors import UsageError
from tb_envs.registration import domain_names, load_domain
from tb_envs.task import get_task
from tb_trainer.schema import ModelConfig, TrainConfig
from tb_trainer.tasks.scope import evaluation_domains, training_domains, within
from tb_trainer.tasks.similar import Features, features, pairs

FLAG = "--i-am-training-on-the-benchmark"
MARK = "i_am_training_on_the_benchmark"
NEAR = 0.75
"""Jaccard index from which two tasks are near duplicates."""
LISTED = 20
"""Overlapping tasks that are named in logs and checkpoints; all are counted."""


KINDS = {
    "bench task": "{task} is a bench task",
    "evaluated": "{task} is evaluated on too",
    "held-out family": "{task} is of the held-out family {other}",
    "held-out domain": "{task} is of the held-out domain {other}",
    "copy": "{task} is a copy of {other}",
    "near duplicate": "{task} is a near duplicate of {other} ({alike:.2f} of their facts are the same)",
}


class Overlap(NamedTuple):
    """A task, how it overlaps (one of `KINDS`), with what (a task, a family, a domain), and how alike they are."""

    task_id: str
    kind: str
    other: str
    alike: float = 1.0

    def __str__(self) -> str:
        return KINDS[self.kind].format(task=self.task_id, other=self.other, alike=self.alike)


def check(config: TrainConfig, task_ids: Sequence[str], *, allow: bool = False) -> dict[str, Any]:
    """Refuse a run whose training, evaluation and benchmark overlap.

    Args:
        config: of the run.
        task_ids: what it would train on.
        allow: train on what overlaps the benchmark all the same (`FLAG`).

    Returns:
        What the log's first row and every checkpoint must hold: ``guard`` (what was compared) and, if overlap was
        allowed here or in the run that this one begins from, `MARK` with the counts.

    Raises:
        UsageError: they overlap; the message names the first pair and counts the others.
    """
    environment = config.environment
    found = measured(config) if config.evaluation.every else Measured([], {})
    evaluated = [*found.choosing, *(task_id for ids in found.apart.values() for task_id in ids)]
    trained = overlaps(task_ids, holdout=environment.holdout_domain)
    if not allow:
        _refuse(trained, FLAG)
    shared = against(task_ids, evaluated, "evaluated")
    if shared:
        raise UsageError(f"{_words(shared)}. Leave them out, or do not evaluate: --set evaluation.every=0")
    leaking = overlaps(evaluated)
    if leaking:
        raise UsageError(f"the evaluation chooses the checkpoint, and {_words(leaking)}. Evaluate on other tasks")
    compared = {"trained": len(task_ids), "evaluated": len(evaluated), "bench": len(bench_ids()), "near": NEAR}
    noted = _carried(config.model)
    if allow:
        kinds = dict(sorted(Counter(overlap.kind for overlap in trained).items()))
        tasks = [str(overlap) for overlap in trained[:LISTED]]
        noted = {**noted, "overlaps": kinds, "tasks": tasks}
    return {"guard": compared, **({MARK: noted} if noted else {})}


def check_tasks(task_ids: Sequence[str], *, allow: bool = False) -> None:
    """Refuse tasks that overlap the benchmark: what a trainer calls that is not ours (`tb_envs.adapters.trl`).

    Args:
        task_ids: what it would train on.
        allow: let them through. Nothing notes it: logs and checkpoints are that trainer's.

    Raises:
        UsageError: they overlap; the message names the first pair and counts the others.
    """
    if not allow:
        _refuse(overlaps(task_ids), f"{MARK}=True")


def overlaps(task_ids: Sequence[str], *, holdout: str = "") -> list[Overlap]:
    """How tasks overlap with the benchmark, at most once each, in their order.

    Args:
        task_ids: the tasks.
        holdout: name of a domain that belongs to the benchmark as a whole.
    """
    found = {overlap.task_id: overlap for overlap in against(task_ids, bench_ids(), "bench task")}
    for task_id in task_ids:
        task = get_task(task_id)
        if task_id in found and found[task_id].kind == "bench task":
            continue
        if task.family.split == "bench":
            found[task_id] = Overlap(task_id, "held-out family", task.family.name)
        elif task.domain.name == holdout:
            found[task_id] = Overlap(task_id, "held-out domain", holdout)
    return [found[task_id] for task_id in dict.fromkeys(task_ids) if task_id in found]


def against(task_ids: Iterable[str], protected: Iterable[str], same: str) -> list[Overlap]:
    """Which tasks are, copy or resemble one of the `protected`; for each the one that it is most like.

    Args:
        task_ids: the tasks.
        protected: what they must keep away from.
        same: the kind of overlap of a task that is itself one of the protected.
    """
    ours, theirs = set(task_ids), set(protected)
    found = {task_id: Overlap(task_id, same, task_id) for task_id in ours & theirs}
    kept = {task_id: _protected(task_id) for task_id in sorted(theirs)}
    others = ((task_id, features(get_task(task_id))) for task_id in sorted(ours - theirs))
    for mine, other, alike in pairs(others, kept, NEAR):
        if mine not in found or alike > found[mine].alike:
            found[mine] = Overlap(mine, "copy" if alike == 1 else "near duplicate", other, alike)
    return [found[task_id] for task_id in sorted(found)]


def bench_ids() -> tuple[str, ...]:
    """The benchmark: the bench suites of all installed domains; of one that is not frozen, the one it is to have."""
    domains = map(load_domain, domain_names())
    return tuple(task_id for found in domains for task_id in found.suite_ids["bench"] or found.planned_ids("bench"))


class Measured(NamedTuple):
    """What a run is evaluated on: tasks that choose its best checkpoint; and apart, by domain, those that must not."""

    choosing: list[str]
    apart: dict[str, list[str]]


def measured(config: TrainConfig) -> Measured:
    """What a run is evaluated on while it trains, as far as `environment.families` leaves it.

    The dev suites of the domains that it trains on choose. A held-out domain must not: a checkpoint that was chosen by
    it would no longer say how training transfers.
    """
    environment, split = config.environment, config.evaluation.split
    trained = training_domains(environment)
    domains = evaluation_domains(environment)
    choosing = [name for name in domains if name in trained] or trained
    suites = {
        name: within(environment, load_domain(name).suite_ids[split]) for name in dict.fromkeys([*choosing, *domains])
    }
    return Measured(
        [task_id for name in choosing for task_id in suites[name]],
        {name: ids for name, ids in suites.items() if name not in choosing},
    )


def check_measured(config: TrainConfig) -> Measured:
    """`measured`, if there is something to measure.

    Raises:
        UsageError: a domain's suite holds no task.
    """
    found, split = measured(config), config.evaluation.split
    empty = [name for name, ids in found.apart.items() if not ids]
    if not found.choosing:
        empty = training_domains(config.environment)
    if empty:
        raise UsageError(
            f"evaluation.every is {config.evaluation.every}, but {' and '.join(map(repr, empty))} has no frozen suite "
            f"{split!r} to be evaluated on; set evaluation.every=0, or evaluate on other domains (eval_domains)"
        )
    return found


@cache
def _protected(task_id: str) -> Features:
    return features(get_task(task_id))


def _refuse(found: Sequence[Overlap], words: str) -> None:
    if found:
        raise UsageError(f"{_words(found)}. Leave them out, or, to throw the benchmark away, say {words}")


def _words(found: Sequence[Overlap]) -> str:
    more = f", and {len(found) - 1} more tasks overlap" if len(found) > 1 else ""
    return f"{found[0]}{more}"


def _carried(model: ModelConfig) -> Mapping[str, Any]:
    """The mark of the checkpoint that a run begins from."""
    for folder in (model.checkpoint, model.path):
        path = Path(folder) / "state.json"
        if folder and path.is_file():
            try:
                mark = json.loads(path.read_text("utf-8")).get(MARK)
            except (ValueError, AttributeError):
                raise UsageError(f"{path} cannot be read, so it cannot be told what {folder} was trained on") from None
            if mark:
                return {"began_from": {"path": folder, **mark}}
    return {}
