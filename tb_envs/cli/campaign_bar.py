"""A campaign's progress on the error stream: a bar in a terminal, else a line now and then, for the log of a job."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from tb_envs.cli.screen import screen
from tb_envs.evaluation.running import Running

LINE_EVERY = 60.0
"""Seconds between two lines where there is no terminal."""
LOOK_EVERY = 1.0
"""Seconds between two looks whether a server makes all wait."""


class Figures(ProgressColumn):
    """The running figures, computed when the bar is drawn."""

    max_refresh = 1.0

    def __init__(self, running: Running) -> None:
        super().__init__()
        self._running = running

    def render(self, task: Task) -> Text:
        """As short as they can be."""
        return Text(self._running.show())


class Lines:
    """Progress where no line can be redrawn."""

    def __init__(self, running: Running, what: str) -> None:
        self._running, self._what = running, what
        self._last = time.monotonic()
        self._told = -math.inf
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def close(self) -> None:
        """No more lines."""
        self._over.set()
        self._watch.join()

    def _look(self) -> None:
        """A line while nothing goes on, though no row comes: at once, and then now and then."""
        while not self._over.wait(LOOK_EVERY):
            notice, now = self._running.notice(), time.monotonic()
            if notice and now - self._told >= LINE_EVERY:
                self._told = now
                print(
                    f"{self._what}: {self._running.done}/{self._running.total} · {notice}", file=sys.stderr, flush=True
                )

    def advance(self) -> None:
        """A line, if the last one is some time ago."""
        now = time.monotonic()
        if now - self._last >= LINE_EVERY:
            self._last = now
            running = self._running
            print(f"{self._what}: {running.done}/{running.total} · {running.show()}", file=sys.stderr, flush=True)


@contextmanager
def campaign_bar(running: Running, what: str, *, quiet: bool = False) -> Generator[None]:
    """Show `running` while it grows; nothing when `quiet`."""
    if quiet:
        yield
        return
    if not sys.stderr.isatty() or os.environ.get("TERM", "") in ("", "dumb"):
        lines = Lines(running, what)
        running.on_change = lines.advance
        try:
            yield
        finally:
            lines.close()
        return
    columns = (TextColumn("{task.description}"), BarColumn(16), MofNCompleteColumn(), Figures(running))
    with Progress(*columns, console=screen(errors=True), transient=True, refresh_per_second=2) as bar:
        shown = bar.add_task(what, total=running.total)
        running.on_change = lambda: bar.update(shown, completed=running.done)
        yield
