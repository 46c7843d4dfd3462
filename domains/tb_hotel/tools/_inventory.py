"""Rooms on sale: what a night costs and whether it is free, and how rooms move between free, sold and blocked."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from sqlalchemy import Integer, Select, bindparam, select, update

from tb_envs.authoring import Db, ToolError, require
from tb_envs.store.db import Found
from tb_hotel.models import InventoryNight

from ._views import core_table

INVENTORY = core_table(InventoryNight)

_ON_SALE: Select = (
    select(INVENTORY.c.night, INVENTORY.c.free, INVENTORY.c.public_price_cents)
    .where(
        INVENTORY.c.property_id == bindparam("property_id"),
        INVENTORY.c.room_type_id == bindparam("room_type_id"),
        INVENTORY.c.night >= bindparam("arrival"),
        INVENTORY.c.night < bindparam("departure"),
    )
    .order_by(INVENTORY.c.night)
)
_FREED = bindparam("freed", type_=Integer)
_UNSOLD = bindparam("unsold", type_=Integer)
_UNBLOCKED = bindparam("unblocked", type_=Integer)
_MOVE = (
    update(INVENTORY)
    .where(
        INVENTORY.c.property_id == bindparam("at_property"),
        INVENTORY.c.room_type_id == bindparam("of_type"),
        INVENTORY.c.night.in_(bindparam("nights", expanding=True)),
    )
    .values(free=INVENTORY.c.free + _FREED, sold=INVENTORY.c.sold - _UNSOLD, blocked=INVENTORY.c.blocked - _UNBLOCKED)
)


def nights_of(arrival: str, departure: str) -> list[str]:
    """The nights of a stay, as dates."""
    first, count = date.fromisoformat(arrival), night_count(arrival, departure)
    return [(first + timedelta(days=n)).isoformat() for n in range(count)]


def night_count(arrival: str, departure: str) -> int:
    """How many nights lie between two dates."""
    return (date.fromisoformat(departure) - date.fromisoformat(arrival)).days


def on_sale(db: Db, property_id: str, room_type_id: str, arrival: str, departure: str) -> list[Found]:
    """`night`, `free` and `public_price_cents` of every night; refuses dates for which there is no inventory."""
    require(arrival < departure, f"`departure`: {departure} is not after the arrival {arrival}.")
    rows = db.query(
        _ON_SALE,
        {"property_id": property_id, "room_type_id": room_type_id, "arrival": arrival, "departure": departure},
    )
    if len(rows) != night_count(arrival, departure):
        raise ToolError(f"{room_type_id} at {property_id} is not on sale on every night from {arrival} to {departure}.")
    return rows


def require_free(rows: Iterable[Found], held: Sequence[str] = ()) -> None:
    """Refuse unless a room is free on each of the nights which the booking does not hold already."""
    full = [row.night for row in rows if row.free < 1 and row.night not in held]
    require(not full, f"No room is free on {', '.join(full[:7])}.")


def sell(db: Db, property_id: str, room_type_id: str, nights: Sequence[str]) -> None:
    """Take one free room on each night."""
    _move(db, property_id, room_type_id, nights, freed=-1, unsold=-1)


def give_back(db: Db, property_id: str, room_type_id: str, nights: Sequence[str]) -> None:
    """Return one sold room to sale on each night; a night that is not in the inventory is left."""
    _move(db, property_id, room_type_id, nights, freed=1, unsold=1)


def unblock(db: Db, property_id: str, room_type_id: str, nights: Sequence[str], rooms: int) -> None:
    """Return rooms held for a group to sale on each night."""
    _move(db, property_id, room_type_id, nights, freed=rooms, unblocked=rooms)


def _move(
    db: Db,
    property_id: str,
    room_type_id: str,
    nights: Sequence[str],
    freed: int,
    unsold: int = 0,
    unblocked: int = 0,
) -> None:
    where = {"at_property": property_id, "of_type": room_type_id, "nights": nights}
    if nights:
        db.connection.execute(_MOVE, {**where, "freed": freed, "unsold": unsold, "unblocked": unblocked})
