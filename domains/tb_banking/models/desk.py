"""What servicing writes: checks, passcodes, sign-offs, cases, messages, notes, complaints, compensation."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tb_banking.models.base import Base, in_usd
from tb_banking.models.kinds import (
    CheckResult,
    CompensationKind,
    ComplaintFinding,
    ComplaintStatus,
    Decision,
    Direction,
    Disposition,
    Gravity,
    NoteKind,
    PasscodeStatus,
    Queue,
    Role,
    SignOffKind,
    Stage,
    Subject,
    Template,
)
from tb_envs.authoring.models import free, guarded, narrative
from tb_envs.parts.columns import not_negative, one_of


class Verification(Base):
    """One comparison of facts named by a caller with that caller's own profile."""

    __tablename__ = "verifications"
    __table_args__ = (
        one_of("role", Role),
        one_of("result", CheckResult),
        not_negative("facts_given"),
        not_negative("facts_matched"),
        narrative(prefix="VE", about="customer_id"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    role: Mapped[str]
    facts_given: Mapped[int]
    facts_matched: Mapped[int]
    result: Mapped[str]
    checked_at: Mapped[str] = free()


class PasscodeRule(Base):
    """The code that a device will show next. No tool shows this table."""

    __tablename__ = "passcode_rules"
    __table_args__ = (guarded(prefix="PR"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    device_id: Mapped[str] = mapped_column(ForeignKey("devices.id"), unique=True)
    code: Mapped[str]


class Passcode(Base):
    """A one-time code sent to a device."""

    __tablename__ = "passcodes"
    __table_args__ = (one_of("status", PasscodeStatus), narrative(prefix="PC", about="customer_id"))
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    device_id: Mapped[str] = mapped_column(ForeignKey("devices.id"), index=True)
    status: Mapped[str]
    sent_at: Mapped[str] = free()


class SignOffRule(Base):
    """How the controls desk will answer. No tool shows this table."""

    __tablename__ = "sign_off_rules"
    __table_args__ = (
        UniqueConstraint("account_id", "kind"),
        one_of("kind", SignOffKind),
        one_of("decision", Decision),
        guarded(prefix="SR"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    kind: Mapped[str]
    decision: Mapped[str]


class SignOff(Base):
    """A question to the controls desk, and the answer."""

    __tablename__ = "sign_offs"
    __table_args__ = (
        one_of("kind", SignOffKind),
        one_of("decision", Decision),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="SG"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    decision: Mapped[str]
    grounds: Mapped[str] = free()
    asked_at: Mapped[str] = free()


class ServiceCase(Base):
    """The record of one conversation: what was asked, how it ended, and who has it now."""

    __tablename__ = "cases"
    __table_args__ = (
        one_of("subject", Subject),
        one_of("stage", Stage),
        one_of("disposition", Disposition),
        one_of("queue", Queue),
        guarded(prefix="CS", revisable=True),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    subject: Mapped[str]
    stage: Mapped[str]
    disposition: Mapped[str | None]
    queue: Mapped[str]
    summary: Mapped[str] = free()
    opened_at: Mapped[str] = free()
    updated_at: Mapped[str] = free()


class CaseRemark(Base):
    """A line written on a case."""

    __tablename__ = "case_remarks"
    __table_args__ = (narrative(prefix="CR", about="customer_id"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    case_id: Mapped[str] = mapped_column(ForeignKey("cases.id"), index=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"))
    body: Mapped[str] = free()
    written_at: Mapped[str] = free()


class SecureMessage(Base):
    """A message in a customer's inbox with the bank: from them, from a merchant about them, or from us."""

    __tablename__ = "messages"
    __table_args__ = (
        one_of("direction", Direction),
        one_of("template", Template),
        CheckConstraint("(direction = 'inbound') = (template = 'none')", name="only_outbound_has_template"),
        guarded(prefix="SM"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    direction: Mapped[str]
    template: Mapped[str]
    sender: Mapped[str] = free()
    body: Mapped[str] = free()
    sent_at: Mapped[str] = free()


class ContactNote(Base):
    """A note on a customer's profile."""

    __tablename__ = "contact_notes"
    __table_args__ = (
        one_of("kind", NoteKind),
        narrative(prefix="CN", about="customer_id", only={"kind": ("remark",)}),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    kind: Mapped[str]
    body: Mapped[str] = free()
    written_at: Mapped[str] = free()


class Complaint(Base):
    """A complaint and its answer."""

    __tablename__ = "complaints"
    __table_args__ = (
        one_of("status", ComplaintStatus),
        one_of("finding", ComplaintFinding),
        one_of("gravity", Gravity),
        CheckConstraint("(status = 'answered') = (answered_on IS NOT NULL)", name="answered_has_day"),
        guarded(prefix="CL"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    subject: Mapped[str]
    gravity: Mapped[str]
    status: Mapped[str]
    finding: Mapped[str]
    received_on: Mapped[str]
    answered_on: Mapped[str | None]
    news: Mapped[str | None] = free()
    """What the customer brought when it was opened again."""


class Compensation(Base):
    """Money paid for trouble, delay, or a small loss."""

    __tablename__ = "compensations"
    __table_args__ = (
        one_of("kind", CompensationKind),
        not_negative("amount_cents"),
        CheckConstraint("(complaint_id IS NULL) <> (dispute_id IS NULL)", name="for_one_thing"),
        in_usd(),
        guarded(prefix="CM"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    complaint_id: Mapped[str | None] = mapped_column(ForeignKey("complaints.id"))
    dispute_id: Mapped[str | None] = mapped_column(ForeignKey("disputes.id"))
    paid_at: Mapped[str] = free()
