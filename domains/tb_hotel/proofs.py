"""How the certificate may vary the hotel's tasks: a harmless note, a stray change, a ticket written in two steps."""

from __future__ import annotations

from collections.abc import Sequence

from tb_envs.authoring import DomainError, Step, World, call
from tb_envs.authoring.domain import Proofs, Revision
from tb_hotel.models import Booking


def note(guest_id: str) -> Sequence[Step]:
    """A remark that hurts nobody."""
    return [call("add_guest_note", guest_id=guest_id, kind="preference", body="Was friendly on the phone.")]


def stray(w: World) -> Sequence[Step]:
    """A later check-out for a guest who has nothing to do with the task."""
    return [call("set_late_checkout", booking_id=_bystander(w), hour=15)]


def stray_undone(w: World) -> Sequence[Step]:
    """The same, and back to the hour that was there."""
    return [*stray(w), call("set_late_checkout", booking_id=_bystander(w), hour=13)]


def _bystander(w: World) -> str:
    for booking in w.all(Booking, status="confirmed", late_checkout_hour=13):
        if booking.id not in w.edited.get("bookings", {}) and booking.id not in w.placed.get("bookings", {}):
            return booking.id
    raise DomainError("the seed has no confirmed booking with a late check-out at 13:00")


proofs = Proofs(
    note=note,
    stray=stray,
    stray_undone=stray_undone,
    revisions=(
        Revision(
            create="open_ticket",
            update="update_ticket",
            id_argument="ticket_id",
            id_result="ticket_id",
            draft={"status": "open", "outcome": None, "reason": None, "team": "front_desk"},
        ),
    ),
)
