"""An event loop in a thread of its own, and the steps of episodes that wait on it for their input and output.

Episodes whose customer, judge or backend does input and output run here when who drives them is synchronous. Refuses to
play: who calls the steps, and what follows from them, is theirs (`tb_envs.env`, `tb_trainer.runner`).
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


class Step:
    """A step of an episode on the event loop; `then` is called when it has let go, if it was given up."""

    def __init__(self, step: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> None:
        self.then: Callable[[], None] | None = None
        self._ended = False
        self._loop = loop
        self.future = asyncio.run_coroutine_threadsafe(self._run(step), loop)

    async def _run(self, step: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await step
        finally:
            self._ended = True
            self._let_go()

    def _let_go(self) -> None:
        if self._ended and self.then is not None:
            self.then()
            self.then = None

    def give_up(self, then: Callable[[], None]) -> None:
        """Cancel the step."""
        self.then = then
        self.future.cancel()
        self._loop.call_soon_threadsafe(self._let_go)


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="episodes", daemon=True)
        self._thread.start()

    def submit(self, step: Coroutine[Any, Any, Any]) -> Step:
        """Run a step there."""
        return Step(step, self.loop)

    def close(self) -> None:
        """Let cancelled steps end and connections close, then stop the loop and its thread."""
        asyncio.run_coroutine_threadsafe(_settle(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _settle() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
    models = sys.modules.get("tb_envs.openai_client")
    if models is not None:  # what was not loaded has opened nothing
        await models.close_clients()
    await asyncio.get_running_loop().shutdown_asyncgens()  # `tb_envs.session.wire` closes its clients then


@cache
def shared() -> Loop:
    """The process's own loop for episodes that are driven synchronously. A forked child makes its own."""
    return Loop()


os.register_at_fork(after_in_child=shared.cache_clear)


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the shared loop, from a thread that has no loop of its own.

    An interrupt (Ctrl-C) cancels the coroutine and is raised on.
    """
    step = shared().submit(coroutine)
    try:
        return step.future.result()
    except BaseException:
        step.future.cancel()
        raise
