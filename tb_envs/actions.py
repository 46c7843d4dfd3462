"""Actions: what an agent's turn may be, and how a wrong one is explained. Parses; never executes, never raises.

A turn is plain text (said to the customer) or a JSON object ``{"content": str | null, "tool_calls": [{"id"?, "name",
"arguments"}]}``; the OpenAI form with ``function`` and string ``arguments`` is accepted, and so is a dict. Text that
begins like a call (``{``, ``[``, a code fence, ``<tool_call>``) and is none is a problem, never speech.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

MAX_CALLS = 32
"""Tool calls in one turn at most."""
MAX_DEPTH = 64
"""Lists and objects inside each other in the arguments of a call at most."""

HOW = (
    'Write plain text to speak to the customer, or one JSON object to call tools: {"content": null, "tool_calls": '
    '[{"name": "<tool>", "arguments": {"<argument>": "<value>"}}]}'
)
_STARTS = ("{", "[", "```", "<tool_call")
_dumps = json.JSONEncoder(ensure_ascii=False).encode  # made once, like `_loads`: `json.dumps` would make one per call


class ToolCall(NamedTuple):
    """One call of a turn; `written` are its arguments as JSON, `problem` is set when they are no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    written: str
    problem: str = ""


class Turn(NamedTuple):
    """One assistant turn. With calls, `content` is kept in the log and not spoken."""

    content: str
    calls: tuple[ToolCall, ...] = ()
    problem: str = ""


def say(text: str) -> str:
    """The action that says `text`, whatever it begins with."""
    return _dumps({"content": text, "tool_calls": []}) if looks_like_call(text) else text


def call(tool: str, /, **arguments: Any) -> str:
    """The action that calls one tool."""
    return _dumps({"content": None, "tool_calls": [{"name": tool, "arguments": arguments}]})


def looks_like_call(text: str) -> bool:
    """Whether text begins like a structured turn."""
    return text.lstrip("\ufeff \t\r\n")[:16].lower().startswith(_STARTS)


def parse_action(action: Any) -> Turn:
    """An action as a `Turn`; what is wrong with it is in `problem`, worded for the agent.

    A `Turn` is taken as it is: whoever reads a model's own format has parsed, and explained, it already.
    """
    if isinstance(action, Turn):
        return action
    if not isinstance(action, str):
        if isinstance(action, Mapping):
            return _parse_mapping(cast("Mapping[Any, Any]", action))
        return _wrong(f"An action is text or an object, not {type(action).__name__}.")
    if not action.strip("\ufeff \t\r\n\x00"):
        return _wrong("Your turn was empty.")
    if not looks_like_call(action):
        return Turn(_clean(action))
    text = action.strip("\ufeff \t\r\n")
    if text.startswith("```"):
        return _wrong("A call in a code fence is not read; write the JSON object alone.")
    if text.lower().startswith("<tool_call"):
        return _wrong("A <tool_call> tag is not read; write the JSON object alone.")
    try:
        value = _loads(text)
    except RecursionError:
        return _wrong("The JSON is nested too deeply.")
    except ValueError as error:
        return _wrong(f"This begins like a call and is not valid JSON ({str(error)[:120]}).")
    if not isinstance(value, dict):
        return _wrong("A JSON array is not an action; a turn is one JSON object.")
    return _parse_object(cast("dict[Any, Any]", value))


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


_loads = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _parse_mapping(action: Mapping[Any, Any]) -> Turn:
    """An action object given as a mapping: taken by value, through JSON, so that nothing else can hide in it."""
    try:
        value = _loads(json.dumps(dict(action)))
    except Exception as error:  # whatever a stranger's object does when it is read
        return _wrong(f"The action holds what JSON cannot say ({type(error).__name__}: {str(error)[:120]}).")
    return _parse_object(value)


def _clean(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _parse_object(value: dict[Any, Any]) -> Turn:
    """A turn from an object that came through JSON: dicts, lists and plain values."""
    if "tool_calls" not in value and "content" not in value:
        if "name" in value and "arguments" in value:
            return _wrong("A bare call is not read; put it into the list `tool_calls`.")
        return _wrong("The object has neither `tool_calls` nor `content`.")
    content = value.get("content")
    if content is not None and not isinstance(content, str):
        return _wrong("`content` must be text or null.")
    raw: Any = value.get("tool_calls") or []
    if not isinstance(raw, list):
        return _wrong("`tool_calls` must be a list.")
    items = cast("list[Any]", raw)
    if len(items) > MAX_CALLS:
        return _wrong(f"{len(items)} tool calls in one turn; at most {MAX_CALLS}.")
    if not items:
        text = content or ""
        if not text.strip():
            return _wrong("Your turn was empty.")
        if text.lstrip()[:12].lower().startswith(("```", "<tool_call")) or _is_bare_call(text):
            return _wrong("The content looks like a call and would have been said to the customer.")
        return Turn(_clean(text))
    calls: list[ToolCall] = []
    for place, item in enumerate(items, 1):
        parsed = _parse_call(item, place)
        if isinstance(parsed, str):
            return _wrong(parsed)
        calls.append(parsed)
    return Turn(_clean(content or ""), tuple(calls))


def _is_bare_call(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return '"arguments"' in text
    return isinstance(value, dict) and ("tool_calls" in value or "name" in value)


def _parse_call(item: Any, place: int) -> ToolCall | str:
    if not isinstance(item, dict):
        return f"Tool call {place} is not an object."
    call_ = cast("dict[Any, Any]", item)
    inner = call_.get("function", call_)
    if not isinstance(inner, dict):
        return f"Tool call {place}: `function` is not an object."
    body = cast("dict[Any, Any]", inner)
    name: Any = body.get("name")
    arguments: Any = body.get("arguments")
    if not isinstance(name, str) or not name.strip():
        return f"Tool call {place} has no `name`."
    identity = call_.get("id")
    key = _clean(identity) if isinstance(identity, str) else ""
    name = _clean(name.strip())
    problem = ""
    if isinstance(arguments, str):
        try:
            arguments = _loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            problem = "`arguments` is text that is not valid JSON; give a JSON object."
    if arguments is None:
        arguments = {}
    if not problem and not isinstance(arguments, dict):
        problem = f"`arguments` must be a JSON object, not {type(arguments).__name__}."
    if not problem and _is_deep(arguments):
        problem = f"`arguments` is nested too deeply; at most {MAX_DEPTH} levels."
    if problem:
        return ToolCall(key, name, {}, "{}", problem)
    checked = cast("dict[str, Any]", arguments)
    written = json.dumps(checked)
    if "\\ud" in written:  # half a character, perhaps, which no file and no request can hold
        checked = _loads(_clean(json.dumps(checked, ensure_ascii=False)))
        written = json.dumps(checked)
    return ToolCall(key, name, checked, written)


def _is_deep(value: Any) -> bool:
    """Whether lists and objects are nested deeper than anybody here has to walk: what reads a log recurses."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for each in level:
            inner += each.values() if isinstance(each, dict) else each
        level = [each for each in inner if isinstance(each, list | dict)]  # pyright: ignore[reportUnknownVariableType]
        if not level:
            return False
    return True


def _wrong(problem: str) -> Turn:
    return Turn("", (), f"{problem} {HOW}")
