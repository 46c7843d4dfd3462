"""Chapter 13: compensation for delay and trouble, complaints opened again.

Left open: what is new to the complaints team, as long as the customer brings anything at all.
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


def due(state: State, complaint: Row, kind: str, now: datetime) -> int:
    """Handbook 13.1, 13.2 and 13.4: what is due now of a kind, less what was paid of it for the complaint."""
    rows = state.where("compensations", complaint_id=complaint["id"], kind=kind)
    if kind == "trouble":
        return 0 if rows else trouble_due(complaint)
    whole = delay_due(state, complaint, now) if kind == "delay" else 0
    return max(0, whole - sum(row["amount_cents"] for row in rows))


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
        if act.cents != (right := due(episode.at(act), complaint, act.detail, episode.now)):
            section = "13.2" if act.detail == "trouble" else "13.1"
            yield Violation(section, f"paid {usd(act.cents)} ({act.detail}) for {place[0]} where {usd(right)} was due")


def _same_holder(state: State, complaint: Row, account_id: str) -> bool:
    return state.row("accounts", account_id).get("customer_id") == complaint["customer_id"]


def reopened(episode: Episode) -> Iterator[Violation]:
    """Handbook 13.3: within 180 days of the final answer, with something new; then the complaints team takes it."""
    for act in episode.of("reopen"):
        answered = act.change.before["answered_on"]
        if answered is None or days_since(answered, episode.now) > REOPEN_DAYS:
            yield Violation("13.3", f"{act.key}, answered on {answered}, was opened again")
        if not episode.brings_news(NEWS):
            yield Violation("13.3", f"{act.key} was opened again, but the customer brought nothing new")
        if episode.disposition not in ("team_review", "part_done", "system_fault"):
            yield Violation("13.3", f"{act.key} was opened again and not given to the complaints team")
