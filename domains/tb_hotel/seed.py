"""The company before any task: its houses, nights on sale, guests, stays in all states, and the desk's records.

Everything is built with `HotelWorld`'s builders from one stream, so the laws hold by construction and two builds give
the same bytes. Names repeat on purpose: a surname alone never finds one guest.
"""

from __future__ import annotations

from datetime import timedelta

from tb_hotel.models import (
    Approval,
    ApprovalRule,
    Booking,
    BookingStatus,
    ChargeKind,
    Evidence,
    Guest,
    Outcome,
    Partner,
    Property,
    RatePlan,
    Reason,
    Room,
    RoomType,
    Severity,
    Tier,
)
from tb_hotel.seed_data import COMMENTS, EMAILS, NOTES, PARTNERS, TEMPLATES, TICKETS
from tb_hotel.world import Block, HotelWorld, Person, Stay
from tb_hotel.world.company import CATEGORIES, FIRST_NIGHT, HOUSES, LAST_NIGHT, PLANS
from tb_hotel.world.names import COMPANY_NAMES, GROUP_NAMES, HOMES, SURNAMES

TIERS: tuple[tuple[Tier, bool, int], ...] = (
    ("standard", False, 40),
    ("standard", True, 14),
    ("silver", True, 38),
    ("gold", True, 36),
    ("platinum", True, 24),
)
"""Tier, whether with an account, how many guests."""

STATES: tuple[tuple[BookingStatus, int], ...] = (
    ("confirmed", 74),
    ("in_house", 20),
    ("checked_out", 48),
    ("cancelled", 14),
    ("no_show", 6),
)


def seed(w: HotelWorld) -> None:
    """Fill a world with the company's rows."""
    place_houses(w)
    place_company(w)
    guests = place_guests(w)
    blocks = place_groups(w, guests)
    stays = place_stays(w, guests, blocks)
    place_special_stays(w, guests)
    place_blocks(w, stays)
    place_records(w, guests, stays)


def place_houses(w: HotelWorld) -> None:
    """Properties, categories, rooms and the nights on sale."""
    for category in CATEGORIES:
        w.insert(RoomType, id=category.id, name=category.name, rank=category.rank, capacity=category.capacity)
    for house in HOUSES:
        w.insert(Property, id=house.id, name=house.name, city=house.city, country=house.country, phone=house.phone)
        types = [category.id for category in CATEGORIES for _ in range(house.rooms[category.id])]
        per_floor = -(-len(types) // 6)
        for place, room_type in enumerate(types):
            floor, door = divmod(place, per_floor)
            w.insert(
                Room,
                id=f"{house.id}-{floor + 1}{door + 1:02d}",
                property_id=house.id,
                room_type_id=room_type,
                floor=floor + 1,
                status=w.pick("clean", "clean", "clean", "clean", "dirty"),
            )
        for category in CATEGORIES:
            for offset in range(FIRST_NIGHT, LAST_NIGHT + 1):
                w.open_night(house.id, category.id, w.day(offset))


def place_company(w: HotelWorld) -> None:
    """Rate plans, partners and corporate accounts."""
    for plan in PLANS:
        w.insert(RatePlan, id=plan.id, name=plan.name, kind=plan.kind, discount_percent=plan.discount_percent)
    for key, name, collects in PARTNERS:
        mail = f"hotels@{name.split()[0].lower()}.example"
        w.insert(Partner, id=key, name=name, collects=collects, contact_email=mail)
    for name in COMPANY_NAMES[:12]:
        w.corporate_account(name=name)


def place_guests(w: HotelWorld) -> list[Person]:
    """Guests of all tiers; every surname is shared by three or four, some of them near duplicates."""
    all_of_them: list[tuple[Tier, bool]] = [(tier, account) for tier, account, count in TIERS for _ in range(count)]
    plan = w.rng.shuffled(all_of_them)
    guests: list[Person] = []
    for place, (tier, account) in enumerate(plan):
        surname = SURNAMES[place % len(SURNAMES)]
        alike = guests[place - len(SURNAMES)] if place >= len(SURNAMES) and place % 3 == 0 else None
        if alike:
            guests.append(w.lookalike(alike, tier=tier, account=account))
        else:
            city = HOMES[place % len(HOMES)].city if w.chance(0.5) else None
            guests.append(w.guest(tier=tier, surname=surname, city=city, account=account))
    for guest in guests[::9]:
        w.update(Guest, guest.id, authorised_contact=w.other_name(guest))
    for guest in guests[4::13]:
        w.update(Guest, guest.id, last_goodwill_on=w.day(-w.between(20, 700)))
    return guests


def place_groups(w: HotelWorld, guests: list[Person]) -> list[Block]:
    """Six group blocks."""
    return [
        w.group_block(
            guests[7 + 19 * place],
            name=GROUP_NAMES[place * 5],
            contracted=contracted,
            released=released,
            picked_up=picked_up,
            room_type=room_type,
        )
        for place, (contracted, released, picked_up, room_type) in enumerate(
            [
                (24, 0, 10, "STD"),
                (18, 2, 6, "STD"),
                (12, 0, 3, "SUP"),
                (31, 4, 12, "STD"),
                (8, 0, 2, "DLX"),
                (14, 1, 5, "STD"),
            ]
        )
    ]


def place_stays(w: HotelWorld, guests: list[Person], blocks: list[Block]) -> list[Stay]:
    """Stays in all states, plans and channels."""
    companies = w.all("corporate_accounts")
    stays: list[Stay] = []
    for status, count in STATES:
        for _ in range(count):
            guest = w.pick(*guests)
            plan = w.pick("FLEX", "FLEX", "FLEX", "SEMI", "SEMI", "NRF", "CORP", "GRP")
            if plan == "GRP" and status != "confirmed":
                plan = "FLEX"
            group = w.pick(*blocks) if plan == "GRP" else None
            partner = w.partner(w.pick("partner", "hotel")) if plan in ("FLEX", "NRF") and w.chance(0.25) else None
            old = status == "checked_out" and w.chance(0.5)
            stay = w.booking(
                guest,
                plan,
                status=status,
                arrival=group.block.arrival if group else w.day(-w.between(12, 220)) if old else None,
                nights=group.nights if group else w.between(1, 5) if status != "in_house" else w.between(3, 6),
                room_type=None if group else w.pick("STD", "STD", "STD", "SUP", "SUP", "DLX", "STE"),
                partner=partner,
                corporate=w.pick(*companies) if plan == "CORP" else None,
                group=group,
                room=True if status == "confirmed" and not group and w.chance(0.3) else None,
            )
            place_extras(w, stay)
            stays.append(stay)
    for stay in [s for s in stays if s.booking.status == "confirmed"][::9]:
        w.update(Booking, stay.id, late_checkout_hour=13)
    return stays


def place_extras(w: HotelWorld, stay: Stay) -> None:
    """What guests in the house consume, and the settlement of those who left; refunds of those who cancelled."""
    status = stay.booking.status
    if status in ("in_house", "checked_out"):
        extras: list[tuple[ChargeKind, int, Evidence]] = [
            ("breakfast", w.between(14_00, 64_00), "none"),
            ("restaurant", w.between(18_00, 95_00), w.pick("signed", "signed", "none")),
            ("minibar", w.between(4_00, 31_00), w.pick("signed", "none")),
            ("laundry", w.between(9_00, 38_00), "none"),
        ]
        taken = [extra for extra in extras if w.chance(0.45)]
        for kind, cents, evidence in taken:
            w.charge(stay.folio, kind, cents, evidence=evidence, on=stay.booking.arrival)
        owed = sum(cents for _, cents, _ in taken)
        if owed and status == "checked_out":
            at = f"{stay.booking.departure}T09:{w.between(10, 59)}:00Z"
            stay.payments.append(w.payment(stay.folio, owed, kind="settlement", paid_at=at))
    if status == "cancelled" and stay.payments and stay.plan_kind != "non_refundable":
        w.refund(stay.payments[0], stay.payments[0].amount_cents, "cancellation")


def place_special_stays(w: HotelWorld, guests: list[Person]) -> None:
    """Rooms reserved together, a stay booked twice, guests sent to a sister property, guests with pets."""
    for place in range(4):
        guest, code, arrival = guests[11 + 17 * place], w.new_code(), w.day(9 + 5 * place)
        for name in (guest.name, w.other_name(guest)):
            w.booking(guest, "FLEX", arrival=arrival, nights=2, property="VIE", stay_name=name, reservation_code=code)
    for place in range(3):
        guest, arrival = guests[5 + 23 * place], w.day(12 + 7 * place)
        kept = w.booking(guest, "FLEX", arrival=arrival, nights=2, property="LIS", room_type="STD")
        again = w.booking(
            guest,
            "FLEX",
            arrival=arrival,
            nights=2,
            property="LIS",
            room_type="STD",
            status="voided",
            duplicate_of=kept.id,
        )
        w.refund(again.payment, again.paid, "duplicate_booking")
    for place in range(3):
        house = ("LIB", "VIN", "DUD")[place]
        moved = w.booking(
            guests[3 + 31 * place], "FLEX", arrival=w.day(3 + place), nights=2, property=house, status="relocated",
            relocated_to=w.sister(house),
        )  # fmt: skip
        w.refund(moved.payment, moved.first_night, "relocation")
    for place in range(4):
        stay = w.booking(guests[2 + 37 * place], "SEMI", pets=1 + place % 2, nights=3)
        w.charge(stay.folio, "pet", 30_00 + stay.booking.pets * 3 * 12_00)


def place_blocks(w: HotelWorld, stays: list[Stay]) -> None:
    """Rooms with faults: a few under guests, most empty."""
    severities: tuple[Severity, ...] = ("minor", "minor", "major", "major", "unusable")
    for place in range(14):
        house = w.house()
        first, last = w.day(w.between(-8, 20)), w.day(w.between(21, 30))
        room = w.vacant_room(house, w.pick("STD", "SUP"), first, last)
        w.room_block(room, severities[place % len(severities)], first, last)
    for stay in [s for s in stays if s.booking.status == "in_house"][::4]:
        w.room_block(stay.booking.room_id, "minor", stay.booking.arrival, stay.booking.arrival, kind="housekeeping")


OUTCOMES: dict[Reason | None, Outcome | None] = {
    None: None,
    "within_policy": "completed",
    "policy_refused": "refused",
    "guest_declined": "no_action",
    "already_done": "no_action",
    "manager_pending": "pending_approval",
}
"""How a ticket ended, by its reason; all others were referred."""


def place_records(w: HotelWorld, guests: list[Person], stays: list[Stay]) -> None:
    """Tickets, comments, notes, e-mails, messages, identity checks and approvals of the last weeks."""
    for place in range(54):
        topic, status, reason, team, summary = TICKETS[place % len(TICKETS)]
        stay = w.pick(*stays)
        outcome = OUTCOMES.get(reason, "referred")
        ticket = w.ticket(
            stay.guest, topic, stay=stay, status=status, reason=reason, outcome=outcome, team=team, summary=summary
        )
        if reason == "manager_pending":
            place_approval(w, stay)
        for _ in range(w.between(0, 2)):
            w.comment(ticket, w.pick(*COMMENTS))
    for _ in range(64):
        kind, body = w.pick(*NOTES)
        w.note(w.pick(*guests), body, kind=kind)
    for _ in range(48):
        stay = w.pick(*stays)
        w.email_from(stay.guest, w.pick(*EMAILS), stay=stay if w.chance(0.7) else None)
    for _ in range(44):
        stay = w.pick(*stays)
        w.message_to(stay.guest, w.pick(*TEMPLATES), stay=stay)
    for _ in range(58):
        given = w.between(2, 4)
        w.identity_check(w.pick(*guests), given=given, matched=given - (1 if w.chance(0.12) else 0))


def place_approval(w: HotelWorld, stay: Stay) -> None:
    """A request of an earlier conversation that the manager has not answered."""
    if w.all(ApprovalRule, booking_id=stay.id):
        return
    w.manager_answers(stay, "pending")
    asked = w.now - timedelta(hours=w.between(18, 40))
    w.insert(
        Approval,
        booking_id=stay.id,
        kind="refund",
        amount_cents=max(stay.total, 500_01),
        currency="USD",
        decision="pending",
        justification="Guest asks for the whole amount.",
        requested_at=f"{asked:%Y-%m-%dT%H:%M:00Z}",
    )
