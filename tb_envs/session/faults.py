"""Seeded faults of a backend: what a network and a host do in real life, reproducible.

``faults={"timeout": 0.02, "crash": 0.01}`` are chances per call. Both raise `BackendError`, so an episode ends as
``error:backend``; a crash also makes every later call of the episode fail, and a time-out may come after the change was
made. They are system errors, unlike a task's own `ToolFault`, which the agent reads and must handle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_envs.authoring.rng import Rng
from tb_envs.errors import BackendError
from tb_envs.session.backend import Backend, ToolResult
from tb_envs.settings import check_rates
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange


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
