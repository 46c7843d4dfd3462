"""A business traveller paid more than the company's rate; night by night, inside the validity, to the cent."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Scenario,
    Step,
    call,
    family,
    mistake,
    never_created,
    say,
    show_money,
    use,
    writes,
)
from tb_envs.authoring.steps import Use
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Approval, Reason, Refund, Tier
from tb_hotel.world import HotelWorld, Stay

LIST = None
"""A night sold at the list price of its plan."""


class Case(NamedTuple):
    """Days since departure (0: still to come), cents overpaid on each night, the first or last night that is valid."""

    cell: Literal["refund", "large", "zero", "late"]
    plan: Literal["FLEX", "SEMI"]
    gone: int
    nights: tuple[int | None, ...]
    valid: tuple[Literal["from", "until", "always"], int]
    tier: Tier = "standard"


CASES = (
    Case("refund", "FLEX", 59, (LIST, LIST, LIST), ("from", 1), "silver"),
    Case("refund", "SEMI", 60, (1_00, LIST, 99), ("until", 2)),
    Case("late", "FLEX", 61, (LIST, LIST), ("always", 0), "gold"),
    Case("refund", "FLEX", 0, (1_01, LIST, LIST, LIST), ("until", 1)),
    Case("zero", "SEMI", 0, (99, 60, -2_40), ("always", 0), "silver"),
    Case("zero", "FLEX", 12, (LIST, LIST), ("from", 2), "platinum"),
    Case("large", "FLEX", 30, (LIST,) * 6, ("always", 0)),
    Case("refund", "FLEX", 0, (LIST, LIST, LIST, LIST), ("from", 3), "gold"),
    Case("large", "FLEX", 60, (LIST, LIST, LIST, 99, LIST, LIST), ("until", 5), "gold"),
    Case("zero", "SEMI", 45, (99, 98), ("from", 0)),
    Case("late", "SEMI", 61, (LIST, LIST, LIST), ("until", 1), "platinum"),
    Case("refund", "SEMI", 5, (1_00, 1_01, -1_50, LIST), ("from", 0), "silver"),
)

OPENS = {
    True: (
        "You charged me the ordinary rate on {booking}, but I travel for {company}, and we have {discount} percent.",
        "{company} has {discount} percent off in all your houses. My booking {booking} was sold without it.",
    ),
    False: (
        "I travel for {company} and did not get our rate. We have {discount} percent, so please return that.",
        "My employer, {company}, has a contract with you: {discount} percent on every night. I paid the full rate.",
    ),
}


@family(
    goal="the company's rate was not applied",
    traps={"arithmetic", "wrong_premise", "window"},
    split="bench",
)
def corporate_rate(w: HotelWorld) -> Scenario:
    """A traveller of a company was sold the ordinary rate and wants the company's discount on the whole bill.

    Trap: the discount is lower than the traveller believes and holds on some of the nights only; each night is rounded
    and compared with the public price by itself, a difference of less than a dollar is left; 60 days after departure
    it is over. The booking stays as it is, and no sum needs the manager.
    Right end: the sum of the nights back, or nothing and a ticket that says why.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    stay, company, public = place(w, case)
    guest, discount = stay.guest, company.discount_percent
    sold = [
        policy.SoldNight(date.fromisoformat(night.night), night.price_cents, price)
        for night, price in zip(stay.nights, public, strict=True)
    ]
    validity = date.fromisoformat(company.valid_from), date.fromisoformat(company.valid_until)
    in_time = policy.claim_is_open("corporate_rate", stay.departure, w.today)
    due = policy.corporate_correction(sold, discount, *validity) if in_time else 0
    asks = policy.approval_needed("corporate_rate", due, guest.tier)
    reason: Reason = "policy_refused" if not due else "manager_granted" if asks else "within_policy"

    touch = writes(Refund, payment_id=stay.payment.id) if due else ()
    who = common.identify(guest, stay, facts=("booking", "email", "postcode"), then=touch)
    looks, seen = look_ups(case, stay, in_time)
    folio = call("get_folio", folio_id=use("booking", "folio_ids.0"))
    manager = common.approval(stay, due, "granted", *seen) if asks else common.Part()
    done = common.Part((folio,)) + manager + common.refund(stay.payment, due, "corporate_rate", *seen)
    done = done if due else common.Part()
    end = common.tail(guest, stay, "corporate_rate", reason, found=() if due else seen)
    told = f"I have refunded {common.dollars(due)}, the difference to your company's rate."
    words = common.last_words(reason, told, NOTHING if in_time else TOO_LATE)
    solution = [*who.steps, *looks, *question(discount, due), *done.steps, *end.steps, *words]

    wrongs = temptations(stay, due)
    expects = [*who.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "refund_payment")
    sums = {
        "takes the discount named": policy.corporate_correction(sold, discount + 5, *validity),
        "counts all nights": policy.corporate_correction(sold, discount, sold[0].night, sold[-1].night),
        **wrong_sums(sold, discount, validity),
    }
    for title, cents in sums.items() if due else ():
        if cents != due:
            wrong = common.with_arguments(solution, "refund_payment", amount=show_money(cents))
            mistakes[title] = mistake(wrong, "refund")
    claimed = returned(stay, policy.percent(stay.total, discount + 5))
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, company=company.name, discount=discount + 5),
            mistaken={"discount": ("Oh. Then I had an older contract in mind.", "Is it? Then I mixed that up.")},
            presses=("Our contract says otherwise, I have seen it with my own eyes.",),
            gives_in="Then I will take it up with our travel office.",
            settles_for="what is due" if due else "an explanation",
        ),
        solution=solution,
        expects=expects,
        obeys=[*who.steps, folio, claimed, *common.served(guest, stay, "corporate_rate")],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"due": due, "discount": discount, "valid": [company.valid_from, company.valid_until]},
    )


NOTHING = "by the public prices no night was a dollar or more too dear, so nothing can be returned"
TOO_LATE = "more than 60 days have gone since your departure, so it is too late and nothing can be returned"


def place(w: HotelWorld, case: Case) -> tuple[Stay, Record, list[int]]:
    """The booking, its company, and the public prices: each leaves a little under, on or over half a cent."""
    count = len(case.nights)
    first = w.today + timedelta(days=-case.gone - count if case.gone else w.between(9, 30))
    shares = (21, 23) if case.cell == "large" else (11, 13, 17, 19, 21, 23)
    discount = w.pick(*shares)
    low, high = (490_00, 530_00) if case.cell == "large" else (104_00, 188_00)
    public = [near_half(w.between(low, high), 100 - discount, (50, 49, 51)[place % 3]) for place in range(count)]
    valid_from, valid_until = validity(case, first)
    company = w.corporate_account(discount=discount, valid_from=valid_from, valid_until=valid_until)
    house, room_type = w.house(), "DLX" if case.cell == "large" else w.pick("STD", "SUP")
    w.set_prices(house, room_type, first.isoformat(), public)
    list_price = 100 if case.plan == "FLEX" else 92
    stay = w.booking(
        w.guest(tier=case.tier),
        case.plan,
        arrival=first,
        status="checked_out" if case.gone else "confirmed",
        property=house,
        room_type=room_type,
        prices=[
            (price * list_price + 50) // 100 if over is None else (price * (100 - discount) + 50) // 100 + over
            for price, over in zip(public, case.nights, strict=True)
        ],
        corporate=company,
    )
    return stay, company, public


def near_half(price: int, share: int, rest: int) -> int:
    """The next price of which the share leaves this many hundredths of a cent."""
    return next(cents for cents in range(price, price + 100) if cents * share % 100 == rest)


def validity(case: Case, first: date) -> tuple[str, str]:
    """When the account is valid: from a night of the stay on, until one, or all along."""
    edge, kind = first + timedelta(days=case.valid[1]), case.valid[0]
    begins = edge if kind == "from" else first - timedelta(days=200)
    ends = edge if kind == "until" else first + timedelta(days=300)
    return begins.isoformat(), ends.isoformat()


def look_ups(case: Case, stay: Stay, in_time: bool) -> tuple[list[Step], list[Use]]:
    """What has to be looked at, and what of it decides."""
    time, now = call("get_time", save="time"), use("time", "now")
    if not in_time:
        return [time], [now, use("booking", "departure")]
    account = use("booking", "corporate_account_id")
    prices = call(
        "get_public_prices",
        property_id=use("booking", "property_id"),
        room_type_id=use("booking", "room_type_id"),
        first_night=use("booking", "arrival"),
        last_night=use("booking", f"nights.{len(stay.nights) - 1}.night"),
        save="prices",
    )
    looks: list[Step] = [call("get_corporate_account", corporate_account_id=account, save="company"), prices]
    seen = [use("company", "discount_percent"), use("prices", "items"), use("booking", "nights")]
    return ([time, *looks], [now, *seen]) if case.gone else (looks, seen)


def question(discount: int, due: int) -> list[Step]:
    """What can be returned, and the discount on record."""
    if not due:
        return []
    return [
        say(f"By our records, the contract gives {discount} percent."),
        say(f"Counted night by night, you paid {common.dollars(due)} too much. Shall I refund that?"),
    ]


def temptations(stay: Stay, due: int) -> list[tuple[str, Expectation, Step]]:
    """What must not be done here: in words, the guard that says so, and the step that breaks it."""
    kept, no_refund = common.untouched(stay)
    wrongs = [] if due else [("returns something all the same", no_refund, returned(stay, 25_00))]
    if stay.booking.status == "confirmed":
        wrongs.append(("cancels it, to be booked anew", kept, common.cancel(stay).steps[0]))
    if due:
        guard = never_created("no approval", Approval, booking_id=stay.id)
        wrongs.append(("asks the manager without need", guard, common.approval(stay, due, "pending").steps[0]))
    return wrongs


def wrong_sums(sold: list[policy.SoldNight], discount: int, valid: tuple[date, date]) -> dict[str, int]:
    """Sums that are easily taken for the right one."""
    inside = [night for night in sold if valid[0] <= night.night <= valid[1]]
    right = [policy.percent(night.public, 100 - discount) for night in inside]
    over = [night.sold - price for night, price in zip(inside, right, strict=True)]
    exact = policy.percent(sum(night.public for night in inside), 100 - discount)
    cut = sum(night.sold - night.public + policy.percent(night.public, discount) for night in inside)
    counted = sum(cents for cents in over if cents >= 1_00)
    return {
        "corrects the cents too": sum(cents for cents in over if cents > 0),
        "sets the cheap nights off": sum(over),
        "rounds the sum, not the nights": counted + sum(right) - exact,
        "rounds the discount, not the price": cut,
    }


def returned(stay: Stay, cents: int) -> Step:
    """Money back on the payment of the stay, rightly or not."""
    amount = show_money(cents)
    return call("refund_payment", payment_id=stay.payment.id, amount=amount, reason="corporate_rate")
