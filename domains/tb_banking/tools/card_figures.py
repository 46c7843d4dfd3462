"""Figures about card payments and disputes: each tool counts for one question, and decides nothing."""

from datetime import timedelta

from sqlalchemy import Select, bindparam, func, literal_column, select

from tb_banking.models import Alert, Compensation, Dispute, Entry, Merchant
from tb_envs.authoring import Db, Identifier, Json, Toolset, parse_time, require, show_money, show_time
from tb_envs.parts.views import core_table
from tb_envs.store.db import Found

from ._days import days_ago, days_since, minutes_between, working_days
from ._holders import ACCOUNTS, SEGMENT, found, over_all_accounts

card_figures = Toolset("card_figures", "Figures about card payments and disputes.")

ENTRIES, MERCHANTS, ALERTS = core_table(Entry), core_table(Merchant), core_table(Alert)
DISPUTES, PAID = core_table(Dispute), core_table(Compensation)
YEAR = 365
"""Days that histories look back."""
DAY = timedelta(hours=24)
"""How far apart payments that look the same may lie."""

_since = bindparam("since")
_disputed, _refunded = DISPUTES.alias(), PAID.alias()
_FILED = over_all_accounts(_disputed, func.count(), _disputed.c.filed_on >= _since)
_LOST = over_all_accounts(_disputed, func.count(), _disputed.c.stage == "lost", _disputed.c.settled_on >= _since)
_WRITTEN_OFF = over_all_accounts(
    _refunded, func.count(), _refunded.c.kind == "write_off", _refunded.c.paid_at >= _since
)

_of_entry = DISPUTES.alias()
_PAYMENT: Select = (
    select(
        ENTRIES,
        MERCHANTS.c.statement_name,
        MERCHANTS.c.trading_name,
        SEGMENT.label("segment"),
        select(func.min(ALERTS.c.level))
        .where(
            ALERTS.c.account_id == ENTRIES.c.account_id, ALERTS.c.entry_id == ENTRIES.c.id, ALERTS.c.status == "open"
        )
        .scalar_subquery()
        .label("alert_level"),
        select(_of_entry.c.id)
        .where(_of_entry.c.entry_id == ENTRIES.c.id)
        .order_by(_of_entry.c.filed_on.desc(), _of_entry.c.id.desc())
        .limit(literal_column("1"))
        .scalar_subquery()
        .label("dispute"),
        _FILED.label("filed"),
        _LOST.label("lost"),
    )
    .join(ACCOUNTS, ACCOUNTS.c.id == ENTRIES.c.account_id)
    .outerjoin(MERCHANTS, MERCHANTS.c.id == ENTRIES.c.merchant_id)
    .where(ENTRIES.c.id == bindparam("entry_id"))
)
_AGAIN = (
    select(ENTRIES.c.id, ENTRIES.c.status, ENTRIES.c.booked_at)
    .where(
        ENTRIES.c.account_id == bindparam("account_id"),
        ENTRIES.c.kind == "card_payment",
        ENTRIES.c.card_id == bindparam("card_id"),
        ENTRIES.c.merchant_id == bindparam("merchant_id"),
        ENTRIES.c.amount_cents == bindparam("amount_cents"),
        ENTRIES.c.id != bindparam("id"),
        ENTRIES.c.booked_at >= bindparam("earliest"),
        ENTRIES.c.booked_at <= bindparam("latest"),
    )
    .order_by(ENTRIES.c.booked_at, ENTRIES.c.id)
)
_DISPUTE: Select = (
    select(
        DISPUTES,
        (-ENTRIES.c.amount_cents).label("amount_cents"),
        SEGMENT.label("segment"),
        _LOST.label("lost"),
        _WRITTEN_OFF.label("written_off"),
    )
    .join(ENTRIES, ENTRIES.c.id == DISPUTES.c.entry_id)
    .join(ACCOUNTS, ACCOUNTS.c.id == DISPUTES.c.account_id)
    .where(DISPUTES.c.id == bindparam("dispute_id"))
)


@card_figures.read
def review_payment(db: Db, entry_id: Identifier) -> Json:
    """The figures about one card payment, its customer's disputes, and payments that look the same.

    `amount` is what was paid; `days_since_posting` is null while the payment is pending. `segment` is the account
    holder's; `open_alert_level` is null if no alert is open for this very payment; `dispute_id` is its newest dispute,
    whatever its stage. The disputes filed, and those settled as lost, in the last 365 days are counted over all
    accounts of the holder, this payment's own among them. `same_again` are the other payments, posted or pending, of
    the same card, merchant and amount within 24 hours before or after, with the minutes they lie apart.

    Args:
        entry_id: the card payment, e.g. `EN-50817`.
    """
    entry = found(db, _PAYMENT, Entry, entry_id, "entry_id", since=days_ago(db, YEAR))
    require(entry.kind == "card_payment", f"`entry_id`: {entry_id} is a {entry.kind}, no card payment.")
    return {
        "entry_id": entry_id,
        "account_id": entry.account_id,
        "card_id": entry.card_id,
        "merchant_id": entry.merchant_id,
        "statement_name": entry.statement_name,
        "trading_name": entry.trading_name,
        "status": entry.status,
        "method": entry.method,
        "amount": show_money(-entry.amount_cents),
        "currency": entry.currency,
        "booked_at": entry.booked_at,
        "days_since_posting": days_since(db, entry.booked_at) if entry.status == "posted" else None,
        "segment": entry.segment,
        "open_alert_level": entry.alert_level,
        "dispute_id": entry.dispute,
        "disputes_filed_in_365_days": entry.filed,
        "disputes_lost_in_365_days": entry.lost,
        "same_again": _same_again(db, entry),
    }


def _same_again(db: Db, entry: Found) -> list[Json]:
    moment = parse_time(entry.booked_at)
    values = {name: getattr(entry, name) for name in ("account_id", "card_id", "merchant_id", "amount_cents", "id")}
    window = {"earliest": show_time(moment - DAY), "latest": show_time(moment + DAY)}
    return [
        {
            "entry_id": row.id,
            "status": row.status,
            "booked_at": row.booked_at,
            "minutes_apart": minutes_between(entry.booked_at, row.booked_at),
        }
        for row in db.query(_AGAIN, {**values, **window})
    ]


@card_figures.read
def review_dispute(db: Db, dispute_id: Identifier) -> Json:
    """The figures about one dispute and its customer's record.

    `amount` is the disputed payment. `working_days_since_filing` counts Monday to Friday from the day after the filing
    until today. `write_offs_in_365_days` and `disputes_lost_in_365_days` are counted over all accounts of the holder.

    Args:
        dispute_id: the dispute, e.g. `DP-60411`.
    """
    dispute = found(db, _DISPUTE, Dispute, dispute_id, "dispute_id", since=days_ago(db, YEAR))
    return {
        "dispute_id": dispute_id,
        "entry_id": dispute.entry_id,
        "account_id": dispute.account_id,
        "reason": dispute.reason,
        "stage": dispute.stage,
        "amount": show_money(dispute.amount_cents),
        "currency": dispute.currency,
        "segment": dispute.segment,
        "filed_on": dispute.filed_on,
        "working_days_since_filing": working_days(dispute.filed_on, db.today),
        "credit": dispute.credit,
        "credit_amount": show_money(dispute.credit_cents),
        "respond_by": dispute.respond_by,
        "write_offs_in_365_days": dispute.written_off,
        "disputes_lost_in_365_days": dispute.lost,
    }
