"""How alike two tasks are: the Jaccard index of their facts, whatever their ids, their dates and their family's name.

A task's features are the customer's words (three in a row), every value that its rows place or change in the database,
and the calls of its reference script. Ids become their table's name and dates the days to the task's own today, so a
task that was renumbered or moved in time has the same features. What tasks of a family share (lines, columns, steps)
counts too: it makes the index of two tasks of a family larger than that of strangers, never that of copies smaller.
Refuses nothing and judges nothing; `tb_trainer.tasks.guard` does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import ceil
from typing import Any

from tb_envs.task import Task, plain

Features = frozenset[str]
_WORD = re.compile(r"[\w#.+@-]*\w")
_TOKEN = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_DATE = re.compile(r"\b(\d{4}-\d\d-\d\d)(?:T[\d:]+Z)?")


def features(task: Task) -> Features:
    """What a task is made of. Tasks with the same features differ in ids, dates and names of families at most."""
    inserts, updates = task.world.patch()
    names = {str(row["id"]): f"#{table}" for table, row in inserts}
    today = date.fromisoformat(task.now[:10])

    def text(value: Any) -> str:
        named = _TOKEN.sub(lambda match: names.get(match[0], match[0]), str(value))
        return _DATE.sub(lambda match: _days(match[1], today), named)

    out: set[str] = set()
    for mark, rows in (("+", inserts), ("~", updates)):
        for table, row in rows:
            out |= {f"{mark}{table}.{column}={text(value)}" for column, value in row.items() if column != "id"}
    scenario = task.scenario
    words = [word.lower() for _, said in _leaves(plain(scenario.customer)) for word in _WORD.findall(text(said))]
    out |= {" ".join(words[place : place + 3]) for place in range(len(words) - 2)}
    out |= {f"{path}={text(value)}" for path, value in _leaves(plain(scenario.solution)) if not path.endswith(".text")}
    return frozenset(out)


def jaccard(one: Features, other: Features) -> float:
    """Shared features over all features of two tasks; 1 for copies."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if one or other else 1.0


def pairs(
    ours: Iterable[tuple[str, Features]], theirs: Mapping[str, Features], least: float
) -> Iterator[tuple[str, str, float]]:
    """All pairs, one of each side, whose Jaccard index is at least `least` (above 0), in the order of `ours`.

    Under any order of all features, two sets that are so alike share one of the first ``n - ceil(least * n) + 1`` of
    each (prefix filtering: Chaudhuri, Ganti & Kaushik, ICDE 2006; Bayardo, Ma & Srikant, WWW 2007). With the rarest
    first, few pairs are compared at all.
    """
    counts = Counter(feature for found in theirs.values() for feature in found)
    index: defaultdict[str, list[str]] = defaultdict(list)
    for name, found in theirs.items():
        for feature in _rarest(found, counts, least):
            index[feature].append(name)
    for mine, found in ours:
        near = {name for feature in _rarest(found, counts, least) for name in index.get(feature, ())}
        for name in sorted(near):
            alike = jaccard(found, theirs[name])
            if alike >= least:
                yield mine, name, alike


def _rarest(found: Features, counts: Mapping[str, int], least: float) -> Sequence[str]:
    # A hair more than the bound, so that rounding of the product never hides a pair.
    size = len(found) - ceil(least * len(found) - 1e-9) + 1
    return sorted(found, key=lambda feature: (counts.get(feature, 0), feature))[:size]


def _days(day: str, today: date) -> str:
    try:
        return f"{(date.fromisoformat(day) - today).days:+}d"
    except ValueError:
        return day


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of everything that is no container; places in lists have no path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    elif value is not None:
        yield path, value
