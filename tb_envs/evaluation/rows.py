"""The rows of a campaign: one JSON line per attempt, in a file that may be cut off anywhere and loses nothing finished.

A row holds all that is needed to read an attempt and to compute its figures again (`KEYS`; every key is in every row).
It is written by one ``write`` of one line. A process that is killed inside that call leaves a line without an end,
which readers pass over and the next `Appender` cuts off. Refuses to judge, to sum up, and to hold many rows at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tb_envs import __version__
from tb_envs.authoring.steps import Call
from tb_envs.episode import Episode
from tb_envs.errors import ThinkingBoxError, UsageError
from tb_envs.evaluation.meter import Meter
from tb_envs.evaluation.row_form import CHANGED, read_form
from tb_envs.grading.verdict import GRADER
from tb_envs.lines import hold_alone
from tb_envs.trace import episode_record

VERSION = 1
"""Version of the format; a row says by which it was written."""
FILE = "attempts.jsonl"
"""Name of the file in a campaign's folder."""
KEYS = (
    "v", "task_id", "task_hash", "domain", "family", "split", "traps", "cell", "reference_length", "attempt", "seed",
    "agent", "outcome", "ended_by", "error", "reward", "turns", "user_turns", "tool_calls", "tool_errors", "malformed",
    "user_faults", "messages", "wrote", "finish", "log", "verdict", "grader", "package", "tools_hash", "context",
    "tokens", "cost", "retries", "seconds",
)  # fmt: skip
"""The keys of a row, in their order.

``agent`` is ``{"name", "kind", "sampling"}`` as in the manifest; ``sampling`` is what each request was sent with, null
for who takes none. ``wrote`` is what the model wrote in turns that could not be read as an action: ``[{"message",
"text"}]``, `message` the place in ``messages``, with the ``thought`` before it where a server says it apart; and, at
the place after the last message, the words of a refusal or of a server that ended the attempt. ``finish`` is
``[{"message", "finish"}]`` for turns that did not end as usual (``stop``, ``tool_calls``): ``length`` for one that was
cut off. ``seconds`` are measures, and all that differs between two campaigns that went alike.
"""
SYNC_EVERY = 1.0
"""Seconds of rows that a power failure may cost. A killed process costs none."""

_HEAD = re.compile(rb'\{"v":\d+,"task_id":"([^"\\]*)",.{1,4000}?"attempt":(\d+),')

Key = tuple[str, int]
"""An attempt: task id and number."""


class RowNotKept(ThinkingBoxError):
    """A row cannot be kept: the disk is full, or the file is gone. What was kept before is as it was, unless gone."""


class Place(NamedTuple):
    """Where a row's line is in the file, and its number there, from 1."""

    start: int
    length: int
    number: int = 0


def build_row(
    episode: Episode,
    *,
    attempt: int,
    seed: int,
    agent: Mapping[str, Any],
    meter: Meter,
    context: Mapping[str, Any],
    tools_hash: str,
    cost: Mapping[str, float | None],
    retries: int,
    seconds: Mapping[str, float | int],
) -> dict[str, Any]:
    """The row of a finished attempt.

    Args:
        episode: the attempt, ended.
        attempt: its number among those at its task, from 0.
        seed: what it was seeded with.
        agent: what the manifest says of who played.
        meter: what was counted while it was played.
        context: the rule for long talks, and what it did here.
        tools_hash: of the tools' definitions that the agent was shown.
        cost: dollars by who was paid; None where it is not known.
        retries: system errors before this try.
        seconds: by phase.
    """
    task = episode.task
    assert task is not None
    record = episode_record(episode)
    row = {
        "v": VERSION,
        "task_id": task.id,
        "task_hash": task.hash,
        "domain": task.domain.name,
        "family": task.family.name,
        "split": task.domain.split_of(task.id),
        "traps": list(task.traps),
        "cell": task.scenario.cell,
        "reference_length": sum(isinstance(step, Call) for step in task.scenario.solution),
        "attempt": attempt,
        "seed": seed,
        "agent": {"name": agent["name"], "kind": agent["kind"], "sampling": agent.get("sampling")},
        "outcome": episode.outcome,
        "ended_by": episode.ended_by,
        "error": episode.error,
        "reward": episode.reward,
        "turns": episode.turns,
        "user_turns": episode.user_turns,
        "tool_calls": episode.tool_calls,
        "tool_errors": sum(event.kind == "result" and not event.ok for event in episode.log),
        "malformed": meter.malformed,
        "user_faults": episode.user_faults,
        "messages": record["messages"],
        "wrote": meter.wrote,
        "finish": meter.finish,
        "log": record["log"],
        "verdict": record["verdict"],
        "grader": GRADER,
        "package": __version__,
        "tools_hash": tools_hash,
        "context": dict(context),
        "tokens": meter.tokens(),
        "cost": dict(cost),
        "retries": retries,
        "seconds": dict(seconds),
    }
    assert tuple(row) == KEYS
    return row


def line_of(row: Mapping[str, Any]) -> bytes:
    """A row as its line, end included; ASCII, so that no text in it can be read as an end of line."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"


class Appender:
    """The one writer of a campaign's rows.

    Args:
        path: the file; made if there is none. A torn last line is cut off.

    Raises:
        UsageError: another process writes this file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._synced = time.monotonic()
        self._failed = ""
        try:
            if not hold_alone(self._file):
                raise UsageError(f"another process is writing {path}; wait for it, or name another --out")
            self.cut = self._cut_torn_line()
        except BaseException:
            os.close(self._file)
            raise

    def _cut_torn_line(self) -> int:
        """Bytes of an unfinished last line, now gone."""
        size, whole = os.fstat(self._file).st_size, _whole_bytes(self.path)
        if whole < size:
            os.ftruncate(self._file, whole)
        return size - whole

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row's line, whole, before anything else happens in this thread.

        Raises:
            RowNotKept: it cannot be written whole. Nothing of it stays, and no further row is taken: what is wrong with
                the disk would tear those too.
        """
        if self._failed:
            raise RowNotKept(self._failed)
        start, line = os.fstat(self._file).st_size, memoryview(line_of(row))
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            self._failed = f"a row cannot be written to {self.path}: {error.strerror or error}"
            with contextlib.suppress(OSError):  # where this fails too, readers and the next writer pass over the rest
                os.ftruncate(self._file, start)
            raise RowNotKept(self._failed) from error
        if time.monotonic() - self._synced > SYNC_EVERY:
            self.sync()

    def sync(self) -> None:
        """Have the file system keep what was written.

        Raises:
            RowNotKept: it cannot, or the file was removed, so that nobody will read what is written to it.
        """
        if not self._failed and os.fstat(self._file).st_nlink == 0:
            self._failed = f"{self.path} was removed while it was written: its rows are lost, and so would be any more"
        if self._failed:
            raise RowNotKept(self._failed)
        try:
            os.fsync(self._file)
        except OSError as error:
            self._failed = f"{self.path} cannot be kept on disk: {error.strerror or error}"
            raise RowNotKept(self._failed) from error
        self._synced = time.monotonic()

    def close(self) -> None:
        """Sync and let go of the file. Idempotent."""
        if self._file >= 0:
            with contextlib.suppress(RowNotKept):  # told before, or by who syncs before closing
                self.sync()
            os.close(self._file)
            self._file = -1


def _whole_bytes(path: Path) -> int:
    """Bytes up to the end of the last finished line; a last line that is no JSON object was never finished either."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        stop = _last_line_end(file, end)
        start = _last_line_end(file, stop - 1)
        file.seek(start)
        last = file.read(stop - start)
    return stop if not last or _is_object(last) else start


def _last_line_end(file: Any, before: int) -> int:
    """Place after the last end of line among the first `before` bytes."""
    while before > 0:
        start = max(0, before - 65_536)
        file.seek(start)
        found = file.read(before - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        before = start
    return 0


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class Rows:
    """The rows of a file, read one at a time: iterate as often as needed. Of an attempt played twice, the last counts.

    To iterate gives the rows that count; `every` also gives those that were replaced.

    Attributes:
        path: the file.
        torn: whether it ends in a line that was never finished.
        replaced: rows that a later one of the same attempt replaces.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[Key, Place] = {}
        self.replaced = 0
        whole = self._whole = _whole_bytes(path)
        self.torn = whole < path.stat().st_size
        with path.open("rb") as file:
            start = number = 0
            while start < whole:
                line, number = file.readline(), number + 1
                key = _key_of(line, path, number)
                self.replaced += key in self.places
                self.places.pop(key, None)  # so that the order is that of the rows that count
                self.places[key] = Place(start, len(line), number)
                start += len(line)

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self.path.open("rb") as file:
            for place in self.places.values():
                yield read_at(file, place, self.path)

    def every(self) -> Iterator[dict[str, Any]]:
        """All rows in the order they were written, also those that a later row of the same attempt replaces."""
        with self.path.open("rb") as file:
            left, number = self._whole, 0
            while left > 0:
                line, number = file.readline(), number + 1
                if not line:
                    raise UsageError(f"{self.path}:{number} is gone: the file was cut off while it was read")
                left -= len(line)
                yield read_form(line, f"{self.path}:{number}")

    def __contains__(self, key: object) -> bool:
        return key in self.places

    def row(self, task_id: str, attempt: int) -> dict[str, Any]:
        """One attempt's row; `KeyError` if it has none."""
        with self.path.open("rb") as file:
            return read_at(file, self.places[task_id, attempt], self.path)


def read_at(file: Any, place: Place, path: Path) -> dict[str, Any]:
    """The row at a place of an open file.

    Args:
        file: open for bytes.
        place: in it.
        path: its name, for the message.

    Raises:
        UsageError: there is no row; the message names file and line.
    """
    file.seek(place.start)
    return read_form(file.read(place.length), f"{path}:{place.number}")


def _key_of(line: bytes, path: Path, number: int) -> Key:
    """The attempt of a line; its beginning says it, so that the rest need not be read."""
    head = _HEAD.match(line)
    if head is not None:
        return head[1].decode("ascii"), int(head[2])
    try:
        row: Any = json.loads(line)
        return str(row["task_id"]), int(row["attempt"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path}:{number} is no row of a campaign: {line[:80]!r}. {CHANGED}") from None


def read_rows(path: str | Path) -> Rows:
    """The rows of a campaign: of its folder, or of its file of attempts.

    Raises:
        UsageError: there is no such file, or a line before the last is no row.
    """
    file = Path(path)
    if file.is_dir():
        file = file / FILE
    if not file.is_file():
        raise UsageError(f"{file} does not exist; a campaign's folder holds {FILE}")
    return Rows(file)
