"""Looking up stays and what surrounds them: properties, rooms, plans, partners, public prices."""

from sqlalchemy import Select, bindparam, func, select

from tb_envs.authoring import Date, Db, Identifier, Json, Toolset, Words, require
from tb_envs.parts.compare import spellings
from tb_envs.parts.views import Search, core_table, equal, listed, table_viewer, viewer
from tb_hotel.models import Booking, Guest, InventoryNight, Partner, Property, RatePlan, Room, RoomBlock, RoomType

from ._inventory import between, night_count
from ._kinds import BookingStatus, PageNumber
from ._stays import booking_view, find_stay

stays = Toolset("stays", "Bookings, properties, rooms, plans and prices.")

BOOKINGS, PROPERTIES = core_table(Booking), core_table(Property)
BLOCKS, INVENTORY = core_table(RoomBlock), core_table(InventoryNight)

_BRIEF = [
    "id",
    "reservation_code",
    "guest_id",
    "stay_name",
    "property_id",
    "room_type_id",
    "rate_plan_id",
    "arrival",
    "departure",
    "status",
]
_BOOKINGS = Search(
    source=[BOOKINGS.c[name] for name in _BRIEF],
    view=viewer("booking", _BRIEF),
    order=[BOOKINGS.c.id],
    filters={
        **equal(BOOKINGS, "guest_id", "reservation_code", "property_id", "status"),
        "arrival_from": BOOKINGS.c.arrival >= bindparam("arrival_from"),
        "arrival_to": BOOKINGS.c.arrival <= bindparam("arrival_to"),
    },
    owners={"guest_id": Guest, "property_id": Property},
)
_IN_CITY = (
    select(PROPERTIES)
    .where(func.lower(PROPERTIES.c.city).in_(bindparam("city", expanding=True)))
    .order_by(PROPERTIES.c.id)
)
_BLOCKS = (
    select(BLOCKS)
    .where(
        BLOCKS.c.room_id == bindparam("room_id"),
        BLOCKS.c.last_night >= bindparam("from_night"),
        BLOCKS.c.first_night <= bindparam("to_night"),
    )
    .order_by(BLOCKS.c.id)
)
_PRICES: Select = (
    select(INVENTORY.c.night, INVENTORY.c.public_price_cents, INVENTORY.c.currency, INVENTORY.c.free)
    .where(between("first_night", "after_last"))
    .order_by(INVENTORY.c.id)
)
_property_view = table_viewer("property", Property)
_room_type_view = table_viewer("room_type", RoomType)
_plan_view = table_viewer("rate_plan", RatePlan)
_block_view = table_viewer("room_block", RoomBlock)
_partner_view = table_viewer("partner", Partner)
_price_view = viewer("night", ["night", "public_price_cents", "currency", "free"])


@stays.read
def get_property(db: Db, property_id: Identifier) -> Json:
    """One property: name, city, country, phone.

    Args:
        property_id: the three-letter code, e.g. `LIS`.
    """
    return _property_view(db.one(Property, property_id))


@stays.read
def list_properties(db: Db, city: Words | None = None) -> Json:
    """All properties of the chain, or those of one city.

    Args:
        city: the whole name of a city; capitals do not matter.
    """
    rows = db.query(_IN_CITY, {"city": spellings(city)}) if city else db.rows(Property)
    return listed(rows, _property_view)


@stays.read
def list_room_types(db: Db) -> Json:
    """The room categories that every property sells, the simplest first; a higher rank is a better room."""
    return listed(db.rows(RoomType, order_by=("rank", "id")), _room_type_view)


@stays.read
def get_rate_plan(db: Db, rate_plan_id: Identifier) -> Json:
    """One rate plan: name, kind, discount on the public price.

    Args:
        rate_plan_id: the plan's code, e.g. `FLEX`.
    """
    return _plan_view(db.one(RatePlan, rate_plan_id))


@stays.read
def search_bookings(
    db: Db,
    guest_id: Identifier | None = None,
    reservation_code: Identifier | None = None,
    property_id: Identifier | None = None,
    status: BookingStatus | None = None,
    arrival_from: Date | None = None,
    arrival_to: Date | None = None,
    page: PageNumber = 1,
) -> Json:
    """Find bookings that match all the given values. Give at least a guest, a reservation code or a property.

    Args:
        guest_id: bookings of this guest, e.g. `GS-10231`.
        reservation_code: bookings reserved together under this code.
        property_id: bookings at this property, e.g. `LIS`.
        status: only bookings in this state.
        arrival_from: arriving on this day or later.
        arrival_to: arriving on this day or earlier.
        page: which page of 5 bookings, from 1.
    """
    require(
        guest_id or reservation_code or property_id, "Give at least one of guest_id, reservation_code, property_id."
    )
    return _BOOKINGS.page(
        db,
        page,
        guest_id=guest_id,
        reservation_code=reservation_code,
        property_id=property_id,
        status=status,
        arrival_from=arrival_from,
        arrival_to=arrival_to,
    )


@stays.read
def get_booking(db: Db, booking_id: Identifier) -> Json:
    """One booking with the kind of its plan, the tier of its guest, the ids of its folios, and its nights with prices.

    Args:
        booking_id: the booking, e.g. `BK-20418`.
    """
    return booking_view(db, find_stay(db, booking_id))


@stays.read
def list_room_blocks(db: Db, room_id: Identifier, from_night: Date | None = None, to_night: Date | None = None) -> Json:
    """Faults and closures recorded for a room: kind, severity, first and last night (both included), description.

    Args:
        room_id: the room, e.g. `LIS-204`.
        from_night: only blocks that touch this night or a later one.
        to_night: only blocks that touch this night or an earlier one.
    """
    nights = {"from_night": from_night or "0000-00-00", "to_night": to_night or "9999-99-99"}
    rows = db.query(_BLOCKS, {"room_id": room_id, **nights})
    if not rows:
        db.one(Room, room_id)
    return listed(rows, _block_view)


@stays.read
def get_public_prices(
    db: Db, property_id: Identifier, room_type_id: Identifier, first_night: Date, last_night: Date
) -> Json:
    """The public price and the number of free rooms of a category, night by night. At most 31 nights.

    Args:
        property_id: the property, e.g. `LIS`.
        room_type_id: the category, e.g. `DLX`.
        first_night: the first night shown.
        last_night: the last night shown.
    """
    count = night_count(first_night, last_night) + 1
    require(1 <= count <= 31, f"`last_night`: from {first_night} to {last_night} is not 1 to 31 nights.")
    # "~" sorts behind every digit: the last night itself is inside.
    nights = {"first_night": first_night, "after_last": f"{last_night}~"}
    rows = db.query(_PRICES, {"property_id": property_id, "room_type_id": room_type_id, **nights})
    if not rows:
        db.one(Property, property_id)
        db.one(RoomType, room_type_id)
    return listed(rows, _price_view)


@stays.read
def get_partner(db: Db, partner_id: Identifier) -> Json:
    """An online partner: name, who collects the money for the room, contact e-mail.

    Args:
        partner_id: the partner, as in the booking.
    """
    return _partner_view(db.one(Partner, partner_id))
