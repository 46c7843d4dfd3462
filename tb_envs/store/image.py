"""The seed image: a company's database as immutable bytes, built once, and a task's pages on top of it.

A task differs from the seed in a few dozen pages; only those are kept, so hundreds of tasks cost a few megabytes and a
reset is one copy. Images are a way to be fast: what identifies a state is its canonical dump, never these bytes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
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
SPARE = 16
"""Empty pages in the seed image: an image that has to grow is copied whole by SQLite, in the middle of a tool call."""


@dataclass(frozen=True)
class Pages:
    """What a task changes of the seed image: runs of whole pages by place, and the image's new length."""

    length: int
    changed: tuple[tuple[slice, bytes], ...]

    def load(self, raw: sqlite3.Connection, seed: bytes) -> None:
        """Make the task's image the whole content of a connection.

        The pages are laid into a kept copy of the seed and taken out again: writing a few dozen pages is cheaper than
        copying all of them once more than SQLite does.
        """
        canvas, blank = _canvas(seed, self.length)
        try:
            for place, run in self.changed:
                canvas[place] = run
            raw.deserialize(canvas[: self.length])
        finally:
            for place, _ in self.changed:
                canvas[place] = blank[place]


def _canvas(seed: bytes, length: int) -> tuple[memoryview, memoryview]:
    """The thread's copy of a seed image, to write on, and the seed to restore it from; zeros follow in both."""
    canvases: dict[bytes, tuple[memoryview, memoryview]] = _kept.__dict__.setdefault("canvases", {})
    known = canvases.get(seed)
    if known is None or len(known[0]) < length:
        blank = seed.ljust(length + len(seed), b"\0")
        known = canvases[seed] = (memoryview(bytearray(blank)), memoryview(blank))
    return known


def empty_image() -> bytes:
    """A database without tables, in one page."""
    raw = sqlite3.connect(":memory:", isolation_level=None)
    raw.execute(f"PRAGMA page_size={PAGE}")
    raw.execute("PRAGMA user_version=1")  # nothing has been written before
    image = raw.serialize()
    raw.close()
    return image


def build_seed(base: type[DeclarativeBase], specs: Mapping[str, TableSpec], world: World) -> bytes:
    """Create the schema through SQLAlchemy, insert the world's rows, add the journal; return the image.

    It is not packed by VACUUM: in full pages every row of a task would split one, and touch three more.
    """
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
    raw.execute("CREATE TABLE spare (x)")
    raw.execute("INSERT INTO spare VALUES (zeroblob(?))", (SPARE * PAGE,))
    raw.execute("DROP TABLE spare")
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
    runs: list[slice] = []
    for start in _comparison()(seed, image):
        first = runs.pop().start if runs and runs[-1].stop == start else start
        runs.append(slice(first, start + PAGE))
    return Pages(len(image), tuple((run, image[run]) for run in runs))


Comparison = Callable[[bytes, bytes], list[int]]
"""Of a seed and an image: where the pages begin that the image has otherwise, or has alone."""


@cache
def _comparison() -> Comparison:
    """The quick one where NumPy is, as on every trainer; a container has none."""
    try:
        import numpy as np
    except ImportError:
        return changed_pages

    def compare(seed: bytes, image: bytes) -> list[int]:
        old, new = (np.frombuffer(whole, np.uint64, len(seed) // 8).reshape(-1, PAGE // 8) for whole in (seed, image))
        places: list[int] = (np.flatnonzero((old != new).any(axis=1)) * PAGE).tolist()
        return [*places, *range(len(seed), len(image), PAGE)]

    return compare


def changed_pages(seed: bytes, image: bytes) -> list[int]:
    """The comparison on the standard library: three times as long, 0.1 ms for a company."""
    old = range(0, len(seed), PAGE)
    places = [start for start in old if seed[start : start + PAGE] != image[start : start + PAGE]]
    return [*places, *range(len(seed), len(image), PAGE)]


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
        _run(raw, _insertion(name, tuple(row)), (*row.values(),), name, row)
    for name, row in updates:
        rest = {column: value for column, value in row.items() if column != "id"}
        _run(raw, _assignment(name, tuple(rest)), (*rest.values(), row["id"]), name, row)
    raw.execute("COMMIT")


@cache
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{column}"' for column in columns)
    return f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(columns))})'


@cache
def _assignment(table: str, columns: tuple[str, ...]) -> str:
    changes = ", ".join(f'"{column}"=?' for column in columns)
    return f'UPDATE "{table}" SET {changes} WHERE id=?'


def _run(raw: sqlite3.Connection, statement: str, values: tuple[Any, ...], table: str, row: dict[str, Any]) -> None:
    try:
        raw.execute(statement, values)
    except sqlite3.Error as error:
        raise DomainError(f"{table} {row.get('id')}: {error}; row {row}") from error
