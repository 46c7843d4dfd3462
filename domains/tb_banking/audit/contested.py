"""Chapter 4.9: disputes that the merchant has contested, and small ones written off.

Left open: whether what the customer names is really new; a word for something new must have been heard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import State

from .episode import Episode
from .reckoning import YEAR, days_since, of_customer, usd
from .records import Act

SMALL = 2500
_NEWS = re.compile(
    r"\b(receipt|messages?|witness(es)?|e-?mails?|photos?|pictures?|letter|confirmation|screenshots?|invoice|texts?|chat"
    r"|tracking|proof|evidence|slip|statement|document|contract|copy)\b"
)


def contested(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.9: escalated in time with something new; else lost; small ones lost and written off."""
    for act in episode.of("escalate", "settle"):
        row, entry = act.change.before, episode.start.row("entries", act.change.before["entry_id"])
        if row["stage"] != "contested":
            yield Violation("4.9", f"{act.key} was {row['stage']}; only what the merchant has contested goes on")
        late = row["respond_by"] is not None and days_since(row["respond_by"], episode.now) > 0
        small, news = -entry["amount_cents"] <= SMALL, episode.brings_news(_NEWS)
        if act.kind == "escalate" and (late or small):
            why = "the last day is over" if late else f"it is {usd(-entry['amount_cents'])} only"
            yield Violation("4.9", f"{act.key} was escalated, but {why}")
        if act.kind == "escalate" and not news:
            yield Violation("4.9", f"{act.key} was escalated, but the customer named nothing new")
        if act.kind == "settle" and not late and not small and episode.labelled("gave:news"):
            yield Violation("4.9", f"{act.key} was settled, but the customer named something new in time")
        if act.kind == "settle" and act.detail != "lost":
            yield Violation("4.9", f"{act.key} was settled as {act.detail}; we settle only as lost")
        if (
            act.kind == "settle"
            and small
            and not _needs_no_write_off(episode, act)
            and not _written_off(episode, act.key)
        ):
            yield Violation("4.9", f"{act.key} was settled, but not written off")


def _needs_no_write_off(episode: Episode, act: Act) -> bool:
    """Handbook 4.9: whether the customer had a write-off in 365 days before this act, or a tool failed for good."""
    return bool(episode.given_up) or had_write_off(episode.start, act.customer_id, episode.now)


def had_write_off(state: State, customer_id: str, now: datetime) -> bool:
    """Handbook 4.9: whether a customer had a write-off in the last 365 days."""
    rows = of_customer(state, "compensations", customer_id, kind="write_off")
    return any(days_since(row["paid_at"], now) <= YEAR for row in rows)


def _written_off(episode: Episode, dispute_id: str) -> bool:
    return any(act.change.after["dispute_id"] == dispute_id for act in episode.of("compensate"))


def write_offs(episode: Episode) -> Iterator[Violation]:
    """Handbook 4.9: the whole of a small lost dispute, once in 365 days for a customer."""
    for act in episode.of("compensate"):
        if act.detail != "write_off" and act.change.after["dispute_id"] is None:
            continue
        dispute = episode.end.row("disputes", act.change.after["dispute_id"])
        entry = episode.start.row("entries", dispute.get("entry_id"))
        if act.detail != "write_off" or not dispute or dispute["stage"] != "lost":
            yield Violation(
                "4.9", f"{usd(act.cents)} ({act.detail}) was paid for {dispute.get('id')}, which is no write-off"
            )
            continue
        amount = -entry["amount_cents"]
        if amount > SMALL or act.cents != amount:
            yield Violation("4.9", f"{usd(act.cents)} was written off for a payment of {usd(amount)}")
        if had_write_off(episode.at(act), act.customer_id, episode.now):
            yield Violation("4.9", f"{act.customer_id} had a write-off in the last 365 days")
