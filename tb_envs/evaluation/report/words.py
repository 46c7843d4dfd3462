"""Numbers as the report writes them: shares with their interval, money, time, small bars; and links into the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from tb_envs.evaluation.report.markup import NOTHING, Html, el, percent

Interval = Mapping[str, float] | None
UNKNOWN = "unknown"


def share(value: float | None) -> str:
    """A share in percent."""
    return percent(value)


def span(interval: Interval) -> str:
    """The limits of an interval of a share, in percent."""
    return "" if interval is None else f"{100 * interval['low']:.1f} – {100 * interval['high']:.1f}"


def estimate(interval: Interval) -> Html:
    """A share with its interval behind it."""
    if interval is None:
        return Html(NOTHING)
    return el("span", percent(interval["estimate"]), " ", el("span", span(interval), class_="span"), class_="figure")


def points(interval: Interval) -> Html:
    """A difference of shares in percentage points with its interval; bold where the interval leaves out 0."""
    if interval is None:
        return Html(NOTHING)
    sure = interval["low"] > 0 or interval["high"] < 0
    limits = f"{100 * interval['low']:+.1f} to {100 * interval['high']:+.1f}"
    return el(
        "span",
        el("strong" if sure else "span", f"{100 * interval['estimate']:+.1f}"),
        " ",
        el("span", limits, class_="span"),
        class_="figure",
    )


def whole(number: float | None) -> str:
    """A number of things, thousands apart."""
    return UNKNOWN if number is None else f"{number:,.0f}"


def plural(number: int, one: str, many: str = "") -> str:
    """``1 task``, ``20 tasks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def dollars(value: float | None) -> str:
    """US dollars with three significant digits, or whole cents; unknown stays unknown."""
    if value is None:
        return UNKNOWN
    return "$0" if value == 0 else f"${value:,.2f}" if value >= 1 else f"${value:.3g}"


def duration(seconds: float | None) -> str:
    """Seconds, minutes or hours."""
    if seconds is None:
        return UNKNOWN
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def bar(part: float, *, bad: bool = False) -> Html:
    """A share of 1 as a small bar."""
    width = f"{100 * max(0.0, min(1.0, part)):.1f}"
    parts = (
        el("rect", width=100, height=10, class_="rail", rx=2),
        el("rect", width=width, height=10, class_="bad" if bad else "fill", rx=2),
    )
    return el("svg", parts, viewBox="0 0 100 10", preserveAspectRatio="none", class_="bar", aria_hidden="true")


def find(what: Any, **filters: str) -> Html:
    """A link that shows the episodes which are like this."""
    return el("a", what, href=f"#find?{urlencode(filters)}")


def episode_link(what: Any, task: str, attempt: int, run: str | None = None) -> Html:
    """A link to an episode; `run` where the page holds more than one."""
    prefix = "" if run is None else f"{quote(run, safe='')}~"
    return el("a", what, href=f"#{prefix}{quote(task, safe='/')}/{attempt}")


def table(titles: Sequence[Any] | None, rows: Iterable[Sequence[Any]], *, class_: str | None = None) -> Html:
    """A table whose first column names its rows; it scrolls sideways where it is too wide, by the keyboard too."""
    head = el("thead", el("tr", (el("th", name, scope="col") for name in titles))) if titles else None
    body = (el("tr", el("th", row[0], scope="row"), (_cell(cell) for cell in row[1:])) for row in rows)
    return el("div", el("table", head, el("tbody", body), class_=class_), class_="wide", tabindex=0)


def _cell(cell: Any) -> Html:
    """A cell; one that is an element of its own already stays as it is."""
    return cell if isinstance(cell, Html) and cell.startswith("<td") else el("td", cell)
