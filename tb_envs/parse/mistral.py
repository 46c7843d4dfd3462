"""Tool calls of Mistral's models, in both of their forms.

``[TOOL_CALLS] [{"name": …, "arguments": {…}, "id": …}, …]`` (tokenizers up to v7) and ``[TOOL_CALLS]NAME[ARGS]{…}``,
one a call, with ``[CALL_ID]ID`` after the name in v11. All are read; written is the one of the chat template. A written
id has nine letters and digits, as the templates demand, and is made of the call's place where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from tb_envs.actions import ToolCall
from tb_envs.parse.reading import call_of, dumps, json_at, skip
from tb_envs.parse.turn import Call, Malformed, Tools

OPEN, CALL_ID, ARGS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
_HEAD = re.compile(r"(?P<name>[\w.\-]+)\s*(?:\[CALL_ID\](?P<id>\w+))?\s*(?:\[ARGS\])?\s*(?=\{)")


def read(text: str, place: int, tools: Tools) -> tuple[list[Call], int]:
    """The calls that open at `place`, and where they end."""
    place = skip(text, place + len(OPEN))
    if text.startswith("[", place):
        value, place = json_at(text, place)
        items = cast("list[Any]", value)
        if not items:
            raise Malformed("Your list of tool calls is empty.")
        return [call_of(item, ("arguments",)) for item in items], place
    head = _HEAD.match(text, place)
    if head is None:
        raise Malformed("Your tool call is neither a JSON list nor a name with a JSON object of arguments.")
    arguments, place = json_at(text, head.end())
    call: Call = {"name": head["name"], "arguments": arguments}
    if head["id"]:
        call["id"] = head["id"]
    return [call], place


def write_list(calls: Sequence[ToolCall]) -> str:
    """The calls as one JSON list."""
    items = [
        {"name": call.name, "arguments": dict(call.arguments), "id": nine(call.id or f"call{place}")}
        for place, call in enumerate(calls)
    ]
    return f"{OPEN} {dumps(items)}"


def write_named(calls: Sequence[ToolCall]) -> str:
    """The calls one by one."""
    return "".join(f"{OPEN}{call.name}{ARGS}{dumps(dict(call.arguments))}" for call in calls)


def write_with_id(calls: Sequence[ToolCall]) -> str:
    """The calls one by one, each with its id."""
    return "".join(
        f"{OPEN}{call.name}{CALL_ID}{nine(call.id or f'call{place}')}{ARGS}{dumps(dict(call.arguments))}"
        for place, call in enumerate(calls)
    )


def nine(identity: str) -> str:
    """An id as these templates demand it: its last nine letters and digits, filled up with zeros."""
    return re.sub(r"[^A-Za-z0-9]", "", identity)[-9:].rjust(9, "0")
