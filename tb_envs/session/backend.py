"""What an episode needs of a backend: a tool session, and an admin channel the agent cannot reach.

Every backend answers the same calls with the same bytes. Its methods are coroutines because some backends do I/O; the
embedded one never suspends.
"""

from __future__ import annotations

import difflib
import importlib
import json
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tb_envs.authoring.toolset import Tool
from tb_envs.authoring.values import Json
from tb_envs.errors import ToolError
from tb_envs.settings import BACKENDS, Settings, kind_of, options_of
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange

if TYPE_CHECKING:
    from tb_envs.task import Task

as_text = json.JSONEncoder(ensure_ascii=False).encode
"""A result as the agent reads it; made once, since `json.dumps` would build an encoder for every call."""


class ToolResult(NamedTuple):
    """One answer of a tool.

    Attributes:
        ok: False for an error result.
        data: the result object, or ``{"error": {"type", "message"}}``.
        text: `data` as the JSON the agent reads.
        arguments: the arguments as checked, empty when they were refused.
    """

    ok: bool
    data: Json
    text: str
    arguments: Mapping[str, Any]


class Backend(Protocol):
    """One episode's tool session with its own fresh database."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. The agent's mistakes are error results; `BackendError` is a system error."""
        ...

    def take_changes(self) -> list[RowChange]:
        """Admin: the row changes since the last time this was asked."""
        ...

    def dump(self) -> Dump:
        """Admin: the whole database, canonically."""
        ...

    def close(self) -> None:
        """Free everything. Idempotent."""
        ...


def error_result(kind: str, message: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
    """An error result: ``unknown_tool``, ``invalid_arguments``, ``refused`` or ``temporary_failure``."""
    data = {"error": {"type": kind, "message": message}}
    return ToolResult(False, data, as_text(data), arguments or {})


class Checked(NamedTuple):
    """A call that may be carried out: the tool, and its arguments in their inner form."""

    tool: Tool
    arguments: dict[str, Any]


def check_call(tools: Mapping[str, Tool], name: str, arguments: Mapping[str, Any]) -> Checked | ToolResult:
    """The call as it is carried out, or the error result of one that names no tool or has wrong arguments.

    Every backend refuses with these words; one that does input and output refuses before anything is sent.
    """
    found = tools.get(name)
    if found is None:
        near = difflib.get_close_matches(str(name)[:80], tools, 3, 0.5)
        hint = f" Did you mean {', '.join(near)}?" if near else " See the list of tools."
        return error_result("unknown_tool", f"There is no tool {str(name)[:80]!r}.{hint}")
    try:
        return Checked(found, found.validate(arguments))
    except ToolError as error:
        return error_result("invalid_arguments", str(error))


async def open_backend(task: Task, settings: Settings) -> Backend:
    """A fresh backend of the kind that the settings name, for one attempt at `task`.

    Raises:
        BackendError: it could not be had; a system error.
        UsageError: its options are wrong, or what it needs is not installed.
    """
    kind = kind_of("backend", settings.backend, BACKENDS)
    options = options_of(settings.backend)
    if kind == "embedded" and not options:
        from tb_envs.session.local import LocalBackend

        return LocalBackend(task)
    module, function = _OPENERS["postgres" if kind == "embedded" else kind]
    opened: Awaitable[Backend] = getattr(importlib.import_module(module), function)(task, options)
    return await opened


_OPENERS = {
    "docker": ("tb_envs.session.docker", "open_docker"),
    "remote": ("tb_envs.session.remote", "open_remote"),
    "postgres": ("tb_envs.session.postgres", "open_postgres"),
}
"""Kind → module and coroutine function of ``(task, options)``; loaded when it is first asked for."""
