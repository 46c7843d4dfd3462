"""What is charged and what is made good: fees, complaints, compensation. What is due is for a rule to say."""

from sqlalchemy import bindparam, select

from tb_banking.models import Compensation, Complaint, Customer, Dispute, Entry, Fee
from tb_envs.authoring import Db, Identifier, Json, Money, Text, Toolset, require, show_money
from tb_envs.parts.views import core_table, table_viewer

from ._booking import book, open_account, post, require_positive
from ._kinds import ChargedFee, CompensationKind, ReverseReason
from ._links import under

redress = Toolset("redress", "Fees, complaints and compensation.")

COMPLAINTS = core_table(Complaint)

_COMPLAINTS = (
    select(COMPLAINTS)
    .where(COMPLAINTS.c.customer_id == bindparam("key"))
    .order_by(COMPLAINTS.c.received_on.desc(), COMPLAINTS.c.id.desc())
)
_fee_view = table_viewer("fee", Fee)
_complaint_view = table_viewer("complaint", Complaint)
_compensation_view = table_viewer("compensation", Compensation)


@redress.write
def charge_fee(
    db: Db, account_id: Identifier, kind: ChargedFee, amount: Money, entry_id: Identifier | None = None
) -> Json:
    """Charge a fee to an account.

    Args:
        account_id: the account, e.g. `AC-10231`.
        kind: what the fee is for: a card that was replaced, or a transfer that was recalled.
        amount: the fee in USD, e.g. 9.00.
        entry_id: the entry of this account that it is charged for, if there is one.
    """
    open_account(db, account_id)
    require_positive(amount)
    if entry_id is not None:
        owner = db.one(Entry, entry_id).account_id
        require(owner == account_id, f"`entry_id`: {entry_id} is no entry of account {account_id}.")
    post(db, account_id, "fee", -amount, f"Fee: {kind}")
    fee = db.insert(
        Fee,
        account_id=account_id,
        kind=kind,
        amount_cents=amount,
        currency="USD",
        charged_at=db.now_text,
        entry_id=entry_id,
        reversed_cents=0,
        reverse_reason=None,
        reversed_at=None,
    )
    return _fee_view(fee)


@redress.write
def reverse_fee(db: Db, fee_id: Identifier, amount: Money, reason: ReverseReason) -> Json:
    """Return a fee or a part of it to its account. A fee can be returned once.

    Args:
        fee_id: the fee, e.g. `FE-60218`.
        amount: how much is returned, in USD, e.g. 17.50; not more than the fee.
        reason: why it is returned.
    """
    fee = db.one(Fee, fee_id)
    require_positive(amount)
    require(fee.reversed_cents == 0, f"Of fee {fee_id} {show_money(fee.reversed_cents)} was returned already.")
    require(amount <= fee.amount_cents, f"`amount`: fee {fee_id} was only {show_money(fee.amount_cents)}.")
    book(db, fee.account_id, "fee_reversal", amount, f"Return of fee {fee_id}")
    changed = db.update(Fee, fee_id, reversed_cents=amount, reverse_reason=reason, reversed_at=db.now_text)
    return _fee_view(changed)


@redress.read
def list_complaints(db: Db, customer_id: Identifier) -> Json:
    """The complaints of a customer, newest first: what about, how grave, when received and answered, how judged.

    `news` is what the customer brought when a complaint was opened again.

    Args:
        customer_id: the customer, e.g. `CU-10231`.
    """
    return under(db, Customer, customer_id, _COMPLAINTS, _complaint_view)


@redress.write
def reopen_complaint(db: Db, complaint_id: Identifier, news: Text) -> Json:
    """Open an answered complaint again: it has neither answer nor finding then. Pays nothing.

    Args:
        complaint_id: the complaint, e.g. `CL-30551`.
        news: what the customer brings that was not known before.
    """
    complaint = db.one(Complaint, complaint_id)
    require(complaint.status == "answered", f"Complaint {complaint_id} is {complaint.status} already.")
    require(news.strip(), "`news` is blank; tell what the customer brings.")
    return _complaint_view(
        db.update(Complaint, complaint_id, status="open", finding="none", answered_on=None, news=news)
    )


@redress.write
def pay_compensation(
    db: Db,
    account_id: Identifier,
    kind: CompensationKind,
    amount: Money,
    complaint_id: Identifier | None = None,
    dispute_id: Identifier | None = None,
) -> Json:
    """Pay compensation into an account, for a complaint or for a dispute about this account.

    Args:
        account_id: the account that gets the money, e.g. `AC-10231`.
        kind: `write_off` for a dispute, `delay` or `trouble` for a complaint.
        amount: how much, in USD, e.g. 25.00.
        complaint_id: the complaint it is for, if it is for one.
        dispute_id: the dispute it is for, if it is for one.
    """
    require(bool(complaint_id) != bool(dispute_id), "Give either `complaint_id` or `dispute_id`.")
    cause_of = "dispute" if kind == "write_off" else "complaint"
    require(bool(dispute_id) == (cause_of == "dispute"), f"`kind`: {kind} is paid for a {cause_of}; give its id.")
    require_positive(amount)
    cause = db.one(Complaint, complaint_id) if complaint_id else db.one(Dispute, dispute_id or "")
    name = "complaint_id" if complaint_id else "dispute_id"
    require(cause.account_id == account_id, f"`{name}`: {cause.id} is not about account {account_id}.")
    book(db, account_id, "compensation", amount, f"Compensation for {cause.id}")
    paid = db.insert(
        Compensation,
        account_id=account_id,
        kind=kind,
        amount_cents=amount,
        currency="USD",
        complaint_id=complaint_id,
        dispute_id=dispute_id,
        paid_at=db.now_text,
    )
    return _compensation_view(paid)
