"""What a tool's body sees of the database: a few verbs on the domain's models, SQLAlchemy Core underneath.

Statements are built once per model and set of columns and then only bound, which is what makes a call cost
microseconds. `Db` knows the frozen clock and the id source; it commits nothing (the session does).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Select, Update, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from tb_envs.authoring.models import TableSpec, table_of
from tb_envs.authoring.values import parse_time
from tb_envs.authoring.world import FIRST_NEW_NUMBER
from tb_envs.errors import DomainError, ToolError
from tb_envs.store.articles import Articles
from tb_envs.store.prepared import prepare

Found = Any
"""A row: its columns are attributes, its values a tuple in the statement's order."""


def refusal(error: Exception) -> ToolError:
    """What the agent reads when the records cannot take a value, the same on every store."""
    if isinstance(error, OverflowError):
        return ToolError("The records do not allow this: a number is too large.")
    if isinstance(error, UnicodeEncodeError):
        return ToolError("The records do not allow this: a text is not valid Unicode.")
    return ToolError(f"The records do not allow this: {str(getattr(error, 'orig', None) or error)[:200]}.")


class IdSource:
    """New ids of one episode: per prefix they count up, and roll back with a failed call."""

    __slots__ = ("_kept", "_next")

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._kept: dict[str, int] = {}

    def new(self, prefix: str) -> str:
        """The next id of a prefix, e.g. ``TK-90001``."""
        number = self._next.get(prefix, FIRST_NEW_NUMBER)
        self._next[prefix] = number + 1
        return f"{prefix}-{number}"

    def mark(self) -> None:
        """Remember the counters."""
        self._kept = dict(self._next)

    def roll_back(self) -> None:
        """Return to the last mark."""
        self._next = dict(self._kept)


class Db:
    """The database of one episode, as its tools see it."""

    __slots__ = ("_ids", "_raw", "_specs", "articles", "connection", "now", "now_text", "today")

    def __init__(
        self,
        connection: Connection | None,
        raw: sqlite3.Connection | None,
        specs: Mapping[str, TableSpec],
        ids: IdSource,
        now: str,
        articles: Articles,
    ) -> None:
        self.connection = connection
        self._raw = raw
        self._specs = specs
        self._ids = ids
        self.now: datetime = parse_time(now)
        self.now_text = now
        self.today = now[:10]
        self.articles = articles

    def one(self, model: Any, key: str) -> Found:
        """The row with this id; a `ToolError` that names the id if there is none."""
        row = self.get(model, key)
        if row is None:
            raise ToolError(f"There is no {_noun(model)} {str(key)[:60]!r}.")
        return row

    def get(self, model: Any, key: str | None) -> Found | None:
        """The row with this id, or None."""
        rows = self._run(_select(model, ("id",), ()), {"id": key})
        return rows[0] if rows else None

    def rows(self, model: Any, *, order_by: str | tuple[str, ...] = "id", **equal: Any) -> list[Found]:
        """All rows whose columns equal the given values, in order."""
        order = (order_by,) if isinstance(order_by, str) else order_by
        return self._run(_select(model, tuple(equal), order), equal)

    def first(self, model: Any, *, order_by: str | tuple[str, ...] = "id", **equal: Any) -> Found | None:
        """The first row whose columns equal the given values, or None."""
        rows = self.rows(model, order_by=order_by, **equal)
        return rows[0] if rows else None

    def query(self, statement: Select[*tuple[Any, ...]], values: Mapping[str, Any] | None = None) -> list[Found]:
        """Rows of any SQLAlchemy select; make the statement once, at module level, and bind values here."""
        return self._run(statement, values or {})

    def insert(self, model: Any, **values: Any) -> Found:
        """Insert a row and return it; a missing `id` comes from the episode's id source."""
        if "id" not in values:
            prefix = self._specs[table_of(model)].prefix
            if prefix is None:
                raise DomainError(f"{table_of(model)} has natural ids: give `id=`")
            values["id"] = self._ids.new(prefix)
        return self._run(_insert(model), values, tuple(values))[0]

    def update(self, model: Any, key: str, **values: Any) -> Found:
        """Change columns of the row with this id and return it; a `ToolError` if there is none."""
        rows = self._run(_update(model), {"_id": key, **values}, tuple(values))
        return rows[0] if rows else self.one(model, key)

    def delete(self, model: Any, key: str) -> None:
        """Delete the row with this id."""
        self._run(_delete(model), {"_id": key})

    def write(self, statement: Insert | Update | Delete, values: Mapping[str, Any]) -> None:
        """Run any SQLAlchemy write on many rows; make the statement once, at module level, and bind values here."""
        self._run(statement, values)

    def _run(self, statement: Any, values: Mapping[str, Any], columns: tuple[str, ...] | None = None) -> list[Found]:
        try:
            prepared = None if self._raw is None else prepare(statement, columns)
            if prepared is not None and self._raw is not None:
                return prepared.run(self._raw, values)
            assert self.connection is not None
            result = self.connection.execute(statement, dict(values))
            return list(result) if result.returns_rows else []
        except (IntegrityError, sqlite3.IntegrityError) as error:
            raise ToolError(f"The records do not allow this: {getattr(error, 'orig', error)}.") from error


@cache
def _select(model: Any, equal: tuple[str, ...], order: tuple[str, ...]) -> Select[Any]:
    table = model.__table__
    statement = select(table).where(*(table.c[name] == bindparam(name) for name in equal))
    columns = [table.c[name.lstrip("-")].desc() if name[0] == "-" else table.c[name] for name in order]
    return statement.order_by(*columns)


@cache
def _insert(model: Any) -> Insert:
    return insert(model.__table__).returning(model.__table__)


@cache
def _update(model: Any) -> Update:
    table = model.__table__
    return update(table).where(table.c.id == bindparam("_id")).returning(table)


@cache
def _delete(model: Any) -> Delete:
    table = model.__table__
    return delete(table).where(table.c.id == bindparam("_id"))


def _noun(model: Any) -> str:
    name = table_of(model).replace("_", " ")
    return name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s")
