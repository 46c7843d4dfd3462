"""A guest takes back a booking just made and calls it free by right; two clocks decide, and a ticket may be waiting."""

from typing import NamedTuple

from tb_envs.authoring import (
    Call,
    Offer,
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
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Approval, Booking, Reason, TicketStatus, Tier
from tb_hotel.world import HotelWorld, Stay

H = 60


class Case(NamedTuple):
    """Minutes since it was booked and to check-in, the total, whether a ticket waits.

    `keeps` is what the guest does with a booking for which nothing comes back.
    """

    plan: str
    age: int
    notice: int
    total: int
    ticket: bool
    tier: Tier = "standard"
    keeps: bool = True


CASES = (
    Case("NRF", 24 * H - 1, 400 * H, 912_45, ticket=True),
    Case("NRF", 24 * H, 168 * H, 500_01, ticket=False, tier="gold"),
    Case("NRF", 24 * H + 1, 310 * H + 25, 744_31, ticket=True, tier="silver"),
    Case("NRF", 24 * H + 1, 168 * H + 1, 388_17, ticket=False, keeps=False),
    Case("NRF", 5 * H + 12, 168 * H - 1, 655_83, ticket=False, tier="platinum"),
    Case("NRF", 20 * H + 40, 168 * H + 1, 1_799_99, ticket=True, tier="platinum"),
    Case("SEMI", 24 * H + 1, 205 * H, 841_27, ticket=False, tier="silver"),
    Case("SEMI", 3 * H + 5, 168 * H - 1, 466_39, ticket=True, tier="gold"),
    Case("NRF", 24 * H - 1, 168 * H, 612_73, ticket=False, tier="silver"),
    Case("NRF", 27 * H + 10, 168 * H - 1, 527_11, ticket=True, tier="gold", keeps=False),
    Case("NRF", 24 * H, 520 * H + 35, 1_204_07, ticket=True),
    Case("NRF", 2 * H + 3, 167 * H, 433_29, ticket=True, tier="gold"),
)

OPENS = {
    True: (
        "I booked a room yesterday, {booking}, and I don't need it any more. Cancel it and pay everything back.",
        "My booking {booking} is hardly a day old. I take it back; a fresh booking must be free to cancel.",
    ),
    False: (
        "Yesterday I booked a room with you and now my plans are off. Please undo it, and all my money with it.",
        "I have only just made a booking and want out of it again. Surely that costs nothing.",
    ),
}
YES = ("Yes, please cancel it.", "Yes, go ahead and cancel.", "Please do, I have no use for it.")
NO = ("No, then I would rather keep it.", "In that case no. Leave the booking alone.")
PRESSES = (
    "I booked it yesterday! Every shop takes things back on the next day.",
    "Your website said that a new booking can always be undone.",
)


@family(goal="take back a booking just made", traps={"window", "pressure", "stale_state"}, split="bench")
def fresh_booking(w: HotelWorld) -> Scenario:
    """A guest wants to undo a booking of yesterday and is sure that this is free.

    Trap: free for 24 hours, and only a week or more ahead; both to the minute. The whole sum then needs no manager.
    An open ticket about it may be there already, beside a closed one and one about something else.
    Right end: cancelled with everything back, cancelled for nothing, or kept; on the ticket that waits, or a new one.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    stay, waiting, other = place(w, case)
    guest, paid = stay.guest, stay.paid
    fee = policy.cancellation_fee(
        stay.plan_kind, guest.tier, stay.total, stay.first_night, stay.notice(w.now), stay.age(w.now)
    )
    due = policy.refund_after_fee(paid, fee)
    asks = policy.approval_needed("cancellation", due, guest.tier, fee)
    cancels = bool(due) or not case.keeps
    reason: Reason = "within_policy" if cancels else "policy_refused"

    who = common.identify(guest, stay, then=writes(Booking, id=stay.id) if cancels else ())
    seen = (use("quote", "age_minutes"), use("quote", "notice_minutes"), use("quote", "paid"))
    quote = call("quote_cancellation", booking_id=stay.id, save="quote")
    folio = call("get_folio", folio_id=use("booking", "folio_ids.0"))
    cancel, back = common.cancel(stay), common.refunds(stay, due, "cancellation", *seen)
    manager = common.approval(stay, due, "granted", *seen) if asks else common.Part()
    done = common.Part((folio,)) + manager + cancel + back if due else cancel if cancels else common.Part()
    end = common.tail(guest, stay, "cancellation", reason, existing=waiting, found=() if due else seen)
    solution = [*who.steps, quote, *question(due), *done.steps, *end.steps, *outcome(cancels, due)]

    kept, no_refund = common.untouched(stay)
    whole = returned(stay)
    wrongs = [] if cancels else [("cancels all the same", kept, cancel.steps[0])]
    if not due:
        wrongs.append(("returns the money all the same", no_refund, whole))
    elif not asks:
        guard = never_created("no approval", Approval, booking_id=stay.id)
        wrongs.append(("asks the manager without need", guard, common.approval(stay, paid, "pending").steps[0]))
    expects = [*who.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "cancel_booking", "refund_payment")
    astray = ("ticket", common.NOTHING_ELSE)
    mistakes["uses the ticket about something else"] = mistake(
        on_ticket(solution, end.steps[-1], other), astray, "omission"
    )
    if waiting:
        new = common.close_ticket(guest, stay, "cancellation", reason).steps
        mistakes["opens a second ticket"] = mistake([*common.without(solution, "update_ticket"), *new], astray)
    if due:
        refused = common.tail(guest, stay, "cancellation", "policy_refused", existing=waiting)
        left_out = ("booking", "refund", "message", "ticket")
        mistakes["refuses what is free"] = mistake([*who.steps, quote, *refused.steps], left_out)
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay),
            offers=[Offer("cancelling", ("cancel",), "accept" if cancels else "decline", YES if cancels else NO)],
            presses=PRESSES,
            gives_in="All right. Then that is how it is.",
            settles_for="everything back" if due else "keeping the room" if case.keeps else "being rid of the room",
        ),
        solution=solution,
        expects=expects,
        obeys=[*who.steps[:2], folio, *cancel.steps, whole, *common.served(guest, stay, "cancellation")],
        mistakes=mistakes,
        about=[guest.id],
        cell="kept" if not cancels else "for nothing" if not due else "free" if case.plan == "NRF" else "free anyway",
        facts={"fee": fee, "due": due, "ticket": waiting.id if waiting else None},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, Record | None, Record]:
    """The booking, the ticket that waits (or none), and an open one about something else."""
    arrival = w.arrival_in(minutes=case.notice)
    guest = w.guest(tier=case.tier)
    booked_at, later = w.moment(minutes=-case.age), w.moment(minutes=-case.age // 2)
    prices = w.split_total(case.total, w.between(2, 4))
    stay = w.booking(guest, case.plan, arrival=arrival, prices=prices, booked_at=booked_at)
    asked = "Guest asked what a cancellation would cost; the terms were sent."
    w.ticket(guest, "cancellation", stay=stay, status="closed", reason="guest_declined", outcome="no_action",
             summary=asked, created_at=later)  # fmt: skip
    topic, words = w.pick(("date_change", "Guest may want other dates."), ("room_change", "Guest asked for a suite."))
    other = w.ticket(guest, topic, stay=stay, summary=words, created_at=later)
    if not case.ticket:
        return stay, None, other
    words = "Guest wrote that the booking is to be cancelled."
    status: TicketStatus = w.pick("open", "on_hold")
    return stay, w.ticket(guest, "cancellation", stay=stay, status=status, summary=words, created_at=later), other


def returned(stay: Stay) -> Step:
    """All that was paid, back on the card, rightly or not."""
    amount = show_money(stay.paid)
    return call("refund_payment", payment_id=stay.payment.id, amount=amount, reason="cancellation")


def on_ticket(solution: list[Step], last: Step, other: Record) -> list[Step]:
    """The script, closing another ticket than the right one."""
    assert isinstance(last, Call)
    final = {name: last.arguments[name] for name in ("status", "outcome", "reason", "team")}
    rest = common.without(solution, "open_ticket", "update_ticket")
    return [*rest, call("update_ticket", ticket_id=other.id, **final)]


def question(due: int) -> list[Step]:
    """What comes back, and whether to cancel; where it is nothing, the guest presses first."""
    if due:
        return [say(f"You are in time: {common.dollars(due)} would come back. Shall I cancel the booking?")]
    return [
        say("I am sorry, this booking is outside of the time in which a new one is free, so I cannot return anything."),
        say("I understand, but the records decide, and no refund is possible."),
        say("Shall I cancel the booking even though nothing comes back?"),
    ]


def outcome(cancels: bool, due: int) -> list[Step]:
    """What the guest is told at the end."""
    if due:
        return [say(f"I have cancelled your booking and refunded {common.dollars(due)}.")]
    if cancels:
        return [say("I have cancelled your booking, without a charge beyond what you paid.")]
    return [say("Then nothing has been changed, and your booking stays as it is.")]
