"""Random valid arguments for a tool, from its JSON schema and the values seen so far. For baselines and fuzzing."""

from __future__ import annotations

import re
from typing import Any

from tb_envs.authoring.rng import Rng
from tb_envs.authoring.toolset import Tool

_IDS = re.compile(r"\b[A-Z]{2,4}[-.][A-Z0-9][A-Z0-9.\-]*\b")
_DATES = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_AMOUNTS = re.compile(r"\b\d+\.\d\d\b")
_PAIRS = re.compile(r'"(\w+)": "([^"]{1,60})"')


class ArgumentSampler:
    """Draws arguments that pass a tool's checks more often than not."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._ids: list[str] = []
        self._dates: list[str] = []
        self._amounts: list[str] = ["10.00", "250.00"]
        self._named: dict[str, list[str]] = {}

    def see(self, text: str) -> None:
        """Take up what a tool or the customer has named."""
        text = text[:20_000]
        for kept, found in ((self._ids, _IDS), (self._dates, _DATES), (self._amounts, _AMOUNTS)):
            for value in found.findall(text):
                if value not in kept:
                    kept.append(value)
        for name, value in _PAIRS.findall(text):
            values = self._named.setdefault(name, [])
            if value not in values:
                values.append(value)

    def arguments(self, tool: Tool) -> dict[str, Any]:
        """One set of arguments: all required ones, each optional one half of the time."""
        schema = tool.schema
        required = set(schema.get("required", ()))
        return {
            name: self._value(name, node)
            for name, node in schema["properties"].items()
            if name in required or self._rng.chance(0.5)
        }

    def _value(self, name: str, node: dict[str, Any]) -> Any:
        rng = self._rng
        if "enum" in node:
            return rng.pick(*node["enum"])
        if "const" in node:
            return node["const"]
        match node.get("type"):
            case "integer":
                low = node.get("minimum", node.get("exclusiveMinimum", 0))
                return rng.between(low, min(node.get("maximum", low + 20), low + 20))
            case "number":
                return rng.pick(*self._amounts)
            case "boolean":
                return rng.chance(0.5)
            case "array":
                return [self._value(name, node.get("items", {"type": "string"})) for _ in range(rng.between(1, 2))]
            case _:
                return self._text(name, node)

    def _text(self, name: str, node: dict[str, Any]) -> str:
        rng = self._rng
        if node.get("format") in ("date", "date-time"):
            return rng.pick(*self._dates) if self._dates else "2031-06-01"
        if self._named.get(name) and rng.chance(0.8):
            return rng.pick(*self._named[name])
        if name.endswith("_id") and self._ids:
            return rng.pick(*self._ids)
        return rng.pick("smith", "please see above", "late", "a question")
