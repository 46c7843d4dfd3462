"""Verdicts of rows, given anew from the rows' own logs by today's grader and today's expectations of the same task.

Nothing is played again: a log holds every row change and every event in order, which is all that the grader reads. A
row is left alone, and named with the reason, where it cannot be judged fairly: its task is another one today (its hash
differs), its domain is not installed, or the grader breaks on it. A system error stays one. Only outcome, reward,
verdict and grader of a row are replaced.

The report's keys::

    rows, regraded, system_errors    numbers of rows; the last are left as they are
    grader, graders                  today's version; {version: rows that named it before}
    passed                           {"before", "after"} among the regraded rows
    moved                            [{"task_id", "attempt", "before", "after": outcome, "grader": before, "checks"}]:
                                     rows whose outcome or checks differ; checks = [{"name", "kind", "before",
                                     "after": passed, null where there was or is no such check, "expected", "found"}]
    moves                            {"success → failure": rows}, outcomes only
    left_alone                       [{"task_id", "attempt", "reason"}]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tb_envs.errors import DomainError, UsageError
from tb_envs.evaluation.tally import SYSTEM_ERROR
from tb_envs.grading.grade import Evidence, grade
from tb_envs.grading.verdict import GRADER, Verdict
from tb_envs.knobs import NONE, Knobs
from tb_envs.session.log import Event
from tb_envs.store.journal import RowChange
from tb_envs.task import Task, get_task

Row = Mapping[str, Any]


class NotJudgedError(Exception):
    """A row that cannot be judged fairly today; the message is the reason."""


def regrade(
    rows: Iterable[Row],
    *,
    knobs: Knobs = NONE,
    keep: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, Any]:
    """Judge rows anew, one by one; the module lists the report's keys.

    Args:
        rows: attempts, as campaigns write them.
        knobs: what their tasks were played with.
        keep: takes every row, in order, judged anew or as it was.
    """
    number, passed = Counter[str](), Counter[str]()
    graders, moves = Counter[str](), Counter[str]()
    moved: list[dict[str, Any]] = []
    left: list[dict[str, Any]] = []
    for row in rows:
        number["rows"] += 1
        graders[str(row["grader"])] += 1
        new = dict(row)
        if row["outcome"].startswith(SYSTEM_ERROR):
            number["system_errors"] += 1
        else:
            try:
                new = regraded(row, knobs)
                number["regraded"] += 1
                passed.update(before=row["outcome"] == "success", after=new["outcome"] == "success")
                if change := difference(row, new):
                    moved.append(change)
                if row["outcome"] != new["outcome"]:
                    moves[f"{row['outcome']} → {new['outcome']}"] += 1
            except NotJudgedError as reason:
                left.append({"task_id": row["task_id"], "attempt": row["attempt"], "reason": str(reason)})
        keep(new)
    return {
        "rows": number["rows"],
        "regraded": number["regraded"],
        "system_errors": number["system_errors"],
        "grader": GRADER,
        "graders": dict(sorted(graders.items())),
        "passed": {"before": passed["before"], "after": passed["after"]},
        "moved": moved,
        "moves": dict(sorted(moves.items())),
        "left_alone": left,
    }


def regraded(row: Row, knobs: Knobs = NONE) -> dict[str, Any]:
    """The row with the verdict that it gets today.

    Raises:
        NotJudgedError: it cannot be judged fairly; the message is the reason.
    """
    verdict = _judge(_task_of(row, knobs), events_of(row))
    outcome = "success" if verdict.success else "failure"
    fresh = {"outcome": outcome, "reward": verdict.reward("sparse"), "verdict": verdict.to_json(), "grader": GRADER}
    return {**row, **fresh}


def events_of(row: Row) -> list[Event]:
    """The log of a row as it was while the episode ran."""
    return [
        Event(
            event["kind"],
            event["name"],
            event["text"],
            _change(event["data"]) if event["kind"] == "row" else event["data"],
            event["ok"],
            event["call"],
        )
        for event in row["log"]
    ]


def difference(old: Row, new: Row) -> dict[str, Any] | None:
    """What moved between two verdicts of a row: its outcome, or whether a check passed. None where nothing did."""
    before, after = (
        {check["name"]: check for check in (row["verdict"] or {"checks": ()})["checks"]} for row in (old, new)
    )
    checks = [
        {
            "name": name,
            "kind": (after.get(name) or before[name])["kind"],
            "before": before[name]["passed"] if name in before else None,
            "after": after[name]["passed"] if name in after else None,
            "expected": (after.get(name) or before[name])["expected"],
            "found": (after.get(name) or before[name])["found"],
        }
        for name in dict.fromkeys([*before, *after])
        if (name in before, name in before and before[name]["passed"])
        != (name in after, name in after and after[name]["passed"])
    ]
    if not checks and old["outcome"] == new["outcome"]:
        return None
    return {
        "task_id": old["task_id"],
        "attempt": old["attempt"],
        "before": old["outcome"],
        "after": new["outcome"],
        "grader": old["grader"],
        "checks": checks,
    }


def _task_of(row: Row, knobs: Knobs) -> Task:
    try:
        task = get_task(row["task_id"], knobs)
    except (UsageError, DomainError) as error:
        raise NotJudgedError(f"the task cannot be built: {error}") from None
    if task.hash != row["task_hash"]:
        raise NotJudgedError("the task is another one today: its hash differs")
    return task


def _judge(task: Task, log: list[Event]) -> Verdict:
    scenario = task.scenario
    try:
        evidence = Evidence(task.domain.specs, [e.data for e in log if e.kind == "row"], log, scenario.about)
        return grade(scenario.expects, evidence, task.kinds)
    except Exception as error:
        raise NotJudgedError(f"the grader breaks on it: {type(error).__name__}: {error}") from error


def _change(data: Mapping[str, Any]) -> RowChange:
    before, after = (None if data[side] is None else tuple(data[side]) for side in ("before", "after"))
    return RowChange(data["sequence"], data["call"], data["table"], data["key"], before, after)
