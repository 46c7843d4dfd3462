"""The section of tables over time: each family, outcome cell and trap, so that a rare one that is traded away is seen.

Two kinds: of training episodes (which tasks are drawn changes) and of the runs' own evaluations (the same tasks).
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs.evaluation.report.markup import Html, el, fold, percent, table
from tb_trainer.report.read import Row, RunRecord
from tb_trainer.report.read import number as read
from tb_trainer.report.stats import KINDS, Scores

COLUMNS = 8
"""Columns of a table at most; updates are put together to fit."""
ONE = {"cells": "outcome cell", "families": "family", "traps": "trap"}
Counts = dict[str, list[tuple[float, float]]]
"""Label → in each column (passed, episodes)."""


def section(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """The section, or nothing if there is neither kind."""
    parts = [*evaluated(runs, names), *trained(runs, names)]
    mark = "Red: half of the first rate, or more, is gone in the last column. The largest fall is at the top."
    return [el("h2", "Families, outcome cells and traps over time"), el("p", mark), *parts] if parts else []


def trained(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """Training episodes, all runs together, then each apart."""
    last = max((run.done for run in runs), default=0)
    if not last:
        return []
    size = -(-last // COLUMNS)
    heads = [f"{first}–{min(first + size - 1, last)}" if size > 1 else f"{first}" for first in range(1, last + 1, size)]
    title = "training episodes, by update" + (" (all runs together)" if len(runs) > 1 else "")
    rows = [row for run in runs for row in run.updates]
    parts = [_counted(counts(rows, kind, size, len(heads)), heads, ONE[kind], title) for kind in KINDS]
    for run, name in zip(runs, names, strict=True) if len(runs) > 1 else ():
        apart = [_counted(counts(run.updates, kind, size, len(heads)), heads, ONE[kind], name) for kind in KINDS]
        parts.append(fold(f"The same for {name} alone", apart))
    return parts


def counts(rows: Sequence[Row], kind: str, size: int, columns: int) -> Counts:
    """Episodes and passes of each label, `size` updates a column."""
    found: Counts = {}
    for row in rows:
        part = row.get(kind)
        for label, value in part.items() if isinstance(part, dict) else ():
            rate, episodes = (
                (read({"": x}, "") for x in value) if isinstance(value, list) and len(value) == 2 else (0, 0)
            )
            place = (row["update"] - 1) // size
            if rate is not None and episodes and 0 <= place < columns:
                cells = found.setdefault(label, [(0.0, 0.0)] * columns)
                cells[place] = (cells[place][0] + round(rate * episodes), cells[place][1] + episodes)
    return found


def _counted(found: Counts, heads: Sequence[str], what: str, title: str) -> Html:
    rates = {label: [passed / n if n else None for passed, n in cells] for label, cells in found.items()}
    episodes = {label: sum(n for _, n in cells) for label, cells in found.items()}
    return _table(rates, heads, what, f"By {what}: {title}", {label: f"{n:.0f}" for label, n in episodes.items()})


def evaluated(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """The runs' own evaluations, each run apart."""
    parts: list[Html] = []
    for run, name in zip(runs, names, strict=True):
        if len(run.own) < 2:
            continue
        updates = _some(sorted(run.own), run.best)
        scores = [Scores.of(run.own[update].rows) for update in updates]
        heads = [_head(update, run.best, one.unplayed) for update, one in zip(updates, scores, strict=True)]
        tables: list[Html] = []
        for kind in KINDS:
            found = [one.rates(kind) for one in scores]
            labels = sorted({label for one in found for label in one})
            rates = {label: [one[label][0] if label in one else None for one in found] for label in labels}
            tasks = {label: str(max(one[label][1] for one in found if label in one)) for label in labels}
            tables.append(_table(rates, heads, ONE[kind], f"By {ONE[kind]}: dev, after update", tasks, "tasks"))
        parts.append(fold(f"Evaluations of {name}", tables, open_=len(runs) == 1))
    return parts


def _head(update: int, best: int | None, unplayed: int) -> str:
    """A column's: one with unplayed trials says of how many its rates know nothing."""
    notes = ["best"] * (update == best) + [f"{unplayed} unplayed"] * bool(unplayed)
    return f"{update} ({', '.join(notes)})" if notes else str(update)


def _some(updates: Sequence[int], best: int | None) -> list[int]:
    """At most `COLUMNS` of the updates: the first, the last, the best, and others evenly between."""
    if len(updates) <= COLUMNS:
        return list(updates)
    chosen = {updates[0], updates[-1], *(update for update in updates if update == best)}
    free = COLUMNS - len(chosen)
    chosen |= {updates[round(at * (len(updates) - 1) / (free + 1))] for at in range(1, free + 1)}
    return sorted(chosen)


def _table(
    rates: dict[str, list[float | None]],
    heads: Sequence[str],
    what: str,
    title: str,
    totals: dict[str, str],
    unit: str = "episodes",
) -> Html:
    """Labels with their rates, the largest fall first."""
    if not rates:
        return Html("")

    def ends(label: str) -> tuple[float, float]:
        known = [rate for rate in rates[label] if rate is not None]
        return known[0], known[-1]

    order = sorted(rates, key=lambda label: (ends(label)[1] - ends(label)[0], label))
    marked = [place for place, label in enumerate(order) if ends(label)[0] > 0 and ends(label)[1] <= ends(label)[0] / 2]
    rows = [[label, totals[label], *map(percent, rates[label])] for label in order]
    return el("div", el("h3", title), table([what, unit, *heads], rows, marked=marked))
