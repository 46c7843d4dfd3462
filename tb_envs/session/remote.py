"""The client's half of a session that another process holds: a server's, a container's, one of a fleet.

The server has the database and the tools; customer, log and grader stay here. A call travels as MCP (``tools/call``),
the journal comes back over the control plane, which the agent cannot reach. Wrong calls are refused here, in the same
words, and never sent. Each call carries a key, so that a lost answer can be fetched again: nothing is done twice.

A backend over a server of one's own (a container) is opened by `connect`:

    backend = await connect(Endpoint("unix:/run/ep/socket", token), task, deadline=30.0, on_close=give_back)
"""

from __future__ import annotations

import asyncio
import atexit
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from tb_envs.background import shared, wait_for
from tb_envs.errors import BackendError, UsageError
from tb_envs.session.answers import Opened, read_changes, read_dump, read_opened, read_result
from tb_envs.session.backend import Backend, ToolResult, check_call, error_result
from tb_envs.session.wire import LARGEST, Answer, AnswerLost, Endpoint, NotSent
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange

if TYPE_CHECKING:
    from tb_envs.task import Task

DEADLINE = 60.0
"""Seconds for a call, and for the opening of a session, when none are named."""
GOODBYE = 5.0
"""Seconds for telling a server that a session is over; one that does not hear it ends it by its lease."""
PAUSES = (0.02, 0.2)
"""Seconds before a request whose answer was lost is sent again, with the same key."""
PROTOCOL = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "thinkingbox-gym", "version": "1"},
}
_OPTIONS = ("urls", "token_env", "deadline")


async def open_remote(task: Task, options: Mapping[str, Any]) -> Backend:
    """A session on the least loaded healthy server of a fleet.

    Args:
        task: what is played; a server that builds it differently is refused.
        options: ``urls`` (one or several), ``token_env`` (the environment variable that holds the control plane's
            token, ``TBX_TOKEN`` by default), ``deadline`` (seconds for a call and for the opening, 60).

    Raises:
        BackendError: no server could be had before the deadline.
        UsageError: the options are wrong, a server refuses the token or has another version of the task.
    """
    from tb_envs.session.fleet import fleet_of

    for name in options:
        if name not in _OPTIONS:
            raise UsageError(f"unknown option {name!r} of backend 'remote'; valid: {', '.join(_OPTIONS)}")
    given = options.get("urls")
    urls = [given] if isinstance(given, str) else given
    if not isinstance(urls, Sequence) or not urls or not all(isinstance(url, str) for url in cast("list[Any]", urls)):
        raise UsageError("backend 'remote' needs urls, e.g. {'kind': 'remote', 'urls': ['http://127.0.0.1:8765']}")
    variable = options.get("token_env", "TBX_TOKEN")
    token = os.environ.get(str(variable), "")
    if not token:
        raise UsageError(f"backend 'remote' needs the server's token in the environment variable {variable}")
    return await fleet_of(tuple(cast("Sequence[str]", urls)), token).open(task, seconds(options.get("deadline")))


def seconds(value: Any) -> float:
    """An option that means seconds; the default for None."""
    if value is None:
        return DEADLINE
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise UsageError(f"deadline is a number of seconds, such as 30, got {value!r}")
    return float(value)


async def connect(
    endpoint: Endpoint,
    task: Task,
    *,
    deadline: float = DEADLINE,
    opening: float | None = None,
    on_close: Callable[[str], None] | None = None,
    more: Mapping[str, Any] | None = None,
) -> RemoteBackend:
    """Open a session for `task` on one server.

    Args:
        endpoint: where it is.
        task: what is played.
        deadline: seconds for each call; the server is told it, and has none of its own that is shorter.
        opening: seconds for the opening; as `deadline` if it is not named.
        on_close: called once with the session's id, when it is closed and the server has been told or could not be;
            from the shared event loop's thread. A session with it that is dropped without `close` is closed then.

    Raises:
        Full: the server holds as many sessions as it may, or is closing.
        BackendError: it cannot be reached, or did not answer in time.
        UsageError: it refuses the token, or has another version of the task.
    """
    body = {
        "task_id": task.id,
        "task_hash": task.hash,
        "knobs": task.knobs.to_json(),
        "mode": "backend",
        "settings": {"deadline": deadline},
        **(more or {}),
    }
    until = asyncio.get_running_loop().time() + (deadline if opening is None else opening)
    answer = await endpoint.request("POST", "/control/sessions", body, until=until)
    said = str(answer.data.get("error", ""))[:500]
    if answer.status == 503:
        raise Full(f"{endpoint.url} takes no further session: {said or 'it is full'}")
    if answer.status == 401:
        raise UsageError(f"{endpoint.url} refuses the token of its control plane")
    if answer.status in (400, 409):
        raise UsageError(f"{endpoint.url} cannot play {task.id}: {said}")
    if answer.status not in (200, 201):
        raise BackendError(f"{endpoint.url} answered {answer.status} when a session was opened: {said}")
    return RemoteBackend(endpoint, task, read_opened(answer.data), deadline, on_close)


class Full(BackendError):
    """The server takes no further session just now."""


class RemoteBackend:
    """One session on a server.

    Attributes:
        endpoint: the server.
        id: the session's name there, a secret.
        broken: what failed, empty if nothing did; who owns the server may want to throw it away then.
        reported: live sessions of the server when this one was opened, itself included; 0 if it did not say.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        task: Task,
        opened: Opened,
        deadline: float,
        on_close: Callable[[str], None] | None,
    ) -> None:
        self.endpoint = endpoint
        self.broken = ""
        self.reported = opened.live
        self._control = f"/control/sessions/{opened.id}"
        self._mcp = f"/episodes/{opened.id}/mcp"
        self._tools = task.tools
        self._specs = task.domain.specs
        self.deadline = deadline
        self.id = opened.id
        self._leave = _Goodbye(endpoint, opened.id, self._control, min(GOODBYE, deadline), on_close)
        if on_close is not None:
            weakref.finalize(self, self._leave).atexit = False
            _staying.add(self._leave)
        self._number = self._seen = 0
        self._changes: list[RowChange] = []
        self._closed = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse a wrong call here; carry out a right one there, and fetch what it wrote."""
        if self._closed:
            raise BackendError("this session is closed")
        if self.broken:
            raise BackendError(f"this session broke before: {self.broken}")
        self._number += 1
        call = check_call(self._tools, tool, arguments)
        if isinstance(call, ToolResult):
            return call
        try:
            return await self._send(call.tool.name, call.tool.effect == "write", arguments, call.arguments)
        except BackendError as error:
            self.broken = str(error)
            raise
        except asyncio.CancelledError:
            self.broken = f"{tool} was given up"
            raise

    async def _send(
        self, tool: str, writes: bool, arguments: Mapping[str, Any], checked: Mapping[str, Any]
    ) -> ToolResult:
        params = {"name": tool, "arguments": dict(arguments), "_meta": _META}
        body = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        if _size(arguments) > LARGEST:
            return error_result("invalid_arguments", f"{tool}: the arguments are too long", checked)
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": PROTOCOL,
            "mcp-method": "tools/call",
            "mcp-name": tool,
            "idempotency-key": str(self._number),
        }
        until = asyncio.get_running_loop().time() + self.deadline
        answer = await self._insist("POST", self._mcp, body, until=until, headers=headers, control=False)
        result = _result(answer, tool, checked)
        if writes:
            await self._fetch_changes(until)
        return result

    async def _fetch_changes(self, until: float) -> None:
        answer = await self._insist("GET", f"{self._control}/journal?after={self._seen}", until=until)
        if answer.status != 200:
            raise BackendError(f"the journal could not be read: {_said(answer)}")
        changes = read_changes(answer.data, self._specs, self._seen, self._number)
        if changes:
            self._changes += changes
            self._seen = changes[-1].sequence

    async def _insist(self, method: str, path: str, body: Any = None, *, until: float, **more: Any) -> Answer:
        """Send; if the answer is lost, ask for it again: the key, or that it only reads, makes that harmless."""
        for pause in PAUSES:
            try:
                return await self.endpoint.request(method, path, body, until=until, **more)
            except (NotSent, AnswerLost):
                await asyncio.sleep(pause)
        return await self.endpoint.request(method, path, body, until=until, **more)

    def take_changes(self) -> list[RowChange]:
        """Row changes since the last time this was asked; they were fetched with the calls that made them."""
        changes, self._changes = self._changes, []
        return changes

    def dump(self) -> Dump:
        """The whole database, canonically. Waits for the server: for proofs, not for an event loop."""
        return wait_for(self._dump())

    async def _dump(self) -> Dump:
        until = asyncio.get_running_loop().time() + self.deadline
        answer = await self._insist("GET", f"{self._control}/dump", until=until)
        if answer.status != 200:
            raise BackendError(f"the database could not be read: {_said(answer)}")
        return read_dump(answer.data, self._specs)

    def close(self) -> None:
        """Tell the server that the session is over, in the background. Idempotent; never waits."""
        self._closed = True
        self._leave()


class _Goodbye:
    """Tells a server once that a session is over, also when nobody holds the session any more."""

    def __init__(
        self, endpoint: Endpoint, key: str, control: str, seconds: float, then: Callable[[str], None] | None
    ) -> None:
        self._endpoint = endpoint
        self._key = key
        self._control = control
        self._seconds = seconds
        self._then = then
        self._said = False
        self._process = os.getpid()

    def __call__(self) -> None:
        if self._said or self._process != os.getpid():  # a forked child's copy is not its own to close
            return
        self._said = True
        _staying.discard(self)
        goodbye = asyncio.run_coroutine_threadsafe(self._say(), shared().loop)
        _goodbyes.add(goodbye)
        goodbye.add_done_callback(_goodbyes.discard)

    async def _say(self) -> None:
        try:
            with suppress(BackendError):  # a server that does not hear it ends the session by its lease
                await self._endpoint.request(
                    "DELETE", self._control, until=asyncio.get_running_loop().time() + self._seconds
                )
        finally:
            if self._then is not None:
                self._then(self._key)


_goodbyes: set[Future[None]] = set()
_staying: set[_Goodbye] = set()
os.register_at_fork(after_in_child=_goodbyes.clear)
os.register_at_fork(after_in_child=_staying.clear)


@atexit.register
def _wait_for_goodbyes() -> None:
    """The shared loop's thread ends with the process: what it still has to say is said first, for a second."""
    for leave in list(_staying):
        leave()
    wait(list(_goodbyes), timeout=1.0)


def _result(answer: Answer, tool: str, checked: Mapping[str, Any]) -> ToolResult:
    """The tool's answer; whatever is none is a system error."""
    if answer.data.get("result") is not None:
        return read_result(answer.data, tool, checked)
    if answer.status == 404:
        raise BackendError("the server no longer knows this session")
    raise BackendError(f"{tool}: {_said(answer)}")


def _said(answer: Answer) -> str:
    """What an answer says of its error."""
    error: Any = answer.data.get("error")
    if isinstance(error, dict):
        error = cast("dict[str, Any]", error).get("message")
    return str(error or f"the server answered {answer.status}")[:500]


def _size(arguments: Mapping[str, Any]) -> int:
    """Characters of text in the arguments: what can make a valid call large."""
    return sum(len(value) for value in arguments.values() if isinstance(value, str))
