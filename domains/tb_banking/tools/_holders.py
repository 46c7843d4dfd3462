"""Figures about the holder of an account, as columns of a statement that selects from `ACCOUNTS`."""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, select

from tb_banking.models import Account, Customer
from tb_envs.authoring import Db
from tb_envs.parts.views import core_table
from tb_envs.store.db import Found

ACCOUNTS, CUSTOMERS = core_table(Account), core_table(Customer)

SEGMENT = select(CUSTOMERS.c.segment).where(CUSTOMERS.c.id == ACCOUNTS.c.customer_id).scalar_subquery()
"""The segment of the holder."""


def over_all_accounts(rows: FromClause, value: ColumnElement[Any], *where: ColumnElement[bool]) -> Any:
    """A figure over the rows on all accounts of the same holder."""
    own = ACCOUNTS.alias()
    joined = own.join(rows, rows.c.account_id == own.c.id)
    holder = own.c.customer_id == ACCOUNTS.c.customer_id
    return select(value).select_from(joined).where(holder, *where).correlate(ACCOUNTS).scalar_subquery()


def found(db: Db, statement: Select[Any], model: Any, key: str, argument: str, **values: Any) -> Found:
    """The one row that a statement finds for an id under this name; an error if there is no such thing."""
    rows = db.query(statement, {argument: key, **values})
    return rows[0] if rows else db.one(model, key)
