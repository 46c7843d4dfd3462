"""Which domains exist and their Gymnasium ids. Reads entry points by name only; loads a domain on first use."""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

import gymnasium

from tb_envs.errors import DomainError, UsageError

if TYPE_CHECKING:
    from tb_envs.authoring.domain import Domain

GROUP = "tb_envs.domains"
NAMESPACE = "ThinkingBox"


@cache
def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def domain_names() -> tuple[str, ...]:
    """Names of all installed domains."""
    return tuple(_found())


@cache
def load_domain(name: str) -> Domain:
    """The domain called `name`.

    Raises:
        UsageError: no such domain is installed; the message lists those that are.
        DomainError: its entry point does not give a `Domain`.
    """
    from tb_envs.authoring.domain import Domain

    if name not in _found():
        close = difflib.get_close_matches(name, _found(), 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"unknown domain {name!r}.{hint} Installed: {', '.join(_found()) or 'none'}")
    domain = _found()[name].load()
    if not isinstance(domain, Domain):
        raise DomainError(f"entry point {GROUP}:{name} gives {type(domain).__name__}, not a Domain")
    return domain


def env_id(name: str) -> str:
    """``auto_insurance`` → ``ThinkingBox/AutoInsurance-v0``."""
    return f"{NAMESPACE}/{''.join(part.capitalize() for part in name.split('_'))}-v0"


def register_all() -> None:
    """Register every installed domain with Gymnasium; safe to call again."""
    for name in _found():
        if env_id(name) not in gymnasium.registry:
            gymnasium.register(  # pyright: ignore[reportUnknownMemberType]
                id=env_id(name),
                entry_point="tb_envs.env:ThinkingBoxEnv",
                vector_entry_point="tb_envs.vector:ThinkingBoxVectorEnv",
                kwargs={"domain": name},
                max_episode_steps=None,
                nondeterministic=False,
            )
