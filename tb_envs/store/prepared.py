"""SQLAlchemy Core statements compiled once and then run on the SQLite driver itself.

The object a domain writes is still a Core statement; what is saved is SQLAlchemy's work per execution, which costs more
than SQLite's own. A statement that needs that work (expanding lists, typed results) is left to SQLAlchemy.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.sql.compiler import SQLCompiler

DIALECT = sqlite_dialect()


class Prepared(NamedTuple):
    """SQL text, the names of its places in order, values for those not given, and how a row is made."""

    sql: str
    names: tuple[str, ...]
    defaults: Mapping[str, Any]
    make: Callable[[Sequence[Any]], Any] | None

    def run(self, raw: sqlite3.Connection, values: Mapping[str, Any]) -> list[Any]:
        """Execute with these values; rows have the statement's columns as attributes."""
        given = {**self.defaults, **values} if self.defaults else values
        try:
            bound = [given[name] for name in self.names]
        except KeyError as error:
            raise KeyError(f"the statement needs a value for {error}") from None
        rows = raw.execute(self.sql, bound)
        return list(map(self.make, rows)) if self.make else []


@cache
def prepare(statement: Any, columns: tuple[str, ...] | None = None) -> Prepared | None:
    """Compile a statement for the driver; None if only SQLAlchemy can run it.

    Args:
        statement: a Core statement that lives as long as the process.
        columns: of an INSERT or UPDATE, the columns that will be given.
    """
    compiled = statement.compile(dialect=DIALECT, column_keys=list(columns) if columns else None)
    if not isinstance(compiled, SQLCompiler) or compiled.post_compile_params or compiled.literal_execute_params:
        return None
    if compiled._bind_processors:  # pyright: ignore[reportPrivateUsage]
        return None
    results = compiled._result_columns  # pyright: ignore[reportPrivateUsage]
    if any(_processor(column[3]) for column in results):
        return None
    names = tuple(compiled.positiontup or ())
    required = frozenset(key for key in names if compiled.binds[key].required)
    defaults = {key: compiled.binds[key].effective_value for key in names if key not in required}
    if columns:
        given = frozenset(columns)
        required |= given & set(names)
        defaults = {key: value for key, value in defaults.items() if key not in given}
    make = row_maker(tuple(str(column[0]) for column in results)) if results else None
    return Prepared(str(compiled), names, defaults, make)


def row_maker(columns: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    """Makes a tuple whose places have the columns' names: what `_make` of a named tuple does, less a frame per row."""
    kind = namedtuple("row", columns, rename=True)  # pyright: ignore[reportUntypedNamedTuple]
    return partial(tuple.__new__, kind)  # pyright: ignore[reportUnknownMemberType]


def _processor(kind: Any) -> Any:
    return kind.dialect_impl(DIALECT).result_processor(DIALECT, None)
