"""Moving a stay to other dates, where a family has it beside something else: dates on sale, the quote, the change."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from tb_envs.authoring import Call, call, calls, changed, order, say, use, writes
from tb_envs.authoring.steps import Say
from tb_envs.parts.scripts import Part
from tb_hotel.families._common import charge, dollars
from tb_hotel.models import Booking
from tb_hotel.world import HotelWorld, Person, Stay
from tb_hotel.world.company import PLAN_BY_ID

SEEN = (use("dates", "change_count"), use("dates", "notice_minutes"), use("dates", "difference"))
"""What of the quote decides, for the summary of a ticket."""


class Dates(NamedTuple):
    """New dates of a stay, and what it costs on them."""

    arrival: str
    departure: str
    total: int

    def quote(self, stay: Stay) -> Call:
        """The quote for them, saved as ``dates``."""
        dates = {"arrival": self.arrival, "departure": self.departure}
        return call("quote_date_change", booking_id=stay.id, **dates, save="dates")

    def change(self, stay: Stay) -> Call:
        """The change to them, rightly or not."""
        dates = {"arrival": self.arrival, "departure": self.departure}
        return call("change_dates", booking_id=stay.id, **dates, earns="booking")


def stay_and_dates(
    w: HotelWorld, guest: Person, plan: str, arrival: str, nights: int, difference: int, **columns: Any
) -> tuple[Stay, Dates]:
    """A confirmed stay, and as many nights later on, which cost `difference` cents more (or less) in all."""
    house, room_type = w.house(), w.pick("STD", "SUP")
    first = w.today + timedelta(days=w.between(28, 38))
    public = [w.odd_cents(118_00, 174_00) for _ in range(nights)]
    w.set_prices(house, room_type, first.isoformat(), public)
    w.make_free(house, room_type, first.isoformat(), nights)
    discount = PLAN_BY_ID[plan].discount_percent
    total = sum((cents * (100 - discount) + 50) // 100 for cents in public)
    prices = w.split_total(total - difference, nights)
    stay = w.booking(guest, plan, arrival=arrival, prices=prices, property=house, room_type=room_type, **columns)
    return stay, Dates(first.isoformat(), (first + timedelta(days=nights)).isoformat(), total)


def moved(stay: Stay, dates: Dates, fee: int, owed: int) -> Part:
    """Move the stay, after the quote; post the fee and then the difference, as two charges."""
    new = {"arrival": dates.arrival, "departure": dates.departure, "total_cents": dates.total}
    row = changed("booking", Booking, stay.id, **new, change_count=stay.booking.change_count + 1)
    looked = calls("quote_date_change", booking_id=stay.id)
    part = Part((dates.change(stay),), (row, order("quoted first", looked, writes(Booking, id=stay.id))))
    if fee:
        part += charge("change_fee", fee, SEEN[1], folio=stay.folio)
    if owed > 0:
        part += charge("rate_difference", owed, SEEN[2], folio=stay.folio)
    return part


def price(fee: int, owed: int) -> Say:
    """What the new dates cost, in words, and the question."""
    cost = f"The fee for the change is {dollars(fee)}." if fee else "The change itself is free."
    more = f" The new dates cost {dollars(owed)} more." if owed > 0 else ""
    return say(f"{cost}{more} Shall I move your stay?")
