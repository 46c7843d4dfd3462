"""The section of before and after: what each policy solves, what was gained and lost by name, and episodes as text."""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs.evaluation.metrics import Interval
from tb_envs.evaluation.report.markup import NOTHING, Html, change, el, fold, number, pairs, percent, table
from tb_trainer.report.overtime import ONE
from tb_trainer.report.paired import CERTAIN, Comparison, Metric, pooled
from tb_trainer.report.pairs import Pair
from tb_trainer.report.stats import KINDS

EPISODES = 3
NAMED = 60
"""Tasks named outright; more are behind a fold."""


def section(found: Sequence[Pair]) -> list[Html]:
    """The section; without a pair, a sentence that says how to get one."""
    if not found:
        how = "tbx evaluate --preset … --set model.checkpoint=… --split fresh:500 --out RUN/evaluations/after.jsonl"
        return [
            el("h2", "Before and after"),
            el("p", "No policy was evaluated before and after. ", el("code", how), " and the same for the start."),
        ]
    return [el("h2", "Before and after"), overview(found), *(part for pair in found for part in one(pair))]


def overview(found: Sequence[Pair]) -> Html:
    """One line a pair; where several runs hold the same tasks, one for all of them."""
    rows = [_overview_row(pair.run or "by hand", pair.what, pair.scores) for pair in found]
    for what in dict.fromkeys(pair.what for pair in found):
        same = [pair for pair in found if pair.what == what]
        together = pooled([pair.scores for pair in same])
        if together:
            rows.append(_overview_row(f"all {len(same)} runs together", what, together))
    columns = ("run", "tasks of", "tasks", "pass@1 before", "after", "change, points [95 %]", "gained", "lost")
    return table(columns, rows)


def _overview_row(name: str, what: str, scores: Comparison) -> list[str]:
    first = scores.metrics["pass@1"]
    return [
        name,
        what,
        str(first.tasks),
        interval(first.before),
        interval(first.after),
        _difference(first.difference),
        str(len(scores.gained)),
        str(len(scores.lost)),
    ]


def one(pair: Pair) -> list[Html]:
    """All about one pair, what was lost first."""
    scores = pair.scores
    title = f"{pair.run + ': ' if pair.run else ''}{pair.what}"
    lines = {kind: scores.lines(kind) for kind in KINDS}
    return [
        el("h3", title),
        el("p", f"{pair.before.name} against {pair.after.name}, {len(scores.tasks)} tasks, ",
           f"{scores.before.trials} and {scores.after.trials} trials.", class_="dim"),
        el("ul", (el("li", caution) for caution in pair.cautions)) if pair.cautions else Html(""),
        lost_cells(scores),
        metrics_table(scores),
        el("p", el("b", f"Lost: {len(scores.lost)} tasks. "), _named(scores, scores.lost)),
        el("p", el("b", f"Gained: {len(scores.gained)} tasks. "), _named(scores, scores.gained)),
        *(
            fold(
                f"By {ONE[kind]}",
                table(
                    (ONE[kind], "tasks", "before", "after", "change, points"),
                    [
                        (line.label, line.tasks, percent(line.before), percent(line.after),
                         _difference(line.interval) if line.interval else change(line.change))
                        for line in lines[kind]
                    ],
                    marked=[place for place, line in enumerate(lines[kind]) if line.halved],
                ),
                open_=kind == "cells",
            )
            for kind in KINDS
            if lines[kind]
        ),
        el("p", el("small", f"Change with an interval from {CERTAIN} tasks on. Red: half of it, or more, is gone.")),
        *episodes(pair),
        fold("How the two were played", provenance(pair)),
    ]  # fmt: skip


def lost_cells(scores: Comparison) -> Html:
    """Every outcome cell that lost, by name, the largest loss first."""
    cells = scores.lines("cells")
    lost = [line for line in cells if round(line.change, 9) < 0]
    if not lost:
        return el("p", el("b", "No outcome cell lost. "), f"Cells: {len(cells)}.")
    words = [
        el(
            "b" if line.halved else "span",
            f"{line.label} {percent(line.before)} → {percent(line.after)} ({line.tasks})",
        )
        for line in lost
    ]
    listed = [part for word in words for part in (word, "; ")][:-1]
    return el("p", el("b", f"Lost: {len(lost)} of {len(cells)} outcome cells (tasks). "), listed, ".", class_="warn")


def metrics_table(scores: Comparison) -> Html:
    """Each metric with its interval, before and after, and the paired difference."""
    rows = [[_title(name, scores), *_metric(name, found)] for name, found in scores.metrics.items()]
    return table(("", "before [95 %]", "after [95 %]", "change [95 %]", "0 in the interval", "tasks"), rows)


def _title(name: str, scores: Comparison) -> str:
    most = min(scores.before.attempts, scores.after.attempts)
    more = {f"pass@{most}": " (breadth: solved at least once)", f"pass^{most}": " (reliability: solved every time)"}
    return name + (more.get(name, "") if most > 1 else "")


def _metric(name: str, found: Metric) -> list[str]:
    inside = "yes" if found.difference.low <= 0 <= found.difference.high else "no"
    if name == "reward":
        shown = [f"{number(x.estimate)} [{number(x.low)}, {number(x.high)}]" for x in found[:3]]
        return [*shown, inside, str(found.tasks)]
    return [interval(found.before), interval(found.after), _difference(found.difference), inside, str(found.tasks)]


def interval(found: Interval) -> str:
    """``48.3 % [45.1, 51.5]``."""
    return f"{percent(found.estimate)} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _difference(found: Interval) -> str:
    return f"{change(found.estimate)} [{change(found.low)}, {change(found.high)}]"


def _named(scores: Comparison, tasks: Sequence[str]) -> list[Html]:
    if not tasks:
        return []

    def shown(task: str) -> str:
        before, after = scores.before.passed[task], scores.after.passed[task]
        return f"{task} {sum(before)}/{len(before)} → {sum(after)}/{len(after)}"

    first, rest = ", ".join(map(shown, tasks[:NAMED])), ", ".join(map(shown, tasks[NAMED:]))
    return [el("small", first), fold(f"and {len(tasks) - NAMED} more", el("small", rest)) if rest else Html("")]


def chosen_episodes(pair: Pair) -> list[tuple[str, str]]:
    """(task, why) of up to `EPISODES` tasks whose first trial is kept as text on both sides.

    The first gained, the first lost, and the first that failed on both sides; then more that were gained.
    """
    before, after = pair.scores.before, pair.scores.after

    def kept(task: str) -> bool:
        return all(isinstance(side.rows[task].get("transcript"), str) for side in (before, after))

    kinds: dict[str, list[str]] = {"gained": [], "lost": [], "failed both times": [], "solved both times": []}
    for task in filter(kept, pair.scores.tasks):
        was, now = (side.rows[task]["outcome"] == "success" for side in (before, after))
        kinds[
            {(0, 1): "gained", (1, 0): "lost", (0, 0): "failed both times", (1, 1): "solved both times"}[was, now]
        ] += [task]
    first = [(tasks[0], why) for why, tasks in kinds.items() if tasks]
    more = [(task, why) for why, tasks in kinds.items() for task in tasks[1:]]
    return [*first, *more][:EPISODES]


def episodes(pair: Pair) -> list[Html]:
    """Episodes side by side."""
    chosen = chosen_episodes(pair)
    if not chosen:
        return [
            el("p", el("small", "No episode of it was kept as text on both sides (`tbx evaluate` keeps the first)."))
        ]
    picked = "Examples, not a sample: the first task that was gained, the first lost, the first that fails both times."
    shown = [
        el(
            "div",
            el("h3", f"{task}: {why}"),
            el("div", _episode(pair, task, "before"), _episode(pair, task, "after"), class_="pair"),
        )
        for task, why in chosen
    ]
    return [fold(f"{len(chosen)} episodes, before and after", el("p", el("small", picked)), shown)]


def _episode(pair: Pair, task: str, side: str) -> Html:
    row = (pair.scores.before if side == "before" else pair.scores.after).rows[task]
    failed = row.get("failed_checks")
    failed = ", ".join(map(str, failed)) if isinstance(failed, list) and failed else "none"
    counted = [
        f"{row[name]} {title}"
        for name, title in (("malformed", "unreadable turns"), ("cut_off", "turns cut off"))
        if row.get(name)
    ]
    facts = [f"{row['outcome']}, ended by {row.get('ended_by', NOTHING)}", f"failed checks: {failed}", *counted]
    return el("div", el("p", el("b", side), ": ", "; ".join(facts)), el("pre", row["transcript"]))


def provenance(pair: Pair) -> list[Html]:
    """Files, commands, weights and versions of both sides."""
    parts: list[Html] = []
    for side, trials in (("before", pair.before), ("after", pair.after)):
        facts = {
            "file": str(trials.path),
            **{name: trials.about.get(name) for name in ("policy", "command") if trials.about.get(name)},
            **{name: trials.settings.get(name) for name in ("weights", "tokenizer", "seed") if name in trials.settings},
            "versions": ", ".join(f"{k} {v}" for k, v in versions_of(trials.about, trials.rows).items()) or NOTHING,
        }
        parts += [el("h3", side), pairs(facts.items())]
    return parts


def versions_of(about: dict[str, object], rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """Library or domain → version or content hash."""
    sources = (about.get("versions"), rows[0].get("versions") if rows else None)
    return {name: value for source in sources if isinstance(source, dict) for name, value in source.items()}
