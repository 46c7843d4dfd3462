"""Money sent and received: payees, transfers, standing orders, and payments sent back."""

from sqlalchemy import bindparam, select

from tb_banking.models import Account, Customer, Entry, Payee, Return, StandingOrder, Transfer
from tb_envs.authoring import Date, Db, Identifier, Json, Money, ToolError, Toolset, require
from tb_envs.parts.views import Search, core_table, equal, table_viewer, viewer

from ._booking import book, require_positive
from ._kinds import OrderStatus, PageNumber, TransferStatus
from ._links import under

payments = Toolset("payments", "Payees, transfers and standing orders.")

PAYEES, TRANSFERS, ORDERS = core_table(Payee), core_table(Transfer), core_table(StandingOrder)

_payee_name = select(PAYEES.c.name).where(PAYEES.c.id == TRANSFERS.c.payee_id).scalar_subquery().label("payee_name")
_TRANSFERS = Search(
    source=[*TRANSFERS.c, _payee_name],
    view=viewer("transfer", [*TRANSFERS.columns.keys(), "payee_name"]),
    order=[TRANSFERS.c.made_at.desc(), TRANSFERS.c.id.desc()],
    filters=equal(TRANSFERS, "account_id", "status"),
    owners={"account_id": Account},
)
_PAYEES = select(PAYEES).where(PAYEES.c.customer_id == bindparam("key")).order_by(PAYEES.c.name, PAYEES.c.id)
_ORDERS = (
    select(ORDERS, PAYEES.c.name)
    .join(PAYEES, PAYEES.c.id == ORDERS.c.payee_id)
    .where(ORDERS.c.account_id == bindparam("key"))
    .order_by(ORDERS.c.id)
)
_payee_view = table_viewer("payee", Payee)
_transfer_view = table_viewer("transfer", Transfer)
_order_view = table_viewer("order", StandingOrder)
_listed_order_view = viewer("order", [*ORDERS.columns.keys(), "payee_name"])
_return_view = table_viewer("return", Return)


@payments.read
def list_payees(db: Db, customer_id: Identifier) -> Json:
    """Whom a customer pays: names, banks, account numbers, and since when each is known to us.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
    """
    return under(db, Customer, customer_id, _PAYEES, _payee_view)


@payments.read
def list_transfers(db: Db, account_id: Identifier, status: TransferStatus | None = None, page: PageNumber = 1) -> Json:
    """Transfers that were sent from an account, or will be, the latest first.

    Args:
        account_id: the account, e.g. `AC-10231`.
        status: only transfers with this status.
        page: which page of 5 transfers, from 1.
    """
    return _TRANSFERS.page(db, page, account_id=account_id, status=status)


@payments.write
def recall_transfer(db: Db, transfer_id: Identifier) -> Json:
    """Call back a transfer that is scheduled or pending; money that had left the account returns to it.

    Refuses instant and completed transfers: their money is with the payee. Charges nothing.

    Args:
        transfer_id: the transfer, e.g. `TR-80331`.
    """
    transfer = db.one(Transfer, transfer_id)
    require(transfer.rail != "instant", f"Transfer {transfer_id} is instant: its money is with the payee.")
    require(
        transfer.status in ("scheduled", "pending"),
        f"Transfer {transfer_id} is {transfer.status}; only a scheduled or pending one can be recalled.",
    )
    if transfer.status == "pending":
        book(db, transfer.account_id, "recall", transfer.amount_cents, f"Recall of transfer {transfer_id}")
    return _transfer_view(db.update(Transfer, transfer_id, status="recalled"))


@payments.read
def list_orders(db: Db, account_id: Identifier) -> Json:
    """The standing orders of an account: payee, amount, rhythm, day of the next payment, status.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    return under(db, Account, account_id, _ORDERS, _listed_order_view)


@payments.write
def change_order(db: Db, order_id: Identifier, amount: Money | None = None, next_on: Date | None = None) -> Json:
    """Change the amount of a standing order, or the day of its next payment. Refuses a cancelled order.

    Args:
        order_id: the standing order, e.g. `SO-40118`.
        amount: what is paid each time from now on, in USD, e.g. 450.00.
        next_on: the day of the next payment, later than today.
    """
    order = db.one(StandingOrder, order_id)
    require(order.status != "cancelled", f"Standing order {order_id} is cancelled; it cannot be changed.")
    require(amount is not None or next_on is not None, "Nothing to change: give `amount`, `next_on` or both.")
    require(next_on is None or next_on > db.today, f"`next_on`: {next_on} is not later than today.")
    changed: dict[str, int | str] = {}
    if amount is not None:
        require_positive(amount)
        changed["amount_cents"] = amount
    if next_on is not None:
        changed["next_on"] = next_on
    return _order_view(db.update(StandingOrder, order_id, **changed))


@payments.write
def set_order_status(db: Db, order_id: Identifier, status: OrderStatus) -> Json:
    """Pause, resume or cancel a standing order; a cancelled one stays cancelled.

    Args:
        order_id: the standing order, e.g. `SO-40118`.
        status: `paused`, `active` to resume it, or `cancelled`.
    """
    order = db.one(StandingOrder, order_id)
    require(order.status != "cancelled", f"Standing order {order_id} is cancelled for good.")
    require(order.status != status, f"`status`: standing order {order_id} is {status} already.")
    return _order_view(db.update(StandingOrder, order_id, status=status))


@payments.write
def return_payment(db: Db, entry_id: Identifier) -> Json:
    """Send an incoming transfer back to where it came from; its money leaves the account. Once for an entry.

    Args:
        entry_id: the incoming transfer, e.g. `EN-50817`.
    """
    entry = db.one(Entry, entry_id)
    incoming = entry.kind == "transfer_in" and entry.status == "posted"
    require(incoming, f"`entry_id`: {entry_id} is a {entry.status} {entry.kind}, no incoming transfer that was posted.")
    old = db.first(Return, entry_id=entry_id)
    if old is not None:
        raise ToolError(f"`entry_id`: {entry_id} was sent back already: {old.id}.")
    book(db, entry.account_id, "returned", -entry.amount_cents, f"Return of {entry_id}")
    made = db.insert(
        Return,
        entry_id=entry_id,
        account_id=entry.account_id,
        amount_cents=entry.amount_cents,
        currency=entry.currency,
        returned_at=db.now_text,
    )
    return _return_view(made)
