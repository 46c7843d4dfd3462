"""Business-workflow environments for tool-using language agents, judged by the records they leave.

Importing this package registers ``ThinkingBox/*`` with Gymnasium and loads nothing heavy; databases, schemas and
domains are loaded at the first reset.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tb_envs.actions import call, parse_action, say
from tb_envs.env import ThinkingBoxEnv
from tb_envs.errors import (
    BackendError,
    CheckerError,
    DomainError,
    EpisodeError,
    ThinkingBoxError,
    ToolError,
    UsageError,
    UserError,
)
from tb_envs.limits import Limits
from tb_envs.registration import domain_names, env_id, load_domain, register_all
from tb_envs.settings import Settings
from tb_envs.spaces import Message
from tb_envs.vector import ThinkingBoxVectorEnv

if TYPE_CHECKING:
    from tb_envs.episode import Episode
    from tb_envs.grading.verdict import Check, Verdict
    from tb_envs.task import Task, get_task

__version__ = "0.1.0"

_LAZY = {
    "Episode": "tb_envs.episode",
    "Task": "tb_envs.task",
    "get_task": "tb_envs.task",
    "Check": "tb_envs.grading.verdict",
    "Verdict": "tb_envs.grading.verdict",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BackendError",
    "Check",
    "CheckerError",
    "DomainError",
    "Episode",
    "EpisodeError",
    "Limits",
    "Message",
    "Settings",
    "Task",
    "ThinkingBoxEnv",
    "ThinkingBoxError",
    "ThinkingBoxVectorEnv",
    "ToolError",
    "UsageError",
    "UserError",
    "Verdict",
    "call",
    "domain_names",
    "env_id",
    "get_task",
    "load_domain",
    "parse_action",
    "register_all",
    "say",
]

register_all()
