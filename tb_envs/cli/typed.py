"""What a person types as the agent, as an action: a tool call, or words for the customer.

``get_booking booking_id=BK-20418 note="by phone"`` and ``get_booking {"booking_id": "BK-20418"}`` call a tool, and so
does a whole action in JSON. Anything else is said. What looks like a call and is none is refused here, with the right
form, so that a slip of the keyboard is never said to the customer and costs no turn.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, cast

from tb_envs.actions import call, parse_action, say
from tb_envs.authoring.toolset import Tool
from tb_envs.cli.parser import choose
from tb_envs.errors import UsageError

_PAIR = re.compile(r"^[A-Za-z_]\w*=")


def read_typed(line: str, tools: Mapping[str, Tool]) -> str:
    """The action a line means; `UsageError` says how to write what was probably meant."""
    text = line.strip()
    if text.startswith(("{", "[", "```", "<tool_call")):
        return _json_action(text)
    name, _, rest = text.partition(" ")
    rest = rest.strip()
    if name in tools:
        return call(name, **_arguments(tools[name], rest))
    if rest and all(_PAIR.match(part) for part in _split(rest)):
        choose(name, tools, "tool")
    return say(text)


def _json_action(text: str) -> str:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "name" in value and "tool_calls" not in value:
        wrapped: dict[str, Any] = {"content": None, "tool_calls": [value]}
        text = json.dumps(wrapped)
    problem = parse_action(text).problem
    if problem:
        raise UsageError(problem)
    return text


def _arguments(tool: Tool, rest: str) -> dict[str, Any]:
    properties: Mapping[str, Any] = tool.schema["properties"]
    form = f"write it like: {tool.name} {' '.join(f'{name}=…' for name in properties)}"
    if rest.startswith("{"):
        try:
            value: Any = json.loads(rest)
        except ValueError:
            raise UsageError(f"the arguments are not valid JSON; {form}") from None
        return {str(key): item for key, item in cast("dict[Any, Any]", value).items()}
    parts = _split(rest)
    if not all(_PAIR.match(part) for part in parts):
        raise UsageError(f"{tool.name} is a tool; {form}. Put quotes around values with blanks")
    pairs = (part.partition("=") for part in parts)
    return {name: _value(properties.get(name, {}), text) for name, _, text in pairs}


def _value(node: Mapping[str, Any], text: str) -> Any:
    """Lists are written ``a,b`` or as JSON; all else is text, which tools read as numbers and dates themselves."""
    if node.get("type") != "array":
        return text
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            raise UsageError(f"{text!r} is not a valid JSON list") from None
    return [part.strip() for part in text.split(",") if part.strip()]


def _split(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        return [""]
