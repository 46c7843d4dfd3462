"""Builders of stays: a booking with its nights, folio, payments and loyalty entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from tb_envs.authoring import DomainError, Record, parse_time, show_time
from tb_hotel import policy
from tb_hotel.models import (
    Booking,
    BookingNight,
    BookingStatus,
    Channel,
    Folio,
    FolioStatus,
    LoyaltyAccount,
    LoyaltyEntry,
    LoyaltyKind,
    LoyaltyStatus,
)
from tb_hotel.world.company import PLAN_BY_ID
from tb_hotel.world.groups import Block, Groups
from tb_hotel.world.inventory import TAKING, nights_of
from tb_hotel.world.people import Person

_FOLIO_STATUS: dict[BookingStatus, FolioStatus] = {
    "checked_out": "settled",
    "no_show": "settled",
    "cancelled": "settled",
}
_ENTRY_STATUS: dict[BookingStatus, LoyaltyStatus] = {
    "confirmed": "pending",
    "in_house": "pending",
    "relocated": "pending",
    "checked_out": "posted",
}


@dataclass(frozen=True)
class Stay:
    """A booking and all that belongs to it. The booking's columns are at hand: ``stay.booking.room_id``."""

    booking: Record
    guest: Person
    nights: list[Record]
    folio: Record
    payments: list[Record] = field(default_factory=list[Record])
    entry: Record | None = None

    @property
    def id(self) -> str:
        """The booking number."""
        return self.booking.id

    @property
    def plan_kind(self) -> Any:
        """What kind of plan it was sold on, e.g. ``flexible``."""
        return PLAN_BY_ID[self.booking.rate_plan_id].kind

    @property
    def total(self) -> int:
        """The booking total in cents."""
        return self.booking.total_cents

    @property
    def prices(self) -> list[int]:
        """The prices of the nights, in order."""
        return [night.price_cents for night in self.nights]

    @property
    def first_night(self) -> int:
        """The price of the first night."""
        return self.nights[0].price_cents

    @property
    def paid(self) -> int:
        """Captured payments; refunds made before are not taken off."""
        return sum(payment.amount_cents for payment in self.payments if payment.status == "captured")

    @property
    def payment(self) -> Record:
        """The newest captured payment."""
        return max((p for p in self.payments if p.status == "captured"), key=lambda p: p.paid_at)

    @property
    def arrival(self) -> date:
        """The day of arrival."""
        return date.fromisoformat(self.booking.arrival)

    @property
    def departure(self) -> date:
        """The day of departure."""
        return date.fromisoformat(self.booking.departure)

    def notice(self, at: datetime) -> timedelta:
        """Policy 3.2: the time from `at` to check-in."""
        return policy.notice(self.arrival, at)

    def age(self, at: datetime) -> timedelta:
        """How long ago it was booked."""
        return at - parse_time(self.booking.booked_at)


class Stays(Groups):
    """Bookings and their loyalty entries."""

    def booking(
        self,
        guest: Person,
        plan: str = "SEMI",
        *,
        arrival: str | date | None = None,
        nights: int | None = None,
        property: str | None = None,
        room_type: str | None = None,
        status: BookingStatus = "confirmed",
        prices: Sequence[int] | None = None,
        total: int | None = None,
        booked_at: str | datetime | None = None,
        channel: Channel | None = None,
        partner: Record | None = None,
        corporate: Record | None = None,
        group: Block | None = None,
        room: str | bool | None = None,
        paid: str | int | Sequence[int] = "full",
        reservation_code: str | None = None,
        folio_status: FolioStatus | None = None,
        charged: bool = True,
        loyalty: bool = True,
        **columns: Any,
    ) -> Stay:
        """A stay, with everything a lawful booking of its state has.

        Args:
            guest: whose profile it belongs to.
            plan: ``FLEX``, ``SEMI``, ``NRF``, ``CORP``, ``GRP``.
            arrival: a date; drawn by the status: 6 to 40 days ahead, or in the past.
            nights: drawn 2 to 4; the number of `prices` if those are given.
            property: a property's id; drawn (a block's own for a group).
            room_type: ``STD``, ``SUP``, ``DLX``, ``STE``; STD or SUP if not given.
            status: its nights take rooms of the inventory while it is confirmed, in house, checked out or a no-show.
            prices: the price of each night in cents; else `total` is split; else the public price less the discount.
            total: in cents.
            booked_at: 12 to 60 days before arrival (and before now) if not given.
            channel: by plan and partner if not given.
            partner: makes it an ``ota`` booking. If the partner collects the money, there is none on our folio.
            corporate: the company it belongs to.
            group: the block it was picked up from.
            room: a room's id, or whether to assign a vacant one; by the status if not given.
            paid: ``"full"``, an amount in cents (a deposit), or amounts from the oldest to the newest payment.
            reservation_code: shared by rooms that were reserved together.
            folio_status: open, or settled after the stay, if not given.
            charged: whether a stay that began (or was missed) has its room (or no-show) charge on the folio.
            loyalty: whether a stay that earns nights has its entry, pending or posted.
            columns: any other column, e.g. ``change_count=2, pets=1, stay_name="Ida Falk"``.
        """
        price_list = list(prices) if prices is not None else None
        count = len(price_list) if price_list is not None else nights or self.between(2, 4)
        first = self._arrival(status, arrival, count)
        dates = nights_of(first, count)
        house = property or (group.block.property_id if group else self.house())
        category = room_type or (group.block.room_type_id if group else self.pick("STD", "STD", "SUP"))
        if price_list is None:
            price_list = self.split_total(total, count) if total is not None else None
        if price_list is None:
            price_list = self._prices(house, category, dates, plan, corporate)
        if total is not None and total != sum(price_list):
            raise DomainError(f"the prices add up to {sum(price_list)}, not to the total {total}")
        way = channel or ("ota" if partner else {"CORP": "corporate", "GRP": "group"}.get(plan, "direct"))
        departure = (date.fromisoformat(first) + timedelta(days=count)).isoformat()
        if room is None:
            room = status in ("in_house", "checked_out")
        booked = booked_at if isinstance(booked_at, str) else show_time(booked_at or self._booked_at(first))
        values: dict[str, Any] = {
            "reservation_code": reservation_code or self.new_code(),
            "guest_id": guest.id,
            "stay_name": guest.name,
            "property_id": house,
            "room_type_id": category,
            "room_id": self.vacant_room(house, category, first, departure) if room is True else room or None,
            "rate_plan_id": plan,
            "channel": way,
            "partner_id": partner.id if partner else None,
            "corporate_account_id": corporate.id if corporate else None,
            "group_block_id": group.id if group else None,
            "arrival": first,
            "departure": departure,
            "adults": self.between(1, 2),
            "pets": 0,
            "status": status,
            "cancel_reason": "guest_request" if status == "cancelled" else None,
            "change_count": 0,
            "total_cents": sum(price_list),
            "currency": "USD",
            "booked_at": booked,
        }
        booking = self.insert(Booking, **(values | columns))
        state = "booked" if status in TAKING else "released"
        rows = [
            self.insert(
                BookingNight,
                id=f"{booking.id}.{night}",
                booking_id=booking.id,
                night=night,
                price_cents=price,
                currency="USD",
                status=state,
            )
            for night, price in zip(dates, price_list, strict=True)
        ]
        self._take_rooms(booking, dates)
        folio = self.insert(
            Folio, kind="guest", booking_id=booking.id, status=folio_status or _FOLIO_STATUS.get(status, "open")
        )
        entry = self._entry(guest, booking, price_list) if loyalty else None
        stay = Stay(booking, guest, rows, folio, entry=entry)
        if not (partner and partner.collects == "partner"):
            self._bill(stay, paid, charged)
        return stay

    def loyalty_entry(
        self,
        stay: Stay,
        nights: int,
        points: int,
        *,
        kind: LoyaltyKind = "stay",
        status: LoyaltyStatus = "posted",
        created_at: str | None = None,
    ) -> Record:
        """An entry for a stay on its guest's account; a posted one raises the balance."""
        account = stay.guest.account
        if account is None:
            raise DomainError(f"{stay.guest.name} has no loyalty account")
        return self._post(account, stay.booking, nights, points, kind, status, created_at)

    def new_code(self) -> str:
        """A reservation code such as ``QK7M2T``."""
        return "".join(self.pick(*"BCDFGHJKLMNPQRSTVWXZ2345679") for _ in range(6))

    # -- inside

    def _take_rooms(self, booking: Record, dates: Sequence[str]) -> None:
        if booking.status in ("confirmed", "in_house"):
            for night in dates:
                self._on_sale(booking.property_id, booking.room_type_id, night)
        if booking.status in TAKING:
            self.take(booking.property_id, booking.room_type_id, dates)
        if booking.status == "relocated" and booking.relocated_to:
            self.take(booking.relocated_to, booking.room_type_id, dates, on_record=False)

    def _arrival(self, status: BookingStatus, given: str | date | None, nights: int) -> str:
        if given is not None:
            return given if isinstance(given, str) else given.isoformat()
        if status == "in_house":
            return self.day(-self.between(1, max(1, min(nights - 1, 3))))
        if status == "checked_out":
            return self.day(-nights - self.between(1, 6))
        return self.day(-self.between(2, 6) if status == "no_show" else self.between(6, 40))

    def _booked_at(self, arrival: str) -> datetime:
        latest = min(self.now, datetime.combine(date.fromisoformat(arrival), policy.CHECK_IN, self.now.tzinfo))
        return latest - timedelta(days=self.between(12, 60), hours=self.between(0, 12), minutes=self.between(0, 59))

    def _prices(self, house: str, category: str, dates: Sequence[str], plan: str, company: Record | None) -> list[int]:
        discount = company.discount_percent if plan == "CORP" and company else PLAN_BY_ID[plan].discount_percent
        usual = self.price(house, category, self.day(self.between(0, 30)))
        known = [self._find("inventory_nights", f"{house}.{category}.{night}") for night in dates]
        return [policy.percent(row["public_price_cents"] if row else usual, 100 - discount) for row in known]

    def _bill(self, stay: Stay, paid: str | int | Sequence[int], charged: bool) -> None:
        booking = stay.booking
        owed = stay.total
        if booking.status == "no_show":
            owed = stay.first_night if stay.plan_kind in ("flexible", "corporate") else stay.total
            if charged:
                self.charge(stay.folio, "no_show", owed, on=booking.arrival)
        elif booking.status in ("in_house", "checked_out") and charged:
            self.charge(stay.folio, "room", owed, on=booking.arrival)
        amounts = [owed] if isinstance(paid, str) else [paid] if isinstance(paid, int) else list(paid)
        booked, card = parse_time(booking.booked_at), self.card_ending()
        for place, cents in enumerate(amounts):
            kind = "deposit" if paid != "full" and place == 0 else "prepayment"
            at = booked + timedelta(minutes=3) if place == 0 else booked + (self.now - booked) * place / len(amounts)
            if booking.status == "no_show" and place == len(amounts) - 1:
                kind, at = (
                    "no_show",
                    datetime.combine(stay.arrival + timedelta(days=1), policy.CHECK_IN, self.now.tzinfo),
                )
            if cents:
                when = show_time(min(at.replace(microsecond=0), self.now))
                stay.payments.append(self.payment(stay.folio, cents, kind=kind, paid_at=when, card_ending=card))

    def _entry(self, guest: Person, booking: Record, prices: Sequence[int]) -> Record | None:
        if guest.account is None:
            return None
        earned = policy.loyalty_earned(
            booking.channel, date.fromisoformat(booking.arrival), date.fromisoformat(guest.account.joined_on), prices
        )
        if not earned.nights:
            return None
        status = _ENTRY_STATUS.get(booking.status, "reversed")
        at = f"{booking.departure}T11:00:00Z" if status == "posted" else booking.booked_at
        return self._post(guest.account, booking, earned.nights, earned.points, "stay", status, at)

    def _post(
        self,
        account: Record,
        booking: Record,
        nights: int,
        points: int,
        kind: LoyaltyKind,
        status: LoyaltyStatus,
        created_at: str | None,
    ) -> Record:
        if status == "posted":
            now = self.get(LoyaltyAccount, account.id)
            self.update(LoyaltyAccount, account.id, nights=now.nights + nights, points=now.points + points)
        return self.insert(
            LoyaltyEntry,
            loyalty_account_id=account.id,
            booking_id=booking.id,
            kind=kind,
            nights=nights,
            points=points,
            status=status,
            created_at=created_at or self.moment(hours=-self.between(24, 72)),
        )
