"""A booking sold by a partner: what the partner decides stays undone, what is ours beside it is done."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Request,
    Scenario,
    Step,
    call,
    family,
    kept,
    mistake,
    never_created,
    say,
    use,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.families._extras import Extra, late_checkout, parking
from tb_hotel.models import Booking, Collects, FolioStatus, Partner, Refund, Tier, Topic
from tb_hotel.world import HotelWorld, Stay, nights_of

ALL_NIGHTS, NIGHTS = 999_999, 5


class Case(NamedTuple):
    """The first request, who collects the money, and the extra asked besides: parking, or a late check-out.

    `figure`: cents that parking is above its price (`ALL_NIGHTS`: all of them charged), or the hour of departure.
    """

    topic: Topic
    collects: Collects
    extra: Literal["", "parking", "late"] = ""
    figure: int = 0
    tier: Tier = "standard"
    folio: FolioStatus = "open"


CASES = (
    Case("cancellation", "partner"),
    Case("cancellation", "hotel", tier="gold"),
    Case("date_change", "partner", tier="silver"),
    Case("early_departure", "hotel"),
    Case("cancellation", "hotel", "parking", 36_00),
    Case("early_departure", "partner", "parking", 1, "silver", "settled"),
    Case("date_change", "hotel", "late", 13),
    Case("early_departure", "partner", "late", 14, "gold"),
    Case("early_departure", "hotel", "parking", 0, "silver"),
    Case("cancellation", "partner", "parking", 0, "gold"),
    Case("date_change", "partner", "late", 16, "platinum"),
    Case("early_departure", "hotel", "parking", 1),
    Case("date_change", "hotel", "parking", ALL_NIGHTS, "gold", "settled"),
)


@family(goal="change what a partner sold", traps={"restraint", "compound", "wrong_premise"}, split="bench")
def partner_booking(w: HotelWorld) -> Scenario:
    """A guest wants a booking cancelled or changed that a partner sold, and says that the partner left it to us.

    Trap: whoever collects the money, the contract is the partner's; but parking and late check-out are ours on every
    booking, and that part is carried out, with one ticket for both.
    Right end: the booking as it was, the guest sent to the partner; with the extra done, the ticket partly completed.
    """
    case = w.cycle(*CASES)
    opens_with_number = w.cycle(True, False)
    stay, bill, days = place(w, case)
    guest, partner = stay.guest, w.get(Partner, stay.booking.partner_id)
    extra = asked_besides(stay, case, bill)
    theirs = policy.handled_by("ota", case.collects, case.topic) == "partner"
    ours = extra is not None and policy.handled_by("ota", case.collects, extra.topic) == "hotel"
    partly = extra is not None and ours and bool(extra.done.steps)
    topics = {case.topic} | ({extra.topic} if extra else set())
    facts = FACTS[: policy.PLAIN_FACTS if topics <= policy.UNPROTECTED else policy.PROTECTED_FACTS]

    who = common.identify(guest, stay, facts=facts, then=extra.first if extra and partly else ())
    start = [
        *who.steps,
        call("get_partner", partner_id=use("booking", "partner_id"), save="partner"),
        say(refusal(case.topic, partner)),
        say(f"I am sorry, I cannot do it: {NOUN[case.topic]} is for {partner.name} to decide, whatever they said."),
        *(extra.looks if extra else []),
    ]
    done = extra.done if extra else common.Part()
    guards: list[common.Expectation] = [] if case.extra == "late" else [kept("booking kept", Booking, stay.id)]
    room = [payment for payment in stay.payments if payment.kind == "prepayment"]
    guards += [never_created("no refund", Refund, payment_id=payment.id) for payment in room]
    found = [use("partner", "contact_email"), *(extra.found if extra and not partly else [])]
    template = extra.template if extra and partly else None
    reason = "partner_owns" if theirs else "within_policy"
    end = common.tail(guest, stay, case.topic, reason, partly=partly, template=template, found=found)
    final = f"I cannot change that for you: {NOUN[case.topic]} is with {partner.name}."
    final += f" {extra.told}" if extra else ""
    solution = [*start, *done.steps, *end.steps, say(final)]
    expects = [*who.expects, *done.expects, *guards, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*start, *(step for part in middle for step in part.steps), *end.steps]

    kept_check = "booking" if case.extra == "late" else "booking kept"
    wish = change(stay, case.topic, days)
    wrong = common.common_mistakes(solution, expects)
    wrong["does what the partner decides"] = mistake(script(done, wish), kept_check)
    again = common.close_ticket(guest, stay, extra.topic if extra else "room_change", "policy_refused")
    wrong["writes a second ticket"] = mistake(script(done, again), common.NOTHING_ELSE)
    if room:
        back = common.refund(room[0], stay.first_night, "cancellation")
        wrong["returns money for the room"] = mistake(script(done, back), "no refund")
    if extra:
        wrong |= {title: mistake(script(part), fails) for title, (part, fails) in extra.wrong.items()}
    if partly:
        for title, values in {
            "gives the ticket to the partner desk": {"team": "partner_desk"},
            "closes it as referred": {"outcome": "referred", "team": "partner_desk"},
            "closes it as completed": {"outcome": "completed", "reason": "within_policy"},
        }.items():
            wrong[title] = mistake(common.with_arguments(solution, "open_ticket", **values), "ticket")
        wrong["sends the referral"] = mistake(
            common.with_arguments(solution, "send_message", template="partner_referral"), "message"
        )
    return Scenario(
        customer=persona(w, stay, case, partner, days, opens_with_number),
        solution=solution,
        expects=expects,
        obeys=[
            *who.steps,
            *(extra.wish.steps if extra else ()),
            *wish.steps,
            *(step for payment in room for step in common.refund(payment, payment.amount_cents, "cancellation").steps),
            *common.served(guest, stay, case.topic),
        ],
        mistakes=wrong,
        about=[guest.id],
        cell="partner's matter" if not extra else f"plus {case.extra}" if partly else f"plus {case.extra}, not due",
        facts={"partner": partner.name, "collects": case.collects, "carried out": partly},
    )


FACTS = ("booking", "email", "phone")
NOUN: dict[Topic, str] = {
    "cancellation": "the cancellation of your booking",
    "date_change": "the change of your dates",
    "early_departure": "an early departure",
}
WORDS: dict[Topic, tuple[str, ...]] = {
    "cancellation": ("cancellation", "cancel"),
    "date_change": ("dates",),
    "early_departure": ("early departure", "leave"),
}


def place(w: HotelWorld, case: Case) -> tuple[Stay, Record | None, dict[str, str]]:
    """The partner's booking, its charge for parking, and the days that the guest would like."""
    guest = w.guest(tier=case.tier)
    leaving = case.topic == "early_departure"
    stay = w.booking(
        guest,
        w.pick("FLEX", "NRF"),
        arrival=w.day(-1 if leaving else w.between(8, 20)),
        status="in_house" if leaving else "confirmed",
        total=w.odd_cents(92_00, 168_00) * NIGHTS,
        nights=NIGHTS,
        room=True,
        partner=w.partner(case.collects),
        folio_status=case.folio,
    )
    booking = stay.booking
    first = w.day(w.between(26, 34))
    days = {"new_arrival": first, "new_departure": nights_of(first, NIGHTS + 1)[-1]}
    w.make_free(booking.property_id, booking.room_type_id, first, NIGHTS)
    if leaving:
        days = {"new_departure": w.day(1)}
    bill = None
    if case.extra == "parking":
        paying = {"gold": NIGHTS - 1, "platinum": 0}.get(case.tier, NIGHTS)
        cents = NIGHTS * 18_00 if case.figure == ALL_NIGHTS else paying * 18_00 + case.figure
        bill = w.charge(stay.folio, "parking", cents)
        if case.folio == "settled":
            stay.payments.append(w.payment(stay.folio, cents, kind="settlement", paid_at=w.moment(minutes=-47)))
    return stay, bill, days if case.topic != "cancellation" else {}


def asked_besides(stay: Stay, case: Case, bill: Record | None) -> Extra | None:
    """The second request."""
    if bill is not None:
        return parking(stay, bill)
    return late_checkout(stay, case.figure) if case.extra == "late" else None


def change(stay: Stay, topic: Topic, days: dict[str, str]) -> common.Part:
    """What only the partner may decide."""
    match topic:
        case "cancellation":
            return common.cancel(stay)
        case "date_change":
            arrival, departure = days["new_arrival"], days["new_departure"]
            return common.Part((call("change_dates", booking_id=stay.id, arrival=arrival, departure=departure),))
        case _:
            return common.shorten(stay, days["new_departure"])


def refusal(topic: Topic, partner: Record) -> str:
    """How the guest is sent to the partner."""
    return (
        f"Your booking was made with {partner.name}, so {NOUN[topic]} cannot be done by us. "
        f"They can be reached at {partner.contact_email}."
    )


def persona(
    w: HotelWorld, stay: Stay, case: Case, partner: Record, days: dict[str, str], opens_with_number: bool
) -> Persona:
    """The guest, sent from one to the other."""
    mine = "my booking {booking}" if opens_with_number else "my booking"
    wish = {
        "cancellation": f"Please cancel {mine} and return what I paid.",
        "date_change": f"Please move {mine} to {days.get('new_arrival')}, until {days.get('new_departure')}.",
        "early_departure": f"I want to leave on {days.get('new_departure')} already; please shorten {mine} and pay me.",
    }[case.topic]
    second = {
        "parking": "Besides, the parking on my bill is too high. Your list says USD 12 a night; please put that right.",
        "late": "Besides, I want to keep the room until {hour} on the last day, free as always.",
    }
    hour = {"hour": f"{case.figure}:00"} if case.extra == "late" else {}
    further = Request(
        opens=second.get(case.extra, ""),
        after=w.pick("opening", "halfway"),
        topic=("parking",) if case.extra == "parking" else ("check-out", "room until"),
    )
    return Persona(
        opens=(
            f"{wish} {partner.name} told me that you decide on this.",
            f"{partner.name} says that it is all up to the hotel. {wish}",
        ),
        knows=common.persona_facts(stay.guest, stay, **days, **hour),
        topic=WORDS[case.topic],
        presses=(f"But {partner.name} said in so many words that you decide!",),
        gives_in="Then I will write to them.",
        then=further if case.extra else (),
        settles_for="the partner's decision, and what is ours",
    )
