"""Disputes about card payments, provisional credit, and alerts."""

from sqlalchemy import bindparam, or_, select

from tb_banking.models import Account, Alert, Dispute, Entry
from tb_envs.authoring import Db, Identifier, Json, Text, ToolError, Toolset, require
from tb_envs.parts.views import core_table, table_viewer, viewer
from tb_envs.store.db import Found

from ._booking import LIVE_STAGES, book, end_dispute
from ._kinds import DisputeReason, DisputeResult, Finding
from ._links import under

disputes = Toolset("disputes", "Disputes and alerts.")

DISPUTES, ALERTS = core_table(Dispute), core_table(Alert)

_DISPUTES = (
    select(DISPUTES)
    .where(DISPUTES.c.account_id == bindparam("key"))
    .order_by(DISPUTES.c.filed_on.desc(), DISPUTES.c.id.desc())
)
_LIVE_ONE = select(DISPUTES.c.id, DISPUTES.c.stage).where(
    DISPUTES.c.entry_id == bindparam("entry_id"), or_(*(DISPUTES.c.stage == stage for stage in LIVE_STAGES))
)
_ALERTS = (
    select(ALERTS)
    .where(ALERTS.c.account_id == bindparam("key"))
    .order_by(ALERTS.c.raised_at.desc(), ALERTS.c.id.desc())
)
_shown = viewer(
    "dispute", ["credit_amount_cents" if column.name == "credit_cents" else column.name for column in DISPUTES.columns]
)
_alert_view = table_viewer("alert", Alert)


def _dispute_at(db: Db, dispute_id: str, *stages: str) -> Found:
    dispute = db.one(Dispute, dispute_id)
    wanted = " or ".join(stages)
    require(dispute.stage in stages, f"Dispute {dispute_id} is {dispute.stage}; this needs one that is {wanted}.")
    return dispute


@disputes.read
def list_disputes(db: Db, account_id: Identifier) -> Json:
    """All disputes about payments of an account, newest first, with their stage.

    `credit` tells whether provisional credit was given or taken back, `credit_amount` how much; `respond_by` is the
    last day for the customer's answer to the merchant.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    return under(db, Account, account_id, _DISPUTES, _shown)


@disputes.read
def get_dispute(db: Db, dispute_id: Identifier) -> Json:
    """One dispute: payment, reason, stage, days, provisional credit, evidence.

    Args:
        dispute_id: the dispute, e.g. `DP-60411`.
    """
    return _shown(db.one(Dispute, dispute_id))


@disputes.write
def file_dispute(db: Db, entry_id: Identifier, reason: DisputeReason, evidence: Text = "") -> Json:
    """File a dispute about a card payment. Refuses other entries, and a payment with a dispute that is not over.

    Freezes no card and gives no credit.

    Args:
        entry_id: the payment, e.g. `EN-50817`.
        reason: what is wrong with the payment.
        evidence: what the customer has to show for it.
    """
    entry = db.one(Entry, entry_id)
    require(entry.kind == "card_payment", f"`entry_id`: {entry_id} is a {entry.kind}, no card payment.")
    for live in db.query(_LIVE_ONE, {"entry_id": entry_id}):
        raise ToolError(f"`entry_id`: {entry_id} has a dispute already: {live.id} is {live.stage}.")
    dispute = db.insert(
        Dispute,
        entry_id=entry_id,
        account_id=entry.account_id,
        reason=reason,
        stage="filed",
        filed_on=db.today,
        respond_by=None,
        settled_on=None,
        credit="none",
        credit_cents=0,
        currency="USD",
        evidence=evidence,
    )
    return _shown(dispute)


@disputes.write
def withdraw_dispute(db: Db, dispute_id: Identifier) -> Json:
    """End a dispute because the customer gives it up; a provisional credit that was given is taken back.

    Args:
        dispute_id: the dispute, filed, contested or escalated, e.g. `DP-60411`.
    """
    return _shown(end_dispute(db, _dispute_at(db, dispute_id, *LIVE_STAGES), "withdrawn"))


@disputes.write
def escalate_dispute(db: Db, dispute_id: Identifier, evidence: Text) -> Json:
    """Take a contested dispute further, with what the customer answers to the merchant.

    Args:
        dispute_id: the contested dispute, e.g. `DP-60411`.
        evidence: what the customer has to show.
    """
    _dispute_at(db, dispute_id, "contested")
    require(evidence.strip(), "`evidence` is blank; tell what the customer has to show.")
    return _shown(db.update(Dispute, dispute_id, stage="escalated", evidence=evidence))


@disputes.write
def settle_dispute(db: Db, dispute_id: Identifier, result: DisputeResult) -> Json:
    """Bring a contested or escalated dispute to its end: `lost` takes a provisional credit back, `won` leaves it.

    Args:
        dispute_id: the dispute, e.g. `DP-60411`.
        result: how it ends for the customer.
    """
    dispute = _dispute_at(db, dispute_id, "contested", "escalated")
    if result == "lost":
        return _shown(end_dispute(db, dispute, "lost"))
    return _shown(db.update(Dispute, dispute_id, stage="won", settled_on=db.today))


@disputes.write
def grant_credit(db: Db, dispute_id: Identifier) -> Json:
    """Give the whole amount of a disputed payment as provisional credit. A dispute can get it once.

    Args:
        dispute_id: the dispute, filed, contested or escalated, e.g. `DP-60411`.
    """
    dispute = _dispute_at(db, dispute_id, *LIVE_STAGES)
    require(dispute.credit == "none", f"The provisional credit of {dispute_id} is {dispute.credit} already.")
    cents = -db.one(Entry, dispute.entry_id).amount_cents
    book(db, dispute.account_id, "provisional_credit", cents, f"Provisional credit for {dispute.entry_id}")
    return _shown(db.update(Dispute, dispute_id, credit="given", credit_cents=cents))


@disputes.read
def list_alerts(db: Db, account_id: Identifier) -> Json:
    """Alerts about payments of an account, newest first: level, status, card, entry, when each was raised.

    Args:
        account_id: the account, e.g. `AC-10231`.
    """
    return under(db, Account, account_id, _ALERTS, _alert_view)


@disputes.write
def resolve_alert(db: Db, alert_id: Identifier, finding: Finding) -> Json:
    """Close an open alert. Touches neither card nor payment.

    Args:
        alert_id: the alert, e.g. `FA-70233`.
        finding: `genuine` if the payment was the customer's, `fraud` if not.
    """
    alert = db.one(Alert, alert_id)
    require(alert.status == "open", f"Alert {alert_id} is resolved as {alert.status} already.")
    return _alert_view(db.update(Alert, alert_id, status=finding))
