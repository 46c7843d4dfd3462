"""What a change of a stay would mean: the figures that the policy's rules use, never the rule's own result.

A quote writes nothing and binds nobody.
"""

from sqlalchemy import Integer, Select, bindparam, func, select

from tb_envs.authoring import Date, Db, Identifier, Json, Toolset, Words, parse_time, show_money
from tb_envs.parts.compare import letters_apart
from tb_envs.parts.views import core_table
from tb_envs.store.db import Found
from tb_hotel.models import Booking, InventoryNight, Property, RoomBlock, RoomType

from ._inventory import between, night_count, on_sale
from ._stays import booked_nights, find_paid_stay, find_stay, new_dates, notice_minutes, require_early, require_status

quotes = Toolset("quotes", "Quotes for changes of stays.")

BOOKINGS, BLOCKS, TYPES = core_table(Booking), core_table(RoomBlock), core_table(RoomType)
INVENTORY, PROPERTIES = core_table(InventoryNight), core_table(Property)

_NEXT_IN_ROOM = (
    select(BOOKINGS.c.id)
    .where(
        BOOKINGS.c.room_id == bindparam("room_id"),
        BOOKINGS.c.arrival == bindparam("departure"),
        BOOKINGS.c.status == "confirmed",
        BOOKINGS.c.id != bindparam("booking_id"),
    )
    .limit(1)
)
_NIGHTS = (INVENTORY.c.night >= bindparam("arrival"), INVENTORY.c.night < bindparam("departure"))
_HERE: Select = select(
    select(func.count())
    .select_from(BLOCKS)
    .where(
        BLOCKS.c.room_id == bindparam("room_id"),
        BLOCKS.c.severity == "unusable",
        BLOCKS.c.first_night < bindparam("departure"),
        BLOCKS.c.last_night >= bindparam("arrival"),
    )
    .scalar_subquery()
    .label("unusable_blocks"),
    select(func.coalesce(func.min(INVENTORY.c.free), 0))
    .where(between("arrival", "departure"))
    .scalar_subquery()
    .label("free_same_type"),
)
_own_city = select(PROPERTIES.c.city).where(PROPERTIES.c.id == bindparam("property_id")).scalar_subquery()
_own_rank = select(TYPES.c.rank).where(TYPES.c.id == bindparam("room_type_id")).scalar_subquery()
_others = PROPERTIES.alias("others")
_SISTER: Select = (
    select(INVENTORY.c.property_id, INVENTORY.c.room_type_id)
    .where(
        INVENTORY.c.property_id.in_(
            select(_others.c.id).where(_others.c.city == _own_city, _others.c.id != bindparam("property_id"))
        ),
        INVENTORY.c.room_type_id.in_(select(TYPES.c.id).where(TYPES.c.rank >= _own_rank)),
        *_NIGHTS,
        INVENTORY.c.free > 0,
    )
    .group_by(INVENTORY.c.property_id, INVENTORY.c.room_type_id)
    .having(func.count() == bindparam("nights", type_=Integer))
    .order_by(
        select(TYPES.c.rank).where(TYPES.c.id == INVENTORY.c.room_type_id).correlate(INVENTORY).scalar_subquery(),
        INVENTORY.c.property_id,
    )
    .limit(1)
)


def _quote(db: Db, stay: Found, **figures: object) -> Json:
    """What every quote says of the booking, and the figures of this one."""
    return {
        "booking_id": stay.id,
        "plan_kind": stay.plan_kind,
        "tier": stay.tier,
        "notice_minutes": notice_minutes(db, stay),
        **figures,
    }


@quotes.read
def quote_cancellation(db: Db, booking_id: Identifier) -> Json:
    """The figures that decide on cancelling a confirmed booking.

    `notice_minutes` runs from now to 15:00 on the arrival date and is negative when that is past; `age_minutes` is the
    time since the booking was made; `paid` is captured less refunded on all folios of the booking.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
    """
    stay = find_paid_stay(db, booking_id)
    require_status(stay, "confirmed")
    return _quote(
        db,
        stay,
        age_minutes=-int((parse_time(stay.booked_at) - db.now).total_seconds() // 60),
        total=show_money(stay.total_cents),
        first_night=show_money(stay.first_night_cents),
        paid=show_money(stay.paid_cents),
        currency=stay.currency,
    )


@quotes.read
def quote_date_change(db: Db, booking_id: Identifier, arrival: Date, departure: Date) -> Json:
    """What a confirmed booking would cost on other dates, at today's prices less the discount of its plan or company.

    `available` says whether a room of its category is free; `difference` is the new total less the old one;
    `change_count` is how often the dates were changed before.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        arrival: the new arrival date.
        departure: the new departure date.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed")
    moved = new_dates(db, stay, arrival, departure)
    total = sum(moved.prices)
    return _quote(
        db,
        stay,
        change_count=stay.change_count,
        available=not moved.full,
        nights=[
            {"night": night, "price": show_money(price)}
            for night, price in zip(moved.nights, moved.prices, strict=True)
        ],
        new_total=show_money(total),
        old_total=show_money(stay.total_cents),
        difference=show_money(total - stay.total_cents),
        currency=stay.currency,
    )


@quotes.read
def quote_room_change(db: Db, booking_id: Identifier, room_type_id: Identifier) -> Json:
    """What another room category would cost a confirmed booking on the same dates.

    `difference` is the sum of the differences in public price over all nights, never below zero and before any
    discount; a higher rank is a better room.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        room_type_id: the category wished for, e.g. `DLX`.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed")
    types = {row.id: row for row in db.rows(RoomType)}
    old, new = types[stay.room_type_id], types.get(room_type_id) or db.one(RoomType, room_type_id)
    before = on_sale(db, stay.property_id, old.id, stay.arrival, stay.departure)
    after = on_sale(db, stay.property_id, new.id, stay.arrival, stay.departure)
    difference = sum(row.public_price_cents for row in after) - sum(row.public_price_cents for row in before)
    return _quote(
        db,
        stay,
        from_type=old.id,
        to_type=new.id,
        from_rank=old.rank,
        to_rank=new.rank,
        available=all(row.free > 0 for row in after),
        nights=len(after),
        difference=show_money(max(difference, 0)),
        currency=stay.currency,
    )


@quotes.read
def quote_early_departure(db: Db, booking_id: Identifier, departure: Date) -> Json:
    """The nights that a guest in house would not use when leaving earlier, in order, with the prices sold.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        departure: the new departure date, between arrival and the booked departure.
    """
    stay = find_paid_stay(db, booking_id)
    require_early(stay, departure)
    unused = [row for row in booked_nights(db, booking_id) if row.night >= departure]
    return _quote(
        db,
        stay,
        booked_departure=stay.departure,
        unused=[{"night": row.night, "price": show_money(row.price_cents)} for row in unused],
        paid=show_money(stay.paid_cents),
        currency=stay.currency,
    )


@quotes.read
def quote_late_checkout(db: Db, booking_id: Identifier) -> Json:
    """Whether the room is needed again on the day of departure, and the hour agreed so far, if any.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed", "in_house")
    values = {"room_id": stay.room_id, "departure": stay.departure, "booking_id": stay.id}
    return _quote(
        db,
        stay,
        room_id=stay.room_id,
        departure=stay.departure,
        late_checkout_hour=stay.late_checkout_hour,
        room_needed=stay.room_id is not None and bool(db.query(_NEXT_IN_ROOM, values)),
    )


@quotes.read
def quote_relocation(db: Db, booking_id: Identifier) -> Json:
    """Whether a confirmed booking's room can be used, and where in the same city the guest could stay instead.

    `free_same_type` is the smallest number of free rooms of the booked category here, over all nights. The sister
    property is the one in the same city with the booked category free on all nights, or else the next better one;
    null if there is none.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
    """
    stay = find_paid_stay(db, booking_id)
    require_status(stay, "confirmed")
    names = ("room_id", "property_id", "room_type_id", "arrival", "departure")
    values = {name: getattr(stay, name) for name in names}
    here = db.query(_HERE, values)[0]
    del values["room_id"]
    sisters = db.query(_SISTER, {**values, "nights": night_count(stay.arrival, stay.departure)})
    return _quote(
        db,
        stay,
        room_id=stay.room_id,
        room_unusable=here.unusable_blocks > 0,
        free_same_type=here.free_same_type,
        sister_property_id=sisters[0].property_id if sisters else None,
        sister_room_type_id=sisters[0].room_type_id if sisters else None,
        first_night=show_money(stay.first_night_cents),
        paid=show_money(stay.paid_cents),
        currency=stay.currency,
    )


@quotes.read
def compare_names(db: Db, booking_id: Identifier, new_name: Words) -> Json:
    """How many letters differ between the name on a booking and another one; capitals, accents and blanks do not count.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        new_name: the whole new name, first name and surname.
    """
    stay = find_stay(db, booking_id)
    letters = letters_apart(stay.stay_name, new_name)
    return _quote(db, stay, stay_name=stay.stay_name, new_name=new_name.strip(), letters=letters)
