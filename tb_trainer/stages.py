"""Commands of `tbx`, each in a process of its own, that end when whoever started them ends.

Each is the head of a process group, so that its helpers end with it. SIGTERM and Ctrl-C, which reach the main thread,
end all that run: first with SIGTERM, and after `GRACE` seconds for good. Only SIGKILL of the parent leaves one behind;
its folder stays held then (`tb_trainer.begun.alone`). Refuses to start anything once it was told to end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tb_envs.errors import ThinkingBoxError

ENTRY = "import sys; from tb_envs.cli import main; sys.exit(main())"
GRACE = 30.0
"""Seconds that a command has to end by itself; one whose own commands must end too has twice as many."""
TAIL = 8
"""Lines of a failed command's output that are told."""


class ToldToEnd(BaseException):
    """SIGTERM has come. No `Exception`, as Ctrl-C is none."""


class Spent(NamedTuple):
    """Seconds of a command, on the clock and of the processors."""

    clock: float
    processors: float


class Stages:
    """Commands that belong together.

    Args:
        logs: a folder for what each of them prints.
        grace: seconds that they have to end by themselves.
    """

    def __init__(self, logs: Path, grace: float = GRACE) -> None:
        self._logs, self._grace = logs, grace
        self._lock = threading.Lock()
        self._running = set[int]()
        self._stopped = False
        self._cause: ThinkingBoxError | None = None

    def log(self, name: str) -> Path:
        """Where a command's output goes."""
        return self._logs / f"{name.replace(' ', '-')}.log"

    def do(self, name: str, argv: Sequence[str]) -> Spent:
        """Run one command to its end.

        Raises:
            ThinkingBoxError: it failed; the message ends with what it said.
        """
        self._logs.mkdir(parents=True, exist_ok=True)
        log, began = self.log(name), time.perf_counter()
        with log.open("w", encoding="utf-8") as file:
            with self._lock:
                if self._stopped:
                    raise ThinkingBoxError(f"{name} was not begun: the run is ending")
                process = subprocess.Popen(
                    [sys.executable, "-c", ENTRY, *argv],
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    process_group=0,
                )
                self._running.add(process.pid)
            try:
                _, status, used = os.wait4(process.pid, 0)
            finally:
                with self._lock:
                    self._running.discard(process.pid)
                _signal(process.pid, signal.SIGKILL)  # helpers that it left
        code = process.returncode = os.waitstatus_to_exitcode(status)
        if code:
            tail = "\n".join(log.read_text("utf-8", "replace").splitlines()[-TAIL:])
            error = ThinkingBoxError(f"{name} ended with {code} ({log}):\n{tail}")
            with self._lock:
                if not self._stopped and self._cause is None:
                    self._cause = error
            raise error
        return Spent(time.perf_counter() - began, used.ru_utime + used.ru_stime)

    def run(self, work: Callable[[], None]) -> None:
        """Do some work, in a thread of its own, whose commands end if it fails or this process is told to end.

        Raises:
            ThinkingBoxError: a command failed; the first one, where others were ended because of it.
            ToldToEnd: SIGTERM came.
            KeyboardInterrupt: Ctrl-C came.
        """
        # Signals reach the main thread, which does nothing but wait: no command can be begun and not yet be known.
        with _told(), ThreadPoolExecutor(1) as one:
            try:
                one.submit(work).result()
            except BaseException as error:
                self.stop()
                if isinstance(error, ThinkingBoxError) and self._cause is not None:
                    raise self._cause from None
                raise

    def stop(self) -> None:
        """End all that run, and begin nothing more."""
        with self._lock:
            self._stopped = True
        until = time.perf_counter() + self._grace
        self._tell(signal.SIGTERM)
        while self._running and time.perf_counter() < until:
            time.sleep(0.05)
        self._tell(signal.SIGKILL)

    def _tell(self, number: signal.Signals) -> None:
        with self._lock:
            for group in self._running:
                _signal(group, number)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # all of it has ended
        os.killpg(group, number)


@contextmanager
def _told() -> Iterator[None]:
    """A block in which SIGTERM raises `ToldToEnd`, as Ctrl-C raises `KeyboardInterrupt`; in the main thread only."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _tell_once)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _tell_once(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is being ended is given its time
    raise ToldToEnd
