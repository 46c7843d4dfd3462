"""One episode's database on PostgreSQL, and what a tool's body sees of it.

The episode is one transaction; the savepoint ``call`` stands where the last call ended. A read needs nothing more, a
write moves the savepoint and reads its part of the journal in one round trip. A statement that failed takes only itself
back, as in SQLite: PostgreSQL returns to the savepoint, so what the call wrote before is written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import Float

from tb_envs.authoring.models import TableSpec
from tb_envs.errors import BackendError, ToolError
from tb_envs.store.articles import Articles
from tb_envs.store.db import Db, Found, IdSource, refusal
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange, read_change
from tb_envs.store.postgres.dialect import Statement, prepare
from tb_envs.store.postgres.schema import Words, stored
from tb_envs.store.postgres.slots import READ, WITHIN, Slot, give

_MOVE = "RELEASE SAVEPOINT call; SAVEPOINT call"
_BACK = "ROLLBACK TO SAVEPOINT call"


class PostgresStore:
    """One episode's database; once `closed`, its slot may be another's."""

    def __init__(self, slot: Slot, specs: Mapping[str, TableSpec]) -> None:
        self.slot = slot
        self.specs = specs
        self.closed = False
        self._seen = 0
        self._written: list[tuple[bytes, tuple[Any, ...]]] = []
        self._floats = {name: _places(spec, Float) for name, spec in specs.items()}
        self._words = Words(specs)

    def run(self, statement: Statement, values: Mapping[str, Any]) -> list[Found]:
        """Execute a statement.

        Raises:
            ToolError: the records do not allow it; nothing of it stays.
            BackendError: anything else that went wrong.
        """
        sql, bound = statement.bind(values)
        try:
            cursor = self.slot.connection.execute(sql, bound)
            rows = cursor.fetchall() if statement.make else []
        except UnicodeEncodeError as error:  # before anything was sent
            raise refusal(error) from error
        except psycopg.Error as error:
            self._back()
            raise self._refused(error) from error
        self._within()
        if statement.writes:
            self._written.append((sql, bound))
        return list(map(statement.make, rows)) if statement.make else []

    def _within(self) -> None:
        """The episode's transaction goes on: what was read is its own, and what was written is committed nowhere."""
        try:
            self.slot.expect(WITHIN)
        except psycopg.Error as error:
            raise BackendError(f"PostgreSQL: {_plain(error)}") from error

    def _back(self) -> None:
        """As if the last statement had not been."""
        try:
            self.slot.script(_BACK)
            for sql, bound in self._written:
                self.slot.connection.execute(sql, bound)
        except psycopg.Error as error:
            raise BackendError(f"PostgreSQL: {_plain(error)}") from error
        self._within()

    def _refused(self, error: psycopg.Error) -> Exception:
        if isinstance(error, errors.IntegrityError):
            return ToolError(f"The records do not allow this: {self._words.of(error.diag)}.")
        if isinstance(error, errors.NumericValueOutOfRange):
            return refusal(OverflowError())
        if isinstance(error, errors.ProgramLimitExceeded):  # in an index: 8 KiB, where SQLite takes any
            return ToolError("The records do not allow this: a text is too long.")
        if isinstance(error, errors.DataError):
            return ToolError(f"The records do not allow this: {_plain(error)}.")
        return BackendError(f"PostgreSQL: {_plain(error)}")

    def begin(self) -> None:
        """Start the part of a tool call that writes."""
        if self._written:
            self._script(_MOVE)
            self._written.clear()

    def commit(self, call: int) -> list[RowChange]:
        """Keep what it wrote, and return the row changes that call number `call` made."""
        result = self._script(f"{_MOVE}; {READ % self._seen}")
        self._written.clear()
        changes = [self._change(result, at, call) for at in range(result.ntuples)]
        if changes:
            self._seen = changes[-1].sequence
        return changes

    def _change(self, result: Any, at: int, call: int) -> RowChange:
        values: list[bytes | None] = [result.get_value(at, place) for place in range(5)]
        seq, table, key, before, after = (None if value is None else value.decode() for value in values)
        assert seq is not None and table is not None and key is not None
        change = read_change((int(seq), table, key, before, after), call)
        places = self._floats[table]
        return change._replace(before=_as_sqlite(change.before, places), after=_as_sqlite(change.after, places))

    def rollback(self) -> None:
        """Return to where the call began."""
        self._written.clear()
        if self.slot.connection.pgconn.transaction_status in (WITHIN, psycopg.pq.TransactionStatus.INERROR):
            self._script(_BACK)

    def _script(self, text: str) -> Any:
        try:
            result = self.slot.script(text)
        except psycopg.Error as error:
            raise BackendError(f"PostgreSQL: {_plain(error)}") from error
        self._within()
        return result

    def dump(self) -> Dump:
        """Every row of every table, by table and key; for proofs and audits, not for the hot path."""
        if self.closed:
            raise BackendError("this database is closed")
        out: Dump = {}
        for name in sorted(self.specs):
            spec = self.specs[name]
            sql = f'SELECT {", ".join(stored(spec))} FROM "{name}" ORDER BY id'
            try:
                rows = self.slot.connection.execute(sql.encode()).fetchall()
            except psycopg.Error as error:
                raise BackendError(f"PostgreSQL: {_plain(error)}") from error
            out[name] = {row[spec.places["id"]]: tuple(row) for row in rows}
        self._within()
        return out

    def close(self) -> None:
        """Give the slot back. Idempotent."""
        if not self.closed:
            give(self.slot)
            self.closed = True


class PostgresDb(Db):
    """The database of one episode, as its tools see it."""

    __slots__ = ("_store",)

    def __init__(self, store: PostgresStore, ids: IdSource, now: str, articles: Articles) -> None:
        super().__init__(None, None, store.specs, ids, now, articles)
        self._store = store

    def _run(self, statement: Any, values: Mapping[str, Any], columns: tuple[str, ...] | None = None) -> list[Found]:
        return self._store.run(prepare(statement, columns), values)


def _places(spec: TableSpec, kind: type[Any]) -> frozenset[int]:
    return frozenset(at for at, name in enumerate(spec.columns) if isinstance(spec.table.c[name].type, kind))


def _as_sqlite(values: tuple[Any, ...] | None, floats: frozenset[int]) -> tuple[Any, ...] | None:
    """JSON of PostgreSQL writes 1.0 as 1."""
    if not floats or values is None:
        return values
    return tuple(float(value) if at in floats and value is not None else value for at, value in enumerate(values))


def _plain(error: psycopg.Error) -> str:
    return (error.diag.message_primary or " ".join(str(error).split()))[:200].rstrip(".")
