"""A PostgreSQL server for tests: the one that TB_POSTGRES_URL names, or one started here from Debian's programs.

On a socket in a folder of its own, as a user that is not root, without fsync; it ends with the process that started it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import psycopg
import pytest
from services import skip_or_fail

FLAGS = ("listen_addresses=", "max_connections=200", "fsync=off", "synchronous_commit=off", "full_page_writes=off")


def missing() -> str:
    """Why no server can be had on this machine; empty if one can."""
    if os.environ.get("TB_POSTGRES_URL") or _programs() is not None:
        return ""
    return "no PostgreSQL: set TB_POSTGRES_URL, install Debian's `postgresql`, or run `.ci/postgres.sh --install ...`"


def url_or_skip() -> str:
    """The server's URL. Without one the test is skipped with the reason; in CI it fails."""
    skip_or_fail(missing())
    return os.environ.get("TB_POSTGRES_URL") or started()[0]


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    return found[-1].parent if found else None


@cache
def started() -> tuple[str, subprocess.Popen[bytes]]:
    """A server of this process, and its process."""
    programs = _programs()
    assert programs is not None
    memory = Path("/dev/shm")  # copying a database is file work
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 4 << 30
    folder = Path(tempfile.mkdtemp(prefix="tbx-pg-", dir=memory if roomy else None))
    root = os.getuid() == 0
    user: dict[str, str | int] = {"user": "postgres", "group": "postgres"} if root else {}
    if root:
        shutil.chown(folder, "postgres", "postgres")
    initdb = [programs / "initdb", "-D", folder / "data", "-U", "tbx", "-A", "trust", "--locale=C", "--no-sync"]
    subprocess.run([*initdb, "--encoding=UTF8"], check=True, capture_output=True, cwd=folder, **user)  # type: ignore[call-overload]
    tied = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
    flags = [word for flag in FLAGS for word in ("-c", flag)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*tied, programs / "postgres", "-D", folder / "data", "-k", folder, *flags],
            stdout=log,
            stderr=log,
            cwd=folder,
            **user,  # type: ignore[call-overload]
        )
    atexit.register(_stop, server, folder)
    url = f"postgresql://tbx@/postgres?host={folder}"
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(url).close()
            return url, server
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL did not start: {error}\n{(folder / 'log').read_text()[-800:]}")
            time.sleep(0.05)


def _stop(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.send_signal(2)  # SIGINT: end all connections, then end
    server.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something that a server does in its own time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
