"""The section of curves: one chart a quantity, one line a run; beneath, every number of every update as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tb_envs.evaluation.report.charts import Point, Series, area_chart, key, line_chart
from tb_envs.evaluation.report.markup import Html, el, fold, number, percent, table
from tb_trainer.report.read import Row, RunRecord, part
from tb_trainer.report.read import number as read

Value = Callable[[Row], float | None]
PHASES = ("generate", "environment", "grade", "rest of collecting", "update", "sync")


class Curve(NamedTuple):
    """A quantity of an update's row."""

    title: str
    value: Value
    note: str = ""
    rate: bool = False


def at(*path: str) -> Value:
    """The number under a path of names."""
    return lambda row: read(row, *path)


def over(top: Sequence[str], bottom: Sequence[str]) -> Value:
    """The ratio of two numbers, None where there is none."""

    def ratio(row: Row) -> float | None:
        numerator, denominator = read(row, *top), read(row, *bottom)
        return numerator / denominator if numerator is not None and denominator else None

    return ratio


def causes(row: Row) -> float | None:
    """System errors of all causes."""
    errors = row.get("system_errors")
    return sum(read(errors, name) or 0 for name in errors) if isinstance(errors, dict) else None


REWARD = Curve("Training reward", at("reward_mean"), "mean of all whole groups that were played")
PASS = Curve("Training pass rate", at("pass_rate"), "of the same episodes", rate=True)
TRAINING = (
    Curve(
        "Informative groups", over(("informative_groups",), ("groups",)), "groups whose attempts differ in reward", True
    ),
    Curve("Entropy", at("optimizer", "entropy"), "nats a sampled token"),
    Curve("Mismatch KL", at("optimizer", "mismatch_kl"), "of sampler to trainer, nats a token; 0 if they agree"),
    Curve("Clip share", at("optimizer", "clip_share"), "tokens whose ratio was cut"),
    Curve("Gradient norm", at("optimizer", "grad_norm"), "before it is clipped"),
    Curve("Sampled tokens", over(("tokens", "action"), ("episodes",)), "an episode"),
    Curve("Turns", over(("turns",), ("episodes",)), "of the agent, an episode"),
    Curve("Ended by a limit", over(("limits_hit",), ("episodes",)), "turns, calls or tokens ran out", rate=True),
    Curve("Seconds", at("seconds", "total"), "an update, whole"),
    Curve("System errors", causes, "an update; played again or dropped, never a baseline"),
    Curve("Episodes played again", at("retries"), "an update"),
    Curve("Dropped groups", at("dropped_groups"), "an update; another task took their place"),
)
COLUMNS: tuple[tuple[str, Value], ...] = (
    ("update", at("update")),
    ("episodes", at("episodes")),
    ("reward", at("reward_mean")),
    ("pass rate", at("pass_rate")),
    ("of what was trained on", at("trained_pass_rate")),
    ("groups replaced", at("uniform_replaced")),
    ("groups", at("groups")),
    ("informative", at("informative_groups")),
    ("all solved", at("solved_groups")),
    ("none solved", at("failed_groups")),
    ("entropy", at("optimizer", "entropy")),
    ("mismatch KL", at("optimizer", "mismatch_kl")),
    ("largest mismatch", at("optimizer", "mismatch_max")),
    ("clip share", at("optimizer", "clip_share")),
    ("largest ratio", at("optimizer", "ratio_max")),
    ("gradient norm", at("optimizer", "grad_norm")),
    ("learning rate", at("optimizer", "learning_rate")),
    ("prompt tokens", at("tokens", "prompt")),
    ("sampled tokens", at("tokens", "action")),
    ("read tokens", at("tokens", "observation")),
    ("longest episode", at("tokens", "longest")),
    ("turns", at("turns")),
    ("tool errors", at("tool_errors")),
    ("unreadable turns", at("malformed")),
    ("early exits", at("early_exits")),
    ("limits hit", at("limits_hit")),
    ("system errors", causes),
    ("retries", at("retries")),
    ("dropped groups", at("dropped_groups")),
    ("s generate", at("seconds", "generate")),
    ("s environment", at("seconds", "environment")),
    ("s grade", at("seconds", "grade")),
    ("s update", at("seconds", "update")),
    ("s sync", at("seconds", "sync")),
    ("s total", at("seconds", "total")),
    ("tokens/s", at("tokens_per_second")),
)


def section(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """The section; without updates, a sentence."""
    if not any(run.updates for run in runs):
        return [el("h2", "Curves"), el("p", "No update is in the log yet.")]
    figures = [*_evaluations(runs, names), *_rewards(runs, names)]
    figures += [_chart(curve, runs, names) for curve in TRAINING]
    figures += [phases(run, name if len(runs) > 1 else "") for run, name in zip(runs, names, strict=True)]
    smoothed = "From 20 points on, the line is the mean of the last five, and the points are behind it."
    return [
        el("h2", "Curves"),
        key(names) if len(runs) > 1 else Html(""),
        el("div", figures, class_="charts"),
        el("p", el("small", smoothed)),
        incomplete(runs, names),
        *(numbers(run, name) for run, name in zip(runs, names, strict=True)),
    ]


def _chart(curve: Curve, runs: Sequence[RunRecord], names: Sequence[str]) -> Html:
    series = [
        Series(name, [Point(row["update"], curve.value(row)) for row in run.updates])
        for run, name in zip(runs, names, strict=True)
    ]
    return line_chart(curve.title, series, note=curve.note, rate=curve.rate)


def _rewards(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """Reward and pass rate; one chart where they are the same."""
    rows = [row for run in runs for row in run.updates]
    if all(REWARD.value(row) == PASS.value(row) for row in rows):
        same = Curve("Training reward = pass rate", PASS.value, REWARD.note, rate=True)
        return [_chart(same, runs, names)]
    return [_chart(REWARD, runs, names), _chart(PASS, runs, names)]


def _evaluations(runs: Sequence[RunRecord], names: Sequence[str]) -> list[Html]:
    """The runs' own evaluations: pass@1 with its interval, breadth, and what k attempts give."""

    def series(name: str) -> list[Series]:
        return [
            Series(label, [_point(row, name) for row in run.evaluations])
            for run, label in zip(runs, names, strict=True)
        ]

    more = sorted(
        {name for run in runs for row in run.evaluations for name in row if name.startswith(("pass@", "pass^"))}
    )
    notes = {"pass@1": "held-out tasks; bars: 95 %, bootstrap over tasks"}
    charts = [
        line_chart(f"Dev {name}", series(name), note=notes.get(name, ""), rate=True)
        for name in ["pass@1", *(name for name in more if name != "pass@1")]
    ]
    if len(more) > 1:
        charts.append(line_chart("Dev breadth", series("breadth"), note="tasks solved at least once", rate=True))
    return charts + [_apart(domain, runs, names) for domain in _domains_apart(runs)]


def incomplete(runs: Sequence[RunRecord], names: Sequence[str]) -> Html:
    """The evaluations with unplayed trials, in words: they have no pass@1, only bounds, and are gaps in the curves."""
    said: list[str] = []
    for run, name in zip(runs, names, strict=True):
        for row in run.evaluations:
            for domain, found in {"": row, **part(row, "apart")}.items():
                unplayed, trials = read(found, "unplayed"), read(found, "trials")
                bounds = found.get("bounds") if isinstance(found, dict) else None
                if unplayed and trials is not None and isinstance(bounds, list) and len(bounds) == 2:
                    low, high = (percent(read({"": bound}, "")) for bound in bounds)
                    who = " ".join(filter(None, (name if len(runs) > 1 else "", domain, f"update {row['update']}")))
                    said.append(f"{who} ({unplayed:.0f} of {unplayed + trials:.0f}; pass@1 between {low} and {high})")
    words = "Evaluations of which trials could not be played, which choose no checkpoint: "
    return el("p", words, "; ".join(said), ".", class_="warn") if said else Html("")


def _domains_apart(runs: Sequence[RunRecord]) -> list[str]:
    """The domains that are played though nothing is trained on them, and that choose no checkpoint."""
    return sorted({name for run in runs for row in run.evaluations for name in part(row, "apart")})


def _apart(domain: str, runs: Sequence[RunRecord], names: Sequence[str]) -> Html:
    series = [
        Series(
            label,
            [
                _point({"update": row["update"], **part(part(row, "apart"), domain)}, "pass@1")
                for row in run.evaluations
            ],
        )
        for run, label in zip(runs, names, strict=True)
    ]
    return line_chart(
        f"Dev pass@1 of {domain}", series, note="nothing is trained on it; chooses no checkpoint", rate=True
    )


def _point(row: Row, name: str) -> Point:
    low = high = None
    interval = row.get("interval")
    if name == "pass@1" and isinstance(interval, list) and len(interval) == 2:
        low, high = (read({"": limit}, "") for limit in interval)
    return Point(row["update"], read(row, name), low, high)


def phases(run: RunRecord, name: str) -> Html:
    """Where a run's time goes."""
    rows: list[tuple[float, list[float]]] = []
    for row in run.updates:
        spent = {
            phase: read(row, "seconds", phase) for phase in ("generate", "environment", "collect", "update", "sync")
        }
        known = [value for value in spent.values() if value is not None]
        if len(known) == len(spent):
            generate, environment, collect, update, sync = known
            grade = read(row, "seconds", "grade") or 0.0  # logs before 30 November count it to the environment
            rest = max(0.0, collect - generate - environment - grade)
            rows.append((row["update"], [generate, environment, grade, rest, update, sync]))
    return area_chart("Seconds by phase", PHASES, rows, note=f"{name}, an update" if name else "an update")


def numbers(run: RunRecord, name: str) -> Html:
    """Every number of every update."""
    rows = [[number(value(row)) for _, value in COLUMNS] for row in run.updates]
    steps = [
        [row["update"], row.get("optimizer", {}).get("why")]
        for row in run.updates
        if isinstance(row.get("optimizer"), dict) and row["optimizer"].get("stepped") is False
    ]
    left = el("p", "Updates without a step: ", "; ".join(f"{u} ({why})" for u, why in steps), ".") if steps else None
    return fold(f"Every update of {name} in numbers", left, table([title for title, _ in COLUMNS], rows))
