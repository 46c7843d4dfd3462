"""The numbers by part: a heat map of domains and traps, and a table for every way to divide the tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tb_envs.evaluation.report.campaigns import Run
from tb_envs.evaluation.report.markup import NOTHING, Html, el, fold, percent
from tb_envs.evaluation.report.words import bar, estimate, find, table, whole

DIMENSIONS = (
    ("domain", "Domain", True),
    ("trap", "Trap", False),
    ("family", "Family", False),
    ("reference_length", "Tool calls in the reference solution", False),
    ("cell", "Outcome cell", False),
    ("split", "Split", False),
)
"""Key in a summary, title, and whether its table is open at first."""
FILTERED = ("domain", "trap", "family", "split")
"""Those that the list of episodes can be chosen by."""


def heat(runs: Sequence[Run]) -> Iterable[Html]:
    """pass@1 of every domain at every trap, a map for each run."""
    for run in runs:
        grid: Mapping[str, Mapping[str, Any]] = run.summary["grid"]
        traps = [name for name in run.summary["by"]["trap"] if any(name in row for row in grid.values())]
        if len(runs) > 1:
            yield el("h3", run.name)
        cells = ((domain, *(_cell(run, runs, domain, trap) for trap in traps)) for domain in grid)
        yield table(("", *(el("span", trap.replace("_", " ")) for trap in traps)), cells, class_="heat")


def _cell(run: Run, runs: Sequence[Run], domain: str, trap: str) -> Html:
    found = run.summary["grid"][domain].get(trap)
    if not found or not found["attempts"] or found["pass_at_1"] is None:
        return el("td", NOTHING, class_="none")
    filters = {"domain": domain, "trap": trap} | ({"run": run.name} if len(runs) > 1 else {})
    tasks = found["tasks"]
    what = [f"{100 * found['pass_at_1']:.0f} %", el("small", tasks, el("span", " tasks", class_="hidden"))]
    return el("td", find(what, **filters), class_=f"h{_depth(found['pass_at_1'])}")


def _depth(share: float) -> int:
    """Which of the eleven shades of the map."""
    return max(0, min(10, round(10 * share)))


def tables(runs: Sequence[Run]) -> Iterable[Html]:
    """One table for each dimension that divides the tasks at all."""
    for dimension, title, open_ in DIMENSIONS:
        names = list(dict.fromkeys(name for run in runs for name in run.summary["by"][dimension]))
        if len(names) < 2:
            continue
        found = _one_run(runs[0], dimension, names) if len(runs) == 1 else _side_by_side(runs, dimension, names)
        yield fold(f"{title} ({len(names)})", found, open_=open_)


def _one_run(run: Run, dimension: str, names: Sequence[str]) -> Html:
    k = run.summary["k"]
    many = k > 1
    titles = ("", "tasks", "attempts", "pass@1", "", *((f"pass@{k}", f"pass^{k}", "dependable") if many else ()))
    rows = (_row(run.summary["by"][dimension][name], dimension, name, many) for name in names)
    return table((*titles, "guards kept", "earned", "cannot be met", "floor", "ceiling"), rows)


def _row(group: Mapping[str, Any], dimension: str, name: str, many: bool) -> Sequence[Any]:
    first = group["pass_at_1"]
    at_k = (
        percent(group["pass_at_k"]),
        percent(group["pass_hat_k"]),
        f"{group['dependable']} of {group['tasks_at_k']}",
    )
    return (
        _name(dimension, name),
        whole(group["tasks"]),
        whole(group["counted"]),
        estimate(first),
        bar(first["estimate"]) if first else "",
        *(at_k if many else ()),
        percent(group["guards"]),
        percent(group["earned"]),
        _impossible(group["impossible"]),
        percent(group["floor"]),
        percent(group["ceiling"]),
    )


def _impossible(found: Mapping[str, Any]) -> Any:
    """pass@1 of the requests that cannot be met, and how many these are."""
    if found["pass_at_1"] is None:
        return NOTHING
    return el("span", percent(found["pass_at_1"]), " ", el("small", found["tasks"]))


def _side_by_side(runs: Sequence[Run], dimension: str, names: Sequence[str]) -> Html:
    def row(name: str) -> Sequence[Any]:
        groups = [run.summary["by"][dimension].get(name) for run in runs]
        tasks = max(group["tasks"] for group in groups if group)
        return (
            _name(dimension, name),
            whole(tasks),
            *(estimate(group["pass_at_1"]) if group else NOTHING for group in groups),
            *(_each([group[anchor] for group in groups if group]) for anchor in ("floor", "ceiling")),
        )

    titles = ("", "tasks", *(f"pass@1, {run.name}" for run in runs), "floor", "ceiling")
    return table(titles, (row(name) for name in names))


def _each(shares: Sequence[float | None]) -> str:
    """One share where the runs agree, as they do at the same tasks; else each of them."""
    return " / ".join(dict.fromkeys(map(percent, shares)))


def _name(dimension: str, name: str) -> Any:
    shown = name or "fresh"
    return find(shown, **{dimension: shown}) if dimension in FILTERED else shown
