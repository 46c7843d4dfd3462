"""A domain's schema in PostgreSQL, generated from its models: tables, journal triggers, and a world's rows as SQL text.

Tells a broken constraint in SQLite's words, so that an agent reads the same on both stores. Refuses column types whose
values the two databases do not give alike (dates and decimals: domains keep them as text and integer cents).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Constraint,
    Enum,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.schema import ColumnCollectionConstraint, CreateIndex, CreateTable

from tb_envs.authoring.models import TableSpec
from tb_envs.authoring.world import Row, World
from tb_envs.errors import DomainError
from tb_envs.store.journal import TABLE
from tb_envs.store.postgres.dialect import DIALECT

C = TypeVar("C", CheckConstraint, UniqueConstraint)
_quote = DIALECT.identifier_preparer.quote_identifier
_KINDS = {
    "INSERT": ("REFERENCING NEW TABLE AS new_rows", "new_rows n", "n.id", (None, "n")),
    "DELETE": ("REFERENCING OLD TABLE AS old_rows", "old_rows o", "o.id", ("o", None)),
    "UPDATE": (
        "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
        "old_rows o FULL JOIN new_rows n ON n.id = o.id",
        "COALESCE(o.id, n.id)",
        ("o", "n"),
    ),
}
"""Kind of change → transition tables, where the rows come from, their key, aliases of before and after.

The trigger fires once per statement and journals its rows by key, which is SQLite's order: it walks tables by key.
An UPDATE that changes a key would be journalled as a row that went and one that came.
"""


def schema_ddl(base: type[DeclarativeBase], specs: Mapping[str, TableSpec]) -> list[str]:
    """Statements that create the tables, their indexes, and the journal with its triggers."""
    out: list[str] = []
    renamed = MetaData()
    for model in base.metadata.sorted_tables:
        _check_types(model)
        table = model.to_metadata(renamed)
        for constraint in table.constraints:
            constraint._creation_order = _place(model, constraint)  # pyright: ignore[reportPrivateUsage]
        for constraint in table.constraints:
            if isinstance(constraint, CheckConstraint | UniqueConstraint):
                constraint.name = _name(model, constraint)
        out.append(str(CreateTable(table).compile(dialect=DIALECT)))
        out += [str(CreateIndex(index).compile(dialect=DIALECT)) for index in sorted(table.indexes, key=str)]
    out.append(f"CREATE TABLE {TABLE} (seq bigint PRIMARY KEY, tbl text, key text, before text, after text)")
    for spec in specs.values():
        out += _triggers(spec)
    return out


def _ordered(table: Table, kind: type[C]) -> list[C]:
    """A table's constraints of a kind, in the order of its model."""
    found = [item for item in table.constraints if isinstance(item, kind)]
    return sorted(found, key=lambda item: item._creation_order)  # pyright: ignore[reportPrivateUsage]


def _place(model: Table, copy: Constraint) -> int:
    """Where a copied constraint stands in its model.

    Copies are made in the order of a set, which no two processes share, and a template is named after its schema.
    """
    originals = sorted(model.constraints, key=lambda item: item._creation_order)  # pyright: ignore[reportPrivateUsage]
    return list(map(_signature, originals)).index(_signature(copy))


def _signature(constraint: Constraint) -> tuple[Any, ...]:
    if isinstance(constraint, CheckConstraint):
        return "check", constraint.name, str(constraint.sqltext)
    columns = constraint.columns.keys() if isinstance(constraint, ColumnCollectionConstraint) else ()
    return type(constraint).__name__, constraint.name, *columns


def _name(table: Table, constraint: CheckConstraint | UniqueConstraint) -> str:
    """What a constraint is called in PostgreSQL: by its place in the model, since it tests them in order of names."""
    checks, uniques = _ordered(table, CheckConstraint), _ordered(table, UniqueConstraint)
    if isinstance(constraint, CheckConstraint):
        same = [(item.name, str(item.sqltext)) for item in checks]
        return f"check_{same.index((constraint.name, str(constraint.sqltext))):02d}"
    columns = [item.columns.keys() for item in uniques]
    return f"{table.name}_unique_{columns.index(constraint.columns.keys()):02d}"


def _check_types(table: Table) -> None:
    for column in table.columns:
        if isinstance(column.type, Enum) or not isinstance(column.type, String | Integer | Boolean | Float):
            raise DomainError(
                f"{table.name}.{column.name}: a {column.type} does not read alike on all stores; use text"
            )
    for item in (*table.constraints, *table.foreign_key_constraints):
        if getattr(item, "deferrable", None):
            raise DomainError(f"{table.name}: a deferrable constraint is checked when no call ends; make it immediate")


def _triggers(spec: TableSpec) -> Iterator[str]:
    for kind, (tables, rows, key, (before, after)) in _KINDS.items():
        name = _quote(f"_journal_{spec.name}_{kind.lower()}")
        values = (
            f"(SELECT COALESCE(MAX(seq), 0) FROM {TABLE}) + ROW_NUMBER() OVER (ORDER BY {key})",
            f"'{spec.name}'",
            key,
            _values(before, spec),
            _values(after, spec),
        )
        yield (
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"INSERT INTO {TABLE}(seq, tbl, key, before, after) SELECT {', '.join(values)} FROM {rows}; "
            "RETURN NULL; END $$"
        )
        yield (
            f"CREATE TRIGGER {name} AFTER {kind} ON {_quote(spec.name)} {tables} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )


def _values(side: str | None, spec: TableSpec) -> str:
    if side is None:
        return "NULL"
    array = f"json_build_array({', '.join(f'{side}.{column}' for column in stored(spec))})::text"
    return f"CASE WHEN {side}.id IS NULL THEN NULL ELSE {array} END"


def stored(spec: TableSpec) -> list[str]:
    """A table's columns as SQLite would give them: its booleans are 0 and 1."""
    names = ((_quote(name), spec.table.c[name].type) for name in spec.columns)
    return [f"{name}::int" if isinstance(kind, Boolean) else name for name, kind in names]


# -- rows


def rows_sql(world: World) -> str:
    """A world's rows as one script: rows to insert, parents first, then rows to update."""
    inserts, updates = world.patch()
    tables: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
    for name, row in inserts:
        tables.setdefault((name, tuple(row)), []).append(row)
    parts: list[str] = []
    for (name, columns), rows in tables.items():
        values = ",\n".join(f"({', '.join(_literals(row.values()))})" for row in rows)
        parts.append(f"INSERT INTO {_quote(name)} ({', '.join(map(_quote, columns))}) VALUES {values}")
    for name, row in updates:
        pairs = zip(map(_quote, row), _literals(row.values()), strict=True)
        changes = ", ".join(f"{column}={value}" for column, value in pairs)
        parts.append(f"UPDATE {_quote(name)} SET {changes} WHERE id={_literal(row['id'])}")
    return ";\n".join(parts)


def _literals(values: Iterable[Any]) -> Iterator[str]:
    return map(_literal, values)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool | int | float):
        return str(value)
    raise DomainError(f"a row holds {value!r}, which is neither a number nor text that PostgreSQL can hold")


# -- broken constraints


class Words:
    """What a broken constraint is called: as SQLite says it, whichever database it was."""

    def __init__(self, specs: Mapping[str, TableSpec]) -> None:
        self._specs = specs

    def of(self, diagnosis: Any) -> str:
        """The words for a driver's diagnosis (psycopg's ``Diagnostic``) of class 23."""
        state, table, name = diagnosis.sqlstate, diagnosis.table_name or "", diagnosis.constraint_name or ""
        if state == "23502":
            return f"NOT NULL constraint failed: {table}.{diagnosis.column_name}"
        if state == "23503":
            return "FOREIGN KEY constraint failed"
        if state == "23505":
            return f"UNIQUE constraint failed: {', '.join(f'{table}.{key}' for key in self._unique(table, name))}"
        if state == "23514" and (found := re.fullmatch(r"check_(\d+)", name)):
            check = _ordered(self._specs[table].table, CheckConstraint)[int(found[1])]
            return f"CHECK constraint failed: {check.name or check.sqltext}"
        return str(diagnosis.message_primary)

    def _unique(self, table: str, name: str) -> list[str]:
        """The columns of a unique constraint or index, by the name it has in PostgreSQL."""
        model = self._specs[table].table
        if found := re.fullmatch(re.escape(table) + r"_unique_(\d+)", name):
            return [column.name for column in _ordered(model, UniqueConstraint)[int(found[1])].columns]
        index = next((index for index in model.indexes if index.name == name), None)
        return ["id"] if index is None else [column.name for column in index.columns]
