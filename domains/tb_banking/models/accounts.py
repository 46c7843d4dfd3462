"""Accounts and what stands on them: balances, entries, holds, fees, limits, deposits, and the rates of the day."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_banking.models.base import Base, in_usd
from tb_banking.models.kinds import (
    AccountKind,
    AccountStatus,
    DepositStatus,
    EntryKind,
    EntryStatus,
    FeeKind,
    HoldKind,
    HoldStatus,
    LimitKind,
    Method,
    ReverseReason,
)
from tb_envs.authoring.models import derived, free, guarded
from tb_envs.parts.columns import not_negative, one_of


class Account(Base):
    """An account; its balance is a row of `balances`."""

    __tablename__ = "accounts"
    __table_args__ = (
        one_of("kind", AccountKind),
        one_of("status", AccountStatus),
        not_negative("overdraft_cents"),
        in_usd(),
        guarded(prefix="AC"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[str] = mapped_column(unique=True)
    customer_id: Mapped[str] = mapped_column(ForeignKey("customers.id"), index=True)
    kind: Mapped[str]
    status: Mapped[str]
    opened_on: Mapped[str]
    overdraft_cents: Mapped[int]
    currency: Mapped[str]
    payout_to: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    """Of a closed account: which one took its balance."""


class Balance(Base):
    """The money of an account, under the account's id; follows from its posted entries and active holds."""

    __tablename__ = "balances"
    __table_args__ = (not_negative("held_cents"), derived(prefix=None))
    id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    opening_cents: Mapped[int]
    booked_cents: Mapped[int]
    held_cents: Mapped[int]


class Entry(Base):
    """A booking on an account; money that leaves it is negative. Written only as a consequence of something else."""

    __tablename__ = "entries"
    __table_args__ = (
        one_of("kind", EntryKind),
        one_of("status", EntryStatus),
        one_of("method", Method),
        in_usd(),
        derived(prefix="EN"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    kind: Mapped[str]
    status: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    booked_at: Mapped[str]
    text: Mapped[str]
    card_id: Mapped[str | None] = mapped_column(ForeignKey("cards.id"))
    merchant_id: Mapped[str | None] = mapped_column(ForeignKey("merchants.id"))
    method: Mapped[str]
    foreign_currency: Mapped[str | None]
    foreign_amount: Mapped[str | None]


class Hold(Base):
    """Money that is set aside until it is posted or released."""

    __tablename__ = "holds"
    __table_args__ = (
        one_of("kind", HoldKind),
        one_of("status", HoldStatus),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="HO"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    kind: Mapped[str]
    status: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    placed_at: Mapped[str]
    merchant_id: Mapped[str | None] = mapped_column(ForeignKey("merchants.id"))


class Fee(Base):
    """A fee charged, and what was returned of it."""

    __tablename__ = "fees"
    __table_args__ = (
        one_of("kind", FeeKind),
        one_of("reverse_reason", ReverseReason),
        not_negative("amount_cents"),
        CheckConstraint("reversed_cents BETWEEN 0 AND amount_cents", name="reversed_is_part"),
        in_usd(),
        guarded(prefix="FE"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    charged_at: Mapped[str]
    entry_id: Mapped[str | None] = mapped_column(ForeignKey("entries.id"))
    """The entry it was charged for: a payment, or a transfer that was returned."""
    reversed_cents: Mapped[int] = mapped_column(default=0)
    reverse_reason: Mapped[str | None]
    reversed_at: Mapped[str | None] = free()


class Limit(Base):
    """How much may leave an account, e.g. ``AC-10231.daily_cash``; a temporary one falls back by itself."""

    __tablename__ = "limits"
    __table_args__ = (one_of("kind", LimitKind), not_negative("amount_cents"), in_usd(), guarded(prefix=None))
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    until: Mapped[str | None]


class Deposit(Base):
    """A term deposit, paid from and out to an account."""

    __tablename__ = "deposits"
    __table_args__ = (
        one_of("status", DepositStatus),
        not_negative("principal_cents"),
        not_negative("rate_basis_points"),
        in_usd(),
        guarded(prefix="TD"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    principal_cents: Mapped[int]
    currency: Mapped[str]
    rate_basis_points: Mapped[int]
    term_months: Mapped[int]
    opened_on: Mapped[str]
    matures_on: Mapped[str]
    status: Mapped[str]
    penalty_cents: Mapped[int | None]


class Rate(Base):
    """What one unit of a currency was worth on a day, e.g. ``EUR.2031-09-12``, in millionths of a dollar."""

    __tablename__ = "rates"
    __table_args__ = (not_negative("millionths"), guarded(prefix=None))
    id: Mapped[str] = mapped_column(primary_key=True)
    currency: Mapped[str]
    day: Mapped[str]
    millionths: Mapped[int]
