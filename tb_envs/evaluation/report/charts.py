"""Line charts, bars and stacked areas as inline SVG. Points without a number are gaps; nothing is interpolated.

Colours are attributes, for pages with one theme, and classes (``ink0`` …, ``grid``, ``dim``, ``band``), which a page's
CSS may set anew for another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tb_envs.evaluation.report.markup import Html, el, number, percent

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444")
"""Okabe and Ito 2008: told apart by people who see fewer colours. Class ``ink0`` and so on."""
DASHES = (None, "6 3", "2 2", "8 2 2 2", "10 4", "1 3", "4 1")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 210, 50, 10, 10, 32
DOTS = 120
"""Points up to which each gets a dot with its value."""
SMOOTH = 20
"""Points from which the line is the mean of the last `WINDOW`, with the points themselves faint behind it."""
WINDOW = 5


class Point(NamedTuple):
    """A value at an update, with the limits of its interval if it has one."""

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None


class Series(NamedTuple):
    """One line."""

    name: str
    points: Sequence[Point]


def key(names: Sequence[str]) -> Html:
    """Which line is whose."""
    lines = (
        el("line", x1=0, y1=5, x2=34, y2=5, **_ink(at), stroke_width=3, stroke_dasharray=_dash(at))
        for at in range(len(names))
    )
    return el(
        "p",
        (
            el("span", el("svg", line, viewBox="0 0 34 10"), name, class_="key")
            for line, name in zip(lines, names, strict=True)
        ),
    )


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    note: str = "",
    rate: bool = False,
    across: str = "update",
    band: bool = False,
) -> Html:
    """A figure of lines.

    Args:
        title: above it.
        series: the lines.
        note: below the title.
        rate: the values are shares, shown from 0 to 100 %.
        across: what the numbers along the bottom count.
        band: intervals are an area behind the line, in place of a bar at each point; a gap ends the area too.

    Returns:
        Empty markup if no series has a number.
    """
    known = [point for one in series for point in one.points if point.y is not None]
    if not known:
        return Html("")
    values = [value for point in known for value in (point.y, point.low, point.high) if value is not None]
    frame = _Frame(*_range([point.x for one in series for point in one.points]), *((0, 1) if rate else _from(values)))
    parts = [frame.axes(rate, across)]
    if band:
        parts += [area for at, one in enumerate(series) for area in _bands(frame, at, one)]
    for at, one in enumerate(series):
        parts += _line(frame, at, one, rate, across, bars=not band)
    return _figure(title, note, parts)


def area_chart(title: str, names: Sequence[str], rows: Sequence[tuple[float, Sequence[float]]], *, note: str) -> Html:
    """Stacked areas: for each x the parts of a whole, in the order of `names`."""
    if not rows:
        return Html("")
    frame = _Frame(*_range([x for x, _ in rows]), *_from([sum(parts) for _, parts in rows]))
    below, drawn = [0.0] * len(rows), list[Html]()
    for at in range(len(names)):
        above = [base + parts[at] for base, (_, parts) in zip(below, rows, strict=True)]
        ring = [(x, value) for (x, _), value in zip(rows, above, strict=True)]
        ring += [(x, value) for (x, _), value in zip(rows[::-1], below[::-1], strict=True)]
        points = " ".join(f"{frame.x(x):.1f},{frame.y(value):.1f}" for x, value in ring)
        drawn.append(
            el("polygon", points=points, fill=_colour(at), fill_opacity=0.75, stroke=_colour(at), stroke_width=0.8)
        )
        below = above
    return el("div", _figure(title, note, [*drawn, frame.axes(False, "update")]), key(names))


def bar_chart(title: str, groups: Sequence[tuple[str, Sequence[float]]], *, note: str, across: str) -> Html:
    """Bars side by side: for each name along the bottom a value of each series."""
    frame = _Frame(0, max(1, len(groups)), *_from([value for _, values in groups for value in values]))
    parts, every = [frame.axes(False, across, names=False)], max(1, -(-len(groups) // 12))
    for place, (name, values) in enumerate(groups):
        width = 0.8 / max(1, len(values))
        for at, value in enumerate(values):
            left, right = (frame.x(place + 0.1 + width * (at + more)) for more in (0, 1))
            top, bottom = frame.y(value), frame.y(0)
            parts.append(
                el(
                    "rect",
                    el("title", f"{across} {name}: {number(value)}"),
                    x=f"{left + 0.5:.1f}",
                    y=f"{top:.1f}",
                    width=f"{max(0.5, right - left - 1):.1f}",
                    height=f"{bottom - top:.1f}",
                    fill=_colour(at),
                    class_=f"dot ink{_place(at)}",
                )
            )
        if place % every == 0:
            x = f"{frame.x(place + 0.5):.1f}"
            parts.append(el("text", name, x=x, y=HEIGHT - BOTTOM + 15, text_anchor="middle"))
    return _figure(title, note, parts)


class _Frame:
    """Where numbers lie on the paper."""

    def __init__(self, left: float, right: float, low: float, high: float) -> None:
        self.left, self.right, self.low, self.high = left, right, low, high

    def x(self, value: float) -> float:
        return LEFT + (value - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def axes(self, rate: bool, across: str, *, names: bool = True) -> Html:
        parts: list[Html] = []
        for value in ticks(self.low, self.high):
            y = f"{self.y(value):.1f}"
            parts.append(
                el("line", x1=LEFT, y1=y, x2=WIDTH - RIGHT, y2=y, stroke="#d9dce2", stroke_width=1, class_="grid")
            )
            shown = f"{100 * value:.0f} %" if rate else number(value)
            parts.append(el("text", shown, x=LEFT - 5, y=y, text_anchor="end", dominant_baseline="middle"))
        for value in ticks(self.left, self.right) if names else ():
            if value == int(value):
                parts.append(
                    el("text", number(value), x=f"{self.x(value):.1f}", y=HEIGHT - BOTTOM + 15, text_anchor="middle")
                )
        parts.append(el("text", across, x=WIDTH - RIGHT, y=HEIGHT - 4, text_anchor="end", fill="#5b6270", class_="dim"))
        return el("g", parts)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from `low` to `high`."""
    rough = (high - low) / count
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(at * step, 12) for at in range(first, math.floor(high / step + 1e-9) + 1)]


def _bands(frame: _Frame, at: int, one: Series) -> Iterable[Html]:
    """The intervals of the points as areas, one for each stretch without a gap."""
    stretch: list[tuple[float, float, float]] = []
    for point in [*one.points, Point(0, None)]:
        if point.y is not None and point.low is not None and point.high is not None:
            stretch.append((frame.x(point.x), frame.y(point.low), frame.y(point.high)))
            continue
        ring = [(x, high) for x, _, high in stretch] + [(x, low) for x, low, _ in stretch[::-1]]
        if len(stretch) > 1:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in ring)
            yield el("polygon", points=points, fill=_colour(at), fill_opacity=0.16, class_=f"band ink{_place(at)}")
        stretch = []


def _line(frame: _Frame, at: int, one: Series, rate: bool, across: str, *, bars: bool) -> Iterable[Html]:
    smooth = len(one.points) >= SMOOTH and bars
    for point in one.points if bars or len(one.points) == 1 else ():
        if point.y is not None and point.low is not None and point.high is not None:
            x = f"{frame.x(point.x):.1f}"
            low, high = f"{frame.y(point.low):.1f}", f"{frame.y(point.high):.1f}"
            yield el("line", x1=x, y1=low, x2=x, y2=high, **_ink(at), stroke_width=1.2, stroke_opacity=0.6)
    if smooth:
        yield _path(frame, one.points, **_ink(at), stroke_width=1, stroke_opacity=0.3)
        yield _path(frame, smoothed(one.points), **_ink(at), stroke_width=2, stroke_dasharray=_dash(at))
    else:
        yield _path(frame, one.points, **_ink(at), stroke_width=1.8, stroke_dasharray=_dash(at))
    if len(one.points) <= DOTS:
        for point in one.points:
            if point.y is not None:
                shown = percent(point.y) if rate else number(point.y)
                limits = f" [{percent(point.low)}, {percent(point.high)}]" if rate and point.low is not None else ""
                yield el(
                    "circle",
                    el("title", f"{one.name}, {across} {number(point.x)}: {shown}{limits}"),
                    cx=f"{frame.x(point.x):.1f}",
                    cy=f"{frame.y(point.y):.1f}",
                    r=2 if smooth else 2.6,
                    fill=_colour(at),
                    fill_opacity=0.4 if smooth else 1,
                    class_=f"dot ink{_place(at)}",
                )


def smoothed(points: Sequence[Point]) -> list[Point]:
    """The mean of each point and up to `WINDOW` - 1 before it; gaps stay."""
    out: list[Point] = []
    for place, point in enumerate(points):
        last = [p.y for p in points[max(0, place - WINDOW + 1) : place + 1] if p.y is not None]
        out.append(Point(point.x, sum(last) / len(last) if point.y is not None else None))
    return out


def _path(frame: _Frame, points: Sequence[Point], **attributes: Any) -> Html:
    words: list[str] = []
    pen_down = False
    for point in points:
        if point.y is not None:
            words.append(f"{'L' if pen_down else 'M'}{frame.x(point.x):.1f} {frame.y(point.y):.1f}")
        pen_down = point.y is not None
    return el("path", d=" ".join(words), fill="none", **attributes)


def _figure(title: str, note: str, parts: Iterable[Html]) -> Html:
    drawing = el("svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", font_size=11, role="img", aria_label=title)
    return el("figure", el("figcaption", title, el("small", note) if note else None), drawing)


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, high + 1)


def _from(values: Sequence[float]) -> tuple[float, float]:
    """A range with a little air, from 0 where nothing is below."""
    low, high = min(0.0, *values), max(values)
    return (low, high + 0.05 * (high - low)) if high > low else (low, low + 1)


def _place(at: int) -> int:
    return at % len(COLOURS)


def _colour(at: int) -> str:
    return COLOURS[_place(at)]


def _ink(at: int) -> dict[str, str]:
    """How a line of this series is drawn."""
    return {"stroke": _colour(at), "class_": f"ink{_place(at)}"}


def _dash(at: int) -> str | None:
    return DASHES[at % len(DASHES)]
