"""The form of a row: which keys it has and of what kind their values are, told at the line where one does not.

Whoever reads rows relies on it. Refuses to know what the values mean: that a verdict fits an outcome is checked where
attempts are counted (`tb_envs.evaluation.tally`), that a row fits a campaign where one goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tb_envs.errors import UsageError

NUMBER = (int, float)
FORM: Mapping[str, tuple[type, ...]] = {
    "v": (int,),
    **dict.fromkeys(("task_id", "task_hash", "domain", "family"), (str,)),
    "split": (str, type(None)),
    "traps": (list,),
    "cell": (str,),
    "reference_length": (int, type(None)),
    **dict.fromkeys(("attempt", "seed"), (int,)),
    "agent": (dict,),
    **dict.fromkeys(("outcome", "ended_by", "error"), (str,)),
    "reward": (*NUMBER, type(None)),
    **dict.fromkeys(("turns", "user_turns", "tool_calls", "tool_errors", "malformed", "user_faults"), (int,)),
    **dict.fromkeys(("messages", "wrote", "finish", "log"), (list,)),
    "verdict": (dict, type(None)),
    **dict.fromkeys(("grader", "package", "tools_hash"), (str,)),
    **dict.fromkeys(("context", "tokens", "cost"), (dict,)),
    "retries": (int,),
    "seconds": (dict,),
}
"""Key → the kinds that its value may be of, in the order of the keys."""
LATER = ("finish", "agent")
"""Keys that rows of earlier versions lack."""
EVENT = {"kind": (str,), "name": (str,), "text": (str,), "ok": (bool,)}
"""What every event of a log has; ``data`` and ``call`` may be anything."""
CHECK = {"name": (str,), "kind": (str,), "passed": (bool,), "expected": (object,), "found": (object,)}
"""What every check of a verdict has."""
CHANGED = (
    "Rows are written whole: the file was changed since, or the disk lost some of it; "
    "remove the line to have its attempt played again"
)
"""What to do about a row that is none."""
WORDS = {
    dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a number", bool: "true or false",
    type(None): "null",
}  # fmt: skip


def read_form(line: bytes, where: str) -> dict[str, Any]:
    """The row of a line.

    Args:
        line: its JSON.
        where: file and line, for the message.

    Raises:
        UsageError: it is no row; the message says where and what is wrong.
    """
    try:
        value: Any = json.loads(line)
    except ValueError as error:  # also where the bytes are no UTF-8
        raise UsageError(f"{where} is no row: {error}. {CHANGED}") from None
    wrong = _wrong(value)
    if wrong:
        raise UsageError(f"{where} is no row: {wrong}. {CHANGED}")
    return cast("dict[str, Any]", value)


def _wrong(row: Any) -> str:
    """What is wrong with a row; empty where nothing is."""
    if found := _object(row, FORM, "it"):
        return found
    outcome: str = row["outcome"]
    if outcome not in ("success", "failure") and not outcome.startswith("error:"):
        return f"outcome is {outcome!r}; valid: success, failure, error:PART"
    if row["attempt"] < 0:
        return f"attempt is {row['attempt']}, and attempts count from 0"
    verdict = row["verdict"]
    if verdict is not None:
        if not isinstance(verdict.get("checks"), list):
            return "verdict.checks is missing or no list"
        if found := _each(verdict["checks"], CHECK, "verdict.checks"):
            return found
    if found := _each(row["log"], {**EVENT, "data": (object,), "call": (object,)}, "log"):
        return found
    if found := _each(row["messages"], {"role": (str,)}, "messages"):
        return found
    return _amounts(row)


def _amounts(row: Mapping[str, Any]) -> str:
    for role, used in row["tokens"].items():
        if used is not None and (found := _object(used, {"input": (int,), "output": (int,)}, f"tokens.{role}")):
            return found
    for name in ("cost", "seconds"):
        for part, amount in row[name].items():
            if amount is not None and not _is(amount, NUMBER):
                return f"{name}.{part} is {_kind(amount)}; a number is meant"
    return ""


def _each(values: Sequence[Any], form: Mapping[str, tuple[type, ...]], name: str) -> str:
    return next(filter(None, (_object(value, form, f"{name}[{at}]") for at, value in enumerate(values))), "")


def _object(value: Any, form: Mapping[str, tuple[type, ...]], name: str) -> str:
    if not isinstance(value, dict):
        return f"{name} is {_kind(value)}; an object is meant"
    held = cast("dict[str, Any]", value)
    for key, kinds in form.items():
        if key not in held:
            if key in LATER:
                continue
            return f"{name} has no {key!r}"
        if not _is(held[key], kinds):
            meant = " or ".join(dict.fromkeys(WORDS[kind] for kind in kinds))
            return f"{key if name == 'it' else f'{name}.{key}'} is {_kind(held[key])}; {meant} is meant"
    return ""


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds and object not in kinds)


def _kind(value: Any) -> str:
    return WORDS.get(cast("type[Any]", type(value)), "something else")
