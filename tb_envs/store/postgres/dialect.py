"""Domains' statements in PostgreSQL's dialect, with SQLite's meaning: 64-bit integers, endless text, NULLs first.

A domain writes one SQLAlchemy Core statement for both stores; what the two databases understand differently is settled
here, not in domains. Compiled once per statement, like `tb_envs.store.prepared` does for SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Column
from sqlalchemy.dialects.postgresql.base import PGTypeCompiler
from sqlalchemy.dialects.postgresql.psycopg import PGCompiler_psycopg, PGDialect_psycopg
from sqlalchemy.sql import operators
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.sqltypes import STRINGTYPE

from tb_envs.store.prepared import row_maker


class _Types(PGTypeCompiler):
    """SQLite knows one integer, of 64 bits, and one text, of any length."""

    def visit_INTEGER(self, type_: Any, **kw: Any) -> str:
        return "BIGINT"

    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        return "TEXT"


class _Compiler(PGCompiler_psycopg):
    """SQLite sorts NULL before every value, and its LIKE knows neither ASCII capitals nor an escape of its own."""

    def order_by_clause(self, select: Any, **kw: Any) -> str:
        parts = [self.process(clause, **kw) + _nulls(clause) for clause in select._order_by_clauses]
        return " ORDER BY " + ", ".join(parts) if parts else ""

    def visit_like_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._like("ILIKE", binary, **kw)

    def visit_not_like_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._like("NOT ILIKE", binary, **kw)

    def _like(self, word: str, binary: Any, **kw: Any) -> str:
        escape = self.render_literal_value(binary.modifiers.get("escape") or "", STRINGTYPE)
        return f"{self.process(binary.left, **kw)} {word} {self.process(binary.right, **kw)} ESCAPE {escape}"


def _nulls(clause: Any) -> str:
    descending = False
    while isinstance(clause, UnaryExpression):
        if clause.modifier in (operators.nulls_first_op, operators.nulls_last_op):
            return ""
        descending |= clause.modifier is operators.desc_op
        clause = clause.element
    if isinstance(clause, Column) and not clause.nullable:
        return ""
    return " NULLS LAST" if descending else " NULLS FIRST"


class _Dialect(PGDialect_psycopg):
    type_compiler_cls = _Types
    statement_compiler = _Compiler


DIALECT = _Dialect(paramstyle="numeric_dollar")


class Statement(NamedTuple):
    """A compiled statement.

    Attributes:
        sql: its text, with ``$1`` for the first value.
        names: the names of its values in order.
        defaults: values for those not given.
        make: makes a row; None if it returns none.
        writes: whether it changes rows.
        lists: set if it compares with a list, whose text depends on the values.
    """

    sql: bytes
    names: tuple[str, ...]
    defaults: Mapping[str, Any]
    make: Callable[[Sequence[Any]], Any] | None
    writes: bool
    lists: SQLCompiler | None

    def bind(self, values: Mapping[str, Any]) -> tuple[bytes, tuple[Any, ...]]:
        """The text and its values in order."""
        if self.lists is not None:
            state = self.lists.construct_expanded_state(dict(values))
            return state.statement.encode(), state.positional_parameters
        given = {**self.defaults, **values}
        try:
            return self.sql, tuple([given[name] for name in self.names])
        except KeyError as error:
            raise KeyError(f"the statement needs a value for {error}") from None


@cache
def prepare(statement: Any, columns: tuple[str, ...] | None = None) -> Statement:
    """Compile a statement for the driver.

    Args:
        statement: a Core statement that lives as long as the process.
        columns: of an INSERT or UPDATE, the columns that will be given.
    """
    compiled = statement.compile(dialect=DIALECT, column_keys=list(columns) if columns else None)
    assert isinstance(compiled, SQLCompiler)
    given = frozenset(columns or ())
    names = tuple(compiled.positiontup or ())
    defaults = {
        key: compiled.binds[key].effective_value
        for key in names
        if not compiled.binds[key].required and key not in given
    }
    results = compiled._result_columns  # pyright: ignore[reportPrivateUsage]
    make = row_maker(tuple(str(column[0]) for column in results)) if results else None
    lists = compiled if compiled.post_compile_params or compiled.literal_execute_params else None
    return Statement(str(compiled).encode(), names, defaults, make, bool(statement.is_dml), lists)
