"""A folder that work of several parts was begun in: by one process at a time, with the settings it was begun with.

What lies in such a folder is taken for done by whoever goes on, so it must not be mixed with that of other settings.
Refuses a second process, and settings that differ, by name. Imports no torch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.lines import hold_alone
from tb_envs.whole import write_whole
from tb_trainer.schema import TrainConfig

FREE = ("name", "note", "threads", "saving.", "parallel.timeout", "parallel.expect.", "environment.pause")
"""Settings, or beginnings of their names, that change nothing of what is kept."""


@contextmanager
def alone(folder: Path, work: str) -> Iterator[None]:
    """Hold a folder for one kind of work, until the block ends or the process does, however it ends.

    Args:
        folder: is made if it is not there, and removed again if nothing was put into it.
        work: what is done there, in words: ``training``.

    Raises:
        UsageError: another process does this work in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".{work.replace(' ', '-')}.lock"
    with path.open("a+b") as file:
        # Whoever was there alone may have removed the file since it was opened: then it holds nothing.
        if not hold_alone(file.fileno()) or not _is(path, os.fstat(file.fileno())):
            file.seek(0)
            who = file.read().decode("utf-8", "replace") or "not known"
            raise UsageError(
                f"{folder} is in use: another process (its number: {who}) does its {work} there. Wait until it has "
                "ended, or end it, and go on with --resume"
            )
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # there is something in it
                folder.rmdir()


def _is(path: Path, status: os.stat_result) -> bool:
    return path.exists() and os.path.samestat(path.stat(), status)


def same_settings(path: Path, config: TrainConfig, free: Collection[str] = ()) -> None:
    """Keep the settings that a folder is begun with; make sure that they are the same whenever it is gone on with.

    Args:
        path: a file in the folder, ``chain.json``.
        config: the settings.
        free: names of some that may differ, besides `FREE`.

    Raises:
        UsageError: they are not, and which differ.
    """
    now = flat(json.loads(json.dumps(config.to_json(), default=str)))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps({"settings": now}, indent=1) + "\n")
        return
    try:
        then: dict[str, Any] = dict(json.loads(path.read_text("utf-8"))["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read ({error}); name a new folder") from None
    apart = [
        f"{name} was {json.dumps(then.get(name))} and is {json.dumps(now.get(name))}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name) and name not in free and not name.startswith(FREE)
    ]
    if apart:
        raise UsageError(
            f"{path.parent} was begun with other settings: {'; '.join(apart)}. Name a new folder, or go on with the "
            "settings it was begun with, and --resume"
        )


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"grpo": {"kl": 0}}`` → ``{"grpo.kl": 0}``; an empty branch is a value."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
