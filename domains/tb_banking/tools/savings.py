"""Term deposits: which there are, and how one is broken."""

from sqlalchemy import bindparam, select

from tb_banking.models import Account, Deposit
from tb_envs.authoring import Db, Identifier, Json, Money, Toolset, require, show_money
from tb_envs.parts.views import core_table, viewer
from tb_envs.store.db import Found

from ._booking import book
from ._interest import earned
from ._links import under

savings = Toolset("savings", "Term deposits.")

DEPOSITS = core_table(Deposit)

_DEPOSITS = select(DEPOSITS).where(DEPOSITS.c.account_id == bindparam("key")).order_by(DEPOSITS.c.id)
_view = viewer("deposit", DEPOSITS.columns.keys())


def _shown(deposit: Found) -> Json:
    """The deposit with its rate in percent; a penalty only if there was one."""
    shown = _view(deposit._replace(penalty_cents=deposit.penalty_cents or 0))
    return {
        **{name: value for name, value in shown.items() if name != "rate_basis_points"},
        "rate_percent": show_money(deposit.rate_basis_points),
        "penalty": None if deposit.penalty_cents is None else shown["penalty"],
    }


@savings.read
def list_deposits(db: Db, account_id: Identifier) -> Json:
    """The term deposits of an account: principal, rate for a year, term, first day, day of maturity, status.

    `penalty` is what was taken off when a deposit was broken, null for others.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    return under(db, Account, account_id, _DEPOSITS, _shown)


@savings.write
def break_deposit(db: Db, deposit_id: Identifier, penalty: Money) -> Json:
    """Break an active deposit: its principal and interest, less a penalty, are paid out to its account. Final.

    Args:
        deposit_id: the deposit, e.g. `TD-70112`.
        penalty: what is taken off, in USD, e.g. 37.20; 0 for none.
    """
    deposit = db.one(Deposit, deposit_id)
    require(deposit.status == "active", f"Deposit {deposit_id} is {deposit.status} already.")
    whole = deposit.principal_cents + earned(db, deposit)
    require(penalty <= whole, f"`penalty`: deposit {deposit_id} is worth {show_money(whole)} in all.")
    book(db, deposit.account_id, "deposit_payout", whole - penalty, f"Deposit {deposit_id} broken early")
    broken = _shown(db.update(Deposit, deposit_id, status="broken", penalty_cents=penalty))
    return {**broken, "paid_out": show_money(whole - penalty)}
