"""What an agent reads in the compact rendering: a system line, and results of tools with the fields that rules need.

Which fields a tool's result shows is declared in ``DOMAIN.yaml`` (with the prompt ``spare``, ``DOMAIN.spare.yaml`` over
it), the same for every task, in training and in evaluation; a tool that is not declared shows everything, and so does
every domain without such a file. Errors are never shortened, ids never cut, and nothing is added or reworded. Refuses
nothing: text that is no JSON object stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from tb_envs.task import Task

COMPACT = ("tiny", "spare")
"""The prompts that are compact."""

Fields = Mapping[str, Any]
"""Field → None, or the fields of the objects in it."""


def system_line(task: Task) -> str:
    """The domain and the time of the request: all that stands before the customer's first words."""
    return f"{task.domain.name} {task.now}"


@lru_cache(maxsize=32)
def shown_fields(domain: str, prompt: str = "tiny") -> Mapping[str, Fields]:
    """Tool → the fields of its result that are shown, as declared for this domain; empty if nothing is."""
    import yaml

    declared: dict[str, list[str]] = {}
    for name in (f"{domain}.yaml", f"{domain}.spare.yaml")[: 1 + (prompt == "spare")]:
        path = Path(__file__).parent / name
        declared |= yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
    return {tool: _tree(names) for tool, names in declared.items()}


def compact_result(domain: str, tool: str, text: str, prompt: str = "tiny") -> str:
    """The result of a tool as the agent reads it.

    Args:
        domain: whose tool it is.
        tool: its name.
        text: the result as the environment gives it: a JSON object, or an error.
        prompt: ``tiny``, or ``spare`` for the shorter list of a few families.
    """
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict):
        return text
    found = cast("dict[str, Any]", value)
    fields = shown_fields(domain, prompt).get(tool)
    if fields is not None and "error" not in found:
        found = _shown(found, fields)
    return json.dumps(_filled(found), ensure_ascii=False, separators=(",", ":"))


def _tree(names: list[str]) -> Fields:
    out: dict[str, Any] = {}
    for name in names:
        outer, _, inner = name.partition(".")
        if inner:
            out.setdefault(outer, {})[inner] = None
        else:
            out[outer] = None
    return out


def _shown(value: Any, fields: Fields | None) -> Any:
    if fields is None:
        return value
    if isinstance(value, list):
        return [_shown(item, fields) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {name: _shown(item, fields[name]) for name, item in found.items() if name in fields}
    return value


def _filled(value: Any) -> Any:
    """Without nulls and empty texts, which say no more than their absence; empty lists stay."""
    if isinstance(value, list):
        return [_filled(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {name: _filled(item) for name, item in found.items() if item is not None and item != ""}
    return value
