"""Money that moves as the consequence of something else: entries, and the balances that follow from them.

Refuses to book on a closed account; knows no rule about what is due.
"""

from sqlalchemy import Integer, bindparam, update

from tb_banking.models import Account, Balance, Dispute, Entry
from tb_banking.models.kinds import EntryKind
from tb_envs.authoring import Db, require
from tb_envs.parts.views import core_table
from tb_envs.store.db import Found

BALANCES = core_table(Balance)
LIVE_STAGES = ("filed", "contested", "escalated")
"""Of a dispute that is not over."""

_of_account = BALANCES.c.id == bindparam("of_account")
_cents = bindparam("cents", type_=Integer)
_MOVE = update(BALANCES).where(_of_account).values(booked_cents=BALANCES.c.booked_cents + _cents)
_FREE = update(BALANCES).where(_of_account).values(held_cents=BALANCES.c.held_cents - _cents)


def require_positive(amount: int) -> None:
    """Refuse an amount of nothing."""
    require(amount > 0, "`amount` must be more than 0.00.")


def open_account(db: Db, account_id: str) -> Found:
    """The account; refuses one that is closed."""
    account = db.one(Account, account_id)
    require(account.status == "active", f"Account {account_id} is {account.status}; nothing can be changed on it.")
    return account


def book(db: Db, account_id: str, kind: EntryKind, cents: int, text: str) -> None:
    """Post an entry on an open account; money that leaves it is negative."""
    open_account(db, account_id)
    post(db, account_id, kind, cents, text)


def post(db: Db, account_id: str, kind: EntryKind, cents: int, text: str) -> None:
    """Post an entry on an account that is known to be open."""
    db.write(_MOVE, {"of_account": account_id, "cents": cents})
    db.insert(
        Entry,
        account_id=account_id,
        kind=kind,
        status="posted",
        amount_cents=cents,
        currency="USD",
        booked_at=db.now_text,
        text=text,
        card_id=None,
        merchant_id=None,
        method="none",
        foreign_currency=None,
        foreign_amount=None,
    )


def free_held(db: Db, account_id: str, cents: int) -> None:
    """Money of an account is held no longer."""
    db.write(_FREE, {"of_account": account_id, "cents": cents})


def end_dispute(db: Db, dispute: Found, stage: str) -> Found:
    """Bring a dispute to its end without success: a provisional credit that was given is taken back."""
    if dispute.credit != "given":
        return db.update(Dispute, dispute.id, stage=stage, settled_on=db.today)
    text = f"Provisional credit for {dispute.entry_id} taken back"
    book(db, dispute.account_id, "credit_taken_back", -dispute.credit_cents, text)
    return db.update(Dispute, dispute.id, stage=stage, settled_on=db.today, credit="taken_back")
