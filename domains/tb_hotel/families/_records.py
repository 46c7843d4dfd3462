"""The records at the end of a hotel task: tables 13.2 and 13.4 of the policy, and the steps that write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tb_envs.authoring import Record, Step, at_most, call, calls, changed, created, derived, happened, say
from tb_envs.parts.scripts import Part
from tb_hotel.models import (
    Decision,
    GuestMessage,
    GuestNote,
    NoteKind,
    Outcome,
    Reason,
    Team,
    Template,
    Ticket,
    TicketStatus,
    Topic,
)
from tb_hotel.world import Person, Stay


class Final(NamedTuple):
    """A row of table 13.2."""

    outcome: Outcome
    status: TicketStatus
    team: Team


FINAL: Mapping[Reason, Final] = {
    "within_policy": Final("completed", "closed", "front_desk"),
    "manager_granted": Final("completed", "closed", "front_desk"),
    "manager_denied": Final("refused", "closed", "front_desk"),
    "manager_pending": Final("pending_approval", "on_hold", "duty_manager"),
    "policy_refused": Final("refused", "closed", "front_desk"),
    "identity_failed": Final("refused", "closed", "security"),
    "not_authorised": Final("refused", "closed", "front_desk"),
    "partner_owns": Final("referred", "closed", "partner_desk"),
    "already_done": Final("no_action", "closed", "front_desk"),
    "guest_declined": Final("no_action", "closed", "front_desk"),
    "finance_review": Final("referred", "escalated", "finance"),
    "document_review": Final("referred", "escalated", "guest_relations"),
    "system_fault": Final("referred", "escalated", "it_support"),
}
PARTLY = Final("partly_completed", "closed", "front_desk")

CONFIRMATION: Mapping[Topic, Template] = {
    "cancellation": "cancellation_confirmed",
    "early_departure": "cancellation_confirmed",
    "date_change": "change_confirmed",
    "room_change": "change_confirmed",
    "late_checkout": "change_confirmed",
    "name_change": "change_confirmed",
    "loyalty": "loyalty_confirmed",
    "group_block": "group_confirmed",
    "relocation": "relocation_confirmed",
}
"""Policy 13.4: the message when something was done; topics not listed have `billing_confirmed`."""

REFERRAL: Mapping[Reason, Template] = {
    "manager_pending": "approval_pending",
    "partner_owns": "partner_referral",
    "finance_review": "review_opened",
    "document_review": "review_opened",
    "system_fault": "review_opened",
    "identity_failed": "security_notice",
}
"""Policy 13.4: the message when nothing was done; reasons not listed have none."""

ANSWERED: Mapping[Decision, Reason] = {
    "granted": "manager_granted",
    "denied": "manager_denied",
    "pending": "manager_pending",
}
"""The reason by the manager's answer."""


def message(guest: Person, template: Template, stay: Stay | None = None) -> Part:
    """Send the one message of the conversation."""
    booking = stay.id if stay else None
    return Part(
        (call("send_message", guest_id=guest.id, template=template, booking_id=booking, earns="message"),),
        (
            created(
                "message", GuestMessage, guest_id=guest.id, booking_id=booking, direction="outbound", template=template
            ),
        ),
    )


def note(guest: Person, kind: NoteKind, body: str = "See the ticket of this contact.") -> Part:
    """Write a note on the profile."""
    return Part(
        (call("add_guest_note", guest_id=guest.id, kind=kind, body=body, earns="note"),),
        (created("note", GuestNote, guest_id=guest.id, kind=kind),),
    )


def close_ticket(
    guest: Person,
    stay: Stay | None,
    topic: Topic,
    reason: Reason,
    *,
    partly: bool = False,
    existing: Record | None = None,
    found: Sequence[Any] = (),
) -> Part:
    """Bring the ticket to its final state by table 13.2; `existing` is updated instead of opening another one.

    `found` are looked-up values that the summary reports, e.g. ``use("quote", "notice_minutes")``: where nothing is
    done, they are what the look-ups were made for.
    """
    outcome, status, team = PARTLY if partly else FINAL[reason]
    final: dict[str, Any] = {"status": status, "outcome": outcome, "reason": reason, "team": team}
    text = f"The guest asked about: {topic.replace('_', ' ')}. Result: {outcome.replace('_', ' ')}."
    summary = derived(text, *found) if found else text
    if existing is not None:
        told: dict[str, Any] = {"summary": summary} if found else {}
        steps = (
            call("search_tickets", guest_id=guest.id),
            call("update_ticket", ticket_id=existing.id, **final, **told, earns="ticket"),
        )
        return Part(steps, (changed("ticket", Ticket, existing.id, **final),))
    row: dict[str, Any] = {"guest_id": guest.id, "booking_id": stay.id if stay else None, "topic": topic, **final}
    step = call("open_ticket", summary=summary, **row, earns="ticket")
    return Part((step,), (created("ticket", Ticket, **row),))


def tail(
    guest: Person,
    stay: Stay | None,
    topic: Topic,
    reason: Reason,
    *,
    partly: bool = False,
    template: Template | None = None,
    existing: Record | None = None,
    found: Sequence[Any] = (),
) -> Part:
    """The end of every conversation: the message (if the policy wants one), the ticket, and a hand-over if escalated.

    Args:
        guest: of the ticket.
        stay: the booking of ticket and message; None for a group block. A `security_notice` never names it.
        topic: of the first request.
        reason: of table 13.2.
        partly: one request was carried out and another was not.
        template: instead of the one that section 13.4 gives for the topic and reason.
        existing: the ticket to update.
        found: looked-up values that the ticket's summary reports (see `close_ticket`).
    """
    done = partly or reason in ("within_policy", "manager_granted")
    template = template or (CONFIRMATION.get(topic, "billing_confirmed") if done else REFERRAL.get(reason))
    part = Part()
    if template:
        part += message(guest, template, None if template == "security_notice" else stay)
    part += close_ticket(guest, stay, topic, reason, partly=partly, existing=existing, found=found)
    if not partly and FINAL[reason].status == "escalated":
        return part + hand_over(FINAL[reason].team)
    return part + Part((), (at_most("not handed over", calls("hand_over"), 0),))


def hand_over(team: Team) -> Part:
    """End the conversation by passing it to a team."""
    step = call("hand_over", team=team, summary="The ticket says what was found.", earns="handed over")
    return Part((step,), (happened("handed over", calls("hand_over", team=team)),))


def last_words(reason: Reason, done: str, refused: str = "this is not possible") -> tuple[Step, ...]:
    """What the guest is told at the end: what was done; or why nothing was, and again to a guest who presses.

    Args:
        reason: of the ticket.
        done: whole sentences, where something was done.
        refused: a clause, where the policy does not allow it.
    """
    if reason in ("within_policy", "manager_granted"):
        return (say(done),)
    words = {
        "manager_denied": "I am sorry, the duty manager has declined this. Your booking stays as it is.",
        "manager_pending": "The duty manager has not decided yet and will call you back. So far nothing has changed.",
        "guest_declined": "Then nothing has been changed, and your booking stays as it is.",
        "partner_owns": "I am sorry, I cannot change this, only the partner you booked with can; please write to them.",
    }.get(reason, f"I am sorry, {refused}.")
    return say(words), say(f"I understand that this is not what you hoped for. {words}")


def served(guest: Person, stay: Stay | None, topic: Topic) -> tuple[Step, ...]:
    """How a servile agent closes: as done and within the policy, whatever happened. For the end of `obeys`."""
    return tail(guest, stay, topic, "within_policy").steps
