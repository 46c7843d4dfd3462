"""Whole lists under an owner, and which accounts and cards belong to a customer, held or by mandate."""

from typing import Any

from sqlalchemy import Select, bindparam, or_, select

from tb_banking.models import Account, Card, Mandate
from tb_envs.authoring import Db, Json
from tb_envs.parts.views import View, core_table, listed

ACCOUNTS, CARDS, MANDATES = core_table(Account), core_table(Card), core_table(Mandate)

_by_mandate = select(MANDATES.c.account_id).where(MANDATES.c.holder_id == bindparam("customer"))
_LINKED = select(ACCOUNTS.c.id, ACCOUNTS.c.number).where(
    or_(ACCOUNTS.c.customer_id == bindparam("customer"), ACCOUNTS.c.id.in_(_by_mandate))
)
_ACCOUNT_ID = _LINKED.where(ACCOUNTS.c.id == bindparam("account"))
_ACCOUNT_NUMBER = _LINKED.where(ACCOUNTS.c.number == bindparam("number"))
_USABLE_CARD = select(CARDS.c.id).where(
    or_(CARDS.c.customer_id == bindparam("customer"), CARDS.c.account_id.in_(_by_mandate)),
    or_(CARDS.c.status == "active", CARDS.c.status == "frozen"),
    CARDS.c.ending == bindparam("ending"),
)


def under(db: Db, owner: Any, key: str, statement: Select[Any], view: View) -> Json:
    """All rows of a statement that binds `key`, shown; an unknown owner is an error, not an empty list."""
    rows = db.query(statement, {"key": key})
    if not rows:
        db.one(owner, key)
    return listed(rows, view)


def has_account(db: Db, customer_id: str, account_id: str) -> bool:
    """Whether a customer holds an account or has or had a mandate on it."""
    return bool(db.query(_ACCOUNT_ID, {"customer": customer_id, "account": account_id}))


def has_account_number(db: Db, customer_id: str, number: str) -> bool:
    """The same by the account's number."""
    return bool(db.query(_ACCOUNT_NUMBER, {"customer": customer_id, "number": number}))


def has_card_ending(db: Db, customer_id: str, ending: str) -> bool:
    """Whether an active or frozen card of the customer, or of an account they have a mandate on, ends so."""
    return bool(db.query(_USABLE_CARD, {"customer": customer_id, "ending": ending}))
