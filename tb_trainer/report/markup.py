"""HTML that is safe by construction: everything that is not made here is escaped. No templates, no state."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
NOTHING = "–"
VOID = {"br", "meta"}


class Html(str):
    """Markup; any other string is text and gets escaped where it is used."""

    __slots__ = ()


def text(value: Any) -> Html:
    """Text as markup; control characters and lone surrogates are replaced."""
    if isinstance(value, Html):
        return value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return Html("".join(map(text, value)))
    clean = str(value).encode("utf-8", "replace").decode("utf-8")
    return Html("" if value is None else html.escape(CONTROL.sub("\ufffd", clean)))


def el(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; ``class_`` is ``class``, other underscores are dashes, attributes that are None are left out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{shown}>" if name in VOID else f"<{name}{shown}>{text(children)}</{name}>")


def table(columns: Sequence[Any], rows: Iterable[Sequence[Any]], *, marked: Iterable[int] = ()) -> Html:
    """A table; the first column holds names. Rows whose place is in `marked` stand out as lost."""
    lost = set(marked)
    head = el("tr", (el("th", name) for name in columns))
    body = (
        el("tr", el("th", row[0]), (el("td", cell) for cell in row[1:]), class_="lost" if place in lost else None)
        for place, row in enumerate(rows)
    )
    return el("div", el("table", el("thead", head), el("tbody", body)), class_="wide")


def pairs(rows: Iterable[tuple[Any, Any]]) -> Html:
    """Names and values."""
    return el("dl", ((el("dt", name), el("dd", value)) for name, value in rows))


def fold(title: Any, *children: Any, open_: bool = False) -> Html:
    """What a reader can open."""
    return el("details", el("summary", title), children, open="" if open_ else None)


def number(value: float | None) -> str:
    """Four significant digits; whole numbers as they are."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{int(value)}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def percent(share: float | None) -> str:
    """A share with one decimal."""
    return NOTHING if share is None or not math.isfinite(share) else f"{100 * share:.1f} %"


def change(share: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return NOTHING if share is None else f"{100 * share:+.1f}"


STYLE = """
:root{color-scheme:light;--ink:#1a1c20;--dim:#5b6270;--line:#d9dce2;--bad:#b3261e;--badbg:#fdecea;--warn:#fff4d6}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:#fff;max-width:1180px;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.25rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}p,ul{max-width:80ch}small,.dim{color:var(--dim)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.87rem}.wide{overflow-x:auto;margin:.5rem 0}
th,td{padding:.18rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
tbody th{text-align:left;font-weight:500}thead th{color:var(--dim);font-weight:600;vertical-align:bottom}
thead th:first-child{text-align:left}tr.lost th,tr.lost td{background:var(--badbg);color:var(--bad)}
.red{background:var(--bad);color:#fff;padding:.8rem 1rem;font-weight:600;border-radius:4px;margin:.5rem 0}
.warn{background:var(--warn);padding:.5rem 1rem;border-left:4px solid #d99a00;margin:.5rem 0}
.note{background:#eef3fb;padding:.7rem 1rem;border-left:4px solid #3b6fb5;margin:.5rem 0}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(340px,1fr));gap:1rem}figure{margin:0}
figcaption{font-weight:600;font-size:.9rem}figcaption small{font-weight:400;display:block}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}.key{display:inline-block;margin-right:1.2rem}
.key svg{width:34px;height:10px;vertical-align:middle;margin-right:.3rem}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}@media(max-width:800px){.pair{grid-template-columns:1fr}}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f7f9;padding:.7rem;font-size:.78rem;margin:.3rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.9rem}dt{color:var(--dim)}
dd{margin:0;overflow-wrap:anywhere}code{font-size:.85em}details{margin:.5rem 0}summary{cursor:pointer}
"""


def page(title: str, body: Iterable[Any], generator: str) -> str:
    """A whole document."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width,initial-scale=1"),
        el("meta", name="generator", content=generator),
        el("title", title),
        el("style", Html(STYLE)),
    )
    return f"<!doctype html>\n{el('html', head, el('body', body), lang='en')}\n"
