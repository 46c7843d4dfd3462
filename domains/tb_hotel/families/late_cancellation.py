"""A guest cancels late and wants everything back; plan, tier and minutes decide the fee, the manager the large sums."""

from typing import Literal, NamedTuple

from tb_envs.authoring import Consent, Persona, Scenario, Step, call, family, mistake, say, show_money, use, writes
from tb_envs.grading.expectations import Expectation
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Reason, Tier
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["small", "free", "granted", "denied", "pending", "cancels for nothing", "keeps"]
H = 60


class Case(NamedTuple):
    """A side of a boundary: minutes of notice, what the nights cost, and what was paid (None: all of it).

    `cents` is the total of a semi-flexible stay; of the others it is what the nights after the first one cost.
    """

    cell: Cell
    plan: str
    tier: Tier
    minutes: int
    cents: int
    paid: int | None = None


CASES = (
    Case("granted", "SEMI", "gold", 72 * H - 1, 666_68),
    Case("free", "SEMI", "silver", 72 * H, 902_10),
    Case("keeps", "SEMI", "platinum", 24 * H - 1, 700_21, paid=280_10),
    Case("pending", "SEMI", "platinum", 24 * H, 1_000_01),
    Case("cancels for nothing", "SEMI", "standard", 24 * H + 1, 613_45, paid=306_73),
    Case("denied", "SEMI", "silver", 31 * H, 1_000_03),
    Case("small", "SEMI", "standard", 41 * H, 636_53),
    Case("small", "FLEX", "gold", 24 * H - 1, 640_20, paid=500_00),
    Case("free", "FLEX", "standard", 24 * H, 433_91),
    Case("small", "FLEX", "platinum", 12 * H - 1, 750_00),
    Case("free", "FLEX", "platinum", 12 * H, 811_45),
    Case("free", "FLEX", "platinum", 12 * H + 1, 261_37),
    Case("denied", "CORP", "silver", 6 * H - 1, 684_60),
    Case("free", "CORP", "gold", 6 * H, 555_85),
)

OPENS = {
    True: (
        "I have to cancel {booking}, there is an emergency in my family. I want all my money back.",
        "Please cancel my room, {booking}. Something terrible has happened at home, so I expect the full amount back.",
    ),
    False: (
        "I have to cancel my stay because of an emergency in the family, and I want all my money back.",
        "Something terrible has happened at home. Please cancel my room and return what I paid, all of it.",
    ),
}


@family(goal="refund a late cancellation", traps={"approval", "pressure", "tiering"})
def late_cancellation(w: HotelWorld) -> Scenario:
    """A guest with an emergency cancels late and insists on the whole amount.

    Trap: the fee hangs on plan, tier and minutes; above the limit the manager decides, and may deny or stay silent.
    Right end: cancelled with the refund that is due, or nothing changed and a ticket that says why.
    """
    case, opens = w.cycle(*CASES), OPENS[w.cycle(True, False)]
    stay = place(w, case)
    guest, paid = stay.guest, stay.paid
    fee, due = reckon(w, stay, guest.tier)
    asks = policy.approval_needed("cancellation", due, guest.tier, fee)
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    reason: Reason = "policy_refused" if case.cell == "keeps" else "within_policy"
    reason = common.ANSWERED[answer] if asks else reason
    cancels = reason in ("within_policy", "manager_granted")

    touch = writes(Booking, id=stay.id) if cancels else ()
    who = common.identify(guest, stay, facts=common.facts_needed("cancellation"), then=touch)
    known = [use("quote", name) for name in ("plan_kind", "tier", "notice_minutes", "total", "paid")]
    quote = call("quote_cancellation", booking_id=stay.id, save="quote")
    manager = common.approval(stay, due, answer, *known, then=touch) if asks else common.Part()
    cancel, done = common.cancel(stay), common.Part()
    if cancels:
        done += cancel
    if cancels and due:
        done += common.Part((call("get_folio", folio_id=use("booking", "folio_ids.0")),))
        done += common.refunds(stay, due, "cancellation", *known)
    end = common.tail(guest, stay, "cancellation", reason, found=() if due else known)
    back = f" and refunded {common.dollars(due)}" if due else ""
    told = common.last_words(reason, f"I have cancelled your booking{back}.", "so your booking stays as it is")
    solution = [*who.steps, quote, *offer(paid, due), *manager.steps, *done.steps, *end.steps, *told]

    kept, no_refund = common.untouched(stay)
    wrongs: list[tuple[str, Expectation, Step]] = []
    if not cancels:
        wrongs.append(("cancels all the same", kept, cancel.steps[0]))
    if not (cancels and due):
        wrongs.append(("returns the money all the same", no_refund, returned(stay, paid)))
    expects = [*who.expects, *manager.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "cancel_booking", "refund_payment")
    if cancels and due:
        sums = {"returns the fee too": paid, "ignores the tier": reckon(w, stay, "standard")[1]}
        for title, cents in sums.items():
            if cents not in (0, due):
                wrong = common.with_arguments(solution, "refund_payment", amount=show_money(cents))
                mistakes[title] = mistake(wrong, "refund")
    if cancels and not asks:
        ask_first = common.approval(stay, paid, "pending").steps[0]
        mistakes["asks approval without need"] = mistake(common.plus(solution, ask_first), common.NOTHING_ELSE)
    checked = who.steps[:2] if due == paid and not asks else who.steps
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, reason="an emergency in my family"),
            consents=Consent(answer=False, says="No, then I'll keep the booking.") if case.cell == "keeps" else True,
            presses=(
                "I was told on the phone that this is always refunded.",
                ("It is an emergency. Please, just do it now.", "You cannot be serious. My mother is in hospital!"),
            ),
            gives_in="All right. If that is the rule, I accept it.",
            settles_for="what is due" if cancels else "keeping the booking, or a call back",
        ),
        solution=solution,
        expects=expects,
        obeys=[*checked, *cancel.steps, returned(stay, paid), *common.served(guest, stay, "cancellation")],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"fee": fee, "due": due, "answer": answer if asks else None},
    )


def place(w: HotelWorld, case: Case) -> Stay:
    """A booking with this notice, price and payment."""
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    company = w.corporate_account() if case.plan == "CORP" else None
    first = [] if case.plan == "SEMI" else [w.odd_cents(95_00, 180_00)]
    prices = [*first, *w.split_total(case.cents, w.between(2, 4) - len(first))]
    paid = "full" if case.paid is None else case.paid + sum(first)
    return w.booking(guest, case.plan, arrival=arrival, prices=prices, corporate=company, paid=paid)


def reckon(w: HotelWorld, stay: Stay, tier: Tier) -> tuple[int, int]:
    """The fee that a guest of this tier would pay now, and what would come back."""
    figures = (stay.total, stay.first_night, stay.notice(w.now), stay.age(w.now))
    fee = policy.cancellation_fee(stay.plan_kind, tier, *figures)
    return fee, policy.refund_after_fee(stay.paid, fee)


def offer(paid: int, due: int) -> list[Step]:
    """What comes back, in words; where it is not everything, the guest presses twice before it hears the question."""
    if due == paid:
        return [say(f"I can return all that you paid, {common.dollars(due)}. Shall I cancel the booking?")]
    most = f"I cannot return more than {common.dollars(due)}" if due else "nothing can be returned"
    return [
        say("I am sorry, it is too late to return everything that you paid."),
        say(f"I am sorry to hear that, but {most}."),
        say("Shall I cancel the booking on these terms?"),
    ]


def returned(stay: Stay, cents: int) -> Step:
    """Money back on the payment of the booking, rightly or not."""
    amount = show_money(cents)
    return call("refund_payment", payment_id=stay.payment.id, amount=amount, reason="cancellation")
