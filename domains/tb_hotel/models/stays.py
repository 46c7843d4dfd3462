"""Bookings, their nights, and rooms held for groups."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_envs.authoring.models import derived, guarded
from tb_envs.parts.columns import not_negative, one_of
from tb_hotel.models.base import Base, in_usd
from tb_hotel.models.kinds import BookingStatus, CancelReason, Channel, GroupStatus, NightStatus


class GroupBlock(Base):
    """Rooms held for a group: contracted = picked up + released + still held, on every night of the block."""

    __tablename__ = "group_blocks"
    __table_args__ = (
        one_of("status", GroupStatus),
        CheckConstraint("contracted = picked_up + released + held", name="rooms_add_up"),
        CheckConstraint("arrival < departure", name="dates_in_order"),
        not_negative("picked_up"),
        not_negative("released"),
        not_negative("held"),
        not_negative("room_price_cents"),
        in_usd(),
        guarded(prefix="GB"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    organiser_id: Mapped[str] = mapped_column(ForeignKey("guests.id"))
    arrival: Mapped[str]
    departure: Mapped[str]
    contracted: Mapped[int]
    picked_up: Mapped[int]
    released: Mapped[int]
    held: Mapped[int]
    room_price_cents: Mapped[int]
    currency: Mapped[str]
    cutoff_date: Mapped[str]
    status: Mapped[str]


class Booking(Base):
    """One room for one stay. Rooms reserved together share a reservation code."""

    __tablename__ = "bookings"
    __table_args__ = (
        one_of("status", BookingStatus),
        one_of("channel", Channel),
        one_of("cancel_reason", CancelReason),
        CheckConstraint("arrival < departure", name="dates_in_order"),
        CheckConstraint("late_checkout_hour BETWEEN 12 AND 23", name="late_checkout_is_hour"),
        CheckConstraint("(channel = 'ota') = (partner_id IS NOT NULL)", name="ota_has_partner"),
        not_negative("adults"),
        not_negative("pets"),
        not_negative("change_count"),
        not_negative("total_cents"),
        in_usd(),
        guarded(prefix="BK"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    reservation_code: Mapped[str] = mapped_column(index=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    stay_name: Mapped[str]
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    room_id: Mapped[str | None] = mapped_column(ForeignKey("rooms.id"))
    rate_plan_id: Mapped[str] = mapped_column(ForeignKey("rate_plans.id"))
    channel: Mapped[str]
    partner_id: Mapped[str | None] = mapped_column(ForeignKey("partners.id"))
    corporate_account_id: Mapped[str | None] = mapped_column(ForeignKey("corporate_accounts.id"))
    group_block_id: Mapped[str | None] = mapped_column(ForeignKey("group_blocks.id"))
    arrival: Mapped[str]
    departure: Mapped[str]
    adults: Mapped[int]
    pets: Mapped[int]
    status: Mapped[str]
    cancel_reason: Mapped[str | None]
    duplicate_of: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"))
    relocated_to: Mapped[str | None] = mapped_column(ForeignKey("properties.id"))
    change_count: Mapped[int]
    late_checkout_hour: Mapped[int | None]
    total_cents: Mapped[int]
    currency: Mapped[str]
    booked_at: Mapped[str]


class BookingNight(Base):
    """One night of a booking at the price sold, e.g. ``BK-20418.2031-05-20``."""

    __tablename__ = "booking_nights"
    __table_args__ = (
        one_of("status", NightStatus),
        not_negative("price_cents"),
        in_usd(),
        derived(prefix=None),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"), index=True)
    night: Mapped[str]
    price_cents: Mapped[int]
    currency: Mapped[str]
    status: Mapped[str]
