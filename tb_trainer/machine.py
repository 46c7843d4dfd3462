"""What this machine has: the memory that a process may use, for plans of runs on CPUs. Refuses nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

ROOT = Path("/")


def machine_memory(root: Path = ROOT) -> int:
    """Bytes of memory that this process may use: the machine's, or its control group's limit if that is lower.

    Swap is not counted. Limits are those of Linux's control groups, version 2 (of this process's group and of all that
    hold it) and 1 (as a container sees it).

    Args:
        root: where ``proc`` and ``sys`` are.

    Returns:
        0 where nothing says how much there is.
    """
    groups = root / "sys/fs/cgroup"
    limits = [groups / "memory.max", groups / "memory/memory.limit_in_bytes"]
    for line in _read(root / "proc/self/cgroup").splitlines():
        if line.startswith("0::/"):
            own = groups / line.removeprefix("0::/").strip()
            limits += [folder / "memory.max" for folder in (own, *own.parents) if folder.is_relative_to(groups)]
    found = [int(text) for path in limits if (text := _read(path).strip()).isdecimal()]  # "max": no limit
    with suppress(AttributeError, OSError, ValueError):  # not on this system
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min((size for size in found if size > 0), default=0)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""
