"""Where failures come from and what a campaign took, counted by hand; and the page of a campaign against a server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attempt_rows import attempt_row
from campaign_parts import rows_of
from chat_double import ChatDouble, Message, called, said, turns_of
from page_parts import Reader, open_chromium, tables_of

from tb_envs.cli import main as tbx
from tb_envs.evaluation.rows import line_of
from tb_envs.registration import load_domain
from tb_envs.task import get_task

FAMILIES = ("corporate_rate", "fresh_booking", "name_on_booking", "partner_booking", "pet_and_dates", "relocation")
SERVED = [
    *(f"hotel/{family}/{index}" for index in range(2) for family in FAMILIES),
    *("banking/closing_down/0", "banking/going_abroad/0", "banking/flagged_payment/0"),
]
BROKEN, FILTERED, REFUSED, LONG, UNREAD, WRONG = SERVED[:6]
UNREADABLE: list[Message] = [called("get_booking", '{"booking_id": "BK-1'), said("```json\n{}\n```")]
TOKENS = {"input": 1000, "cached_input": 600, "output": 50, "reasoning": 10}


class Campaigns(NamedTuple):
    """Their folders; each has its report."""

    by_hand: Path
    served: Path


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Campaigns:
    """Made once, before any browser starts: its driver takes the thread's event loop."""
    root = tmp_path_factory.mktemp("campaigns")
    found = Campaigns(_by_hand(root / "by_hand"), _served(root / "served"))
    for folder in found:
        assert tbx(["report", str(folder), "--json"]) == 0
    return found


@pytest.fixture(scope="module")
def chromium(campaigns: Campaigns) -> Iterator[Any]:
    """A browser, after the campaigns were made."""
    with open_chromium() as browser:
        yield browser


# -- by hand


def _event(kind: str, name: str = "", *, call: int = 0, ok: bool = True, **data: Any) -> Any:
    return {"kind": kind, "name": name, "text": "", "data": data, "ok": ok, "call": call}


def _room(key: str, call: int, before: str, after: str) -> Any:
    """A room whose status becomes another; its other columns stay."""
    columns = load_domain("hotel").specs["rooms"].columns
    before_after = {"before": before, "after": after}
    sides: dict[str, Any] = {
        side: [{"id": key, "status": status}.get(name, 1) for name in columns] for side, status in before_after.items()
    }
    return _event("row", call=call, sequence=call, table="rooms", key=key, **sides)


def _wrote(tool: str, *rooms: Any) -> list[Any]:
    """One call that changed rooms, and one that was refused."""
    refused: dict[str, Any] = {"error": {"type": "not_found", "message": "no such room"}}
    return [
        _event("call", tool, call=1),
        *rooms,
        _event("result", tool, call=1, ok=True),
        _event("call", "get_room", call=2),
        _event("result", "get_room", call=2, ok=False, **refused),
    ]


def _failed(name: str, kind: str, found: str) -> dict[str, Any]:
    checks = [
        {"name": "ticket_says_why", "kind": "earned", "passed": True, "expected": "a reason", "found": "…"},
        {"name": name, "kind": kind, "passed": False, "expected": f"as {name} says", "found": found},
    ]
    return {"success": False, "grader": "1", "checks": checks}


def _by_hand(folder: Path) -> Path:
    """Ten attempts at five tasks: three right, two wrong writes, one wrong order, two undone, two system errors."""
    cost = {"agent": 0.25, "user": 0.05, "judge": 0.0}
    both = {"agent": TOKENS, "user": {**dict.fromkeys(TOKENS, 0), "input": 20}, "judge": None}
    seconds = {"total": 12.0, "agent": 6.0, "user": 1.0, "requests": 4, "retried": 1, "slowed": 0}
    usual: dict[str, Any] = {"cost": cost, "tokens": both, "seconds": seconds, "domain": "hotel"}
    moved = _room("RM-7", 1, "ready", "closed"), _room("RM-8", 1, "ready", "closed")
    stray = _failed("nothing_else", "guard", "rooms RM-7: status 'ready' → 'closed'")
    order = _failed("asked_first", "guard", "it was not asked")
    undone = _failed("ticket_kept", "earned", "no such ticket")
    one: dict[str, Any] = {"log": _wrote("close_room", *moved), "verdict": stray, "tool_errors": 1}
    other: dict[str, Any] = {"log": _wrote("block_room", moved[0]), "verdict": stray, "tool_errors": 1}
    untold: dict[str, Any] = usual | {"tokens": {**both, "user": None}}
    rows = [
        attempt_row("hotel/a/0", 0, **usual),
        attempt_row("hotel/a/0", 1, **usual),
        attempt_row("hotel/b/0", 0, **usual),
        attempt_row("hotel/b/0", 1, "failure", **usual | one),
        attempt_row("hotel/c/0", 0, "failure", **usual | other),
        attempt_row("hotel/c/0", 1, "failure", **usual, verdict=order, ended_by="customer"),
        attempt_row("hotel/d/0", 0, "failure", **usual, verdict=undone),
        attempt_row("hotel/d/0", 1, "failure", **usual, verdict=undone, ended_by="limit:turns", malformed=3),
        attempt_row("hotel/e/0", 0, "error:agent", **usual, error="500: out of memory"),
        attempt_row("hotel/e/0", 1, "error:user", **untold, error="a fault twice"),
    ]
    folder.mkdir()
    (folder / "attempts.jsonl").write_bytes(b"".join(map(line_of, rows)))
    manifest = {
        "agent": {"kind": "chat", "name": "m"}, "tasks": {row["task_id"]: row["task_hash"] for row in rows},
        "attempts": 2, "excluded": {}, "domains": {"hotel": {}}, "knobs": {}, "user": "scripted", "judge": None,
    }  # fmt: skip
    (folder / "campaign.json").write_text(json.dumps(manifest))
    return folder


def test_where_failures_come_from_is_counted(campaigns: Campaigns) -> None:
    page = campaigns.by_hand / "report.html"
    found = dict(tables_of(page))
    assert [row[:4] for row in found["Failed checks"][1:]] == [
        ["nothing_else", "had to hold", "2", "2"],
        ["ticket_kept", "had to happen", "2", "1"],
        ["asked_first", "had to hold", "1", "1"],
    ]
    writes = [row[:3] for row in found["First wrong write"][1:]]
    assert writes == [["close_room", "rooms", "1"], ["block_room", "rooms", "1"]]
    assert found["Tool errors"][1:] == [["get_room", "not found", "2"]]
    assert [row[1] for row in found["Guards and what is earned"][1:]] == ["3", "2", "3", "0"]
    ends = {name: numbers for name, *numbers in found["How the talks ended"][1:]}
    assert ends == {"the agent ended it": ["6", "3"], "the customer left": ["1", "1"], "limit of turns": ["1", "1"]}
    assert found["System errors: 2 attempts, not counted"][1:] == [
        ["error:agent", "500: out of memory", "1"],
        ["error:user", "a fault twice", "1"],
    ]
    text = page.read_text("utf-8")
    assert 'aria-label="3 succeeded, 2 wrong write, 1 wrong order, 2 left undone"' in text
    assert "2 error results, 4.0 % of calls, in 2 attempts; 3 turns could not be read, in 1 attempt." in text
    assert "Early goodbyes: in 1 attempt the agent closed the talk" in text
    assert "In 1 failed attempt the customer left." in text


def test_what_it_took_is_counted(campaigns: Campaigns) -> None:
    found = dict(tables_of(campaigns.by_hand / "report.html"))
    assert found["Cost"] == [
        ["the campaign", "$3.00"],
        ["one attempt at every task", "$1.50"],
        ["per attempt", "$0.3"],
        ["per success", "$1.00"],
        ["per dependable task", "$3.00"],
        ["of that, agent", "$2.50"],
        ["of that, customer", "$0.5"],
        ["of that, judge", "$0"],
    ]
    assert found["Tokens"] == [
        ["agent, input", "10,000"],
        ["agent, cached input", "6,000"],
        ["agent, output", "500"],
        ["agent, reasoning", "100"],
        ["customer, input", "180"],
        ["customer, cached input", "0"],
        ["customer, output", "0"],
        ["customer, reasoning", "0"],
        ["customer: attempts that do not tell", "1"],
        ["judge", "none"],
    ]
    took = dict(found["Time and length"])
    assert took["all attempts, end to end"] == "2.0 min" and took["waiting for the agent's model"] == "60.0 s"
    assert (took["requests"], took["of them sent again"], took["tool calls per attempt"]) == ("40", "10", "5.0")


def test_the_row_that_a_failed_check_names_is_marked(chromium: Any, campaigns: Campaigns) -> None:
    reader = Reader(chromium, f"{(campaigns.by_hand / 'report.html').as_uri()}#hotel/b/0/1")
    records = reader.page.get_by_label("Records changed")
    records.get_by_text("rooms RM-8").wait_for()
    cards = records.locator(".row")
    assert [card.split(" changed by")[0] for card in cards.locator("h4").all_inner_texts()] == [
        "rooms RM-7",
        "rooms RM-8",
    ]
    marks = [cards.nth(place).get_by_text("named by a failed check").count() for place in range(2)]
    assert marks == [1, 0]
    wrong = records.locator("tr.wrong")
    assert wrong.count() == 1 and wrong.locator("th").inner_text() == "status"
    assert wrong.locator("td").all_inner_texts() == ["ready", "closed"]
    reader.done()


# -- against a server


def _served(folder: Path) -> Path:
    """Thirty attempts through HTTP: right and wrong ones, unreadable turns, and whatever a provider says in the way."""
    double = ChatDouble()
    for task_id in SERVED:
        turns = turns_of(task_id)
        if task_id == WRONG:
            turns = turns_of(task_id, next(iter(get_task(task_id).scenario.mistakes.values())).does)
        double.plays(task_id, [turns[0], *UNREADABLE, *turns[1:]] if task_id == UNREAD else turns)
    double.trouble |= {
        (BROKEN, 1): ["500!"],
        (FILTERED, 2): ["filter!"],
        (REFUSED, 1): ["refuse!"],
        (LONG, 3): ["long!"],
    }
    double.trouble |= {(SERVED[8], 1): ["429:0.01"], (SERVED[9], 1): ["drop"], (SERVED[10], 1): ["cut"]}
    double.start()
    try:
        words = ["--model", "m", "--base-url", double.url, "--tasks", *SERVED, "--attempts", "2", "--out", str(folder)]
        patience = ["--retries", "0", "--request-retries", "2", "--backoff", "0.005", "--max-errors", "40"]
        assert tbx(["eval", *words, *patience, "--json"]) == 0
    finally:
        double.stop()
    return folder


def test_a_campaign_against_a_server_can_be_read(chromium: Any, campaigns: Campaigns) -> None:
    rows = rows_of(campaigns.served)
    outcomes = Counter(row["outcome"] for row in rows)
    assert len(rows) == 30 and outcomes["error:agent"] == 2 and outcomes["failure"] >= 8 and outcomes["success"] >= 16
    reader = Reader(chromium, campaigns.served / "report.html")
    page = reader.page
    assert page.locator("#found").inner_text() == "1–30 of 30 attempts"
    numbers = page.locator("#numbers").inner_text()
    assert "refused by the provider" in numbers and "CUDA out of memory on rank 3" in numbers
    page.locator("select[name=ended]").select_option("refused")
    assert sorted(reader.names()) == sorted([FILTERED, REFUSED] * 2)
    page.locator("select[name=ended]").select_option("limit:context")
    assert reader.names() == [LONG] * 2
    page.get_by_role("button", name="Clear filters").click()
    page.locator("select[name=outcome]").select_option("system error")
    assert reader.names() == [BROKEN] * 2

    said = {
        REFUSED: "held back",
        LONG: "This model's maximum context length is 4096 tokens.",
        UNREAD: '{"booking_id": "BK-1',
        BROKEN: "CUDA out of memory on rank 3",
    }
    page.get_by_role("button", name="Clear filters").click()
    for task_id, words in said.items():
        page.get_by_role("searchbox").fill(f"{task_id}/1")
        page.locator("#list td.name a").first.click()
        dialog = page.get_by_role("dialog")
        dialog.locator(".talk").wait_for()
        assert words in dialog.inner_text(), task_id
        page.keyboard.press("Escape")
    reader.done()
