"""Arguments that were written as text, cast by the tool's JSON schema; for formats whose values have no types.

A string stays as it is wherever the schema takes a string. A cast that fails leaves the text, so that the tool itself
explains what is wrong with it. Never raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from tb_envs.parse.reading import json_at
from tb_envs.parse.turn import Malformed, Tools

Schema = Mapping[str, Any]

FAILED: Any = object()
"""What a cast gives that does not fit, for None is a value."""
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NULLS = ("null", "None")
_DEPTH = 8


def cast_arguments(tool: str, arguments: Mapping[str, str], tools: Tools) -> dict[str, Any]:
    """Each argument as the schema of `tool` wants it; those of unknown tools and unknown arguments stay text."""
    found: Any = next((t["function"].get("parameters") for t in tools if _name(t) == tool), None)
    parameters: Schema = found or {}
    known: Schema = parameters.get("properties") or {}
    return {key: cast_value(text, known[key], parameters) if key in known else text for key, text in arguments.items()}


def cast_value(text: str, schema: Any, root: Schema | None = None) -> Any:
    """`text` as a value of `schema`, or `text` itself.

    ``null`` and ``None`` are null wherever null is allowed, even beside a string. Alternatives (``anyOf``, ``oneOf``, a
    list of types) are tried in their order, the first that fits is taken.

    Args:
        text: as the model wrote it.
        schema: JSON schema of the value.
        root: where ``#/$defs/…`` is looked up.
    """
    options = list(_options(schema, root or {}, _DEPTH))
    if text.strip() in _NULLS and any(_takes_null(option) for option in options):
        return None
    for option in options:
        value = _as(text, option)
        if value is not FAILED:
            return value
    return text


def _options(schema: Any, root: Schema, depth: int) -> Iterable[Schema]:
    """The alternatives of a schema, each with one type at most."""
    if not isinstance(schema, Mapping) or not depth:
        return
    own = cast("Schema", schema)
    reference = own.get("$ref")
    if isinstance(reference, str):
        yield from _options(_lookup(reference, root), root, depth - 1)
    for word in ("anyOf", "oneOf", "allOf"):
        for part in own.get(word) or ():
            yield from _options(part, root, depth - 1)
    kinds = own.get("type")
    listed: list[Any] = list(cast("list[Any]", kinds)) if isinstance(kinds, list | tuple) else [kinds]
    for kind in listed:
        if kind is not None or "enum" in own or "const" in own:
            yield {**own, "type": kind}
    if own.get("nullable") is True:
        yield {"type": "null"}


def _lookup(reference: str, root: Schema) -> Any:
    place: Any = root
    for name in reference.removeprefix("#/").split("/"):
        place = cast("Schema", place).get(name) if isinstance(place, Mapping) else None
    return place


def _takes_null(option: Schema) -> bool:
    return option["type"] == "null" or (option["type"] is None and None in _allowed(option))


def _allowed(option: Schema) -> list[Any]:
    return [option["const"]] if "const" in option else list(option.get("enum") or ())


def _as(text: str, option: Schema) -> Any:
    kind, bare = option["type"], text.strip()
    if kind == "string":
        return text
    if kind == "boolean":
        return {"true": True, "false": False}.get(bare.lower(), FAILED)
    if kind == "integer":
        return _integer(bare)
    if kind == "number":
        return _number(bare)
    if kind in ("array", "object"):
        value = _json(bare)
        return cast("Any", value) if isinstance(value, list if kind == "array" else dict) else FAILED
    if kind is None:  # an enum without a type
        allowed = _allowed(option)
        value = text if text in allowed else _json(bare)
        return value if any(value == one and type(value) is type(one) for one in allowed) else FAILED
    return FAILED


def _integer(text: str) -> Any:
    try:
        return int(text) if _INTEGER.fullmatch(text) else FAILED
    except ValueError:  # more digits than Python reads
        return FAILED


def _number(text: str) -> Any:
    if not _NUMBER.fullmatch(text):
        return FAILED
    if _INTEGER.fullmatch(text):
        return _integer(text)
    value = float(text)
    return value if math.isfinite(value) else FAILED


def _json(text: str) -> Any:
    try:
        value, end = json_at(text, 0)
    except Malformed:
        return FAILED
    return value if end == len(text) else FAILED


def _name(tool: Mapping[str, Any]) -> Any:
    return tool.get("function", {}).get("name")
