"""Tools: typed functions whose signature is their schema, their check, their help and their MCP entry, all at once.

A tool's first parameter is the episode's `Db`; the others are its arguments, annotated with the types of
`tb_envs.authoring.values`. A tool is a mechanism: it refuses what the data forbids (`require`), never what only the
policy forbids. This module refuses tools without a docstring, without a line for each argument, or with nested ones.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, NoReturn, cast, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from tb_envs.authoring.values import Json, clean_text
from tb_envs.errors import DomainError, ToolError

_TEXT: Any = Annotated[str, BeforeValidator(clean_text)]
_CLEANED: dict[Any, Any] = {str: _TEXT, str | None: _TEXT | None}
"""Plain text arrives as the databases can hold it too."""
Effect = Literal["read", "write", "session"]


def require(condition: object, message: str) -> None:
    """Refuse the call with `message` unless `condition` holds: `ToolError`, nothing written."""
    if not condition:
        raise ToolError(message)


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused, numbers written as text are read."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, arbitrary_types_allowed=True)


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("this tool definition is shared by all episodes; change a copy.deepcopy of it")


class ReadOnlyDict(dict[str, Any]):
    """A dict that refuses changes; a deep copy or a pickle of it is an ordinary dict."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Json:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


class ReadOnlyList(list[Any]):
    """A list that refuses changes; a deep copy or a pickle of it is an ordinary list."""

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Any, ...]:
        return (list, (list(self),))


for _name in ("__setitem__", "__delitem__", "__ior__", "update", "pop", "popitem", "setdefault", "clear"):
    setattr(ReadOnlyDict, _name, _refuse)
for _name in ("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "extend", "insert", "pop", "remove",
              "clear", "sort", "reverse"):  # fmt: skip
    setattr(ReadOnlyList, _name, _refuse)


def read_only(node: Any) -> Any:
    """JSON-like data that refuses changes."""
    if isinstance(node, dict):
        return ReadOnlyDict({key: read_only(value) for key, value in cast("Json", node).items()})
    if isinstance(node, list):
        return ReadOnlyList([read_only(item) for item in cast("list[Any]", node)])
    return node


@dataclass(frozen=True)
class Tool:
    """One tool of a domain."""

    name: str
    effect: Effect
    description: str
    function: Callable[..., Json]
    arguments: type[Arguments]

    @cached_property
    def schema(self) -> Json:
        """The JSON schema of the arguments, flat and without titles."""
        return _plain_schema(self.arguments.model_json_schema())

    @cached_property
    def definition(self) -> Json:
        """The tool as an OpenAI-style function definition, read-only: every episode shows the same one."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return read_only({"type": "function", "function": function})

    @cached_property
    def _check(self) -> Callable[[Json], Any]:
        return self.arguments.__pydantic_validator__.validate_python

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments in their inner form, or a `ToolError` that names each wrong field and the accepted form."""
        try:
            checked = self._check(dict(arguments))
        except ValidationError as error:
            raise ToolError(self._explain(error)) from None
        return checked.__dict__

    def _explain(self, error: ValidationError) -> str:
        problems: list[str] = []
        for item in error.errors(include_url=False)[:8]:
            field = str(item["loc"][0]) if item["loc"] else "arguments"
            shown = repr(item.get("input"))[:80]
            kind = item["type"]
            if kind == "missing":
                problems.append(f"`{field}` is missing ({self._accepted(field)})")
            elif kind == "extra_forbidden":
                problems.append(f"`{field[:60]}` is not an argument of {self.name}")
            else:
                problems.append(f"`{field}`: {item['msg']}, got {shown} ({self._accepted(field)})")
        names = ", ".join(self.schema["properties"]) or "none"
        return f"{self.name}: {'; '.join(problems)}. Arguments: {names}"

    def _accepted(self, field: str) -> str:
        found = self.schema["properties"].get(field, {})
        for option in (found, *found.get("anyOf", ())):
            if "enum" in option:
                return "one of " + ", ".join(map(str, option["enum"]))
            if "const" in option:
                return f"must be {option['const']}"
        text = found.get("description") or found.get("type") or "see the tool's schema"
        return str(text)[:160]


class Toolset:
    """A named group of tools of one domain."""

    def __init__(self, name: str, description: str) -> None:
        self.name = name
        self.description = description
        self.tools: dict[str, Tool] = {}

    def read(self, function: Callable[..., Json]) -> Callable[..., Json]:
        """Register a tool that changes nothing."""
        return self._add(function, "read")

    def write(self, function: Callable[..., Json]) -> Callable[..., Json]:
        """Register a tool that changes rows; one call is one transaction."""
        return self._add(function, "write")

    def _add(self, function: Callable[..., Json], effect: Effect) -> Callable[..., Json]:
        tool = make_tool(function, effect)
        if tool.name in self.tools:
            raise DomainError(f"toolset {self.name}: two tools are called {tool.name}")
        self.tools[tool.name] = tool
        return function


def make_tool(function: Callable[..., Json], effect: Effect) -> Tool:
    """Build a tool from a typed, documented function."""
    name = function.__name__
    description, helps = _read_docstring(name, function.__doc__)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    hints = get_type_hints(function, include_extras=True, localns={"Db": object})
    fields: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name not in helps:
            raise DomainError(f"tool {name}: argument `{parameter.name}` has no line under Args:")
        if parameter.name not in hints:
            raise DomainError(f"tool {name}: argument `{parameter.name}` has no type")
        hint = _CLEANED.get(hints[parameter.name], hints[parameter.name])
        default: Any = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hint, Field(default, description=helps[parameter.name]))
    unknown = set(helps) - set(fields)
    if unknown:
        raise DomainError(f"tool {name}: documented but not in the signature: {', '.join(sorted(unknown))}")
    model = create_model(f"{name}_arguments", __base__=Arguments, **fields)
    return Tool(name=name, effect=effect, description=description, function=function, arguments=model)


def _read_docstring(name: str, text: str | None) -> tuple[str, dict[str, str]]:
    """A Google docstring as (description, argument → help)."""
    if not text:
        raise DomainError(f"tool {name}: a tool needs a docstring, it is what the agent reads")
    body, _, rest = inspect.cleandoc(text).partition("\nArgs:\n")
    helps: dict[str, str] = {}
    current = ""
    for line in rest.splitlines():
        found = re.match(r"^ {4}(\w+): (.*)$", line)
        if found:
            current = found[1]
            helps[current] = found[2].strip().replace("``", "`")
        elif line.startswith("     ") and current:
            helps[current] += " " + line.strip().replace("``", "`")
        elif line and not line.startswith(" "):
            break
    return " ".join(body.split()).replace("``", "`"), helps


def _plain_schema(schema: Json) -> Json:
    """Drop titles, inline definitions, collapse ``anyOf [X, null]`` of optional arguments to X."""
    definitions: Json = schema.get("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in cast("list[Any]", node)]
        return walk_object(cast("Json", node)) if isinstance(node, dict) else node

    def walk_object(node: Json) -> Json:
        if "$ref" in node:
            inlined: Json = definitions[str(node["$ref"]).rsplit("/", 1)[-1]]
            return walk_object({**inlined, **{key: value for key, value in node.items() if key != "$ref"}})
        out = {key: walk(value) for key, value in node.items() if key not in ("title", "$defs", "additionalProperties")}
        options: list[Json] = out.get("anyOf", [])
        if len(options) == 2 and {"type": "null"} in options:
            kept = next(option for option in options if option != {"type": "null"})
            out = {**kept, **{key: value for key, value in out.items() if key != "anyOf"}}
        return out

    plain = walk_object({key: value for key, value in schema.items() if key != "description"})
    plain["properties"] = {
        key: {name: item for name, item in value.items() if not (name == "default" and item is None)}
        for key, value in plain.get("properties", {}).items()
    }
    plain["additionalProperties"] = False
    for key, value in plain["properties"].items():
        if value.get("type") == "object" or value.get("items", {}).get("type") in ("object", "array"):
            raise DomainError(f"argument `{key}` is nested; keep tool arguments flat")
    return plain
