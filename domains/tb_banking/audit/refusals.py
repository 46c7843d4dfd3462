"""Requests turned down: whether the records show that the customer was entitled, or that another end was due.

Only what the records decide is judged. Which payment, fee, hold or transfer a customer had in mind is taken from the
figures that were looked at and the amounts that were named; where they leave several, the refusal is believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, plain

from . import alerts, cards, complaints, credits, deposits, disputes, holds_fees, limits, pages, transfers
from .episode import Episode
from .reckoning import days_since, live_dispute, open_alerts, segment, usd

TURNED_DOWN = ("policy_refused", "already_settled", "customer_withdrew", "team_review", "recognised")
_STOP = re.compile(r"\b(cancel|pause|stop|end)\b")
_LATE = re.compile(r"\b(late|delay|delayed|wait(ed|ing)?|compensation|weeks|slow|long)\b")
_AMOUNT = re.compile(r"\busd ?([\d,]+(?:\.\d\d)?)")


def unfounded(episode: Episode) -> Iterator[Violation]:
    """Handbook 15.2: a refusal, withdrawal or referral that the records contradict."""
    record, end = episode.record, episode.disposition
    if end == "customer_withdrew" and episode.labels and not episode.labelled("declined:", "changed_mind"):
        yield Violation("15.2", "the case ends as customer_withdrew, but the customer declined nothing")
    if not record or end not in TURNED_DOWN or not record["account_id"]:
        return
    judge = _JUDGES.get(record["subject"])
    right = judge(episode, str(record["account_id"])) if judge else ""
    if right and right != end and (end, right) != ("customer_withdrew", "done"):
        yield Violation("15.2", f"{record['subject']} ends as {end} where {right} was due")


def _only(episode: Episode, table: str, tool: str, argument: str) -> Row:
    """The one row that a tool was asked about; empty when it was none or several."""
    keys = episode.looked_at(tool, argument)
    return episode.start.row(table, keys[0]) if len(keys) == 1 else {}


def _named(episode: Episode, rows: list[Row]) -> list[Row]:
    """The rows whose amount the customer named; all of them when that leaves none."""
    return [row for row in rows if usd(row["amount_cents"]) in episode.heard] or rows


def _card_dispute(episode: Episode, account_id: str) -> str:
    state, customer_id = episode.start, str(episode.record["customer_id"])
    found = _only(episode, "disputes", "review_dispute", "dispute_id")
    if disputes.filed_in_a_year(state, customer_id, episode.now) >= disputes.TOO_MANY:
        return "" if episode.disposition == "recognised" or found else "team_review"
    if episode.disposition == "team_review":
        return "" if open_alerts(state, account_id=account_id) else "another end"
    if found:
        return "done" if found["stage"] == "contested" else ""
    entries = [state.row("entries", key) for key in episode.looked_at("review_payment", "entry_id")]
    shops = {entry.get("merchant_id") for entry in entries}
    if episode.disposition != "policy_refused" or len(shops) != 1:
        return ""
    new = [entry for entry in entries if not live_dispute(state, entry["id"])]
    return "done" if any(disputes.is_due(episode, entry) for entry in new) else ""


def _credit(episode: Episode, account_id: str) -> str:
    found = _only(episode, "disputes", "review_dispute", "dispute_id")
    if not found or episode.disposition == "team_review":
        return ""
    if found["credit"] != "none":
        return "already_settled" if found["credit"] == "given" else ""
    return "policy_refused" if credits.refusal(episode.start, found, episode.now) else "done"


def _control(episode: Episode, account_id: str) -> str:
    named = cards.named_countries(episode.heard, pages.OPEN_COUNTRIES)
    closed = cards.named_countries(episode.heard, pages.FORMER_COUNTRIES)
    cash = re.search(r"\bcash|\batm|\bmachine", plain(episode.heard))
    barred = cash and segment(episode.start, account_id) not in cards.CASH_SEGMENTS
    return "done" if named and not closed and not barred and episode.disposition == "policy_refused" else ""


def _limit(episode: Episode, account_id: str) -> str:
    kinds = [kind for kind in episode.looked_at("review_limit", "kind") if kind in limits.CEILINGS]
    amounts = [round(float(found.replace(",", "")) * 100) for found in _AMOUNT.findall(plain(episode.heard))]
    if len(kinds) != 1 or not amounts or episode.disposition != "policy_refused":
        return ""
    return "done" if max(amounts) <= 2 * limits.ceiling(episode.start, account_id, kinds[0], episode) else ""


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
    held = _named(episode, episode.start.where("holds", account_id=account_id, status="active"))
    if len(held) != 1:
        return ""
    if held[0]["kind"] in ("fraud", "legal"):
        return "team_review"
    return "policy_refused" if holds_fees.release_refusal(episode.start, held[0], episode.now) else "done"


def _fee(episode: Episode, account_id: str) -> str:
    if episode.disposition == "team_review":
        return "another end"
    state = episode.start
    fees = [row for row in state.where("fees", account_id=account_id) if not row["reversed_cents"]]
    named = [row for row in fees if usd(row["amount_cents"]) in episode.heard]
    meant = named or (fees if len(fees) == 1 else [])
    due = [fee for fee in meant if holds_fees.mistake(state, fee) or holds_fees.goodwill(state, fee, episode.now)]
    return "done" if due else ""


def _deposit(episode: Episode, account_id: str) -> str:
    quoted = [episode.start.row("deposits", key) for key in episode.looked_at("quote_deposit", "deposit_id")]
    almost = [deposits.is_almost_due(row, episode.now) for row in quoted if row["status"] == "active"]
    if not almost or any(almost) != all(almost):
        return ""
    return "policy_refused" if all(almost) else "done"


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
    if rows and episode.disposition in ("policy_refused", "already_settled"):
        return "done"
    if len(rows) != 1 or episode.disposition != "team_review":
        return ""
    named = alerts.named_untold(episode, rows[0]["entry_id"], 10**9)
    return "done" if rows[0]["level"] == "low" or named else ""


def _lost_card(episode: Episode, account_id: str) -> str:
    """A lost card can be replaced, and one that was found be had back one way or the other (5.1, 5.2)."""
    live = [row for row in episode.start.where("cards", account_id=account_id) if row["status"] in ("active", "frozen")]
    return "done" if live and episode.disposition == "policy_refused" else ""


_JUDGES: dict[str, Callable[[Any, str], str]] = {
    "card_dispute": _card_dispute, "provisional_credit": _credit, "transfer": _transfer, "standing_order": _order,
    "hold": _hold, "fee": _fee, "deposit": _deposit, "incoming_payment": _incoming, "closing": _closing,
    "complaint": _complaint, "alert": _alert, "lost_card": _lost_card, "card_control": _control, "limit": _limit,
}  # fmt: skip
