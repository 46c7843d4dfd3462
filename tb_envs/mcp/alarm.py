"""A deadline for code that never suspends: a timer signal that raises in the middle of it.

Works in a process's main thread, once `install` was called there; elsewhere nothing is timed. Code that suspends has
the event loop's own deadlines. Refuses to interrupt one SQL statement: Python sees a signal only between statements.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tb_envs.errors import BackendError

_installed = False


def install() -> None:
    """Let `within` time code in this process, from now on. Does nothing outside the main thread."""
    global _installed
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, _ring)
        _installed = True


def _ring(number: int, frame: Any) -> None:
    raise BackendError("it did not end in time")


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Raise `BackendError` in what runs inside if it is not done in so many seconds."""
    if not _installed or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
