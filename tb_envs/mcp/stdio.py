"""One episode over standard input and output, for desktop clients: the process is the session.

It ends when the client closes its end; the conversation then ends too, and is judged. Nothing but the protocol is
written to standard output.
"""

from __future__ import annotations

from typing import Any

from tb_envs.mcp.alarm import install
from tb_envs.mcp.memory import open_seat
from tb_envs.settings import Settings
from tb_envs.task import Task


async def serve_stdio(task: Task, settings: Settings, *, customer_tool: bool, deadline: float) -> dict[str, Any]:
    """Serve one episode until the client is gone; how it ended, as of `EpisodeSession.result`.

    Args:
        task: what is played.
        settings: of the episode.
        customer_tool: whether the agent speaks to the customer by a tool.
        deadline: seconds for one call.
    """
    from mcp.server.stdio import stdio_server

    install()
    async with open_seat(task, settings, customer_tool=customer_tool, deadline=deadline) as (server, session):
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return await session.finish()
