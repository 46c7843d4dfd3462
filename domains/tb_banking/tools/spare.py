"""Tools of other teams that no task needs, as a real console has them. The knob ``distractors`` adds the first."""

from sqlalchemy import Select, bindparam, case, func, or_, select

from tb_banking.models import Account, Alert, Customer, Deposit, Device, Entry, Mandate, Merchant, Payee, Rate, Transfer
from tb_banking.models import ServiceCase as CaseRow
from tb_envs.authoring import Date, Db, Identifier, Json, Text, Toolset, Words, require, show_money
from tb_envs.parts.views import Search, core_table, equal, listed, table_viewer, viewer

from ._kinds import Finding, PageNumber, Queue, Segment

spare = Toolset("spare", "What other teams work with.")

ALERTS, CASES, DEPOSITS, ENTRIES = (core_table(model) for model in (Alert, CaseRow, Deposit, Entry))
MERCHANTS, RATES = core_table(Merchant), core_table(Rate)

_device_view = table_viewer("device", Device)
_mandate_view = table_viewer("mandate", Mandate)
_payee_view = table_viewer("payee", Payee)
_QUEUE = Search(
    source=CASES,
    view=table_viewer("case", CaseRow),
    order=[CASES.c.id],
    filters=equal(CASES, "queue"),
)
_SETTLED = Search(
    source=ALERTS,
    view=table_viewer("alert", Alert),
    order=[ALERTS.c.raised_at.desc(), ALERTS.c.id],
    filters=equal(ALERTS, "status"),
)
_MERCHANTS = Search(
    source=MERCHANTS,
    view=table_viewer("merchant", Merchant),
    order=[MERCHANTS.c.id],
    filters={
        "name": or_(
            func.lower(MERCHANTS.c.trading_name).contains(bindparam("name"), autoescape=False),
            func.lower(MERCHANTS.c.statement_name).contains(bindparam("name"), autoescape=False),
        )
    },
)
_BRIEF = ["id", "account_id", "principal_cents", "currency", "term_months", "matures_on", "status"]
_MATURING = Search(
    source=[DEPOSITS.c[name] for name in _BRIEF],
    view=viewer("deposit", _BRIEF),
    order=[DEPOSITS.c.matures_on, DEPOSITS.c.id],
    filters={
        "from_day": DEPOSITS.c.matures_on >= bindparam("from_day"),
        "to_day": DEPOSITS.c.matures_on <= bindparam("to_day"),
    },
)
_RATES: Select = select(RATES).where(RATES.c.day == bindparam("day")).order_by(RATES.c.id)
_amount = ENTRIES.c.amount_cents
_TURNOVER: Select = select(
    func.coalesce(func.sum(case((_amount > 0, _amount), else_=0)), 0).label("paid_in"),
    func.coalesce(func.sum(case((_amount < 0, -_amount), else_=0)), 0).label("paid_out"),
    func.count().label("entries"),
).where(
    ENTRIES.c.account_id == bindparam("account_id"),
    ENTRIES.c.status == "posted",
    ENTRIES.c.booked_at >= bindparam("from_day"),
    ENTRIES.c.booked_at < bindparam("after_day"),
)


@spare.read
def get_payee(db: Db, payee_id: Identifier) -> Json:
    """One payee: name, bank, account number, since when.

    Args:
        payee_id: the payee, e.g. `PY-40231`.
    """
    return _payee_view(db.one(Payee, payee_id))


@spare.read
def get_device(db: Db, device_id: Identifier) -> Json:
    """One device: name, status, when it was registered.

    Args:
        device_id: the device, e.g. `DV-51802`.
    """
    return _device_view(db.one(Device, device_id))


@spare.write
def rename_device(db: Db, device_id: Identifier, name: Text) -> Json:
    """Give a device another name in the customer's list.

    Args:
        device_id: the device, e.g. `DV-51802`.
        name: as it is to be shown.
    """
    require(name.strip(), "`name` must not be blank.")
    return _device_view(db.update(Device, db.one(Device, device_id).id, name=name.strip()))


@spare.read
def list_queue(db: Db, queue: Queue, page: PageNumber = 1) -> Json:
    """The cases that a team has, of all customers.

    Args:
        queue: the team.
        page: which page of 5 cases, from 1.
    """
    return _QUEUE.page(db, page, queue=queue)


@spare.read
def list_rates(db: Db, day: Date) -> Json:
    """What one unit of each currency was worth on a day, in millionths of a dollar.

    Args:
        day: the day.
    """
    return listed(db.query(_RATES, {"day": day}), table_viewer("rate", Rate))


@spare.write
def set_segment(db: Db, customer_id: Identifier, segment: Segment) -> Json:
    """Move a customer to another segment. Charges and returns nothing.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
        segment: the segment from now on.
    """
    customer = db.update(Customer, db.one(Customer, customer_id).id, segment=segment)
    return {"customer_id": customer.id, "segment": customer.segment}


@spare.read
def find_merchants(db: Db, name: Words, page: PageNumber = 1) -> Json:
    """Merchants whose trading name or statement name has a text in it; capitals do not matter.

    Args:
        name: a part of a name.
        page: which page of 5 merchants, from 1.
    """
    return _MERCHANTS.page(db, page, name=name.strip().lower())


@spare.read
def get_turnover(db: Db, account_id: Identifier, from_day: Date, to_day: Date) -> Json:
    """What was paid in and out of an account on the days from one to another, both included.

    Args:
        account_id: the account, e.g. `AC-10231`.
        from_day: the first day.
        to_day: the last day.
    """
    require(from_day <= to_day, f"`to_day`: {to_day} is before {from_day}.")
    days = {"from_day": from_day, "after_day": f"{to_day}~"}
    row = db.query(_TURNOVER, {"account_id": db.one(Account, account_id).id, **days})[0]
    return {
        "account_id": account_id,
        "paid_in": show_money(row.paid_in),
        "paid_out": show_money(row.paid_out),
        "entries": row.entries,
    }


@spare.write
def rename_payee(db: Db, payee_id: Identifier, name: Text) -> Json:
    """Correct how a payee's name is written in the customer's list.

    Args:
        payee_id: the payee, e.g. `PY-40231`.
        name: as it is to be shown.
    """
    require(name.strip(), "`name` must not be blank.")
    return _payee_view(db.update(Payee, db.one(Payee, payee_id).id, name=name.strip()))


@spare.read
def get_mandate(db: Db, mandate_id: Identifier) -> Json:
    """One mandate: account, who acts, role, scope, days, status.

    Args:
        mandate_id: the mandate, e.g. `MA-30411`.
    """
    return _mandate_view(db.one(Mandate, mandate_id))


@spare.read
def list_settled_alerts(db: Db, finding: Finding, page: PageNumber = 1) -> Json:
    """Alerts of all customers that ended with a finding, the newest first.

    Args:
        finding: how they ended.
        page: which page of 5 alerts, from 1.
    """
    return _SETTLED.page(db, page, status=finding)


@spare.read
def list_maturing_deposits(db: Db, from_day: Date, to_day: Date, page: PageNumber = 1) -> Json:
    """Deposits of all customers that mature on the days from one to another, both included.

    Args:
        from_day: the first day.
        to_day: the last day.
        page: which page of 5 deposits, from 1.
    """
    return _MATURING.page(db, page, from_day=from_day, to_day=to_day)


@spare.write
def set_reference(db: Db, transfer_id: Identifier, reference: Text) -> Json:
    """Change the reference of a scheduled transfer.

    Args:
        transfer_id: the transfer, e.g. `TR-60012`.
        reference: what the payee is to read.
    """
    transfer = db.one(Transfer, transfer_id)
    require(transfer.status == "scheduled", f"Transfer {transfer_id} is {transfer.status}; it has been sent.")
    changed = db.update(Transfer, transfer_id, reference=reference)
    return {"transfer_id": changed.id, "reference": changed.reference}


@spare.read
def count_cases(db: Db, queue: Queue) -> Json:
    """How many cases a team has that are not closed.

    Args:
        queue: the team.
    """
    return {"queue": queue, "cases": sum(row.stage != "closed" for row in db.rows(CaseRow, queue=queue))}


@spare.write
def set_mandate_end(db: Db, mandate_id: Identifier, valid_until: Date) -> Json:
    """Set the last day of a mandate.

    Args:
        mandate_id: the mandate, e.g. `MA-30411`.
        valid_until: the last day on which it counts.
    """
    mandate = db.one(Mandate, mandate_id)
    require(mandate.valid_from <= valid_until, f"`valid_until`: {valid_until} is before {mandate.valid_from}.")
    return _mandate_view(db.update(Mandate, mandate_id, valid_until=valid_until))
