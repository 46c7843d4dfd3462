"""HTML that is safe by construction: everything that is not made here is escaped. No templates, no state."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

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
        return Html("".join(map(text, cast("Iterable[Any]", value))))
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


def document(title: str, body: Iterable[Any], *, generator: str, style: str, head: Iterable[Html] = ()) -> str:
    """A whole HTML document, in English.

    Args:
        title: of the window.
        body: its content.
        generator: who wrote it, so that it is known again.
        style: CSS.
        head: further elements of the head; they come before the style.
    """
    content = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width,initial-scale=1"),
        el("meta", name="generator", content=generator),
        *head,
        el("title", title),
        el("style", Html(style)),
    )
    return f"<!doctype html>\n{el('html', content, el('body', body), lang='en')}\n"
