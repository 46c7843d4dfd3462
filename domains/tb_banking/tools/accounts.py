"""Accounts: what is on them, what is held, how much may leave them."""

from sqlalchemy import Select, bindparam, select

from tb_banking.models import (
    Account,
    Balance,
    Card,
    Customer,
    Deposit,
    Dispute,
    Entry,
    Hold,
    Limit,
    Merchant,
    StandingOrder,
    Transfer,
)
from tb_envs.authoring import Date, Db, Identifier, Json, Money, ToolError, Toolset, Words, require
from tb_envs.parts.compare import digits
from tb_envs.parts.views import Search, core_table, equal, table_viewer, viewer
from tb_envs.store.db import Found

from ._booking import free_held, open_account
from ._days import days_since, working_days
from ._kinds import EntryKind, EntryStatus, LimitKind, PageNumber
from ._links import under

accounts = Toolset("accounts", "Accounts, entries, holds and limits.")

ACCOUNTS, BALANCES, CUSTOMERS = core_table(Account), core_table(Balance), core_table(Customer)
CARDS, DEPOSITS, LIMITS = core_table(Card), core_table(Deposit), core_table(Limit)
ENTRIES, HOLDS, DISPUTES = core_table(Entry), core_table(Hold), core_table(Dispute)
TRANSFERS, ORDERS = core_table(Transfer), core_table(StandingOrder)

_WITH_HOLDER: Select = (
    select(
        ACCOUNTS,
        CUSTOMERS.c.first_name,
        CUSTOMERS.c.surname,
        CUSTOMERS.c.segment,
        CUSTOMERS.c.kyc_status,
        BALANCES.c.booked_cents.label("balance_cents"),
        BALANCES.c.held_cents,
        (BALANCES.c.booked_cents - BALANCES.c.held_cents).label("available_cents"),
    )
    .join(CUSTOMERS, CUSTOMERS.c.id == ACCOUNTS.c.customer_id)
    .join(BALANCES, BALANCES.c.id == ACCOUNTS.c.id)
)
_BY_ID = _WITH_HOLDER.where(ACCOUNTS.c.id == bindparam("account_id"))
_BY_NUMBER = _WITH_HOLDER.where(ACCOUNTS.c.number == bindparam("number"))
_account_view = viewer("account", _WITH_HOLDER.selected_columns.keys())

_on_account = bindparam("account_id")
_CARDS = (
    select(CARDS.c.id, CARDS.c.ending, CARDS.c.status, CARDS.c.customer_id)
    .where(CARDS.c.account_id == _on_account)
    .order_by(CARDS.c.id)
)
_DEPOSITS = (
    select(DEPOSITS.c.id, DEPOSITS.c.status, DEPOSITS.c.principal_cents, DEPOSITS.c.matures_on)
    .where(DEPOSITS.c.account_id == _on_account)
    .order_by(DEPOSITS.c.id)
)
_LIMITS = (
    select(LIMITS.c.kind, LIMITS.c.amount_cents, LIMITS.c.until)
    .where(LIMITS.c.account_id == _on_account)
    .order_by(LIMITS.c.id)
)
_SHORT_LISTS = [
    ("cards", _CARDS, viewer("card", ["id", "ending", "status", "customer_id"])),
    ("deposits", _DEPOSITS, viewer("deposit", ["id", "status", "principal_cents", "matures_on"])),
    ("limits", _LIMITS, viewer("limit", ["kind", "amount_cents", "until"])),
]

_entry_view = table_viewer("entry", Entry)
_ENTRIES = Search(
    source=ENTRIES,
    view=_entry_view,
    order=[ENTRIES.c.booked_at.desc(), ENTRIES.c.id.desc()],
    filters={
        **equal(ENTRIES, "account_id", "status", "kind", "merchant_id"),
        "from_day": ENTRIES.c.booked_at >= bindparam("from_day"),
        "to_day": ENTRIES.c.booked_at < bindparam("to_day"),
    },
    owners={"account_id": Account, "merchant_id": Merchant},
)
_hold_view = table_viewer("hold", Hold)
_limit_view = table_viewer("limit", Limit)
_HOLDS = select(HOLDS).where(HOLDS.c.account_id == bindparam("key")).order_by(HOLDS.c.placed_at.desc(), HOLDS.c.id)
_ALL_LIMITS = select(LIMITS).where(LIMITS.c.account_id == bindparam("key")).order_by(LIMITS.c.id)


def whole_account(db: Db, account: Found) -> Json:
    """What `get_account` shows of an account that was found with its holder and balance."""
    short = {
        name: [view(row) for row in db.query(statement, {"account_id": account.id})]
        for name, statement, view in _SHORT_LISTS
    }
    return {**_account_view(account), **short}


@accounts.read
def find_account(db: Db, number: Words) -> Json:
    """An account by the number that customers know, with all that `get_account` shows.

    Args:
        number: the 8 digits of the account number; blanks do not matter.
    """
    rows = db.query(_BY_NUMBER, {"number": digits(number)})
    if not rows:
        raise ToolError(f"`number`: there is no account with the number {number.strip()!r}.")
    return whole_account(db, rows[0])


@accounts.read
def get_account(db: Db, account_id: Identifier) -> Json:
    """An account with its holder, its money, and short lists of its cards, deposits and limits.

    `customer_id`, the names, `segment` and `kyc_status` are the holder's. `balance` is what is posted, `held` what
    active holds set aside, `available` the balance less what is held; the overdraft is in none of them. The
    `customer_id` of a card is the person who carries it. `payout_to` is where the balance of a closed account went.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    rows = db.query(_BY_ID, {"account_id": account_id})
    return whole_account(db, rows[0] if rows else db.one(Account, account_id))


@accounts.read
def list_entries(
    db: Db,
    account_id: Identifier,
    status: EntryStatus | None = None,
    kind: EntryKind | None = None,
    from_day: Date | None = None,
    to_day: Date | None = None,
    merchant_id: Identifier | None = None,
    page: PageNumber = 1,
) -> Json:
    """What was booked on an account, newest first. Money that leaves it is negative.

    A `pending` entry is authorised but not booked yet and not in the balance; `booked_at` is then when it was
    authorised.

    Args:
        account_id: the account, e.g. `AC-10231`.
        status: only entries with this status.
        kind: only entries of this kind.
        from_day: only entries of this day or later.
        to_day: only entries of this day or earlier.
        merchant_id: only card payments to this merchant, e.g. `ME-30112`.
        page: which page of 5 entries, from 1.
    """
    # "~" sorts behind every time of the day.
    return _ENTRIES.page(
        db,
        page,
        account_id=account_id,
        status=status,
        kind=kind,
        from_day=from_day,
        to_day=to_day and f"{to_day}~",
        merchant_id=merchant_id,
    )


@accounts.read
def get_entry(db: Db, entry_id: Identifier) -> Json:
    """One entry of an account: amount, time, text, and for card payments the card, the merchant and how it was made.

    `foreign_amount` is what a payment abroad was in `foreign_currency`; both are null for payments in USD.

    Args:
        entry_id: the entry, e.g. `EN-50817`.
    """
    return _entry_view(db.one(Entry, entry_id))


@accounts.read
def list_holds(db: Db, account_id: Identifier) -> Json:
    """Money of an account that was set aside, the latest first, released holds too.

    `days_since_placed` counts calendar days and `working_days_since_placed` Monday to Friday, both from the day after
    the hold was placed until today.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """

    def aged(hold: Found) -> Json:
        ages = days_since(db, hold.placed_at), working_days(hold.placed_at, db.today)
        return {**_hold_view(hold), "days_since_placed": ages[0], "working_days_since_placed": ages[1]}

    return under(db, Account, account_id, _HOLDS, aged)


@accounts.read
def list_limits(db: Db, account_id: Identifier) -> Json:
    """How much may leave an account; `until` is the last day of a temporary limit, null for one that stays.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    return under(db, Account, account_id, _ALL_LIMITS, _limit_view)


def _limit_id(db: Db, account_id: str, kind: str) -> str:
    """The id of an account's limit; refuses a kind for which the account has none."""
    key = f"{account_id}.{kind}"
    require(db.get(Limit, key), f"`kind`: account {account_id} has no limit {kind}.")
    return key


@accounts.write
def set_limit(db: Db, account_id: Identifier, kind: LimitKind, amount: Money, until: Date | None = None) -> Json:
    """Set a limit of an account, higher or lower; what was set before is overwritten.

    Args:
        account_id: the account, e.g. `AC-10231`.
        kind: which limit.
        amount: the new limit in USD, e.g. 2500.00.
        until: the last day of a temporary limit; without it the limit stays.
    """
    open_account(db, account_id)
    require(until is None or until >= db.today, f"`until`: {until} is past.")
    return _limit_view(db.update(Limit, _limit_id(db, account_id, kind), amount_cents=amount, until=until))


@accounts.write
def release_hold(db: Db, hold_id: Identifier) -> Json:
    """Release an active hold: the money it set aside is free again.

    Args:
        hold_id: the hold, e.g. `HO-40291`.
    """
    hold = db.one(Hold, hold_id)
    require(hold.status == "active", f"Hold {hold_id} is {hold.status} already.")
    free_held(db, hold.account_id, hold.amount_cents)
    return _hold_view(db.update(Hold, hold_id, status="released"))
