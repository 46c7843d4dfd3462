"""A run's log: one JSON object a line, appended and flushed as things happen; cut back to the checkpoint on resume.

Cutting makes another file and puts it in the place of the first, so that a kill there loses nothing. Refuses to begin a
log where there is one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_envs.whole import write_whole

RANGES = ("interval", "bounds")
"""What a row has both ends of."""


class RunLog:
    """``log.jsonl`` of a run.

    Args:
        out: the run's folder.
        resume: the update to go on after: what later ones wrote is taken out, and all of it after 0, where the run
            begins again; None begins a new log.

    Raises:
        UsageError: a new log where there is one already.
    """

    def __init__(self, out: Path, resume: int | None = None) -> None:
        self.path = out / "log.jsonl"
        out.mkdir(parents=True, exist_ok=True)
        if resume is None:
            if self.path.exists():
                raise UsageError(f"{out} already holds a run; name a new folder, or go on with --resume")
            return
        rows = read_rows(self.path) if resume else []
        kept = [row for row in rows if row.get("update", 0) <= resume and row["event"] != "failed"]
        write_whole(self.path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))

    def write(self, **row: Any) -> None:
        """Append a row."""
        with self.path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a log; a last line that a killed run left unfinished is not one."""
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = []
    for text in path.read_text("utf-8").splitlines():
        try:
            rows.append(json.loads(text))
        except ValueError:
            continue
    return rows


def numbers(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of a row, flat, for trackers; those of an evaluation under ``evaluation/``.

    Names are those of the row, joined by ``/``, in the characters that every tracker takes: ``pass@1`` becomes
    ``pass_at_1``, ``pass^8`` becomes ``pass_hat_8``. Of a pair [rate, episodes] it is the rate; of a range both ends,
    ``low`` and ``high``.
    """
    kept = {name: value for name, value in row.items() if name != "update"}  # which is the step
    return _flat(kept, "evaluation/" if row.get("event") == "evaluation" else "")


def _flat(row: dict[str, Any], prefix: str) -> dict[str, float]:
    out: dict[str, float] = {}
    for key, value in row.items():
        name = prefix + _portable(key)
        if isinstance(value, list) and len(value) == 2 and all(isinstance(x, int | float) for x in value):
            value = {"low": value[0], "high": value[1]} if key in RANGES else value[0]
        if isinstance(value, dict):
            out |= _flat(value, f"{name}/")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            out[name] = float(value)
    return out


def _portable(key: str) -> str:
    for sign, word in (("pass@", "pass_at_"), ("pass^", "pass_hat_"), (": ", "/")):
        key = key.replace(sign, word)
    return re.sub(r"[^\w./ -]", "_", key)
