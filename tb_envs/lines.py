"""A file of JSON lines that only grows, and outlives whoever writes it: recordings of customers, answers of judges.

A line is appended by one ``write``; a process that is killed inside that call leaves a line without an end, which the
next writer closes and readers pass over. `append_line` locks nothing: lines of several writers stand side by side,
whole. Files that have one writer take `hold_alone`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast


def hold_alone(file: int) -> bool:
    """Hold an open file alone until it is closed or the process ends, however it ends; False if another holds it."""
    try:
        import fcntl
    except ImportError:  # a system without advisory locks
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def append_line(path: Path, row: Mapping[str, Any]) -> None:
    """Append one object as one line."""
    body = json.dumps(row, ensure_ascii=True).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(file).st_size
        torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, b"\n" + body if torn else body)
    finally:
        os.close(file)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects in a file, in order; what is no object is passed over, and a file that is not there is empty."""
    try:
        with path.open("rb") as file:
            for line in file:
                try:
                    row: Any = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(row, dict):
                    yield cast("dict[str, Any]", row)
    except FileNotFoundError:
        return
