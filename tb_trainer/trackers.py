"""Trackers of a run's numbers (TensorBoard, W&B, MLflow, …), all through accelerate's: begun, told the settings, ended.

Refuses, before anything is loaded, one whose package is missing: accelerate would leave it out with a mere warning.
Imports nothing heavy. ``log.jsonl`` is written whatever is named here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.begun import flat

MODULES: dict[str, tuple[str, ...]] = {
    "aim": ("aim",),
    "clearml": ("clearml",),
    "comet_ml": ("comet_ml",),
    "dvclive": ("dvclive",),
    "mlflow": ("mlflow",),
    "swanlab": ("swanlab",),
    "tensorboard": ("tensorboard", "tensorboardX"),
    "trackio": ("trackio",),
    "wandb": ("wandb",),
}
"""Of each tracker, the modules of which it needs one."""
LONGEST = 400
"""Characters of a setting; some versions of MLflow leave out what is over 500. ``config.json`` has all of it."""


def check_trackers(names: Sequence[str]) -> None:
    """Refuse a tracker whose package is not installed.

    Raises:
        UsageError: with the line that installs it.
    """
    for name in names:
        if not any(map(find_spec, MODULES[name])):
            extra = " (or 'thinkingbox-gym[train]', which brings it)" if name == "tensorboard" else ""
            raise UsageError(
                f"saving.trackers {name} is not installed: pip install {name.replace('_', '-')}{extra}, or set "
                "saving.trackers=[] (log.jsonl is written all the same)"
            )


def begin(accelerator: Any, config: Mapping[str, Any], out: Path, done: int) -> None:
    """Start the trackers that `accelerator` was made with.

    Args:
        accelerator: `Accelerator`, in the process that logs.
        config: the run's whole tree of settings; each is given by its full name, as `--set` takes it.
        out: the run's folder.
        done: updates before this start; TensorBoard forgets what later ones wrote, which are about to come again.

    Raises:
        UsageError: one of them does not start, with its own words: it wants a login, or a server.
    """
    options: dict[str, dict[str, Any]] = {
        "tensorboard": {"purge_step": done + 1 if done else None},
        "wandb": {"dir": str(out), "name": out.name},
        "mlflow": {"run_name": out.name},
    }
    settings = {name: _told(value) for name, value in flat(dict(config)).items()}
    try:
        accelerator.init_trackers(str(config["name"]), config=settings, init_kwargs=options)
    except Exception as error:
        end(accelerator)
        names = ", ".join(map(str, accelerator.log_with))
        raise UsageError(
            f"saving.trackers: {names} could not be started: {error}; mend that, or set saving.trackers=[]"
        ) from error


def end(accelerator: Any) -> None:
    """End each tracker, so that all it was told is written. One that fails says so and hides no other error."""
    while accelerator.trackers:
        tracker = accelerator.trackers.pop()
        try:
            tracker.finish()
        except Exception as error:
            print(f"the tracker {tracker.name} could not be ended: {error}", file=sys.stderr)


def _told(value: Any) -> Any:
    """A setting as trackers take it: what is no number, truth value or text becomes JSON."""
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
