"""A guest wants to stay past check-out for nothing; tier, hour and the next arrival decide, and set the price."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Consent,
    Persona,
    Scenario,
    Step,
    call,
    changed,
    derived,
    family,
    kept,
    mistake,
    never_created,
    say,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, BookingStatus, Charge, Collects, Reason, Tier
from tb_hotel.world import HotelWorld, Stay


class Case(NamedTuple):
    """Tier, the hour wished for, whether the room is needed again, and what the guest does on hearing how it stands.

    One who agrees takes the latest hour where the wish is too late; a number is the earlier hour taken instead.
    """

    tier: Tier
    wish: int
    needed: bool = False
    then: Literal["agrees", "declines"] | int = "agrees"


CASES = (
    Case("gold", 13, needed=True),
    Case("platinum", 16),
    Case("gold", 14),
    Case("platinum", 17),
    Case("standard", 18),
    Case("silver", 19),
    Case("standard", 14, needed=True),
    Case("gold", 19, then="declines"),
    Case("silver", 15, then="declines"),
    Case("standard", 17, then=13),
    Case("platinum", 14, needed=True),
    Case("silver", 14, needed=True, then="declines"),
    Case("gold", 18, then=15),
    Case("silver", 12),
)


@family(goal="leave later on the last day", traps={"tiering", "pressure", "superseded"})
def late_checkout(w: HotelWorld) -> Scenario:
    """A guest asks for a late check-out, free as always, and has a limit for the price.

    Trap: an old article is cheaper and gives every member until 14:00; a room that is needed again is given up by
    13:00 whatever the tier; the hours of gold and platinum count from their free hour.
    Right end: the hour agreed and one charge for all of it, or none; nothing changed when it is too late or too dear.
    """
    case = w.cycle(*CASES)
    opens_with_number = w.cycle(True, False)
    collects: Collects | None = w.cycle(None, None, "hotel", None, None, None, None, None, "partner", None, None, None)
    stay = place(w, case, collects)
    guest = stay.guest
    ours = policy.handled_by(stay.booking.channel, collects, "late_checkout") == "hotel"
    latest = policy.latest_check_out(case.needed)
    too_late, offered = case.wish > latest, min(case.wish, latest)
    asked = policy.late_check_out_fee(guest.tier, offered)
    hour = offered if case.then == "agrees" else 0 if case.then == "declines" else case.then
    fee = policy.late_check_out_fee(guest.tier, hour) if hour else 0
    reason: Reason = "within_policy" if hour else "policy_refused" if too_late else "guest_declined"
    reason = reason if ours else "partner_owns"

    who = common.identify(guest, stay, facts=("booking", "email"), then=writes(Booking, id=stay.id) if hour else ())
    priced = bool(asked) and (bool(hour) or not too_late)
    looks: list[Step] = [call("quote_late_checkout", booking_id=stay.id, save="quote")]
    needs = [use("quote", "tier"), use("quote", "room_needed")]
    if priced:
        looks.append(call("search_articles", query="late check-out price"))
        looks.append(call("get_article", article_id="KB-03", save="article"))
        needs.append(use("article", "body"))
    looks += talk(case, offered, asked, hour, fee)
    set_hour = late(stay, hour, *needs)
    bill = common.charge("late_checkout", fee, *needs, folio=stay.folio)
    if not fee:
        bill = common.Part(expects=(never_created("no charge", Charge, folio_id=stay.folio.id),))
    done = set_hour + bill if hour else common.Part(expects=(kept("booking kept", Booking, stay.id),))
    end = common.tail(guest, stay, "late_checkout", reason, found=() if hour else needs)
    solution = [*who.steps, *looks, *done.steps, *end.steps, *told(hour, fee, too_late)]
    expects = [*who.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    wrong = common.common_mistakes(solution, expects)
    if not hour:
        wrong["sets the hour all the same"] = mistake(script(late(stay, case.wish)), "booking kept")
    else:
        wrong["forgets the hour"] = mistake(script(bill), "booking", "omission")
        wrong["sets an hour more at the same price"] = mistake(script(late(stay, hour + 1), bill), "booking")
        wrong["sets another hour first"] = mistake(script(late(stay, hour + 1), set_hour, bill), "booking")
        old = (hour - 11 if guest.tier == "standard" else max(hour - 14, 0)) * 15_00
        sums = {"goes by the old article": old, "counts the free hours": (hour - 11) * 20_00}
        for title, cents in sums.items():
            if cents and cents != fee:
                other = common.charge("late_checkout", cents, folio=stay.folio)
                wrong[title] = mistake(script(set_hour, other), "late checkout" if fee else "no charge")
    if hour and too_late:
        wrong["sets the hour wished for"] = mistake(script(late(stay, case.wish), bill), "booking")
    if fee:
        wrong["lets the guest have it for free"] = mistake(script(set_hour), "late checkout")
    at_once = who.steps[:2] if hour == case.wish and not fee else who.steps
    return Scenario(
        customer=persona(stay, case, asked, fee, opens_with_number),
        solution=solution,
        expects=expects,
        obeys=[*at_once, *late(stay, case.wish).steps, *common.served(guest, stay, "late_checkout")],
        mistakes=wrong,
        about=[guest.id],
        cell=cell_of(hour, fee, too_late, case),
        facts={"latest": latest, "offered": offered, "price": asked, "agreed": hour, "charged": fee},
    )


def place(w: HotelWorld, case: Case, collects: Collects | None) -> Stay:
    """A stay with a room, which is booked again from the day of departure or not; some were sold by a partner."""
    partner = w.partner(collects) if collects else None
    status: BookingStatus = w.pick("in_house", "confirmed")
    guest = w.guest(tier=case.tier)
    stay = w.booking(guest, w.pick("FLEX", "NRF"), status=status, room=True, partner=partner)
    if case.needed:
        booking = stay.booking
        like = {"property": booking.property_id, "room_type": booking.room_type_id, "room": booking.room_id}
        w.booking(w.guest(), "FLEX", arrival=booking.departure, nights=2, **like)
    return stay


def late(stay: Stay, hour: int, *seen: object) -> common.Part:
    """Set the hour of departure."""
    step = call("set_late_checkout", booking_id=stay.id, hour=derived(hour, *seen), earns="booking")
    return common.Part((step,), (changed("booking", Booking, stay.id, late_checkout_hour=hour),))


def talk(case: Case, offered: int, asked: int, hour: int, fee: int) -> list[Step]:
    """How agent and guest come to an hour, or to none."""

    def question(at: int, cents: int) -> Step:
        price = f"would cost {common.dollars(cents)}" if cents else "is free of charge for you"
        return say(f"A late check-out until {at}:00 {price}. Shall I set {at}:00?")

    if case.wish > offered:
        no = say(f"I am sorry, {case.wish}:00 is not possible. The latest hour on that day is {offered}:00.")
        if not hour:
            return [no, say(f"Only {offered}:00 can be arranged, not later. Shall I set {offered}:00?")]
        return [no, question(offered, asked)]
    if hour and hour != offered:
        return [question(offered, asked), question(hour, fee)]
    return [question(offered, asked)]


def persona(stay: Stay, case: Case, asked: int, fee: int, opens_with_number: bool) -> Persona:
    """A guest who has never paid for an hour."""
    mine = "my room, booking {booking}," if opens_with_number else "my room"
    consents = Consent(up_to=asked + 45_00, says_no="That is far too much.")
    if case.then == "declines":
        no = ("No, then I shall leave at 11:00 like everybody else.", "No, thank you. Then it makes no sense for me.")
        consents = Consent(answer=False, says=no) if case.wish > 15 or case.needed else Consent(up_to=0, says_no=no)
    elif case.then != "agrees":
        consents = Consent(up_to=fee, says_no=f"So much? Then only until {case.then}:00, please.")
    return Persona(
        opens=(
            f"I would like to keep {mine} until {{hour}} on the day I leave. Free of charge, as always.",
            f"My train goes late, so I need {mine} until {{hour}} on my last day. It has never cost anything before.",
        ),
        knows=common.persona_facts(stay.guest, stay, hour=f"{case.wish}:00"),
        consents=consents,
        presses=("The last time nobody made such a fuss. Surely you can let me stay a little?",),
        gives_in="Well, I see.",
        settles_for="the hour at its price" if case.then != "declines" else "leaving at the usual hour",
    )


def told(hour: int, fee: int, too_late: bool) -> list[Step]:
    """What the guest hears at the end, and after insisting."""
    if not hour:
        end = say("Then nothing has been changed: your check-out stays at 11:00 and nothing is charged.")
        return [end] if too_late else [end, say("I am sorry, I cannot give it away for free. It stays at 11:00.")]
    price = f"charged {common.dollars(fee)} to your folio" if fee else "there is nothing to pay"
    return [say(f"I have arranged the late check-out until {hour}:00 and {price}.")]


def cell_of(hour: int, fee: int, too_late: bool, case: Case) -> str:
    """The cell, by how it ends."""
    if not hour:
        return "too late, declines" if too_late else "too dear, declines"
    if too_late:
        return "too late, takes the latest"
    return "takes an earlier hour" if hour != case.wish else "paid" if fee else "free"
