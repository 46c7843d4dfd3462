"""Small readers that the families share: JSON at a place, blanks, and a call's object. Raise `Malformed`, in words."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, cast

from tb_envs.parse.turn import Call, Malformed

BLANK = "\ufeff \t\r\n"
_COMMON = {"name", "id", "type"}


def skip(text: str, place: int) -> int:
    """The place of the next character that is not blank."""
    while place < len(text) and text[place] in BLANK:
        place += 1
    return place


def json_at(text: str, place: int) -> tuple[Any, int]:
    """The JSON value at a place, and where it ends."""
    start = skip(text, place)
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise Malformed("The JSON of your tool call is nested too deeply.") from None
    except json.JSONDecodeError as error:
        at = error.pos - start
        raise Malformed(f"The JSON of your tool call is not valid ({error.msg}, at character {at}).") from None
    except ValueError as error:
        raise Malformed(f"The JSON of your tool call is not valid ({str(error)[:120]}).") from None


def call_of(value: Any, words: Collection[str]) -> Call:
    """A JSON object as a call.

    Args:
        value: the object.
        words: what the format calls the arguments; exactly one of them is there, or none.
    """
    if not isinstance(value, dict):
        raise Malformed(f"A tool call is a JSON object, not {_kind(value)}.")
    found = cast("dict[str, Any]", value)
    name = found.get("name")
    if not isinstance(name, str) or not name.strip():
        raise Malformed("Your tool call has no `name`.")
    strange = sorted(set(found) - _COMMON - set(words))
    if strange:
        raise Malformed(f"Your tool call has a key {strange[0][:40]!r} that is not known there.")
    given = [word for word in words if word in found]
    if len(given) > 1:
        raise Malformed(f"Your tool call has both `{given[0]}` and `{given[1]}`.")
    call: Call = {"name": name, "arguments": found[given[0]] if given else {}}
    if isinstance(found.get("id"), str):
        call["id"] = found["id"]
    return call


def dumps(value: Any) -> str:
    """JSON as chat templates write it (transformers' ``tojson``)."""
    return json.dumps(value, ensure_ascii=False)


def as_text(value: Any) -> str:
    """A value as a format without types writes it."""
    return value if isinstance(value, str) else dumps(value)


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _kind(value: Any) -> str:
    return {list: "a list", str: "text", type(None): "null"}.get(cast("Any", type(value)), "a bare value")
