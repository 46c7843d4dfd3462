"""Why an attempt failed, in one of a few words, from its row alone.

The first of these that holds is its reason: a row was changed that a failed check names (*wrong write*, with the tool
that first did it); a guard broke without such a row (*wrong order*: a step too early, too often, or without what it
needs); only what had to happen is missing (*left undone*). The words follow the verdict, they are no second verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tb_envs.evaluation.report.episodes import Row, failed, wrong_rows

WRITE, ORDER, UNDONE = "wrong write", "wrong order", "left undone"
REASONS = (WRITE, ORDER, UNDONE)
LONGEST = 80
"""Characters kept of a tool's name, which an agent may have made up."""


class Reason(NamedTuple):
    """Why an attempt failed.

    Attributes:
        kind: one of `REASONS`; empty for a success and for a system error.
        tool: of the first wrong write.
        table: that it wrote to first.
        tool_errors: (tool, type of error) of each tool's error result, in order.
    """

    kind: str
    tool: str
    table: str
    tool_errors: tuple[tuple[str, str], ...]


def reason_of(row: Row, columns: Mapping[str, Sequence[str]]) -> Reason:
    """The reason of one attempt.

    Args:
        row: as of `tb_envs.evaluation.rows`.
        columns: of the domain's tables, by table; empty where they are not known.
    """
    errors = tuple(
        (event["name"][:LONGEST], str(event["data"].get("error", {}).get("type", "error")))
        for event in row["log"]
        if event["kind"] == "result" and not event["ok"]
    )
    wanting = failed(row)
    if not wanting:
        return Reason("", "", "", errors)
    blamed = wrong_rows(row, columns)
    for event in row["log"]:
        if event["kind"] == "row" and (event["data"]["table"], event["data"]["key"]) in blamed:
            return Reason(WRITE, _tool(row, event["call"]), event["data"]["table"], errors)
    broken = any(check["kind"] == "guard" for check in wanting)
    return Reason(ORDER if broken else UNDONE, "", "", errors)


def _tool(row: Row, number: int) -> str:
    return next((event["name"] for event in row["log"] if event["kind"] == "call" and event["call"] == number), "")
