"""Limits of an episode. A limit ends the talk; the database is graded all the same. There is no wall-clock limit."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from tb_envs.errors import UsageError


@dataclass(frozen=True)
class Limits:
    """How long an episode may last.

    Attributes:
        turns: actions of the agent.
        tool_calls: calls of tools.
        tokens: everything said, called and answered, estimated as one token per four characters; 0 is no limit.
        user_turns: of the customer, its first words included: who speaks to it once more gets no answer; 0 is no limit.
    """

    turns: int = 60
    tool_calls: int = 120
    tokens: int = 0
    user_turns: int = 0

    @classmethod
    def of(cls, value: Any, base: Limits | None = None) -> Limits:
        """Limits from a mapping, the rest from `base`; `UsageError` names what is wrong."""
        if isinstance(value, Limits):
            return value
        base = base or cls()
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(f"limits is a mapping such as {{'turns': 20}}, got {value!r}")
        given = cast("Mapping[str, Any]", value or {})
        names = [item.name for item in fields(cls)]
        merged = {name: getattr(base, name) for name in names}
        for name, number in given.items():
            if name not in names:
                raise UsageError(f"unknown limit {name!r}; valid: {', '.join(names)}")
            least = 0 if name in ("tokens", "user_turns") else 1
            try:
                whole = -1 if isinstance(number, bool) else operator.index(number)
            except TypeError:
                whole = -1
            if whole < least:
                raise UsageError(f"limit {name!r} must be a whole number of at least {least}, got {number!r}")
            merged[name] = whole
        return cls(**merged)
