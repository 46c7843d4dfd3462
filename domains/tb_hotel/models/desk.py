"""What the desk writes: approvals, tickets, notes, messages, identity checks."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tb_envs.authoring.models import free, guarded, narrative
from tb_envs.parts.columns import not_negative, one_of
from tb_hotel.models.base import Base, in_usd
from tb_hotel.models.kinds import (
    ApprovalKind,
    CallerRole,
    CheckResult,
    Decision,
    Direction,
    NoteKind,
    Outcome,
    Reason,
    Team,
    Template,
    TicketStatus,
    Topic,
)


class ApprovalRule(Base):
    """How the duty manager will answer a request about a booking. No tool shows this table."""

    __tablename__ = "approval_rules"
    __table_args__ = (
        UniqueConstraint("booking_id", "kind"),
        one_of("kind", ApprovalKind),
        one_of("decision", Decision),
        guarded(prefix="AR"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"))
    kind: Mapped[str]
    decision: Mapped[str]


class Approval(Base):
    """A request to the duty manager, and the answer."""

    __tablename__ = "approvals"
    __table_args__ = (
        one_of("kind", ApprovalKind),
        one_of("decision", Decision),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="AP"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    decision: Mapped[str]
    justification: Mapped[str] = free()
    requested_at: Mapped[str] = free()


class Ticket(Base):
    """The record of one contact: what was asked, how it ended, why, and who has it now."""

    __tablename__ = "tickets"
    __table_args__ = (
        one_of("topic", Topic),
        one_of("status", TicketStatus),
        one_of("outcome", Outcome),
        one_of("reason", Reason),
        one_of("team", Team),
        guarded(prefix="TK", revisable=True),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    booking_id: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"))
    topic: Mapped[str]
    status: Mapped[str]
    outcome: Mapped[str | None]
    reason: Mapped[str | None]
    team: Mapped[str]
    summary: Mapped[str] = free()
    created_at: Mapped[str] = free()
    updated_at: Mapped[str] = free()


class TicketComment(Base):
    """A remark on a ticket."""

    __tablename__ = "ticket_comments"
    __table_args__ = (narrative(prefix="TC", about="guest_id"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("tickets.id"), index=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"))
    body: Mapped[str] = free()
    created_at: Mapped[str] = free()


class GuestNote(Base):
    """A remark on a guest's profile."""

    __tablename__ = "guest_notes"
    __table_args__ = (
        one_of("kind", NoteKind),
        narrative(prefix="NT", about="guest_id", only={"kind": ("preference",)}),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    kind: Mapped[str]
    body: Mapped[str] = free()
    created_at: Mapped[str] = free()


class GuestMessage(Base):
    """An e-mail from a guest (template ``none``) or to one."""

    __tablename__ = "messages"
    __table_args__ = (
        one_of("direction", Direction),
        one_of("template", Template),
        CheckConstraint("(direction = 'inbound') = (template = 'none')", name="only_outbound_has_template"),
        guarded(prefix="MS"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    booking_id: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"))
    direction: Mapped[str]
    template: Mapped[str]
    body: Mapped[str] = free()
    sent_at: Mapped[str] = free()


class IdentityCheck(Base):
    """One comparison of facts named by a caller with a guest's profile."""

    __tablename__ = "identity_checks"
    __table_args__ = (
        one_of("caller", CallerRole),
        one_of("result", CheckResult),
        not_negative("facts_given"),
        not_negative("facts_matched"),
        narrative(prefix="IC", about="guest_id"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    caller: Mapped[str]
    facts_given: Mapped[int]
    facts_matched: Mapped[int]
    result: Mapped[str]
    checked_at: Mapped[str] = free()
