"""The HTTP application: the agents' plane, the control plane, and what a host looks at. Every route is listed here.

An agent's plane is ``/episodes/<id>/mcp``: the id cannot be guessed, and behind it is that one session's MCP, nothing
else. Old clients (with a handshake) and new ones (without) are alike: the path names the episode, never a header.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import mcp_types as types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tb_envs.mcp.control import control_plane
from tb_envs.mcp.hub import Hub
from tb_envs.mcp.metrics import CONTENT_TYPE
from tb_envs.mcp.protocol import Context, make_server
from tb_envs.mcp.sessions import Session

LOOPBACK: list[str] = ["127.0.0.1:*", "localhost:*", "[::1]:*", "localhost"]
"""What a request may call a server that listens on this machine only: a web page's own name for it is refused."""


def make_app(hub: Hub, token: str, *, connections: Callable[[], int] = int, loopback: bool = True) -> Starlette:
    """The application of one server.

    Args:
        hub: its sessions.
        token: of the control plane.
        connections: how many are open, for the metrics.
        loopback: whether it listens on this machine only, so that other names for it are refused.
    """

    def whose(context: Context) -> Session:
        session = hub.find(context.request.path_params["id"]) if context.request is not None else None
        if session is None:
            raise MCPError(types.INVALID_PARAMS, "there is no such episode")
        return session

    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=loopback,
        allowed_hosts=LOOPBACK,
        allowed_origins=[f"http://{name}" for name in LOOPBACK],
    )
    manager = StreamableHTTPSessionManager(
        make_server(whose), json_response=True, stateless=True, security_settings=security
    )

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(request: Request) -> Response:
        if hub.draining:
            return PlainTextResponse("closing", 503)
        full = hub.live >= hub.rules.max_sessions
        return PlainTextResponse("full" if full else "ok", 503 if full else 200)

    async def metrics(request: Request) -> Response:
        text = hub.metrics.text(hub.live, hub.rules.max_sessions, connections())
        return Response(text, headers={"content-type": CONTENT_TYPE})

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncGenerator[None]:
        keeper = asyncio.get_running_loop().create_task(hub.keep())
        try:
            async with manager.run():
                yield
        finally:
            keeper.cancel()
            hub.clear()

    app = Starlette(
        middleware=[Middleware(_Named, security)] if loopback else [],
        routes=[
            Route("/episodes/{id}/mcp", _Agents(hub, manager), methods=["POST"]),
            Mount("/control", control_plane(hub, token)),
            Route("/healthz", healthz, methods=["GET"]),
            Route("/readyz", readyz, methods=["GET"]),
            Route("/metrics", metrics, methods=["GET"]),
        ],
        lifespan=life,
    )
    app.router.redirect_slashes = False
    return app


class _Named:
    """Answers only requests that call the server by a name of this machine, whatever they ask for."""

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings) -> None:
        self._app = app
        self._names = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = await self._names.validate_request(Request(scope), is_post=False)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _Agents:
    """The agents' plane: MCP of the session that the path names."""

    def __init__(self, hub: Hub, manager: StreamableHTTPSessionManager) -> None:
        self._hub = hub
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = self._hub.find(scope["path_params"]["id"])
        if session is None:
            await JSONResponse({"error": "there is no such episode"}, 404)(scope, receive, send)
            return
        with self._hub.using(session):
            await self._manager.handle_request(scope, receive, send)
