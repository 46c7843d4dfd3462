"""The seed image: a company's database as immutable bytes, built once, and a task's pages on top of it.

A task differs from the seed in a few dozen pages; only those are kept, so hundreds of tasks cost a few megabytes and a
reset is one copy. Images are a way to be fast: what identifies a state is its canonical dump, never these bytes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import StaticPool

from tb_envs.authoring.models import TableSpec
from tb_envs.authoring.world import World
from tb_envs.errors import DomainError
from tb_envs.store.journal import TABLE, sqlite_ddl

_kept = threading.local()
PAGE = 1024
"""Bytes per page: small pages keep both the image and a task's share of it small."""


@dataclass(frozen=True)
class Pages:
    """What a task changes of the seed image: runs of whole pages by place, and the image's new length."""

    length: int
    changed: tuple[tuple[int, bytes], ...]

    def load(self, raw: sqlite3.Connection, seed: bytes) -> None:
        """Make the task's image the whole content of a connection.

        The pages are laid into a kept copy of the seed and taken out again: writing a few dozen pages is cheaper than
        copying all of them once more than SQLite does.
        """
        canvas = _canvas(seed)
        if len(canvas) < self.length:
            canvas.extend(bytes(self.length - len(canvas)))
        try:
            for start, run in self.changed:
                canvas[start : start + len(run)] = run
            raw.deserialize(memoryview(canvas)[: self.length])
        finally:
            for start, run in self.changed:
                canvas[start : start + len(run)] = seed[start : start + len(run)].ljust(len(run), b"\0")


def _canvas(seed: bytes) -> bytearray:
    """The thread's copy of a seed image."""
    canvases: dict[int, tuple[bytes, bytearray]] = _kept.__dict__.setdefault("canvases", {})
    if id(seed) not in canvases:
        canvases[id(seed)] = (seed, bytearray(seed))  # the seed is kept too, so its id stays its own
    return canvases[id(seed)][1]


def build_seed(base: type[DeclarativeBase], specs: Mapping[str, TableSpec], world: World) -> bytes:
    """Create the schema through SQLAlchemy, insert the world's rows, add the journal; return the image."""
    raw = sqlite3.connect(":memory:", isolation_level=None)
    raw.execute(f"PRAGMA page_size={PAGE}")
    raw.execute("PRAGMA foreign_keys=ON")
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    for table in base.metadata.tables.values():  # keys are text: one tree instead of a table and an index
        table.dialect_options["sqlite"]["with_rowid"] = False
    base.metadata.create_all(engine)
    _write(raw, world)
    for statement in sqlite_ddl(specs):
        raw.execute(statement)
    raw.execute("VACUUM")
    image = raw.serialize()
    engine.dispose()
    return image


def build_pages(seed: bytes, world: World) -> Pages:
    """The pages that a task's rows change in the seed image."""
    raw = _workbench()
    raw.deserialize(seed)
    _write(raw, world)
    raw.execute(f"DELETE FROM {TABLE}")
    image = raw.serialize()
    changed: list[tuple[int, bytes]] = []
    for start in range(0, len(image), PAGE):
        page = image[start : start + PAGE]
        if page != seed[start : start + PAGE]:
            if changed and changed[-1][0] + len(changed[-1][1]) == start:
                changed[-1] = (changed[-1][0], changed[-1][1] + page)
            else:
                changed.append((start, page))
    return Pages(len(image), tuple(changed))


def _workbench() -> sqlite3.Connection:
    """The thread's connection for building tasks: kept, because a new one would read the schema again (1 ms)."""
    raw: sqlite3.Connection | None = getattr(_kept, "raw", None)
    if raw is None:
        raw = _kept.raw = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256)
        raw.execute("PRAGMA foreign_keys=ON")
    if raw.in_transaction:  # the task before broke while it was written
        raw.execute("ROLLBACK")
    return raw


def _write(raw: sqlite3.Connection, world: World) -> None:
    inserts, updates = world.patch()
    raw.execute("BEGIN")
    for name, row in inserts:
        columns = ", ".join(f'"{column}"' for column in row)
        _run(raw, f'INSERT INTO "{name}" ({columns}) VALUES ({", ".join("?" * len(row))})', row, name)
    for name, row in updates:
        assignments = ", ".join(f'"{column}"=:{column}' for column in row if column != "id")
        _run(raw, f'UPDATE "{name}" SET {assignments} WHERE id=:id', row, name)
    raw.execute("COMMIT")


def _run(raw: sqlite3.Connection, statement: str, row: dict[str, Any], table: str) -> None:
    try:
        raw.execute(statement, row if ":id" in statement else tuple(row.values()))
    except sqlite3.Error as error:
        raise DomainError(f"{table} {row.get('id')}: {error}; row {row}") from error
