"""Reads what runs left behind, however they ended. A line that is torn or of no use is counted, never guessed at.

Refuses only what is no run at all. A resumed run's log was cut back to its checkpoint (`tb_trainer.log`), so what is
read here happened in one line of updates; evaluations beyond the log's last one belong to updates that were taken back
and are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tb_envs.errors import UsageError
from tb_trainer.tasks.guard import MARK
from tb_trainer.tasks.records import EVALUATION

Row = dict[str, Any]
MOST = 10**9
"""More updates than any run has."""
LARGEST = 1e300
"""Numbers beyond are noise, and would overflow in a sum."""
STEPS = ("start", "resume", "update", "evaluation", "checkpoint", "end", "failed")


@dataclass
class Trials:
    """An evaluation's file.

    Attributes:
        path: of the file.
        rows: the trials: those lines that name a task and an outcome.
        settings: how they were played; empty for evaluations of a run itself, which has its configuration.
        about: which policy, which tasks, which command (`tb_trainer.trials`).
        broken: lines that could not be read.
    """

    path: Path
    rows: list[Row]
    settings: Row = field(default_factory=Row)
    about: Row = field(default_factory=Row)
    broken: int = 0

    @property
    def update(self) -> int | None:
        """How many updates the policy had; None if the file does not say."""
        update = self.about.get("update")
        return update if isinstance(update, int) else None

    @property
    def name(self) -> str:
        """What a reader calls the policy."""
        return f"{self.path.stem}" if self.update is None else f"{self.path.stem} (update {self.update})"


@dataclass
class RunRecord:
    """A run's folder.

    Attributes:
        path: of the folder.
        rows: of the log, each with its ``event``.
        config: of ``config.json``; empty if that is missing.
        broken: lines of the log that could not be read.
        own: update → the evaluation that the run made of itself.
        others: other evaluations in ``evaluations/``, as of `tbx evaluate`.
        problems: sentences about what is missing.
    """

    path: Path
    rows: list[Row]
    config: Row = field(default_factory=Row)
    broken: int = 0
    own: dict[int, Trials] = field(default_factory=dict[int, Trials])
    others: list[Trials] = field(default_factory=list[Trials])
    problems: list[str] = field(default_factory=list[str])

    def of(self, event: str) -> list[Row]:
        """The log's rows of one kind."""
        return [row for row in self.rows if row["event"] == event]

    @cached_property
    def start(self) -> Row:
        """The first row: note, hashes, sizes; a later one only if the first is lost."""
        return next(iter([*self.of("start"), *self.of("resume")]), {})

    @cached_property
    def updates(self) -> list[Row]:
        """One row an update, in order."""
        return [row for row in _by_update(self.of("update")) if row["update"]]

    @cached_property
    def evaluations(self) -> list[Row]:
        """One row an evaluation of the run itself, in order."""
        return _by_update(self.of("evaluation"))

    @property
    def done(self) -> int:
        """The last update."""
        return max((row["update"] for row in self.updates), default=0)

    @property
    def planned(self) -> int | None:
        """Updates that were asked for."""
        value = number(self.config, "grpo", "updates")
        return None if value is None else int(value)

    @property
    def resumed(self) -> list[int]:
        """After which updates the run was gone on with."""
        return [int(number(row, "update") or 0) for row in self.of("resume")]

    @property
    def status(self) -> str:
        """``finished``, ``failed: why`` or ``unfinished``."""
        last = next((row for row in reversed(self.rows) if row["event"] in STEPS), {})
        if last.get("event") == "end":
            return "finished"
        if last.get("event") == "failed":
            return f"failed after update {self.done}: {last.get('error', 'no cause in the log')}"
        return "unfinished"

    @property
    def best(self) -> int | None:
        """The update whose checkpoint did best on the run's own evaluations."""
        value = number(self.evaluations[-1], "best") if self.evaluations else None
        return None if value is None else int(value)

    @property
    def note(self) -> str:
        """The preset's: what the run can and cannot show."""
        return str(self.start.get("note") or self.config.get("note") or "")

    @property
    def seed(self) -> Any:
        """Of the run."""
        return self.config.get("seed", "unknown")

    @cached_property
    def mark(self) -> Row | None:
        """What the guard wrote where the benchmark was trained on, wherever it wrote it."""
        states = [_json(path) for path in sorted((self.path / "checkpoints").glob("*/state.json"))]
        rows = (*self.rows, *states, *(trials.about for trials in self.others))
        found = next((row[MARK] for row in rows if isinstance(row, dict) and row.get(MARK)), None)
        return found if found is None or isinstance(found, dict) else {"mark": found}


def number(row: Any, *path: str) -> float | None:
    """A finite number inside a row, None if there is none."""
    for name in path:
        row = row.get(name) if isinstance(row, Mapping) else None
    if isinstance(row, bool) or not isinstance(row, int | float):
        return None
    return row if -LARGEST < row < LARGEST else None


def part(tree: Row, name: str) -> Row:
    """A branch of a configuration or a row; empty if there is none."""
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def read_run(path: Path) -> RunRecord:
    """A run's folder.

    Raises:
        UsageError: there is no log, or nothing in it can be read.
    """
    log = path / "log.jsonl"
    if not log.is_file():
        raise UsageError(f"{path} holds no run (no log.jsonl)")
    found, broken = read_lines(log)
    rows = [row for row in found if isinstance(row.get("event"), str)]
    broken += len(found) - len(rows)
    if not rows:
        raise UsageError(f"{log} holds no row that can be read; the run has only just begun, or the file is no log")
    run = RunRecord(path, rows, broken=broken)
    config = _json(path / "config.json")
    if config is None:
        run.problems.append("config.json is missing or cannot be read: settings, seed and command are not known.")
    run.config = config or {}
    known = {row["update"] for row in run.evaluations}
    for file in sorted((path / "evaluations").glob("*.jsonl")):
        trials = read_trials(file)
        stem, _, update = file.stem.partition("-")
        if trials.settings or trials.about or stem != "update" or not update.isdigit():
            run.others.append(trials)
        elif int(update) in known:
            trials.about["update"] = int(update)
            run.own[int(update)] = trials
        else:
            run.problems.append(f"{file.name} belongs to no evaluation in the log and was left out.")
    missing = ", ".join(map(str, sorted(known - {*run.own})))
    if missing:
        run.problems.append(f"The trials of its own evaluations after update {missing} are missing.")
    for trials in (*run.own.values(), *run.others):
        if trials.broken:
            run.problems.append(f"{trials.path.name}: {trials.broken} lines could not be read and were left out.")
    return run


def read_trials(path: Path) -> Trials:
    """An evaluation's file, with or without a first line of settings.

    Raises:
        UsageError: there is no such file.
    """
    if not path.is_file():
        raise UsageError(f"cannot read {path}: no such file")
    found, broken = read_lines(path)
    trials = Trials(path, [])
    if found and found[0].get("kind") == EVALUATION:
        header = found.pop(0)
        trials.settings, trials.about = (
            value if isinstance(value := header.get(name), dict) else {} for name in ("settings", "about")
        )
    trials.rows = [row for row in found if _is_trial(row)]
    trials.broken = broken + len(found) - len(trials.rows)
    return trials


def read_lines(path: Path) -> tuple[list[Row], int]:
    """The JSON objects of a file, a line each, and how many other lines there are."""
    lines = [line for line in path.read_bytes().decode("utf-8", "replace").split("\n") if line.strip()]
    rows: list[Row] = []
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows, len(lines) - len(rows)


def _is_trial(row: Row) -> bool:
    """A task id, an outcome, and an attempt that can be told apart from others."""
    task, outcome, attempt = row.get("task"), row.get("outcome"), row.get("attempt")
    return isinstance(task, str) and task.count("/") == 2 and isinstance(outcome, str) and type(attempt) is int


def _json(path: Path) -> Row | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _by_update(rows: list[Row]) -> list[Row]:
    """The last row of each update, in order; rows that name none, or an impossible one, are left out."""
    found = {row["update"]: row for row in rows if type(row.get("update")) is int and 0 <= row["update"] < MOST}
    return [found[update] for update in sorted(found)]
