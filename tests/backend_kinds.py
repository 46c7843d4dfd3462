"""The kinds of backend that the conformance suite holds to one another: how each is started, and how one opens on it.

A kind is an asynchronous context that gives an opener; the opener gives a fresh `Backend` for a task. Faces that are no
backends themselves (MCP clients) become one here: the client's calls, and the control plane's journal.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import httpx2
import pytest
from container_parts import no_engine, ready_image
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from postgres_server import missing as no_server
from postgres_server import url_or_skip

from tb_envs.background import Loop, wait_for
from tb_envs.mcp.hub import Rules
from tb_envs.mcp.memory import server_of
from tb_envs.mcp.metrics import Metrics
from tb_envs.mcp.serve import Options, Served, running
from tb_envs.mcp.sessions import BackendSession
from tb_envs.session.backend import Backend, ToolResult, check_call
from tb_envs.session.docker import DockerBackend, open_docker
from tb_envs.session.local import LocalBackend
from tb_envs.session.postgres import open_postgres
from tb_envs.session.remote import _META, PROTOCOL, RemoteBackend, open_remote
from tb_envs.session.wire import Endpoint
from tb_envs.settings import Settings
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange
from tb_envs.task import Task

Opener = Callable[[Task], Awaitable[Backend]]


@dataclass(frozen=True)
class Kind:
    """One kind.

    Attributes:
        start: what it needs, for as long as the block lasts; gives the opener.
        sequences: random call sequences per domain.
        missing: why it cannot be tried on this machine; empty if it can.
        marks: of its tests.
    """

    start: Callable[[], AbstractAsyncContextManager[Opener]]
    sequences: int = 100
    missing: Callable[[], str] = str
    marks: tuple[pytest.MarkDecorator, ...] = ()


class ClientBackend:
    """An MCP client as a backend. Its journal comes from beside it, as it does for a trainer."""

    def __init__(self, task: Task, client: Client) -> None:
        self.task, self.client = task, client
        self.seen: list[RowChange] = []
        self.calls = self.last = 0

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls += 1
        result = await self.client.call_tool(tool, dict(arguments))
        [content] = result.content
        assert content.type == "text"
        check = check_call(self.task.tools, tool, arguments)
        if isinstance(check, ToolResult):
            return ToolResult(not result.is_error, result.structured_content, content.text, {})
        if check.tool.effect == "write":
            new = await self.journal(self.last)
            self.seen += new
            self.last = new[-1].sequence if new else self.last
        return ToolResult(not result.is_error, result.structured_content, content.text, check.arguments)

    async def journal(self, after: int) -> list[RowChange]:
        raise NotImplementedError

    def take_changes(self) -> list[RowChange]:
        changes, self.seen = self.seen, []
        return changes

    def dump(self) -> Dump:
        raise NotImplementedError

    def close(self) -> None:
        """The client is left where it was entered."""


def listing(backend: Backend) -> Coroutine[Any, Any, list[dict[str, Any]]] | None:
    """The tools as they come over the wire, as function definitions; None where there is no wire."""
    match backend:
        case ClientBackend():
            return definitions(backend.client)
        case DockerBackend():
            return _listed(backend._inner)
        case RemoteBackend():
            return _listed(backend)
        case _:
            return None


async def definitions(client: Client) -> list[dict[str, Any]]:
    """The tools as a client lists them, as function definitions."""
    return [_definition(tool.model_dump(by_alias=True)) for tool in (await client.list_tools()).tools]


async def _listed(backend: RemoteBackend) -> list[dict[str, Any]]:
    """The same of a session whose client never lists them: it has the task."""
    until = asyncio.get_running_loop().time() + 30
    message = {"jsonrpc": "2.0", "id": "tools", "method": "tools/list", "params": {"_meta": _META}}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": "tools/list",
    }
    path = backend._mcp
    answer = await backend.endpoint.request("POST", path, message, until=until, headers=headers, control=False)
    return [_definition(tool) for tool in answer.data["result"]["tools"]]


def _definition(tool: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


def _row(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


class MemoryClient(ClientBackend):
    """Of a session in this process."""

    def __init__(self, task: Task, client: Client, session: BackendSession) -> None:
        super().__init__(task, client)
        self.session = session

    async def journal(self, after: int) -> list[RowChange]:
        return [change for change in self.session.changes() if change.sequence > after]

    def dump(self) -> Dump:
        return self.session.dump()

    def close(self) -> None:
        self.session.close()


class HttpClient(ClientBackend):
    """Of a session on a server, which is asked over its control plane."""

    def __init__(self, task: Task, client: Client, endpoint: Endpoint, session: str) -> None:
        super().__init__(task, client)
        self.endpoint, self.path = endpoint, f"/control/sessions/{session}"

    async def ask(self, method: str, path: str) -> Any:
        until = asyncio.get_running_loop().time() + 30
        return (await self.endpoint.request(method, self.path + path, until=until)).data

    async def journal(self, after: int) -> list[RowChange]:
        rows = (await self.ask("GET", f"/journal?after={after}"))["changes"]
        return [
            RowChange(n, call, table, key, _row(before), _row(after)) for n, call, table, key, before, after in rows
        ]

    def dump(self) -> Dump:
        found = wait_for(self.ask("GET", "/dump"))["dump"]
        return {table: {key: tuple(row) for key, row in rows.items()} for table, rows in found.items()}


@asynccontextmanager
async def embedded() -> AsyncIterator[Opener]:
    """In this process: what the others are held to."""

    async def opener(task: Task) -> Backend:
        return LocalBackend(task)

    yield opener


@asynccontextmanager
async def memory(mode: str) -> AsyncIterator[Opener]:
    """The SDK's in-memory transport; `mode` "legacy" is JSON-RPC with a handshake."""
    async with AsyncExitStack() as stack:

        async def opener(task: Task) -> Backend:
            session = BackendSession(task, LocalBackend(task), 60.0, Metrics())
            client = await stack.enter_async_context(Client(server_of(session), mode=mode, cache=None))
            return MemoryClient(task, client, session)

        yield opener


@asynccontextmanager
async def http(mode: str) -> AsyncIterator[Opener]:
    """The SDK's client over streamable HTTP."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(in_thread(Options(rules=Rules(max_sessions=1000))))
        endpoint = Endpoint(server.url, server.token)
        connections = await stack.enter_async_context(httpx2.AsyncClient(timeout=60, trust_env=False))

        async def opener(task: Task) -> Backend:
            until = asyncio.get_running_loop().time() + 30
            asked = {"task_id": task.id, "task_hash": task.hash, "knobs": task.knobs.to_json(), "mode": "backend"}
            opened = (await endpoint.request("POST", "/control/sessions", asked, until=until)).data
            transport = streamable_http_client(server.url + opened["mcp"], http_client=connections)
            client = await stack.enter_async_context(Client(transport, mode=mode, cache=None))
            return HttpClient(task, client, endpoint, opened["id"])

        yield opener


@asynccontextmanager
async def remote(unix: bool = False, backend: str | Mapping[str, Any] = "embedded") -> AsyncIterator[Opener]:
    """``backend="remote"``, as settings write it, over TCP or a unix socket; the server's databases as of `backend`."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Rules(max_sessions=1000, settings=Settings(backend=backend))
        options = Options(unix=f"{folder}/socket" if unix else "", rules=rules)
        async with in_thread(options) as server:

            async def opener(task: Task) -> Backend:
                with patch.dict(os.environ, {"TBX_TEST_TOKEN": server.token}):
                    return await open_remote(task, {"urls": [server.url], "token_env": "TBX_TEST_TOKEN"})

            yield opener


@asynccontextmanager
async def docker() -> AsyncIterator[Opener]:
    """``backend="docker"``, from images of the source as it is now."""

    async def opener(task: Task) -> Backend:
        await asyncio.to_thread(ready_image, task.domain.name)
        return await open_docker(task, {})

    yield opener


@asynccontextmanager
async def postgres() -> AsyncIterator[Opener]:
    """The embedded backend over PostgreSQL."""
    url = url_or_skip()

    async def opener(task: Task) -> Backend:
        return await open_postgres(task, {"store": url})

    yield opener


@asynccontextmanager
async def remote_docker() -> AsyncIterator[Opener]:
    """A server whose databases are in containers."""
    async with remote(backend="docker") as opener:

        async def built(task: Task) -> Backend:
            await asyncio.to_thread(ready_image, task.domain.name)
            return await opener(task)

        yield built


@asynccontextmanager
async def in_thread(options: Options, loop: Loop | None = None) -> AsyncIterator[Served]:
    """A server on an event loop of its own, so that who calls it may block."""
    loop = loop or Loop()
    context = running(options)
    try:
        served = loop.submit(context.__aenter__()).future
        yield await asyncio.wrap_future(served)
    finally:
        await asyncio.wrap_future(loop.submit(context.__aexit__(None, None, None)).future)
        await asyncio.to_thread(loop.close)


KINDS = {
    "embedded": Kind(embedded),
    "memory": Kind(lambda: memory("auto")),
    "memory-handshake": Kind(lambda: memory("legacy")),
    "http": Kind(lambda: http("2026-07-28")),
    "http-handshake": Kind(lambda: http("legacy"), sequences=20),
    "remote": Kind(remote),
    "remote-unix": Kind(lambda: remote(unix=True), sequences=20),
    "postgres": Kind(postgres, missing=no_server),
    "docker": Kind(docker, missing=no_engine, marks=(pytest.mark.containers,)),
    "remote-postgres": Kind(
        lambda: remote(backend={"kind": "embedded", "store": url_or_skip()}), sequences=20, missing=no_server
    ),
    "remote-docker": Kind(remote_docker, sequences=20, missing=no_engine, marks=(pytest.mark.containers,)),
}
"""By name. A variant of a kind that differs in its transport alone, or joins two kinds, is tried with 20 sequences a
domain; stdio, where each session is a process, is in `test_backends.py` itself: 100 sequences in one session."""
KIND_PARAMS = [pytest.param(name, marks=kind.marks) for name, kind in KINDS.items()]
