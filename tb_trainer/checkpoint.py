"""Checkpoints that can be trusted: written whole or not at all, checked against the run that reads them.

A checkpoint is a folder ``checkpoints/update-N``, made under another name and renamed when everything is on the disk,
so that a run killed at any moment finds the last whole one. It holds the weights and the tokenizer (readable by
transformers), the optimizer's state, and ``state.json``: the update, the task source's beliefs, the best score so far,
and hashes of the configuration and of the tasks. Refuses to resume another run's state. A warm start keeps a
``state.json`` too (`tb_trainer.warmstart`), which says whether it is whole.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.log import read_rows

PREFIX = "update-"


def folder_of(out: Path, update: int) -> Path:
    """Where the checkpoint after an update lies."""
    return out / "checkpoints" / f"{PREFIX}{update}"


def whole(out: Path) -> list[int]:
    """Updates of the checkpoints that are complete, the earliest first."""
    found = (out / "checkpoints").glob(f"{PREFIX}*/state.json")
    return sorted(int(path.parent.name.removeprefix(PREFIX)) for path in found)


def draft(out: Path, update: int) -> Path:
    """An empty folder for the files of a checkpoint, not yet one."""
    path = out / "checkpoints" / f".{PREFIX}{update}.draft"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def finish(out: Path, update: int, state: Mapping[str, Any]) -> Path:
    """Make the draft a checkpoint; `state` becomes ``state.json``, the last file to be written."""
    path, final = out / "checkpoints" / f".{PREFIX}{update}.draft", folder_of(out, update)
    (path / "state.json").write_text(json.dumps(dict(state), indent=1) + "\n", "utf-8")
    for file in (found for found in path.rglob("*") if found.is_file()):
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
    if final.exists():
        shutil.rmtree(final)
    path.rename(final)
    return final


def read_state(folder: Path) -> dict[str, Any]:
    """``state.json`` of a checkpoint.

    Raises:
        UsageError: the folder holds none.
    """
    try:
        return dict(json.loads((folder / "state.json").read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} is no whole checkpoint: {error}") from None


def prune(out: Path, keep: int, spared: set[int]) -> None:
    """Remove all but the last `keep` checkpoints (0 keeps all), those in `spared`, and drafts of runs that died."""
    done = whole(out)
    for update in done[:-keep] if keep else []:
        if update not in spared:
            shutil.rmtree(folder_of(out, update))
    for draft in (out / "checkpoints").glob(f".{PREFIX}*"):
        shutil.rmtree(draft, ignore_errors=True)


def check_same(state: Mapping[str, Any], hashes: Mapping[str, str], folder: Path) -> None:
    """Refuse to go on with what was begun otherwise."""
    for name, value in hashes.items():
        if state.get("hashes", {}).get(name) != value:
            raise UsageError(
                f"{folder} was written with another {name}; resume with the settings it was begun with "
                f"(its config.json), or start a new run from its weights: --set model.checkpoint={folder}"
            )


def begun(out: Path) -> bool:
    """Whether a run was begun in this folder, however far it came."""
    return any((out / name).exists() for name in ("config.json", "log.jsonl"))


def check_unsaved(out: Path, hashes: Mapping[str, str], hashes_of: Callable[[Any], Mapping[str, str]]) -> None:
    """Make sure that the run in `out` was begun with these hashes and has saved nothing, so that it may begin again.

    Args:
        out: the run's folder.
        hashes: of the run that is to go on.
        hashes_of: hashes of what ``config.json`` holds, for a run that was killed before its first row.

    Raises:
        UsageError: there is no run, it was begun otherwise, or what it has saved is gone.
    """
    rows = read_rows(out / "log.jsonl")
    start = next((row for row in rows if row.get("event") == "start"), None)
    if any(row.get("event") == "checkpoint" for row in rows):
        raise UsageError(
            f"--resume: {out} holds no whole checkpoint, though its log tells of some; put them back, or name "
            "a new folder"
        )
    if start is not None:
        known = dict(start.get("hashes", {}))
    else:
        try:
            tree = json.loads((out / "config.json").read_text("utf-8"))
        except (OSError, ValueError):
            raise UsageError(f"--resume: {out} holds no run; start it without --resume") from None
        known = {"configuration": hashes_of(tree)["configuration"]}
    for name, value in hashes.items():
        if known.get(name, value) != value:
            raise UsageError(
                f"{out} was begun with another {name}; resume with the settings it was begun with (its config.json), "
                "or name a new folder"
            )


def whole_start(folder: Path) -> bool | None:
    """Whether the warm start in a folder is finished; None where there was none."""
    try:
        state = json.loads((folder / "state.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return bool(state["warmstart"]) if isinstance(state, dict) and "warmstart" in state else None
