"""Traces: one JSON file per finished episode, for readers. Written whole or not at all; named by task and attempt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb_envs.store.journal import RowChange
from tb_envs.strict_json import finite, strict_json

if TYPE_CHECKING:
    from tb_envs.episode import Episode
    from tb_envs.session.log import Event


def episode_record(episode: Episode) -> dict[str, Any]:
    """A finished episode as plain data that JSON can hold: messages, log with row changes, verdict."""
    assert episode.task is not None
    task = episode.task
    return {
        "task_id": task.id,
        "task_hash": task.hash,
        "knobs": task.knobs.to_json(),
        "outcome": episode.outcome,
        "ended_by": episode.ended_by,
        "error": episode.error,
        "reward": episode.reward,
        "turns": episode.turns,
        "tool_calls": episode.tool_calls,
        "messages": episode.messages,
        "log": [
            {
                "kind": event.kind,
                "name": event.name,
                "text": event.text,
                "data": _data(event),
                "ok": event.ok,
                "call": event.call,
            }
            for event in episode.log
        ],
        "verdict": episode.verdict.to_json() if episode.verdict else None,
    }


def _data(event: Event) -> Any:
    if isinstance(event.data, RowChange):
        return event.data._asdict()
    return finite(event.data) if event.kind == "call" else event.data  # arguments that nobody could check are in it


def write_trace(episode: Episode, folder: Path) -> Path:
    """Write the episode's record to the next free name in `folder`."""
    assert episode.task is not None
    folder.mkdir(parents=True, exist_ok=True)
    stem = episode.task.id.replace("/", "-")
    body = strict_json(episode_record(episode), indent=1)
    number = 1
    while True:
        path = folder / f"{stem}-{number:04d}.json"
        try:
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "w", encoding="utf-8") as file:
                file.write(body)
            return path
        except FileExistsError:
            number += 1
