"""How a synchronous face takes a step of an episode: inline where nothing suspends, else on the process's event loop.

Imports nothing heavy; the loop is made when a step first needs it.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def drive(step: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, with no event loop and no thread."""
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    step.close()
    raise RuntimeError("this episode does I/O: await its methods instead of driving them inline")


def complete(step: Coroutine[Any, Any, T], suspends: bool) -> T:
    """A step's result, whether or not it `suspends`."""
    if suspends:
        from tb_envs.background import wait_for

        return wait_for(step)
    return drive(step)
