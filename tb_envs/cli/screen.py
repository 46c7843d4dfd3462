"""What commands print with: tables, sections and progress for people, one JSON object for programs.

Plain text is data here: no markup is read in it, so a record that holds ``[bold]`` prints as it is. Everything is
readable at 80 columns, without colours, and in a pipe.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

GAP = 2
"""Blanks between the columns of a table."""
LONG = 40
"""Characters from which a value of a block is long."""
NOTHING = "–"
"""How an empty value is shown."""
LEAST = 24
"""Characters that the widest column keeps when it has to fold."""


class Screen(Console):
    """A console that leaves a closed pipe to `tb_envs.cli.main`."""

    def on_broken_pipe(self) -> None:
        """Let the error that is being handled go on."""
        raise BrokenPipeError

    def heading(self, title: str, note: str = "") -> None:
        """A blank line and a title."""
        self.print()
        self.print(Text.assemble((title, "bold"), f"  {note}" if note else ""))

    def lines(self, lines: Iterable[str], *, indent: int = 2) -> None:
        """Lines of text, each folded under itself."""
        for line in lines:
            blanks = len(line) - len(line.lstrip(" "))
            self.print(Padding(Text(line.lstrip(" ")), (0, 0, 0, indent + blanks), expand=False))

    def pairs(self, rows: Iterable[tuple[str | Text, Any]], *, indent: int = 2) -> None:
        """Names and values side by side."""
        grid = Table.grid(padding=(0, GAP))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column()
        for name, value in rows:
            grid.add_row(name, value if isinstance(value, Text) else Text(str(value)))
        if grid.row_count:
            self.print(Padding(grid, (0, 0, 0, indent), expand=False))


def screen(*, errors: bool = False) -> Screen:
    """A console on today's standard output, or on the error stream."""
    return Screen(stderr=errors, highlight=False, markup=False, emoji=False)


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object, in ASCII so that any terminal and any pipe takes it."""
    print(json.dumps(value, indent=2, default=str))


def between(found: Mapping[str, Any]) -> str:
    """What the idle and the reference agent score, as of a summary or a comparison: what every score lies between."""
    floor, ceiling = (percent(found[name]["pass_at_1"]) for name in ("floor", "ceiling"))
    return f"the floor (idle) is {floor}, the ceiling (reference) {ceiling}"


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Iterable[str] = (), close: bool = False
) -> Table:
    """A plain table; the columns in `numbers` are set to the right, the first column never folds.

    Args:
        columns: their titles.
        rows: their cells.
        numbers: titles of columns of numbers.
        close: whether columns stand closer, for tables of many.
    """
    right, gap = set(numbers), GAP - close
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for place, name in enumerate(columns):
        made.add_column(
            name, justify="right" if name in right else "left", no_wrap=place == 0 or name in right, overflow="fold"
        )
    for row in rows:
        made.add_row(*(Text(shown(value)) for value in row))
    return made


def records(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> list[RenderableType]:
    """Rows as a table where that is readable in `width` columns, else each as a block that leaves out what is empty."""
    cells = [[shown(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    fixed = sum(widths) - max(widths, default=0) + GAP * len(columns)
    if sum(widths) + GAP * len(columns) <= width or (fixed + LEAST <= width and max(widths) > LEAST):
        return [table(columns, cells)]
    return [part for row in cells for part in _block(columns, row)]


def _block(columns: Sequence[str], row: Sequence[str]) -> list[RenderableType]:
    """A row under its first value: short values side by side, each long one in lines of its own."""
    filled = [f"{name}={value}" for name, value in zip(columns[1:], row[1:], strict=True) if value != NOTHING]
    short = "  ".join(text.replace(" ", "\u00a0") for text in filled if len(text) <= LONG)
    texts = [text for text in (short, *(text for text in filled if len(text) > LONG)) if text]
    return [Text(row[0], style="bold", no_wrap=True), *(Padding(Text(text), (0, 0, 0, 2)) for text in texts)]


def shown(value: Any) -> str:
    """A value of a record as a person reads it."""
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case list() | tuple() if all(isinstance(item, str | int | float) for item in value):  # pyright: ignore[reportUnknownVariableType]
            return ", ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
        case dict() | list() | tuple():
            return json.dumps(value, ensure_ascii=False, default=str)
        case _:
            return str(value)


def percent(share: float | None) -> str:
    """A share as a percentage, or a dash where there is none."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def count_of(count: int, thing: str) -> str:
    """``1 row``, ``2 rows``."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


@contextmanager
def progress(total: int | None, what: str, *, quiet: bool = False) -> Generator[Callable[[str], None]]:
    """A bar on the error stream while `total` things are done; call what it gives after each, with a short note.

    Nothing is shown when `quiet`, or when the error stream is no terminal that can redraw a line.
    """
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM", "") in ("", "dumb"):
        yield lambda note: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeRemainingColumn(compact=True), console=screen(errors=True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda note: bar.update(task, advance=1, note=note)
