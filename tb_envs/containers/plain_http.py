"""HTTP/1.1 with JSON bodies over a unix socket, on the standard library: what a session server needs and no more.

Answers in order, keeps connections, drops those that send half a request or nothing at all. Refuses chunked bodies,
what is too long, and whatever is no HTTP.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import unquote

HEAD, BODY = 16 * 1024, 4 * 1024 * 1024
"""Bytes of the largest request: its head, its body."""
IDLE, SLOW = 75.0, 10.0
"""Seconds that a connection may be silent between requests, and within one."""


class Request(NamedTuple):
    """One request; header names are in lower case, `body` is as it came."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body; `Refused` if it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Refused(400, "the body is no JSON") from None


class Answer(NamedTuple):
    """An answer: a status and its body, already encoded; `holds` keeps the connection open without a further request.

    Attributes:
        status: of HTTP.
        body: the content.
        kind: its content type.
        holds: called when a connection that is held open ends; None for an ordinary one.
    """

    status: int
    body: bytes
    kind: str = "application/json"
    holds: Callable[[], None] | None = None


class Refused(Exception):
    """A request that is answered with a status and an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def answer(data: Any, status: int = 200) -> Answer:
    """Data as JSON."""
    return Answer(status, json.dumps(data, ensure_ascii=True).encode())


async def listen(path: str, handle: Callable[[Request], Answer]) -> asyncio.Server:
    """Answer requests on a socket that anybody who can reach its folder may connect to."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _converse(reader, writer, handle)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass
        finally:
            writer.close()

    before = os.umask(0)
    try:
        return await asyncio.start_unix_server(connected, path, limit=HEAD)
    finally:
        os.umask(before)


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handle: Callable[[Request], Answer]
) -> None:
    while True:
        try:
            request = await _read(reader)
            given = handle(request)
        except Refused as error:
            given, request = answer({"error": str(error)}, error.status), None
        except (OSError, EOFError, TimeoutError):
            raise
        except Exception as error:
            given, request = answer({"error": f"{type(error).__name__}: {error}"}, 500), None
        lasts = request is not None and request.headers.get("connection", "").lower() != "close"
        length = "" if given.holds else f"content-length: {len(given.body)}\r\n"
        head = (
            f"HTTP/1.1 {given.status} {HTTPStatus(given.status).phrase}\r\ncontent-type: {given.kind}\r\n{length}"
            f"connection: {'keep-alive' if lasts else 'close'}\r\n\r\n"
        )
        writer.write(head.encode() + given.body)
        await writer.drain()
        if given.holds is not None:
            try:
                await reader.read()
            finally:
                given.holds()
            return
        if not lasts:
            return


async def _read(reader: asyncio.StreamReader) -> Request:
    async with asyncio.timeout(IDLE):
        first = await reader.readexactly(1)
    async with asyncio.timeout(SLOW):
        try:
            head = first + await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise Refused(413, "the head of the request is too long") from None
        try:
            line, *lines = head.decode("latin-1").split("\r\n")[:-2]
            method, target, version = line.split(" ")
            headers = {
                name.lower().strip(): value.strip() for name, _, value in (item.partition(":") for item in lines)
            }
            size = int(headers.get("content-length", "0"))
        except ValueError:
            raise Refused(400, "this is no HTTP request") from None
        if not version.startswith("HTTP/1.") or size < 0 or "transfer-encoding" in headers:
            raise Refused(400, "HTTP/1.1 with a content-length is spoken here")
        if size > BODY:
            raise Refused(413, f"a body may have {BODY} bytes")
        path, _, query = target.partition("?")
        return Request(method, unquote(path), query, headers, await reader.readexactly(size))
