"""Sending requests to OpenAI-compatible endpoints: one HTTP client for each event loop, and bodies in prepared parts.

The SDK says where a request goes and with which headers (key, organization, versions), once for each endpoint; the
request itself is given to the HTTP client under it, since what the SDK does around each one cost as much as the rest
of a turn. All clients of the process share one TLS context (a new one costs 20 ms). Refuses to judge a response and to
send anything twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.request import getproxies
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import ssl

    from httpx2 import URL, AsyncClient, Headers, Response

PATH = b"chat/completions"
LARGEST = 32 * 2**20
"""Bytes of a response at most; of one that is compressed a hundredth of it."""


class Prepared:
    """A part of a body that many requests share, encoded once: a field's value, or an item of one that is a list.

    Args:
        value: as of JSON; what becomes of it later is not seen.
    """

    __slots__ = ("encoded",)

    def __init__(self, value: Any) -> None:
        self.encoded = _json(value)


def encode(body: Mapping[str, Any]) -> bytes:
    """A body as JSON; the values of its fields, and items of those that are lists, may be `Prepared`."""
    return b"{" + b",".join(_json(name) + b":" + _part(value) for name, value in body.items()) + b"}"


def _part(value: Any) -> bytes:
    if isinstance(value, Prepared):
        return value.encoded
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if any(isinstance(item, Prepared) for item in items):
            return b"[" + b",".join(map(_part, items)) + b"]"
    return _json(value)


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # half characters, which a model may have written: escaped they are JSON
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


async def post(base_url: str, key: str, body: Mapping[str, Any], deadline: float) -> Response:
    """Send a chat completion; the response, read to its end, whatever its status.

    Args:
        base_url: of the endpoint.
        key: the secret it takes.
        body: of the request, as of `encode`.
        deadline: seconds for all of it.

    Raises:
        TimeoutError: the deadline is over.
        httpx2.HTTPError: there is no response.
        httpx2.InvalidURL: the URL is none.
    """
    from httpx2 import Request

    kept = _kept()
    there = kept.endpoint(base_url, key)
    content = encode(body)
    async with asyncio.timeout(deadline):
        request = Request(
            "POST",
            there.url,
            headers=there.headers,
            cookies=kept.http.cookies or None,
            content=content,
        )
        return await kept.http.send(request)


async def close_clients() -> None:
    """Close the connections of the running loop; those that are still needed are opened anew."""
    kept = _loops.pop(asyncio.get_running_loop(), None)
    if kept is not None:
        await kept.http.aclose()


class _Endpoint(NamedTuple):
    """Where a request goes, and its headers."""

    url: URL
    headers: Headers


class _Kept:
    """One loop's HTTP client, and what the SDK says of each endpoint and key."""

    def __init__(self) -> None:
        import httpx2

        from tb_envs.connections import IDLE, KeptConnections

        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=512, keepalive_expiry=IDLE)
        self.http: AsyncClient = httpx2.AsyncClient(
            transport=None if getproxies() else KeptConnections(_tls(), LARGEST),  # a proxy's is made by the client
            verify=_tls(),
            timeout=None,  # of single steps; `post` limits the whole
            follow_redirects=False,  # a key goes where it was meant to go, and nowhere else
            limits=limits,
        )
        self._endpoints: dict[tuple[str, str], _Endpoint] = {}

    def endpoint(self, base_url: str, key: str) -> _Endpoint:
        """Where requests to this URL with this key go."""
        found = self._endpoints.get((base_url, key))
        if found is None:
            from httpx2 import Headers
            from openai import AsyncOpenAI

            sdk = AsyncOpenAI(api_key=key, base_url=base_url, http_client=self.http)
            headers = Headers(self.http.headers)
            headers.update(sdk.auth_headers)
            headers.update({name: value for name, value in sdk.default_headers.items() if isinstance(value, str)})
            url = sdk.base_url.copy_with(raw_path=sdk.base_url.raw_path + PATH)
            found = self._endpoints[base_url, key] = _Endpoint(url, headers)
        return found


_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Kept] = WeakKeyDictionary()
"""A connection belongs to its event loop; a forked child has loops of its own, and so clients of its own."""


def _kept() -> _Kept:
    loop = asyncio.get_running_loop()
    kept = _loops.get(loop)
    if kept is None:
        kept = _loops[loop] = _Kept()
    return kept


@cache
def _tls() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
