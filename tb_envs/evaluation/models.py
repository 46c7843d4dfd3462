"""The models beside the agent, customer and judge: their files, what a manifest says of them, tasks they leave out.

A customer's model has its turns recorded in ``user.jsonl`` and a judge's answers are kept in ``judge.jsonl``, unless
other files are named. A task that cannot be played with these settings is left out, and counted with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tb_envs.endpoints import model_options
from tb_envs.errors import UsageError
from tb_envs.settings import USERS, Settings, kind_of, options_of
from tb_envs.task import Task

USER_FILE, JUDGE_FILE = "user.jsonl", "judge.jsonl"
NO_JUDGE = "needs a judge, and none is given"
OTHER_USER = "graded by what only the scripted customer reports"
SAID = ("model", "base_url", "temperature", "max_tokens", "extra", "price")
"""What a manifest says of an endpoint: what its answers and costs depend on, not how patiently they are waited for."""


def with_files(settings: Settings, folder: Path) -> Settings:
    """The settings, with files of the campaign's folder where models answer and no other file is named."""
    user, judge = settings.user, settings.judge
    if kind_of("user", user, USERS) == "llm":
        user = {"kind": "llm", "record": str(folder / USER_FILE), **options_of(user)}
    if judge is not None:
        judge = {"cache": str(folder / JUDGE_FILE), **({"kind": judge} if isinstance(judge, str) else judge)}
    return replace(settings, user=user, judge=judge)


def left_out(tasks: Iterable[Task], settings: Settings) -> dict[str, str]:
    """Task id → why it cannot be played with these settings."""
    out: dict[str, str] = {}
    scripted = kind_of("user", settings.user, USERS) == "scripted"
    for task in tasks:
        if task.needs_judge and settings.judge is None:
            out[task.id] = NO_JUDGE
        elif not scripted:
            from tb_envs.users.llm import check_acts

            try:
                check_acts(task)
            except UsageError:
                out[task.id] = OTHER_USER
    return out


def describe_user(settings: Settings) -> dict[str, Any]:
    """What a manifest says of the customer; of a recorded one also the recording's SHA-256."""
    kind = kind_of("user", settings.user, USERS)
    if kind == "llm":
        return {"kind": kind, **_endpoint("user", settings.user)}
    options = options_of(settings.user)
    if kind == "recorded":
        with Path(options["path"]).open("rb") as file:
            options["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return {"kind": kind, **options}


def describe_judge(settings: Settings) -> dict[str, Any] | None:
    """What a manifest says of the judge; None for none."""
    return None if settings.judge is None else {"kind": "llm", **_endpoint("judge", settings.judge)}


def model_names(settings: Settings) -> dict[str, str]:
    """The models that play the customer and judge, by part; empty where there is none."""
    user, judge = describe_user(settings), describe_judge(settings) or {}
    return {"user": str(user.get("model", "")), "judge": str(judge.get("model", ""))}


def _endpoint(part: str, value: str | Mapping[str, Any]) -> dict[str, Any]:
    said = model_options(part, value)[0].to_json()
    return {name: said[name] for name in SAID}
