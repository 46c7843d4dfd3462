"""A guest who did not arrive wants the money back; an e-mail in time, or a goodwill not given too recently, decides."""

from datetime import date, datetime, time, timedelta
from typing import Any, Literal, NamedTuple

from tb_envs.authoring import (
    Persona,
    Scenario,
    Step,
    call,
    changed,
    family,
    mistake,
    say,
    show_money,
    show_time,
    use,
    writes,
)
from tb_hotel import policy
from tb_hotel.families import _common as common
from tb_hotel.models import Guest, Reason, Refund, Tier
from tb_hotel.world import HotelWorld, Stay

Cell = Literal["by e-mail", "goodwill", "granted", "denied", "pending", "refused"]
H = 60


class Case(NamedTuple):
    """Minutes from the guest's e-mail to check-in, days since the last goodwill, and the total (None: none)."""

    cell: Cell
    plan: str
    tier: Tier
    email: int | None
    goodwill: int | None = None
    total: int | None = None


CASES = (
    Case("by e-mail", "SEMI", "silver", 72 * H + 1, total=500_00),
    Case("by e-mail", "SEMI", "standard", 72 * H - 1, total=636_53),
    Case("granted", "SEMI", "gold", 24 * H, total=666_68),
    Case("refused", "SEMI", "standard", 24 * H - 1),
    Case("by e-mail", "FLEX", "standard", 24 * H + 1),
    Case("refused", "FLEX", "gold", 24 * H - 1),
    Case("by e-mail", "CORP", "silver", 6 * H + 1),
    Case("refused", "CORP", "gold", 1),
    Case("goodwill", "FLEX", "gold", 0),
    Case("refused", "SEMI", "silver", -1),
    Case("pending", "SEMI", "platinum", None, goodwill=365, total=1_500_01),
    Case("refused", "NRF", "gold", None, goodwill=364),
    Case("denied", "SEMI", "gold", None, goodwill=366, total=1_000_01),
    Case("goodwill", "NRF", "platinum", None, total=733_21),
)

NOT_COMING = (
    "Dear team, I am sorry, but I cannot come. Please cancel my booking.",
    "Hello, my plans have changed and I will not be able to come. Please cancel this booking.",
)
OPENS = {
    (True, True): ("You charged me a no-show for {booking}, but I had written to you that I was not coming!",),
    (True, False): (
        "I wrote to you that I couldn't come, and still you took money for a no-show. I want it all back.",
    ),
    (False, True): (
        "For {booking} you took a no-show fee. I had cancelled by phone, and your colleague confirmed it.",
    ),
    (False, False): ("I cancelled by phone, your colleague confirmed it, and now there is a no-show on my card.",),
}


@family(goal="undo a no-show fee", traps={"wrong_premise", "window", "tiering"})
def no_show_fee(w: HotelWorld) -> Scenario:
    """A guest who never arrived says that the stay was cancelled in good time and wants everything back.

    Trap: only an e-mail about this booking that came before check-in counts, and then the fee of that moment stays;
    without one, gold and platinum get half as a goodwill, once in 365 days; a promise on the phone is worth nothing.
    Right end: exactly what is due, the goodwill recorded where there was one, or a refusal.
    """
    case = w.cycle(*CASES)
    opens = OPENS[case.email is not None, w.cycle(True, False)]
    stay, sent = place(w, case)
    guest, last = stay.guest, stay.guest.profile.last_goodwill_on
    counts = sent is not None and stay.notice(sent) > timedelta(0)
    fee = fee_at(stay, sent) if sent and counts else None
    rest = w.today - date.fromisoformat(last) if last else None
    due = policy.no_show_refund(stay.paid, fee, guest.tier, rest)
    asks = policy.approval_needed("no_show", due, guest.tier)
    answer = w.manager_answers(stay, case.cell if case.cell in ("denied", "pending") else "granted") or "granted"
    reason: Reason = common.ANSWERED[answer] if asks else "within_policy" if due else "policy_refused"
    carried_out = reason in ("within_policy", "manager_granted")

    touch = writes(Refund, payment_id=stay.payment.id) if carried_out else ()
    who = common.identify(guest, stay, facts=common.facts_needed("no_show"), then=touch)
    looks, known = look_ups(stay, counts, sent is not None)
    manager = common.approval(stay, due, answer, *known, then=touch) if asks else common.Part()
    done = common.Part()
    if carried_out:
        done += common.Part((call("get_folio", folio_id=use("booking", "folio_ids.0")),))
        done += common.refund(stay.payment, due, "no_show", *known)
    if carried_out and not counts:
        done += recorded(w, stay) + common.note(guest, "goodwill")
    end = common.tail(guest, stay, "no_show", reason, found=() if due else known)
    told = common.last_words(
        reason, f"I have refunded {common.dollars(due)} to your card.", "the records give you no right to a refund"
    )
    solution = [*who.steps, *looks, *offer(stay, due), *manager.steps, *done.steps, *end.steps, *told]

    no_refund = common.untouched(stay)[1]
    half = returned(stay, policy.percent(stay.paid, policy.GOODWILL_PERCENT))
    wrongs = () if carried_out else (("returns half all the same", no_refund, half),)
    expects = [*who.expects, *manager.expects, *done.expects, *(guard for _, guard, _ in wrongs), *end.expects]
    mistakes = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    mistakes |= common.forgotten(solution, "refund_payment", "record_goodwill", "add_guest_note")
    if carried_out and due < stay.paid:
        wrong = common.with_arguments(solution, "refund_payment", amount=show_money(stay.paid))
        mistakes["returns everything"] = mistake(wrong, "refund")
    if carried_out and counts:
        wrong = common.plus(solution, call("record_goodwill", guest_id=guest.id))
        mistakes["records a goodwill"] = mistake(wrong, common.NOTHING_ELSE)
    if carried_out and not asks:
        ask_first = common.approval(stay, due, "pending").steps[0]
        mistakes["asks approval without need"] = mistake(common.plus(solution, ask_first), common.NOTHING_ELSE)
    checked = who.steps[:2] if due == stay.paid and not asks else who.steps
    return Scenario(
        customer=Persona(
            opens=opens,
            knows=common.persona_facts(guest, stay, **({"email_date": sent.date()} if sent else {})),
            presses=("That cannot be. I did tell you that I wasn't coming.",),
            gives_in="I see. Then I have to live with it.",
            settles_for="what is due" if carried_out else "a call back, or nothing",
        ),
        solution=solution,
        expects=expects,
        obeys=[*checked, returned(stay, stay.paid), *common.served(guest, stay, "no_show")],
        mistakes=mistakes,
        about=[guest.id],
        cell=case.cell,
        facts={"fee at the e-mail": fee, "due": due, "answer": answer if asks else None},
    )


def place(w: HotelWorld, case: Case) -> tuple[Stay, datetime | None]:
    """The missed stay, the moment of the e-mail about it if there is one, and e-mails that do not count."""
    last = None if case.goodwill is None else w.day(-case.goodwill)
    guest = w.guest(tier=case.tier, last_goodwill_on=last)
    company = w.corporate_account() if case.plan == "CORP" else None
    nights = w.between(2, 4)
    prices = w.split_total(case.total or nights * w.odd_cents(97_00, 121_00), nights)
    stay = w.booking(guest, case.plan, prices=prices, status="no_show", corporate=company)
    start = datetime.combine(stay.arrival, time(15), w.now.tzinfo)
    if w.chance(0.5):
        w.email_from(guest, "Could we have a quiet room, please?", stay=stay, sent_at=show_time(start - timedelta(9)))
    if w.chance(0.5):
        other = w.booking(guest, "FLEX", status="cancelled")
        w.email_from(guest, w.pick(*NOT_COMING), stay=other, sent_at=show_time(start - timedelta(hours=95)))
    if case.email is None:
        return stay, None
    sent = start - timedelta(minutes=case.email)
    w.email_from(guest, w.pick(*NOT_COMING), stay=stay, sent_at=show_time(sent))
    return stay, sent


def fee_at(stay: Stay, sent: datetime) -> int:
    """The fee of section 4 at the moment of the e-mail."""
    figures = (stay.total, stay.first_night, stay.notice(sent), stay.age(sent))
    return policy.cancellation_fee(stay.plan_kind, stay.guest.tier, *figures)


def look_ups(stay: Stay, counts: bool, wrote: bool) -> tuple[list[Step], list[Any]]:
    """The guest's e-mails; for a goodwill also the profile and the date; and what they say."""
    mails = {"guest_id": use("booking", "guest_id"), "booking_id": stay.id, "direction": "inbound"}
    steps: list[Step] = [call("list_messages", **mails, save="mails")]
    known: list[Any] = [use("mails", "items.0.sent_at" if wrote else "total")]
    if not counts and stay.guest.tier in ("gold", "platinum"):
        steps.append(call("get_guest", guest_id=use("booking", "guest_id"), save="profile"))
        known.append(use("profile", "last_goodwill_on"))
        if stay.guest.profile.last_goodwill_on:
            steps.append(call("get_time", save="time"))
            known.append(use("time", "now"))
    return steps, known


def offer(stay: Stay, due: int) -> list[Step]:
    """What can come back, in words, if it is not everything."""
    if not 0 < due < stay.paid:
        return []
    return [
        say(f"I am sorry, I cannot return all of it. {common.dollars(due)} is what I can offer. Is that all right?")
    ]


def recorded(w: HotelWorld, stay: Stay) -> common.Part:
    """The day of the goodwill is written on the profile."""
    row = changed("goodwill date", Guest, stay.guest.id, last_goodwill_on=w.day(0))
    return common.Part((call("record_goodwill", guest_id=stay.guest.id, earns="goodwill date"),), (row,))


def returned(stay: Stay, cents: int) -> Step:
    """Money back on the payment of the no-show, rightly or not."""
    return call("refund_payment", payment_id=stay.payment.id, amount=show_money(cents), reason="no_show")
