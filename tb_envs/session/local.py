"""The embedded backend: tools dispatched directly over the in-memory store. The default, and the reference for others.

One call is one transaction: whatever goes wrong in a tool, nothing of it stays, ids included. What the agent provokes
in the database (a constraint, an oversize number) is an error result; anything else that breaks is a `BackendError`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

from tb_envs.authoring.scenario import ToolFault
from tb_envs.errors import BackendError, ToolError
from tb_envs.session.backend import ToolResult, as_text, check_call, error_result
from tb_envs.store.db import Db, IdSource
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange
from tb_envs.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from tb_envs.task import Task  # a session needs no task's family, customer or grader; a container has none of them


class LocalBackend:
    """A task's tool session in this process."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.tools = task.tools
        self.store = SqliteStore(task.domain.image, task.pages, task.domain.specs)
        self._ids = IdSource()
        self.db = Db(self.store.connection, self.store.raw, task.domain.specs, self._ids, task.now, task.articles)
        self._faults = {(fault.tool, fault.nth): fault for fault in task.scenario.tool_faults}
        self._counts: dict[str, int] = {}
        self._changes: list[RowChange] = []
        self._call = 0

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Check the arguments, run the tool in a transaction, return what the agent reads."""
        if self.store.closed:  # its connection may serve another episode by now
            raise BackendError("this session is closed")
        self._call += 1
        call = check_call(self.tools, tool, arguments)
        if isinstance(call, ToolResult):
            return call
        found, checked = call
        fault = self._due_fault(tool)
        if fault is not None and not fault.applied:
            return error_result("temporary_failure", fault.says, checked)
        try:
            if found.effect == "write":
                data = self._write(found.function, checked)
            else:
                data = found.function(self.db, **checked)
        except ToolError as error:
            return error_result("refused", str(error), checked)
        except (DBAPIError, sqlite3.Error, OverflowError) as error:
            return error_result("refused", f"The records do not allow this: {_root(error)}.", checked)
        except Exception as error:
            raise BackendError(f"tool {tool} broke: {type(error).__name__}: {error}") from error
        if fault is not None:
            return error_result("temporary_failure", fault.says, checked)
        return ToolResult(True, data, as_text(data), checked)

    def _write(self, function: Any, checked: Mapping[str, Any]) -> dict[str, Any]:
        self._ids.mark()
        self.store.begin()
        try:
            data = function(self.db, **checked)
            self._changes += self.store.commit(self._call)
        except BaseException:
            self.store.rollback()
            self._ids.roll_back()
            raise
        return data

    def _due_fault(self, tool: str) -> ToolFault | None:
        if not self._faults:
            return None
        nth = self._counts[tool] = self._counts.get(tool, 0) + 1
        return self._faults.get((tool, nth))

    def take_changes(self) -> list[RowChange]:
        """Row changes since the last time this was asked."""
        changes, self._changes = self._changes, []
        return changes

    def dump(self) -> Dump:
        """The whole database, canonically."""
        return self.store.dump()

    def close(self) -> None:
        """Give the database back. Idempotent."""
        self.store.close()


def _root(error: BaseException) -> str:
    return str(getattr(error, "orig", None) or error)[:200]
