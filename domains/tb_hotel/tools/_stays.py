"""A booking with all that quotes and changes need beside it, how it looks to an agent, and how it gives up nights."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Integer, Select, bindparam, case, cast, func, select, update

from tb_envs.authoring import Db, Json, parse_time, require, show_money
from tb_envs.parts.views import core_table, table_viewer
from tb_envs.store.db import Found
from tb_hotel.models import (
    Booking,
    BookingNight,
    CorporateAccount,
    Folio,
    LoyaltyAccount,
    LoyaltyEntry,
    Payment,
    RatePlan,
    Refund,
)

from ._inventory import Nights, give_back, on_nights, on_sale

BOOKINGS, NIGHTS, PLANS = core_table(Booking), core_table(BookingNight), core_table(RatePlan)
ACCOUNTS, COMPANIES, ENTRIES = core_table(LoyaltyAccount), core_table(CorporateAccount), core_table(LoyaltyEntry)
FOLIOS, PAYMENTS, REFUNDS = core_table(Folio), core_table(Payment), core_table(Refund)

REFUNDED = (
    select(cast(func.coalesce(func.sum(REFUNDS.c.amount_cents), 0), Integer))
    .where(REFUNDS.c.payment_id == PAYMENTS.c.id)
    .correlate(PAYMENTS)
    .scalar_subquery()
)
"""What was returned of a payment so far."""

_STAY: Select = (
    select(
        BOOKINGS,
        PLANS.c.kind.label("plan_kind"),
        func.coalesce(ACCOUNTS.c.tier, "standard").label("tier"),
        case(
            (PLANS.c.kind == "corporate", func.coalesce(COMPANIES.c.discount_percent, PLANS.c.discount_percent)),
            else_=PLANS.c.discount_percent,
        ).label("discount_percent"),
    )
    .select_from(
        BOOKINGS.join(PLANS, PLANS.c.id == BOOKINGS.c.rate_plan_id)
        .outerjoin(ACCOUNTS, ACCOUNTS.c.guest_id == BOOKINGS.c.guest_id)
        .outerjoin(COMPANIES, COMPANIES.c.id == BOOKINGS.c.corporate_account_id)
    )
    .where(BOOKINGS.c.id == bindparam("booking_id"))
)
_PAID_STAY = _STAY.add_columns(
    select(func.coalesce(func.sum(PAYMENTS.c.amount_cents - REFUNDED), 0))
    .select_from(PAYMENTS.join(FOLIOS, FOLIOS.c.id == PAYMENTS.c.folio_id))
    .where(FOLIOS.c.booking_id == BOOKINGS.c.id, PAYMENTS.c.status == "captured")
    .correlate(BOOKINGS)
    .scalar_subquery()
    .label("paid_cents"),
    select(func.coalesce(func.min(NIGHTS.c.price_cents), 0))
    .where(NIGHTS.c.booking_id == BOOKINGS.c.id, NIGHTS.c.night == BOOKINGS.c.arrival)
    .correlate(BOOKINGS)
    .scalar_subquery()
    .label("first_night_cents"),
)
_FOLIO_IDS = select(FOLIOS.c.id).where(FOLIOS.c.booking_id == bindparam("booking_id")).order_by(FOLIOS.c.id)
_RELEASE = (
    update(NIGHTS).where(NIGHTS.c.booking_id == bindparam("of_booking"), *on_nights(NIGHTS)).values(status="released")
)
_REBOOK = (
    update(NIGHTS)
    .where(NIGHTS.c.id == bindparam("night_id"))
    .values(status="booked", price_cents=bindparam("price", type_=Integer))
)
_REVERSE = (
    update(ENTRIES)
    .where(ENTRIES.c.booking_id == bindparam("of_booking"), ENTRIES.c.status == "pending")
    .values(status="reversed")
)
_LOST = bindparam("lost", type_=Integer)
_SHORTEN_PENDING = (
    update(ENTRIES)
    .where(ENTRIES.c.booking_id == bindparam("of_booking"), ENTRIES.c.status == "pending", ENTRIES.c.kind == "stay")
    .values(nights=case((ENTRIES.c.nights > _LOST, ENTRIES.c.nights - _LOST), else_=0))
)

_view = table_viewer("booking", Booking)


class NewDates(NamedTuple):
    """A stay moved to other dates: its nights and their prices in order, and those on which no room is free."""

    nights: Sequence[str]
    prices: Sequence[int]
    full: list[str]


def find_stay(db: Db, booking_id: str) -> Found:
    """The booking, `plan_kind`, `tier`, and the discount on the public price that its plan or company has."""
    rows = db.query(_STAY, {"booking_id": booking_id})
    return rows[0] if rows else db.one(Booking, booking_id)


def find_paid_stay(db: Db, booking_id: str) -> Found:
    """The same, with `paid_cents` (captured less refunded, all folios) and `first_night_cents`."""
    rows = db.query(_PAID_STAY, {"booking_id": booking_id})
    return rows[0] if rows else db.one(Booking, booking_id)


def require_status(stay: Found, *statuses: str) -> None:
    """Refuse a booking that is in none of these states."""
    wanted = " or ".join(statuses)
    require(stay.status in statuses, f"Booking {stay.id} is {stay.status}; this needs a booking that is {wanted}.")


def require_early(stay: Found, departure: str) -> None:
    """Refuse an early departure of a guest who is not in house, or on a day outside the stay."""
    require_status(stay, "in_house")
    require(
        stay.arrival < departure < stay.departure,
        f"`departure`: {departure} is not between the arrival {stay.arrival} and the departure {stay.departure}.",
    )


def booking_view(db: Db, stay: Found) -> Json:
    """Every column of a booking, its plan's kind, its guest's tier, its folios and its nights."""
    return _shown(db, stay, stay)


def change_booking(db: Db, stay: Found, **columns: object) -> Json:
    """Change columns of a booking and show it."""
    return _shown(db, db.update(Booking, stay.id, **columns), stay)


def _shown(db: Db, booking: Found, stay: Found) -> Json:
    return {
        **_view(booking),
        "plan_kind": stay.plan_kind,
        "tier": stay.tier,
        "folio_ids": [row.id for row in db.query(_FOLIO_IDS, {"booking_id": booking.id})],
        "nights": [
            {"night": row.night, "price": show_money(row.price_cents), "status": row.status}
            for row in db.rows(BookingNight, booking_id=booking.id)
        ],
    }


def booked_nights(db: Db, booking_id: str) -> list[Found]:
    """The nights a booking still holds, in order: their ids end with the date."""
    return db.rows(BookingNight, booking_id=booking_id, status="booked")


def check_in(arrival: str) -> datetime:
    """When the rooms are ready on the arrival date."""
    return parse_time(f"{arrival}T15:00:00Z")


def notice_minutes(db: Db, stay: Found) -> int:
    """Full minutes from now to check-in, negative when it is past."""
    return int((check_in(stay.arrival) - db.now).total_seconds() // 60)


def less_discount(cents: int, discount_percent: int) -> int:
    """An amount less a percentage of it, rounded half up to the cent."""
    return (cents * (100 - discount_percent) + 50) // 100


def new_dates(db: Db, stay: Found, arrival: str, departure: str) -> NewDates:
    """What the same room costs on other dates at today's prices; nights that the booking holds are free to it."""
    rows = on_sale(db, stay.property_id, stay.room_type_id, arrival, departure)
    prices = [less_discount(row.public_price_cents, stay.discount_percent) for row in rows]
    full = [row.night for row in rows if row.free < 1 and not stay.arrival <= row.night < stay.departure]
    return NewDates([row.night for row in rows], prices, full)


def release_nights(db: Db, stay: Found, nights: Nights) -> None:
    """The booking gives up these nights, and their rooms return to sale."""
    db.write(_RELEASE, {"of_booking": stay.id, **nights._asdict()})
    give_back(db, stay.property_id, stay.room_type_id, nights)


def release_stay(db: Db, stay: Found, *, reverse_loyalty: bool = True) -> None:
    """The booking gives up all its nights; pending loyalty entries of a stay that does not take place are reversed."""
    release_nights(db, stay, Nights(stay.arrival, stay.departure))
    if reverse_loyalty:
        db.write(_REVERSE, {"of_booking": stay.id})


def shorten_pending(db: Db, stay: Found, nights: int) -> None:
    """The pending loyalty entry of the stay loses these nights."""
    db.write(_SHORTEN_PENDING, {"of_booking": stay.id, "lost": nights})


def book_nights(db: Db, stay: Found, moved: NewDates) -> None:
    """Write the nights of the new dates at their prices, beside released ones of earlier dates."""
    known = {row.night: row for row in db.rows(BookingNight, booking_id=stay.id)}
    again: list[Json] = []
    fresh: list[Json] = []
    for night, price in zip(moved.nights, moved.prices, strict=True):
        if night in known:
            again.append({"night_id": known[night].id, "price": price})
        else:
            row = {"id": f"{stay.id}.{night}", "booking_id": stay.id, "night": night, "price_cents": price}
            fresh.append({**row, "currency": stay.currency, "status": "booked"})
    for row in again:
        db.write(_REBOOK, row)
    for row in fresh:
        db.insert(BookingNight, **row)
