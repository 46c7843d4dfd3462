"""Rooms on sale: what a night costs and whether it is free, and how rooms move between free, sold and blocked."""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from sqlalchemy import ColumnElement, Integer, Select, String, Table, and_, bindparam, or_, select, update

from tb_envs.authoring import Db, ToolError, require
from tb_envs.parts.views import core_table
from tb_envs.store.db import Found
from tb_hotel.models import InventoryNight

NEVER = "9999-12-31"


class Nights(NamedTuple):
    """The nights from `first` to the one before `last`, without those from `but_first` to the one before `but_last`."""

    first: str
    last: str
    but_first: str = NEVER
    but_last: str = NEVER


def on_nights(table: Table) -> tuple[ColumnElement[bool], ...]:
    """The condition that a row's `night` is one of `Nights`, whose fields are bound by name."""
    night = table.c.night
    return (
        night >= bindparam("first"),
        night < bindparam("last"),
        or_(night < bindparam("but_first"), night >= bindparam("but_last")),
    )


INVENTORY = core_table(InventoryNight)


def between(first: str, last: str, house: str = "property_id", category: str = "room_type_id") -> ColumnElement[bool]:
    """The condition that a row is of one house and category, on a night from `first` to the one before `last`.

    The arguments name bound values. The id of an inventory night is made of all three, so its key finds the rows and
    the table needs no other index.
    """

    def key(night: str) -> ColumnElement[str]:
        parts = [bindparam(name, type_=String) for name in (house, category, night)]
        return parts[0].concat(".").concat(parts[1]).concat(".").concat(parts[2])

    return and_(INVENTORY.c.id >= key(first), INVENTORY.c.id < key(last))


_ON_SALE: Select = (
    select(INVENTORY.c.night, INVENTORY.c.free, INVENTORY.c.public_price_cents)
    .where(between("arrival", "departure"))
    .order_by(INVENTORY.c.id)
)
_MOVE = (
    update(INVENTORY)
    .where(between("first", "last", "at_property", "of_type"), *on_nights(INVENTORY))
    .values(
        free=INVENTORY.c.free + bindparam("freed", type_=Integer),
        sold=INVENTORY.c.sold - bindparam("unsold", type_=Integer),
        blocked=INVENTORY.c.blocked - bindparam("unblocked", type_=Integer),
    )
)


def night_count(arrival: str, departure: str) -> int:
    """How many nights lie between two dates."""
    return (date.fromisoformat(departure) - date.fromisoformat(arrival)).days


def on_sale(db: Db, property_id: str, room_type_id: str, arrival: str, departure: str) -> list[Found]:
    """`night`, `free` and `public_price_cents` of every night; refuses dates for which there is no inventory."""
    require(arrival < departure, f"`departure`: {departure} is not after the arrival {arrival}.")
    values = {"property_id": property_id, "room_type_id": room_type_id, "arrival": arrival, "departure": departure}
    rows = db.query(_ON_SALE, values)
    if len(rows) != night_count(arrival, departure):
        raise ToolError(f"{room_type_id} at {property_id} is not on sale on every night from {arrival} to {departure}.")
    return rows


def require_free(nights: Iterable[Found]) -> None:
    """Refuse unless a room is free on each night."""
    refuse_full([row.night for row in nights if row.free < 1])


def refuse_full(nights: list[str]) -> None:
    """Refuse, naming the nights on which no room is free, if there are any."""
    require(not nights, f"No room is free on {', '.join(nights[:7])}.")


def sell(db: Db, property_id: str, room_type_id: str, nights: Nights) -> None:
    """Take one free room on each night."""
    _move(db, property_id, room_type_id, nights, freed=-1, unsold=-1)


def give_back(db: Db, property_id: str, room_type_id: str, nights: Nights) -> None:
    """Return one sold room to sale on each night; a night that is not in the inventory is left."""
    _move(db, property_id, room_type_id, nights, freed=1, unsold=1)


def unblock(db: Db, property_id: str, room_type_id: str, nights: Nights, rooms: int) -> None:
    """Return rooms held for a group to sale on each night."""
    _move(db, property_id, room_type_id, nights, freed=rooms, unblocked=rooms)


def _move(
    db: Db, property_id: str, room_type_id: str, nights: Nights, *, freed: int, unsold: int = 0, unblocked: int = 0
) -> None:
    where = {"at_property": property_id, "of_type": room_type_id, **nights._asdict()}
    db.write(_MOVE, {**where, "freed": freed, "unsold": unsold, "unblocked": unblocked})
