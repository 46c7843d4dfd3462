"""Changing stays. Each tool keeps nights, inventory, total and pending loyalty entries right; none moves money."""

from tb_envs.authoring import Date, Db, Identifier, Json, Toolset, Words, require
from tb_hotel.models import Property, RoomType

from ._inventory import Nights, give_back, on_sale, refuse_full, require_free, sell
from ._kinds import CancelReason, CheckOutHour
from ._stays import (
    book_nights,
    booked_nights,
    change_booking,
    find_stay,
    new_dates,
    release_nights,
    release_stay,
    require_early,
    require_status,
    shorten_pending,
)

changes = Toolset("changes", "Changes of stays.")


@changes.write
def cancel_booking(db: Db, booking_id: Identifier, reason: CancelReason) -> Json:
    """Cancel a confirmed booking: its nights are released and its pending loyalty entries reversed. Moves no money.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        reason: why it is cancelled.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed")
    release_stay(db, stay)
    return change_booking(db, stay, status="cancelled", cancel_reason=reason)


@changes.write
def change_dates(db: Db, booking_id: Identifier, arrival: Date, departure: Date) -> Json:
    """Move a confirmed booking to other dates, at the prices that `quote_date_change` shows. Moves no money.

    The total and the number of changes follow, and the assignment of a room is cleared.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        arrival: the new arrival date.
        departure: the new departure date.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed")
    moved = new_dates(db, stay, arrival, departure)
    refuse_full(moved.full)
    before, after = (stay.arrival, stay.departure), (arrival, departure)
    release_nights(db, stay, Nights(*before, *after))
    sell(db, stay.property_id, stay.room_type_id, Nights(*after, *before))
    book_nights(db, stay, moved)
    return change_booking(
        db,
        stay,
        arrival=arrival,
        departure=departure,
        total_cents=sum(moved.prices),
        change_count=stay.change_count + 1,
        room_id=None,
    )


@changes.write
def change_room_type(db: Db, booking_id: Identifier, room_type_id: Identifier) -> Json:
    """Move a confirmed booking to another room category on the same dates. Moves no money.

    The prices of its nights stay, and the assignment of a room is cleared.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        room_type_id: the new category, e.g. `DLX`.
    """
    stay, new = find_stay(db, booking_id), db.one(RoomType, room_type_id)
    require_status(stay, "confirmed")
    require(new.id != stay.room_type_id, f"`room_type_id`: booking {booking_id} is of category {new.id} already.")
    require_free(on_sale(db, stay.property_id, new.id, stay.arrival, stay.departure))
    nights = Nights(stay.arrival, stay.departure)
    give_back(db, stay.property_id, stay.room_type_id, nights)
    sell(db, stay.property_id, new.id, nights)
    return change_booking(db, stay, room_type_id=new.id, room_id=None)


@changes.write
def shorten_stay(db: Db, booking_id: Identifier, departure: Date) -> Json:
    """Let a guest in house leave earlier: the unused nights are released, the total is lowered. Moves no money.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        departure: the new departure date, between arrival and the booked departure.
    """
    stay = find_stay(db, booking_id)
    require_early(stay, departure)
    unused = [row for row in booked_nights(db, booking_id) if row.night >= departure]
    release_nights(db, stay, Nights(departure, stay.departure))
    shorten_pending(db, stay, len(unused))
    total = stay.total_cents - sum(row.price_cents for row in unused)
    return change_booking(db, stay, departure=departure, total_cents=total)


@changes.write
def set_late_checkout(db: Db, booking_id: Identifier, hour: CheckOutHour) -> Json:
    """Set the hour until which the guest of a confirmed booking or in house may stay; an earlier one is overwritten.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        hour: the full hour of departure, 12 to 23, e.g. 14.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed", "in_house")
    return change_booking(db, stay, late_checkout_hour=hour)


@changes.write
def change_stay_name(db: Db, booking_id: Identifier, new_name: Words) -> Json:
    """Write another name on a confirmed booking.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        new_name: the whole new name, first name and surname.
    """
    stay = find_stay(db, booking_id)
    require_status(stay, "confirmed")
    name = " ".join(new_name.split())
    require(name, "`new_name` is blank; give first name and surname.")
    return change_booking(db, stay, stay_name=name)


@changes.write
def void_duplicate_booking(db: Db, booking_id: Identifier, keep_booking_id: Identifier) -> Json:
    """Void one of two confirmed bookings of one guest with the same property and arrival. Moves no money.

    Its nights are released and its pending loyalty entries reversed, as when a booking is cancelled.

    Args:
        booking_id: the booking given up, e.g. `BK-20418`.
        keep_booking_id: the booking that stays.
    """
    stay, kept = find_stay(db, booking_id), find_stay(db, keep_booking_id)
    require(stay.id != kept.id, "`keep_booking_id` is the booking itself; name the other one, which stays.")
    require_status(stay, "confirmed")
    require_status(kept, "confirmed")
    for name in ("guest_id", "property_id", "arrival"):
        one, other = getattr(stay, name), getattr(kept, name)
        require(one == other, f"The bookings differ in `{name}`: {one} and {other}; they are no duplicates.")
    release_stay(db, stay)
    return change_booking(db, stay, status="voided", duplicate_of=kept.id)


@changes.write
def relocate_booking(db: Db, booking_id: Identifier, property_id: Identifier, room_type_id: Identifier) -> Json:
    """Move the guest of a confirmed booking to another property in the same city. Moves no money, grants no points.

    The nights here are released, and a room there is taken.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        property_id: the property the guest moves to, e.g. `LIS`.
        room_type_id: the category of the room there, e.g. `DLX`.
    """
    stay, sister, new = find_stay(db, booking_id), db.one(Property, property_id), db.one(RoomType, room_type_id)
    require_status(stay, "confirmed")
    home = db.one(Property, stay.property_id)
    require(sister.id != home.id, f"`property_id`: booking {booking_id} is at {home.id} already.")
    require(sister.city == home.city, f"`property_id`: {sister.id} is in {sister.city}, the booking in {home.city}.")
    require_free(on_sale(db, sister.id, new.id, stay.arrival, stay.departure))
    release_stay(db, stay, reverse_loyalty=False)
    sell(db, sister.id, new.id, Nights(stay.arrival, stay.departure))
    return change_booking(db, stay, status="relocated", relocated_to=sister.id)
