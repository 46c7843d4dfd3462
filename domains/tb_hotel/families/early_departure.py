"""A guest in house leaves before the booked end; plan and hour decide which nights come back, the manager how much."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Consent,
    Persona,
    Scenario,
    Step,
    ask,
    call,
    family,
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
from tb_hotel.models import Booking, LoyaltyEntry, Reason, Tier
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["all nights", "some nights", "granted", "denied", "pending", "leaves for nothing", "stays"]


class Case(NamedTuple):
    """When a guest tells us (hour and minute), how many days later it leaves, and what the rows are drawn to return."""

    cell: Cell
    plan: str
    tier: Tier
    told: tuple[int, int]
    days: int
    due: int


CASES = (
    Case("all nights", "FLEX", "standard", (12, 0), 1, 500_00),
    Case("all nights", "CORP", "gold", (11, 59), 1, 377_19),
    Case("some nights", "FLEX", "silver", (12, 1), 1, 312_45),
    Case("some nights", "FLEX", "platinum", (9, 20), 0, 750_00),
    Case("some nights", "SEMI", "standard", (11, 59), 1, 286_34),
    Case("some nights", "SEMI", "gold", (10, 5), 2, 500_00),
    Case("granted", "CORP", "standard", (12, 0), 1, 500_01),
    Case("granted", "SEMI", "platinum", (12, 1), 1, 750_01),
    Case("denied", "FLEX", "gold", (11, 59), 1, 644_30),
    Case("denied", "SEMI", "standard", (13, 40), 2, 500_01),
    Case("pending", "FLEX", "silver", (15, 30), 2, 580_10),
    Case("leaves for nothing", "NRF", "silver", (11, 59), 1, 0),
    Case("stays", "NRF", "platinum", (9, 45), 2, 0),
    Case("stays", "FLEX", "standard", (12, 1), 1, 0),
)

OPENS = {
    True: (
        "I'm in your house under {booking} and have to leave earlier. Every night I don't sleep here must come back.",
        "My stay {booking} has to end sooner than booked. I expect the money for the nights that are left.",
    ),
    False: (
        "Something has come up and I must travel home early. Please return all the nights I won't use.",
        "I am staying with you at the moment and want to check out some days before the end. What I get back is clear.",
    ),
}


@family(goal="leave before the booked end", traps={"window", "arithmetic", "approval"})
def early_departure(w: HotelWorld) -> Scenario:
    """A guest in house must leave early and wants every unused night back.

    Trap: noon of the day before decides on the first unused night; a semi-flexible night is halved and rounded by
    itself; what comes back may need the manager; the tool lowers total and loyalty nights by itself.
    Right end: the stay shortened and exactly the due sum returned, or nothing changed and a ticket that says why.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    w.set_time(*case.told)
    stay, leaving = place(w, case)
    guest, departure = stay.guest, leaving.isoformat()
    unused = [night.price_cents for night in stay.nights if night.night >= departure]
    due = policy.early_departure_refund(stay.plan_kind, unused, w.now, leaving)
    asks = policy.approval_needed("early_departure", due, guest.tier)
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    reason: Reason = "policy_refused" if case.cell == "stays" else "within_policy"
    reason = common.ANSWERED[answer] if asks else reason
    leaves = reason in ("within_policy", "manager_granted")

    touch = writes(Booking, id=stay.id) if leaves else ()
    who = common.identify(guest, stay, facts=common.facts_needed("early_departure"), then=touch)
    by_hour = stay.plan_kind in ("flexible", "corporate")
    known = [use("quote", "unused"), *([use("time", "now")] if by_hour else [])]
    quote = call("quote_early_departure", booking_id=stay.id, departure=departure, save="quote")
    looks = [ask("new_departure"), quote, *([call("get_time", save="time")] if by_hour else []), *words(unused, due)]
    manager = common.approval(stay, due, answer, *known, then=touch) if asks else common.Part()
    shorten, done = common.shorten(stay, departure), common.Part()
    if leaves:
        done += shorten
    if leaves and due:
        done += common.Part((call("get_folio", folio_id=use("booking", "folio_ids.0")),))
        done += common.refund(stay.payment, due, "early_departure", *known)
    end = common.tail(guest, stay, "early_departure", reason, found=() if due else known)
    told = common.last_words(
        reason, "I have shortened your stay as agreed.", "nothing can be returned, so you stay as booked"
    )
    solution = [*who.steps, *looks, *manager.steps, *done.steps, *end.steps, *told]

    kept, no_refund = common.untouched(stay)
    wrongs: list[tuple[str, Expectation, Step]] = []
    if not leaves:
        wrongs.append(("shortens the stay all the same", kept, shorten.steps[0]))
    if not (leaves and due):
        wrongs.append(("returns something all the same", no_refund, returned(stay, 25_00)))
    if leaves and guest.account:
        entry = {"loyalty_account_id": guest.account.id, "booking_id": stay.id, "kind": "correction"}
        step = call("add_loyalty_entry", **entry, nights=len(unused), points=0)
        wrongs.append(("corrects the loyalty nights", never_created("no entry", LoyaltyEntry, **entry), step))
    expects = [*who.expects, *manager.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "shorten_stay", "refund_payment")
    if leaves and due:
        sums = {"returns the kept night too": sum(unused)}
        if stay.plan_kind == "semi_flexible":
            sums["halves the sum"] = policy.percent(sum(unused[1:]), policy.EARLY_DEPARTURE_SEMI_PERCENT)
        for title, cents in sums.items():
            if cents != due:
                wrong = common.with_arguments(solution, "refund_payment", amount=show_money(cents))
                mistakes[title] = mistake(wrong, "refund")
        if not asks:
            ask_first = common.approval(stay, due, "pending").steps[0]
            mistakes["asks approval without need"] = mistake(common.plus(solution, ask_first), common.NOTHING_ELSE)
    checked = who.steps[:2] if due == sum(unused) and not asks else who.steps
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, new_departure=departure),
            consents=Consent(answer=False, says="Then I would rather stay as booked.")
            if case.cell == "stays"
            else True,
            presses=("But I don't sleep in those nights. You can sell the room again.",),
            gives_in="Very well. I don't like it, but so be it.",
            settles_for="what is due" if leaves else "staying as booked, or a call back",
        ),
        solution=solution,
        expects=expects,
        obeys=[*checked, shorten.steps[0], returned(stay, sum(unused)), *common.served(guest, stay, "early_departure")],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"unused": unused, "due": due, "answer": answer if asks else None},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, date]:
    """A stay in house whose unused nights bring the sum of the case, and the day the guest wants to leave."""
    guest = w.guest(tier=case.tier)
    company = w.corporate_account() if case.plan == "CORP" else None
    before, left = w.between(2, 3), w.between(3, 4)
    if case.plan == "SEMI":
        unused = [w.odd_cents(88_00, 190_00), *(2 * half - 1 for half in w.split_total(case.due, left - 1))]
    elif case.due:
        first = [w.odd_cents(88_00, 190_00)] if case.cell == "some nights" else []
        unused = [*first, *w.split_total(case.due, left - len(first))]
    else:
        unused = [w.odd_cents(88_00, 190_00) for _ in range(1 if case.plan == "FLEX" else left)]
    slept = [w.odd_cents(88_00, 190_00) for _ in range(before + case.days)]
    prices = [*slept, *unused]
    stay = w.booking(guest, case.plan, arrival=w.day(-before), prices=prices, status="in_house", corporate=company)
    return stay, w.today + timedelta(days=case.days)


def words(unused: list[int], due: int) -> list[Step]:
    """What comes back, in words; where it is not everything, the guest presses first."""
    sorry = say("I am sorry, the booking does not allow me to return all of these nights.")
    if not due:
        return [sorry, say("Nothing would be paid back. Shall I shorten your stay all the same?")]
    offer = say(f"I can pay back {common.dollars(due)}. Shall I shorten your stay?")
    return [sorry, offer] if due < sum(unused) else [offer]


def returned(stay: Stay, cents: int) -> Step:
    """Money back on the payment of the stay, rightly or not."""
    amount = show_money(cents)
    return call("refund_payment", payment_id=stay.payment.id, amount=amount, reason="early_departure")
