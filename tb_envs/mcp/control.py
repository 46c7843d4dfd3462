"""The control plane: start, say, finish, journal, list. It needs the server's token, and is no tool of any session.

What asks without the right token is answered 401 and nothing else, whatever it asks for.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from tb_envs.errors import BackendError
from tb_envs.mcp.hub import Hub, Refused
from tb_envs.mcp.sessions import EpisodeSession, Session
from tb_envs.strict_json import strict_json

LARGEST = 1024 * 1024
"""Bytes of the largest request."""
Endpoint = Callable[[Request], Awaitable[Response]]


def control_plane(hub: Hub, token: str) -> ASGIApp:
    """The application below ``/control``."""
    return _Guard(Router(routes(hub), redirect_slashes=False), token)


class _Guard:
    """Lets nobody in without the token."""

    def __init__(self, app: Router, token: str) -> None:
        self.app = app
        self.routes = app.routes
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if len(given) != 1 or not secrets.compare_digest(given[0], self._expected):
            await Response(status_code=401, headers={"www-authenticate": "Bearer"})(scope, receive, send)
            return
        await self.app(scope, receive, send)


def routes(hub: Hub) -> list[Route]:
    """Every route of the control plane."""

    async def start(request: Request) -> Response:
        session = await hub.open(await _body(request))
        if await request.is_disconnected():  # nobody would ever close it
            hub.close(session, "unclaimed")
            raise Refused(499, "who asked for the session is gone")
        opened: dict[str, Any] = {"id": session.id, "mcp": f"/episodes/{session.id}/mcp", "live": hub.live}
        opened["lease"] = hub.rules.silence(session)
        if isinstance(session, EpisodeSession):
            opened |= {"observation": session.opening, "instructions": session.task.instructions}
        return _json(opened, 201)

    async def sessions(request: Request) -> Response:
        rules = hub.rules
        listed = [session.state() for session in hub.all()]
        return _json({"sessions": listed, "max_sessions": rules.max_sessions, "draining": hub.draining})

    async def renew(request: Request) -> Response:
        keys = (await _body(request)).get("sessions")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in cast("list[Any]", keys)):
            raise Refused(400, "send {'sessions': [id, …]}, the sessions that are still wanted")
        return _json({"gone": hub.renew(cast("list[str]", keys))})

    async def journal(session: Session, request: Request) -> Response:
        after = request.query_params.get("after", "0")
        if not after.isascii() or not after.isdigit():
            raise Refused(400, f"after is a number of the journal, got {after[:40]!r}")
        changes = [list(change) for change in session.changes() if change.sequence > int(after)]
        return _json({"changes": changes})

    async def dump(session: Session, request: Request) -> Response:
        return _json({"dump": await session.dump_aside()})

    async def say(session: Session, request: Request) -> Response:
        text = (await _body(request)).get("text")
        if not isinstance(text, str):
            raise Refused(400, "send {'text': …}, what is said to the customer")
        answer = await _episode(session).say(text)
        return _json({"observation": answer, "over": session.over})

    async def finish(session: Session, request: Request) -> Response:
        return _json(await _episode(session).finish())

    async def delete(session: Session, request: Request) -> Response:
        hub.close(session, "deleted")
        return Response(status_code=204)

    def one(endpoint: Callable[[Session, Request], Awaitable[Response]]) -> Endpoint:
        async def found(request: Request) -> Response:
            session = hub.find(request.path_params["id"])
            if session is None:
                raise Refused(404, "there is no such session; it may have been closed, or silent for too long")
            with hub.using(session):
                return await endpoint(session, request)

        return _answered(found)

    path = "/sessions/{id}"
    return [
        Route("/sessions", _answered(start), methods=["POST"]),
        Route("/sessions", _answered(sessions), methods=["GET"]),
        Route("/renew", _answered(renew), methods=["POST"]),
        Route(f"{path}/journal", one(journal), methods=["GET"]),
        Route(f"{path}/dump", one(dump), methods=["GET"]),
        Route(f"{path}/say", one(say), methods=["POST"]),
        Route(f"{path}/finish", one(finish), methods=["POST"]),
        Route(path, one(delete), methods=["DELETE"]),
    ]


def _json(content: Any, status: int = 200) -> Response:
    """An answer in JSON, whatever an agent or a client wrote that is in it."""
    return Response(strict_json(content, separators=(",", ":")), status, media_type="application/json")


def _answered(endpoint: Endpoint) -> Endpoint:
    """What is refused, and what breaks, as an answer that says so."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as error:
            return _json({"error": str(error)}, error.status)
        except BackendError as error:
            return _json({"error": str(error)}, 500)

    return answered


def _episode(session: Session) -> EpisodeSession:
    if not isinstance(session, EpisodeSession):
        raise Refused(409, "this session is only a backend: its conversation is held by who opened it")
    return session


async def _body(request: Request) -> dict[str, Any]:
    """The request's JSON object."""
    received = bytearray()
    async for part in request.stream():
        received += part
        if len(received) > LARGEST:
            raise Refused(413, f"a request has at most {LARGEST} bytes")
    try:
        found: Any = json.loads(received)
    except (ValueError, RecursionError):
        raise Refused(400, "the request is no JSON") from None
    if not isinstance(found, dict):
        raise Refused(400, "the request must be a JSON object")
    return cast("dict[str, Any]", found)
