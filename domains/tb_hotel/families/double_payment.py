"""A guest sees the same amount twice on the card; the payments, their times and earlier refunds say what it was."""

from datetime import timedelta
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
    one_of,
    parse_time,
    say,
    show_time,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import BookingStatus, PaymentStatus, Reason, Refund, Tier
from tb_hotel.world import HotelWorld, Stay

H = 60


class Case(NamedTuple):
    """Minutes between the two payments, the state of the second, what is at hand besides, and the stay's state."""

    gap: int
    second: PaymentStatus = "captured"
    beside: Literal["nothing", "other card", "a failed try"] = "nothing"
    refunded: bool = False
    state: BookingStatus = "confirmed"
    tier: Tier = "standard"


CASES = (
    Case(24 * H - 1, tier="gold"),
    Case(24 * H, state="in_house"),
    Case(24 * H + 1, beside="a failed try"),
    Case(12, beside="other card", state="checked_out"),
    Case(3 * 24 * H, tier="silver"),
    Case(35, refunded=True, beside="other card"),
    Case(8, second="authorised", tier="platinum"),
    Case(2, second="failed"),
    Case(5 * H, beside="a failed try", tier="platinum"),
    Case(23 * H, refunded=True, state="checked_out"),
)


@family(goal="the same amount was taken twice", traps={"stale_state", "lookalike", "window"})
def double_payment(w: HotelWorld) -> Scenario:
    """A guest finds one amount twice on the card statement and demands both back, for the trouble.

    Trap: only a second capture of kind, amount and card within 24 hours is one payment taken twice; other cards and
    tries that failed look like it, and what was returned already is not returned again.
    Right end: the later payment refunded whole, or finance decides, or nothing to do and a ticket that says why.
    """
    case = w.cycle(*CASES)
    stay, first, second, back_on = place(w, case)
    guest, cents = stay.guest, first.amount_cents
    twice = policy.is_double_payment(parse_time(second.paid_at) - parse_time(first.paid_at))
    reason: Reason = "within_policy" if twice else "finance_review"
    if case.second != "captured":
        reason = "policy_refused"
    elif case.refunded:
        reason = "already_done"
    asks = reason == "within_policy" and policy.approval_needed("double_payment", cents, guest.tier)
    reason = "manager_granted" if asks else reason
    done = reason in ("within_policy", "manager_granted")

    touch = writes(Refund) if done else ()
    who = common.identify(guest, stay, facts=("booking", "email", w.pick("phone", "birth_date")), then=touch)
    seen = [use("folio", "paid")]
    looks: list[Step] = [call("get_folio", folio_id=use("booking", "folio_ids.0"), save="folio")]
    if reason == "already_done":
        looks.append(call("list_refunds", payment_id=second.id, save="refunds"))
        seen.append(use("refunds", "items.0.created_at"))
    manager = common.approval(stay, cents, "granted", *seen) if asks else common.Part()
    given = manager + common.refund(second, cents, "double_payment", cents)
    if not done:
        payments = [payment.id for payment in stay.payments]
        given = common.Part(expects=(never_created("no refund", Refund, payment_id=one_of(*payments)),))
    end = common.tail(guest, stay, "payment_error", reason, found=() if done else seen)
    told = [say(f"{common.dollars(cents)} was taken twice. I can refund the later payment. Shall I?")] if done else []
    solution = [*who.steps, *looks, *told, *given.steps, *closing(end, reason, cents, back_on)]
    expects = [*who.expects, *given.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, *looks, *(step for part in middle for step in part.steps), *end.steps]

    def paid_back(payment: Record, amount: int = cents) -> common.Part:
        return common.refund(payment, amount, "double_payment")

    wrong = common.common_mistakes(solution, expects)
    if done:
        wrong["refunds the earlier payment"] = mistake(script(paid_back(first)), "refund")
        wrong["refunds both"] = mistake(script(given, paid_back(first)), common.NOTHING_ELSE)
        wrong["refunds half"] = mistake(script(paid_back(second, cents // 2)), "refund")
        wrong["asks approval without need"] = mistake(
            script(common.approval(stay, cents, "pending"), given), common.NOTHING_ELSE
        )
        wrong |= common.forgotten(solution, "refund_payment")
    else:
        wrong["refunds the earlier payment all the same"] = mistake(script(paid_back(first)), "no refund")
    if reason == "finance_review":
        wrong["refunds what finance must decide"] = mistake(script(paid_back(second)), "no refund")
    if not done:
        wrong["reports it as done"] = mistake(
            common.with_arguments(script(), "open_ticket", outcome="completed", reason="within_policy"),
            "ticket", "omission",
        )  # fmt: skip
    other = [payment for payment in stay.payments if payment.status == "captured" and payment not in (first, second)]
    if done and other:
        wrong["refunds the payment of the other card"] = mistake(script(paid_back(other[0])), "refund")
    both = [*paid_back(first).steps, *(paid_back(second).steps if case.second == "captured" else ())]
    names = {"within_policy": "taken twice", "manager_granted": "taken twice", "policy_refused": "taken once"}
    return Scenario(
        customer=persona(w, stay, first, case.refunded),
        solution=solution,
        expects=expects,
        obeys=[*both, *common.served(guest, stay, "payment_error")],
        mistakes=wrong,
        about=[guest.id],
        cell=names.get(reason, reason.replace("_", " ")),
        facts={"minutes apart": case.gap, "first": first.id, "second": second.id, "beside": case.beside},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, Record, Record, str]:
    """A stay paid for once, the second payment, what looks like a third, and the day of an earlier refund."""
    guest = w.guest(tier=case.tier)
    prices = w.split_total(w.odd_cents(480_00, 1_980_00), w.between(3, 4))
    stay = w.booking(guest, w.pick("FLEX", "SEMI", "NRF"), prices=prices, status=case.state)
    first = stay.payment

    def again(minutes: int, status: PaymentStatus, card: str) -> Record:
        at = show_time(parse_time(first.paid_at) + timedelta(minutes=minutes))
        stay.payments.append(w.payment(stay.folio, first.amount_cents, status=status, card_ending=card, paid_at=at))
        return stay.payments[-1]

    second = again(case.gap, case.second, first.card_ending)
    if case.beside != "nothing":
        card = f"{(int(first.card_ending) + 3111) % 10_000:04d}"
        captured = case.beside == "other card"
        again(4, "captured" if captured else "failed", card if captured else first.card_ending)
    day = ""
    if case.refunded:
        at = w.moment(days=-w.between(2, 6))
        w.refund(second, first.amount_cents, "double_payment", created_at=at)
        day = at[:10]
    return stay, first, second, day


def persona(w: HotelWorld, stay: Stay, payment: Record, refunded: bool) -> Persona:
    """The guest, with the card statement in hand."""
    cents, card = common.dollars(payment.amount_cents), payment.card_ending
    number = " It is for booking {booking}." if w.cycle(True, False) else ""
    trouble = "You were to pay it back, and nothing came. Now I want both." if refunded else "I want both of them back."
    return Persona(
        opens=(
            f"You took {cents} twice from my card ending in {card}.{number} {trouble}",
            f"My statement shows {cents} two times, card {card}.{number} {trouble} Call it compensation.",
        ),
        knows=common.persona_facts(stay.guest, stay, card=card, amount=cents),
        presses=["After all this trouble? You have had my money long enough. Refund it now, both times."],
        gives_in="Very well, if that is what your records say.",
        settles_for="the later payment, or what the records say",
    )


def closing(end: common.Part, reason: Reason, cents: int, back_on: str) -> list[Step]:
    """The records and what the guest is told; a hand-over comes after the words."""
    match reason:
        case "finance_review":
            told = say("I have passed this to our finance team, who will decide. Nothing has been refunded so far.")
            return [*end.steps[:-1], told, end.steps[-1]]
        case "already_done":
            words = f"{common.dollars(cents)} was returned on {back_on} already, so I cannot refund it again."
            return [*end.steps, say(words), say("I am sorry, I cannot refund more than that.")]
        case _:
            done = f"I have refunded the later payment of {common.dollars(cents)}. The first one was due for your stay."
            why = "I cannot refund anything: the second payment did not go through, only one was taken"
            return [*end.steps, *common.last_words(reason, done, why)]
