"""Figures about limits, fees, deposits, transfers, orders, complaints: each tool counts for one question only."""

from typing import Any

from sqlalchemy import Integer, Select, bindparam, cast, func, select

from tb_banking.models import (
    Account,
    Compensation,
    Complaint,
    ContactNote,
    Deposit,
    Fee,
    Limit,
    Payee,
    Rate,
    StandingOrder,
    Transfer,
)
from tb_envs.authoring import Date, Db, Identifier, Json, ToolError, Toolset, require, show_money
from tb_envs.parts.views import core_table, viewer

from ._days import days_between, days_since, minutes_since, working_days
from ._holders import ACCOUNTS, CUSTOMERS, SEGMENT, found, over_all_accounts
from ._interest import earned
from ._kinds import LimitKind

figures = Toolset("figures", "Figures for decisions.")

PAID, COMPLAINTS, NOTES = core_table(Compensation), core_table(Complaint), core_table(ContactNote)
FEES, LIMITS, DEPOSITS = core_table(Fee), core_table(Limit), core_table(Deposit)
TRANSFERS, ORDERS, PAYEES = core_table(Transfer), core_table(StandingOrder), core_table(Payee)

_LIMIT: Select = (
    select(LIMITS, ACCOUNTS.c.opened_on, CUSTOMERS.c.segment, CUSTOMERS.c.kyc_status)
    .join(ACCOUNTS, ACCOUNTS.c.id == LIMITS.c.account_id)
    .join(CUSTOMERS, CUSTOMERS.c.id == ACCOUNTS.c.customer_id)
    .where(LIMITS.c.id == bindparam("limit_id"))
)
_charged = FEES.alias()
_goodwill = over_all_accounts(_charged, func.max(_charged.c.reversed_at), _charged.c.reverse_reason == "goodwill")
_HOLDER: Select = select(SEGMENT.label("segment"), _goodwill.label("last_goodwill")).where(
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
    select(TRANSFERS, PAYEES.c.name.label("payee_name"), SEGMENT.label("segment"))
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


COMPENSATIONS = ("delay", "trouble")
"""The kinds that are paid for a complaint."""
_COMPLAINT: Select = (
    select(COMPLAINTS, SEGMENT.label("segment"), *(_paid(kind).label(f"paid_{kind}") for kind in COMPENSATIONS))
    .join(ACCOUNTS, ACCOUNTS.c.id == COMPLAINTS.c.account_id)
    .where(COMPLAINTS.c.id == bindparam("complaint_id"))
)

_fee_view = viewer("fee", FEES.columns.keys())


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
    holder = found(db, _HOLDER, Account, account_id, "account_id")
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
    deposit = found(db, _DEPOSIT, Deposit, deposit_id, "deposit_id")
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
    transfer = found(db, _TRANSFER, Transfer, transfer_id, "transfer_id")
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
    order = found(db, _ORDER, StandingOrder, order_id, "order_id")
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
    complaint = found(db, _COMPLAINT, Complaint, complaint_id, "complaint_id")
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
