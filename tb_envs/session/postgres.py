"""The embedded backend over PostgreSQL: the same tool session, its statements run in threads of their own.

``{"kind": "embedded", "store": "postgresql://user@host/database"}``. The user needs the right CREATEDB. A statement is
broken off after the option ``deadline``, or 30 seconds. An episode's
calls never overlap, and what a given-up call still does is waited for before its database is given to another. An
episode is its process's own: a forked child can close its copy, which does nothing, and not play on it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any

from tb_envs.errors import BackendError, UsageError
from tb_envs.session.backend import ToolResult
from tb_envs.session.local import ToolSession
from tb_envs.session.remote import seconds
from tb_envs.store.db import IdSource
from tb_envs.store.dump import Dump
from tb_envs.task import Task

try:
    import psycopg
except ImportError as error:
    raise UsageError("the store postgresql needs psycopg: pip install 'thinkingbox-gym[postgres]'") from error

from tb_envs.store.postgres.schema import rows_sql
from tb_envs.store.postgres.slots import Slot, give, take
from tb_envs.store.postgres.store import PostgresDb, PostgresStore

SCHEMES = ("postgresql://", "postgres://")
THREADS = 32
"""Statements in flight at once; further ones wait."""


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "postgres")


os.register_at_fork(after_in_child=_threads.cache_clear)


class PostgresBackend(ToolSession[PostgresStore]):
    """A task's tool session over its own database on a server."""

    def __init__(self, task: Task, slot: Slot) -> None:
        store, ids = PostgresStore(slot, task.domain.specs), IdSource()
        super().__init__(task, store, PostgresDb(store, ids, task.now, task.articles), ids)
        self._busy = threading.Lock()
        self._given_up = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Check the arguments, run the tool in a transaction, return what the agent reads."""
        self._owned()
        if self._given_up:
            raise BackendError("this session is closed")
        return await asyncio.get_running_loop().run_in_executor(_threads(), self._call_now, tool, arguments)

    def _call_now(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        with self._busy:
            step = super().call(tool, arguments)
            try:
                step.send(None)
            except StopIteration as done:
                return done.value
            raise BackendError(f"tool {tool} waits for something; tools do not")

    def dump(self) -> Dump:
        """The whole database, canonically."""
        self._owned()
        with self._busy:
            return self.store.dump()

    def close(self) -> None:
        """Give the database back, once a call that was given up has ended. Idempotent."""
        if not self._given_up:
            self._given_up = True
            if not self.store.slot.mine:
                return
            _threads().submit(self._goodbye)

    def _owned(self) -> None:
        if not self.store.slot.mine:
            raise BackendError("this session belongs to the process that opened it; after a fork, open one's own")

    def _goodbye(self) -> None:
        with self._busy:
            self.store.close()


def read_options(options: Mapping[str, Any]) -> tuple[str, float | None]:
    """What the options say: a URL, and a deadline if one is named.

    Args:
        options: ``store``, the URL of a database in whose server others may be created; ``deadline``, the seconds after
            which a statement is broken off.

    Raises:
        UsageError: one of them is wrong.
    """
    unknown = set(options) - {"store", "deadline"}
    if unknown:
        raise UsageError(f"unknown option {', '.join(sorted(unknown))} of backend 'embedded'; valid: store, deadline")
    url, deadline = options.get("store"), options.get("deadline")
    if not isinstance(url, str) or not url.startswith(SCHEMES):
        raise UsageError("store: only a PostgreSQL URL is known, as in postgresql://user@host/database")
    return url, None if deadline is None else seconds(deadline)


async def open_postgres(task: Task, options: Mapping[str, Any]) -> PostgresBackend:
    """A fresh database on the server that the options name, for one attempt at `task`.

    Args:
        task: what is attempted.
        options: as of `read_options`.

    Raises:
        BackendError: the server cannot be reached, or has no room for another.
        UsageError: the options are wrong.
    """
    opening = _threads().submit(_open, task, *read_options(options))
    try:
        return await asyncio.wrap_future(opening)
    except asyncio.CancelledError:  # nobody will close what may be open in a moment
        opening.add_done_callback(_close_unwanted)
        raise


def _close_unwanted(opening: Future[PostgresBackend]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _open(task: Task, url: str, deadline: float | None) -> PostgresBackend:
    rows = _rows(task)
    while True:
        slot = take(url, task.domain)
        fresh = slot.episodes == 0
        try:
            slot.start(rows, deadline)
        except psycopg.Error as error:
            give(slot)
            if fresh or not (slot.connection.broken or slot.spoilt):
                raise BackendError(f"PostgreSQL takes no episode: {' '.join(str(error).split())[:300]}") from error
            continue  # an idle connection that was lost, as when the server was started again
        return PostgresBackend(task, slot)


@lru_cache(maxsize=1024)
def _rows(task: Task) -> str:
    return rows_sql(task.world)
