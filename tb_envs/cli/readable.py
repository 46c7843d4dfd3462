"""Results of tools and verdicts as a person reads them in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tb_envs.cli.screen import GAP, Screen, records, shown
from tb_envs.episode import Episode
from tb_envs.grading.grade import show_change
from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange, net_diff


def print_result(out: Screen, event: Event) -> None:
    """The answer of one tool."""
    if not event.ok:
        error = cast("Mapping[str, Any]", event.data.get("error", {}))
        out.print(
            Text.assemble((f"{event.name}: {error.get('type', 'error')}", "bold red"), f"  {error.get('message', '')}")
        )
        return
    out.print(Text(event.name, style="bold"))
    for part in result_parts(event.data, out.width - GAP):
        out.print(Padding(part, (0, 0, 0, GAP)))


def result_parts(data: Mapping[str, Any], width: int) -> list[RenderableType]:
    """An object: its plain values as pairs, lists of objects as tables, objects indented under their name."""
    grid = Table.grid(padding=(0, GAP))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    parts: list[RenderableType] = []
    for name, value in data.items():
        if _is_rows(value):
            parts += [Text(f"{name} ({len(value)})", style="dim"), *_indented(_rows(value, width - GAP))]
        elif isinstance(value, Mapping) and value:
            parts += [Text(name, style="dim"), *_indented(result_parts(cast("Mapping[str, Any]", value), width - GAP))]
        else:
            grid.add_row(name, Text("none" if value in ([], {}) else shown(value)))
    return [grid, *parts] if grid.row_count else parts


def _is_rows(value: Any) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _rows(rows: Sequence[Mapping[str, Any]], width: int) -> list[RenderableType]:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return records(columns, [[row.get(name) for name in columns] for row in rows], width)


def _indented(parts: Sequence[RenderableType]) -> list[RenderableType]:
    return [Padding(part, (0, 0, 0, GAP)) for part in parts]


def print_verdict(out: Screen, episode: Episode) -> None:
    """What changed in the records, each check, and how it ended."""
    assert episode.task is not None
    out.heading("Records changed")
    changes = [RowChange(0, 0, *change) for change in net_diff(episode.changes)]
    out.lines([show_change(change, episode.task.domain.specs) for change in changes] or ["none"])
    out.heading("Verdict", f"ended by {episode.ended_by}")
    if episode.verdict is None:
        out.lines([f"system error, does not count: {episode.error}"])
        return
    rows: list[tuple[Text, str]] = []
    for check in episode.verdict.checks:
        mark = Text("ok", style="green") if check.passed else Text("FAIL", style="bold red")
        found = "" if check.passed else f"\nfound: {check.found}"
        rows.append((mark, f"{check.name} ({check.kind}): {check.expected}{found}"))
    out.pairs(rows)
    out.print(Text(f"{episode.outcome.upper()}, reward {episode.reward:g}", style="bold"))
