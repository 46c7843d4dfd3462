"""Tools of other desks that no task needs, as a real console has them. The knob ``distractors`` adds the first."""

from typing import Annotated, Literal

from sqlalchemy import Select, bindparam, func, select

from tb_envs.authoring import Date, Db, EnumSpelling, Identifier, Json, Text, Toolset, require
from tb_envs.parts.views import Search, core_table, equal, listed, table_viewer, viewer
from tb_hotel.models import (
    Approval,
    Booking,
    CorporateAccount,
    GroupBlock,
    Guest,
    InventoryNight,
    Partner,
    Property,
    RatePlan,
    Room,
    RoomBlock,
)
from tb_hotel.models import Severity as KnownSeverity

from ._inventory import between
from ._kinds import PageNumber

spare = Toolset("spare", "What other desks work with.")

ROOMS, BOOKINGS, BLOCKS, INVENTORY = (core_table(model) for model in (Room, Booking, GroupBlock, InventoryNight))
APPROVALS, COMPANIES = core_table(Approval), core_table(CorporateAccount)
Cleaned = Annotated[Literal["clean", "dirty"], EnumSpelling]
Severity = Annotated[KnownSeverity, EnumSpelling]

_room_view = table_viewer("room", Room)
_fault_view = table_viewer("room_block", RoomBlock)
_BRIEF = ["id", "guest_id", "stay_name", "room_id", "arrival", "departure", "status"]


def _of_day(column: str) -> Search:
    return Search(
        source=[BOOKINGS.c[name] for name in _BRIEF],
        view=viewer("booking", _BRIEF),
        order=[BOOKINGS.c.id],
        filters={**equal(BOOKINGS, "property_id"), "day": BOOKINGS.c[column] == bindparam("day")},
        owners={"property_id": Property},
    )


_ARRIVALS, _DEPARTURES = _of_day("arrival"), _of_day("departure")
_ROOMS = Search(
    source=ROOMS,
    view=_room_view,
    order=[ROOMS.c.id],
    filters=equal(ROOMS, "property_id", "room_type_id", "status"),
    owners={"property_id": Property},
)
_GROUPS = Search(
    source=BLOCKS,
    view=table_viewer("group_block", GroupBlock),
    order=[BLOCKS.c.id],
    filters=equal(BLOCKS, "property_id"),
    owners={"property_id": Property},
)
_COMPANIES = Search(
    source=COMPANIES, view=table_viewer("corporate_account", CorporateAccount), order=[COMPANIES.c.id], filters={}
)
_WAITING = Search(
    source=APPROVALS,
    view=table_viewer("approval", Approval),
    order=[APPROVALS.c.id],
    filters=equal(APPROVALS, "decision"),
)
_IN_HOUSE: Select = (
    select(BOOKINGS.c.room_type_id, func.count().label("guests"), func.sum(BOOKINGS.c.adults).label("adults"))
    .where(BOOKINGS.c.property_id == bindparam("property_id"), BOOKINGS.c.status == "in_house")
    .group_by(BOOKINGS.c.room_type_id)
    .order_by(BOOKINGS.c.room_type_id)
)
_OCCUPANCY: Select = (
    select(INVENTORY.c.night, INVENTORY.c.rooms, INVENTORY.c.free, INVENTORY.c.sold, INVENTORY.c.blocked)
    .where(between("first_night", "after_last"))
    .order_by(INVENTORY.c.id)
)


@spare.read
def list_arrivals(db: Db, property_id: Identifier, day: Date, page: PageNumber = 1) -> Json:
    """Bookings that arrive at a property on a day, whatever their state.

    Args:
        property_id: the property, e.g. `LIS`.
        day: the arrival date.
        page: which page of 5 bookings, from 1.
    """
    return _ARRIVALS.page(db, page, property_id=property_id, day=day)


@spare.read
def list_departures(db: Db, property_id: Identifier, day: Date, page: PageNumber = 1) -> Json:
    """Bookings that leave a property on a day, whatever their state.

    Args:
        property_id: the property, e.g. `LIS`.
        day: the departure date.
        page: which page of 5 bookings, from 1.
    """
    return _DEPARTURES.page(db, page, property_id=property_id, day=day)


@spare.read
def get_room(db: Db, room_id: Identifier) -> Json:
    """One room: property, category, floor, whether it is clean.

    Args:
        room_id: the room, e.g. `LIS-204`.
    """
    return _room_view(db.one(Room, room_id))


@spare.write
def set_room_status(db: Db, room_id: Identifier, status: Cleaned) -> Json:
    """Tell that a room was cleaned, or needs cleaning.

    Args:
        room_id: the room, e.g. `LIS-204`.
        status: its state from now on.
    """
    require(db.one(Room, room_id).status != "out_of_order", f"Room {room_id} is out of order.")
    return _room_view(db.update(Room, room_id, status=status))


@spare.read
def list_rate_plans(db: Db) -> Json:
    """All rate plans with their kinds and discounts on the public price."""
    return listed(db.rows(RatePlan), table_viewer("rate_plan", RatePlan))


@spare.read
def list_partners(db: Db) -> Json:
    """All online partners."""
    return listed(db.rows(Partner), table_viewer("partner", Partner))


@spare.read
def list_rooms(
    db: Db,
    property_id: Identifier,
    room_type_id: Identifier | None = None,
    status: Cleaned | None = None,
    page: PageNumber = 1,
) -> Json:
    """The rooms of a property.

    Args:
        property_id: the property, e.g. `LIS`.
        room_type_id: only rooms of this category, e.g. `DLX`.
        status: only rooms in this state.
        page: which page of 5 rooms, from 1.
    """
    return _ROOMS.page(db, page, property_id=property_id, room_type_id=room_type_id, status=status)


@spare.write
def set_authorised_contact(db: Db, guest_id: Identifier, name: Text) -> Json:
    """Record who may act for a guest; takes the place of the person recorded before.

    Args:
        guest_id: the guest, e.g. `GS-10231`.
        name: first name and surname of that person.
    """
    require(name.strip(), "`name` must not be blank.")
    guest = db.update(Guest, db.one(Guest, guest_id).id, authorised_contact=name.strip())
    return {"guest_id": guest.id, "authorised_contact": guest.authorised_contact}


@spare.read
def count_in_house(db: Db, property_id: Identifier) -> Json:
    """How many stays and adults are in house at a property now, by category.

    Args:
        property_id: the property, e.g. `LIS`.
    """
    rows = db.query(_IN_HOUSE, {"property_id": db.one(Property, property_id).id})
    return listed(rows, viewer("", ["room_type_id", "stays", "adults"]))


@spare.read
def get_occupancy(
    db: Db, property_id: Identifier, room_type_id: Identifier, first_night: Date, last_night: Date
) -> Json:
    """Rooms in all, free, sold and blocked, night by night.

    Args:
        property_id: the property, e.g. `LIS`.
        room_type_id: the category, e.g. `DLX`.
        first_night: the first night shown.
        last_night: the last night shown.
    """
    require(first_night <= last_night, f"`last_night`: {last_night} is before {first_night}.")
    nights = {"first_night": first_night, "after_last": f"{last_night}~"}
    rows = db.query(_OCCUPANCY, {"property_id": property_id, "room_type_id": room_type_id, **nights})
    return listed(rows[:31], viewer("", ["night", "rooms", "free", "sold", "blocked"]))


@spare.read
def list_group_blocks(db: Db, property_id: Identifier, page: PageNumber = 1) -> Json:
    """The group blocks at a property.

    Args:
        property_id: the property, e.g. `LIS`.
        page: which page of 5 blocks, from 1.
    """
    return _GROUPS.page(db, page, property_id=property_id)


@spare.read
def list_corporate_accounts(db: Db, page: PageNumber = 1) -> Json:
    """All companies with a negotiated rate.

    Args:
        page: which page of 5 companies, from 1.
    """
    return _COMPANIES.page(db, page)


@spare.read
def list_waiting_approvals(db: Db, page: PageNumber = 1) -> Json:
    """Requests that the duty manager has not answered yet, of all guests.

    Args:
        page: which page of 5 requests, from 1.
    """
    return _WAITING.page(db, page, decision="pending")


@spare.write
def report_fault(
    db: Db, room_id: Identifier, severity: Severity, first_night: Date, last_night: Date, description: Text = ""
) -> Json:
    """Report a fault of a room to maintenance, for some nights.

    Args:
        room_id: the room, e.g. `LIS-204`.
        severity: how bad it is.
        first_night: the first night it concerns.
        last_night: the last night it concerns.
        description: what is wrong.
    """
    require(first_night <= last_night, f"`last_night`: {last_night} is before {first_night}.")
    row = db.insert(
        RoomBlock,
        room_id=db.one(Room, room_id).id,
        kind="maintenance",
        severity=severity,
        first_night=first_night,
        last_night=last_night,
        description=description,
    )
    return _fault_view(row)


@spare.write
def set_adults(db: Db, booking_id: Identifier, adults: PageNumber) -> Json:
    """Set how many adults stay on a confirmed booking. Changes no price.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
        adults: how many.
    """
    booking = db.one(Booking, booking_id)
    require(booking.status == "confirmed", f"Booking {booking_id} is {booking.status}; only a confirmed one changes.")
    changed = db.update(Booking, booking_id, adults=adults)
    return {"booking_id": changed.id, "adults": changed.adults}
