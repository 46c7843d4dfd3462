"""An episode as an MCP server in this process: for tests, and for clients that live in it.

    async with open_seat("hotel/late_cancellation/0") as seat, mcp.Client(seat.server) as client:
        await client.call_tool("get_booking", {"booking_id": "BK-20418"})
        await seat.session.say("Your booking is cancelled.")
        verdict = (await seat.session.finish())["verdict"]

The server is what the agent's client gets; the session beside it is the control plane, and stays with who opened it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tb_envs.mcp.metrics import Metrics
from tb_envs.mcp.protocol import Context, make_server
from tb_envs.mcp.sessions import EpisodeSession, Session
from tb_envs.settings import Settings
from tb_envs.task import Task, get_task

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server


class Seat(NamedTuple):
    """One episode: the server for the agent, the session for who runs it."""

    server: Server[Any]
    session: EpisodeSession


@asynccontextmanager
async def open_seat(
    task: str | Task,
    settings: Settings | None = None,
    *,
    customer_tool: bool = False,
    deadline: float = 60.0,
    attempt: int = 0,
) -> AsyncGenerator[Seat]:
    """Begin an episode and free it at the end of the block.

    Args:
        task: a task or its id.
        settings: of the episode.
        customer_tool: whether the agent speaks to the customer by the tool `say_to_customer`.
        deadline: seconds for one call.
        attempt: only seeds injected faults.

    Raises:
        BackendError: it could not begin.
    """
    settings = settings or Settings()
    if not isinstance(task, Task):
        task = get_task(task, settings.knobs)
    session = EpisodeSession(task, settings, deadline, Metrics(), customer_tool=customer_tool)
    try:
        await session.start(attempt)
        yield Seat(server_of(session), session)
    finally:
        session.close()


def server_of(session: Session) -> Server[Any]:
    """An MCP server for one session."""

    def always(context: Context) -> Session:
        return session

    return make_server(always)
