"""One PostgreSQL server as a place for episodes: connections with limits, databases that carry their owner, a reaper.

Every database of a process is named after its owner's number, and the owner holds the advisory lock of that number as
long as it lives; a killed process lets go of it, and the next one that comes drops what it left (`Server.reap`).
Refuses to touch a database that is not named so, or one that somebody is connected to. A forked child has none of its
parent's connections: what it writes to them goes nowhere.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import Connection, RawCursor, errors
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper

from tb_envs.errors import BackendError, UsageError

DEADLINE = 30
"""Seconds after which a statement is broken off, unless its episode names others, and a dead server is given up."""
_OWNED = re.compile(r"tbx_(?:slot|build)_([0-9a-f]{16})_\d+")
HELD = """
SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"""
"""The numbers whose locks are held in any database of the server: a lock excludes only who asks in the same one."""
SETTINGS = {
    "jit": "off",
    "statement_timeout": f"{DEADLINE}s",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "error",
    "standard_conforming_strings": "on",
    "default_transaction_isolation": "read\\ committed",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
"""Of every connection. A dead client's connection ends by the last three, and its lock with it."""


class Number(Loader):
    """A sum of integers is an integer, as in SQLite; an average is a float."""

    def load(self, data: Any) -> int | float:
        """The value of a ``numeric``."""
        text = bytes(data).decode()
        return float(text) if "." in text or text in ("NaN", "Infinity", "-Infinity") else int(text)


class Server:
    """A server that this process plays episodes on, by the URL of a database in which it may create others."""

    def __init__(self, url: str) -> None:
        try:
            self._params: dict[str, Any] = dict(conninfo_to_dict(url))
        except psycopg.Error:
            raise UsageError("store: not a PostgreSQL URL; it reads postgresql://user@host/database") from None
        self.place = f"{self._params.get('host') or 'localhost'}/{self._params.get('dbname') or ''}"
        self.templates: set[str] = set()
        """Those known to be there."""
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._main = self._connect(None)
        self._ask("SET statement_timeout = '300s'")  # another process may be building what we wait for
        self.user = str(self._ask("SELECT current_user")[0][0])
        self.token = secrets.randbits(63)
        self._ask("SELECT pg_advisory_lock($1::bigint)", self.token)
        self.reap()

    @property
    def alive(self) -> bool:
        """Whether this process still holds its lock."""
        return not self._main.closed and not self._main.broken

    def connect(self, database: str) -> Connection[Any]:
        """A connection that commits nothing by itself and reads numbers as SQLite does."""
        return self._connect(database)

    def _connect(self, database: str | None) -> Connection[Any]:
        given = {**self._params, "dbname": database} if database else self._params
        options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        own: dict[str, Any] = {
            "application_name": f"tbx {os.getpid()}@{socket.gethostname()}"[:63],
            "client_encoding": "UTF8",
            "connect_timeout": DEADLINE,
            "tcp_user_timeout": DEADLINE * 1000,
            "options": f"{given.get('options') or ''} {options}".strip(),
        }
        try:
            connection: Connection[Any] = psycopg.connect(
                make_conninfo("", **{**given, **own}), autocommit=True, prepare_threshold=1, cursor_factory=RawCursor
            )
        except psycopg.OperationalError as error:
            raise self._refused(error) from error
        _connections.add(connection)
        connection.prepared_max = 2000
        connection.adapters.register_loader("numeric", Number)
        connection.adapters.register_dumper(int, Int8Dumper)
        return connection

    def _refused(self, error: psycopg.Error) -> BackendError:
        text = " ".join(str(error).split())
        if "too many clients" in text or "remaining connection slots" in text or "too many connections" in text:
            return BackendError(
                f"PostgreSQL at {self.place} takes no further connection; each live episode needs one: raise "
                f"max_connections there (episodes at once + 10), or play fewer at once. It said: {text[:200]}"
            )
        return BackendError(f"PostgreSQL at {self.place} cannot be reached: {text[:300]}")

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._run(statement, *values)
        except psycopg.Error as error:
            raise self._told(error) from error

    def _run(self, statement: str, *values: Any) -> list[Any]:
        with self._lock:
            cursor = self._main.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def _told(self, error: psycopg.Error) -> BackendError:
        if self._main.broken:
            return self._refused(error)
        hint = "the user needs the right CREATEDB: " if isinstance(error, errors.InsufficientPrivilege) else ""
        return BackendError(f"PostgreSQL at {self.place}: {hint}{' '.join(str(error).split())[:300]}")

    # -- databases

    def create(self, kind: str, template: str) -> str | None:
        """A new database of this process, ``slot`` or ``build``, as a copy of a template; None if that is not there."""
        name = f"tbx_{kind}_{self.token:016x}_{next(self._numbers)}"
        how = "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'" if template == "template0" else ""
        try:
            self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {how}')
        except errors.InvalidCatalogName:
            return None
        except psycopg.Error as error:
            raise self._told(error) from error
        return name

    def exists(self, name: str) -> bool:
        """Whether there is a database of this name."""
        return bool(self._ask("SELECT 1 FROM pg_database WHERE datname = $1", name))

    def publish(self, built: str, name: str) -> None:
        """A finished database becomes a template, which nobody can connect to and change; dropped if there is one."""
        try:
            self._run(f'ALTER DATABASE "{built}" WITH ALLOW_CONNECTIONS false')
            self._run(f'ALTER DATABASE "{built}" RENAME TO "{name}"')
        except (errors.DuplicateDatabase, errors.UniqueViolation):  # made meanwhile, from another database
            self.drop(built)
        except psycopg.Error as error:
            raise self._told(error) from error

    def drop(self, name: str) -> None:
        """Drop a database that nobody is connected to; one in use, or of another user, is left."""
        try:
            self._run(f'DROP DATABASE IF EXISTS "{name}"')
        except (errors.ObjectInUse, errors.InsufficientPrivilege):
            return
        except psycopg.Error as error:
            raise self._told(error) from error

    @contextmanager
    def holding(self, key: int) -> Generator[None]:
        """While this runs, no other process that asks for the same lock in the same database runs."""
        with self._lock:
            self._ask("SELECT pg_advisory_lock($1::bigint)", key)
            try:
                yield
            finally:
                self._ask("SELECT pg_advisory_unlock($1::bigint)", key)

    def reap(self) -> list[str]:
        """Drop the databases of processes that are gone; their names."""
        names = [name for (name,) in self._ask("SELECT datname FROM pg_database WHERE datname LIKE 'tbx\\_%'")]
        owned = [(int(found[1], 16), name) for name in names if (found := _OWNED.fullmatch(name))]
        dropped: list[str] = []
        alive = {token for (token,) in self._ask(HELD)} if owned else set[int]()
        for token, group in itertools.groupby(sorted(owned), key=lambda item: item[0]):
            if token in alive or not self._ask("SELECT pg_try_advisory_lock($1::bigint)", token)[0][0]:
                continue
            for _, name in group:
                self.drop(name)
                dropped.append(name)
            self._ask("SELECT pg_advisory_unlock($1::bigint)", token)
        return dropped

    def close(self) -> None:
        """Let go of the server; databases that are left are the next one's to drop."""
        self._main.close()


_connections: WeakSet[Connection[Any]] = WeakSet()
_servers: dict[str, Server] = {}
_opening = threading.Lock()


def server(url: str) -> Server:
    """The process's own `Server` for a URL, made anew if its connection was lost."""
    with _opening:
        found = _servers.get(url)
        if found is None or not found.alive:
            found = _servers[url] = Server(url)
        return found


def _forget() -> None:
    """In a forked child: the sockets are the parent's, so its own descriptors of them become dead ends.

    A word sent over one would be the parent's word, and one kept open would hold the parent's lock after its end.
    """
    global _opening
    dead, other = socket.socketpair()
    other.close()
    for connection in _connections:
        if not connection.closed:
            os.dup2(dead.fileno(), connection.fileno())
    dead.close()
    _connections.clear()
    _servers.clear()
    _opening = threading.Lock()


os.register_at_fork(after_in_child=_forget)
