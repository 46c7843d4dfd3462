"""Chapters 8 and 9: holds that may be released, fees that are returned.

Left open: which of two equal fees for one event is returned; whether "more than 7 days" is counted by days or hours;
the amount of the posted payment that an authorisation was made for, which may differ from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from tb_envs.authoring.audit import Violation
from tb_envs.parts.reading import Row, State, plain

from .cards import FREE_BEFORE_EXPIRY, FREE_REASONS, REPLACEMENT_FEE
from .episode import Episode
from .pages import FOREIGN_SHARE, MONTHLY_FEE
from .reckoning import (
    YEAR,
    age,
    day,
    days_since,
    is_posted,
    moment,
    of_customer,
    percent_of,
    rounded,
    segment,
    usd,
    working_days_since,
)
from .transfers import RECALL_FEE

OLD_AUTHORISATION, CHECK_DAYS, CHECK_DAYS_PREMIER = 7, 5, 2
GOODWILL_KINDS = ("overdraft", "returned_payment")
GOODWILL_SHARE = {"basic": 50, "plus": 75, "premier": 100}
GOODWILL_DAYS, SMALLEST_PART = 60, 50
_RELEASE = re.compile(r"\breleas|\bcancel|\bvoid|\blift|\bfree (the|this|that)\b|\bno longer (need|require)|\bdrop")


def release_refusal(state: State, hold: Row, now: datetime) -> str:
    """Handbook 8: why a hold stays; empty if it is released."""
    match hold["kind"]:
        case "card_authorisation":
            released = _is_posted(state, hold) or _has_release(state, hold) or is_old(hold, now)
            return "" if released else "nothing is posted or released, and it is not old enough"
        case "deposit_check":
            premier = segment(state, hold["account_id"]) == "premier"
            wait = CHECK_DAYS_PREMIER if premier else CHECK_DAYS
            return "" if working_days_since(hold["placed_at"], now) >= wait else f"{wait} working days are not over"
        case _:
            return f"a hold of kind {hold['kind']} is not ours"


def is_old(hold: Row, now: datetime) -> bool:
    """Handbook 8.1: more than 7 days old, by either way of counting."""
    days = days_since(hold["placed_at"], now) > OLD_AUTHORISATION
    return days or age(hold["placed_at"], now) > timedelta(days=OLD_AUTHORISATION)


def _is_posted(state: State, hold: Row) -> bool:
    rows = state.where("entries", account_id=hold["account_id"], merchant_id=hold["merchant_id"], kind="card_payment")
    return hold["merchant_id"] is not None and any(
        is_posted(row) and moment(row["booked_at"]) >= moment(hold["placed_at"]) for row in rows
    )


def _has_release(state: State, hold: Row) -> bool:
    """Handbook 8.4: whether the merchant has sent a release from its own address since the hold was placed."""
    email = plain(state.row("merchants", hold["merchant_id"]).get("email", ""))
    customer_id = state.row("accounts", hold["account_id"]).get("customer_id")
    for row in state.where("messages", customer_id=customer_id, direction="inbound"):
        own = email and re.search(rf"(?<![\w.+-]){re.escape(email)}(?![\w.-])", plain(row["sender"]))
        if own and _RELEASE.search(plain(row["body"])) and moment(row["sent_at"]) >= moment(hold["placed_at"]):
            return True
    return False


def releases(episode: Episode) -> Iterator[Violation]:
    """Handbook 8: a hold is released only when its rule says so."""
    for act in episode.of("release"):
        if why := release_refusal(episode.at(act), act.change.before, episode.now):
            section = {"card_authorisation": "8.1", "deposit_check": "8.2"}.get(act.change.before["kind"], "8.3")
            yield Violation(section, f"{act.key} was released, but {why}")


def mistake(state: State, fee: Row) -> int:
    """Handbook 9.1: what of a fee is our mistake, whatever its age; less than half a dollar is left."""
    amount = fee["amount_cents"]
    part = amount if _is_second(state, fee) else max(0, amount - right_fee(state, fee))
    return part if part >= SMALLEST_PART else 0


def _is_second(state: State, fee: Row) -> bool:
    """Handbook 9.1: whether a fee was charged for an event that has another fee of the kind, none of them returned."""
    rows = state.where("fees", account_id=fee["account_id"], kind=fee["kind"])
    if fee["kind"] == "monthly":
        same = [row for row in rows if row["charged_at"][:7] == fee["charged_at"][:7]]
    else:
        same = [row for row in rows if row["entry_id"] is not None and row["entry_id"] == fee["entry_id"]]
    return len(same) > 1 and not any(row["reversed_cents"] for row in same)


def right_fee(state: State, fee: Row) -> int:
    """Handbook 5.1, 7.1, 9.3, 9.4 and the pages: what a fee should have been; its own amount if they do not say."""
    match fee["kind"]:
        case "foreign":
            due = foreign_fee(state, fee)
            return fee["amount_cents"] if due is None else due
        case "monthly":
            costs = state.row("accounts", fee["account_id"])["kind"] == "current"
            return MONTHLY_FEE[segment(state, fee["account_id"])] if costs else 0
        case "replacement":
            return _right_replacement(state, fee)
        case "recall":
            return 0 if segment(state, fee["account_id"]) == "premier" else RECALL_FEE
        case _:
            return fee["amount_cents"]


def _right_replacement(state: State, fee: Row) -> int:
    cards = [
        row for row in state.where("cards", account_id=fee["account_id"], status="replaced") if row["replace_reason"]
    ]
    dated = [(row, state.where("cards", replaces=row["id"])) for row in cards]
    then = [row for row, new in dated if any(item["issued_on"] <= fee["charged_at"][:10] for item in new)]
    if segment(state, fee["account_id"]) == "premier":
        return 0
    if len(then) != 1:
        return REPLACEMENT_FEE
    soon = (day(then[0]["expires_on"]) - day(fee["charged_at"])).days <= FREE_BEFORE_EXPIRY
    return 0 if then[0]["replace_reason"] in FREE_REASONS or soon else REPLACEMENT_FEE


def foreign_fee(state: State, fee: Row) -> int | None:
    """Handbook 9.3 and GP-02: convert at the rate of the posting day and round, then the share and round."""
    entry = state.row("entries", fee["entry_id"])
    if not entry:
        return None
    share = FOREIGN_SHARE[segment(state, fee["account_id"])]
    if not entry["foreign_currency"] or not share:
        return 0
    rate = state.row("rates", f"{entry['foreign_currency']}.{entry['booked_at'][:10]}")
    if not rate:
        return None
    hundredths = int(abs(Decimal(str(entry["foreign_amount"]))) * 100)
    return percent_of(rounded(hundredths * rate["millionths"], 1_000_000), share)


def goodwill(state: State, fee: Row, now: datetime) -> int:
    """Handbook 9.2: what of a rightly charged fee is returned as goodwill."""
    customer_id = state.row("accounts", fee["account_id"]).get("customer_id", "")
    earlier = of_customer(state, "fees", customer_id, reverse_reason="goodwill")
    had = any(row["reversed_at"] is None or days_since(row["reversed_at"], now) <= YEAR for row in earlier)
    if fee["kind"] not in GOODWILL_KINDS or days_since(fee["charged_at"], now) > GOODWILL_DAYS or had:
        return 0
    newest = max(row["charged_at"] for kind in GOODWILL_KINDS for row in _open_fees(state, fee, kind))
    if fee["charged_at"] < newest:
        return 0
    return percent_of(fee["amount_cents"], GOODWILL_SHARE[segment(state, fee["account_id"])])


def _open_fees(state: State, fee: Row, kind: str) -> list[Row]:
    """Fees of a kind on the same account; those that were our mistake and were returned whole are none."""
    rows = state.where("fees", account_id=fee["account_id"], kind=kind)
    return [row for row in rows if row["id"] == fee["id"] or row["reversed_cents"] < row["amount_cents"]]


def reversals(episode: Episode) -> Iterator[Violation]:
    """Handbook 9: the right amount, for the right reason."""
    for act in episode.of("reverse"):
        fee, state = act.change.before, episode.at(act)
        wrong, kind = mistake(state, fee), goodwill(state, fee, episode.now)
        due = wrong if act.detail == "bank_error" else kind
        if act.cents != due:
            section = "9.1" if act.detail == "bank_error" else "9.2"
            yield Violation(
                section, f"{usd(act.cents)} of {act.key} was returned ({act.detail}) where {usd(due)} was due"
            )
        if act.detail == "goodwill" and wrong:
            yield Violation("9.1", f"{act.key} was our mistake and was returned as goodwill")
        if fee["reversed_cents"]:
            yield Violation("1.7", f"{act.key} was returned before")
