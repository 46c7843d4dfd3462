"""The file of a probe or an evaluation: a line of settings, then a JSON line per finished attempt.

Survives a kill at any moment.

A row is written whole, in one go, when its attempt is over; what a kill left half-written at the end is dropped on
the next opening, and that attempt is played again with the same random numbers. Refuses rows of other settings, a file
that is something else (which it leaves as it is), and two writers at once. Keys of a row: those of
`tb_trainer.evaluate.trial`, ``hash`` (the task's content), ``settings`` (of the line that it belongs to), ``versions``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tb_envs.errors import UsageError
from tb_envs.lines import hold_alone

KIND = "tbx probe 1"
EVALUATION = "tbx evaluation 1"
Row = dict[str, Any]


def settings_hash(settings: Mapping[str, Any]) -> str:
    """Short hash of settings; equal only for equal ones."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def read(path: Path) -> tuple[dict[str, Any], list[Row]]:
    """Settings and rows of a probe file; a torn last line is left out.

    Raises:
        UsageError: no such file, no probe file, or a line that cannot be read.
    """
    try:
        whole, _ = _split(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if not whole:
        raise UsageError(f"{path} holds no probe; `tbx probe --out {path}` writes one")
    return _settings(path, whole[0]), [_row(path, number, line) for number, line in enumerate(whole[1:], 2)]


def about(path: Path) -> dict[str, Any]:
    """What the first line of a probe file says beside the settings; `read` has read it before."""
    return dict(json.loads(path.read_bytes().split(b"\n", 1)[0]).get("about") or {})


class ProbeFile:
    """A probe file, or another `kind` of file with the same make, that is open for more rows.

    `about` goes into the first line beside the settings, and is not compared.

    Attributes:
        rows: that it held when it was opened.
    """

    def __init__(
        self,
        path: Path,
        file: IO[bytes],
        settings: Mapping[str, Any],
        kind: str = KIND,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self._file = file
        self.settings = settings_hash(settings)
        whole, torn = _split(file.read())
        more = {"about": about} if about else {}
        header = json.dumps({"kind": kind, "settings": settings, **more}, sort_keys=True).encode() + b"\n"
        if not whole and not header.startswith(torn):
            raise UsageError(f"{path} is no {_noun(kind)} file; name another one")
        if whole:
            _compare(path, _settings(path, whole[0], kind), settings)
        self.rows = [_row(path, number, line, kind) for number, line in enumerate(whole[1:], 2)]
        for number, row in enumerate(self.rows, 2):
            if row["settings"] != self.settings:
                raise UsageError(f"{path}, line {number}: a row of other settings ({row['settings']}) is mixed in")
        file.truncate(sum(len(line) + 1 for line in whole))
        file.seek(0, 2)
        if not whole:
            self._append(header)

    def write(self, row: Mapping[str, Any]) -> None:
        """Append a row."""
        self._append(json.dumps({**row, "settings": self.settings}).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        # The file is unbuffered: one call, so that a kill leaves a line whole, torn or unwritten, and nothing after it.
        done = self._file.write(line)
        if done != len(line):
            raise OSError(28, "no space left for a whole row", self._file.name)


@contextmanager
def open_probe(
    path: Path, settings: Mapping[str, Any], kind: str = KIND, about: Mapping[str, Any] | None = None
) -> Iterator[ProbeFile]:
    """Open a probe file, or begin one; arguments as of `ProbeFile`.

    Raises:
        UsageError: it is no such file, is of other settings, or another process writes it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    with path.open("r+b", buffering=0) as file:
        if not hold_alone(file.fileno()):
            raise UsageError(f"{path} is being written by another {_noun(kind)}")
        yield ProbeFile(path, file, settings, kind, about)


def _split(content: bytes) -> tuple[list[bytes], bytes]:
    """Whole lines, and what comes after the last one."""
    *whole, torn = content.split(b"\n")
    return whole, torn


def _noun(kind: str) -> str:
    return kind.split()[1]


def _settings(path: Path, line: bytes, kind: str = KIND) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("kind") != kind:
        raise UsageError(f"{path} is no {_noun(kind)} file")
    return header["settings"]


def _row(path: Path, number: int, line: bytes, kind: str = KIND) -> Row:
    try:
        row = json.loads(line)
        if not {"task", "attempt", "outcome", "reward", "hash", "settings", "versions"} <= row.keys():
            raise ValueError
    except (ValueError, AttributeError):
        raise UsageError(
            f"{path}, line {number} is no row of this {_noun(kind)}; remove the line or the file"
        ) from None
    return row


def _compare(path: Path, found: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    """Refuse other settings, naming the first that differs."""
    for name in sorted({*found, *mine}):
        if found.get(name) != mine.get(name):
            raise UsageError(
                f"{path} was begun with other settings: {name} was {found.get(name)}, now {mine.get(name)}; "
                "name another file, or use the old settings"
            )
