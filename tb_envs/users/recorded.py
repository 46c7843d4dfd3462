"""Turns of a customer written down, and a customer that says them again without any model.

A turn is found by task, attempt, its number and a hash of all that was said before it. An agent that speaks otherwise
than when it was recorded has no answer there: a `UserError` that says at which turn. Refuses to guess one.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tb_envs.errors import UsageError, UserError
from tb_envs.lines import append_line, read_lines

from .prompt import VERSION
from .reply import Reply

if TYPE_CHECKING:
    from tb_envs.episode import Episode
    from tb_envs.task import Task

FORMAT = 1
Turns = dict[tuple[str, int, int], list[dict[str, Any]]]
"""Task, attempt and turn → what was recorded there, the latest last."""
SHOWN = 120
"""Characters of an agent's words in a message."""


class Recorder:
    """Follows one talk and writes its turns down, if it is given a file."""

    def __init__(self, task: Task, attempt: int, path: Path | None) -> None:
        self._task, self._attempt, self._path = task, attempt, path
        self.turn = 0
        self.key = ""

    def begin(self, opening: str) -> None:
        """The customer's first words."""
        self.turn, self.key = 0, _hash(self._task.hash, opening)

    def hears(self, text: str) -> tuple[int, str]:
        """The number and the key of the turn in which the customer answers this."""
        return self.turn + 1, _hash(self.key, text)

    def add(self, heard: str, reply: Reply) -> None:
        """The customer has answered."""
        self.turn, key = self.hears(heard)
        self.key = _hash(key, reply.text, reply.leaves)
        if self._path is not None:
            row = {
                "v": FORMAT, "task_id": self._task.id, "task_hash": self._task.hash, "attempt": self._attempt,
                "turn": self.turn, "key": key, "agent": heard, "text": reply.text, "leaves": reply.leaves,
                "acts": reply.acts, "faults": reply.faults, "prompt": VERSION,
            }  # fmt: skip
            append_line(self._path, row)


class RecordedUser:
    """Says what was recorded; does no input or output but for reading the file once."""

    def __init__(self, episode: Episode, attempt: int, path: Path) -> None:
        assert episode.task is not None
        self._episode, self._task, self._attempt, self._path = episode, episode.task, attempt, path
        self._follows = Recorder(self._task, attempt, None)
        self._turns = recording(path)

    def opening(self) -> Reply:
        """The first words, which are the persona's own whoever plays it."""
        from .llm import opening_of

        first = opening_of(self._task)
        self._follows.begin(first.text)
        return first

    def reply(self, text: str) -> Reply:
        """The recorded answer.

        Raises:
            UserError: none is recorded for these words at this turn.
        """
        number, key = self._follows.hears(text)
        there = self._turns.get((self._task.id, self._attempt, number), ())
        for row in reversed(there):
            if row["key"] == key:
                reply = Reply(row["text"], row["leaves"], tuple(row["acts"]), tuple(row["faults"]))
                self._episode.user_faults += len(reply.faults)
                self._follows.add(text, reply)
                return reply
        raise UserError(self._missing(number, text, there))

    def _missing(self, number: int, text: str, there: Any) -> str:
        where = (
            f"the recording {self._path} has no answer for turn {number} of {self._task.id}, attempt {self._attempt}"
        )
        if not there:
            return f"{where}: it ends before"
        last = there[-1]
        if last["task_hash"] != self._task.hash:
            return f"{where}: it is of another version of this task"
        return (
            f"{where}: the agent speaks differently there. Recorded was {last['agent'][:SHOWN]!r}, "
            f"now it says {text[:SHOWN]!r}"
        )


def recording(path: Path) -> Turns:
    """All turns in a file.

    Raises:
        UsageError: there is no such file.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise UsageError(f"the recording {path} cannot be read: {error.strerror}") from None
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, size: int) -> Turns:
    turns: Turns = {}
    for row in read_lines(path):
        if row.get("v") == FORMAT:
            turns.setdefault((row["task_id"], row["attempt"], row["turn"]), []).append(row)
    return turns


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
