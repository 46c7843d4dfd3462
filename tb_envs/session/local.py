"""The embedded backend: tools dispatched directly over a store. The one in memory is the default, and the reference.

One call is one transaction: whatever goes wrong in a tool, nothing of it stays, ids included. What the agent provokes
in the database (a constraint, an oversize number) is an error result; anything else that breaks is a `BackendError`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from sqlalchemy.exc import DBAPIError

from tb_envs.authoring.scenario import ToolFault
from tb_envs.errors import BackendError, ToolError
from tb_envs.session.backend import ToolResult, as_text, check_call, error_result
from tb_envs.store.db import Db, IdSource, refusal
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange
from tb_envs.store.sqlite import SqliteStore, is_interrupt

if TYPE_CHECKING:
    from tb_envs.task import Task  # a session needs no task's family, customer or grader; a container has none of them


class Store(Protocol):
    """What a tool session needs of its database."""

    closed: bool

    def begin(self) -> None:
        """Start the transaction of a tool call."""
        ...

    def commit(self, call: int) -> list[RowChange]:
        """End it, and return the row changes that call number `call` made."""
        ...

    def rollback(self) -> None:
        """End it as if it had never begun."""
        ...

    def dump(self) -> Dump:
        """The whole database, canonically."""
        ...

    def close(self) -> None:
        """Free it. Idempotent."""
        ...


S = TypeVar("S", bound=Store)


class ToolSession(Generic[S]):
    """A task's tool session in this process, over any store."""

    def __init__(self, task: Task, store: S, db: Db, ids: IdSource) -> None:
        self.task = task
        self.tools = task.tools
        self.store = store
        self.db = db
        self._ids = ids
        self._faults = {(fault.tool, fault.nth): fault for fault in task.scenario.tool_faults}
        self._counts: dict[str, int] = {}
        self._changes: list[RowChange] = []
        self._call = 0
        self._inside = False

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
        self._inside = True
        try:
            if found.effect == "write":
                data = self._write(found.function, checked)
            else:
                data = found.function(self.db, **checked)
        except ToolError as error:
            self._inside = False
            return error_result("refused", str(error), checked)
        except (DBAPIError, sqlite3.Error, OverflowError, UnicodeEncodeError) as error:
            if is_interrupt(getattr(error, "orig", error)):
                raise BackendError(f"{tool} did not end in time: its statement was interrupted") from error
            self._inside = False
            return error_result("refused", str(refusal(error)), checked)
        except BackendError:
            raise
        except Exception as error:
            raise BackendError(f"tool {tool} broke: {type(error).__name__}: {error}") from error
        self._inside = False
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


class LocalBackend(ToolSession[SqliteStore]):
    """A task's tool session over its own database in memory."""

    def __init__(self, task: Task) -> None:
        store, ids = SqliteStore(task.domain.image, task.pages, task.domain.specs), IdSource()
        super().__init__(
            task, store, Db(store.connection, store.raw, task.domain.specs, ids, task.now, task.articles), ids
        )

    def close(self) -> None:
        """Give the database back; with a call that never came to its end, its connection too. Idempotent."""
        self.store.close(keep=not self._inside)
