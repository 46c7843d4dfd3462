"""HTTP connections of many requests at a time, spread over pools of a few.

A pool looks through all its connections for each request: with 144 of them that was a third of what a request costs
us. Refuses to limit anything: where all pools are full there is one more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

if TYPE_CHECKING:
    import ssl

EACH = 8
"""Requests at a time in one pool."""


class SpreadTransport(httpx2.AsyncBaseTransport):
    """A transport that gives each request to the first pool that is not full."""

    def __init__(self, verify: ssl.SSLContext, limits: httpx2.Limits) -> None:
        self._verify, self._limits = verify, limits
        self._pools: list[httpx2.AsyncHTTPTransport] = []
        self._out: list[int] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its pool has room again when the response is closed."""
        place = next((n for n, out in enumerate(self._out) if out < EACH), len(self._out))
        if place == len(self._out):
            self._pools.append(httpx2.AsyncHTTPTransport(verify=self._verify, limits=self._limits))
            self._out.append(0)
        self._out[place] += 1
        try:
            response = await self._pools[place].handle_async_request(request)
        except BaseException:
            self._out[place] -= 1
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Counted(response.stream, self._out, place)
        return response

    async def aclose(self) -> None:
        """Close every pool."""
        for pool in self._pools:
            await pool.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A response's stream that gives its place back once, when it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, out: list[int], place: int) -> None:
        self._stream, self._out, self._place = stream, out, place
        self._open = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        """Close the stream."""
        if self._open:
            self._open = False
            self._out[self._place] -= 1
        await self._stream.aclose()
