"""Requests turned down: whether the records show that the customer was entitled, or that another end was due.

Only what the records decide is judged. Which payment, fee or transfer a customer had in mind is taken from the figures
that were looked at; where several were, or none, the refusal is believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State

from . import alerts, cards, complaints, credits, deposits, disputes, holds_fees, transfers
from .episode import Episode
from .reckoning import days_since, live_dispute, open_alerts

TURNED_DOWN = ("policy_refused", "already_settled", "customer_withdrew", "team_review", "recognised")
_STOP = re.compile(r"\b(cancel|pause|stop|end)\b")
_LATE = re.compile(r"\b(late|delay|delayed|wait(ed|ing)?|compensation|weeks|slow|long)\b")
_TWICE = re.compile(r"\b(twice|double|doubled|duplicate|two times|second time)\b")


def unfounded(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.2: a refusal, withdrawal or referral that the records contradict."""
    record = episode.record
    if not record or episode.disposition not in TURNED_DOWN or not record["account_id"]:
        return
    judge = _JUDGES.get(record["subject"])
    right = judge(episode, str(record["account_id"])) if judge else ""
    if right and right != episode.disposition and not _withdrawn_rightly(episode, right):
        yield Violation("15.2", f"{record['subject']} ends as {episode.disposition} where {right} was due")


def _withdrawn_rightly(episode: Episode, right: str) -> bool:
    """Whether a customer gave up what could have been had."""
    return episode.disposition == "customer_withdrew" and right == "done"


def _only(episode: Episode, table: str, tool: str, argument: str) -> Row:
    """The one row that a tool was asked about; empty when it was none or several."""
    keys = episode.looked_at(tool, argument)
    return episode.start.row(table, keys[0]) if len(keys) == 1 else {}


def _card_dispute(episode: Episode, account_id: str) -> str:
    customer_id = str(episode.record["customer_id"])
    if disputes.filed_in_a_year(episode.start, customer_id, episode.now) >= disputes.TOO_MANY:
        return (
            ""
            if episode.disposition == "recognised" or episode.looked_at("review_dispute", "dispute_id")
            else "team_review"
        )
    if episode.disposition == "team_review":
        return "" if open_alerts(episode.start, account_id=account_id) else "another end"
    found = _only(episode, "disputes", "review_dispute", "dispute_id")
    if found and found["stage"] == "contested":
        return "done"
    entry = _only(episode, "entries", "review_payment", "entry_id")
    if not entry or live_dispute(episode.start, entry["id"]) or episode.disposition != "policy_refused":
        return ""
    doubled = episode.says(_TWICE) and not disputes.problem(episode, episode.start, entry, "duplicate")
    return "done" if doubled else ""


def _credit(episode: Episode, account_id: str) -> str:
    found = _only(episode, "disputes", "review_dispute", "dispute_id")
    if not found or episode.disposition == "team_review":
        return ""
    if found["credit"] != "none":
        return "already_settled" if found["credit"] == "given" else ""
    return "policy_refused" if credits.refusal(episode.start, found, episode.now) else "done"


def _transfer(episode: Episode, account_id: str) -> str:
    found = _only(episode, "transfers", "review_transfer", "transfer_id")
    if not found or found["status"] == "recalled":
        return ""
    return {"recall": "done", "trace": "team_review", "refuse": "policy_refused"}[transfers.recall(found, episode)]


def _order(episode: Episode, account_id: str) -> str:
    found = _only(episode, "standing_orders", "review_order", "order_id")
    if not found or found["status"] == "cancelled":
        return ""
    if not transfers.is_far_enough(found, episode):
        return "policy_refused"
    return "done" if episode.says(_STOP) and episode.disposition == "policy_refused" else ""


def _hold(episode: Episode, account_id: str) -> str:
    held = episode.start.where("holds", account_id=account_id, status="active")
    if len(held) != 1:
        return ""
    if held[0]["kind"] in ("fraud", "legal"):
        return "team_review"
    return "policy_refused" if holds_fees.release_refusal(episode.start, held[0], episode.now) else "done"


def _fee(episode: Episode, account_id: str) -> str:
    if episode.disposition == "team_review":
        return "another end"
    fees = episode.start.where("fees", account_id=account_id)
    due = [fee for fee in fees if not fee["reversed_cents"] and _fee_due(episode.start, fee, episode)]
    return "done" if due and len(fees) == 1 else ""


def _fee_due(state: State, fee: Row, episode: Episode) -> int:
    return max(holds_fees.mistake(state, fee), holds_fees.goodwill(state, fee, episode.now))


def _deposit(episode: Episode, account_id: str) -> str:
    found = _only(episode, "deposits", "quote_deposit", "deposit_id")
    if not found or found["status"] != "active":
        return ""
    return "policy_refused" if deposits.is_almost_due(found, episode.now) else "done"


def _incoming(episode: Episode, account_id: str) -> str:
    found = _only(episode, "entries", "get_entry", "entry_id")
    if not found or found["kind"] != "transfer_in" or found["status"] != "posted":
        return ""
    return "done" if transfers.may_return(episode.start, found, episode) else "team_review"


def _closing(episode: Episode, account_id: str) -> str:
    if episode.disposition == "team_review":
        return ""
    return "policy_refused" if transfers.obstacles(episode.start, account_id, episode) else "done"


def _complaint(episode: Episode, account_id: str) -> str:
    found = _only(episode, "complaints", "review_complaint", "complaint_id")
    if not found or episode.disposition in ("team_review", "customer_withdrew"):
        return ""
    young = found["answered_on"] and days_since(found["answered_on"], episode.now) <= complaints.REOPEN_DAYS
    if young and episode.labelled("gave:news"):
        return "team_review"
    due = complaints.due(episode.start, found, "delay", episode.now)
    return "done" if due and episode.says(_LATE) and not episode.given_up else ""


def _alert(episode: Episode, account_id: str) -> str:
    rows = open_alerts(episode.start, account_id=account_id)
    if len(rows) != 1:
        return ""
    named = alerts.named_untold(episode, rows[0]["entry_id"], 10**9)
    if episode.disposition == "team_review":
        return "done" if rows[0]["level"] == "low" or named else ""
    return ""


def _found_card(episode: Episode, account_id: str) -> str:
    """A frozen card that the customer wants back: it can be had one way or the other."""
    found = _only(episode, "cards", "get_card", "card_id")
    wanted = found and found["status"] == "frozen" and episode.disposition == "policy_refused"
    return "done" if wanted and cards.frozen_lately(found, episode) else ""


_JUDGES: dict[str, Callable[[Any, str], str]] = {
    "card_dispute": _card_dispute, "provisional_credit": _credit, "transfer": _transfer, "standing_order": _order,
    "hold": _hold, "fee": _fee, "deposit": _deposit, "incoming_payment": _incoming, "closing": _closing,
    "complaint": _complaint, "alert": _alert, "lost_card": _found_card,
}  # fmt: skip
