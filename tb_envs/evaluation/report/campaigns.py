"""A campaign's folder as the report sees it: its manifest, and its attempts without their talk.

The talk of an attempt is read when it is asked for, from its place in the file, so that a campaign of any length is
shown in little memory. A folder that still grows can be read again; only new rows are parsed. Another file of the same
attempts in the folder (what ``tbx regrade`` writes) is read in place of the campaign's own where it is named. Refuses
rows without a manifest beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tb_envs.errors import DomainError, UsageError
from tb_envs.evaluation.manifest import FILE as MANIFEST
from tb_envs.evaluation.manifest import HELD, read_manifest
from tb_envs.evaluation.named import named
from tb_envs.evaluation.report.episodes import LARGE, Shown, episode_of
from tb_envs.evaluation.report.reasons import Reason, reason_of
from tb_envs.evaluation.rows import Key, Place, Rows, read_at
from tb_envs.evaluation.summary import summarize


class Attempt:
    """One attempt without its talk.

    Attributes:
        key: task id and number.
        place: of its row in the file.
        row: the row, but for messages and log.
        reason: why it failed, as far as its row says.
    """

    __slots__ = ("key", "place", "reason", "row")

    def __init__(self, key: Key, place: Place, row: dict[str, Any]) -> None:
        self.key, self.place = key, place
        self.reason: Reason = reason_of(row, columns_of(row["domain"]))
        self.row = slim(row)


class Campaign:
    """One run of ``tbx eval``.

    Args:
        path: its folder, or a file of its attempts in that folder.

    Raises:
        UsageError: there is no campaign, or its manifest cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.named = named(path)
        if not path.exists():
            raise UsageError(f"{path} does not exist; name a campaign's folder, or a file of attempts in it")
        if path.is_file() and not self.named.is_campaign:
            raise UsageError(f"{path} has no {MANIFEST} beside it, which a report on a campaign needs")
        self.manifest = read_manifest(self.folder, HELD)
        self.attempts: dict[Key, Attempt] = {}
        self._replaced: list[dict[str, Any]] = []
        self._size = -1
        self._summary: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """Of the folder; with the file's where that is not the campaign's own."""
        return self.named.name

    @property
    def folder(self) -> Path:
        """Where the manifest is."""
        return self.named.folder

    @property
    def file(self) -> Path:
        """Where the attempts are."""
        return self.named.file

    @property
    def page(self) -> Path:
        """Where the report on it alone is put unless something else is said."""
        return self.folder / "report.html" if self.named.own else self.file.with_suffix(".html")

    def read(self) -> Iterator[tuple[Attempt, dict[str, Any]]]:
        """Parse what is new, in the order of tasks and attempts, and give each attempt with its whole row.

        Attempts that were replaced since (by ``--retry-errors``) are given anew. `attempts` is up to date when the
        iteration has ended.

        Raises:
            UsageError: a line is no row, or the file has lost attempts that were read before.
        """
        path = self.file
        size = path.stat().st_size if path.is_file() else 0
        if self.attempts and size == 0:
            raise UsageError(f"{path} was {'emptied' if path.is_file() else 'removed'}; what was read before is shown")
        if size in (0, self._size):
            return
        rows = Rows(path)
        gone = len(self.attempts.keys() - rows.places.keys())
        if gone:
            raise UsageError(f"{path} was cut off: {gone} attempts are gone from it; what was read before is shown")
        if rows.replaced:  # what they cost was spent too
            self._replaced = _replaced(rows)
        for key in sorted(rows.places):
            known = self.attempts.get(key)
            if known is None or known.place != rows.places[key]:
                row = rows.row(*key)
                self.attempts[key], self._summary = Attempt(key, rows.places[key], row), None
                yield self.attempts[key], row
        self._size = size

    def episode(self, attempt: Attempt) -> Shown:
        """All there is to read of an attempt."""
        with self.file.open("rb") as file:
            row = read_at(file, attempt.place, self.file)
            if (row["task_id"], row["attempt"]) != attempt.key:
                raise UsageError(f"{self.file} was changed since it was read; start again to see what it says")
        return episode_of(row, columns_of(row["domain"]))

    @property
    def planned(self) -> int:
        """Attempts that the campaign is to have in the end."""
        return len(self.manifest["tasks"]) * int(self.manifest["attempts"])

    @property
    def settings(self) -> dict[str, Any]:
        """The manifest, with the number of tasks in place of their hashes."""
        return {**self.manifest, "tasks": len(self.manifest["tasks"])}

    def summary(self) -> dict[str, Any]:
        """The campaign in numbers, as far as it was read; keys as of `tb_envs.evaluation.summary`."""
        if self._summary is None:
            self._summary = summarize(
                [*self._replaced, *(attempt.row for attempt in self.attempts.values())],
                knobs=self.manifest["knobs"],
                planned=self.planned,
                excluded=Counter(self.manifest["excluded"].values()),
            )
        return self._summary


def slim(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without its talk."""
    return {name: value for name, value in row.items() if name == "verdict" or name not in LARGE}


def _replaced(rows: Rows) -> list[dict[str, Any]]:
    """The rows that a later one of the same attempt replaces, in their order."""
    last: dict[Key, dict[str, Any]] = {}
    out: list[dict[str, Any]] = []
    for row in rows.every():
        key = row["task_id"], row["attempt"]
        if key in last:
            out.append(last[key])
        last[key] = slim(row)
    return out


class Run(NamedTuple):
    """A campaign in a report."""

    name: str
    campaign: Campaign
    summary: Mapping[str, Any]


def open_campaigns(paths: Iterable[Path]) -> list[Campaign]:
    """Campaigns in the order they are named, each once, also where its folder and its own file are named."""
    return [Campaign(path) for path in dict.fromkeys(named(path).path for path in paths)]


def names_of(campaigns: Sequence[Campaign]) -> list[str]:
    """Short names that differ: the folders', with the one above or a number where that does not tell them apart."""
    names = [campaign.name for campaign in campaigns]
    if len(set(names)) < len(names):
        names = [f"{campaign.folder.resolve().parent.name}/{campaign.name}" for campaign in campaigns]
    return [f"{name} ({at})" if names.count(name) > 1 else name for at, name in enumerate(names, 1)]


@cache
def columns_of(domain: str) -> Mapping[str, Sequence[str]]:
    """The columns of a domain's tables, by table; empty if the domain is not installed."""
    from tb_envs.registration import load_domain

    try:
        return {table: spec.columns for table, spec in load_domain(domain).specs.items()}
    except (UsageError, DomainError):
        return {}


@cache
def families_of(domain: str) -> Mapping[str, str]:
    """What each family of a domain is about, in a sentence; empty if the domain is not installed."""
    from tb_envs.registration import load_domain

    try:
        return {name: family.doc for name, family in load_domain(domain).families.items()}
    except (UsageError, DomainError):
        return {}
