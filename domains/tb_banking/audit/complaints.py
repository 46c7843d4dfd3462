"""Chapter 13: compensation for delay and trouble, complaints opened again.

Left open: whether only what was paid of the same kind, or all that was paid for a complaint, is taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from .episode import Episode
from .pages import TROUBLE
from .reckoning import day, days_since, segment, usd, working_days

ANSWER_DAYS, PER_DAY, MOST_FOR_DELAY, REOPEN_DAYS = 15, 500, 10000, 180
NEWS = re.compile(
    r"\bnew\b|\b(receipt|letter|e-?mails?|messages?|photos?|pictures?|witness(es)?|invoice|screenshots?|proof|evidence"
    r"|documents?|statement|recording|found|turned up|received|confirmation|report)\b"
)


def delay_due(state: State, complaint: Row, now: datetime) -> int:
    """Handbook 13.1: for each working day of delay, by segment, with a most; what was paid before not taken off."""
    last = day(complaint["answered_on"]) if complaint["answered_on"] else now.date()
    late = max(0, working_days(day(complaint["received_on"]), last) - ANSWER_DAYS)
    times = 2 if segment(state, complaint["account_id"]) == "premier" else 1
    return min(late * PER_DAY, MOST_FOR_DELAY) * times


def trouble_due(complaint: Row) -> int:
    """Handbook 13.2: by gravity, only for an upheld complaint; what was paid before not taken off."""
    return TROUBLE.get(complaint["gravity"], 0) if complaint["finding"] == "upheld" else 0


def paid(state: State, complaint_id: str, kind: str = "") -> int:
    """What was paid for a complaint."""
    rows = state.where("compensations", complaint_id=complaint_id)
    return sum(row["amount_cents"] for row in rows if not kind or row["kind"] == kind)


def dues(state: State, complaint: Row, kind: str, now: datetime) -> set[int]:
    """Handbook 13.1 to 13.3: what is due now of a kind, by either reading of what is taken off."""
    if kind == "trouble":
        return {0} if paid(state, complaint["id"], kind) else {trouble_due(complaint)}
    due = delay_due(state, complaint, now)
    return {max(0, due - paid(state, complaint["id"], kind)), max(0, due - paid(state, complaint["id"]))}


def compensations(episode: Episode) -> Iterator[Violation]:
    """Handbook 13: for each complaint and kind one payment of what is due."""
    paid_now: dict[tuple[str, str], int] = {}
    for act in episode.of("compensate"):
        row = act.change.after
        if row["complaint_id"] is None:
            continue
        place = (row["complaint_id"], act.detail)
        if place in paid_now:
            yield Violation("1.7", f"{act.detail} was paid twice for {place[0]}")
        paid_now[place] = act.cents
        complaint = episode.start.row("complaints", place[0])
        if complaint["account_id"] != act.account_id and not _same_holder(episode.start, complaint, act.account_id):
            yield Violation("13.1", f"compensation for {place[0]} was paid to {act.account_id}")
        right = dues(episode.at(act), complaint, act.detail, episode.now) if act.detail != "write_off" else set[int]()
        if act.cents not in right:
            section = {"trouble": "13.2"}.get(act.detail, "13.1")
            wanted = " or ".join(map(usd, sorted(right))) or "nothing"
            yield Violation(section, f"paid {usd(act.cents)} ({act.detail}) for {place[0]} where {wanted} was due")


def _same_holder(state: State, complaint: Row, account_id: str) -> bool:
    return state.row("accounts", account_id).get("customer_id") == complaint["customer_id"]


def reopened(episode: Episode) -> Iterator[Violation]:
    """Handbook 13.3: within 180 days of the final answer, with something new; then the complaints team takes it."""
    for act in episode.of("reopen"):
        answered = act.change.before["answered_on"]
        if answered is None or days_since(answered, episode.now) > REOPEN_DAYS:
            yield Violation("13.3", f"{act.key}, answered on {answered}, was opened again")
        if not episode.says(NEWS):
            yield Violation("13.3", f"{act.key} was opened again, but the customer brought nothing new")
        if episode.disposition not in ("team_review", "part_done", "system_fault"):
            yield Violation("13.3", f"{act.key} was opened again and not given to the complaints team")
