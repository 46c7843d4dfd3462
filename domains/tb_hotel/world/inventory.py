"""Builders of what is for sale: nights of the inventory, their prices, rooms and room blocks; and the clock.

A seeded night holds sold rooms beyond the bookings on record, so that a builder can always make one free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from tb_envs.authoring import DomainError, Record, World
from tb_hotel.models import BlockKind, Booking, BookingNight, InventoryNight, Room, RoomBlock, Severity
from tb_hotel.policy import CHECK_IN
from tb_hotel.world.company import CATEGORIES, CATEGORY_BY_ID, HOUSE_BY_ID, HOUSES

Row = dict[str, Any]
Base = Mapping[str, Mapping[str, Row]]

TAKING = ("confirmed", "in_house", "checked_out", "no_show")
"""States of a booking in which it takes a room of every night."""


def nights_of(first: str, count: int) -> list[str]:
    """`count` dates from `first` on."""
    start = date.fromisoformat(first)
    return [(start + timedelta(days=place)).isoformat() for place in range(count)]


def night_id(property_id: str, room_type_id: str, night: str) -> str:
    """The id of a night in the inventory."""
    return f"{property_id}.{room_type_id}.{night}"


class Inventory(World):
    """The clock, nights, prices, rooms."""

    _own_nights: Counter[str] | None = None

    # -- the clock

    def set_time(self, hour: int, minute: int = 0) -> None:
        """Let the task begin at this time of day. To be called before any row is placed."""
        if self.placed or self.edited:
            raise DomainError("set the clock before placing rows: their dates hang on it")
        moment = datetime.combine(self.today, time(hour, minute), self.now.tzinfo)
        earliest = datetime.combine(self.today, time(8), self.now.tzinfo)
        self.now = moment if moment >= earliest else moment + timedelta(days=1)

    def arrival_in(self, *, hours: int = 0, minutes: int = 0) -> str:
        """Set the clock so that an arrival date has exactly this notice (policy 3.2), and return that date."""
        delta = timedelta(hours=hours, minutes=minutes)
        start = datetime.combine(self.today, CHECK_IN, self.now.tzinfo) - delta
        self.set_time(start.hour, start.minute)
        return (self.now + delta).date().isoformat()

    # -- nights and prices

    def price(self, property_id: str, room_type_id: str, night: str) -> int:
        """The public price of a night, in cents. A night outside the inventory is added to it, all rooms sold."""
        return self._on_sale(property_id, room_type_id, night).public_price_cents

    def set_prices(self, property_id: str, room_type_id: str, first_night: str, cents: Sequence[int]) -> None:
        """Set the public prices of consecutive nights."""
        for night, price in zip(nights_of(first_night, len(cents)), cents, strict=True):
            row = self._on_sale(property_id, room_type_id, night)
            self.update(InventoryNight, row.id, public_price_cents=price)

    def free(self, property_id: str, room_type_id: str, first_night: str, nights: int = 1) -> int:
        """Rooms free on all these nights."""
        return min(self._on_sale(property_id, room_type_id, night).free for night in nights_of(first_night, nights))

    def make_free(self, property_id: str, room_type_id: str, first_night: str, nights: int, at_least: int = 1) -> None:
        """See to it that rooms are free on all these nights."""
        for night in nights_of(first_night, nights):
            row = self._on_sale(property_id, room_type_id, night)
            missing = at_least - row.free
            if missing > 0:
                given = min(missing, row.sold - self._taken[row.id])
                added = missing - given
                self.update(
                    InventoryNight, row.id, free=row.free + missing, sold=row.sold - given, rooms=row.rooms + added
                )

    def sell_out(self, property_id: str, room_type_id: str, first_night: str, nights: int) -> None:
        """See to it that no room is free on these nights."""
        for night in nights_of(first_night, nights):
            row = self._on_sale(property_id, room_type_id, night)
            self.update(InventoryNight, row.id, free=0, sold=row.sold + row.free)

    def take(
        self,
        property_id: str,
        room_type_id: str,
        nights: Sequence[str],
        *,
        rooms: int = 1,
        into: str = "sold",
        on_record: bool = True,
    ) -> None:
        """Take free rooms out of the inventory, as sold or as blocked; nights outside the inventory are left.

        Args:
            property_id: of the rooms.
            room_type_id: of the rooms.
            nights: the dates.
            rooms: how many on each night.
            into: ``sold`` or ``blocked``.
            on_record: whether a booking on record takes them, so that they cannot be made free again.
        """
        for night in nights:
            key = night_id(property_id, room_type_id, night)
            if self._find("inventory_nights", key) is None:
                continue
            self.make_free(property_id, room_type_id, night, 1, rooms)
            row = self.get(InventoryNight, key)
            self.update(InventoryNight, key, free=row.free - rooms, **{into: getattr(row, into) + rooms})
            if on_record:
                self._taken[key] += rooms

    def open_night(self, property_id: str, room_type_id: str, night: str, *, free: int | None = None) -> Record:
        """Put a night on sale, at a price that fits the house, the category and the day of the week."""
        house, category = HOUSE_BY_ID[property_id], CATEGORY_BY_ID[room_type_id]
        weekend = 118 if date.fromisoformat(night).weekday() in (4, 5) else 100
        price = house.base * category.percent * weekend * self.between(88, 116) // 1_000_000
        rooms = house.rooms[room_type_id]
        left = self.between(rooms // 8, rooms // 2) if free is None else free
        return self.insert(
            InventoryNight,
            id=night_id(property_id, room_type_id, night),
            property_id=property_id,
            room_type_id=room_type_id,
            night=night,
            rooms=rooms,
            free=left,
            sold=rooms - left,
            blocked=0,
            public_price_cents=price + self.between(0, 99),
            currency="USD",
        )

    # -- houses and rooms

    def house(self) -> str:
        """The id of one of the properties."""
        return self.pick(*HOUSE_BY_ID)

    def sister(self, property_id: str) -> str:
        """The id of the other property in the same city."""
        city = HOUSE_BY_ID[property_id].city
        return next(house.id for house in HOUSES if house.city == city and house.id != property_id)

    def better_types(self, room_type_id: str) -> list[str]:
        """Ids of the better categories, the next better first."""
        return [c.id for c in CATEGORIES if c.rank > CATEGORY_BY_ID[room_type_id].rank]

    def vacant_room(self, property_id: str, room_type_id: str, arrival: str, departure: str) -> str:
        """A room that no other booking has on these days, the days of arrival and departure included, and no fault."""
        busy = {
            row["room_id"]
            for row in self._raw("bookings")
            if row["room_id"] and row["arrival"] <= departure and row["departure"] >= arrival
        }
        busy |= {row["room_id"] for row in self._raw("room_blocks") if row["last_night"] >= arrival}
        rooms = [
            row["id"]
            for row in self._raw("rooms")
            if row["property_id"] == property_id and row["room_type_id"] == room_type_id and row["status"] == "clean"
        ]
        found = [key for key in rooms if key not in busy]
        if not found:
            raise DomainError(f"no {room_type_id} room of {property_id} is vacant from {arrival} to {departure}")
        return self.pick(*found)

    def room_block(
        self,
        room_id: str,
        severity: Severity,
        first_night: str,
        last_night: str,
        *,
        kind: BlockKind = "maintenance",
        description: str | None = None,
    ) -> Record:
        """A recorded fault of a room on these nights, both included. An unusable room is out of order."""
        self.get(Room, room_id)
        if severity == "unusable":
            self.update(Room, room_id, status="out_of_order")
        if description is None:
            description = self.pick(*_FAULTS[severity])
        return self.insert(
            RoomBlock,
            room_id=room_id,
            kind=kind,
            severity=severity,
            first_night=first_night,
            last_night=last_night,
            description=description,
        )

    # -- inside

    def _on_sale(self, property_id: str, room_type_id: str, night: str) -> Record:
        key = night_id(property_id, room_type_id, night)
        if self._find("inventory_nights", key) is None:
            return self.open_night(property_id, room_type_id, night, free=0)
        return self.get(InventoryNight, key)

    @property
    def _taken(self) -> Counter[str]:
        """Rooms that bookings on record take of each night."""
        if self._own_nights is None:
            stays, nights = Booking.__tablename__, BookingNight.__tablename__
            if stays in self.edited or nights in self.edited:
                self._own_nights = _count(self._raw(nights), {row["id"]: row for row in self._raw(stays)}.get)
            else:
                self._own_nights = _seeded(self._base).copy()
                self._own_nights.update(_count(self.placed.get(nights, {}).values(), partial(self._find, stays)))
        return self._own_nights

    def _raw(self, table: str) -> Iterator[Row]:
        """All rows of a table for reading only, without copies."""
        edited = self.edited.get(table, {})
        yield from self.placed.get(table, {}).values()
        for key, row in self._base.get(table, {}).items():
            yield edited.get(key, row)


def _count(nights: Iterable[Row], booking: Callable[[str], Row | None]) -> Counter[str]:
    """How many rooms of each night of the inventory these nights of bookings take."""
    taken: Counter[str] = Counter()
    for row in nights:
        stay = booking(row["booking_id"]) if row["status"] == "booked" else None
        if stay is not None and stay["status"] in TAKING:
            taken[night_id(stay["property_id"], stay["room_type_id"], row["night"])] += 1
    return taken


_counted: dict[int, tuple[Base, Counter[str]]] = {}
"""By the identity of a company's own rows, which are kept here so that it stays theirs; no task changes them."""


def _seeded(base: Base) -> Counter[str]:
    """How many rooms of each night the company's own bookings take: counted once, not for every task."""
    if id(base) not in _counted:
        stays = base.get(Booking.__tablename__, {})
        _counted[id(base)] = (base, _count(base.get(BookingNight.__tablename__, {}).values(), stays.get))
    return _counted[id(base)][1]


_FAULTS: dict[Severity, tuple[str, ...]] = {
    "minor": ("Reading lamp by the bed does not work.", "Shower head drips.", "Safe does not lock.", "Blind is stuck."),
    "major": (
        "No hot water in the bathroom.",
        "Heating cannot be turned down.",
        "Lift noise through the wall at night.",
    ),
    "unusable": ("Water damage after a burst pipe.", "Bathroom floor is being replaced.", "Window pane is broken."),
}
