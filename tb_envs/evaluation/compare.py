"""Two campaigns side by side, paired by task: what changed, how surely, and at which tasks. Data only; prints nothing.

Only tasks that both have, with the same content hash and a counted attempt on both sides, are compared. A task whose
hash differs is another task: it is named and left out, like one that only one side has, and the rest is compared; so
one repaired task does not make years of results useless. Nothing in common is refused. Each side's rate at a task is
over all its counted attempts; what depends on ``k`` is taken at the same ``k`` on both sides, over the tasks that have
``k`` counted attempts on both.

Differences are ``b - a``. Their intervals are paired: each draw of the bootstrap takes the same tasks on both sides, so
that the tasks' own difficulty cancels out. Names of figures are those of `tb_envs.evaluation.summary`. The keys::

    names        {"a", "b"}
    warnings     [text]: what makes the two sides unlike in more than their agents
    settings     {name: {"a", "b"}}: settings that differ, nested names dotted; null where a side has none of the name
    versions     {"grader", "package": {"a", "b": [text]}, "tools": {domain: {"a", "b": [hash]}}}, only what differs
    a, b         {"tasks", "attempts", "counted", "system_errors", "passed", "cost", "tokens"} of all of a side's rows
    tasks        {"paired": number, "only_a", "only_b", "uncounted": [task id], "changed": [{"task_id", "a", "b"}]};
                 uncounted ones have system errors only, on one side at least
    k            largest k that nearly all paired tasks have on both sides
    headline     {"pass_at_1", "pass_at_1_all", "guards", "earned", "impossible", "pass_at_k", "pass_hat_k",
                 "observed_k_of_k", "breadth": pair or null}; impossible is pass@1 of requests that cannot be met;
                 pass_at_1_all is over all tasks that both have, `uncounted` ones included
    curves       {"pass_at_k", "pass_hat_k", "observed_k_of_k", "breadth": [pair]}
    by           {"domain", "family", "trap", "reference_length", "split", "cell": {name: {"tasks", "a", "b": pass@1,
                 "difference": interval, "dependable", "breadth": {"tasks", "a", "b", "gained", "lost": numbers},
                 "floor", "ceiling": number or null}}}
    floor, ceiling    what the idle and the reference agent score at the paired tasks, which are the same on both sides;
                 keys as of `tb_envs.evaluation.summary`
    dependable   {"k", "tasks", "a", "b": numbers of tasks that pass all of their first k attempts, "gained",
                 "lost": [moved]}
    breadth      likewise for tasks with at least one success in the first k attempts
    per_task     [moved]: every paired task, those that gained most first

    pair  = {"k": or null, "tasks", "a", "b", "difference": interval}
    moved = {"task_id", "domain", "family", "split", "traps", "a", "b": {"n", "c", "errors"}, "difference": of c / n}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from tb_envs.errors import UsageError
from tb_envs.evaluation import anchors, spending
from tb_envs.evaluation.counts import CURVES, Counts, Mask, Resampling, points
from tb_envs.evaluation.dimensions import DIMENSIONS, members
from tb_envs.evaluation.metrics.bootstrap import Values
from tb_envs.evaluation.summary import IMPOSSIBLE
from tb_envs.evaluation.tally import Tally, TaskTally
from tb_envs.knobs import Knobs

SIDES = ("a", "b")
UNLIKE = {
    "grader": "the verdicts are of different graders; `tbx regrade` judges the older rows again",
    "package": "the rows were written by different versions of the package",
}


def compare(
    rows_a: Iterable[Mapping[str, Any]],
    rows_b: Iterable[Mapping[str, Any]],
    *,
    names: tuple[str, str] = ("A", "B"),
    settings: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    seed: int = 0,
    draws: int = 2000,
    level: float = 0.95,
    knobs: Knobs | Mapping[str, Any] | None = None,
    anchored: bool = True,
) -> dict[str, Any]:
    """What changed from one campaign to another; the module lists the keys.

    Args:
        rows_a: the attempts of the first campaign; any iterable, read once.
        rows_b: of the second.
        names: what the two are called.
        settings: of both, as their manifests say; those that differ are listed.
        seed: of the bootstrap.
        draws: of the bootstrap.
        level: the intervals' coverage.
        knobs: what the tasks were played with; only for the floor and the ceiling.
        anchored: whether to say floor and ceiling, which may have to play tasks; if not, they are unknown.

    Raises:
        UsageError: the two have no task in common that can be compared, or a row is no row.
    """
    sides = (Tally.of(rows_a), Tally.of(rows_b))
    comparison = _Comparison(sides, Resampling(seed, draws, level), Knobs.of(knobs), anchored)
    return comparison.to_json(names, settings or ({}, {}))


class _Comparison:
    """Two tallies, and the tasks that both have."""

    def __init__(self, sides: tuple[Tally, Tally], resampling: Resampling, knobs: Knobs, anchored: bool) -> None:
        self.sides = sides
        self.resampling = resampling
        a, b = (side.tasks for side in sides)
        common = [key for key in a if key in b]
        self.changed = [key for key in common if a[key].task_hash != b[key].task_hash]
        same = [key for key in common if a[key].task_hash == b[key].task_hash]
        self.all = (Counts.of([a[key] for key in same]), Counts.of([b[key] for key in same]))
        self.paired = [key for key in same if a[key].n and b[key].n]
        self.uncounted = [key for key in same if not (a[key].n and b[key].n)]
        if not self.paired:
            raise UsageError(
                f"nothing to compare: of {len(a)} and {len(b)} tasks {len(common)} are in both, "
                f"{len(self.changed)} of those with another content and {len(self.uncounted)} without a counted attempt"
            )
        self.tasks: list[TaskTally] = [a[key] for key in self.paired]
        self.others: list[TaskTally] = [b[key] for key in self.paired]
        self.counts = (Counts.of(self.tasks), Counts.of(self.others))
        self.n = np.minimum(self.counts[0].n, self.counts[1].n)
        self.k = Counts.headline_of(self.n)
        self.anchors = anchors.of_tasks(((task.task_id, task.task_hash) for task in self.tasks), knobs, anchored)

    def to_json(self, names: tuple[str, str], settings: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
        a, b = (side.tasks for side in self.sides)
        versions = self._versions()
        curves = {curve: [self._at(curve, k) for k in points(int(self.n.max()), self.k)] for curve in CURVES}
        return {
            "names": dict(zip(SIDES, names, strict=True)),
            "warnings": self._warnings(versions),
            "settings": differing(*settings),
            "versions": versions,
            "a": _side(self.sides[0]),
            "b": _side(self.sides[1]),
            "tasks": {
                "paired": len(self.paired),
                "only_a": [key for key in a if key not in b],
                "only_b": [key for key in b if key not in a],
                "uncounted": self.uncounted,
                "changed": [{"task_id": key, "a": a[key].task_hash, "b": b[key].task_hash} for key in self.changed],
            },
            "k": self.k,
            "headline": {
                "pass_at_1": self._pair(lambda one: one.c / one.n),
                "pass_at_1_all": self._difference(_rate_of_all(self.all[0]), _rate_of_all(self.all[1])),
                "guards": self._pair(lambda one: one.kept / one.n),
                "earned": self._pair(lambda one: one.done / one.n),
                "impossible": self._impossible(),
                **{curve: next((pair for pair in curves[curve] if pair["k"] == self.k), None) for curve in CURVES},
            },
            "curves": curves,
            "by": {
                name: {key: self._part(chosen) for key, chosen in members(self.tasks, name).items()}
                for name in DIMENSIONS
            },
            "dependable": self._tasks("observed_k_of_k"),
            "breadth": self._tasks("breadth"),
            "floor": anchors.summary(self.anchors, anchors.FLOOR),
            "ceiling": anchors.summary(self.anchors, anchors.CEILING),
            "per_task": self._moved(range(len(self.paired))),
        }

    # -- figures

    def _pair(self, figure: Callable[[Counts], Values]) -> dict[str, Any]:
        return self._difference(figure(self.counts[0]), figure(self.counts[1]), None)

    def _impossible(self) -> dict[str, Any] | None:
        chosen = np.array([IMPOSSIBLE in task.traps for task in self.tasks], dtype=np.bool_)
        a, b = (one.part(chosen) for one in self.counts)
        return self._difference(a.c / a.n, b.c / b.n, None) if len(a.n) else None

    def _at(self, curve: str, k: int) -> dict[str, Any]:
        a, b = self._values(curve, k)
        return self._difference(a, b, k)

    def _values(self, curve: str, k: int) -> tuple[Values, Values]:
        enough = self.n >= k
        return self.counts[0].part(enough).at(curve, k), self.counts[1].part(enough).at(curve, k)

    def _difference(self, a: Values, b: Values, k: int | None = None) -> dict[str, Any]:
        found = self.resampling.intervals(np.stack([a, b, b - a], axis=1))
        named = zip(("a", "b", "difference"), found, strict=True)
        return {"k": k, "tasks": len(a), **{name: interval._asdict() for name, interval in named}}

    def _part(self, chosen: Mask) -> dict[str, Any]:
        a, b = (one.part(chosen) for one in self.counts)
        before, after = a.c / a.n, b.c / b.n
        anchored = [self.anchors[place] for place in np.flatnonzero(chosen).tolist()]
        return {
            "tasks": int(chosen.sum()),
            "a": float(before.mean()),
            "b": float(after.mean()),
            "difference": self.resampling.interval(after - before),
            "dependable": self._numbers("observed_k_of_k", chosen),
            "breadth": self._numbers("breadth", chosen),
            "floor": anchors.score(anchored, anchors.FLOOR),
            "ceiling": anchors.score(anchored, anchors.CEILING),
        }

    # -- tasks

    def _both(self, curve: str, chosen: Mask) -> tuple[list[int], Mask, Mask]:
        """Places of the chosen tasks that have k attempts, and which of them have the property on either side."""
        enough = chosen & (self.n >= max(self.k, 1))
        a, b = (one.part(enough).at(curve, max(self.k, 1)) > 0 for one in self.counts)
        return np.flatnonzero(enough).tolist(), a, b

    def _numbers(self, curve: str, chosen: Mask) -> dict[str, int]:
        places, a, b = self._both(curve, chosen)
        moved = {"gained": int((b & ~a).sum()), "lost": int((a & ~b).sum())}
        return {"tasks": len(places), "a": int(a.sum()), "b": int(b.sum()), **moved}

    def _tasks(self, curve: str) -> dict[str, Any]:
        places, a, b = self._both(curve, np.ones(len(self.paired), dtype=np.bool_))
        gained = [place for place, was, now in zip(places, a, b, strict=True) if now and not was]
        lost = [place for place, was, now in zip(places, a, b, strict=True) if was and not now]
        return {
            "k": self.k,
            "tasks": len(places),
            "a": int(a.sum()),
            "b": int(b.sum()),
            "gained": self._moved(gained),
            "lost": self._moved(lost)[::-1],
        }

    def _moved(self, places: Iterable[int]) -> list[dict[str, Any]]:
        """The tasks at these places, those that gained most first."""
        found = [_moved(self.tasks[place], self.others[place]) for place in places]
        return sorted(found, key=lambda one: (-one["difference"], one["task_id"]))

    # -- what is unlike

    def _versions(self) -> dict[str, Any]:
        a, b = self.sides
        out: dict[str, Any] = {}
        for name, one, other in (("grader", a.graders, b.graders), ("package", a.packages, b.packages)):
            if one != other:
                out[name] = {"a": sorted(one), "b": sorted(other)}
        tools = {
            domain: {"a": sorted(a.tools[domain]), "b": sorted(b.tools[domain])}
            for domain in sorted(a.tools.keys() & b.tools.keys())
            if a.tools[domain] != b.tools[domain]
        }
        return {**out, "tools": tools} if tools else out

    def _warnings(self, versions: Mapping[str, Any]) -> list[str]:
        said = [text for name, text in UNLIKE.items() if name in versions]
        if "tools" in versions:
            said.append(f"the agents were shown other tools in {', '.join(versions['tools'])}")
        return said


def differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings that are not the same on both sides, nested names dotted."""
    one, other = dict(_flat(a, "")), dict(_flat(b, ""))
    names = [name for name in dict.fromkeys([*one, *other]) if one.get(name) != other.get(name)]
    return {name: {"a": one.get(name), "b": other.get(name)} for name in names}


def _flat(settings: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(cast("Mapping[str, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _side(tally: Tally) -> dict[str, Any]:
    counts = Counts.of(list(tally.tasks.values()))
    counted, errors, passed, k = int(counts.n.sum()), int(counts.errors.sum()), int(counts.c.sum()), counts.headline_k()
    dependable = int(counts.at("observed_k_of_k", k).sum()) if k else 0
    return {
        "tasks": len(tally.tasks),
        "attempts": counted + errors,
        "counted": counted,
        "system_errors": errors,
        "passed": passed,
        "cost": spending.cost(tally, attempts=counted + errors, passed=passed, dependable=dependable),
        "tokens": spending.tokens(tally),
    }


def _rate_of_all(counts: Counts) -> Values:
    """Passed of all attempts, system errors included; a task that is there has one."""
    return counts.c / (counts.n + counts.errors)


def _moved(a: TaskTally, b: TaskTally) -> dict[str, Any]:
    return {
        "task_id": a.task_id,
        "domain": a.domain,
        "family": a.family,
        "split": a.split,
        "traps": list(a.traps),
        "a": {"n": a.n, "c": a.c, "errors": a.errors},
        "b": {"n": b.n, "c": b.c, "errors": b.errors},
        "difference": b.c / b.n - a.c / a.n,
    }
