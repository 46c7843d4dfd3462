"""Requests to a session server: HTTP/1.1 with JSON, over TCP or a unix socket, with one deadline each.

Connections are kept open between requests, for each event loop and place, and closed with their loop; one TLS context
for all. Refuses to decide what may be sent again: it says whether a request can have been carried out (`AnswerLost`) or
cannot (`NotSent`), and who sent it knows the rest.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from tb_envs.errors import BackendError, UsageError
from tb_envs.session.answers import read_json

if TYPE_CHECKING:
    from tb_envs.connections import KeptConnections

KEPT = 20.0
"""Seconds that an idle connection is kept: less than any server's own limit, so that none is used as it closes."""
LARGEST = 3 * 1024 * 1024
"""Bytes of the largest body that is sent; servers refuse larger ones."""
LONGEST = 8 * 1024 * 1024
"""Bytes of the longest answer that is read: a server that was taken over may send without end."""


class NotSent(BackendError):
    """No connection could be had: nothing was carried out."""


class AnswerLost(BackendError):
    """The connection ended before the answer came: it may have been carried out, or not."""


class Answer(NamedTuple):
    """An answer's status and its JSON object, empty if it had none."""

    status: int
    data: dict[str, Any]


@dataclass(frozen=True)
class Endpoint:
    """A session server.

    Attributes:
        url: ``http://host:port``, ``https://…``, or ``unix:/path/of/socket``.
        token: of its control plane.
    """

    url: str
    token: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _is_place(self.url):
            raise UsageError(f"{self.url!r} is no session server; write http://host:port or unix:/path/of/socket")

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        until: float,
        headers: Mapping[str, str] | None = None,
        control: bool = True,
    ) -> Answer:
        """Send one request and wait for its answer.

        Args:
            method: of HTTP.
            path: on the server, e.g. ``/healthz``.
            body: sent as JSON.
            until: the deadline, in the running loop's own time (``loop.time() + seconds``).
            headers: further ones.
            control: whether it carries the token; the agent's own plane never sees it.

        Raises:
            NotSent: nothing was carried out.
            AnswerLost: it may have been carried out, or not.
            BackendError: the deadline passed, or the answer was too long or no JSON.
        """
        connections, base = await self._connections()
        import httpx2

        from tb_envs.connections import TooLong

        sent = {"accept-encoding": "identity", **(headers or {})}  # what is packed may unpack to any length
        if control:
            sent["authorization"] = f"Bearer {self.token}"
        content = None
        if body is not None:
            sent["content-type"] = "application/json"
            content = json.dumps(body).encode()  # ASCII: whatever an agent wrote arrives as it was written
        request = httpx2.Request(method, base + path, content=content, headers=sent)
        try:
            async with asyncio.timeout_at(until):
                response = await connections.handle_async_request(request)
                received = b"".join([part async for part in response.aiter_raw()])
        except TimeoutError:
            raise BackendError(f"{self.url} did not answer {method} {_shown(path)} in time") from None
        except TooLong:
            raise BackendError(f"{self.url} answered {method} {_shown(path)} without end") from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise NotSent(f"{self.url} cannot be reached: {_reason(error)}") from None
        except httpx2.TransportError as error:
            raise AnswerLost(f"{self.url} broke off {method} {_shown(path)}: {_reason(error)}") from None
        try:
            return Answer(response.status_code, read_json(received))
        except ValueError:
            raise BackendError(f"{self.url} answered {method} {_shown(path)} with no JSON that can be used") from None

    async def _connections(self) -> tuple[KeptConnections, str]:
        everywhere = await _places()
        path = self.url.removeprefix("unix:") if self.url.startswith("unix:") else ""
        connections = everywhere.get(path)
        if connections is None:
            connections = everywhere[path] = _connect(path)
        return connections, "http://localhost" if path else self.url.rstrip("/")

    def forget(self) -> None:
        """Close what is kept of a unix socket that is gone, on every loop. Returns at once."""
        path = self.url.removeprefix("unix:")
        for loop, (everywhere, _) in list(_open.items()):
            connections = everywhere.pop(path, None) if self.url.startswith("unix:") else None
            if connections is not None and not loop.is_closed():
                loop.call_soon_threadsafe(_close_soon, connections)


def _is_place(url: str) -> bool:
    """Whether a server can be there: a scheme, a host, a port that exists; or the path of a socket."""
    if url.startswith("unix:"):
        return url.startswith("unix:/")
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:  # the port is no number of a port, or the host no address
        return False


def _connect(socket_path: str) -> KeptConnections:
    try:
        from tb_envs.connections import KeptConnections
    except ImportError:
        raise UsageError("a remote backend needs an HTTP client: pip install 'thinkingbox-gym[mcp]'") from None
    return KeptConnections(_tls(), LONGEST, socket_path=socket_path or None, idle=KEPT)


@cache
def _tls() -> ssl.SSLContext:
    """One for all: making one costs 20 ms."""
    return ssl.create_default_context()


Places = dict[str, "KeptConnections"]
_open: dict[asyncio.AbstractEventLoop, tuple[Places, AsyncGenerator[None, None]]] = {}
os.register_at_fork(after_in_child=_open.clear)


async def _places() -> Places:
    """The running loop's connections by socket path; empty for TCP."""
    loop = asyncio.get_running_loop()
    if loop not in _open:
        for ended in [each for each in _open if each.is_closed()]:
            del _open[ended]
        everywhere: Places = {}
        keeper = _keep(everywhere)
        _open[loop] = (everywhere, keeper)
        await anext(keeper)
    return _open[loop][0]


async def _keep(everywhere: Places) -> AsyncGenerator[None, None]:
    """Closes them when the loop shuts its asynchronous generators down, as `asyncio.run` does at its end."""
    try:
        yield
    finally:
        _open.pop(asyncio.get_running_loop(), None)
        while everywhere:
            await everywhere.popitem()[1].aclose()


def _close_soon(connections: KeptConnections) -> None:
    task = asyncio.get_running_loop().create_task(connections.aclose())
    _closing.add(task)
    task.add_done_callback(_closing.discard)


_closing: set[asyncio.Task[None]] = set()


def _shown(path: str) -> str:
    """A path without ids, which are secrets: it may stand in a message."""
    return "/".join(part if len(part) < 20 else "…" for part in path.partition("?")[0].split("/"))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
