"""Rows of attempts, read once into the few numbers that figures are made of. The long parts of a row are dropped.

Refuses rows that contradict themselves or each other (a verdict missing, a task in two versions), and names the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import fsum
from sys import intern
from typing import Any, NamedTuple

from tb_envs.errors import UsageError

ROLES = ("agent", "user", "judge")
TOKENS = ("input", "cached_input", "output", "reasoning")
SECONDS = (
    "total", "agent", "environment", "user", "judge", "grading", "waiting", "requests", "retried", "slowed",
    "user_retried", "user_slowed", "judge_retried", "judge_slowed",
)  # fmt: skip
SYSTEM_ERROR = "error:"
FRESH = "fresh"
"""Name of the split of tasks that are in no suite."""
NEEDED = ("task_id", "task_hash", "domain", "family", "traps", "attempt", "outcome", "verdict")


class Played(NamedTuple):
    """One attempt."""

    attempt: int
    outcome: str
    ended_by: str
    error: str
    guards: tuple[int, int]
    """Checks of the kind, and how many passed."""
    earned: tuple[int, int]
    failed: tuple[tuple[str, str], ...]
    """Name and kind of each failed check."""
    turns: int
    user_turns: int
    tool_calls: int
    tool_errors: int
    malformed: int
    user_faults: int
    dropped: int

    @property
    def counted(self) -> bool:
        """It is an attempt of the agent: no system error."""
        return not self.outcome.startswith(SYSTEM_ERROR)

    @property
    def passed(self) -> bool:
        """It succeeded."""
        return self.outcome == "success"

    @property
    def kept(self) -> bool:
        """Every guard held."""
        return self.counted and self.guards[0] == self.guards[1]

    @property
    def done(self) -> bool:
        """Every earned check passed."""
        return self.counted and self.earned[0] == self.earned[1]


@dataclass
class TaskTally:
    """One task and its attempts, by number."""

    task_id: str
    task_hash: str
    domain: str
    family: str
    split: str
    traps: tuple[str, ...]
    cell: str
    reference_length: int | None
    attempts: dict[int, Played] = field(default_factory=dict[int, Played])

    @property
    def counted(self) -> list[Played]:
        """The attempts without system errors, by number."""
        return [played for _, played in sorted(self.attempts.items()) if played.counted]

    @property
    def n(self) -> int:
        """Counted attempts."""
        return len(self.counted)

    @property
    def c(self) -> int:
        """Successes."""
        return sum(played.passed for played in self.attempts.values())

    @property
    def errors(self) -> int:
        """System errors."""
        return len(self.attempts) - self.n


@dataclass
class Spent:
    """What one role took, over all rows."""

    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKENS, 0))
    known: int = 0
    """Rows that tell the tokens."""
    unknown: int = 0
    costs: list[float] = field(default_factory=list[float])
    """Dollars of each row where they are known; summed at the end, so that the order of the rows does not matter."""
    dollars_unknown: int = 0
    """Rows whose cost is unknown."""

    @property
    def dollars(self) -> float:
        """What is known to be spent."""
        return fsum(self.costs)


@dataclass
class Tally:
    """All rows, as counts."""

    tasks: dict[str, TaskTally] = field(default_factory=dict[str, TaskTally])
    rows: int = 0
    replaced: int = 0
    spent: dict[str, Spent] = field(default_factory=lambda: {role: Spent() for role in ROLES})
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SECONDS, 0.0))
    graders: set[str] = field(default_factory=set[str])
    packages: set[str] = field(default_factory=set[str])
    tools: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Tally:
        """Count the rows, one by one; tasks end up in the order of their ids, whatever the order of the rows.

        Raises:
            UsageError: a row that is no row, or that contradicts another; the message names it.
        """
        tally = cls()
        for row in rows:
            tally.add(row)
        tally.tasks = dict(sorted(tally.tasks.items()))
        return tally

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one more row."""
        self.rows += 1
        missing = [name for name in NEEDED if name not in row]
        if missing:
            raise UsageError(f"row {self.rows} is no row of an attempt: it has no {missing[0]!r}")
        task = self._task(row)
        played = played_of(row)
        self.replaced += played.attempt in task.attempts
        task.attempts[played.attempt] = played
        self._spend(row)
        self.graders.add(str(row.get("grader", "")))
        self.packages.add(str(row.get("package", "")))
        self.tools.setdefault(task.domain, set()).add(str(row.get("tools_hash", "")))

    def attempts(self) -> Iterator[Played]:
        """Every attempt, system errors included."""
        return (played for task in self.tasks.values() for played in task.attempts.values())

    def _task(self, row: Mapping[str, Any]) -> TaskTally:
        found = self.tasks.get(row["task_id"])
        if found is None:
            length = row.get("reference_length")
            found = TaskTally(
                row["task_id"],
                row["task_hash"],
                row["domain"],
                row["family"],
                row.get("split") or FRESH,
                tuple(row["traps"]),
                row.get("cell") or "",
                None if length is None else int(length),
            )
            self.tasks[found.task_id] = found
        elif found.task_hash != row["task_hash"]:
            raise UsageError(
                f"row {self.rows}: {found.task_id} is there in two versions "
                f"({found.task_hash[:12]} and {row['task_hash'][:12]}); they are not the same task"
            )
        return found

    def _spend(self, row: Mapping[str, Any]) -> None:
        all_tokens, cost, seconds = (_part(row, name) for name in ("tokens", "cost", "seconds"))
        for role in ROLES:
            spent = self.spent[role]
            tokens, dollars = _part(all_tokens, role) or None, cost.get(role)
            if tokens is not None:
                spent.known += 1
                for kind in TOKENS:
                    spent.tokens[kind] += tokens.get(kind) or 0
            elif dollars is None or dollars:
                spent.unknown += 1  # where no model was called the cost is 0.0 and there is nothing to know
            if dollars is None:
                spent.dollars_unknown += 1
            else:
                spent.costs.append(dollars)
        for name in SECONDS:
            self.seconds[name] += seconds.get(name) or 0


def played_of(row: Mapping[str, Any]) -> Played:
    """The few numbers of a row.

    Raises:
        UsageError: the row contradicts itself.
    """
    outcome, verdict = row["outcome"], row["verdict"]
    where = f"row of {row['task_id']}, attempt {row['attempt']}"
    if outcome not in ("success", "failure") and not outcome.startswith(SYSTEM_ERROR):
        raise UsageError(f"{where}: unknown outcome {outcome!r}; valid: success, failure, error:PART")
    checks: list[Mapping[str, Any]] = []
    if not outcome.startswith(SYSTEM_ERROR):
        if verdict is None:
            raise UsageError(f"{where}: it ended as {outcome} and has no verdict")
        checks = verdict["checks"]
        if all(check["passed"] for check in checks) != (outcome == "success"):
            raise UsageError(f"{where}: it ended as {outcome}, and its checks say otherwise")
    return Played(
        attempt=row["attempt"],
        outcome=outcome,
        ended_by=row.get("ended_by", ""),
        error=str(row.get("error", ""))[:300],
        guards=_of_kind(checks, "guard"),
        earned=_of_kind(checks, "earned"),
        failed=tuple((intern(check["name"]), intern(check["kind"])) for check in checks if not check["passed"]),
        turns=row.get("turns", 0),
        user_turns=row.get("user_turns", 0),
        tool_calls=row.get("tool_calls", 0),
        tool_errors=row.get("tool_errors", 0),
        malformed=row.get("malformed", 0),
        user_faults=row.get("user_faults", 0),
        dropped=_part(row, "context").get("dropped") or 0,
    )


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object in a row; empty where it is null or missing."""
    return row.get(name) or {}


def _of_kind(checks: Iterable[Mapping[str, Any]], kind: str) -> tuple[int, int]:
    passed = [check["passed"] for check in checks if check["kind"] == kind]
    return len(passed), sum(passed)
