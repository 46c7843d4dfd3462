"""What an episode is made with, checked at once: a wrong setting is told where it is written, not at the first reset.

The same for all domains, and JSON-able. Imports nothing heavy.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from tb_envs.endpoints import model_options
from tb_envs.errors import UsageError
from tb_envs.knobs import NONE, Knobs
from tb_envs.limits import Limits

BACKENDS = ("embedded", "docker", "remote")
USERS = ("scripted", "llm", "recorded")
JUDGES = ("llm",)
INLINE = ("scripted", "recorded")
"""Customers that do no input and output: with one of them over an embedded database an episode never suspends."""
REWARDS = ("sparse", "dense")
FAULTS = ("timeout", "crash")
SPLITS = ("train", "dev", "bench")


@dataclass(frozen=True)
class Settings:
    """How an episode is played; see `tb_envs.env.ThinkingBoxEnv` for what each means.

    Raises:
        UsageError: a value is not one of the valid ones; the message names them.
    """

    backend: str | Mapping[str, Any] = "embedded"
    user: str | Mapping[str, Any] = "scripted"
    limits: Limits = field(default_factory=Limits)
    reward: str = "sparse"
    strict: bool = False
    trace_dir: str | None = None
    faults: Mapping[str, float] | None = None
    knobs: Knobs = NONE
    judge: str | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, valid in (("reward", REWARDS), ("strict", (True, False))):
            check_choice(name, getattr(self, name), valid)
        kind_of("backend", self.backend, BACKENDS)
        if self.user != "scripted":
            _check_user(self.user)
        if self.judge is not None:
            _check_judge(self.judge)
        if self.faults is not None:
            check_rates(self.faults)
        if self.trace_dir is not None:
            _check_folder(self.trace_dir)

    @cached_property
    def suspends(self) -> bool:
        """Whether some part does input and output, so that an episode needs an event loop."""
        embedded = kind_of("backend", self.backend, BACKENDS) == "embedded" and not options_of(self.backend)
        return not embedded or kind_of("user", self.user, USERS) not in INLINE or self.judge is not None


def kind_of(name: str, value: Any, valid: tuple[str, ...]) -> str:
    """What is chosen by a name, or by a mapping with the name under ``kind`` and its options beside it."""
    if isinstance(value, Mapping):
        value = cast("Mapping[str, Any]", value).get("kind")
    check_choice(name, value, valid)
    return value


def _check_user(user: str | Mapping[str, Any]) -> None:
    kind, options = kind_of("user", user, USERS), options_of(user)
    if kind == "llm":
        model_options("user", user)
    elif kind == "scripted" and options:
        raise UsageError(f"the scripted user takes no options, got {', '.join(options)}")
    elif kind == "recorded":
        path = options.pop("path", None)
        if options or not isinstance(path, str) or not path:
            raise UsageError(f"a recorded user reads {{'kind': 'recorded', 'path': 'user.jsonl'}}, got {user!r}")
        if not Path(path).is_file():
            raise UsageError(f"the recording {path!r} of a user is no file")


def _check_judge(judge: str | Mapping[str, Any]) -> None:
    if not isinstance(judge, Mapping) or "kind" in judge:
        kind_of("judge", judge, JUDGES)
    model_options("judge", judge)


def options_of(value: str | Mapping[str, Any]) -> dict[str, Any]:
    """The options beside ``kind``; none for a name."""
    return {} if isinstance(value, str) else {key: item for key, item in value.items() if key != "kind"}


def check_choice(name: str, value: Any, valid: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the valid ones, by type too (1 is not True)."""
    if not any(type(value) is type(option) and value == option for option in valid):
        near = difflib.get_close_matches(str(value), [str(option) for option in valid], 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"unknown {name} {value!r}.{hint} valid: {', '.join(map(str, valid))}")


def check_rates(faults: Any) -> dict[str, float]:
    """Chances per call of injected faults, or a `UsageError` that says what is valid."""
    if not isinstance(faults, Mapping):
        raise UsageError(f"faults is a mapping such as {{'timeout': 0.02, 'crash': 0.01}}, got {faults!r}")
    rates: dict[str, float] = {}
    for kind, rate in cast("Mapping[str, Any]", faults).items():
        check_choice("fault", kind, FAULTS)
        try:
            rates[kind] = float(rate)
        except (TypeError, ValueError):
            rates[kind] = -1.0
        if isinstance(rate, bool | str) or not 0 <= rates[kind] <= 1:
            raise UsageError(f"fault {kind!r} has rate {rate!r}; a chance per call from 0 to 1 is meant")
    if sum(rates.values()) > 1:
        raise UsageError("the fault rates sum to more than 1")
    return rates


def _check_folder(folder: Any) -> None:
    """Traces are written at the end of an episode; a folder that cannot be written must be told before it begins."""
    if not isinstance(folder, str):
        raise UsageError(f"trace_dir is a folder's path, got {folder!r}")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except (OSError, ValueError) as error:
        raise UsageError(f"trace_dir {folder[:200]!r} cannot be made: {error}") from None
    if not writable:
        raise UsageError(f"trace_dir {folder!r} cannot be written")
