"""Threads for functions that block, which hold up nobody who wants to end: neither a campaign nor the process.

An executor of the standard library waits for its threads when the process ends, and so for a function that is stuck.
Refuses to stop a function: one that is running runs on until it returns or the process is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Outcome = tuple[Any, BaseException | None]


class Threads:
    """Runs blocking functions for one event loop, each in a thread that is free; none is started before it is needed.

    Args:
        most: threads.
        name: of them.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = 0
        self._open = 0
        """Calls that have not returned, also those that nobody waits for any more."""

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns, or raises, whatever it is."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()

        def settle(outcome: Outcome) -> None:
            self._open -= 1
            if not future.done():
                future.set_result(outcome)

        def run() -> None:
            outcome: Outcome
            try:
                outcome = function(*arguments), None
            except BaseException as error:  # told to who waits, where it belongs
                outcome = None, error
            with contextlib.suppress(RuntimeError):  # the loop is gone, and so is who waits
                loop.call_soon_threadsafe(settle, outcome)

        self._open += 1
        self._calls.put(run)
        if self._threads < min(self._most, self._open):
            self._threads += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._threads}", daemon=True).start()
        value, error = await future
        if error is not None:
            raise error
        return value

    def _work(self) -> None:
        while (run := self._calls.get()) is not None:
            run()

    def close(self) -> None:
        """Let the threads end as soon as each is free; waits for none."""
        for _ in range(self._threads):
            self._calls.put(None)
