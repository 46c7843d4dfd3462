"""JSON tool calls of Llama 3.1 and 3.2.

``{"name": …, "parameters": {…}}`` as the whole turn, or after ``<|python_tag|>``; several are separated by ``;`` (the
templates show one call a turn, servers read several so). ``arguments`` is read as ``parameters`` is. Refuses Python
code after the tag: none of our tools is one of Llama's built-in tools.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs.actions import ToolCall
from tb_envs.parse.reading import call_of, dumps, json_at, skip
from tb_envs.parse.turn import Call, Malformed, Tools

TAG = "<|python_tag|>"


def read(text: str, place: int, tools: Tools) -> tuple[list[Call], int]:
    """The calls from `place` on, where the tag or a brace stands, and where they end."""
    place = skip(text, place + len(TAG) if text.startswith(TAG, place) else place)
    calls: list[Call] = []
    while True:
        if not text.startswith("{", place):
            raise Malformed("Where the JSON object of a tool call should begin, your turn goes on with something else.")
        value, place = json_at(text, place)
        calls.append(call_of(value, ("parameters", "arguments")))
        after = skip(text, place)
        if not text.startswith(";", after):
            return calls, place
        place = skip(text, after + 1)
        if place == len(text):
            return calls, place


def write(calls: Sequence[ToolCall]) -> str:
    """The calls as the model would write them."""
    return "; ".join(dumps({"name": call.name, "parameters": dict(call.arguments)}) for call in calls)
