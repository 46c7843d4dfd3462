"""What stands first: how good each run is, between what doing nothing and what the reference reach; and the curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tb_envs.evaluation.report.campaigns import Run
from tb_envs.evaluation.report.charts import Point, Series, bar_chart, key, line_chart
from tb_envs.evaluation.report.failures import stack
from tb_envs.evaluation.report.markup import NOTHING, Html, el, percent
from tb_envs.evaluation.report.words import dollars, estimate, find, plural, span, table, whole

FIGURES = (
    ("pass@1", "pass_at_1", "share of attempts that succeed, mean over tasks"),
    ("pass@1, system errors as failures", "pass_at_1_all", "the other denominator"),
    ("pass@{k}", "pass_at_k", "at least one of {k} attempts succeeds, unbiased"),
    ("pass^{k}", "pass_hat_k", "all of {k} attempts succeed, unbiased"),
    ("observed {k}-of-{k}", "observed_k_of_k", "tasks whose first {k} attempts all succeeded"),
    ("breadth", "breadth", "tasks with a success among the first {k} attempts"),
)
"""Name, key in a summary's headline, and what it is."""


def cards(runs: Sequence[Run]) -> Html:
    """A card for each run, with pass@1 on its scale; then every figure under its exact name."""
    shown = [_card(at, run) for at, run in enumerate(runs)]
    if len(runs) == 1:
        return el("div", *shown, figures(runs), class_="lead")
    return el("div", el("div", shown, class_="cards"), figures(runs))


def _card(at: int, run: Run) -> Html:
    found = run.summary
    first, k = found["headline"]["pass_at_1"], found["k"]
    floor, ceiling = found["floor"]["pass_at_1"], found["ceiling"]["pass_at_1"]
    reliable, wide = found["headline"]["observed_k_of_k"], found["headline"]["breadth"]
    facts = [("tasks × attempts", _attempts(found))]
    if k > 1 and reliable and wide:
        facts = [
            (f"dependable ({k} of {k})", f"{whole(reliable['passed'])} of {whole(reliable['tasks'])} tasks"),
            (f"solved at least once in {k}", f"{whole(wide['passed'])} of {whole(wide['tasks'])} tasks"),
            *facts,
        ]
    facts.append(("cost", dollars(found["cost"]["total"])))
    limits = f"95 % interval {span(first)} %" if first else "nothing counted yet"
    return el(
        "section",
        el("h3", el("span", el("span", class_="swatch"), class_=f"c{at % 7}"), run.name),
        el("p", percent(first["estimate"]) if first else NOTHING, el("small", f"pass@1 · {limits}"), class_="big"),
        _scale(first, floor, ceiling) if first else None,
        el("dl", (el("div", el("dt", name), el("dd", value)) for name, value in facts), class_="trio"),
        stack(run),
        class_="card",
        aria_label=run.name,
    )


def _attempts(found: Mapping[str, Any]) -> str:
    fewest, most = found["attempts_per_task"]["min"], found["attempts_per_task"]["max"]
    each = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{whole(found['tasks'])} × {each}"


def _scale(interval: Mapping[str, float], floor: float | None, ceiling: float | None) -> Html:
    """From 0 to 100 %: the interval, the estimate, and marks where floor and ceiling are."""

    def x(share: float) -> str:
        return f"{10 + 580 * share:.1f}"

    between = f"{580 * (interval['high'] - interval['low']):.1f}"
    parts = [
        el("rect", x=10, y=7, width=580, height=8, rx=4, class_="rail"),
        el("rect", x=x(interval["low"]), y=7, width=between, height=8, rx=4, class_="between"),
        *(el("line", x1=x(at), x2=x(at), y1=2, y2=20, class_="mark") for at in (floor, ceiling) if at is not None),
        el("circle", cx=x(interval["estimate"]), cy=11, r=6.5, class_="dot"),
    ]
    label = f"pass@1 {percent(interval['estimate'])}, floor {percent(floor)}, ceiling {percent(ceiling)}"
    ends = (el("span", "floor (idle) ", percent(floor)), el("span", "ceiling (reference) ", percent(ceiling)))
    svg = el("svg", parts, viewBox="0 0 600 22", role="img", aria_label=label)
    return el("div", svg, el("p", ends), class_="scale")


def notes(runs: Sequence[Run]) -> Iterable[Html]:
    """What a reader must know before believing a number."""
    for run in runs:
        found, words = run.summary, list[Any]()
        if found["system_errors"]:
            lost = plural(found["system_errors"], "attempt")
            words += [find(f"{lost} ended in system errors", outcome="system error"), " and are not counted. "]
        if found["excluded"]:
            left = "; ".join(f"{plural(count, 'task')}: {reason}" for reason, count in found["excluded"].items())
            words.append(f"Left out before playing: {left}. ")
        if found["missing"]:
            words.append(f"{plural(found['missing'], 'attempt')} of {whole(found['planned'])} still to be played. ")
        if found["unequal"]:
            per = found["attempts_per_task"]
            words.append(
                f"Tasks have {per['min']} to {per['max']} counted attempts; what needs k of them is over those with k. "
            )
        if len(found["versions"]["grader"]) > 1:
            graders = ", ".join(found["versions"]["grader"])
            words.append(f"The verdicts are of different graders ({graders}); tbx regrade judges older rows again. ")
        if len(found["versions"]["package"]) > 1:
            packages = ", ".join(found["versions"]["package"])
            words.append(f"The rows were written by different versions of the package: {packages}. ")
        first = found["headline"]["pass_at_1"]
        if first and first["low"] == first["high"]:
            words.append("All tasks agree, so the interval of pass@1 has no width; it says little about other tasks. ")
        for name, anchor in (("floor", found["floor"]), ("ceiling", found["ceiling"])):
            if anchor["unknown"]:
                reasons = "; ".join(f"{plural(count, 'task')}: {reason}" for reason, count in anchor["unknown"].items())
                words.append(f"The {name} is not known for {reasons}. ")
        if words:
            yield el("p", el("strong", f"{run.name}: ") if len(runs) > 1 else None, words, class_="note")


def figures(runs: Sequence[Run]) -> Html:
    """Every headline figure under its exact name, a column for each run."""
    rows: list[tuple[Any, list[Any]]] = []
    for name, figure, meaning in FIGURES:
        values = [run.summary["headline"][figure] for run in runs]
        k = "/".join(dict.fromkeys(str(run.summary["k"]) for run in runs))
        at_k = "{k}" in meaning
        if at_k and all(run.summary["k"] < 2 for run in runs):
            continue
        rows.append(((name.format(k=k), meaning.format(k=k)), [estimate(value) for value in values]))
    pooled = [percent(run.summary["headline"]["pass_at_1_pooled"]) for run in runs]
    cannot = [run.summary["impossible"]["with"] for run in runs]
    tasks = "/".join(dict.fromkeys(whole(found["tasks"]) for found in cannot))
    rows += [
        (("pass@1, pooled", "each attempt weighing the same, not each task"), pooled),
        (
            ("requests that cannot be met", f"pass@1 of the {tasks} tasks whose right end is not doing what is asked"),
            [estimate(found["pass_at_1"]) for found in cannot],
        ),
        (
            ("requests that can", "pass@1 of all other tasks"),
            [estimate(run.summary["impossible"]["without"]["pass_at_1"]) for run in runs],
        ),
        (("guards kept", "attempts in which all that had to hold did"), [_rate(run, "guards") for run in runs]),
        (("earned", "attempts in which all that had to happen did"), [_rate(run, "earned") for run in runs]),
        (("floor", "the idle agent at the same tasks"), [percent(run.summary["floor"]["pass_at_1"]) for run in runs]),
        (("ceiling", "the reference"), [percent(run.summary["ceiling"]["pass_at_1"]) for run in runs]),
        (("attempts", "counted, and system errors apart"), [_counted(run.summary) for run in runs]),
        (
            ("user faults", "attempts in which a customer's model had to be asked again"),
            [percent(run.summary["user_faults"]["rate"]) for run in runs],
        ),
    ]
    lines = ((Html(el("span", name, " ", el("small", meaning))), *values) for (name, meaning), values in rows)
    return table(("", *(run.name for run in runs)) if len(runs) > 1 else None, lines)


def _rate(run: Run, kind: str) -> Html:
    return estimate(run.summary[kind]["rate"])


def _counted(found: Mapping[str, Any]) -> str:
    return f"{whole(found['counted'])} + {whole(found['system_errors'])}"


def curves(runs: Sequence[Run]) -> Html:
    """pass@k and pass^k as k grows, each with its band, and how often tasks succeed."""
    if all(run.summary["k"] < 2 for run in runs):
        return el("p", "Curves need two or more counted attempts at most tasks.", class_="dim")
    figures = (
        ("pass@k: at least one of k succeeds", "pass_at_k", "what it can do"),
        ("pass^k: all of k succeed", "pass_hat_k", "what it can be relied on to do"),
    )
    charts: list[Html] = []
    for title, curve, note in figures:
        series = [_series(run, curve) for run in runs]
        charts.append(line_chart(title, series, note=f"{note}; 95 % band", rate=True, across="k", band=True))
    most = max(run.summary["attempts_per_task"]["max"] for run in runs)
    groups = [(str(c), [_solved(run, most, c) for run in runs]) for c in range(most + 1)]
    note = f"tasks with {most} counted attempts"
    charts.append(bar_chart("Successes per task", groups, note=note, across="successes"))
    names = key([run.name for run in runs]) if len(runs) > 1 else None
    return el("div", el("div", charts, class_="charts"), names)


def _solved(run: Run, n: int, c: int) -> int:
    """Tasks that succeed at exactly `c` of `n` attempts."""
    return sum(task["n"] == n and task["c"] == c for task in run.summary["per_task"])


def _series(run: Run, curve: str) -> Series:
    points = [Point(at["k"], at["estimate"], at["low"], at["high"]) for at in run.summary["curves"][curve]]
    return Series(run.name, points)
