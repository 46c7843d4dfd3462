"""Seeded faults of a backend: what a network and a host do in real life, reproducible.

``faults={"timeout": 0.02, "crash": 0.01}`` are chances per call. Both raise `BackendError`, so an episode ends as
``error:backend``; a crash also makes every later call of the episode fail, and a time-out may come after the change was
made. They are system errors, unlike a task's own `ToolFault`, which the agent reads and must handle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_envs.authoring.rng import Rng
from tb_envs.errors import BackendError, UsageError
from tb_envs.session.backend import Backend, ToolResult
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange

KINDS = ("timeout", "crash")


def check_rates(faults: Mapping[str, float]) -> dict[str, float]:
    """The rates, or a `UsageError` that says what is valid."""
    for kind, rate in faults.items():
        if kind not in KINDS:
            raise UsageError(f"unknown fault {kind!r}; valid: {', '.join(KINDS)}")
        if type(rate) not in (int, float) or not 0 <= rate <= 1:
            raise UsageError(f"fault {kind!r} has rate {rate!r}; a chance per call from 0 to 1 is meant")
    if sum(faults.values()) > 1:
        raise UsageError("the fault rates sum to more than 1")
    return dict(faults)


class FaultyBackend:
    """A backend that sometimes fails, by the numbers of a seeded stream."""

    def __init__(self, inner: Backend, faults: Mapping[str, float], *stream: object) -> None:
        self._inner = inner
        self._rates = check_rates(faults)
        self._rng = Rng("faults", *stream)
        self._dead = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Pass the call on, or fail."""
        if self._dead:
            raise BackendError("the backend is gone (injected crash)")
        done_first = self._rng.chance(0.25)
        point = self._rng.between(0, 999_999) / 1_000_000
        crash, timeout = self._rates.get("crash", 0.0), self._rates.get("timeout", 0.0)
        if point < crash:
            self._dead = True
            raise BackendError(f"the backend crashed in {tool} (injected)")
        if point < crash + timeout:
            if done_first:
                await self._inner.call(tool, arguments)
            raise BackendError(f"{tool} timed out (injected)")
        return await self._inner.call(tool, arguments)

    def take_changes(self) -> list[RowChange]:
        """As the inner backend."""
        return self._inner.take_changes()

    def dump(self) -> Dump:
        """As the inner backend."""
        return self._inner.dump()

    def close(self) -> None:
        """As the inner backend."""
        self._inner.close()
