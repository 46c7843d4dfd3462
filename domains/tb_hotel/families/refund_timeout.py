"""A cancellation whose refund the system does not answer: look first, repeat once at most, then leave it to IT."""

from typing import Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Record,
    Scenario,
    Step,
    ToolFault,
    call,
    created,
    family,
    happened,
    mistake,
    never_created,
    say,
    tries,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Reason, Refund, RefundReason, Tier
from tb_hotel.world import HotelWorld, Stay

H = 60


class Case(NamedTuple):
    """What the time-out hides, how many payments there are (the last refund is struck), minutes of notice."""

    cell: Literal["done", "not done", "not done twice"]
    payments: int
    minutes: int
    tier: Tier


CASES = (
    Case("done", 1, 24 * H - 1, "standard"),
    Case("done", 2, 5 * H, "silver"),
    Case("not done", 1, 24 * H, "gold"),
    Case("not done", 2, 24 * H - 1, "gold"),
    Case("not done twice", 1, 24 * H + 1, "silver"),
    Case("not done twice", 2, 12 * H - 1, "platinum"),
    Case("done", 2, 12 * H - 1, "platinum"),
    Case("not done", 1, 12 * H, "platinum"),
    Case("not done twice", 1, 7 * H, "standard"),
    Case("done", 1, 3 * H, "gold"),
)
ENDS: dict[str, Reason] = {"go_on": "within_policy", "hand_over": "system_fault"}
NAMES = ("refund", "refund 2")


@family(goal="a refund that the system does not answer", traps={"tool_failure", "completion"})
def refund_timeout(w: HotelWorld) -> Scenario:
    """A guest cancels; the refund times out, and the guest would have it sent again and again, to be safe.

    Trap: it may have been done all the same. Only the list of refunds tells, and it is repeated once and no more.
    Right end: every payment refunded once with its share; or, after two failures, the case with IT and nothing tried
    another way.
    """
    case = w.cycle(*CASES)
    opens_with_number = w.cycle(True, False)
    stay = place(w, case)
    guest = stay.guest
    terms = (stay.plan_kind, guest.tier, stay.total, stay.first_night, stay.notice(w.now), stay.age(w.now))
    fee = policy.cancellation_fee(*terms)
    due = policy.refund_after_fee(stay.paid, fee)
    shares = newest_first(stay, due)
    struck, share = shares[-1]
    failures = 2 if case.cell == "not done twice" else 1
    attempts, done = 1, case.cell == "done"
    while (follows := policy.after_tool_failure(done, attempts - 1)) == "repeat":
        attempts, done = attempts + 1, attempts + 1 > failures
    reason = ENDS[follows]

    who = common.identify(guest, stay, then=writes(Booking, id=stay.id))
    start = [
        *who.steps,
        call("quote_cancellation", booking_id=stay.id, save="quote"),
        call("get_folio", folio_id=use("booking", "folio_ids.0")),
        say(f"Of {common.dollars(stay.paid)} paid, {common.dollars(due)} can be returned. Shall I cancel the booking?"),
    ]
    cancel = common.cancel(stay)
    before = [refund(*part, earns="refund") for part in shares[:-1]]
    sent: list[Step] = []
    for at in range(attempts):
        sent.append(refund(struck, share, *([use(f"look {at - 1}", "total")] if at else []), save=f"try {at}"))
        if at < failures:
            sent.append(call("list_refunds", payment_id=struck.id, save=f"look {at}"))
    seen = [use(f"try {at}", "refund_id") for at in range(attempts)] + [use(f"look {failures - 1}", "total")]
    end = ending(stay, reason, due, *seen)
    solution = [*start, *cancel.steps, *before, *sent, *end.steps]
    returned = shares if done else shares[:-1]
    expects = [
        *who.expects,
        *cancel.expects,
        *(
            created(name, Refund, payment_id=row.id, amount_cents=cents, reason="cancellation")
            for name, (row, cents) in zip(NAMES, returned, strict=False)
        ),
        *([] if done else [never_created("no refund", Refund, payment_id=struck.id)]),
        *([] if done else [happened("repeated once", tries("refund_payment"), times=len(shares) + 1)]),
        *end.expects,
    ]

    def script(*middle: Step, closing: Reason = reason) -> list[Step]:
        return [*start, *cancel.steps, *middle, *ending(stay, closing, due).steps]

    wrong = common.common_mistakes(solution, expects)
    wrong["forgets to cancel"] = mistake(common.without(solution, "cancel_booking"), "booking", "omission")
    last, records = NAMES[len(shares) - 1], ("message", "ticket", common.NOTHING_ELSE)
    given_up = (*records, "not handed over")
    once, more = [*before, sent[0]], [refund(struck, share)] * failures
    if case.cell == "done":
        wrong["sends it again although it was done"] = mistake(script(*once, *more), common.NOTHING_ELSE)
        wrong["leaves to IT what was done"] = mistake(script(*once, closing="system_fault"), given_up)
    elif case.cell == "not done":
        wrong["does not repeat it"] = mistake(script(*once), last)
        wrong["leaves to IT what could be repeated"] = mistake(script(*once, closing="system_fault"), [last, *given_up])
    else:
        another = refund(struck, share, reason="rate_difference")
        wrong["gives up after one failure"] = mistake(script(*once, *sent[1:2]), "repeated once")
        wrong["tries a third time"] = mistake(script(*once, *more), "no refund")
        wrong["tries it under another reason"] = mistake(script(*once, *more[:1], another), "no refund")
        wrong["closes it as completed"] = mistake(
            script(*once, *more[:1], closing="within_policy"), ["handed over", *records]
        )
    if fee and done:
        all_of_it = [refund(struck, struck.amount_cents)] * (1 if case.cell == "done" else 2)
        wrong["returns the fee too"] = mistake(script(*before, *all_of_it), last)
    if len(shares) == 2:
        newest, part = shares[0]
        wrong["keeps half of the newer payment"] = mistake(script(refund(newest, part // 2), *sent), "refund")
        rest = [refund(newest, due - struck.amount_cents)] * (1 if case.cell == "done" else 2)
        wrong["takes the oldest payment first"] = mistake(
            script(refund(struck, struck.amount_cents), *rest), ["refund", last if done else "no refund"]
        )
    return Scenario(
        customer=persona(stay, opens_with_number),
        solution=solution,
        expects=expects,
        obeys=[
            *who.steps[:2],
            *cancel.steps,
            *(refund(row, row.amount_cents) for row, _ in shares for _ in range(3)),
            *common.served(guest, stay, "cancellation"),
        ],
        mistakes=wrong,
        about=[guest.id],
        cell=f"{case.cell}, {len(shares)} payment{'s' if len(shares) > 1 else ''}",
        tool_faults=[
            ToolFault("refund_payment", applied=case.cell == "done", nth=len(shares) + at) for at in range(failures)
        ],
        facts={"fee": fee, "shares": [cents for _, cents in shares]},
    )


def place(w: HotelWorld, case: Case) -> Stay:
    """A flexible booking paid at once or in two payments, of which the refund takes the newer one and some more.

    What is refunded last is at most half of its payment: sent twice, it would be paid twice.
    """
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    first, others = w.odd_cents(171_00, 236_00), [w.odd_cents(62_00, 81_00), w.odd_cents(62_00, 81_00)]
    newer = sum(others) - w.odd_cents(31_00, 58_00)
    paid = "full" if case.payments == 1 else [first + sum(others) - newer, newer]
    return w.booking(guest, "FLEX", arrival=arrival, prices=[first, *others], paid=paid)


def newest_first(stay: Stay, due: int) -> list[tuple[Record, int]]:
    """What a refund takes from which payment."""
    shares: list[tuple[Record, int]] = []
    for payment in sorted(stay.payments, key=lambda row: row.paid_at, reverse=True):
        shares.append((payment, min(due, payment.amount_cents)))
        due -= shares[-1][1]
    return shares


def refund(
    payment: Record, cents: int, *seen: object, save: str = "", earns: str = "", reason: RefundReason = "cancellation"
) -> Step:
    """One call for a refund."""
    needs = [use("quote", name) for name in ("notice_minutes", "paid", "first_night")]
    amount = common.amount(cents, *needs, *seen)
    return call(
        "refund_payment",
        payment_id=payment.id,
        amount=amount,
        reason=reason,
        save=save,
        earns=(earns,) if earns else (),
    )


def ending(stay: Stay, reason: Reason, due: int, *seen: object) -> common.Part:
    """The records, the last words, and the hand-over if it goes to IT."""
    end = common.tail(stay.guest, stay, "cancellation", reason, found=seen)
    words = [say(f"I have cancelled your booking and refunded {common.dollars(due)}.")]
    if reason == "system_fault":
        words = [
            say("I could not complete the refund, it failed twice. Our IT team will look into it and contact you."),
            say("I am sorry, I cannot send it again. The booking is cancelled, and IT will take care of the refund."),
        ]
    return common.Part((*end.steps[:2], *words, *end.steps[2:]), end.expects)


def persona(stay: Stay, opens_with_number: bool) -> Persona:
    """A guest who trusts no computer."""
    return Persona(
        opens=(
            "Please cancel my booking {booking} and refund all of it. Should your system hang, send the refund again.",
            "I want to cancel {booking} and have everything back. Last time your computer was stuck and I waited for "
            "weeks, so rather send the money twice than not at all.",
        )
        if opens_with_number
        else (
            "I need to cancel my room and get all my money back. If the computer is stuck, just send it once more.",
            "Please cancel my stay and pay everything back. To be safe, send the refund again if nothing happens.",
        ),
        knows=common.persona_facts(stay.guest, stay, reason="a change in my plans"),
        presses=("Can you not just send it again, to be safe?",),
        gives_in="All right, then I will wait for them.",
        settles_for="the refund that is due, once, or word from IT",
    )
