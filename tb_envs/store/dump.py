"""The canonical dump of a database: the same state gives the same text on any machine. Slow on purpose: for proofs."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from tb_envs.authoring.models import TableSpec

Dump = dict[str, dict[str, tuple[Any, ...]]]


def canonical_dump(raw: sqlite3.Connection, specs: Mapping[str, TableSpec]) -> Dump:
    """Table → key → values, tables and keys sorted."""
    out: Dump = {}
    for name in sorted(specs):
        columns = ", ".join(f'"{column}"' for column in specs[name].columns)
        place = specs[name].columns.index("id")
        rows = raw.execute(f'SELECT {columns} FROM "{name}" ORDER BY id').fetchall()
        out[name] = {row[place]: tuple(row) for row in rows}
    return out


def dump_hash(dump: Dump) -> str:
    """SHA-256 of a canonical dump."""
    return hashlib.sha256(canonical_json(dump).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no blanks; the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
