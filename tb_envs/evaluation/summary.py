"""A campaign in numbers: `summarize` turns rows of attempts into one JSON-able object with the keys listed here.

It reads rows one by one and keeps a few numbers of each, so a campaign of any size fits. It judges nothing anew (that
is `tb_envs.evaluation.regrade`) and drops nothing silently: what is left out of a figure stands beside it as a number.

**Counting.** A task is attempted ``n`` times and ``c`` of them succeed. An attempt that ended in a system error is no
attempt of the agent: it is in neither ``n`` nor ``c``; ``pass_at_1_all`` is the other reading, in which it is a
failure. Of rows that share task and attempt number the last one counts (``--retry-errors`` replaces rows); the others
are ``replaced``, and what they cost is still in the cost. Every figure is a mean over tasks, each task weighing the
same, unless its name ends in ``_pooled``. Where tasks have unequal ``n``, a figure at ``k`` is taken over the tasks
with ``n >= k`` and says how many these are.

**Intervals** are ``{"low", "estimate", "high"}``, or null where there is nothing to estimate: a percentile bootstrap
over tasks, not attempts (`tb_envs.evaluation.metrics.bootstrap`). It has no width where all tasks agree, as one task
does with itself: read it together with ``tasks``. **Points** of a curve are an interval's keys with
``k`` and ``tasks`` (those with ``n >= k``); the estimate is a mean over these tasks. The curves, by their exact names:

* ``pass_at_k``, unbiased: ``1 - C(n-c, k) / C(n, k)`` (Chen et al. 2021, arXiv 2107.03374, equation 1);
* ``pass_hat_k``, pass^k, unbiased: ``C(c, k) / C(n, k)`` (Yao et al. 2024, arXiv 2406.12045);
* ``observed_k_of_k``: all of the first ``k`` attempts succeeded, literally; ``passed`` is the number of such tasks;
* ``breadth``: at least one of the first ``k`` attempts succeeded; ``passed`` likewise.

"First" is by attempt number, system errors passed over. At ``k = n`` pass^k equals observed k-of-k, and pass@k equals
breadth. The plug-in ``(c/n)**k``, which some benchmarks print as pass^k, is biased upwards and is not computed: a task
solved 19 times of 20 has 0.36 of it at ``k = 20`` and 0 of pass^20. The headline's ``k`` is the largest that at least
nine tenths of the counted tasks have. A task that passes all ``k`` of its first ``k`` attempts is called dependable.

The keys; those of nested objects are always all there::

    attempts, counted, system_errors, passed     numbers of attempts; attempts = counted + system_errors
    planned, missing                             attempts planned and still missing, null where not said
    replaced                                     rows that a later row of the same attempt replaced
    tasks, tasks_counted                         with a row; with at least one counted attempt
    excluded                                     {reason: tasks left out before playing}, as given
    attempts_per_task                            {"min", "max"} of n over all tasks; unequal: whether they differ
    k                                            of the headline; 0 where nothing is counted
    headline          {"pass_at_1": interval, "pass_at_1_all": interval, "pass_at_1_pooled": passed / counted or null,
                       "pass_at_k", "pass_hat_k", "observed_k_of_k", "breadth": point or null, at the headline's k}
    curves            {"pass_at_k", "pass_hat_k", "observed_k_of_k", "breadth": [point]}; k = 1 … 32, then fewer
    by                {"domain", "family", "trap", "reference_length", "split", "cell": {name: group}}; a family is
                      "domain/family", a cell "domain/family: cell", lengths are texts, "none" where a task has none,
                      "fresh" the split of tasks of no suite; a task of several traps is in each of their groups
    grid              {domain: {trap: {"tasks", "attempts", "passed", "pass_at_1"}}}; attempts are counted ones
    guards, earned    what had to stay, what had to happen: {"checks", "passed": numbers of checks over all attempts,
                      "rate": interval of the share of attempts in which all of them passed, "k_of_k": point}
    kept_and_earned   attempts and, over their first k attempts, tasks: {"attempts", "tasks": {"both", "guards_only",
                      "earned_only", "neither"}}, tasks also {"k", "of"}
    failed_checks     [{"name", "kind", "count": attempts, "tasks"}], most frequent first
    outcomes          {outcome: attempts}
    ended_by          {name: {"attempts", "failed"}}; failed ones among the counted
    errors            [{"outcome", "error", "count"}] of system errors, most frequent first, 20 at most
    tool_errors       {"calls", "errors", "rate", "attempts_with", "malformed", "attempts_malformed"}; rate per call
    length            {"turns", "user_turns", "tool_calls"}: means over counted attempts, or null
    context           {"dropped": tool results, "attempts_with"}
    user_faults       {"attempts", "attempts_with", "rate": attempts_with / attempts, "faults", "user_turns",
                       "per_user_turn", "errors": attempts that ended as error:user}
    impossible        {"trap": "restraint", "with": group, "without": group}: the tasks whose right end is that what was
                      asked for is not done, and the others
    floor, ceiling    what the idle and the reference agent score at exactly these tasks: {"agent", "pass_at_1",
                      "tasks", "certified", "played", "unknown": {reason: tasks}}; see `tb_envs.evaluation.anchors`
    tokens            {"agent", "user", "judge": {"input", "cached_input", "output", "reasoning", "attempts",
                      "attempts_unknown"} or null where no attempt tells}; replaced rows included
    cost              see `tb_envs.evaluation.spending`
    seconds           {"total", "agent", "environment", "user", "judge", "grading", "waiting", "requests", "retried",
                      "slowed", "user_retried", "user_slowed", "judge_retried", "judge_slowed"}: sums over all rows;
                      the last seven are numbers of requests, the agent's where nobody is named
    versions          {"grader", "package": [text], "tools": {domain: [hash]}}
    per_task          [{"task_id", "task_hash", "domain", "family", "split", "traps", "cell", "reference_length", "n",
                      "c", "errors", "guards", "earned", "floor", "ceiling"}] by task id; guards and earned are numbers
                      of counted attempts in which all of the kind passed
    bootstrap         {"seed", "draws", "level"}

    group = {"tasks", "attempts", "counted", "system_errors", "passed", "pass_at_1": interval, "pass_at_1_all",
             "k": of the headline, "tasks_at_k", "pass_at_k", "pass_hat_k": number or null,
             "dependable", "breadth": numbers of tasks out of tasks_at_k, "guards", "earned": shares or null,
             "impossible": {"tasks", "pass_at_1": number or null} of those that cannot be met among them,
             "floor", "ceiling": number or null}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tb_envs.authoring.scenario import TRAPS
from tb_envs.evaluation import anchors, incidents, spending
from tb_envs.evaluation.counts import CURVES, Counts, Ints, Mask, Resampling
from tb_envs.evaluation.dimensions import DIMENSIONS, members
from tb_envs.evaluation.metrics.bootstrap import Values
from tb_envs.evaluation.tally import Played, Tally, TaskTally
from tb_envs.knobs import Knobs

IMPOSSIBLE = "restraint"
"""The trap of requests that cannot be met: the right end is that nothing changes but the record of the contact."""


def summarize(
    rows: Iterable[Mapping[str, Any]],
    *,
    seed: int = 0,
    draws: int = 2000,
    level: float = 0.95,
    knobs: Knobs | Mapping[str, Any] | None = None,
    planned: int | None = None,
    excluded: Mapping[str, int] | None = None,
    anchored: bool = True,
) -> dict[str, Any]:
    """A campaign's rows in numbers; the module lists the keys.

    Args:
        rows: the attempts, as campaigns write them; any iterable, read once.
        seed: of the bootstrap.
        draws: of the bootstrap; 2,000 hold the limits still to about 2 % of an interval's width.
        level: the intervals' coverage.
        knobs: what the tasks were played with; only for the floor and the ceiling.
        planned: attempts that the campaign is to have in the end.
        excluded: reason → tasks that were left out before playing.
        anchored: whether to say floor and ceiling, which may have to play tasks; if not, they are unknown.

    Raises:
        UsageError: a row is no row, or contradicts itself or another.
        ValueError: the level or the number of draws is out of range.
    """
    tally = Tally.of(rows)
    return _Summary(tally, Resampling(seed, draws, level), Knobs.of(knobs), anchored).to_json(planned, excluded or {})


class _Summary:
    """The parts of a summary, over one tally."""

    def __init__(self, tally: Tally, resampling: Resampling, knobs: Knobs, anchored: bool) -> None:
        self.tally = tally
        self.resampling = resampling
        self.tasks: list[TaskTally] = list(tally.tasks.values())
        self.counts = Counts.of(self.tasks)
        self.impossible = self._mask(lambda task: IMPOSSIBLE in task.traps)
        self.k = self.counts.headline_k()
        self.anchors = anchors.of_tasks(((task.task_id, task.task_hash) for task in self.tasks), knobs, anchored)

    def to_json(self, planned: int | None, excluded: Mapping[str, int]) -> dict[str, Any]:
        counts, tally = self.counts, self.tally
        played = list(tally.attempts())
        counted = [one for one in played if one.counted]
        passed = int(counts.c.sum())
        fewest, most = (int(counts.n.min()), int(counts.n.max())) if self.tasks else (0, 0)
        curves = counts.curves(self.resampling)
        headline = {curve: next((p for p in curves[curve] if p["k"] == self.k), None) for curve in CURVES}
        dependable = headline["observed_k_of_k"]
        return {
            "attempts": len(played),
            "counted": len(counted),
            "system_errors": len(played) - len(counted),
            "passed": passed,
            "planned": planned,
            "missing": None if planned is None else planned - len(played),
            "replaced": tally.replaced,
            "tasks": len(self.tasks),
            "tasks_counted": int(counts.counted.sum()),
            "excluded": dict(excluded),
            "attempts_per_task": {"min": fewest, "max": most},
            "unequal": fewest != most,
            "k": self.k,
            "headline": {
                "pass_at_1": self._interval(counts, counts.c),
                "pass_at_1_all": self._interval(counts, counts.c, of=counts.n + counts.errors),
                "pass_at_1_pooled": passed / len(counted) if counted else None,
                **headline,
            },
            "curves": curves,
            "by": {
                name: {key: self._group(chosen) for key, chosen in members(self.tasks, name).items()}
                for name in DIMENSIONS
            },
            "grid": self._grid(),
            "guards": self._kind(counted, "guards"),
            "earned": self._kind(counted, "earned"),
            "kept_and_earned": self._kept_and_earned(counted),
            "failed_checks": self._failed_checks(),
            "outcomes": dict(sorted(Counter(one.outcome for one in played).items())),
            "ended_by": incidents.ended_by(played),
            "errors": incidents.errors(played),
            "tool_errors": incidents.tool_errors(played),
            "length": {
                name: sum(getattr(one, name) for one in counted) / len(counted) if counted else None
                for name in ("turns", "user_turns", "tool_calls")
            },
            "context": {
                "dropped": sum(one.dropped for one in played),
                "attempts_with": sum(one.dropped > 0 for one in played),
            },
            "user_faults": incidents.user_faults(played),
            "impossible": {
                "trap": IMPOSSIBLE,
                "with": self._group(self.impossible),
                "without": self._group(~self.impossible),
            },
            "floor": anchors.summary(self.anchors, anchors.FLOOR),
            "ceiling": anchors.summary(self.anchors, anchors.CEILING),
            "tokens": spending.tokens(tally),
            "cost": spending.cost(
                tally, attempts=len(played), passed=passed, dependable=dependable["passed"] if dependable else 0
            ),
            "seconds": tally.seconds,
            "versions": {
                "grader": sorted(tally.graders),
                "package": sorted(tally.packages),
                "tools": {domain: sorted(hashes) for domain, hashes in sorted(tally.tools.items())},
            },
            "per_task": [self._task(place) for place in range(len(self.tasks))],
            "bootstrap": vars(self.resampling),
        }

    # -- parts of the tasks

    def _mask(self, chosen: Callable[[TaskTally], bool]) -> Mask:
        return np.array([chosen(task) for task in self.tasks], dtype=np.bool_)

    def _group(self, chosen: Mask) -> dict[str, Any]:
        part = self.counts.part(chosen)
        counted, errors, passed = int(part.n.sum()), int(part.errors.sum()), int(part.c.sum())
        some = self.k > 0 and bool((part.n >= self.k).any())
        at = {curve: part.at(curve, self.k) for curve in CURVES} if some else {}
        impossible = self.counts.part(chosen & self.impossible)
        anchored = [self.anchors[place] for place in np.flatnonzero(chosen).tolist()]
        return {
            "tasks": len(part.n),
            "attempts": counted + errors,
            "counted": counted,
            "system_errors": errors,
            "passed": passed,
            "pass_at_1": self._interval(part, part.c),
            "pass_at_1_all": _mean(part.rates(part.c, of=part.n + part.errors)),
            "k": self.k,
            "tasks_at_k": len(at["pass_at_k"]) if at else 0,
            "pass_at_k": _mean(at["pass_at_k"]) if at else None,
            "pass_hat_k": _mean(at["pass_hat_k"]) if at else None,
            "dependable": int(at["observed_k_of_k"].sum()) if at else 0,
            "breadth": int(at["breadth"].sum()) if at else 0,
            "guards": _mean(part.rates(part.kept)),
            "earned": _mean(part.rates(part.done)),
            "impossible": {"tasks": len(impossible.n), "pass_at_1": _mean(impossible.rates(impossible.c))},
            "floor": anchors.score(anchored, anchors.FLOOR),
            "ceiling": anchors.score(anchored, anchors.CEILING),
        }

    def _grid(self) -> dict[str, dict[str, dict[str, Any]]]:
        grid: dict[str, dict[str, dict[str, Any]]] = {}
        for domain in sorted({task.domain for task in self.tasks}):
            cells = grid.setdefault(domain, {})
            for trap in TRAPS:
                part = self.counts.part(self._mask(lambda task, d=domain, t=trap: task.domain == d and t in task.traps))
                if len(part.n):
                    cells[trap] = {
                        "tasks": len(part.n),
                        "attempts": int(part.n.sum()),
                        "passed": int(part.c.sum()),
                        "pass_at_1": _mean(part.rates(part.c)),
                    }
        return grid

    # -- guards and earned checks

    def _kind(self, counted: Sequence[Played], kind: str) -> dict[str, Any]:
        counts = self.counts
        hits, leading = (counts.kept, counts.leading_kept) if kind == "guards" else (counts.done, counts.leading_done)
        checks = [one.guards if kind == "guards" else one.earned for one in counted]
        enough = counts.n >= max(self.k, 1)
        always = (leading[enough] >= self.k).astype(np.float64)
        interval = self.resampling.interval(always)
        return {
            "checks": sum(number for number, _ in checks),
            "passed": sum(passed for _, passed in checks),
            "rate": self._interval(counts, hits),
            "k_of_k": interval and {"k": self.k, "tasks": len(always), **interval, "passed": int(always.sum())},
        }

    def _kept_and_earned(self, counted: Sequence[Played]) -> dict[str, Any]:
        enough = self.counts.n >= max(self.k, 1)
        kept, done = self.counts.leading_kept[enough] >= self.k, self.counts.leading_done[enough] >= self.k
        tasks = _both_or_one(list(zip(kept.tolist(), done.tolist(), strict=True)))
        return {
            "attempts": _both_or_one([(one.kept, one.done) for one in counted]),
            "tasks": {**tasks, "k": self.k, "of": int(enough.sum())},
        }

    def _failed_checks(self) -> list[dict[str, Any]]:
        attempts: Counter[tuple[str, str]] = Counter()
        tasks: Counter[tuple[str, str]] = Counter()
        for task in self.tasks:
            failed = [check for one in task.attempts.values() for check in one.failed]
            attempts.update(failed)
            tasks.update(set(failed))
        return [
            {"name": name, "kind": kind, "count": count, "tasks": tasks[name, kind]}
            for (name, kind), count in sorted(attempts.items(), key=lambda item: (-item[1], item[0]))
        ]

    # -- one task

    def _task(self, place: int) -> dict[str, Any]:
        task, counts = self.tasks[place], self.counts
        return {
            "task_id": task.task_id,
            "task_hash": task.task_hash,
            "domain": task.domain,
            "family": task.family,
            "split": task.split,
            "traps": list(task.traps),
            "cell": task.cell,
            "reference_length": task.reference_length,
            "n": int(counts.n[place]),
            "c": int(counts.c[place]),
            "errors": int(counts.errors[place]),
            "guards": int(counts.kept[place]),
            "earned": int(counts.done[place]),
            "floor": self.anchors[place].floor,
            "ceiling": self.anchors[place].ceiling,
        }

    def _interval(self, counts: Counts, hits: Ints, *, of: Ints | None = None) -> dict[str, float] | None:
        return self.resampling.interval(counts.rates(hits, of=of))


def _mean(values: Values) -> float | None:
    return float(values.mean()) if len(values) else None


def _both_or_one(pairs: Sequence[tuple[bool, bool]]) -> dict[str, int]:
    found = Counter(pairs)
    return {
        "both": found[True, True],
        "guards_only": found[True, False],
        "earned_only": found[False, True],
        "neither": found[False, False],
    }
