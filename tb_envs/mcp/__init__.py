"""The Model Context Protocol face: in memory, over stdio and over streamable HTTP. One session is one episode.

Tools, results and errors are those of any other face, byte for byte. What the agent can reach is the conversation;
start, finish and what follows from them are a control plane of its own. Importing this package loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tb_envs.mcp.memory import Seat, open_seat
    from tb_envs.mcp.protocol import make_server
    from tb_envs.mcp.serve import Options, running

_LAZY = {
    "Options": "tb_envs.mcp.serve",
    "Seat": "tb_envs.mcp.memory",
    "make_server": "tb_envs.mcp.protocol",
    "open_seat": "tb_envs.mcp.memory",
    "running": "tb_envs.mcp.serve",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Options", "Seat", "make_server", "open_seat", "running"]
