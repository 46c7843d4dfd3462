"""A wrong price for a pet, and then other dates for the same booking: each by its own rule, on one ticket."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Request,
    Scenario,
    Step,
    ask,
    call,
    family,
    kept,
    mistake,
    never_created,
    say,
    show_money,
    use,
    writes,
)
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.families import _moves as moves
from tb_hotel.models import Booking, Charge, Reason, Refund, Tier
from tb_hotel.world import HotelWorld, Stay

H, FAR = 60, 250 * 60


class Case(NamedTuple):
    """Plan, minutes of notice, changes made before; pets, nights, the charge there is; how much more the dates cost."""

    plan: Literal["FLEX", "SEMI", "NRF"]
    minutes: int
    changes: int
    pets: int
    nights: int
    charged: int
    more: int
    tier: Tier = "standard"


CASES = (
    Case("SEMI", 48 * H - 1, 1, pets=2, nights=3, charged=121_50, more=64_37),
    Case("SEMI", 48 * H, 0, pets=2, nights=5, charged=150_00, more=41_09),
    Case("SEMI", 48 * H + 1, 1, pets=2, nights=6, charged=189_50, more=-38_55, tier="gold"),
    Case("NRF", 336 * H, 1, pets=1, nights=3, charged=84_75, more=27_13, tier="silver"),
    Case("NRF", 336 * H - 1, 0, pets=1, nights=10, charged=174_00, more=52_30),
    Case("NRF", 336 * H + 1, 0, pets=1, nights=4, charged=78_00, more=0, tier="platinum"),
    Case("FLEX", FAR, 2, pets=2, nights=4, charged=141_00, more=19_99, tier="gold"),
    Case("FLEX", FAR, 2, pets=1, nights=5, charged=90_00, more=33_10),
    Case("NRF", 336 * H - 1, 1, pets=2, nights=5, charged=150_00, more=25_00, tier="gold"),
    Case("FLEX", FAR, 1, pets=1, nights=3, charged=54_00, more=72_45, tier="silver"),
    Case("SEMI", 48 * H - 1, 0, pets=1, nights=2, charged=69_25, more=-12_00, tier="platinum"),
    Case("SEMI", FAR, 2, pets=1, nights=11, charged=175_00, more=30_01, tier="silver"),
)

OPENS = {
    True: (
        "I have two things. First, the price for pets on {booking}: it is USD 45 for a stay, whatever you write there.",
        "Two matters about {booking}. To begin with, you put too much on it for pets. That is USD 45, by your leaflet.",
    ),
    False: (
        "There are two things to sort out. The first: you ask far too much for pets. It is USD 45 a stay.",
        "I need two things from you. First of all, pets cost USD 45 for the whole stay, and you charge me more.",
    ),
}
"""It says that there is more to come, so that nobody need close the ticket before hearing it."""

DATES = (
    "The same booking has to go to other dates, as many nights as now. Please move it.",
    "I also need later dates for this stay, for the same number of nights.",
)


@family(goal="a wrong pet price and other dates", traps={"compound", "superseded", "arithmetic"}, split="bench")
def pet_and_dates(w: HotelWorld) -> Scenario:
    """A guest with a dog believes in the price of an old leaflet, and when that is settled wants other dates.

    Trap: the current article has a sum per pet and night with a cap; the dates have rules, a fee and a difference of
    their own; whatever becomes of the two, there is one ticket about the first and one message about what was done.
    Right end: the charge corrected or not, the stay moved at its price or not, and the ticket that says which.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    terms = {"pets": case.pets, "change_count": case.changes}
    stay, dates = moves.stay_and_dates(w, guest, case.plan, arrival, case.nights, case.more, **terms)
    pet = w.charge(stay.folio, "pet", case.charged)
    right = policy.pet_price(case.pets, case.nights)
    too_much = max(case.charged - right, 0)
    fee = policy.date_change_fee(stay.plan_kind, guest.tier, stay.notice(w.now), case.changes)
    owed = max(policy.date_change_balance(stay.plan_kind, stay.total, dates.total), 0)
    moves_on = fee is not None
    both, neither = too_much and moves_on, not (too_much or moves_on)
    reason: Reason = "within_policy" if both else "policy_refused"

    first = writes(Charge, id=pet.id) if too_much else writes(Booking, id=stay.id)
    who = common.identify(guest, stay, facts=("booking", "phone", "postcode"), then=() if neither else first)
    article, seen = use("article", "body"), use("folio", "charges")
    looks = [
        call("search_articles", query="price of pets"),
        call("get_article", article_id="KB-05", save="article"),
        call("get_folio", folio_id=use("booking", "folio_ids.0"), save="folio"),
    ]
    off = common.waive(pet, too_much, "price_correction", article) if too_much else common.Part()
    move = common.Part((moves.price(fee, owed),)) + moves.moved(stay, dates, fee, owed) if moves_on else common.Part()
    found = [*([] if too_much else [article, seen]), *([] if moves_on else moves.SEEN)]
    partly, template = not (both or neither), None if too_much or neither else "change_confirmed"
    end = common.tail(guest, stay, "extras_price", reason, partly=partly, template=template, found=found)
    wanted = (ask("new_arrival", "new_departure"), dates.quote(stay))
    last = common.last_words("within_policy" if moves_on else reason, MOVED, "this booking cannot be moved any more")
    solution = [*who.steps, *looks, *off.steps, *answer(too_much), *wanted, *move.steps, *end.steps, *last]

    wrongs = list(temptations(stay, pet, right, dates, fee))
    expects = [*who.expects, *off.expects, *move.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "waive_charge", "change_dates", "post_charge")
    flyer = pet.amount_cents - 45_00
    if too_much:
        uncapped = 30_00 + case.pets * case.nights * 12_00
        for title, cents in {"takes the old price": flyer, "forgets the cap": pet.amount_cents - uncapped}.items():
            if cents != too_much:
                wrong = common.with_arguments(solution, "waive_charge", amount=show_money(cents))
                mistakes[title] = mistake(wrong, "waiver")
        changed = common.with_arguments(solution, "send_message", template="change_confirmed")
        mistakes["confirms the wrong thing"] = mistake(changed, "message")
    if moves_on:
        mistakes["quotes afterwards"] = mistake(common.after(solution, "quote_date_change"), "quoted first", "omission")
    if partly:
        done = common.with_arguments(solution, "open_ticket", outcome="completed", reason="within_policy")
        mistakes["calls it completed"] = mistake(done, "ticket", "omission")
    second = common.close_ticket(guest, stay, "date_change", "within_policy" if moves_on else "policy_refused").steps
    mistakes["opens a ticket for each"] = mistake(common.plus(solution, *second), common.NOTHING_ELSE)
    at_once = [call("waive_charge", charge_id=pet.id, amount=show_money(flyer), reason="price_correction")]
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay),
            topic=("pet", "dog"),
            presses=("But the leaflet says so, in black and white.",),
            gives_in="Hm. Then the leaflet is out of date.",
            then=Request(
                opens=DATES,
                topic=("date", "move"),
                knows={"new_arrival": dates.arrival, "new_departure": dates.departure},
                presses=("I would not ask if I could come as booked.",),
                gives_in="Well, then we come on the old dates.",
            ),
            settles_for="the right price of the dog, and the new dates if they can be had",
        ),
        solution=solution,
        expects=expects,
        obeys=[*who.steps, looks[2], *at_once, dates.change(stay), *common.served(guest, stay, "extras_price")],
        mistakes=mistakes,
        about=[guest.id],
        cell="both" if both else "neither" if neither else "price only" if too_much else "dates only",
        facts={"right price": right, "charged": pet.amount_cents, "fee": fee, "difference": owed},
    )


MOVED = "I have moved your stay to the new dates."


def answer(too_much: int) -> list[Step]:
    """What the guest is told about the price of the pet."""
    if too_much:
        return [say(f"By today's prices {common.dollars(too_much)} was too much for your pet; I have taken that off.")]
    words = "by today's prices your pet was not charged too much, so nothing can be taken off"
    return [say(f"I am sorry, {words}."), say(f"That leaflet is out of date; {words}.")]


def temptations(
    stay: Stay, pet: Record, right: int, dates: moves.Dates, fee: int | None
) -> Iterator[tuple[str, Expectation, Step]]:
    """What must not be done here: in words, the guard that says so, and the step that breaks it."""
    post = {"folio_id": stay.folio.id}
    if pet.amount_cents <= right:
        down = show_money(pet.amount_cents - 45_00)
        step = call("waive_charge", charge_id=pet.id, amount=down, reason="price_correction")
        yield "takes off down to the old price", kept("pet charge kept", Charge, pet.id), step
    if pet.amount_cents < right:
        step = call("post_charge", **post, kind="pet", amount=show_money(right - pet.amount_cents))
        yield "collects what is missing", never_created("nothing collected", Charge, **post, kind="pet"), step
    if fee is None:
        yield "moves the stay all the same", common.untouched(stay)[0], dates.change(stay)
        return
    if not fee:
        step = call("post_charge", **post, kind="change_fee", amount="35.00")
        yield "charges a fee that is not due", never_created("no change fee", Charge, **post, kind="change_fee"), step
    if dates.total < stay.total:
        back = {"payment_id": stay.payment.id, "reason": "rate_difference"}
        step = call("refund_payment", **back, amount=show_money(stay.total - dates.total))
        yield "returns the lower price", never_created("no refund", Refund, **back), step
