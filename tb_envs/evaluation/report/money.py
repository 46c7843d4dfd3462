"""What runs took: dollars, tokens, time. Unknown stays unknown; agent, customer and judge apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tb_envs.evaluation.report.campaigns import Run
from tb_envs.evaluation.report.markup import Html, el
from tb_envs.evaluation.report.words import UNKNOWN, dollars, duration, table, whole

ROLES = (("agent", "agent"), ("user", "customer"), ("judge", "judge"))
KINDS = ("input", "cached_input", "output", "reasoning")
PHASES = (
    ("agent", "waiting for the agent's model"),
    ("user", "waiting for the customer's model"),
    ("judge", "waiting for the judge's model"),
    ("waiting", "held back by a busy server"),
    ("environment", "environment"),
    ("grading", "grading"),
)


def section(runs: Sequence[Run]) -> Html:
    """Three tables with a column for each run."""
    parts = (_cost(runs), _tokens(runs), _seconds(runs))
    return el("div", parts, class_="grid2")


def _cost(runs: Sequence[Run]) -> Html:
    names = (
        ("total", "the campaign"),
        ("per_run", "one attempt at every task"),
        ("per_attempt", "per attempt"),
        ("per_success", "per success"),
        ("per_dependable", "per dependable task"),
    )
    found = [run.summary["cost"] for run in runs]
    rows: list[Sequence[Any]] = [(words, *(_dollars(cost[key], key) for cost in found)) for key, words in names]
    rows += [(el("small", f"of that, {words}"), *(dollars(cost["by_role"][role]["dollars"]) for cost in found))
             for role, words in ROLES]  # fmt: skip
    known = [cost["known"] for cost in found]
    words = ""
    if any(cost["total"] is None for cost in found):
        words = f"A price or a number of tokens is not known. Known so far: {', '.join(map(dollars, known))}."
    return el("div", el("h3", "Cost"), table(heads(runs), rows), el("p", words, class_="dim") if words else None)


def _dollars(value: float | None, key: str) -> str:
    return "–" if value is None and key == "per_dependable" else dollars(value)


def _tokens(runs: Sequence[Run]) -> Html:
    rows: list[Sequence[Any]] = []
    for role, words in ROLES:
        found = [run.summary["tokens"][role] for run in runs]
        if not any(found):
            spent = (run.summary["cost"]["by_role"][role]["dollars"] for run in runs)
            rows.append((words, *("none" if paid == 0 else UNKNOWN for paid in spent)))  # 0: no model was called
            continue
        for kind in KINDS:
            name = f"{words}, {kind.replace('_', ' ')}"
            rows.append((name, *(UNKNOWN if tokens is None else whole(tokens[kind]) for tokens in found)))
        if any(tokens and tokens["attempts_unknown"] for tokens in found):
            missing = (UNKNOWN if tokens is None else whole(tokens["attempts_unknown"]) for tokens in found)
            rows.append((el("small", f"{words}: attempts that do not tell"), *missing))
    return el("div", el("h3", "Tokens"), table(heads(runs), rows))


def _seconds(runs: Sequence[Run]) -> Html:
    found = [run.summary["seconds"] for run in runs]
    rows: list[Sequence[Any]] = [("all attempts, end to end", *(duration(seconds["total"]) for seconds in found))]
    rows += [
        (el("small", words), *(duration(seconds[key]) for seconds in found))
        for key, words in PHASES
        if any(seconds[key] for seconds in found)
    ]
    rows.append(("requests", *(whole(seconds["requests"]) for seconds in found)))
    rows.append((el("small", "of them sent again"), *(whole(seconds["retried"]) for seconds in found)))
    rows.append((el("small", "slowed down by the server"), *(whole(seconds["slowed"]) for seconds in found)))
    for key, words in (("turns", "turns"), ("user_turns", "customer's turns"), ("tool_calls", "tool calls")):
        rows.append((f"{words} per attempt", *(_mean(run.summary["length"][key]) for run in runs)))
    return el("div", el("h3", "Time and length"), table(heads(runs), rows))


def heads(runs: Sequence[Run]) -> Sequence[str] | None:
    """Titles of a table with a column for each run; none are needed for one."""
    return ("", *(run.name for run in runs)) if len(runs) > 1 else None


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
