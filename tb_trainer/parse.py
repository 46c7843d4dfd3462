"""The model's text to an action of the environment, and back: Hermes tool calls, as Qwen3 writes them.

``<tool_call>{"name": …, "arguments": {…}}</tool_call>``, one block a call; text beside calls is content, which the
environment logs and does not speak. A malformed block makes the whole turn an action that the environment refuses: the
agent reads what was wrong, nothing is carried out, and nothing of it is said to the customer. This module never repairs
a call and never drops one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tb_envs.actions import looks_like_call, parse_action

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_BLOCK = re.compile(rf"{OPEN}(.*?)(?:{CLOSE}|\Z)", re.DOTALL)
_BLANK = "\ufeff \t\r\n"


def action_of(text: str) -> Any:
    """What the environment is given for a turn of the model."""
    if OPEN not in text:
        return text
    calls: list[Any] = []
    for match in _BLOCK.finditer(text):
        body = match[1].strip(_BLANK)
        try:
            calls.append(json.loads(body))
        except (ValueError, RecursionError):
            # As JSON text the environment explains where it breaks; as a list item, that it is no object.
            return body if looks_like_call(body) else {"content": None, "tool_calls": [body]}
        if not match[0].endswith(CLOSE):
            return {"content": None, "tool_calls": [f"{OPEN} without {CLOSE}"]}
    return {"content": _BLOCK.sub("", text).strip(_BLANK) or None, "tool_calls": calls}


def text_of(action: Any) -> str:
    """A valid action as the model would write it; the opposite of `action_of`."""
    turn = parse_action(action)
    blocks = [
        f"{OPEN}\n{json.dumps({'name': call.name, 'arguments': dict(call.arguments)}, ensure_ascii=False)}\n{CLOSE}"
        for call in turn.calls
    ]
    return "\n".join([turn.content, *blocks] if turn.content else blocks)
