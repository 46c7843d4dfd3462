"""``campaign.json``: everything that has to be equal for attempts to belong to one campaign, written once and whole.

A campaign is resumed only with the same manifest; what differs is told by name, old and new. How a campaign is played
(concurrency, retries, time-outs) is not in it, and neither is any secret. Code and recordings that attempts depend on
are in it by their SHA-256.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tb_envs import __version__
from tb_envs.errors import UsageError
from tb_envs.evaluation.models import describe_judge, describe_user
from tb_envs.evaluation.rows import FILE as ROWS
from tb_envs.grading.verdict import GRADER
from tb_envs.settings import Settings
from tb_envs.store.dump import canonical_json
from tb_envs.task import Task
from tb_envs.whole import write_whole

FILE = "campaign.json"
FORMAT = 1
"""Version of the folder's format."""
HELD: Mapping[str, type] = {**dict.fromkeys(("tasks", "excluded", "domains", "knobs", "agent"), dict), "attempts": int}
"""What readers rely on, and of what kind it is."""
SHOWN = 12
"""Differences that a refusal names."""


def content_hash(value: Any) -> str:
    """SHA-256 of a JSON-able value."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def build_manifest(
    *,
    agent: Mapping[str, Any],
    tasks: Iterable[Task],
    attempts: int,
    seed: int,
    settings: Settings,
    context: Mapping[str, Any],
    prices: Any = None,
    excluded: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The manifest of a campaign.

    Args:
        agent: who plays: ``kind`` (``chat``, ``local``, ``callable``, ``built-in``), ``name``, what it samples with.
        tasks: what is played.
        attempts: at each task.
        seed: of the campaign; those of attempts are derived from it.
        settings: of the episodes.
        context: the rule for long talks.
        prices: the price table's content; None for none.
        excluded: task id → why it is not played.
    """
    listed = list(tasks)
    domains = {task.domain.name: task for task in listed}
    return {
        "format": FORMAT,
        "package": __version__,
        "grader": GRADER,
        "agent": dict(agent),
        "context": dict(context),
        "attempts": attempts,
        "seed": seed,
        "limits": vars(settings.limits),
        "knobs": settings.knobs.to_json(),
        "backend": plain(settings.backend),
        "user": plain(describe_user(settings)),
        "judge": plain(describe_judge(settings)),
        "faults": plain(settings.faults),
        "domains": {
            name: {
                "digest": task.domain.digest,
                "tools": content_hash(task.tool_definitions),
                "policy": content_hash(task.domain.policy_text),
            }
            for name, task in sorted(domains.items())
        },
        "prices": prices,
        "tasks": {task.id: task.hash for task in listed},
        "excluded": dict(excluded or {}),
    }


def plain(value: Any) -> Any:
    """A setting as JSON gives it back."""
    return json.loads(json.dumps(value, default=dict))


def open_folder(folder: Path, manifest: Mapping[str, Any]) -> bool:
    """Begin a campaign in `folder`, or go on with the one that is there; returns whether it goes on.

    Raises:
        UsageError: the folder holds a campaign that differs (each difference is named), or rows of none.
    """
    path = folder / FILE
    if path.exists():
        found = differences(read_manifest(folder), plain(manifest))
        if found:
            more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            raise UsageError(
                f"{folder} holds a campaign with other settings, and rows of both do not mix "
                f"(old → new): {'; '.join(found[:SHOWN])}{more}. Name another --out, or give the old settings"
            )
        return True
    if (folder / ROWS).exists() and (folder / ROWS).stat().st_size:
        raise UsageError(
            f"{folder} holds {ROWS} and no {FILE}: it is not known what those rows are; name another --out"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(manifest, indent=1, ensure_ascii=True, default=dict) + "\n")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}. Nothing was begun; make room or name another --out"
        ) from error
    return False


def read_manifest(folder: str | Path, needs: Iterable[str] = ()) -> dict[str, Any]:
    """The manifest of a campaign's folder.

    Args:
        folder: of the campaign.
        needs: what of `HELD` has to be there beside the tasks.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    path = Path(folder) / FILE
    try:
        value: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder} is no campaign: it holds no {FILE}") from None
    except (ValueError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    held = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    for name in dict.fromkeys(("tasks", *needs, *HELD)):
        kind = HELD.get(name, object)
        if name not in held and name not in ("tasks", *needs):
            continue
        if not isinstance(held.get(name), kind):
            meant = "an object" if kind is dict else "a whole number"
            raise UsageError(f"{path} is no campaign's manifest: {name!r} is missing or not {meant}")
    return held


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What two manifests differ in, by name: ``agent.sampling.temperature: 0.7 → 1.0``."""
    out: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if name == "tasks" and before is not None and after is not None:
            out.append(f"tasks: {_tasks(before, after)}")
        else:
            out += _leaves(name, before, after)
    return out


def _leaves(name: str, before: Any, after: Any) -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        olds, news = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        keys = dict.fromkeys((*olds, *news))
        return [
            line
            for key in keys
            if olds.get(key) != news.get(key)
            for line in _leaves(f"{name}.{key}", olds.get(key), news.get(key))
        ]
    return [f"{name}: {_shown(before)} → {_shown(after)}"]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:80]}… ({len(text)} characters)"


def _tasks(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    gone = [key for key in before if key not in after]
    added = [key for key in after if key not in before]
    changed = [key for key in before if key in after and before[key] != after[key]]
    named = ((gone, "no longer asked for"), (added, "added"), (changed, "of other content"))
    return "; ".join(f"{len(keys)} {what} ({_some(keys)})" for keys, what in named if keys)


def _some(keys: Sequence[str]) -> str:
    return ", ".join(keys[:3]) + (", …" if len(keys) > 3 else "")
