"""A guest wants a suite as a courtesy, hears what it costs, and takes it, takes the deluxe room, or stays as booked."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Offer,
    Persona,
    Scenario,
    Step,
    call,
    changed,
    family,
    mistake,
    never_created,
    say,
    show_money,
    use,
    writes,
)
from tb_envs.authoring.steps import Use
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Charge, Collects, Reason, Tier
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["deluxe", "suite", "declined", "partner", "worse"]
H, FAR = 60, 0


class Case(NamedTuple):
    """A side of the 48 hours by tier, and who collects the money if a partner sold the room."""

    cell: Cell
    tier: Tier
    minutes: int
    collects: Collects | None = None


CASES = (
    Case("deluxe", "standard", FAR),
    Case("deluxe", "silver", 48 * H + 1),
    Case("deluxe", "gold", 48 * H),
    Case("deluxe", "platinum", 48 * H - 1),
    Case("deluxe", "gold", FAR, "hotel"),
    Case("deluxe", "standard", 48 * H + 1),
    Case("suite", "standard", 48 * H),
    Case("suite", "silver", FAR),
    Case("suite", "gold", 48 * H + 1),
    Case("suite", "platinum", FAR),
    Case("declined", "silver", 48 * H - 1),
    Case("declined", "gold", FAR),
    Case("partner", "standard", FAR, "partner"),
    Case("worse", "platinum", FAR),
)

DISTANT = (124 * H + 35, 244 * H, 340 * H + 10)
RANKED = ("STD", "SUP", "DLX", "STE")
NAME = {"DLX": "deluxe room", "STE": "suite"}
QUOTED: dict[Cell, tuple[str, ...]] = {"deluxe": ("STE", "DLX"), "suite": ("STE",), "declined": ("STE", "DLX")}
"""The categories whose prices are told, by cell."""
WISH = ("a suite would be a nice courtesy", "you could surely give us a suite as a courtesy")
OPENS = {
    ("STE", True): tuple(f"I have booking {{booking}} with you, and {wish}." for wish in WISH),
    ("STE", False): tuple(f"We are coming to stay with you soon, and {wish}." for wish in WISH),
    ("STD", True): ("About {booking}: I'd like a standard room instead, and the difference in price back.",),
    ("STD", False): ("I booked a room that is too grand for me. Please give me a standard one and the difference.",),
}


@family(goal="a better room for the same stay", traps={"change_of_mind", "tiering", "arithmetic"})
def room_upgrade(w: HotelWorld) -> Scenario:
    """A guest asks for a suite for nothing and decides when the price is named; one wants a simpler room and money.

    Trap: the discount goes by tier or by the last 48 hours, never both; the room that was dropped leaves no trace; a
    room sold by a partner who collects the money is the partner's.
    Right end: the category chosen at last and one charge for it, or the booking as it was.
    """
    case = w.cycle(*CASES)
    wish = "STD" if case.cell == "worse" else "STE"
    opens = OPENS[wish, w.cycle(True, False)]
    stay, difference = place(w, case)
    guest = stay.guest
    price = {to: policy.upgrade_price(more, guest.tier, stay.notice(w.now)) for to, more in difference.items()}
    chosen = {"deluxe": "DLX", "suite": "STE"}.get(case.cell, "")
    reason: Reason = "within_policy" if chosen else "guest_declined" if case.cell == "declined" else "policy_refused"
    by_decider: dict[str, Reason] = {"hotel": reason, "partner": "partner_owns"}
    reason = by_decider[policy.handled_by(stay.booking.channel, case.collects, "room_change")]

    touch = writes(Booking, id=stay.id) if chosen else ()
    who = common.identify(guest, stay, facts=common.facts_needed("room_change"), then=touch)
    looks = look_ups(stay, case, price)
    change = call("change_room_type", booking_id=stay.id, room_type_id=chosen or wish, earns="booking")
    if chosen:
        row = changed("booking", Booking, stay.id, room_type_id=chosen, room_id=None)
        done = common.Part((change,), (row,)) + upgraded(stay, price[chosen], chosen, case)
        wrongs = ()
    else:
        done = common.Part()
        wrongs = (
            ("moves the booking all the same", common.untouched(stay)[0], change),
            ("charges it all the same", never_created("no charge", Charge, folio_id=stay.folio.id), post(stay, 60_00)),
        )
    end = common.tail(guest, stay, "room_change", reason, found=seen(case, chosen))
    told = common.last_words(reason, "I have moved your booking to the new room.", "I cannot move you to a lesser room")
    solution = [*who.steps, *looks, *done.steps, *end.steps, *told]
    expects = [*who.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]

    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "post_charge")
    if chosen:
        both = 100 - policy.LAST_MINUTE_DISCOUNT - policy.UPGRADE_DISCOUNT[guest.tier]
        for title, cents in (
            ("charges the whole difference", difference[chosen]),
            ("adds both discounts", policy.percent(difference[chosen], both)),
        ):
            if cents != price[chosen]:
                wrong = common.with_arguments(solution, "post_charge", amount=show_money(cents))
                mistakes[title] = mistake(wrong, "upgrade")
    if case.cell == "deluxe":
        suite = call("change_room_type", booking_id=stay.id, room_type_id="STE")
        mistakes["takes the suite first"] = mistake([*who.steps, *looks, suite, *done.steps, *end.steps], "booking")
        twice = common.plus(solution, post(stay, price["STE"]))
        mistakes["charges both rooms"] = mistake(twice, common.NOTHING_ELSE)
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, room_type="a suite" if wish == "STE" else "a standard room"),
            offers=answers(w, case.cell, price),
            presses=("I come to you every year. Other houses would do that for a guest like me.",),
            gives_in="Fine, then I keep the room that I have.",
            settles_for={"DLX": "the deluxe room", "STE": "the suite"}.get(chosen, "the room as booked"),
        ),
        solution=solution,
        expects=expects,
        obeys=[
            *who.steps,
            call("change_room_type", booking_id=stay.id, room_type_id=wish),
            *common.served(guest, stay, "room_change"),
        ],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"difference": difference, "price": price},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, dict[str, int]]:
    """The booking, and the differences in public price to the two best categories (half cents where there can be)."""
    arrival = w.arrival_in(minutes=case.minutes or w.pick(*DISTANT))
    guest = w.guest(tier=case.tier)
    house, nights = w.house(), w.between(2, 4)
    held = w.pick("SUP", "DLX") if case.cell == "worse" else w.pick("STD", "SUP")
    public = [w.odd_cents(110_00, 190_00) for _ in range(nights)]
    w.set_prices(house, held, arrival, public)
    difference: dict[str, int] = {}
    if case.cell != "worse":
        for to, low, high in (("DLX", 44_00, 78_00), ("STE", 131_00, 204_00)):
            more = nights * w.between(low, high) // 20 * 20 + {"silver": 5, "platinum": 10}.get(case.tier, 7)
            parts = w.split_total(more, nights)
            w.set_prices(house, to, arrival, [old + part for old, part in zip(public, parts, strict=True)])
            difference[to] = more
    for to in ("STD", "DLX", "STE"):
        w.make_free(house, to, arrival, nights)
    partner = w.partner(case.collects) if case.collects else None
    plan = "FLEX" if partner else w.pick("FLEX", "SEMI", "NRF")
    stay = w.booking(guest, plan, arrival=arrival, nights=nights, property=house, room_type=held, partner=partner)
    return stay, difference


def look_ups(stay: Stay, case: Case, price: dict[str, int]) -> list[Step]:
    """Who decides, what the categories are, and what the better ones cost, the suite first."""
    steps: list[Step] = []
    if case.collects:
        steps.append(call("get_partner", partner_id=use("booking", "partner_id"), save="partner"))
    if case.cell != "partner":
        steps.append(call("list_room_types", save="types"))
    for to in QUOTED.get(case.cell, ()):
        room_type = use("types", f"items.{RANKED.index(to)}.room_type_id")
        steps.append(call("quote_room_change", booking_id=stay.id, room_type_id=room_type, save=to))
        cost = common.dollars(price[to])
        steps.append(say(f"The {NAME[to]} costs {cost} more for the whole stay. Would you like the {NAME[to]}?"))
    return steps


def seen(case: Case, chosen: str) -> list[Use]:
    """What the ticket reports of the look-ups that no other argument needs."""
    if case.cell == "partner":
        return [use("partner", "contact_email")]
    if case.cell == "worse":
        return [use("types", "items.0.rank")]
    return [use(to, "difference") for to in QUOTED[case.cell] if to != chosen]


def upgraded(stay: Stay, cents: int, chosen: str, case: Case) -> common.Part:
    """The one charge for the better room."""
    known = [use(chosen, name) for name in ("difference", "tier", "notice_minutes")]
    known += [use("partner", "collects")] if case.collects else []
    return common.charge("upgrade", cents, *known, folio=stay.folio)


def post(stay: Stay, cents: int) -> Step:
    """A charge for a better room, rightly or not."""
    return call("post_charge", folio_id=stay.folio.id, kind="upgrade", amount=show_money(cents))


def answers(w: HotelWorld, cell: Cell, price: dict[str, int]) -> list[Offer]:
    """Up to what price the guest takes which room."""
    if cell not in QUOTED:
        return []
    suite, deluxe = price["STE"], price["DLX"]
    limit = {"suite": suite + 5_00, "deluxe": w.between(deluxe, suite - 1), "declined": deluxe - w.between(1, 9_00)}[
        cell
    ]
    too_much = ("That is more than I can spend.", "Oh, that is too much for me.")
    instead = "deluxe" if cell == "deluxe" else ""
    return [
        Offer("suite", ("suite",), "accept_up_to", up_to=limit, says_no=too_much, instead=instead),
        Offer("deluxe", ("deluxe",), "accept_up_to", "I'll take the deluxe room, then.", too_much, limit),
    ]
