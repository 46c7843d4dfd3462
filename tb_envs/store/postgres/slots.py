"""Databases that episodes are played in, one after another: each a copy of its domain's template, with a connection.

A slot is reset by rolling back the one transaction that the episode before it was; nothing was ever committed, so
nothing can survive; one whose transaction is not what it should be is dropped, and a forked child has none. A domain's
template is built once per server and kept, named after the hash of schema and rows.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from functools import lru_cache
from typing import Any

import psycopg

from tb_envs.authoring.domain import Domain
from tb_envs.errors import BackendError
from tb_envs.store.dump import canonical_json
from tb_envs.store.journal import TABLE
from tb_envs.store.postgres.schema import rows_sql, schema_ddl
from tb_envs.store.postgres.server import Server, server

SWEPT = 50
"""Episodes after which a slot's tables are vacuumed of what was rolled back in them."""
READ = f"SELECT seq, tbl, key, before, after FROM {TABLE} WHERE seq > %d ORDER BY seq"
IDLE, WITHIN = psycopg.pq.TransactionStatus.IDLE, psycopg.pq.TransactionStatus.INTRANS
_DONE = psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.TUPLES_OK


class Slot:
    """One database and its connection."""

    def __init__(self, home: Server, template: str, name: str) -> None:
        self.home = home
        self.template = template
        self.name = name
        self.episodes = 0
        self.spoilt = False
        """Whether its transaction was once not what it should be: then it may hold what an episode wrote."""
        self._owner = os.getpid()
        try:
            self.connection = home.connect(name)
        except BaseException:
            home.drop(name)
            raise

    @property
    def mine(self) -> bool:
        """Whether this process opened it; a forked child did not."""
        return self._owner == os.getpid()

    def expect(self, status: psycopg.pq.TransactionStatus) -> None:
        """Hold the connection to what the server said last of its transaction.

        Raises:
            psycopg.OperationalError: it is another; the slot will be dropped.
        """
        found = psycopg.pq.TransactionStatus(self.connection.pgconn.transaction_status)
        if found != status:
            self.spoilt = True
            raise psycopg.OperationalError(f"the episode's transaction is {found.name}, not {status.name}")

    def script(self, text: str) -> Any:
        """Run statements in one round trip, past the driver's own book-keeping; the last one's result.

        The driver would forget its prepared statements at every ROLLBACK; here no rollback can undo what they rely on.

        Raises:
            psycopg.Error: one of them failed.
        """
        done = self.connection.pgconn.exec_(text.encode())
        if done.status not in _DONE:
            raise psycopg.errors.error_from_result(done)
        return done

    def start(self, rows: str, deadline: float | None = None) -> None:
        """Begin an episode: a transaction with a task's rows, an empty journal, and the savepoint of the first call.

        Args:
            rows: the script that writes them.
            deadline: seconds for one of the episode's statements, in place of the connection's own.
        """
        self.expect(IDLE)
        limit = "" if deadline is None else f"SET LOCAL statement_timeout = {max(1, round(1000 * deadline))};\n"
        self.script(f"BEGIN;\n{rows};\nDELETE FROM {TABLE};\n{limit}SAVEPOINT call")
        self.expect(WITHIN)
        self.episodes += 1

    def end(self) -> None:
        """End the episode as if it had never begun. It fails if the episode's transaction is there no more."""
        self.expect(WITHIN)
        self.script("RELEASE SAVEPOINT call; ROLLBACK")
        self.expect(IDLE)
        if self.episodes % SWEPT == 0:
            self.script("VACUUM")

    def drop(self) -> None:
        """Close the connection and drop the database."""
        self.connection.close()
        self.home.drop(self.name)


_idle: dict[tuple[int, str], list[Slot]] = {}
"""By server and template, as many as were ever live at once: to drop and make one again costs a hundred resets."""
_lock = threading.Lock()


def take(url: str, domain: Domain) -> Slot:
    """An idle slot of this domain, or a new one.

    Raises:
        BackendError: the server cannot be reached, or has no room for another.
        UsageError: the URL is none.
    """
    home = server(url)
    try:
        return _take(home, domain)
    except BackendError:
        if home.alive:
            raise
    return _take(server(url), domain)  # the connection was lost while nobody used it, as when the server started again


def _take(home: Server, domain: Domain) -> Slot:
    template = _template(home, domain)
    with _lock:
        if waiting := _idle.get((home.token, template)):
            return waiting.pop()
    name = home.create("slot", template)
    if name is None:  # somebody has dropped the template
        home.templates.discard(template)
        name = home.create("slot", _template(home, domain))
    if name is None:
        raise BackendError(f"PostgreSQL at {home.place}: the template {template} vanishes while it is used")
    return Slot(home, template, name)


def give(slot: Slot) -> None:
    """Give a slot back after its episode; one that cannot be reset is dropped. In a forked child nothing happens."""
    if not slot.mine:
        return
    try:
        slot.end()
    except psycopg.Error:
        slot.spoilt = True
    if slot.spoilt:
        _drop(slot)
        return
    with _lock:
        _idle.setdefault((slot.home.token, slot.template), []).append(slot)


def _drop(slot: Slot) -> None:
    try:
        slot.drop()
    except BackendError:  # the server is gone: whoever comes next on it reaps
        return


def drop_idle() -> None:
    """Drop every idle slot of this process; also done when it ends."""
    with _lock:
        slots = [slot for waiting in _idle.values() for slot in waiting]
        _idle.clear()
    for slot in slots:
        _drop(slot)


atexit.register(drop_idle)


def _forget() -> None:
    """In a forked child: the slots are the parent's."""
    global _lock
    _idle.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)


# -- templates


@lru_cache(maxsize=64)
def template_parts(domain: Domain, user: str) -> tuple[str, str, str]:
    """A domain's template of a user, who owns its tables: its name, and the scripts of its schema and its rows."""
    schema = ";\n".join(schema_ddl(domain.base, domain.specs))
    digest = hashlib.sha256(canonical_json([schema, domain.seed_rows, user]).encode()).hexdigest()[:16]
    world = domain.world(domain.specs, stream=(domain.name, "image", 0), now=domain.clock)
    world.placed = {name: dict(rows) for name, rows in domain.seed_rows.items()}
    return f"tbx_seed_{domain.name[:30]}_{digest}", schema, rows_sql(world)


def _template(home: Server, domain: Domain) -> str:
    name, schema, rows = template_parts(domain, home.user)
    if name not in home.templates:
        with home.holding(int(name[-15:], 16)):
            if not home.exists(name):
                _build(home, name, schema, rows)
        home.templates.add(name)
    return name


def _build(home: Server, name: str, schema: str, rows: str) -> None:
    built = home.create("build", "template0")
    if built is None:
        raise BackendError(f"PostgreSQL at {home.place} has no template0")
    try:
        with home.connect(built) as connection:
            for statement in (f"BEGIN;\n{schema};\n{rows};\nDELETE FROM {TABLE};\nCOMMIT", "VACUUM (FREEZE, ANALYZE)"):
                done = connection.pgconn.exec_(statement.encode())
                if done.status not in _DONE:
                    raise BackendError(f"{name} cannot be built: {done.error_message.decode().strip()[:300]}")
        home.publish(built, name)
    except BaseException:
        home.drop(built)
        raise
