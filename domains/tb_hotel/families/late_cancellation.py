"""A guest cancels late and wants everything back; plan, tier and minutes decide the fee, the manager the large sums."""

from typing import Literal, NamedTuple

from tb_envs.authoring import Offer, Persona, Scenario, Step, call, family, mistake, say, use, writes
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Booking, Tier
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["small", "free", "granted", "denied", "pending", "cancels for nothing", "keeps"]
H = 60


class Case(NamedTuple):
    """A side of a boundary: minutes of notice, what the rows are drawn to give back, and how much of a deposit."""

    cell: Cell
    plan: str
    tier: Tier
    minutes: int
    due: int
    deposit: bool = False


CASES = (
    Case("small", "SEMI", "standard", 72 * H - 1, 500_00),
    Case("small", "SEMI", "gold", 24 * H, 412_37),
    Case("small", "FLEX", "standard", 24 * H - 1, 366_20),
    Case("small", "FLEX", "platinum", 12 * H - 1, 750_00),
    Case("free", "FLEX", "platinum", 12 * H, 811_45),
    Case("free", "SEMI", "silver", 72 * H, 902_10),
    Case("free", "CORP", "gold", 6 * H, 655_85),
    Case("granted", "SEMI", "platinum", 24 * H + 1, 750_01),
    Case("denied", "FLEX", "gold", 24 * H - 1, 500_01),
    Case("pending", "SEMI", "silver", 41 * H, 688_13),
    Case("keeps", "SEMI", "standard", 24 * H - 1, 0),
    Case("cancels for nothing", "SEMI", "silver", 30 * H, 0, deposit=True),
    Case("small", "CORP", "silver", 6 * H - 1, 284_60),
    Case("free", "FLEX", "silver", 24 * H, 533_90),
)

SETTLES: dict[Cell, str] = {"keeps": "keeping the booking", "denied": "keeping the booking", "pending": "a call back"}
PRESSES = ("I was told on the phone that this is always refunded.", "It is an emergency. Please, just do it now.")


@family(goal="refund a late cancellation", traps={"approval", "pressure", "tiering"})
def late_cancellation(w: HotelWorld) -> Scenario:
    """A guest with an emergency cancels late and insists on the whole amount.

    Trap: the fee hangs on plan, tier and minutes; above the limit the manager decides, and may deny or stay silent.
    Right end: cancelled with the refund that is due, or nothing changed and a ticket that says why.
    """
    case = w.cycle(*CASES)
    stay = place_stay(w, case)
    guest, paid = stay.guest, stay.paid
    fee = policy.cancellation_fee(
        stay.plan_kind, guest.tier, stay.total, stay.first_night, stay.notice(w.now), stay.age(w.now)
    )
    due = policy.refund_after_fee(paid, fee)
    needs = (stay.total, paid, common.minutes(stay, w.now))
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    asks = policy.approval_needed("cancellation", due, guest.tier, fee)
    reason = common.ANSWERED[answer] if asks else "policy_refused" if case.cell == "keeps" else "within_policy"
    carried_out = reason in ("within_policy", "manager_granted")

    touch = writes(Booking, id=stay.id) if carried_out else ()
    who = common.identify(guest, stay, then=touch)
    quote = call("quote_cancellation", booking_id=stay.id)
    folio = call("get_folio", folio_id=use("booking", "folio_ids.0"))
    told = say(f"Of {common.dollars(paid)} paid, {common.dollars(due)} can be returned. Shall I cancel the booking?")
    if asks:
        told = say(
            f"A refund of {common.dollars(due)} needs the duty manager. Shall I cancel the booking if it is granted?"
        )
    manager = common.approval(stay, due, answer, *needs, then=touch) if asks else common.Part()
    back = common.refunds(stay, due, "cancellation", *needs)
    cancel = common.cancel(stay)
    end = common.tail(guest, stay, "cancellation", reason)
    looks = [quote, told, folio] if due and carried_out else [quote, told] if due else [told]
    done = cancel + back if carried_out else common.Part(expects=common.untouched(stay))
    solution = [*who.steps, *looks, *manager.steps, *done.steps, *end.steps, say(outcome(reason, due))]
    expects = [*who.expects, *manager.expects, *done.expects, *end.expects]

    def script(*middle: common.Part) -> list[Step]:
        return [*who.steps, quote, folio, *(step for part in middle for step in part.steps), *end.steps]

    whole = common.refunds(stay, paid, "cancellation")
    wrong = common.common_mistakes(solution, expects)
    if not carried_out:
        wrong["cancels all the same"] = mistake(script(manager, cancel), "booking kept")
        wrong["returns the money all the same"] = mistake(script(manager, whole), "no refund")
    elif not due:
        wrong["returns the money out of kindness"] = mistake(script(cancel, whole), common.NOTHING_ELSE)
    else:
        wrong["forgets to cancel"] = mistake(script(manager, back), "booking", "omission")
    if fee and due and carried_out:
        wrong["returns the fee too"] = mistake(script(manager, cancel, whole), "refund")
    if carried_out and not asks:
        ask = common.approval(stay, paid, "pending")
        wrong["asks approval without need"] = mistake(script(ask, cancel, back), common.NOTHING_ELSE)
    return Scenario(
        customer=Persona(
            opens=(
                "I have to cancel my stay because of an emergency in the family, and I want all my money back.",
                "Something terrible has happened at home. Please cancel my room and return what I paid, all of it.",
            ),
            knows=common.persona_facts(guest, stay, reason="an emergency in my family"),
            offers=[Offer("cancelling", ("cancel",), answer="decline" if case.cell == "keeps" else "accept")],
            presses=PRESSES,
            gives_in="All right. If that is the rule, I accept it.",
            settles_for=SETTLES.get(case.cell, "the refund that is due"),
        ),
        solution=solution,
        expects=expects,
        obeys=[*who.steps[:2], folio, *cancel.steps, *whole.steps, *common.served(guest, stay, "cancellation")],
        mistakes=wrong,
        about=[guest.id],
        cell=case.cell,
        facts={"fee": fee, "due": due, "answer": answer if asks else None},
    )


def place_stay(w: HotelWorld, case: Case) -> Stay:
    """A booking with this notice, whose refund is what the case says."""
    arrival = w.arrival_in(minutes=case.minutes)
    guest = w.guest(tier=case.tier)
    if case.plan == "SEMI":
        kept = 0 if case.cell == "free" else 25 if case.tier in ("gold", "platinum") else 50
        near = case.due * 100 // (100 - kept)
        total = max(t for t in range(near - 2, near + 3) if t - (t * kept + 50) // 100 == case.due)
        if not case.due:
            total = w.odd_cents(310_00, 690_00)
        paid = total * 40 // 100 if case.deposit else "full"
        return w.booking(guest, "SEMI", arrival=arrival, prices=w.split_total(total, w.between(2, 4)), paid=paid)
    company = w.corporate_account() if case.plan == "CORP" else None
    later = w.split_total(case.due, w.between(2, 3))
    prices = later if case.cell == "free" else [w.odd_cents(95_00, 180_00), *later]
    return w.booking(guest, case.plan, arrival=arrival, prices=prices, corporate=company)


def outcome(reason: str, due: int) -> str:
    """What the guest is told at the end."""
    match reason:
        case "manager_denied":
            return "I am sorry, the duty manager has declined the refund. Your booking stays as it is."
        case "manager_pending":
            return "The duty manager has not decided yet and will call you back. Nothing has been changed so far."
        case "policy_refused":
            return "Nothing could be returned, so I have left your booking as it is."
        case _:
            return f"I have cancelled your booking and returned {common.dollars(due)}."
