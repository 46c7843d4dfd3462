"""Builders of groups: rooms held for an organiser, and the master folio."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from tb_envs.authoring import DomainError, Record
from tb_hotel.models import Folio, GroupBlock
from tb_hotel.world.company import HOUSES
from tb_hotel.world.inventory import nights_of
from tb_hotel.world.money import Money
from tb_hotel.world.names import GROUP_NAMES
from tb_hotel.world.people import People, Person


@dataclass(frozen=True)
class Block:
    """A block of group rooms, its organiser and its master folio."""

    block: Record
    organiser: Person
    folio: Record

    @property
    def id(self) -> str:
        """The block's id."""
        return self.block.id

    @property
    def nights(self) -> int:
        """Nights from arrival to departure."""
        return (date.fromisoformat(self.block.departure) - date.fromisoformat(self.block.arrival)).days


class Groups(People, Money):
    """Group blocks."""

    def group_block(
        self,
        organiser: Person,
        *,
        contracted: int,
        released: int = 0,
        picked_up: int = 0,
        arrival: str | date | None = None,
        nights: int | None = None,
        property: str | None = None,
        room_type: str = "STD",
        room_price: int | None = None,
        cutoff_date: str | date | None = None,
        name: str | None = None,
        **columns: Any,
    ) -> Block:
        """Rooms held for a group, and its master folio. Held rooms are blocked in the inventory, picked up ones sold.

        Args:
            organiser: the guest who speaks for the group.
            contracted: rooms by contract; what is neither `released` nor `picked_up` is held.
            released: given back before.
            picked_up: booked by travellers.
            arrival: drawn 25 to 45 days ahead.
            nights: drawn 2 to 4.
            property: one that is large enough if not given.
            room_type: its category.
            room_price: of a room and night in cents; drawn with odd cents.
            cutoff_date: drawn 10 to 20 days before arrival.
            name: drawn.
            columns: any other column.
        """
        first = (
            arrival if isinstance(arrival, str) else arrival.isoformat() if arrival else self.day(self.between(25, 45))
        )
        count = nights or self.between(2, 4)
        large = [house.id for house in HOUSES if house.rooms[room_type] >= contracted]
        if not (property or large):
            raise DomainError(f"no property has {contracted} {room_type} rooms")
        day = date.fromisoformat(first)
        cutoff = cutoff_date or day - timedelta(days=self.between(10, 20))
        values: dict[str, Any] = {
            "name": name or self.pick(*GROUP_NAMES),
            "property_id": property or self.pick(*large),
            "room_type_id": room_type,
            "organiser_id": organiser.id,
            "arrival": first,
            "departure": (day + timedelta(days=count)).isoformat(),
            "contracted": contracted,
            "picked_up": picked_up,
            "released": released,
            "held": contracted - picked_up - released,
            "room_price_cents": room_price or self.odd_cents(79_00, 189_00),
            "currency": "USD",
            "cutoff_date": cutoff if isinstance(cutoff, str) else cutoff.isoformat(),
            "status": "open",
        }
        block = self.insert(GroupBlock, **(values | columns))
        dates = nights_of(first, count)
        for rooms, into in ((block.held, "blocked"), (block.picked_up, "sold")):
            if rooms:
                self.take(block.property_id, room_type, dates, rooms=rooms, into=into, on_record=False)
        return Block(block, organiser, self.insert(Folio, kind="group_master", group_block_id=block.id, status="open"))
