"""Where failures come from: what went wrong first, which checks, which tools, how the talks ended. System errors apart.

Shares are of counted attempts; a failure has exactly one reason (`tb_envs.evaluation.report.reasons`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tb_envs.evaluation.report.campaigns import Attempt, Run
from tb_envs.evaluation.report.markup import Html, el, fold, percent
from tb_envs.evaluation.report.reasons import REASONS, UNDONE, WRITE
from tb_envs.evaluation.report.words import bar, find, plural, table, whole

SHOWN = 12
"""Lines of a table that are shown outright."""
PARTS = (("passed", "succeeded"), ("write", "wrong write"), ("order", "wrong order"), ("undone", "left undone"))
"""Class of a part's colour, and its name."""
ENDS = {
    "agent": "the agent ended it",
    "handover": "the agent handed over",
    "customer": "the customer left",
    "limit:turns": "limit of turns",
    "limit:tool_calls": "limit of tool calls",
    "limit:tokens": "limit of tokens",
    "limit:user_turns": "limit of customer's turns",
    "limit:context": "context of the model full",
    "refused": "refused by the provider",
}


def section(run: Run, runs: Sequence[Run]) -> list[Html]:
    """All of it for one run."""
    attempts = list(run.campaign.attempts.values())
    counted = counted_of(run)
    if not attempts:
        return [el("p", "No attempts yet.", class_="dim")]
    only = {"run": run.name} if len(runs) > 1 else {}
    parts = [
        el("h3", run.name) if len(runs) > 1 else None,
        stack(run),
        el(
            "div",
            _checks(run, only),
            _writes(counted, only),
            _guards(run),
            _ends(run, only),
            _tools(attempts, run),
            class_="grid2",
        ),
        _errors(run, only),
    ]
    return [part for part in parts if part]


def counted_of(run: Run) -> list[Attempt]:
    """The attempts of a run, system errors left out."""
    return [one for one in run.campaign.attempts.values() if not one.row["outcome"].startswith("error:")]


def stack(run: Run) -> Html:
    """Counted attempts in one bar, split by what came of them; nothing where there are none."""
    counted = counted_of(run)
    if not counted:
        return Html("")
    kinds = Counter(one.reason.kind for one in counted)
    numbers = (kinds[""], *(kinds[reason] for reason in REASONS))
    total, at, drawn = max(1, len(counted)), 0.0, list[Html]()
    for (kind, _), number in zip(PARTS, numbers, strict=True):
        width = 1000 * number / total
        drawn.append(el("rect", x=f"{at:.2f}", width=f"{width:.2f}", height=20, class_=kind))
        at += width
    told = ", ".join(f"{number} {name}" for (_, name), number in zip(PARTS, numbers, strict=True))
    names = (
        el("span", _square(kind), f"{name} {percent(number / total)}", el("small", f" ({whole(number)})"))
        for (kind, name), number in zip(PARTS, numbers, strict=True)
    )
    svg = el(
        "svg", drawn, viewBox="0 0 1000 20", preserveAspectRatio="none", class_="stack", role="img", aria_label=told
    )
    return el("div", svg, el("p", names, class_="legend"))


def _square(kind: str) -> Html:
    return el("svg", el("rect", width=10, height=10, rx=2, class_=kind), viewBox="0 0 10 10", aria_hidden="true")


def _checks(run: Run, only: Mapping[str, str]) -> Html | None:
    found: Sequence[Mapping[str, Any]] = run.summary["failed_checks"]
    most = max((one["count"] for one in found), default=1)
    kinds = {"guard": "had to hold", "earned": "had to happen"}
    rows = [
        (find(one["name"], check=one["name"], **only), kinds[one["kind"]], whole(one["count"]), whole(one["tasks"]),
         bar(one["count"] / most, bad=True))
        for one in found
    ]  # fmt: skip
    return _listed("Failed checks", ("check", "", "attempts", "tasks", ""), rows)


def _writes(counted: Sequence[Attempt], only: Mapping[str, str]) -> Html | None:
    found = Counter((one.reason.tool, one.reason.table) for one in counted if one.reason.kind == WRITE)
    most = max(found.values(), default=1)
    rows = [
        (find(tool, tool=tool, **only), table, whole(times), bar(times / most, bad=True))
        for (tool, table), times in found.most_common()
    ]
    return _listed("First wrong write", ("tool", "wrote to", "attempts", ""), rows)


def _guards(run: Run) -> Html:
    """What held and what was done, in every combination: attempts, and tasks over their first k attempts."""
    names = (
        ("both", "kept what had to hold, did what had to be done"),
        ("guards_only", "kept what had to hold only"),
        ("earned_only", "did what had to be done only"),
        ("neither", "neither"),
    )
    attempts, tasks = run.summary["kept_and_earned"]["attempts"], run.summary["kept_and_earned"]["tasks"]
    k = tasks["k"]
    titles = ("", "attempts", f"tasks, {k} of {k}") if k > 1 else ("", "attempts")
    rows = [(words, whole(attempts[name]), *([whole(tasks[name])] if k > 1 else [])) for name, words in names]
    return el("div", el("h3", "Guards and what is earned"), table(titles, rows))


def _tools(attempts: Sequence[Attempt], run: Run) -> Html:
    found = run.summary["tool_errors"]
    errors = Counter(pair for one in attempts for pair in one.reason.tool_errors)
    rate = f", {percent(found['rate'])} of calls" if found["rate"] is not None else ""
    words = (
        f"{plural(found['errors'], 'error result')}{rate}, in {plural(found['attempts_with'], 'attempt')}; "
        f"{plural(found['malformed'], 'turn')} could not be read, in {plural(found['attempts_malformed'], 'attempt')}."
    )
    rows = [(tool, kind.replace("_", " "), whole(times)) for (tool, kind), times in errors.most_common()]
    listed = _listed("", ("tool", "error", "times"), rows)
    return el("div", el("h3", "Tool errors"), el("p", words), listed)


def _ends(run: Run, only: Mapping[str, str]) -> Html:
    rows = [
        (find(ENDS.get(name, name), ended=name, **only), whole(found["attempts"]), whole(found["failed"]))
        for name, found in run.summary["ended_by"].items()
        if name != "error"
    ]
    early = sum(
        one.reason.kind == UNDONE and one.row["ended_by"] in ("agent", "handover")
        for one in run.campaign.attempts.values()
    )
    left = sum(
        one.row["ended_by"] == "customer" and one.row["outcome"] == "failure" for one in run.campaign.attempts.values()
    )
    words = (
        f"Early goodbyes: in {plural(early, 'attempt')} the agent closed the talk with nothing wrong but something "
        f"undone. In {plural(left, 'failed attempt')} the customer left."
    )
    return el("div", el("h3", "How the talks ended"), table(("", "attempts", "failed"), rows), el("p", words))


def _errors(run: Run, only: Mapping[str, str]) -> Html | None:
    found: Sequence[Mapping[str, Any]] = run.summary["errors"]
    if not found:
        return None
    rows = [(find(one["outcome"], outcome=one["outcome"], **only), one["error"], whole(one["count"])) for one in found]
    what = plural(run.summary["system_errors"], "attempt")
    listed = el("div", table(("outcome", "what was said", "attempts"), rows), class_="left")
    return el("div", el("h3", f"System errors: {what}, not counted"), listed)


def _listed(title: str, titles: tuple[str, ...], rows: Sequence[Sequence[Any]]) -> Html | None:
    """A table whose second column is words, its long tail folded; nothing without rows."""
    if not rows:
        return None
    tail = rows[SHOWN:]
    rest = fold(f"{len(tail)} more", table(titles, tail, class_="words")) if tail else None
    return el("div", el("h3", title) if title else None, table(titles, rows[:SHOWN], class_="words"), rest)
