"""Chapter 4.8: provisional credit.

Left open: on which day a dispute counts as lost when its settlement names none (the day it was filed is taken).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from .episode import Episode
from .mandates import has_papers
from .reckoning import YEAR, days_since, of_customer, segment, usd, working_days_since
from .records import Act

WAIT = {
    "fraud": {"basic": 5, "plus": 0, "premier": 0},
    "duplicate": {"basic": 10, "plus": 10, "premier": 5},
    "wrong_amount": {"basic": 10, "plus": 10, "premier": 5},
}
TOO_MANY_LOST = 2


def lost_in_a_year(state: State, customer_id: str, now: datetime) -> int:
    """Handbook 4.8: how many disputes a customer lost in the last 365 days."""
    rows = of_customer(state, "disputes", customer_id, stage="lost")
    return sum(days_since(row["settled_on"] or row["filed_on"], now) <= YEAR for row in rows)


def refusal(state: State, dispute: Row, now: datetime) -> str:
    """Handbook 4.8: why a dispute gets no credit today; empty if it does."""
    customer_id = state.row("accounts", dispute["account_id"]).get("customer_id", "")
    wait = WAIT.get(dispute["reason"], {}).get(segment(state, dispute["account_id"]))
    if dispute["stage"] != "filed":
        return f"it is {dispute['stage']}"
    if dispute["credit"] != "none":
        return f"its credit is {dispute['credit']}"
    if wait is None:
        return f"{dispute['reason']} never gets one"
    if working_days_since(dispute["filed_on"], now) < wait:
        return f"{wait} working days after filing are not over"
    if lost_in_a_year(state, customer_id, now) >= TOO_MANY_LOST:
        return "the customer lost 2 disputes or more in 365 days"
    return ""


def credits_given(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.8: the whole amount, by reason, segment and days, and never to who lost too often."""
    for act in episode.of("credit"):
        entry = episode.start.row("entries", act.change.before["entry_id"])
        if why := refusal(episode.at(act), act.change.before, episode.now):
            yield Violation("4.8", f"{act.key} was credited, but {why}")
        if act.cents != -entry["amount_cents"]:
            yield Violation("4.8", f"{act.key} was credited {usd(act.cents)} of {usd(-entry['amount_cents'])}")


def credit_at_once(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.8: a dispute with credit at once that is filed today is credited today, if the desk lets it be."""
    for act in episode.of("file"):
        if refusal(_as_filed(episode, act), act.change.after, episode.now) or not has_papers(
            episode.start, act.account_id
        ):
            continue
        given = any(other.key == act.key for other in episode.of("credit"))
        rows = episode.end.where("sign_offs", account_id=act.account_id, kind="provisional_credit")
        stopped = any(row["decision"] != "granted" for row in rows)
        if not given and not stopped and not episode.given_up:
            yield Violation("4.8", f"{act.key} was filed as {act.detail} and not credited at once")


def _as_filed(episode: Episode, act: Act) -> State:
    state = episode.at(act)
    return State({**state.tables, "disputes": {**state.rows("disputes"), act.key: act.change.after}})
