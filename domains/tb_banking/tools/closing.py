"""Closing an account: what is in the way, and where its balance goes."""

from sqlalchemy import ColumnElement, Integer, Select, Table, bindparam, exists, or_, select, type_coerce, update

from tb_banking.models import Account, Balance, Card, Dispute, Hold, StandingOrder, Transfer
from tb_envs.authoring import Db, Identifier, Json, ToolError, Toolset, require, show_money
from tb_envs.parts.views import core_table
from tb_envs.store.db import Found

from ._booking import LIVE_STAGES, open_account, post
from .accounts import get_account

closing = Toolset("closing", "Closing accounts.")

BALANCES, CARDS, HOLDS = core_table(Balance), core_table(Card), core_table(Hold)
DISPUTES, TRANSFERS, ORDERS = core_table(Dispute), core_table(Transfer), core_table(StandingOrder)


def _has(table: Table, *where: ColumnElement[bool]) -> ColumnElement[int]:
    return type_coerce(exists().where(table.c.account_id == BALANCES.c.id, *where), Integer).label(table.name)


_IN_THE_WAY: Select = select(
    BALANCES.c.booked_cents,
    _has(HOLDS, HOLDS.c.status == "active"),
    _has(DISPUTES, or_(*(DISPUTES.c.stage == stage for stage in LIVE_STAGES))),
    _has(TRANSFERS, or_(TRANSFERS.c.status == "scheduled", TRANSFERS.c.status == "pending")),
    _has(ORDERS, ORDERS.c.status != "cancelled"),
).where(BALANCES.c.id == bindparam("account_id"))
_OBSTACLES = {
    "holds": "an active hold",
    "disputes": "a dispute that is filed, contested or escalated",
    "transfers": "a transfer that is scheduled or pending",
    "standing_orders": "a standing order that is active or paused",
}
_EXPIRE_CARDS = (
    update(CARDS)
    .where(
        CARDS.c.account_id == bindparam("of_account"),
        or_(CARDS.c.status == "active", CARDS.c.status == "frozen"),
    )
    .values(status="expired")
)


@closing.write
def close_account(db: Db, account_id: Identifier, payout_account_id: Identifier | None = None) -> Json:
    """Close an account for good: its balance goes to another account, and its cards end as `expired`.

    Refuses an account with an active hold, a balance below zero, a dispute that is not over, a transfer on its way, or
    a standing order that is not cancelled.

    Args:
        account_id: the account that is closed, e.g. `AC-10231`.
        payout_account_id: another account of the same holder, which takes the balance; needed if there is one.
    """
    account = open_account(db, account_id)
    state = db.query(_IN_THE_WAY, {"account_id": account_id})[0]
    for name, words in _OBSTACLES.items():
        require(not getattr(state, name), f"Account {account_id} cannot be closed: there is {words}.")
    balance = state.booked_cents
    require(balance >= 0, f"Account {account_id} cannot be closed: its balance is {show_money(balance)}.")
    paid_to = _pay_out(db, account, balance, payout_account_id) if balance > 0 else None
    db.write(_EXPIRE_CARDS, {"of_account": account_id})
    db.update(Account, account_id, status="closed", payout_to=paid_to)
    return get_account(db, account_id)


def _pay_out(db: Db, account: Found, cents: int, target_id: str | None) -> str:
    if target_id is None:
        raise ToolError(f"`payout_account_id` is missing: {show_money(cents)} on {account.id} must go to an account.")
    require(target_id != account.id, "`payout_account_id` is the account that is to be closed; name another one.")
    target = open_account(db, target_id)
    same = target.customer_id == account.customer_id
    require(same, f"`payout_account_id`: {target_id} is not an account of the holder of {account.id}.")
    post(db, account.id, "transfer_out", -cents, f"Balance to {target.number}")
    post(db, target.id, "transfer_in", cents, f"Balance of {account.number}")
    return target.id
