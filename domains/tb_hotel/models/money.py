"""Folios, charges, payments, refunds."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_envs.authoring.models import free, guarded
from tb_envs.parts.columns import not_negative, one_of
from tb_hotel.models.base import Base, in_usd
from tb_hotel.models.kinds import ChargeKind, Evidence, FolioKind, FolioStatus, PaymentKind, PaymentStatus, RefundReason


class Folio(Base):
    """An account of charges: of a booking (guest or company pays) or of a group block."""

    __tablename__ = "folios"
    __table_args__ = (
        one_of("kind", FolioKind),
        one_of("status", FolioStatus),
        CheckConstraint("(booking_id IS NULL) <> (group_block_id IS NULL)", name="folio_has_one_owner"),
        CheckConstraint("(kind = 'company') = (corporate_account_id IS NOT NULL)", name="company_folio_has_company"),
        guarded(prefix="FO"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    booking_id: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"), index=True)
    group_block_id: Mapped[str | None] = mapped_column(ForeignKey("group_blocks.id"))
    corporate_account_id: Mapped[str | None] = mapped_column(ForeignKey("corporate_accounts.id"))
    status: Mapped[str]


class Charge(Base):
    """An amount on a folio; what has been waived of it stands beside it."""

    __tablename__ = "charges"
    __table_args__ = (
        one_of("kind", ChargeKind),
        one_of("evidence", Evidence),
        CheckConstraint(
            "waive_reason IN ('dispute', 'price_correction', 'compensation')", name="waive_reason_is_known"
        ),
        CheckConstraint("waived_cents BETWEEN 0 AND amount_cents", name="waived_within_amount"),
        in_usd(),
        guarded(prefix="CH"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    folio_id: Mapped[str] = mapped_column(ForeignKey("folios.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    waived_cents: Mapped[int]
    waive_reason: Mapped[str | None]
    currency: Mapped[str]
    evidence: Mapped[str]
    charged_on: Mapped[str]
    description: Mapped[str] = free()


class Payment(Base):
    """Money received on a folio by card."""

    __tablename__ = "payments"
    __table_args__ = (
        one_of("kind", PaymentKind),
        one_of("status", PaymentStatus),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="PM"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    folio_id: Mapped[str] = mapped_column(ForeignKey("folios.id"), index=True)
    kind: Mapped[str]
    status: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    card_ending: Mapped[str]
    paid_at: Mapped[str]


class Refund(Base):
    """Money returned on a payment."""

    __tablename__ = "refunds"
    __table_args__ = (
        one_of("reason", RefundReason),
        CheckConstraint("amount_cents > 0", name="amount_positive"),
        in_usd(),
        guarded(prefix="RF"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    payment_id: Mapped[str] = mapped_column(ForeignKey("payments.id"), index=True)
    amount_cents: Mapped[int]
    currency: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[str] = free()
