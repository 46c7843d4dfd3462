"""What an agent does in a script: reference solutions, `obeys` scripts and mistakes are lists of these steps.

A later step may use what an earlier call returned: ``call("open_ticket", …, save="ticket")`` and then
``call("add_ticket_comment", ticket_id=use("ticket", "ticket_id"))``. A value that has to be computed names what it is
computed from: ``derived(amount, stay.id, "570.00")``; the certificate checks that each of those was visible by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast


@dataclass(frozen=True)
class Use:
    """A value from an earlier call's result: `path` is a key, or keys joined by dots, list indices included."""

    saved: str
    path: str


@dataclass(frozen=True)
class Derived:
    """A computed value and the visible values it is computed from."""

    value: Any
    needs: tuple[Any, ...]


@dataclass(frozen=True)
class Ask:
    """Ask the customer for facts by name."""

    facts: tuple[str, ...]


@dataclass(frozen=True)
class Say:
    """Say something to the customer: a question of consent, an offer, a price, the outcome."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call a tool. `earns` names the expectations that hold only because of this call."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    save: str = ""
    earns: tuple[str, ...] = ()


Step: TypeAlias = Ask | Say | Call


def ask(*facts: str) -> Ask:
    """Ask the customer for these facts."""
    return Ask(facts)


def say(text: str) -> Say:
    """Say `text` to the customer."""
    return Say(text)


def call(tool: str, *, save: str = "", earns: str | tuple[str, ...] = (), **arguments: Any) -> Call:
    """Call `tool`; arguments that are None are left out."""
    names = (earns,) if isinstance(earns, str) else earns
    return Call(tool, {key: value for key, value in arguments.items() if value is not None}, save, names)


def use(saved: str, path: str) -> Use:
    """The value at `path` in the result saved under `saved`."""
    return Use(saved, path)


def derived(value: Any, *needs: Any) -> Derived:
    """A computed argument, with the visible values it needs."""
    return Derived(value, needs)


def value_of(argument: Any, saved: Mapping[str, Any]) -> Any:
    """An argument's real value; raises `KeyError` when the result it uses is missing."""
    if isinstance(argument, Derived):
        return value_of(argument.value, saved)
    if isinstance(argument, list | tuple):
        return [value_of(item, saved) for item in cast("list[Any]", argument)]
    if not isinstance(argument, Use):
        return argument
    node: Any = saved[argument.saved]
    for part in argument.path.split("."):
        node = cast("list[Any]", node)[int(part)] if isinstance(node, list) else node[part]
    return node


def uses(argument: Any) -> set[str]:
    """The names of saved results an argument needs."""
    if isinstance(argument, Use):
        return {argument.saved}
    if isinstance(argument, Derived):
        return (
            uses(argument.value).union(*(uses(need) for need in argument.needs))
            if argument.needs
            else uses(argument.value)
        )
    if isinstance(argument, list | tuple):
        return set[str]().union(*(uses(item) for item in cast("list[Any]", argument)))
    return set()
