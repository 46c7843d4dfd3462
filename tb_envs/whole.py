"""A file that is there whole or not at all, whenever its writer is killed. Refuses nothing; errors are the system's."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, also after a power failure; until then the old one stays."""
    rest = path.with_name(f"{path.name}.tmp")
    try:
        with rest.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(rest, path)
    except BaseException:
        rest.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
