"""Answers of a session server, read as what a hostile one may send: each is of its one form, or a `BackendError`.

A tool may have been taken over, and its server with it. So ids are checked before a path is made of them, rows are of
tables that exist and as wide as those are, and whatever else is no answer is said in words. Refuses to judge whether a
well-formed answer is true: nobody outside can.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, cast

from tb_envs.authoring.models import TableSpec
from tb_envs.errors import BackendError
from tb_envs.session.backend import ToolResult
from tb_envs.store.dump import Dump
from tb_envs.store.journal import RowChange, Values

DEEPEST = 64
"""Levels of an answer: no tool comes near, and nothing that walks it afterwards runs out of stack."""
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_SCALARS = (str, int, float, type(None))


class Opened(NamedTuple):
    """A session that a server has opened.

    Attributes:
        id: its name there, a secret.
        live: sessions that the server has open, this one included; 0 if it did not say.
    """

    id: str
    live: int


def read_json(content: bytes | bytearray) -> dict[str, Any]:
    """An answer's JSON object, empty if it has none.

    Raises:
        ValueError: it is no JSON, too deep, or has half characters, which no file could hold.
    """
    if not content:
        return {}
    text = content.decode()
    try:
        data: Any = json.loads(text)
    except RecursionError:
        raise ValueError("the answer is too deep") from None
    level = [data]
    for _ in range(DEEPEST):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            break
    else:
        raise ValueError("the answer is too deep")
    if "\\u" in text:
        json.dumps(data, ensure_ascii=False).encode()  # halves of characters: UnicodeEncodeError
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _inside(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [*cast("dict[str, Any]", item).values()]
    return cast("list[Any]", item) if isinstance(item, list) else []


def read_opened(data: Mapping[str, Any]) -> Opened:
    """The answer to the opening of a session."""
    name, live = data.get("id"), data.get("live", 0)
    if not isinstance(name, str) or not _ID.fullmatch(name):
        _refuse("the session's id is none")
    if not _whole(live) or not 0 <= live < 1_000_000:
        _refuse("the number of its sessions is none")
    return Opened(name, live)


def read_result(data: Mapping[str, Any], tool: str, checked: Mapping[str, Any]) -> ToolResult:
    """The answer to ``tools/call``, with the arguments as they were checked here."""
    match data.get("result"):
        case {"content": [{"type": "text", "text": str(text)}], "structuredContent": dict(), "isError": bool(failed)}:
            return ToolResult(not failed, cast("dict[str, Any]", data["result"]["structuredContent"]), text, checked)
        case _:
            _refuse(f"{tool}: it is no tool result")


def read_changes(data: Mapping[str, Any], specs: Mapping[str, TableSpec], seen: int, call: int) -> list[RowChange]:
    """Row changes after number `seen`, as made by call `call`."""
    listed: Any = data.get("changes")
    if not isinstance(listed, list):
        _refuse("the journal is no list")
    changes: list[RowChange] = []
    for row in cast("list[Any]", listed):
        if not isinstance(row, list) or len(cast("list[Any]", row)) != 6:
            _refuse("a change in the journal is no list of six")
        sequence, _, table, key, before, after = cast("list[Any]", row)
        if not _whole(sequence) or sequence <= seen:
            _refuse("the journal is not in order")
        if not isinstance(table, str) or table not in specs or not isinstance(key, str):
            _refuse("the journal names no table and row of this domain")
        sides = [None if side is None else _values(side, specs[table]) for side in (before, after)]
        if sides == [None, None]:
            _refuse("a change in the journal changes nothing")
        changes.append(RowChange(sequence, call, table, key, *sides))
        seen = sequence
    return changes


def read_dump(data: Mapping[str, Any], specs: Mapping[str, TableSpec]) -> Dump:
    """The whole database."""
    found: Any = data.get("dump")
    if not isinstance(found, dict) or cast("dict[str, Any]", found).keys() != specs.keys():
        _refuse("the dump has not the tables of this domain")
    dump: Dump = {}
    for table, rows in cast("dict[str, Any]", found).items():
        if not isinstance(rows, dict):
            _refuse("a table of the dump is no object")
        dump[table] = {key: _values(row, specs[table]) for key, row in cast("dict[str, Any]", rows).items()}
    return dump


def _values(row: Any, spec: TableSpec) -> Values:
    if not isinstance(row, list) or len(cast("list[Any]", row)) != len(spec.columns):
        _refuse(f"a row of {spec.name} has not its columns")
    values = tuple(cast("list[Any]", row))
    if not all(
        isinstance(value, _SCALARS) and (not isinstance(value, float) or math.isfinite(value)) for value in values
    ):
        _refuse(f"a row of {spec.name} holds what no column can")
    return values


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse(what: str) -> NoReturn:
    raise BackendError(f"the session server's answer cannot be used: {what}")
