"""The figures that decisions rest on: each tool counts and adds for one question, and decides nothing."""

from datetime import timedelta
from typing import Any, get_args

from sqlalchemy import ColumnElement, FromClause, Integer, Select, bindparam, cast, func, literal_column, select

from tb_banking.models import (
    Account,
    Alert,
    Compensation,
    Complaint,
    ContactNote,
    Customer,
    Deposit,
    Dispute,
    Entry,
    Fee,
    Limit,
    Merchant,
    Payee,
    Rate,
    StandingOrder,
    Transfer,
    kinds,
)
from tb_envs.authoring import Date, Db, Identifier, Json, ToolError, Toolset, parse_time, require, show_money, show_time
from tb_envs.parts.views import core_table, viewer
from tb_envs.store.db import Found

from ._days import days_ago, days_between, days_since, minutes_between, minutes_since, working_days
from ._interest import earned
from ._kinds import LimitKind

figures = Toolset("figures", "Figures for decisions.")

ACCOUNTS, CUSTOMERS, ENTRIES = core_table(Account), core_table(Customer), core_table(Entry)
MERCHANTS, ALERTS, DISPUTES = core_table(Merchant), core_table(Alert), core_table(Dispute)
PAID, COMPLAINTS, NOTES = core_table(Compensation), core_table(Complaint), core_table(ContactNote)
FEES, LIMITS, DEPOSITS = core_table(Fee), core_table(Limit), core_table(Deposit)
TRANSFERS, ORDERS, PAYEES = core_table(Transfer), core_table(StandingOrder), core_table(Payee)
YEAR = 365
"""Days that histories look back."""
DAY = timedelta(hours=24)
"""How far apart payments that look the same may lie."""

_segment = select(CUSTOMERS.c.segment).where(CUSTOMERS.c.id == ACCOUNTS.c.customer_id).scalar_subquery()


def _of_holder(rows: FromClause, value: ColumnElement[Any], *where: ColumnElement[bool]) -> Any:
    """A figure over the rows on all accounts of the same holder."""
    own = ACCOUNTS.alias()
    joined = own.join(rows, rows.c.account_id == own.c.id)
    holder = own.c.customer_id == ACCOUNTS.c.customer_id
    return select(value).select_from(joined).where(holder, *where).correlate(ACCOUNTS).scalar_subquery()


_since = bindparam("since")
_disputed, _refunded, _charged = DISPUTES.alias(), PAID.alias(), FEES.alias()
_FILED = _of_holder(_disputed, func.count(), _disputed.c.filed_on >= _since)
_LOST = _of_holder(_disputed, func.count(), _disputed.c.stage == "lost", _disputed.c.settled_on >= _since)
_WRITTEN_OFF = _of_holder(_refunded, func.count(), _refunded.c.kind == "write_off", _refunded.c.paid_at >= _since)
_LAST_GOODWILL = _of_holder(_charged, func.max(_charged.c.reversed_at), _charged.c.reverse_reason == "goodwill")

_of_entry = DISPUTES.alias()
_PAYMENT: Select = (
    select(
        ENTRIES,
        MERCHANTS.c.statement_name,
        MERCHANTS.c.trading_name,
        _segment.label("segment"),
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
        _segment.label("segment"),
        _LOST.label("lost"),
        _WRITTEN_OFF.label("written_off"),
    )
    .join(ENTRIES, ENTRIES.c.id == DISPUTES.c.entry_id)
    .join(ACCOUNTS, ACCOUNTS.c.id == DISPUTES.c.account_id)
    .where(DISPUTES.c.id == bindparam("dispute_id"))
)
_LIMIT: Select = (
    select(LIMITS, ACCOUNTS.c.opened_on, CUSTOMERS.c.segment, CUSTOMERS.c.kyc_status)
    .join(ACCOUNTS, ACCOUNTS.c.id == LIMITS.c.account_id)
    .join(CUSTOMERS, CUSTOMERS.c.id == ACCOUNTS.c.customer_id)
    .where(LIMITS.c.id == bindparam("limit_id"))
)
_HOLDER: Select = select(_segment.label("segment"), _LAST_GOODWILL.label("last_goodwill")).where(
    ACCOUNTS.c.id == bindparam("account_id")
)
_FEES = (
    select(FEES)
    .where(FEES.c.account_id == bindparam("account_id"))
    .order_by(FEES.c.charged_at.desc(), FEES.c.id.desc())
)
_DEPOSIT: Select = (
    select(
        DEPOSITS,
        select(func.max(NOTES.c.written_at))
        .where(NOTES.c.customer_id == ACCOUNTS.c.customer_id, NOTES.c.kind == "hardship")
        .scalar_subquery()
        .label("hardship"),
    )
    .join(ACCOUNTS, ACCOUNTS.c.id == DEPOSITS.c.account_id)
    .where(DEPOSITS.c.id == bindparam("deposit_id"))
)
_TRANSFER: Select = (
    select(TRANSFERS, PAYEES.c.name.label("payee_name"), _segment.label("segment"))
    .join(PAYEES, PAYEES.c.id == TRANSFERS.c.payee_id)
    .join(ACCOUNTS, ACCOUNTS.c.id == TRANSFERS.c.account_id)
    .where(TRANSFERS.c.id == bindparam("transfer_id"))
)
_ORDER: Select = (
    select(ORDERS, PAYEES.c.name.label("payee_name"), LIMITS.c.amount_cents.label("limit_cents"))
    .join(PAYEES, PAYEES.c.id == ORDERS.c.payee_id)
    .outerjoin(LIMITS, LIMITS.c.id == ORDERS.c.account_id.concat(".daily_transfer"))
    .where(ORDERS.c.id == bindparam("order_id"))
)


def _paid(kind: str) -> Any:
    amount = cast(func.coalesce(func.sum(PAID.c.amount_cents), 0), Integer)
    return (
        select(amount)
        .where(
            PAID.c.account_id == COMPLAINTS.c.account_id, PAID.c.complaint_id == COMPLAINTS.c.id, PAID.c.kind == kind
        )
        .scalar_subquery()
    )


COMPENSATIONS: tuple[str, ...] = get_args(kinds.CompensationKind)
_COMPLAINT: Select = (
    select(COMPLAINTS, _segment.label("segment"), *(_paid(kind).label(f"paid_{kind}") for kind in COMPENSATIONS))
    .join(ACCOUNTS, ACCOUNTS.c.id == COMPLAINTS.c.account_id)
    .where(COMPLAINTS.c.id == bindparam("complaint_id"))
)

_fee_view = viewer("fee", FEES.columns.keys())


def _found(db: Db, statement: Select[Any], model: Any, key: str, argument: str, **values: Any) -> Found:
    rows = db.query(statement, {argument: key, **values})
    return rows[0] if rows else db.one(model, key)


@figures.read
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
    entry = _found(db, _PAYMENT, Entry, entry_id, "entry_id", since=days_ago(db, YEAR))
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


@figures.read
def review_dispute(db: Db, dispute_id: Identifier) -> Json:
    """The figures about one dispute and its customer's record.

    `amount` is the disputed payment. `working_days_since_filing` counts Monday to Friday from the day after the filing
    until today. `write_offs_in_365_days` and `disputes_lost_in_365_days` are counted over all accounts of the holder.

    Args:
        dispute_id: the dispute, e.g. `DP-60411`.
    """
    dispute = _found(db, _DISPUTE, Dispute, dispute_id, "dispute_id", since=days_ago(db, YEAR))
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


@figures.read
def review_limit(db: Db, account_id: Identifier, kind: LimitKind) -> Json:
    """The figures about one limit of an account: what it is now, how old the account is, whose it is.

    `until` is the last day of a temporary limit, else null; `account_age_days` counts from the day of opening;
    `segment` and `kyc_status` are the holder's.

    Args:
        account_id: the account, e.g. `AC-10231`.
        kind: which limit.
    """
    rows = db.query(_LIMIT, {"limit_id": f"{account_id}.{kind}"})
    if not rows:
        raise ToolError(f"`kind`: account {db.one(Account, account_id).id} has no limit {kind}.")
    limit = rows[0]
    return {
        "account_id": account_id,
        "kind": kind,
        "amount": show_money(limit.amount_cents),
        "currency": limit.currency,
        "until": limit.until,
        "account_age_days": days_since(db, limit.opened_on),
        "segment": limit.segment,
        "kyc_status": limit.kyc_status,
    }


@figures.read
def review_fees(db: Db, account_id: Identifier) -> Json:
    """The fees of an account, newest first, with their age in days and what was returned of each.

    `entry_id` is what a fee was charged for, if it was for one entry; `reversed` is what was returned so far and
    `reverse_reason` why. `last_goodwill_on` is the day on which a fee on any account of the holder was last returned
    as goodwill, null if none was; `segment` is the holder's.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    holder = _found(db, _HOLDER, Account, account_id, "account_id")
    fees = db.query(_FEES, {"account_id": account_id})
    return {
        "account_id": account_id,
        "segment": holder.segment,
        "last_goodwill_on": holder.last_goodwill and holder.last_goodwill[:10],
        "fees": [{**_fee_view(fee), "days_since_charged": days_since(db, fee.charged_at)} for fee in fees],
        "total": len(fees),
    }


@figures.read
def quote_deposit(db: Db, deposit_id: Identifier) -> Json:
    """The figures about breaking an active term deposit.

    `rate_percent` is for a year of 365 days. `interest` is what the deposit would pay on top of its principal if it
    ended today, before any penalty. `hardship_note_on` is the day of the newest note of kind `hardship` on the
    holder's profile, null if there is none.

    Args:
        deposit_id: the deposit, e.g. `TD-70112`.
    """
    deposit = _found(db, _DEPOSIT, Deposit, deposit_id, "deposit_id")
    require(deposit.status == "active", f"Deposit {deposit_id} is {deposit.status}; only an active one can be broken.")
    return {
        "deposit_id": deposit_id,
        "account_id": deposit.account_id,
        "principal": show_money(deposit.principal_cents),
        "currency": deposit.currency,
        "rate_percent": show_money(deposit.rate_basis_points),
        "term_months": deposit.term_months,
        "days_held": days_since(db, deposit.opened_on),
        "days_to_maturity": days_between(db.today, deposit.matures_on),
        "interest": show_money(earned(db, deposit)),
        "hardship_note_on": deposit.hardship and deposit.hardship[:10],
    }


@figures.read
def review_transfer(db: Db, transfer_id: Identifier) -> Json:
    """The figures about one transfer: how and when it was sent, how far it is, what the payee's bank said of the name.

    `age_minutes` and `age_days` run from `made_at` to now: a minute that has begun counts, days are calendar days.
    `segment` is the account holder's.

    Args:
        transfer_id: the transfer, e.g. `TR-80331`.
    """
    transfer = _found(db, _TRANSFER, Transfer, transfer_id, "transfer_id")
    return {
        "transfer_id": transfer_id,
        "account_id": transfer.account_id,
        "payee_name": transfer.payee_name,
        "amount": show_money(transfer.amount_cents),
        "currency": transfer.currency,
        "rail": transfer.rail,
        "status": transfer.status,
        "made_at": transfer.made_at,
        "executes_on": transfer.executes_on,
        "age_minutes": minutes_since(db, transfer.made_at),
        "age_days": days_since(db, transfer.made_at),
        "payee_check": transfer.payee_check,
        "segment": transfer.segment,
    }


@figures.read
def review_order(db: Db, order_id: Identifier) -> Json:
    """The figures about one standing order.

    `working_days_to_next` counts Monday to Friday from tomorrow until the day of the next payment, that day included;
    `daily_transfer_limit` is that of the account the order is paid from.

    Args:
        order_id: the standing order, e.g. `SO-40118`.
    """
    order = _found(db, _ORDER, StandingOrder, order_id, "order_id")
    return {
        "order_id": order_id,
        "account_id": order.account_id,
        "payee_name": order.payee_name,
        "amount": show_money(order.amount_cents),
        "currency": order.currency,
        "rhythm": order.rhythm,
        "status": order.status,
        "next_on": order.next_on,
        "working_days_to_next": working_days(db.today, order.next_on),
        "daily_transfer_limit": None if order.limit_cents is None else show_money(order.limit_cents),
    }


@figures.read
def review_complaint(db: Db, complaint_id: Identifier) -> Json:
    """The figures about one complaint: how long its answer took, how it was judged, what was paid for it so far.

    `working_days_taken` counts Monday to Friday from the day after receipt until the answer, or until today while
    there is none; `days_since_answer` is null while there is none. `compensation_paid` are the sums by kind; `segment`
    is that of the holder of the account.

    Args:
        complaint_id: the complaint, e.g. `CL-30551`.
    """
    complaint = _found(db, _COMPLAINT, Complaint, complaint_id, "complaint_id")
    answered = complaint.answered_on
    return {
        "complaint_id": complaint_id,
        "account_id": complaint.account_id,
        "status": complaint.status,
        "received_on": complaint.received_on,
        "answered_on": answered,
        "working_days_taken": working_days(complaint.received_on, answered or db.today),
        "days_since_answer": answered and days_since(db, answered),
        "gravity": complaint.gravity,
        "finding": complaint.finding,
        "compensation_paid": {kind: show_money(getattr(complaint, f"paid_{kind}")) for kind in COMPENSATIONS},
        "segment": complaint.segment,
    }


@figures.read
def get_rate(db: Db, currency: Identifier, day: Date) -> Json:
    """What one unit of a foreign currency was worth in USD on a day.

    Args:
        currency: the three letters of the currency, e.g. `EUR`.
        day: the day of the rate.
    """
    rate = db.get(Rate, f"{currency}.{day}")
    if rate is None:
        raise ToolError(f"`day`: there is no rate of {currency!r} for {day}.")
    units, millionths = divmod(rate.millionths, 1_000_000)
    return {"currency": currency, "day": day, "usd_per_unit": f"{units}.{millionths:06d}"}
