"""One episode over standard input and output, for desktop clients: the process is the session.

It ends when the client closes its end; the conversation then ends too, and is judged. At Ctrl-C or SIGTERM a
conversation that still runs ends as a system error: nobody in it ended it. Nothing but the protocol is written to
standard output.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from tb_envs.mcp.alarm import install
from tb_envs.mcp.memory import open_seat
from tb_envs.settings import Settings
from tb_envs.task import Task

STDIN = 0
CHUNK = 65_536


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
        with _ended_by_signals() as signals:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
        if signals:
            await session.abandon(f"the process was ended by {signals[0].name}")
        return await session.finish()


@contextmanager
def _ended_by_signals() -> Generator[list[signal.Signals]]:
    """Standard input ends at the first SIGINT or SIGTERM: a read that waits for a client cannot be taken back.

    Gives those that came before the client was gone.
    """
    came: list[signal.Signals] = []
    gone = False
    kept = os.dup(STDIN)
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), STDIN)
    theirs.close()

    def end(number: signal.Signals | None = None) -> None:
        nonlocal gone
        if number is None:
            gone = True
        elif not gone:
            came.append(number)
        with suppress(OSError):
            ours.shutdown(socket.SHUT_WR)

    def pass_on() -> None:
        with suppress(OSError):
            while data := os.read(kept, CHUNK):
                ours.sendall(data)
        end()

    threading.Thread(target=pass_on, name="stdin", daemon=True).start()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, number)
    try:
        yield came
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        os.dup2(kept, STDIN)
