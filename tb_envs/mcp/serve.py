"""The server: `running` in this process's event loop, `serve` as a process of its own with its signals.

SIGTERM drains: nothing more is opened, sessions go on until their verdict was fetched or they were closed, or until the
grace has passed, and what is left then ends as a system error. A second signal ends at once.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import stat
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, cast

import uvicorn

from tb_envs.errors import UsageError
from tb_envs.mcp.alarm import install
from tb_envs.mcp.app import make_app
from tb_envs.mcp.connection import SILENT, Connection
from tb_envs.mcp.hub import Hub, Rules

KEEP_ALIVE = 75
"""Seconds that an idle connection is kept; clients keep theirs for less."""
AFTER_DRAIN = 1.0
"""Seconds after the last session was settled, or the grace, in which a client can still read how its own ended."""


@dataclass(frozen=True)
class Options:
    """Where and how a server runs.

    Attributes:
        host: the address; loopback unless told otherwise.
        port: 0 is any free one.
        unix: the path of a socket, instead of host and port.
        token: of the control plane; a new one by default.
        rules: of its sessions.
        grace: seconds that conversations may go on after SIGTERM.
        silent: seconds in which a request must have arrived whole, and an answer have been taken, or its connection is
            closed.
        connections: open at once; 0 is four for each session and 64 more.
    """

    host: str = "127.0.0.1"
    port: int = 0
    unix: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    rules: Rules = field(default_factory=Rules)
    grace: float = 30.0
    silent: float = SILENT
    connections: int = 0


class Served:
    """A running server.

    Attributes:
        url: where, as clients write it.
        token: of the control plane.
        hub: its sessions.
    """

    def __init__(self, options: Options, listener: socket.socket) -> None:
        self.token = options.token
        self.hub = Hub(options.rules)
        self._options = options
        self._listener = listener
        loopback = bool(options.unix) or options.host in ("127.0.0.1", "::1", "localhost")
        app = make_app(self.hub, options.token, connections=self.connections, loopback=loopback)
        most = options.connections or 4 * options.rules.max_sessions + 64
        protocol = type(
            "Protocol", (Connection,), {"silent": options.silent, "most": most, "metrics": self.hub.metrics}
        )
        self._server = _Server(
            uvicorn.Config(
                app,
                http=protocol,
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_level="warning",
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=5,
            )
        )
        self._server.stop_nicely = self._drain_soon
        self._draining: asyncio.Task[None] | None = None
        if options.unix:
            self.url = f"unix:{options.unix}"
        else:
            host, port = listener.getsockname()[:2]
            self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def connections(self) -> int:
        """Open connections."""
        return len(self._server.server_state.connections)

    async def serve(self) -> None:
        """Serve until the drain is over or `stop` was called."""
        self._loop = asyncio.get_running_loop()
        try:
            await self._server.serve([self._listener])
        finally:
            if self._options.unix:
                with suppress(FileNotFoundError):  # newer Pythons remove it themselves
                    os.unlink(self._options.unix)

    async def serve_quietly(self) -> None:
        """Serve, and leave the process's signals alone."""
        self._server.takes_signals = False
        await self.serve()

    async def started(self) -> None:
        """Wait until it answers."""
        while not self._server.started:
            await asyncio.sleep(0.001)

    def stop(self) -> None:
        """End now, without waiting for conversations, nor for who does not take an answer."""
        self._server.should_exit = True
        for connection in cast("list[Connection]", list(self._server.server_state.connections)):
            connection.give_up()

    async def drain(self) -> None:
        """End in order: see the module."""
        await self.hub.drain(self._options.grace)
        await asyncio.sleep(AFTER_DRAIN)
        self.stop()

    def _drain_soon(self) -> None:
        def begin() -> None:
            self._draining = self._draining or self._loop.create_task(self.drain())

        self._loop.call_soon_threadsafe(begin)


class _Server(uvicorn.Server):
    """Uvicorn whose first signal drains instead of closing the door."""

    stop_nicely: Any = None
    takes_signals = True

    def capture_signals(self) -> AbstractContextManager[None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Take the process's signals, unless they are someone else's."""
        return super().capture_signals() if self.takes_signals else nullcontext()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first SIGTERM or SIGINT drains, the second ends at once."""
        if self.stop_nicely is not None:
            self.stop_nicely()
            self.stop_nicely = None
        else:
            self.should_exit = True
            self.force_exit = self.force_exit or sig == signal.SIGINT


def listen(options: Options) -> socket.socket:
    """The socket that the options name, bound and listening.

    Raises:
        UsageError: it cannot be had.
    """
    if options.unix:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # then asyncio sets TCP_NODELAY
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    before = os.umask(0o177)  # whoever may open a socket's file is who owns it
    try:
        if options.unix and _is_left_over(options.unix):
            os.unlink(options.unix)
        listener.bind(options.unix or (options.host, options.port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        where = options.unix or f"{options.host}:{options.port}"
        raise UsageError(f"cannot listen on {where}: {error.strerror or error}") from None
    finally:
        os.umask(before)
    listener.setblocking(False)
    return listener


def _is_left_over(path: str) -> bool:
    """Whether it is the socket of a server that was killed: nobody listens there any more."""
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(1.0)
            asked.connect(path)
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


@asynccontextmanager
async def running(options: Options | None = None) -> AsyncGenerator[Served]:
    """A server in the running event loop, for as long as the block lasts. Takes no signal of the process."""
    options = options or Options()
    served = Served(options, listen(options))
    task = asyncio.get_running_loop().create_task(served.serve_quietly())
    try:
        await served.started()
        yield served
    finally:
        served.stop()
        await task


def serve(served: Served) -> None:
    """Serve in this process until a signal has ended it."""
    install()
    asyncio.run(served.serve())
