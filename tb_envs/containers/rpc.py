"""The agent's plane inside a container: MCP's JSON-RPC as far as tools need it. The SDK would import for a second.

Both generations of the protocol are answered: the one with a handshake (``initialize``) and the one without
(``server/discover``). Nothing but tools is behind it; whatever else is asked is an unknown method.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from tb_envs.session.backend import ToolResult

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
SERVER = {"name": "thinkingbox-gym", "version": "1"}
PARSE, INVALID, UNKNOWN, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603

Caller = Callable[[str, Mapping[str, Any]], ToolResult]


class SystemFault(Exception):
    """The session itself failed: an error of the protocol, never a tool's result."""


def tool_list(definitions: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """Function definitions as MCP tools."""
    functions = [definition["function"] for definition in definitions]
    return [{"name": f["name"], "description": f["description"], "inputSchema": f["parameters"]} for f in functions]


def respond(message: Any, tools: Callable[[], list[dict[str, Any]]], call: Caller) -> dict[str, Any] | None:
    """The response to one message; None for a notification."""
    if not isinstance(message, dict):
        return _error(None, INVALID, "one JSON-RPC message is expected")
    told = cast("dict[str, Any]", message)
    key, method, given = told.get("id"), told.get("method"), told.get("params")
    if told.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return _error(key, INVALID, "this is no JSON-RPC request")
    if "id" not in told:
        return None
    params = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    match method:
        case "initialize":
            wanted = params.get("protocolVersion")
            version = wanted if wanted in LEGACY else LEGACY[0]
            result: dict[str, Any] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": SERVER}
        case "server/discover":
            result = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": tools(), "ttlMs": 0, "cacheScope": "private"}
        case "tools/call":
            name, arguments = params.get("name"), cast("Any", params.get("arguments") or {})
            if not isinstance(name, str) or not isinstance(arguments, dict):
                return _error(key, PARAMS, "tools/call needs a name and an object of arguments")
            try:
                found = call(name, cast("dict[str, Any]", arguments))
            except SystemFault as error:
                return _error(key, INTERNAL, str(error))
            result = {
                "content": [{"type": "text", "text": found.text}],
                "structuredContent": found.data,
                "isError": not found.ok,
            }
        case _:
            return _error(key, UNKNOWN, f"unknown method {method[:80]!r}")
    return {"jsonrpc": "2.0", "id": key, "result": {"resultType": "complete", **result}}


def unreadable() -> dict[str, Any]:
    """The response to what is no JSON."""
    return _error(None, PARSE, "this is no JSON")


def encode(response: Mapping[str, Any]) -> bytes:
    """A response as it travels."""
    return json.dumps(response, ensure_ascii=True).encode()


def _error(key: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": message}}
