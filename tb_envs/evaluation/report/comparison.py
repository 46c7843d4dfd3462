"""Two runs side by side, as of `tb_envs.evaluation.compare`: what changed, how surely, and at which tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tb_envs.evaluation.report.campaigns import Run
from tb_envs.evaluation.report.charts import Point, Series, key, line_chart
from tb_envs.evaluation.report.markup import NOTHING, Html, el, fold, percent
from tb_envs.evaluation.report.words import dollars, episode_link, estimate, plural, points, table, whole

FIGURES = (
    ("pass@1", "pass_at_1"),
    ("pass@1, system errors as failures", "pass_at_1_all"),
    ("pass@{k}", "pass_at_k"),
    ("pass^{k}", "pass_hat_k"),
    ("observed {k}-of-{k}", "observed_k_of_k"),
    ("breadth", "breadth"),
    ("guards kept", "guards"),
    ("earned", "earned"),
    ("requests that cannot be met: pass@1", "impossible"),
)
DIMENSIONS = (("domain", "Domain"), ("trap", "Trap"), ("family", "Family"), ("reference_length", "Reference length"),
              ("cell", "Outcome cell"), ("split", "Split"))  # fmt: skip
MOVED = 25
"""Tasks that are named outright."""


def section(found: Mapping[str, Any], runs: Sequence[Run]) -> list[Html]:
    """The comparison of the first two runs."""
    a, b = found["names"]["a"], found["names"]["b"]
    tasks = found["tasks"]
    left_out = [
        (len(tasks["only_a"]), f"only in {a}"),
        (len(tasks["only_b"]), f"only in {b}"),
        (len(tasks["uncounted"]), "without a counted attempt on one side"),
        (len(tasks["changed"]), "of another content on the two sides"),
    ]
    out = "; ".join(f"{count} {why}" for count, why in left_out if count)
    words = f"{plural(tasks['paired'], 'task')} that both have, paired; differences are {b} minus {a}."
    return [
        el("h2", f"{a} → {b}", id="comparison"),
        el("p", words, f" Left out: {out}." if out else "", class_="dim"),
        *(el("p", warning[:1].upper(), warning[1:], ".", class_="note") for warning in found["warnings"]),
        _headline(found, a, b),
        _curves(found),
        *_moves(found, runs),
        *(fold(f"{title} ({len(found['by'][name])})", _part(found["by"][name], a, b), open_=name == "domain")
          for name, title in DIMENSIONS if len(found["by"][name]) > 1),
        _cost(found, a, b),
    ]  # fmt: skip


def _headline(found: Mapping[str, Any], a: str, b: str) -> Html:
    k, rows = found["k"], list[Sequence[Any]]()
    for name, figure in FIGURES:
        pair = found["headline"][figure]
        if pair is None or (k < 2 and pair["k"] is not None):
            continue
        rows.append(
            (
                name.format(k=k),
                estimate(pair["a"]),
                estimate(pair["b"]),
                points(pair["difference"]),
                whole(pair["tasks"]),
            )
        )
    for anchor in ("floor", "ceiling"):
        score = percent(found[anchor]["pass_at_1"])
        rows.append((f"{anchor} ({found[anchor]['agent']})", score, score, "", whole(found[anchor]["tasks"])))
    return table(("", a, b, "difference, points [95 %]", "tasks"), rows)


def _curves(found: Mapping[str, Any]) -> Html:
    """pass@k and pass^k of both as k grows; nothing with one attempt a task."""
    if found["k"] < 2:
        return Html("")
    charts: list[Html] = []
    for title, curve in (("pass@k", "pass_at_k"), ("pass^k", "pass_hat_k")):
        points_of = found["curves"][curve]
        series = [Series(name, [_point(at, side) for at in points_of]) for side, name in found["names"].items()]
        charts.append(line_chart(title, series, note="paired tasks; 95 % bands", rate=True, across="k", band=True))
    return el("div", el("div", charts, class_="charts"), key(list(found["names"].values())))


def _point(at: Mapping[str, Any], side: str) -> Point:
    return Point(at["k"], at[side]["estimate"], at[side]["low"], at[side]["high"])


def _moves(found: Mapping[str, Any], runs: Sequence[Run]) -> list[Html]:
    """Tasks gained and lost: dependable ones, those solved at all, and the largest moves of the rate."""
    parts: list[Html] = []
    k = found["k"]
    for kind, words in (("dependable", f"all of {k} succeed"), ("breadth", f"at least one of {k} succeeds")):
        one = found[kind]
        if k < 2 and kind == "breadth":
            continue
        title = words if k > 1 else "solved"
        counts = f"{one['a']} → {one['b']} of {plural(one['tasks'], 'task')}"
        parts.append(
            el(
                "div",
                el("h3", f"Tasks where {title}: {counts}" if k > 1 else f"Tasks solved: {counts}"),
                _tasks("gained", one["gained"], runs),
                _tasks("lost", one["lost"], runs),
            )
        )
    moved = [task for task in found["per_task"] if task["difference"]]
    largest = sorted(moved, key=lambda task: -abs(task["difference"]))
    parts.append(el("div", el("h3", f"Tasks whose rate moved: {len(moved)}"), _tasks("moved", largest, runs)))
    return [el("div", parts, class_="grid2")]


def _tasks(what: str, tasks: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> Html:
    if not tasks:
        return el("p", f"None {what}.", class_="dim")
    rows = [_task(task, runs) for task in tasks]
    titles = (f"{plural(len(rows), 'task')} {what}", "before", "after")
    rest = fold(f"{len(rows) - MOVED} more", table(titles, rows[MOVED:])) if len(rows) > MOVED else None
    return el("div", table(titles, rows[:MOVED]), rest)


def _task(task: Mapping[str, Any], runs: Sequence[Run]) -> Sequence[Any]:
    """A task with its successes on both sides; each is a link to an episode that shows the move, if there is one."""
    better = task["difference"] > 0
    cells = [
        _side(task["task_id"], task[side], run, "failure" if better == (side == "a") else "success")
        for side, run in zip(("a", "b"), runs, strict=False)
    ]
    return (task["task_id"], *cells)


def _side(task: str, counts: Mapping[str, int], run: Run, outcome: str) -> Html:
    words = f"{counts['c']} of {counts['n']}"
    attempts = sorted(key[1] for key in run.campaign.attempts if key[0] == task)
    fitting = [at for at in attempts if run.campaign.attempts[task, at].row["outcome"] == outcome]
    chosen = fitting or attempts
    return episode_link(words, task, chosen[0], run.name) if chosen else el("span", words)


def _part(groups: Mapping[str, Mapping[str, Any]], a: str, b: str) -> Html:
    rows = (
        (
            name or "fresh",
            whole(one["tasks"]),
            percent(one["a"]),
            percent(one["b"]),
            points(one["difference"]),
            f"+{one['dependable']['gained']} −{one['dependable']['lost']}",
            percent(one["floor"]),
            percent(one["ceiling"]),
        )
        for name, one in groups.items()
    )
    titles = (
        "",
        "tasks",
        f"pass@1, {a}",
        b,
        "difference, points [95 %]",
        "dependable gained, lost",
        "floor",
        "ceiling",
    )
    return table(titles, rows)


def _cost(found: Mapping[str, Any], a: str, b: str) -> Html:
    rows = [
        (words, *(NOTHING if key == "per_dependable" and found[side]["cost"][key] is None
                  else dollars(found[side]["cost"][key]) for side in ("a", "b")))
        for key, words in (("total", "cost"), ("per_attempt", "per attempt"), ("per_success", "per success"),
                           ("per_dependable", "per dependable task"))
    ]  # fmt: skip
    return table(("", a, b), rows)
