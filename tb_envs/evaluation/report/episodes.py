"""What of an attempt's row a reader is shown: its steps in one sequence, the rows it changed, the checks, the facts.

The row holds the talk twice, as chat messages and as the log; here they are one. Refuses to judge: what a failed check
names is taken from the check's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Shown = dict[str, Any]

LARGE = ("messages", "wrote", "log", "verdict")
"""Keys of a row that are shown as something else than facts."""
_BLAMED = r"(?<![\w-]){column} (?:is |became |passed through |[^,]*→ )"
"""How a check's words speak of a column that is wrong; as of `tb_envs.grading.grade`."""


def episode_of(row: Row, columns: Mapping[str, Sequence[str]]) -> Shown:
    """All that the page shows of an attempt, JSON-able.

    Args:
        row: as of `tb_envs.evaluation.rows`.
        columns: of the domain's tables, by table; empty where they are not known.
    """
    return {
        "steps": steps(row),
        "changes": changes(row["log"]),
        "wrong": {f"{table} {key}": names for (table, key), names in wrong_rows(row, columns).items()},
        "checks": checks(row),
        "facts": {name: value for name, value in row.items() if name not in LARGE},
    }


def checks(row: Row) -> list[Mapping[str, Any]]:
    """The verdict's checks; none after a system error."""
    return list(row["verdict"]["checks"]) if row["verdict"] else []


def failed(row: Row) -> list[Mapping[str, Any]]:
    """The checks that did not pass."""
    return [check for check in checks(row) if not check["passed"]]


def steps(row: Row) -> list[Shown]:
    """What was said, heard, called and answered, in order; a call carries its result. A judge's answers come last."""
    heard = iter([event for event in row["log"] if event["kind"] == "heard"])
    carried_out = iter([event for event in row["log"] if event["kind"] == "result"])
    unread = {note["message"]: note["text"] for note in row.get("wrote") or ()}
    out: list[Shown] = []
    waiting: dict[str, Shown] = {}
    next_heard = next(heard, None)
    for place, message in enumerate(row["messages"]):
        content = message.get("content") or ""
        match message["role"]:
            case "user":
                if next_heard is None or content != next_heard["text"]:
                    out.append({"k": "notice", "t": content})
                    continue
                faults = next_heard["data"].get("faults")
                out.append({"k": "customer", "t": content} | ({"faults": faults} if faults else {}))
                next_heard = next(heard, None)
            case "assistant" if message.get("tool_calls"):
                if content:
                    out.append({"k": "aside", "t": content})
                calls = [(call["id"], _call(call["function"])) for call in message["tool_calls"]]
                waiting = dict(calls)
                out += [step for _, step in calls]
            case "assistant" if place in unread:  # a turn with calls says itself what was written
                out.append({"k": "unread", "t": unread[place]})
            case "assistant":
                out.append({"k": "agent", "t": content})
            case "tool" if message["tool_call_id"] in waiting:
                step = waiting[message["tool_call_id"]]
                event = next(carried_out, None)  # those that came after the end have a result and are in no log
                step |= {"r": content, "ok": bool(event and event["ok"])} | ({"n": event["call"]} if event else {})
            case _:
                out.append({"k": "notice", "t": content})
    if last := unread.get(len(row["messages"])):  # the words of a refusal, or of a server that ended the attempt
        out.append({"k": "notice", "t": last})
    return out + [_judged(event) for event in row["log"] if event["kind"] == "judged"]


def _judged(event: Mapping[str, Any]) -> Shown:
    return {
        "k": "judged",
        "t": f"{event['data']['criterion']} {'Yes' if event['data']['true'] else 'No'}: {event['text']}",
    }


def _call(function: Mapping[str, Any]) -> Shown:
    return {"k": "call", "name": function["name"], "args": function["arguments"]}


def changes(log: Iterable[Mapping[str, Any]]) -> list[Shown]:
    """Row changes in their order, each with the number of its call."""
    return [
        {"call": event["call"], **{name: event["data"][name] for name in ("table", "key", "before", "after")}}
        for event in log
        if event["kind"] == "row"
    ]


def wrong_rows(row: Row, columns: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], list[str]]:
    """Changed rows that a failed check names, in the order of their first change, with the columns it finds wrong."""
    wanting = failed(row)
    touched = dict.fromkeys((event["data"]["table"], event["data"]["key"]) for event in row["log"] if _is_row(event))
    found: dict[tuple[str, str], list[str]] = {}
    for table, key in touched:
        named = re.compile(rf"(?<![\w-]){re.escape(table)} {re.escape(key)}(?![\w-])")
        about = [words for check in wanting if (words := _words_on(named, check)) is not None]
        if about:
            found[table, key] = [
                name
                for name in columns.get(table, ())
                if any(re.search(_BLAMED.format(column=re.escape(name)), words) for words in about)
            ]
    return found


def _words_on(named: re.Pattern[str], check: Mapping[str, Any]) -> str | None:
    """What a failed check found at a row; None if it is about others."""
    if at := named.search(check["found"]):
        return check["found"][at.start() :].partition("; ")[0]
    return check["found"] if named.match(check["expected"]) else None


def _is_row(event: Mapping[str, Any]) -> bool:
    return event["kind"] == "row"
