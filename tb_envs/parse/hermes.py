r"""Hermes tool calls, as Qwen2.5, Qwen3 and the tiny model write them.

``<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>``, one block a call. Refuses a block that is not closed and
keys that it does not know. `write_compact` leaves out the blanks, which `read` does not need.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tb_envs.actions import ToolCall
from tb_envs.parse.reading import call_of, dumps, json_at, skip
from tb_envs.parse.turn import Call, Malformed, Tools

OPEN, CLOSE = "<tool_call>", "</tool_call>"


def read(text: str, place: int, tools: Tools) -> tuple[list[Call], int]:
    """The call whose block opens at `place`, and where the block ends."""
    value, place = json_at(text, place + len(OPEN))
    end = skip(text, place)
    if not text.startswith(CLOSE, end):
        raise Malformed("After the JSON of your tool call its block is not closed.")
    return [call_of(value, ("arguments",))], end + len(CLOSE)


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as the model would write them."""
    bodies = [dumps({"name": call.name, "arguments": dict(call.arguments)}) for call in calls]
    return "\n".join(f"{OPEN}\n{body}\n{CLOSE}" for body in bodies)


def write_compact(calls: Sequence[ToolCall]) -> str:
    """The calls without any blank between their parts."""
    bodies = [{"name": call.name, "arguments": dict(call.arguments)} for call in calls]
    return "".join(f"{OPEN}{json.dumps(b, ensure_ascii=False, separators=(',', ':'))}{CLOSE}" for b in bodies)
