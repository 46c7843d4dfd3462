"""Who owns a container: this process, named so that any other process can tell whether it still lives.

A process id alone may have been given to another by now; so the time it started, its PID namespace and the machine's
boot are part of the name. Where one of these cannot be compared, an owner counts as living: the lease decides then.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def owner() -> str:
    """This process: boot, namespace, process id, start."""
    return _name_of(os.getpid())


@cache
def _name_of(process: int) -> str:
    return f"{_boot()}/{_namespace()}/{process}/{_started(process)}"


def is_dead(name: str) -> bool:
    """Whether an owner is certainly gone."""
    boot, _, rest = name.partition("/")
    namespace, _, rest = rest.partition("/")
    process, _, started = rest.partition("/")
    if not process.isdigit() or not started or not _boot():
        return False
    if boot != _boot():
        return True
    return namespace == _namespace() and _started(int(process)) != started


def _started(process: int) -> str:
    """Ticks between boot and the process's start; empty if there is no such process."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


@cache
def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        return ""
