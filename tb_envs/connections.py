"""HTTP connections that are kept while they are idle, one for each request that is out.

A pool looks through all its connections for each request: with 144 of them that was a third of what a request costs
us. Here the connection used last is taken, or a new one made. Responses are read to their end at once. Refuses to
limit anything, and proxies.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import httpcore2
import httpx2

if TYPE_CHECKING:
    import ssl

IDLE = 30.0
"""Seconds after which a connection that nobody uses is closed."""


class TooLong(httpx2.ReadError):
    """A response is longer than any may be; its connection was closed."""


_SAME: dict[type[Exception], type[httpx2.TransportError]] = {
    httpcore2.ConnectError: httpx2.ConnectError,
    httpcore2.ReadError: httpx2.ReadError,
    httpcore2.WriteError: httpx2.WriteError,
    httpcore2.NetworkError: httpx2.NetworkError,
    httpcore2.ConnectTimeout: httpx2.ConnectTimeout,
    httpcore2.ReadTimeout: httpx2.ReadTimeout,
    httpcore2.WriteTimeout: httpx2.WriteTimeout,
    httpcore2.TimeoutException: httpx2.TimeoutException,
    httpcore2.LocalProtocolError: httpx2.LocalProtocolError,
    httpcore2.RemoteProtocolError: httpx2.RemoteProtocolError,
    httpcore2.ProtocolError: httpx2.ProtocolError,
}
"""Errors of the lower layer, the most special first, and what a transport raises for them."""

_Origin = tuple[bytes, bytes, int | None]
_Idle = deque[tuple[float, httpcore2.AsyncHTTPConnection]]


class KeptConnections(httpx2.AsyncBaseTransport):
    """A transport over single connections.

    Args:
        verify: the TLS context.
        longest: bytes of a response at most; of one that is compressed a hundredth of it.
        socket_path: of a unix socket, in place of the host that a URL names.
        idle: seconds after which a connection that nobody uses is closed.
    """

    def __init__(
        self, verify: ssl.SSLContext, longest: int, *, socket_path: str | None = None, idle: float = IDLE
    ) -> None:
        self._verify = verify
        self._socket_path = socket_path
        self._longest = longest
        self._keep = idle
        self._idle: dict[_Origin, _Idle] = {}
        self._closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and read its response to the end."""
        url = request.url
        if url.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"the URL {str(url)!r} begins with neither http:// nor https://")
        lower = httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        idle = self._idle.setdefault((url.raw_scheme, url.raw_host, url.port), deque())
        connection = await self._open_one(idle) or httpcore2.AsyncHTTPConnection(
            lower.url.origin, self._verify, uds=self._socket_path
        )
        try:
            response = await connection.handle_async_request(lower)
            try:
                content = await self._read(response)
            finally:
                await response.aclose()
        except tuple(_SAME) as error:
            same = next(same for kind, same in _SAME.items() if isinstance(error, kind))
            raise same(str(error)) from error
        if self._closed:
            await connection.aclose()
        elif connection.is_idle():
            idle.append((time.monotonic(), connection))
        return httpx2.Response(response.status, headers=response.headers, stream=httpx2.ByteStream(content))

    async def aclose(self) -> None:
        """Close the connections; those in use when their responses are read."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                await idle.pop()[1].aclose()

    async def _read(self, response: httpcore2.Response) -> bytes:
        """A response's body, as long as it is no longer than any answer may be."""
        packed = any(name.lower() == b"content-encoding" and value != b"identity" for name, value in response.headers)
        most = self._longest // 100 if packed else self._longest
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_stream():
            parts.append(part)
            size += len(part)
            if size > most:
                raise TooLong(f"the answer is longer than {most // 1024:,} KiB")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _open_one(self, idle: _Idle) -> httpcore2.AsyncHTTPConnection | None:
        """The connection used last that the server has not closed, taken out; closes those unused for long."""
        while idle and idle[0][0] < time.monotonic() - self._keep:
            await idle.popleft()[1].aclose()
        while idle:
            connection = idle.pop()[1]
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return None
