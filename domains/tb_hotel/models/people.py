"""Guests, their memberships and what was credited to them."""

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from tb_envs.authoring.models import derived, free, guarded
from tb_envs.parts.columns import not_negative, one_of
from tb_hotel.models.base import Base
from tb_hotel.models.kinds import LoyaltyKind, LoyaltyStatus, Tier


class Guest(Base):
    """A person with a profile."""

    __tablename__ = "guests"
    __table_args__ = (guarded(prefix="GS"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    first_name: Mapped[str]
    surname: Mapped[str]
    email: Mapped[str]
    phone: Mapped[str]
    postcode: Mapped[str]
    birth_date: Mapped[str]
    city: Mapped[str]
    authorised_contact: Mapped[str | None]
    last_goodwill_on: Mapped[str | None]


class LoyaltyAccount(Base):
    """The Halden Circle membership of one guest; a guest without one is of tier ``standard``."""

    __tablename__ = "loyalty_accounts"
    __table_args__ = (
        UniqueConstraint("guest_id"),
        one_of("tier", Tier),
        not_negative("nights"),
        not_negative("points"),
        derived(prefix="LA"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"))
    tier: Mapped[str]
    joined_on: Mapped[str]
    nights: Mapped[int]
    points: Mapped[int]


class LoyaltyEntry(Base):
    """Nights and points written to an account, for a stay or as a correction."""

    __tablename__ = "loyalty_entries"
    __table_args__ = (
        one_of("kind", LoyaltyKind),
        one_of("status", LoyaltyStatus),
        not_negative("nights"),
        not_negative("points"),
        guarded(prefix="LE"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    loyalty_account_id: Mapped[str] = mapped_column(ForeignKey("loyalty_accounts.id"), index=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"), index=True)
    kind: Mapped[str]
    nights: Mapped[int]
    points: Mapped[int]
    status: Mapped[str]
    created_at: Mapped[str] = free()
