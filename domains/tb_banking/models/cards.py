"""Cards, the merchants they pay, disputes about payments, and alerts."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_banking.models.base import Base, in_usd
from tb_banking.models.kinds import (
    AlertLevel,
    AlertStatus,
    CardStatus,
    Credit,
    DisputeReason,
    DisputeStage,
    FreezeReason,
    ReplaceReason,
    Switch,
)
from tb_envs.authoring.models import free, guarded
from tb_envs.parts.columns import not_negative, one_of


class Card(Base):
    """A debit card of an account; its holder may be another owner of the account."""

    __tablename__ = "cards"
    __table_args__ = (
        one_of("status", CardStatus),
        one_of("freeze_reason", FreezeReason),
        one_of("replace_reason", ReplaceReason),
        one_of("online", Switch),
        one_of("contactless", Switch),
        one_of("abroad", Switch),
        one_of("cash_abroad", Switch),
        guarded(prefix="CD"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    ending: Mapped[str] = free()
    status: Mapped[str]
    issued_on: Mapped[str] = free()
    expires_on: Mapped[str] = free()
    frozen_at: Mapped[str | None] = free()
    freeze_reason: Mapped[str | None]
    replaces: Mapped[str | None] = mapped_column(ForeignKey("cards.id"))
    replace_reason: Mapped[str | None]
    """Of a replaced card."""
    online: Mapped[str]
    contactless: Mapped[str]
    abroad: Mapped[str]
    cash_abroad: Mapped[str]


class Merchant(Base):
    """Who takes card payments: the name on statements, and the one people know."""

    __tablename__ = "merchants"
    __table_args__ = (guarded(prefix="ME"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    statement_name: Mapped[str]
    trading_name: Mapped[str]
    sells: Mapped[str]
    city: Mapped[str]
    email: Mapped[str]


class Dispute(Base):
    """A card payment that a customer contests, and the provisional credit for it."""

    __tablename__ = "disputes"
    __table_args__ = (
        one_of("reason", DisputeReason),
        one_of("stage", DisputeStage),
        one_of("credit", Credit),
        not_negative("credit_cents"),
        in_usd(),
        guarded(prefix="DP"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    entry_id: Mapped[str] = mapped_column(ForeignKey("entries.id"), index=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    reason: Mapped[str]
    stage: Mapped[str]
    filed_on: Mapped[str] = free()
    respond_by: Mapped[str | None]
    settled_on: Mapped[str | None] = free()
    credit: Mapped[str]
    credit_cents: Mapped[int]
    currency: Mapped[str]
    evidence: Mapped[str] = free()


class Alert(Base):
    """A payment that looked wrong to the bank."""

    __tablename__ = "alerts"
    __table_args__ = (one_of("level", AlertLevel), one_of("status", AlertStatus), guarded(prefix="FA"))
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    card_id: Mapped[str] = mapped_column(ForeignKey("cards.id"))
    entry_id: Mapped[str] = mapped_column(ForeignKey("entries.id"))
    level: Mapped[str]
    status: Mapped[str]
    raised_at: Mapped[str]
