"""The acts that row changes amount to.

An act is one change that the policy speaks of, taken from the row changes and not from the calls, so that a call that
timed out after it was carried out counts as done. Rows that a tool changes as a consequence (inventory, nights, totals,
pending loyalty entries) belong to the act of the same call; a change that belongs to none is a stray act.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tb_envs.parts.reading import Change, State

ActKind = Literal[
    "cancel", "void", "relocate", "move", "shorten", "upgrade", "late", "rename",
    "open_folio", "move_charge", "charge", "waive", "refund",
    "entry", "release", "goodwill", "stray",
]  # fmt: skip

BOOKING_KINDS: tuple[ActKind, ...] = ("cancel", "void", "relocate", "move", "shorten", "upgrade", "late", "rename")
MONEY_KINDS: tuple[ActKind, ...] = ("charge", "waive", "refund", "entry")
TOPIC_OF: Mapping[str, str] = {
    "cancel": "cancellation", "void": "duplicate_booking", "relocate": "relocation", "move": "date_change",
    "shorten": "early_departure", "upgrade": "room_change", "late": "late_checkout", "rename": "name_change",
}  # fmt: skip
TOPIC_OF_RETURN: Mapping[str, str] = {
    "cancellation": "cancellation", "rate_difference": "date_change", "early_departure": "early_departure",
    "no_show": "no_show", "double_payment": "payment_error", "duplicate_booking": "duplicate_booking",
    "corporate_rate": "corporate_rate", "dispute": "charge_dispute", "price_correction": "extras_price",
    "compensation": "service_complaint", "relocation": "relocation",
}  # fmt: skip
TOPIC_OF_CHARGE: Mapping[str, str] = {
    "change_fee": "date_change", "rate_difference": "date_change", "upgrade": "room_change",
    "transfer_fee": "name_change", "late_checkout": "late_checkout", "group_release": "group_block",
}  # fmt: skip
TOPIC_OF_ENTRY: Mapping[str, str] = {"correction": "loyalty", "relocation": "relocation"}
_CONSEQUENCES = ("inventory_nights", "booking_nights", "loyalty_accounts", "loyalty_entries")
_PAPERWORK = ("tickets", "ticket_comments", "guest_notes", "messages", "identity_checks", "approvals")


@dataclass(frozen=True)
class Act:
    """One change that the policy speaks of.

    Attributes:
        reason: of a refund or waiver; the kind of a charge or loyalty entry.
        cents: returned, taken off or charged.
    """

    kind: ActKind
    topic: str
    guest_id: str
    booking_id: str | None
    change: Change
    reason: str = ""
    cents: int = 0

    @property
    def call(self) -> int:
        """The number of the tool call that made it."""
        return self.change.call


class Owner(NamedTuple):
    """Whom a folio belongs to."""

    booking_id: str | None
    group_block_id: str | None
    guest_id: str


def owner_of(state: State, folio_id: Any) -> Owner:
    """The booking or block that a folio belongs to, and its guest or organiser."""
    folio = state.row("folios", folio_id)
    booking = state.row("bookings", folio.get("booking_id"))
    block = state.row("group_blocks", folio.get("group_block_id"))
    guest_id = booking.get("guest_id") or block.get("organiser_id") or ""
    return Owner(folio.get("booking_id"), folio.get("group_block_id"), guest_id)


def acts_of(changes: Iterable[Change], end: State) -> tuple[Act, ...]:
    """Everything that was done besides paperwork, in order; `end` tells whom a folio belongs to."""
    found: list[Act] = []
    consequences: list[Change] = []
    for change in changes:
        if change.table in _CONSEQUENCES and not (change.table == "loyalty_entries" and not change.before):
            consequences.append(change)
        elif change.table not in _PAPERWORK:
            found.append(_act(change, end))
    explained = {act.call for act in found if act.kind != "stray"}
    found += [Act("stray", "", "", None, change) for change in consequences if change.call not in explained]
    return tuple(sorted(found, key=lambda act: act.change.sequence))


def _act(change: Change, end: State) -> Act:
    row = change.after or change.before
    fresh = not change.before
    match change.table:
        case "bookings":
            kind = _booking_kind(change)
            declined = kind == "cancel" and row["cancel_reason"] == "relocation_declined"
            topic = "relocation" if declined else TOPIC_OF.get(kind, "")
            return Act(kind, topic, row["guest_id"], change.key, change)
        case "folios" if fresh and row["kind"] == "company":
            return Act("open_folio", "folio_split", owner_of(end, change.key).guest_id, row["booking_id"], change)
        case "charges":
            return _charge(change, owner_of(end, row["folio_id"]))
        case "refunds" if fresh:
            return _refund(change, end)
        case "loyalty_entries":
            guest_id = end.row("bookings", row["booking_id"]).get("guest_id", "")
            topic = TOPIC_OF_ENTRY.get(row["kind"], "")
            return Act("entry", topic, guest_id, row["booking_id"], change, row["kind"])
        case "group_blocks" if not fresh and row["released"] > change.before["released"]:
            return Act("release", "group_block", row["organiser_id"], None, change)
        case "guests" if not fresh and change.columns == {"last_goodwill_on"}:
            return Act("goodwill", "no_show", change.key, None, change)
        case _:
            return Act("stray", "", "", None, change)


def _booking_kind(change: Change) -> ActKind:
    if not change.before or not change.after:
        return "stray"
    ends: Mapping[str, ActKind] = {"cancelled": "cancel", "voided": "void", "relocated": "relocate"}
    if "status" in change.columns:
        return ends.get(change.after["status"], "stray")
    if "room_type_id" in change.columns:
        return "upgrade"
    if change.columns & {"arrival", "departure", "change_count"}:
        return "shorten" if change.before["status"] == "in_house" else "move"
    if "late_checkout_hour" in change.columns:
        return "late"
    return "rename" if "stay_name" in change.columns else "stray"


def _charge(change: Change, owner: Owner) -> Act:
    row, booking_id, guest_id = change.after or change.before, owner.booking_id, owner.guest_id
    if not change.before:
        topic = TOPIC_OF_CHARGE.get(row["kind"], "")
        return Act("charge", topic, guest_id, booking_id, change, row["kind"], row["amount_cents"])
    if change.columns == {"folio_id"}:
        return Act("move_charge", "folio_split", guest_id, booking_id, change, row["kind"], row["amount_cents"])
    if change.after and change.columns <= {"waived_cents", "waive_reason"}:
        cents, reason = row["waived_cents"] - change.before["waived_cents"], row["waive_reason"] or ""
        return Act("waive", TOPIC_OF_RETURN.get(reason, ""), guest_id, booking_id, change, reason, cents)
    return Act("stray", "", guest_id, booking_id, change)


def _refund(change: Change, end: State) -> Act:
    row = change.after
    owner = owner_of(end, end.row("payments", row["payment_id"]).get("folio_id"))
    topic = TOPIC_OF_RETURN.get(row["reason"], "")
    declined = end.row("bookings", owner.booking_id).get("cancel_reason") == "relocation_declined"
    if topic == "cancellation" and declined:
        topic = "relocation"
    return Act("refund", topic, owner.guest_id, owner.booking_id, change, row["reason"], row["amount_cents"])
