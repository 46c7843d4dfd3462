"""What the company owns and whom it deals with: houses, rooms, prices, companies, partners, blocked rooms."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from tb_envs.authoring.models import derived, free, guarded
from tb_envs.parts.columns import not_negative, one_of
from tb_hotel.models.base import Base, in_usd
from tb_hotel.models.kinds import BlockKind, Collects, Coverage, PlanKind, RoomStatus, Severity


class Property(Base):
    """A hotel of the chain; its id is a three-letter code such as ``LIS``."""

    __tablename__ = "properties"
    __table_args__ = (guarded(prefix=None),)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    country: Mapped[str]
    phone: Mapped[str]


class RoomType(Base):
    """A category sold in every property: ``STD``, ``SUP``, ``DLX``, ``STE``; a higher rank is a better room."""

    __tablename__ = "room_types"
    __table_args__ = (not_negative("capacity"), guarded(prefix=None))
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    rank: Mapped[int]
    capacity: Mapped[int]


class Room(Base):
    """A physical room, e.g. ``LIS-204``."""

    __tablename__ = "rooms"
    __table_args__ = (one_of("status", RoomStatus), guarded(prefix=None))
    id: Mapped[str] = mapped_column(primary_key=True)
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    floor: Mapped[int]
    status: Mapped[str]


class RatePlan(Base):
    """``FLEX``, ``SEMI``, ``NRF``, ``CORP``, ``GRP``: a kind and its discount on the daily public price."""

    __tablename__ = "rate_plans"
    __table_args__ = (
        one_of("kind", PlanKind),
        CheckConstraint("discount_percent BETWEEN 0 AND 100", name="discount_is_percent"),
        guarded(prefix=None),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]
    discount_percent: Mapped[int]


class InventoryNight(Base):
    """One property, one room type, one night, e.g. ``LIS.DLX.2031-05-20``, with the public price of a room."""

    __tablename__ = "inventory_nights"
    __table_args__ = (
        CheckConstraint("rooms = free + sold + blocked", name="rooms_add_up"),
        not_negative("free"),
        not_negative("sold"),
        not_negative("blocked"),
        not_negative("public_price_cents"),
        in_usd(),
        derived(prefix=None),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    night: Mapped[str]
    rooms: Mapped[int]
    free: Mapped[int]
    sold: Mapped[int]
    blocked: Mapped[int]
    public_price_cents: Mapped[int]
    currency: Mapped[str]


class CorporateAccount(Base):
    """A company with a negotiated discount on the public price, and what it pays for its travellers."""

    __tablename__ = "corporate_accounts"
    __table_args__ = (
        one_of("covers", Coverage),
        CheckConstraint("discount_percent BETWEEN 0 AND 100", name="discount_is_percent"),
        CheckConstraint("valid_from <= valid_until", name="validity_in_order"),
        guarded(prefix="CO"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    discount_percent: Mapped[int]
    covers: Mapped[str]
    valid_from: Mapped[str]
    valid_until: Mapped[str]
    contact_email: Mapped[str]


class Partner(Base):
    """An online travel agency that sells our rooms."""

    __tablename__ = "partners"
    __table_args__ = (one_of("collects", Collects), guarded(prefix="PT"))
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    collects: Mapped[str]
    contact_email: Mapped[str]


class RoomBlock(Base):
    """A room out of order, or with a known fault, on the nights ``first_night`` to ``last_night``, both included."""

    __tablename__ = "room_blocks"
    __table_args__ = (
        one_of("kind", BlockKind),
        one_of("severity", Severity),
        CheckConstraint("first_night <= last_night", name="nights_in_order"),
        guarded(prefix="RB"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    room_id: Mapped[str] = mapped_column(ForeignKey("rooms.id"), index=True)
    kind: Mapped[str]
    severity: Mapped[str]
    first_night: Mapped[str]
    last_night: Mapped[str]
    description: Mapped[str] = free()
