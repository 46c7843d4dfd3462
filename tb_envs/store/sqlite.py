"""The embedded store: one SQLite database in memory per episode, on a pooled connection of one engine.

A reset copies the task's image into a kept connection (`deserialize`); nothing of the episode before can survive it.
Each tool call is one transaction. The store never interprets what it holds.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import QueuePool

from tb_envs.authoring.models import TableSpec
from tb_envs.errors import BackendError
from tb_envs.store.dump import canonical_dump
from tb_envs.store.image import Pages, empty_image
from tb_envs.store.journal import TABLE, RowChange, read_change

KEPT = 64
"""Idle connections kept for the next reset; live ones are not limited."""
EMPTY = empty_image()
"""What an idle connection holds: the next image then takes the memory of the last, which the processor still knows."""
STEPS = 100_000
"""Of SQLite's machine, some milliseconds, between two looks at signals within one statement."""
_heeded = False
_READ = f"SELECT seq, tbl, key, before, after FROM {TABLE} WHERE seq > ? ORDER BY seq"


def heed_signals() -> None:
    """Let a signal's handler run in the middle of a statement too, in databases that are opened from now on.

    What the handler raises there ends the statement as interrupted (`is_interrupt`) and is heard no further: for a
    process that has such a handler, and none whose exception must arrive.
    """
    global _heeded
    _heeded = True


def _look() -> int:
    return 0  # to call anything is enough: Python runs handlers as it enters a function


def is_interrupt(error: BaseException | None) -> bool:
    """Whether a statement was ended in its middle, which nothing that an agent sends can do."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT


def _connect() -> sqlite3.Connection:
    raw = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None, cached_statements=256)
    raw.execute("PRAGMA foreign_keys=ON")
    raw.execute("PRAGMA temp_store=MEMORY")
    return raw


@cache
def engine() -> Engine:
    """The process's engine: it serves every episode of every domain, so statements are compiled once."""
    made = create_engine(
        "sqlite://",
        creator=_connect,
        poolclass=QueuePool,
        pool_size=KEPT,
        max_overflow=-1,
        pool_reset_on_return=None,
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
        query_cache_size=2000,
    )
    os.register_at_fork(after_in_child=lambda: made.dispose(close=False))
    return made


_idle: list[tuple[Connection, sqlite3.Connection]] = []
"""Connections given back, for the next reset; taking one from here costs a tenth of a checkout from the pool."""
os.register_at_fork(after_in_child=_idle.clear)


def _borrow() -> tuple[Connection, sqlite3.Connection]:
    try:
        return _idle.pop()
    except IndexError:
        connection = engine().connect()
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        return connection, raw


class SqliteStore:
    """One episode's database; once `closed`, its connection may be another's."""

    def __init__(self, seed: bytes, pages: Pages, specs: Mapping[str, TableSpec]) -> None:
        self.specs = specs
        self.connection, self.raw = _borrow()
        self.closed = False
        if _heeded:
            self.raw.set_progress_handler(_look, STEPS)
        pages.load(self.raw, seed)
        self._seen = 0

    def begin(self) -> None:
        """Start the transaction of a tool call."""
        self.raw.execute("BEGIN")

    def commit(self, call: int) -> list[RowChange]:
        """End it, and return the row changes that call number `call` made."""
        self.raw.execute("COMMIT")
        rows = self.raw.execute(_READ, (self._seen,)).fetchall()
        if rows:
            self._seen = rows[-1][0]
        return [read_change(row, call) for row in rows]

    def rollback(self) -> None:
        """End it as if it had never begun."""
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    def dump(self) -> dict[str, dict[str, tuple[Any, ...]]]:
        """Every row of every table, by table and key; for proofs and audits, not for the hot path."""
        if self.closed:
            raise BackendError("this database is closed")
        return canonical_dump(self.raw, self.specs)

    def close(self, *, keep: bool = True) -> None:
        """Give the connection back. Idempotent.

        Args:
            keep: for another episode. Not where a call broke off in its middle: a cursor of it may be left, held by
                the exception's traceback, and would read on in memory that another image has taken the place of.
        """
        if self.closed:
            return
        self.closed = True
        self.rollback()
        if keep and len(_idle) < KEPT:
            self.raw.deserialize(EMPTY)
            _idle.append((self.connection, self.raw))
        else:
            if not keep:
                self.connection.invalidate()
            self.connection.close()
