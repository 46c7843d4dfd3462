"""Folios: what was charged, what was paid, what was taken off and returned."""

from sqlalchemy import bindparam, select

from tb_envs.authoring import Db, Identifier, Json, Money, Text, ToolError, Toolset, require, show_money
from tb_envs.parts.views import core_table, listed, table_viewer, viewer
from tb_envs.store.db import Found
from tb_hotel.models import Booking, Charge, Folio, Payment, Refund

from ._kinds import ChargeKind, RefundReason, WaiveReason
from ._stays import REFUNDED

folios = Toolset("folios", "Folios, charges, payments and refunds.")

PAYMENTS = core_table(Payment)

_PAYMENTS = select(PAYMENTS, REFUNDED.label("refunded_cents"))
_OF_FOLIO = _PAYMENTS.where(PAYMENTS.c.folio_id == bindparam("folio_id")).order_by(PAYMENTS.c.id)
_ONE_PAYMENT = _PAYMENTS.where(PAYMENTS.c.id == bindparam("payment_id"))

_folio_view = table_viewer("folio", Folio)
_charge_view = table_viewer("charge", Charge)
_payment_view = viewer("payment", _PAYMENTS.selected_columns.keys())
_refund_view = table_viewer("refund", Refund)


def _whole_folio(db: Db, folio: Found) -> Json:
    charges = db.rows(Charge, folio_id=folio.id)
    payments = db.query(_OF_FOLIO, {"folio_id": folio.id})
    captured = [row for row in payments if row.status == "captured"]
    return {
        **_folio_view(folio),
        "charges": [_charge_view(row) for row in charges],
        "payments": [_payment_view(row) for row in payments],
        "charges_total": show_money(sum(row.amount_cents - row.waived_cents for row in charges)),
        "paid": show_money(sum(row.amount_cents - row.refunded_cents for row in captured)),
        "currency": "USD",
    }


def _require_open(folio: Found) -> None:
    require(folio.status == "open", f"Folio {folio.id} is {folio.status}; only an open folio takes this.")


def _require_positive(amount: int) -> None:
    require(amount > 0, "`amount` must be more than 0.00.")


@folios.read
def get_folio(db: Db, folio_id: Identifier) -> Json:
    """One folio with its charges and payments.

    `charges_total` is after what was waived; `paid` is captured less refunded.

    Args:
        folio_id: the folio, e.g. `FO-30112`, as in the booking or group block.
    """
    return _whole_folio(db, db.one(Folio, folio_id))


@folios.read
def list_refunds(db: Db, payment_id: Identifier) -> Json:
    """What was returned of a payment: amounts, reasons, times.

    Args:
        payment_id: the payment, e.g. `PM-50817`.
    """
    rows = db.rows(Refund, payment_id=payment_id)
    if not rows:
        db.one(Payment, payment_id)
    return listed(rows, _refund_view)


@folios.write
def open_company_folio(db: Db, booking_id: Identifier, corporate_account_id: Identifier) -> Json:
    """Open the company's folio for a booking that belongs to a corporate account. Refuses a second one.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        corporate_account_id: the booking's corporate account, e.g. `CO-1007`.
    """
    account = db.one(Booking, booking_id).corporate_account_id
    require(
        account == corporate_account_id,
        f"`corporate_account_id`: booking {booking_id} belongs to {account or 'no corporate account'}.",
    )
    old = db.first(Folio, booking_id=booking_id, kind="company")
    if old is not None:
        raise ToolError(f"Booking {booking_id} has a company folio already: {old.id}.")
    folio = db.insert(
        Folio,
        kind="company",
        booking_id=booking_id,
        group_block_id=None,
        corporate_account_id=corporate_account_id,
        status="open",
    )
    return _whole_folio(db, folio)


@folios.write
def move_charge(db: Db, charge_id: Identifier, to_folio_id: Identifier) -> Json:
    """Move a whole charge to another folio of the same booking. Neither folio may be invoiced.

    Args:
        charge_id: the charge, e.g. `CH-40291`.
        to_folio_id: the folio that takes it, e.g. `FO-30112`.
    """
    source, target = db.one(Folio, db.one(Charge, charge_id).folio_id), db.one(Folio, to_folio_id)
    require(source.id != target.id, f"`to_folio_id`: charge {charge_id} is on folio {target.id} already.")
    same = source.booking_id is not None and source.booking_id == target.booking_id
    require(same, f"`to_folio_id`: folios {source.id} and {target.id} are not of the same booking.")
    for folio in (source, target):
        require(folio.status != "invoiced", f"Folio {folio.id} is invoiced and closed to all changes.")
    return _charge_view(db.update(Charge, charge_id, folio_id=target.id))


@folios.write
def post_charge(db: Db, folio_id: Identifier, kind: ChargeKind, amount: Money, description: Text = "") -> Json:
    """Post a charge on an open folio.

    Args:
        folio_id: the folio, e.g. `FO-30112`.
        kind: what is charged.
        amount: the price in USD, e.g. 35.00.
        description: words for the guest's bill.
    """
    _require_open(db.one(Folio, folio_id))
    _require_positive(amount)
    charge = db.insert(
        Charge,
        folio_id=folio_id,
        kind=kind,
        amount_cents=amount,
        waived_cents=0,
        waive_reason=None,
        currency="USD",
        evidence="none",
        charged_on=db.today,
        description=description,
    )
    return _charge_view(charge)


@folios.write
def waive_charge(db: Db, charge_id: Identifier, amount: Money, reason: WaiveReason) -> Json:
    """Take an amount off a charge on an open folio, in addition to what was taken off before.

    Args:
        charge_id: the charge, e.g. `CH-40291`.
        amount: how much is taken off now, in USD, e.g. 12.50.
        reason: why it is taken off.
    """
    charge = db.one(Charge, charge_id)
    _require_open(db.one(Folio, charge.folio_id))
    _require_positive(amount)
    left = charge.amount_cents - charge.waived_cents
    require(amount <= left, f"`amount`: only {show_money(left)} of charge {charge_id} is left to waive.")
    waived = charge.waived_cents + amount
    return _charge_view(db.update(Charge, charge_id, waived_cents=waived, waive_reason=reason))


@folios.write
def refund_payment(db: Db, payment_id: Identifier, amount: Money, reason: RefundReason) -> Json:
    """Return money on a captured payment, also when its folio is settled.

    Args:
        payment_id: the payment, e.g. `PM-50817`.
        amount: how much is returned now, in USD, e.g. 120.00.
        reason: why it is returned.
    """
    rows = db.query(_ONE_PAYMENT, {"payment_id": payment_id})
    payment = rows[0] if rows else db.one(Payment, payment_id)
    require(payment.status == "captured", f"Payment {payment_id} is {payment.status}; only a captured one is refunded.")
    _require_positive(amount)
    left = payment.amount_cents - payment.refunded_cents
    require(amount <= left, f"`amount`: only {show_money(left)} of payment {payment_id} is left to refund.")
    refund = db.insert(
        Refund, payment_id=payment_id, amount_cents=amount, currency="USD", reason=reason, created_at=db.now_text
    )
    return _refund_view(refund)
