"""The hotel's world builder: what the seed and the families place, in the hotel's words.

`HotelWorld` joins the builders by subject: people, inventory, money, groups, stays, desk. Every builder leaves the
world lawful (`tb_hotel.laws`); it refuses (`DomainError`) what could not be so.
"""

from tb_hotel.world.company import CLOCK
from tb_hotel.world.desk import Desk
from tb_hotel.world.groups import Block
from tb_hotel.world.inventory import nights_of
from tb_hotel.world.people import Person
from tb_hotel.world.stays import Stay


class HotelWorld(Desk):
    """The seeded world of one hotel task."""


__all__ = ["CLOCK", "Block", "HotelWorld", "Person", "Stay", "nights_of"]
