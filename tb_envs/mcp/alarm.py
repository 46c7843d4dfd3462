"""A deadline for code that does not suspend: a timer signal that raises in the middle of it.

A coroutine is driven stretch by stretch: the timer runs only while its own code does, never while the event loop waits,
so that it can ring in nothing but the session that it was set for. A statement of SQLite is ended in its middle. Works
in a process's main thread, once `install` was called there; elsewhere nothing is timed. Refuses to end what never comes
back to Python, such as one `sum` over a huge range.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from tb_envs.errors import BackendError
from tb_envs.store.sqlite import heed_signals

T = TypeVar("T")
LEAST = 0.5
"""Seconds, at most the deadline itself, that a late stretch has: what is given up can still let go of what it holds."""
AGAIN = 1.0
"""Seconds until it rings again: what it raised may have been swallowed, as in a finalizer."""
_installed = False
_armed = False


def install() -> None:
    """Let code be timed in this process, from now on. Does nothing outside the main thread."""
    global _installed
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, _ring)
        heed_signals()
        _installed = True


def _ring(number: int, frame: Any) -> None:
    if _armed:  # a signal may be seen a moment after its timer was stopped
        raise BackendError("it did not end in time")


@contextmanager
def _within(seconds: float) -> Generator[None]:
    """Raise `BackendError` in what runs inside if it is not done in so many seconds. Nothing inside may suspend."""
    global _armed
    if not _installed or threading.current_thread() is not threading.main_thread():
        yield
        return
    _armed = True
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        _armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)


class Timed(Generic[T]):
    """A coroutine to be awaited, no stretch of which may run past the deadline.

    What it waits for has no deadline here; the event loop's own (`asyncio.timeout`) goes round it.

    Args:
        step: the coroutine.
        seconds: from when it is awaited.
    """

    def __init__(self, step: Coroutine[Any, Any, T], seconds: float) -> None:
        self._step = step
        self._seconds = seconds

    def __await__(self) -> Generator[Any, Any, T]:
        """Drive it.

        Raises:
            BackendError: a stretch did not end in time.
        """
        step, until = self._step, time.monotonic() + self._seconds
        error: BaseException | None = None
        try:
            while True:
                left = max(until - time.monotonic(), min(LEAST, self._seconds))
                try:
                    with _within(left):
                        awaited = step.send(None) if error is None else step.throw(error)
                except StopIteration as done:
                    return done.value
                error = None
                try:
                    yield awaited
                except BaseException as thrown:  # a cancellation, which is the coroutine's to hear
                    error = thrown
        finally:
            step.close()
