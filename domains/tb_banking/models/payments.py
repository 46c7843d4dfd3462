"""Money sent: payees, transfers, standing orders, and payments sent back."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_banking.models.base import Base, in_usd
from tb_banking.models.kinds import OrderStatus, PayeeCheck, Rail, Rhythm, TransferStatus
from tb_envs.authoring.models import free, guarded
from tb_envs.parts.columns import not_negative, one_of


class Payee(Base):
    """Somebody whom a customer pays."""

    __tablename__ = "payees"
    __table_args__ = (guarded(prefix="PY"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    name: Mapped[str]
    bank: Mapped[str]
    account_number: Mapped[str]
    added_on: Mapped[str]


class Transfer(Base):
    """Money sent from an account; `payee_check` is what the payee's bank said of the name."""

    __tablename__ = "transfers"
    __table_args__ = (
        one_of("rail", Rail),
        one_of("status", TransferStatus),
        one_of("payee_check", PayeeCheck),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="TR"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    payee_id: Mapped[str] = mapped_column(ForeignKey("payees.id"))
    amount_cents: Mapped[int]
    currency: Mapped[str]
    rail: Mapped[str]
    status: Mapped[str]
    payee_check: Mapped[str]
    made_at: Mapped[str]
    executes_on: Mapped[str]
    reference: Mapped[str]


class StandingOrder(Base):
    """A payment that repeats."""

    __tablename__ = "standing_orders"
    __table_args__ = (
        one_of("rhythm", Rhythm),
        one_of("status", OrderStatus),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="SO"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    payee_id: Mapped[str] = mapped_column(ForeignKey("payees.id"))
    amount_cents: Mapped[int]
    currency: Mapped[str]
    rhythm: Mapped[str]
    next_on: Mapped[str]
    status: Mapped[str]


class Return(Base):
    """An incoming payment that was sent back."""

    __tablename__ = "returns"
    __table_args__ = (not_negative("amount_cents"), in_usd(), guarded(prefix="RT"))
    id: Mapped[str] = mapped_column(primary_key=True)
    entry_id: Mapped[str] = mapped_column(ForeignKey("entries.id"), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    amount_cents: Mapped[int]
    currency: Mapped[str]
    returned_at: Mapped[str] = free()
