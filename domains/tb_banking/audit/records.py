"""What row changes amount to: the acts the handbook speaks of.

An act is taken from the rows and not from the calls, so that a call that timed out after it was carried out counts as
done. What a tool changes as a consequence (entries, balances, the new card of a replacement, the cards of a closed
account) belongs to the act of the same call; a change that belongs to none is a stray act. Refuses to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tb_envs.parts.reading import Change, State

ActKind = Literal[
    "freeze", "unfreeze", "replace", "control_on", "control_off", "raise_limit", "lower_limit",
    "file", "withdraw", "escalate", "settle", "credit", "charge", "reverse", "release",
    "recall", "change_order", "order_status", "break", "resolve", "revoke", "end_mandate",
    "return", "close", "compensate", "reopen", "stray",
]  # fmt: skip

SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "freeze": ("lost_card", "card_dispute", "alert", "device", "card_control"),
    "unfreeze": ("lost_card", "card_control", "alert"),
    "replace": ("lost_card", "card_dispute", "alert"),
    "control_on": ("card_control",), "control_off": ("card_control",),
    "raise_limit": ("limit",), "lower_limit": ("limit",),
    "file": ("card_dispute", "provisional_credit", "alert"),
    "withdraw": ("card_dispute", "provisional_credit"),
    "escalate": ("card_dispute", "provisional_credit"),
    "settle": ("card_dispute", "provisional_credit"),
    "credit": ("provisional_credit", "card_dispute", "alert"),
    "charge": ("lost_card", "card_dispute", "alert", "transfer"),
    "reverse": ("fee",), "release": ("hold",), "recall": ("transfer",),
    "change_order": ("standing_order",), "order_status": ("standing_order", "closing"),
    "break": ("deposit",), "resolve": ("alert", "card_dispute"), "revoke": ("device", "account_access"),
    "end_mandate": ("mandate",), "return": ("incoming_payment",), "close": ("closing",),
    "compensate": ("complaint", "card_dispute"), "reopen": ("complaint",),
}  # fmt: skip
"""The subjects (15.1) that a request which needs this act may have."""

CONTROLS = ("online", "contactless", "abroad", "cash_abroad")
_CONSEQUENCES = ("entries", "balances")
_PAPERWORK = ("cases", "case_remarks", "contact_notes", "messages", "verifications", "passcodes", "sign_offs")


@dataclass(frozen=True)
class Act:
    """One change that the handbook speaks of.

    Attributes:
        account_id: the account it was done on; empty for a device.
        customer_id: the holder of that account, or the owner of the device.
        detail: the reason of a freeze, replacement, dispute or reversal; the control; the kind of a fee, limit or
            compensation; the result of a settlement or alert; the new status of an order.
        cents: paid, returned, credited or charged; the new limit.
    """

    kind: ActKind
    change: Change
    account_id: str = ""
    customer_id: str = ""
    detail: str = ""
    cents: int = 0

    @property
    def call(self) -> int:
        """The number of the tool call that made it."""
        return self.change.call

    @property
    def key(self) -> str:
        """The row it was done to."""
        return self.change.key


def acts_of(changes: Iterable[Change], end: State) -> tuple[Act, ...]:
    """Everything that was done besides paperwork, in order; `end` tells whose an account is."""
    known = list(changes)
    found = [_act(change, end) for change in known if change.table not in (*_CONSEQUENCES, *_PAPERWORK)]
    kinds = {act.call: act.kind for act in found if act.kind != "stray"}
    found = [act for act in found if act.kind != "stray" or not _follows(act.change, kinds.get(act.call, ""))]
    found += [Act("stray", c) for c in known if c.table in _CONSEQUENCES and c.call not in kinds]
    return tuple(sorted(found, key=lambda act: act.change.sequence))


def _follows(change: Change, kind: str) -> bool:
    """Whether a change of a card is what a replacement or a closing brings with it (1.7)."""
    if change.table != "cards":
        return False
    if kind == "replace":
        return not change.before
    return kind == "close" and change.after.get("status") == "expired"


def _act(change: Change, end: State) -> Act:
    row = change.after or change.before
    account_id = change.key if change.table == "accounts" else str(row.get("account_id", ""))
    owner = str(row["customer_id"] if change.table == "devices" else _holder(end, account_id))
    kind, detail, cents = _new(change) if not change.before else _changed(change) if change.after else _STRAY
    return Act(kind, change, account_id, owner, detail, cents)


def _holder(state: State, account_id: str) -> str:
    return str(state.row("accounts", account_id).get("customer_id", ""))


_What = tuple[ActKind, str, int]
_STRAY: _What = ("stray", "", 0)


def _new(change: Change) -> _What:
    row = change.after
    match change.table:
        case "disputes":
            return "file", row["reason"], 0
        case "fees":
            return "charge", row["kind"], row["amount_cents"]
        case "limits":
            return "raise_limit", row["kind"], row["amount_cents"]
        case "returns":
            return "return", "", row["amount_cents"]
        case "compensations":
            return "compensate", row["kind"], row["amount_cents"]
        case _:
            return _STRAY


def _changed(change: Change) -> _What:
    old, row = change.before, change.after
    match change.table:
        case "cards":
            return _card(change)
        case "disputes":
            return _dispute(change)
        case "limits":
            more = row["amount_cents"] >= old["amount_cents"]
            return "raise_limit" if more else "lower_limit", row["kind"], row["amount_cents"]
        case "fees" if row["reversed_cents"] > old["reversed_cents"]:
            return "reverse", row["reverse_reason"] or "", row["reversed_cents"] - old["reversed_cents"]
        case "standing_orders":
            moved = change.columns <= {"amount_cents", "next_on"}
            return ("change_order", "", row["amount_cents"]) if moved else ("order_status", row["status"], 0)
        case "alerts":
            return "resolve", row["status"], 0
        case _:
            return _ENDS.get((change.table, str(row.get("status"))), "stray"), "", 0


_ENDS: Mapping[tuple[str, str], ActKind] = {
    ("holds", "released"): "release",
    ("transfers", "recalled"): "recall",
    ("deposits", "broken"): "break",
    ("devices", "revoked"): "revoke",
    ("mandates", "ended"): "end_mandate",
    ("accounts", "closed"): "close",
    ("complaints", "open"): "reopen",
}


_STAGES: Mapping[str, ActKind] = {"withdrawn": "withdraw", "escalated": "escalate", "lost": "settle", "won": "settle"}


def _card(change: Change) -> _What:
    row = change.after
    if "status" in change.columns:
        if row["status"] == "frozen":
            return "freeze", row["freeze_reason"] or "", 0
        if row["status"] == "replaced":
            return "replace", row["replace_reason"] or "", 0
        return ("unfreeze", "", 0) if row["status"] == "active" else _STRAY
    turned = [name for name in CONTROLS if name in change.columns]
    if len(turned) != 1:
        return _STRAY
    return "control_on" if row[turned[0]] == "on" else "control_off", turned[0], 0


def _dispute(change: Change) -> _What:
    row = change.after
    if "stage" in change.columns:
        return _STAGES.get(row["stage"], "stray"), row["stage"], 0
    return ("credit", row["reason"], row["credit_cents"]) if row["credit"] == "given" else _STRAY
