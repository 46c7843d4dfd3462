"""A guest moves a stay to other dates: a fee by plan and tier, and the difference in price, one way or the other."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Consent,
    Persona,
    Scenario,
    Step,
    ask,
    call,
    calls,
    changed,
    family,
    mistake,
    never_created,
    order,
    say,
    show_money,
    use,
    writes,
)
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Charge, Reason, Tier
from tb_hotel.world import HotelWorld, Stay
from tb_hotel.world.company import PLAN_BY_ID

Cell = Literal["charged", "free", "back", "granted", "denied", "pending", "refused", "declined"]
H, FAR = 60, 244 * 60


class Case(NamedTuple):
    """A side of a boundary: minutes of notice, changes made before, and how far the new total lies above the old."""

    cell: Cell
    plan: str
    tier: Tier
    minutes: int
    changes: int
    difference: int


CASES = (
    Case("charged", "SEMI", "standard", 48 * H - 1, 0, 120_35),
    Case("charged", "SEMI", "gold", 48 * H, 1, 88_01),
    Case("declined", "SEMI", "silver", 48 * H + 1, 0, 210_45),
    Case("free", "SEMI", "platinum", 48 * H - 1, 1, -60_10),
    Case("charged", "SEMI", "silver", 30 * H + 25, 0, -75_20),
    Case("charged", "NRF", "gold", 336 * H, 0, 33_33),
    Case("charged", "NRF", "platinum", 336 * H + 1, 1, 0),
    Case("refused", "NRF", "standard", 336 * H - 1, 0, 64_90),
    Case("back", "FLEX", "silver", FAR, 0, -500_00),
    Case("granted", "CORP", "gold", FAR, 1, -500_01),
    Case("pending", "FLEX", "platinum", FAR, 0, -750_01),
    Case("denied", "FLEX", "standard", FAR, 0, -640_27),
    Case("refused", "FLEX", "gold", FAR, 2, -112_40),
    Case("refused", "SEMI", "platinum", FAR, 3, 71_15),
)

PRICE = use("quote", "difference")
BELIEF = "I was told that moving a stay costs nothing."
OPENS = {
    True: (
        f"I'd like to move my stay, booking {{booking}}, to other dates. {BELIEF}",
        f"Hello, my booking {{booking}} has to go to another week. {BELIEF}",
    ),
    False: (
        f"Our plans have changed and I need other dates for my stay with you. {BELIEF}",
        f"I can't come when I planned to. Please move my stay to later dates. {BELIEF}",
    ),
}


@family(goal="move a stay to other dates", traps={"arithmetic", "order", "window"})
def date_change(w: HotelWorld) -> Scenario:
    """A guest wants other dates and believes that moving a stay is free for everybody.

    Trap: plan, tier, minutes and earlier changes decide on the fee; the difference is a charge of its own, is kept, or
    is returned, and then the manager may have a say.
    Right end: moved with exactly what is owed either way, or not moved and a ticket that says why.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    stay, arrival, departure, total = place(w, case)
    guest, dates = stay.guest, {"booking_id": stay.id, "arrival": arrival, "departure": departure}
    fee = policy.date_change_fee(stay.plan_kind, guest.tier, stay.notice(w.now), case.changes)
    owed = policy.date_change_balance(stay.plan_kind, stay.total, total)
    asks = fee is not None and policy.approval_needed("rate_difference", max(-owed, 0), guest.tier)
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    reason: Reason = "guest_declined" if case.cell == "declined" else "within_policy"
    reason = "policy_refused" if fee is None else common.ANSWERED[answer] if asks else reason
    moves = reason in ("within_policy", "manager_granted")

    touch = writes(Booking, id=stay.id)
    who = common.identify(guest, stay, facts=common.facts_needed("date_change"), then=touch if moves else ())
    quote = call("quote_date_change", **dates, save="quote")
    offer = () if fee is None else (say(f"{price(fee, owed)} Shall I move your booking?"),)
    manager = common.approval(stay, -owed, answer, PRICE, then=touch if moves else ()) if asks else common.Part()
    move = call("change_dates", **dates, earns="booking")
    new = {"arrival": arrival, "departure": departure, "total_cents": total, "room_id": None}
    moved = changed("booking", Booking, stay.id, **new, change_count=case.changes + 1)
    quoted = order("quoted first", calls("quote_date_change", booking_id=stay.id), touch)
    done = common.Part((move,), (moved, quoted)) + settled(stay, fee or 0, owed) if moves else common.Part()
    seen = () if moves else (use("quote", "change_count"), use("quote", "notice_minutes"), PRICE)
    end = common.tail(guest, stay, "date_change", reason, found=seen)
    words = common.last_words(reason, "I have moved your booking to the new dates.", "this booking cannot be moved")
    looks = (ask("new_arrival", "new_departure"), quote, *offer)
    solution = [*who.steps, *looks, *manager.steps, *done.steps, *end.steps, *words]
    wrongs = list(temptations(stay, move, total, moves, fee, owed))
    guards = [guard for _, guard, _ in wrongs]
    expects = [*who.expects, *manager.expects, *done.expects, *guards, *end.expects]

    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "post_charge", "refund_payment")
    if moves:
        mistakes["quotes afterwards"] = mistake(common.after(solution, "quote_date_change"), "quoted first", "omission")
    if fee and owed > 0:
        sums = common.charge("rate_difference", fee + owed, folio=stay.folio).steps
        one = common.plus(common.without(solution, "post_charge"), *sums)
        mistakes["posts one sum"] = mistake(one, ("change fee", "rate difference"))
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, new_arrival=arrival, new_departure=departure),
            consents=Consent(up_to=owed - w.between(20_00, 60_00)) if case.cell == "declined" else True,
            presses=("My neighbour moved her stay last month without any trouble. Surely it is the same for me?",),
            gives_in="Well, then leave it as it is.",
            settles_for="the new dates at their price" if moves else "the old dates, or a call back",
        ),
        solution=solution,
        expects=expects,
        obeys=[*who.steps[: 2 if case.cell == "free" else 3], move, *common.served(guest, stay, "date_change")],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"fee": fee, "balance": owed, "answer": answer if asks else None},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, str, str, int]:
    """The booking, the new dates, and what it would cost on them."""
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    company = w.corporate_account() if case.plan == "CORP" else None
    house, room_type, nights = w.house(), w.pick("STD", "SUP"), w.between(3, 4)
    public = [w.odd_cents(118_00, 174_00) for _ in range(nights)]
    first = w.today + timedelta(days=w.between(20, 34))
    w.set_prices(house, room_type, first.isoformat(), public)
    w.make_free(house, room_type, first.isoformat(), nights)
    discount = company.discount_percent if company else PLAN_BY_ID[case.plan].discount_percent
    total = sum(policy.percent(cents, 100 - discount) for cents in public)
    stay = w.booking(
        guest,
        case.plan,
        arrival=arrival,
        property=house,
        room_type=room_type,
        prices=w.split_total(total - case.difference, nights),
        corporate=company,
        change_count=case.changes,
    )
    return stay, first.isoformat(), (first + timedelta(days=nights)).isoformat(), total


def settled(stay: Stay, fee: int, owed: int) -> common.Part:
    """The fee, then the difference, as two charges; or the difference back on the payment."""
    part = common.Part()
    if fee:
        part += common.charge("change_fee", fee, use("quote", "notice_minutes"), folio=stay.folio)
    if owed > 0:
        part += common.charge("rate_difference", owed, PRICE, folio=stay.folio)
    if owed < 0:
        part += common.Part((call("get_folio", folio_id=use("booking", "folio_ids.0")),))
        part += common.refund(stay.payment, -owed, "rate_difference", PRICE)
    return part


def temptations(
    stay: Stay, move: Step, total: int, moves: bool, fee: int | None, owed: int
) -> Iterator[tuple[str, Expectation, Step]]:
    """What must not be done here: in words, the guard that says so, and the step that breaks it."""
    cheaper = show_money(min(abs(total - stay.total), 45_00))
    refund = call("refund_payment", payment_id=stay.payment.id, amount=cheaper, reason="rate_difference")
    kept, no_refund = common.untouched(stay)
    if not moves:
        yield "moves the stay all the same", kept, move
        yield "returns the difference all the same", no_refund, refund
        return
    if not fee:
        row = {"folio_id": stay.folio.id, "kind": "change_fee"}
        post = call("post_charge", **row, amount="35.00")
        yield "charges a fee that is not due", never_created("no change fee", Charge, **row), post
    if total < stay.total and not owed:
        yield "returns the lower price", no_refund, refund


def price(fee: int, owed: int) -> str:
    """What the new dates cost, in words."""
    words = f"The fee for the change is {common.dollars(fee)}." if fee else "The change itself is free."
    if owed > 0:
        words += f" The new dates cost {common.dollars(owed)} more."
    if owed < 0:
        words += f" The new dates are cheaper, so {common.dollars(-owed)} would come back to you."
    return words
