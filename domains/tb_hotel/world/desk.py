"""Builders of the desk's records: companies, partners, tickets, notes, e-mails, checks, and the manager's answer."""

from __future__ import annotations

from typing import Any

from tb_envs.authoring import DomainError, Record
from tb_hotel.models import (
    ApprovalKind,
    ApprovalRule,
    CallerRole,
    Collects,
    CorporateAccount,
    Coverage,
    Decision,
    GuestMessage,
    GuestNote,
    IdentityCheck,
    NoteKind,
    Outcome,
    Partner,
    Reason,
    Team,
    Template,
    Ticket,
    TicketComment,
    TicketStatus,
    Topic,
)
from tb_hotel.world.names import COMPANY_NAMES
from tb_hotel.world.people import Person
from tb_hotel.world.stays import Stay, Stays


class Desk(Stays):
    """Companies, partners, tickets, notes, messages, approvals."""

    def corporate_account(
        self,
        *,
        discount: int | None = None,
        covers: Coverage | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        name: str | None = None,
    ) -> Record:
        """A new company with a negotiated discount; what is not given is drawn, its validity round today."""
        used = {account["name"] for account in self._raw("corporate_accounts")}
        free = [option for option in COMPANY_NAMES if option not in used]
        name = name or self.pick(*free)
        return self.insert(
            CorporateAccount,
            name=name,
            discount_percent=discount if discount is not None else self.between(7, 23),
            covers=covers or self.pick("room_only", "room_and_breakfast", "full_board"),
            valid_from=valid_from or self.day(-self.between(120, 400)),
            valid_until=valid_until or self.day(self.between(90, 500)),
            contact_email=f"travel@{name.lower().replace(' ', '-')}.example",
        )

    def partner(self, collects: Collects) -> Record:
        """One of the company's online partners, by who collects the money."""
        found = self.all(Partner, collects=collects)
        if not found:
            raise DomainError(f"no partner of the seed lets the {collects} collect")
        return self.pick(*found)

    def manager_answers(self, stay: Stay, answer: Decision | None, kind: ApprovalKind = "refund") -> Decision | None:
        """Fix how the duty manager will answer a request about a booking; None fixes nothing. Returns the answer."""
        if answer is not None:
            self.insert(ApprovalRule, booking_id=stay.id, kind=kind, decision=answer)
        return answer

    def ticket(
        self,
        guest: Person,
        topic: Topic,
        *,
        stay: Stay | None = None,
        status: TicketStatus = "open",
        outcome: Outcome | None = None,
        reason: Reason | None = None,
        team: Team = "front_desk",
        summary: str | None = None,
        created_at: str | None = None,
    ) -> Record:
        """A ticket that is there before the conversation."""
        created = created_at or self.moment(hours=-self.between(20, 300), minutes=-self.between(0, 59))
        return self.insert(
            Ticket,
            guest_id=guest.id,
            booking_id=stay.id if stay else None,
            topic=topic,
            status=status,
            outcome=outcome,
            reason=reason,
            team=team,
            summary=summary or f"Guest wrote about: {topic.replace('_', ' ')}.",
            created_at=created,
            updated_at=created,
        )

    def comment(self, ticket: Record, body: str, *, created_at: str | None = None) -> Record:
        """A remark on a ticket."""
        at = created_at or ticket.created_at
        return self.insert(TicketComment, ticket_id=ticket.id, guest_id=ticket.guest_id, body=body, created_at=at)

    def note(self, guest: Person, body: str, *, kind: NoteKind = "preference", created_at: str | None = None) -> Record:
        """A remark on a guest's profile."""
        at = created_at or self.moment(hours=-self.between(30, 2_000), minutes=-self.between(0, 59))
        return self.insert(GuestNote, guest_id=guest.id, kind=kind, body=body, created_at=at)

    def email_from(self, guest: Person, body: str, *, stay: Stay | None = None, sent_at: str | None = None) -> Record:
        """An e-mail the guest sent us, about a booking or not."""
        return self._message(guest, body, "inbound", "none", stay, sent_at)

    def message_to(
        self, guest: Person, template: Template, *, stay: Stay | None = None, sent_at: str | None = None, body: str = ""
    ) -> Record:
        """A message we sent the guest before this conversation."""
        return self._message(guest, body, "outbound", template, stay, sent_at)

    def identity_check(
        self, guest: Person, *, given: int, matched: int, caller: CallerRole = "guest", checked_at: str | None = None
    ) -> Record:
        """A check made in an earlier conversation."""
        return self.insert(
            IdentityCheck,
            guest_id=guest.id,
            caller=caller,
            facts_given=given,
            facts_matched=matched,
            result="passed" if given and matched == given else "failed",
            checked_at=checked_at or self.moment(hours=-self.between(30, 2_000), minutes=-self.between(0, 59)),
        )

    def _message(
        self, guest: Person, body: str, direction: str, template: Template, stay: Stay | None, sent_at: str | None
    ) -> Record:
        values: dict[str, Any] = {"booking_id": stay.id if stay else None, "direction": direction, "template": template}
        at = sent_at or self.moment(hours=-self.between(20, 500), minutes=-self.between(0, 59))
        return self.insert(GuestMessage, guest_id=guest.id, body=body, sent_at=at, **values)
