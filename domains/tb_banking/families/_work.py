"""What is carried out, piece by piece: one call (or two that belong together) and the check that holds because of it.

A check has the name of what it is about (`card`, `dispute`, `credit`, `fee`, …); where a task has two of a kind, give
`name`. Every id must have been seen before its call. Refuses to know what is due: amounts and reasons come from the
family, which has them from `tb_banking.policy`.
"""

from __future__ import annotations

from typing import Any

from tb_banking.families._who import Then, touched
from tb_banking.models import (
    Account,
    Alert,
    Card,
    Compensation,
    Complaint,
    Deposit,
    Device,
    Dispute,
    Fee,
    Hold,
    Limit,
    Mandate,
    Return,
    StandingOrder,
    Transfer,
    Verification,
)
from tb_banking.models.kinds import (
    ChargedFee,
    CompensationKind,
    Control,
    DisputeReason,
    DisputeResult,
    Finding,
    FreezeReason,
    LimitKind,
    OrderStatus,
    ReplaceReason,
    ReverseReason,
    Switch,
)
from tb_banking.world import Acct, Person, Phone
from tb_envs.authoring import (
    Record,
    at_most,
    call,
    calls,
    changed,
    created,
    derived,
    either,
    happened,
    order,
    show_money,
    use,
    writes,
)
from tb_envs.grading.expectations import Expectation
from tb_envs.parts.scripts import Part


def amount(cents: int, *needs: Any) -> Any:
    """A computed amount as an argument; `needs` are what it is computed from.

    Whole numbers of cents among the needs are turned to text as tools print them; give other numbers as text.
    """
    return derived(show_money(cents), *(show_money(need) if isinstance(need, int) else need for need in needs))


def _row(record: Record, needs: tuple[Any, ...]) -> Any:
    """The id of a row as an argument; `needs` are looked-up figures that decide whether it is touched at all."""
    return derived(record.id, record.id, *needs) if needs else record.id


def _does(name: str, expectation: Expectation, tool: str, *, save: str = "", **arguments: Any) -> Part:
    return Part((call(tool, **arguments, save=save, earns=name),), (expectation,))


# -- cards


def freeze(card: Record, reason: FreezeReason, caller: Person, *, before: Then = (), replaced: bool = False) -> Part:
    """Freeze a card under rule 1.4, after a check with a fact and before everything else.

    Checks: `card` (not where it is `replaced` later on, since `replace` says how it ends), `frozen first`,
    `checked before the freeze`, `stays frozen`.

    Args:
        card: an active one.
        reason: as reported.
        caller: whose check must have passed before, with one fact or more.
        before: what must come after the freeze, as `then` of `identify`.
        replaced: whether the same task replaces it.
    """
    frozen = writes(Card, id=card.id, status="frozen")
    passed = writes(Verification, customer_id=caller.id, result="passed")
    step = call("freeze_card", card_id=card.id, reason=reason, earns="card")
    ends = () if replaced else (changed("card", Card, card.id, status="frozen", freeze_reason=reason),)
    undone = calls("unfreeze_card", card_id=card.id)
    orders: list[Expectation] = [
        order("checked before the freeze", passed, frozen),
        at_most("stays frozen", undone, 0),
    ]
    if touched(before):
        orders.append(order("frozen first", frozen, *touched(before)))
    return Part((step,), (*ends, *orders))


def replace(card: Record, reason: ReplaceReason, *, frozen: FreezeReason | None = None, name: str = "card") -> Part:
    """Replace a card; the old row and the new one are one check.

    Args:
        card: an active or frozen one.
        reason: why.
        frozen: with which reason it is frozen in this task, if it is.
        name: of the check.
    """
    why = frozen or card.freeze_reason
    ends: dict[str, Any] = {"status": "replaced", "replace_reason": reason, "freeze_reason": why}
    old = changed(f"{name}: old one", Card, card.id, free=("status",), **ends)
    controls: dict[str, Any] = {
        control: getattr(card, control) for control in ("online", "contactless", "abroad", "cash_abroad")
    }
    new = created(f"{name}: new one", Card, replaces=card.id, customer_id=card.customer_id, status="active", **controls)
    return _does(name, either(name, (old, new)), "replace_card", card_id=card.id, reason=reason)


def unfreeze(card: Record, *, name: str = "card") -> Part:
    """Make a frozen card active again."""
    row = changed(name, Card, card.id, status="active", freeze_reason=None)
    return _does(name, row, "unfreeze_card", card_id=card.id)


def switch(card: Record, control: Control, state: Switch, *needs: Any, name: str = "control") -> Part:
    """Switch a control of a card; `needs` are what decides on it."""
    ends: dict[str, Any] = {control: state}
    row = changed(f"{name}: row", Card, card.id, **ends)
    once = either(name, (row, not_switched_back(card, control)))
    return _does(name, once, "set_control", card_id=_row(card, needs), control=control, state=state)


def not_switched_back(card: Record, control: Control) -> Expectation:
    """A guard: a control is not switched, back and again."""
    back = calls("set_control", card_id=card.id, control=control, state=getattr(card, control))
    return at_most(f"{control} never switched back", back, 0)


# -- disputes


def file(
    entry: Record, reason: DisputeReason, *, evidence: str = "", uncredited: bool = False, name: str = "dispute"
) -> Part:
    """File a dispute about a card payment; saved under `name`. `uncredited`: without credit, for which no guard is."""
    row = {"entry_id": entry.id, "reason": reason}
    told = evidence or "The customer told us in this conversation."
    credit = {"credit": "none"} if uncredited else {}
    dispute = created(name, Dispute, **row, stage="filed", **credit)
    return _does(name, dispute, "file_dispute", save=name, **row, evidence=told)


def filed_first(entry: Record, card: Record) -> Part:
    """Fraud is disputed before the card is replaced (4.3): `filed before replaced`. After `file` and `replace`."""
    replaced = writes(Card, id=card.id, status="replaced")
    return Part((), (order("filed before replaced", writes(Dispute, entry_id=entry.id), replaced),))


def credit_filed(entry: Record, *, dispute: str = "dispute", name: str = "credit") -> Part:
    """Grant the provisional credit of a dispute filed in this conversation, which was saved as `dispute`."""
    given = writes(Dispute, entry_id=entry.id, credit="given", credit_cents=-entry.amount_cents)
    return _does(name, happened(name, given), "grant_credit", dispute_id=use(dispute, "dispute_id"))


def credit(dispute: Record, cents: int, *, name: str = "credit") -> Part:
    """Grant the provisional credit of a dispute that was there before."""
    row = changed(name, Dispute, dispute.id, credit="given", credit_cents=cents)
    return _does(name, row, "grant_credit", dispute_id=dispute.id)


def no_credit(entry: Record, *, name: str = "no credit") -> Expectation:
    """A guard: no credit for this payment is given."""
    return at_most(name, writes(Dispute, entry_id=entry.id, credit="given"), 0)


def withdraw(dispute: Record, *, name: str = "dispute") -> Part:
    """Withdraw a dispute; a credit that was given is taken back."""
    return _does(name, _over(name, dispute, "withdrawn"), "withdraw_dispute", dispute_id=dispute.id)


def settle(dispute: Record, result: DisputeResult, *, name: str = "dispute") -> Part:
    """Settle a dispute; lost, a credit that was given is taken back."""
    return _does(name, _over(name, dispute, result), "settle_dispute", dispute_id=dispute.id, result=result)


def escalate(dispute: Record, evidence: str, *, name: str = "dispute") -> Part:
    """Take a contested dispute further."""
    row = changed(name, Dispute, dispute.id, stage="escalated")
    return _does(name, row, "escalate_dispute", dispute_id=dispute.id, evidence=evidence)


def _over(name: str, dispute: Record, stage: str) -> Expectation:
    taken_back: dict[str, Any] = {"credit": "taken_back"} if dispute.credit == "given" and stage != "won" else {}
    return changed(name, Dispute, dispute.id, stage=stage, **taken_back)


# -- money


def charge(acct: Acct, kind: ChargedFee, cents: int, *needs: Any, name: str = "fee") -> Part:
    """Charge the fee for a replacement or a recall; `needs` as in `amount`."""
    row: dict[str, Any] = {"account_id": acct.id, "kind": kind}
    fee = created(name, Fee, **row, amount_cents=cents)
    return _does(name, fee, "charge_fee", **row, amount=amount(cents, *needs))


def reverse(fee: Record, cents: int, reason: ReverseReason, *needs: Any, name: str = "return") -> Part:
    """Return a fee or a part of it."""
    row = changed(name, Fee, fee.id, reversed_cents=cents, reverse_reason=reason)
    return _does(name, row, "reverse_fee", fee_id=fee.id, amount=amount(cents, *needs), reason=reason)


def compensate(
    acct: Acct,
    kind: CompensationKind,
    cents: int,
    *needs: Any,
    complaint: Record | None = None,
    dispute: Record | None = None,
    name: str = "compensation",
) -> Part:
    """Pay compensation for a complaint or a dispute. A note of kind `complaint` is due then: ``tail(note=…)``."""
    cause = {"complaint_id": complaint.id if complaint else None, "dispute_id": dispute.id if dispute else None}
    row: dict[str, Any] = {"account_id": acct.id, "kind": kind, **cause}
    paid = created(name, Compensation, **row, amount_cents=cents)
    return _does(name, paid, "pay_compensation", **row, amount=amount(cents, *needs))


def release(hold: Record, *, name: str = "hold") -> Part:
    """Release a hold."""
    return _does(name, changed(name, Hold, hold.id, status="released"), "release_hold", hold_id=hold.id)


def recall(transfer: Record, *needs: Any, name: str = "transfer") -> Part:
    """Recall a transfer; `needs` are the figures that decide on it."""
    row = changed(name, Transfer, transfer.id, status="recalled")
    return _does(name, row, "recall_transfer", transfer_id=_row(transfer, needs))


def send_back(entry: Record, *needs: Any, name: str = "return") -> Part:
    """Send an incoming transfer back; `needs` are the figures that decide on it."""
    return _does(name, created(name, Return, entry_id=entry.id), "return_payment", entry_id=_row(entry, needs))


def break_deposit(deposit: Record, penalty: int, *needs: Any, name: str = "deposit") -> Part:
    """Break a term deposit at this penalty."""
    row = changed(name, Deposit, deposit.id, status="broken", penalty_cents=penalty)
    return _does(name, row, "break_deposit", deposit_id=deposit.id, penalty=amount(penalty, *needs))


# -- orders, limits, the account


def set_limit(
    acct: Acct, kind: LimitKind, cents: int, *needs: Any, until: str | None = None, name: str = "limit"
) -> Part:
    """Set a limit, for good or until a day."""
    row = changed(name, Limit, f"{acct.id}.{kind}", amount_cents=cents, until=until)
    return _does(name, row, "set_limit", account_id=acct.id, kind=kind, amount=amount(cents, *needs), until=until)


def change_order(order: Record, cents: int, *needs: Any, name: str = "order") -> Part:
    """Change the amount of a standing order."""
    row = changed(f"{name}: row", StandingOrder, order.id, amount_cents=cents)
    back = writes(StandingOrder, id=order.id, amount_cents=order.amount_cents)
    once = either(name, (row, at_most(f"{name}: never back", back, 0)))
    return _does(name, once, "change_order", order_id=order.id, amount=amount(cents, *needs))


def set_order(order: Record, status: OrderStatus, *needs: Any, save: str = "", name: str = "order") -> Part:
    """Pause, resume or cancel a standing order; `needs` are the figures that decide on it."""
    row = changed(f"{name}: row", StandingOrder, order.id, status=status)
    back = calls("set_order_status", order_id=order.id, status=order.status)
    once = either(name, (row, at_most(f"{name}: never back", back, 0)))
    return _does(name, once, "set_order_status", save=save, order_id=_row(order, needs), status=status)


def close(
    acct: Acct, payout: Acct | None = None, *cards: Record, needs: tuple[Any, ...] = (), name: str = "account"
) -> Part:
    """Close an account: the balance goes to `payout`; its active and frozen `cards` end with it (one check).

    `needs` are the figures that decide on it.
    """
    target = payout.id if payout else None
    rows: list[Expectation] = [changed(f"{name}: row", Account, acct.id, status="closed", payout_to=target)]
    rows += [changed(f"{name}: card {card.ending}", Card, card.id, status="expired") for card in cards]
    closed = _row(acct.account, needs)
    return _does(name, either(name, tuple(rows)), "close_account", account_id=closed, payout_account_id=target)


# -- alerts, devices, mandates, complaints


def resolve(alert: Record, finding: Finding, *, name: str = "alert") -> Part:
    """Resolve an alert."""
    row = changed(name, Alert, alert.id, status=finding)
    return _does(name, row, "resolve_alert", alert_id=alert.id, finding=finding)


def revoke(device: Phone, *, name: str = "device") -> Part:
    """Revoke a device."""
    return _does(name, changed(name, Device, device.id, status="revoked"), "revoke_device", device_id=device.id)


def end_mandate(mandate: Record, *, name: str = "mandate") -> Part:
    """End a mandate."""
    return _does(name, changed(name, Mandate, mandate.id, status="ended"), "end_mandate", mandate_id=mandate.id)


def reopen(complaint: Record, news: str, *, name: str = "complaint") -> Part:
    """Open a complaint again."""
    row = changed(name, Complaint, complaint.id, status="open", finding="none", answered_on=None)
    return _does(name, row, "reopen_complaint", complaint_id=complaint.id, news=news)
