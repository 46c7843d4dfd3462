"""The fixed part of the company: its houses, categories, plans, and what a night costs before any season.

Refuses to hold anything that a task may change: rows are placed by the seed and by `HotelWorld`.
"""

from typing import NamedTuple

CLOCK = "2031-05-14T08:00:00Z"
"""The frozen time of the seed, a Wednesday; a task begins up to a day later."""

FIRST_NIGHT, LAST_NIGHT = -10, 60
"""The nights in the inventory, in days from the clock's date."""


class House(NamedTuple):
    """A property; `rooms` are its rooms per category and `base` the price of its standard room in cents."""

    id: str
    name: str
    city: str
    country: str
    phone: str
    base: int
    rooms: dict[str, int]


_LARGE = {"STD": 60, "SUP": 20, "DLX": 12, "STE": 5}
_SMALL = {"STD": 28, "SUP": 14, "DLX": 8, "STE": 3}

HOUSES: tuple[House, ...] = (
    House("LIS", "Halden House Alfama", "Lisbon", "Portugal", "+351 800 555 0101", 134_00, _LARGE),
    House("LIB", "Halden House Belém", "Lisbon", "Portugal", "+351 800 555 0102", 119_00, _SMALL),
    House("VIE", "Halden House Josefstadt", "Vienna", "Austria", "+43 800 555 0103", 152_00, _LARGE),
    House("VIN", "Halden House Neubau", "Vienna", "Austria", "+43 800 555 0104", 141_00, _SMALL),
    House("DUB", "Halden House Liberties", "Dublin", "Ireland", "+353 800 555 0105", 163_00, _LARGE),
    House("DUD", "Halden House Docklands", "Dublin", "Ireland", "+353 800 555 0106", 148_00, _SMALL),
)

HOUSE_BY_ID: dict[str, House] = {house.id: house for house in HOUSES}


class Category(NamedTuple):
    """A room type; `percent` is its price in percent of a standard room's."""

    id: str
    name: str
    rank: int
    capacity: int
    percent: int


CATEGORIES: tuple[Category, ...] = (
    Category("STD", "Standard", 1, 2, 100),
    Category("SUP", "Superior", 2, 2, 128),
    Category("DLX", "Deluxe", 3, 3, 171),
    Category("STE", "Suite", 4, 4, 264),
)

CATEGORY_BY_ID: dict[str, Category] = {category.id: category for category in CATEGORIES}


class Plan(NamedTuple):
    """A rate plan and its discount on the public price."""

    id: str
    name: str
    kind: str
    discount_percent: int


PLANS: tuple[Plan, ...] = (
    Plan("FLEX", "Flexible", "flexible", 0),
    Plan("SEMI", "Semi-flexible", "semi_flexible", 8),
    Plan("NRF", "Non-refundable", "non_refundable", 15),
    Plan("CORP", "Corporate", "corporate", 0),
    Plan("GRP", "Group", "group", 0),
)

PLAN_BY_ID: dict[str, Plan] = {plan.id: plan for plan in PLANS}
