"""Knobs that make a task harder and leave its right end: more tools, more people, another manner, old articles.

A knob is a setting of the environment, not of the task: suites and their hashes know none of it, and a result is
reported beside its knobs. Imports nothing heavy; what a domain adds for them is in its own `distractors` and `crowd`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from tb_envs.errors import UsageError

MOST = {"distractors": 15, "lookalikes": 8, "stale_articles": 20}
MANNERS = ("plain", "terse", "rambling", "digressing", "pushy", "slow")
"""Those of `tb_envs.authoring.persona.Manner`, which would import too much here."""


@dataclass(frozen=True)
class Knobs:
    """How much harder than written a task is played.

    Attributes:
        distractors: further tools of the domain that look useful and that no task needs, 0 to 15.
        lookalikes: near duplicates placed beside each person the task is about, 0 to 8.
        manner: how the customer speaks, instead of what the task says: ``plain``, ``terse``, ``rambling``,
            ``digressing``, ``pushy``, ``slow``; empty leaves it.
        stale_articles: superseded editions, with other figures, among the articles, 0 to 20.
    """

    distractors: int = 0
    lookalikes: int = 0
    manner: str = ""
    stale_articles: int = 0

    @classmethod
    def of(cls, value: Any) -> Knobs:
        """Knobs from a mapping (or None); `UsageError` names what is wrong."""
        if isinstance(value, Knobs):
            return value
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(f"knobs is a mapping such as {{'distractors': 10, 'manner': 'terse'}}, got {value!r}")
        given = cast("Mapping[str, Any]", value or {})
        names = [item.name for item in fields(cls)]
        for name in given:
            if name not in names:
                raise UsageError(f"unknown knob {name!r}; valid: {', '.join(names)}")
        return cls(**{name: _checked(name, setting) for name, setting in given.items()})

    def __bool__(self) -> bool:
        return self != NONE

    def to_json(self) -> dict[str, int | str]:
        """Those that are turned."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.to_json().items()) or "none"


def _checked(name: str, value: Any) -> Any:
    if name == "manner":
        if value not in (*MANNERS, ""):
            raise UsageError(f"knob 'manner' is one of {', '.join(MANNERS)}, got {value!r}")
        return value
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= MOST[name]:
        raise UsageError(f"knob {name!r} is a whole number from 0 to {MOST[name]}, got {value!r}")
    return number


def read_knobs(text: str) -> Knobs:
    """``distractors=10,manner=terse`` as knobs.

    Raises:
        UsageError: it is not written so, or a value is not valid.
    """
    given: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, mark, value = (piece.strip() for piece in part.partition("="))
        if not mark:
            raise UsageError(f"write knobs like distractors=10,manner=terse, got {text!r}")
        given[name] = int(value) if value.isascii() and value.isdigit() else value
    return Knobs.of(given)


NONE = Knobs()
