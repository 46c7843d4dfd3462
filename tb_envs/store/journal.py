"""The journal: every row change of an episode, written by triggers that are generated from the models.

Triggers see what any statement does, cascades included, and roll back with it. `INSERT OR REPLACE` is banned in
domains because its implicit delete escapes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect

from tb_envs.authoring.models import TableSpec

TABLE = "_journal"
Values = tuple[Any, ...]
_decode = json.JSONDecoder().raw_decode  # SQLite's own JSON has no blanks round it to look for
_quote = sqlite_dialect().identifier_preparer.quote  # only where it is needed: the text of triggers is in every image


class RowChange(NamedTuple):
    """One change of one row; values are in the order of the table's columns."""

    sequence: int
    call: int
    table: str
    key: str
    before: Values | None
    after: Values | None


class NetChange(NamedTuple):
    """What an episode did to one row in the end; None means absent."""

    table: str
    key: str
    before: Values | None
    after: Values | None


def sqlite_ddl(specs: Mapping[str, TableSpec]) -> list[str]:
    """Statements that create the journal and a trigger per table and kind of change."""
    out = [f"CREATE TABLE {TABLE} (seq INTEGER PRIMARY KEY, tbl TEXT, key TEXT, before TEXT, after TEXT)"]
    for name, spec in specs.items():
        old, new = (_values(side, spec.columns) for side in ("OLD", "NEW"))
        for kind, key, before, after in (
            ("INSERT", "NEW", "NULL", new),
            ("UPDATE", "OLD", old, new),
            ("DELETE", "OLD", old, "NULL"),
        ):
            out.append(
                f'CREATE TRIGGER "_journal_{name}_{kind.lower()}" AFTER {kind} ON "{name}" BEGIN '
                f"INSERT INTO {TABLE}(tbl, key, before, after) VALUES ('{name}', {key}.id, {before}, {after}); END"
            )
    return out


def _values(side: str, columns: Iterable[str]) -> str:
    return f"json_array({','.join(f'{side}.{_quote(column)}' for column in columns)})"


def read_change(row: tuple[int, str, str, str | None, str | None], call: int) -> RowChange:
    """A journal row as a `RowChange` made by call number `call`."""
    sequence, table, key, before, after = row
    return RowChange(
        sequence,
        call,
        table,
        key,
        None if before is None else tuple(_decode(before)[0]),
        None if after is None else tuple(_decode(after)[0]),
    )


def net_diff(changes: Iterable[RowChange]) -> list[NetChange]:
    """First `before` and last `after` per row, rows that end as they began left out, sorted by table and key."""
    first: dict[tuple[str, str], Values | None] = {}
    last: dict[tuple[str, str], Values | None] = {}
    for change in changes:
        row = (change.table, change.key)
        first.setdefault(row, change.before)
        last[row] = change.after
    return [NetChange(*row, first[row], last[row]) for row in sorted(first) if first[row] != last[row]]
