"""One purchase, two lines on the statement: whether the second is a duplicate is a matter of minutes."""

from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models.kinds import Disposition, EntryStatus, Method, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import Mistake, Persona, Record, Request, Scenario, Step, call, family, mistake, say, use
from tb_envs.grading.expectations import Expectation


class Parcel(NamedTuple):
    """An order that never came: days since the promised day, and since it was paid."""

    overdue: int
    paid: int


class Case(NamedTuple):
    """Two payments so many minutes apart (None: with two cards), so many days ago; the second one's status.

    `filed`: the customer's disputes within a year; `third`: there is a pending authorisation as well; `parcel`: what
    the customer brings up afterwards.
    """

    apart: int | None
    segment: Segment
    days: int
    filed: int = 0
    status: EntryStatus = "posted"
    third: bool = False
    parcel: Parcel | None = None


CASES = (
    Case(12, "basic", 5),
    Case(30, "premier", 60, filed=3),
    Case(31, "plus", 9),
    Case(15, "basic", 0, status="pending"),
    Case(8, "plus", 61),
    Case(6, "premier", 14, filed=4),
    Case(None, "basic", 11),
    Case(9, "plus", 7, filed=3, parcel=Parcel(15, 90)),
    Case(20, "basic", 4, parcel=Parcel(14, 33)),
    Case(25, "plus", 6, parcel=Parcel(70, 91)),
    Case(600, "basic", 8, parcel=Parcel(21, 40)),
    Case(18, "plus", 0, status="pending", parcel=Parcel(14, 30)),
    Case(2, "plus", 2, third=True),
    Case(22, "basic", 0, filed=4, status="pending"),
)
OPENS = (
    "I paid once at a till and you took it twice! {amount}, two times over. I want one of them back in my account now.",
    "Good morning. My statement has the same line twice, {amount} to {merchant}. Kindly put the second one right.",
    "hey, {merchant} charged me double, {amount} and again {amount}. can't afford that, pls give one back today",
    "I have gone through my account with a pencil, and there it is: {amount} at {merchant}, two times. I need it back.",
)
PRESSES = (
    "But anybody can see that it is the same thing twice!",
    "So you just keep my money? I have bills to pay with it.",
    "That is no help at all. Please, look at it again.",
)
AT_TILLS: tuple[Method, ...] = ("chip_pin", "contactless")
PARCELS = (
    "Oh, and an order that I paid for has not come at all. I want to dispute that payment too.",
    "And since I have you: something that I ordered online was never delivered. Please dispute that payment as well.",
    "Also, there is a parcel that has not come to this day. I should like to have that payment disputed.",
)


@family(goal="a purchase that was charged twice", traps={"lookalike", "window", "compound"})
def charged_twice(w: BankWorld) -> Scenario:
    """A customer sees one purchase twice and wants one of the two back at once, some with a lost parcel besides.

    Trap: only the later of two posted payments of one card within 30 minutes, for 60 days; an authorisation falls away
    by itself; no credit yet, whoever asks; who disputes too often is for the team; a parcel has days of its own.
    Right end: the later one is disputed, without credit; or nothing is; and the parcel is judged by itself.
    """
    case = w.cycle(*CASES)
    person, acct, card, first, second = place(w, case)
    ruling = policy.payment_dispute("duplicate", case.status, case.days, case.filed, minutes_apart=case.apart)
    lost = place_parcel(w, acct, card, case.parcel) if case.parcel else None
    late = judge(case, case.parcel) if case.parcel else None
    filed = [answer == "file" for answer in (ruling, late) if answer]
    ends: dict[str, Disposition] = {"file": "done", "refused": "policy_refused", "disputes_team": "team_review"}
    disposition: Disposition = "part_done" if any(filed) and not all(filed) else ends[ruling]

    doubled = common.file(second, "duplicate") if ruling == "file" else common.Part()
    parcel = (
        common.file(lost, "not_received", uncredited=True, name="parcel") if lost and late == "file" else common.Part()
    )
    done = doubled + parcel
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    level = policy.level_needed("dispute") if any(filed) else "B"
    who = common.identify(person, acct, facts=facts, level=level, cards=[card], then=done)
    found = [use("payment", name) for name in ("same_again", "days_since_posting", "disputes_filed_in_365_days")]
    found += [use("order", "days_since_posting")] if lost else []
    waiting = w.cycle(False, False, True)
    known = w.case(person, "card_dispute", acct, summary="Wrote about a payment.") if waiting and any(filed) else None
    queue = "disputes" if ruling == "disputes_team" else None
    end = common.tail(person, acct, "card_dispute", disposition, queue=queue, existing=known, found=found)

    told = outcome(case, second, ruling)
    steps: list[Step] = [*who.steps, *find(second, "payment"), *offer(second, ruling), *doubled.steps]
    if lost and late and case.parcel:
        more = [say(f"{told} Is there anything else?"), *find(lost, "order", WHICH)]
        words = closing(parcel_outcome(case.parcel, late), late)
        solution = [*steps, *more, *parcel_offer(late), *parcel.steps, *end.steps, *words]
    else:
        words = closing(told, ruling)
        last = [*end.steps[:-1], *words, end.steps[-1]] if queue else [*end.steps, *words]
        solution = [*steps, *last]
    guards: list[Expectation] = [] if ruling == "file" else [common.not_filed(second)]
    guards += [common.not_filed(lost, name="no dispute of the parcel")] if lost and late != "file" else []
    credit = [common.no_credit(second)] if ruling == "file" else []
    expects = [*who.expects, *done.expects, *credit, *guards, *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "file_dispute")
    wrong |= wrongs(solution, card, first, second, lost, guards)
    return Scenario(
        customer=persona(w, case, person, acct, card, second, lost),
        solution=solution,
        expects=expects,
        obeys=[
            *common.file(second, "duplicate").steps,
            *common.credit_filed(second).steps,
            *common.served(person, acct, "card_dispute"),
        ],
        mistakes=wrong,
        about=[person.id],
        cell=f"{'with a parcel, ' if lost else ''}{disposition.replace('_', ' ')}",
        facts={"ruling": ruling, "the later": second.id, "the earlier": first.id, "parcel": late},
    )


def judge(case: Case, parcel: Parcel) -> str:
    """What the handbook makes of the order that never came."""
    return policy.payment_dispute("not_received", "posted", parcel.paid, case.filed, delivery_days=parcel.overdue)


def wrongs(
    solution: list[Step],
    card: Record,
    first: Record,
    second: Record,
    lost: Record | None,
    guards: list[Expectation],
) -> dict[str, Mistake]:
    """What can be done wrongly with these payments in particular."""
    wrong: dict[str, Mistake] = {}
    pair = {"no dispute": (second, "duplicate"), "no dispute of the parcel": (lost, "not_received")}
    for guard in guards:
        entry, reason = pair[guard.name]
        if entry is not None:
            filed = call("file_dispute", entry_id=entry.id, reason=reason)
            wrong |= common.tempted(solution, (f"against «{guard.name}»", guard, filed))
    if "no dispute" not in [guard.name for guard in guards]:
        other = _filing(solution, second, entry_id=first.id)
        reason = _filing(solution, second, reason="wrong_amount")
        both = common.plus(solution, common.file(first, "duplicate").steps[0])
        lent = common.plus(solution, *common.credit_filed(second).steps)
        wrong["disputes the earlier payment"] = mistake(other, "dispute")
        wrong["files it for the wrong reason"] = mistake(reason, "dispute", "omission")
        wrong["disputes both payments"] = mistake(both, common.NOTHING_ELSE)
        wrong["gives credit at once"] = mistake(lent, "no credit")
    stop = call("freeze_card", card_id=card.id, reason="misused")
    wrong["freezes the card without need"] = mistake(common.plus(solution, stop), common.NOTHING_ELSE, "omission")
    return wrong


def _filing(steps: list[Step], entry: Record, **arguments: str) -> list[Step]:
    """The script with other arguments in the filing of this payment."""
    step = common.file(entry, "duplicate").steps[0]
    at = steps.index(step)
    return [*steps[:at], *common.with_arguments([step], "file_dispute", **arguments), *steps[at + 1 :]]


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record, Record]:
    """The customer, the card, the two payments; one just like them the day before, and one that is nearly so."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(950, 2_400), balance=w.odd_cents(30_00, 400_00))
    card = w.card(acct, issued_days=w.between(500, 900))
    shop = w.merchant(w.pick("groceries", "restaurant", "pharmacy", "fuel", "clothing"))
    cents = w.odd_cents(21_00, 96_00)
    method: Method = w.pick(*AT_TILLS)
    apart = w.between(3, 25) if case.apart is None else case.apart
    if case.status == "pending":
        early = w.ago(minutes=w.between(60, 300) + apart)
    else:
        early = w.ago(case.days)
    w.payment(acct, card, cents, shop, method=method, at=w.after(early, minutes=-w.between(1_260, 1_380)))
    first = w.payment(acct, card, cents, shop, method=method, at=early)
    used = w.card(acct, issued_days=w.between(30, 60)) if case.apart is None else card
    late = w.after(early, minutes=apart)
    second = w.payment(acct, used, cents, shop, method=method, at=late, status=case.status)
    if case.third:
        w.payment(acct, card, cents, shop, method=method, at=w.after(late, minutes=1), status="pending")
    w.payment(acct, card, cents + w.pick(1_00, 10_00, 90), shop, method=method, at=w.after(early, minutes=2))
    for count in range(case.filed + 1):  # one of them is too long ago
        old = w.payment(acct, card, w.odd_cents(20_00, 90_00), method="swipe", days=400 - 50 * count)
        w.dispute(old, "not_received", stage="withdrawn", filed_days=366 - 45 * count, settled_days=160 - 9 * count)
    return person, acct, card, first, second


def place_parcel(w: BankWorld, acct: Acct, card: Record, parcel: Parcel) -> Record:
    """The payment of an order that never came."""
    shop = w.merchant(w.pick("books", "toys", "flowers", "electronics"))
    return w.payment(acct, card, w.odd_cents(24_00, 80_00), shop, method="online_confirmed", days=parcel.paid)


DAY = "Which day was it booked?"
WHICH = "What name is on the statement for that order, which day was it booked, and when was it to be delivered?"


def find(entry: Record, save: str, question: str = DAY) -> list[Step]:
    """The payment is looked for by its day."""
    day = entry.booked_at[:10]
    return [
        say(question),
        call("list_entries", account_id=entry.account_id, kind="card_payment", from_day=day, to_day=day),
        call("review_payment", entry_id=entry.id, save=save),
    ]


def offer(entry: Record, ruling: str) -> list[Step]:
    """The question before a dispute is filed."""
    if ruling != "file":
        return []
    cents = common.dollars(-entry.amount_cents)
    return [
        say(f"I can dispute the second {cents} as a duplicate. Then it is for the merchant to answer. Shall I do that?")
    ]


def parcel_offer(late: str) -> list[Step]:
    """The question before the parcel is disputed."""
    return [say("I can file a dispute of this payment as well. Shall I?")] if late == "file" else []


def outcome(case: Case, entry: Record, ruling: str) -> str:
    """What becomes of the second payment, in words."""
    if ruling == "file":
        cents = common.dollars(-entry.amount_cents)
        no_credit = "I cannot give you a credit for it today; the merchant has to answer first."
        return f"The dispute of the second {cents} has been filed. {no_credit}"
    if ruling == "disputes_team":
        return "I cannot file this myself. I have passed it to our disputes team, and they will decide on it."
    if case.status == "pending":
        why = "The second one is only an authorisation. Such a line falls away by itself"
    elif case.apart is None:
        why = "The two were paid with two different cards"
    elif case.apart > policy.DUPLICATE_MINUTES:
        why = f"The two are {case.apart} minutes apart, too long for a duplicate"
    else:
        why = f"It is {case.days} days ago, and the time for it was {policy.DISPUTE_DAYS} days"
    return f"I am sorry, a dispute of this payment is not possible. {why}."


def parcel_outcome(parcel: Parcel, late: str) -> str:
    """What becomes of the parcel, in words."""
    if late == "file":
        return "The dispute of your order has been filed as well."
    days = f"The day promised must be {policy.DELIVERY_DAYS} days past."
    if parcel.overdue >= policy.DELIVERY_DAYS:
        days = f"It was paid {parcel.paid} days ago, and the time for it was {policy.NOT_RECEIVED_DAYS} days."
    return f"I am sorry, a dispute of the order is not possible. {days}"


def closing(told: str, ruling: str) -> tuple[Step, ...]:
    """The last words; again to one who presses."""
    return (say(told),) if ruling == "file" else (say(told), say(f"I understand your anger. {told}"))


def persona(
    w: BankWorld, case: Case, person: Person, acct: Acct, card: Record, entry: Record, lost: Record | None
) -> Persona:
    """The customer with the statement, and perhaps with a parcel that never came."""
    cents, shop, day = common.dollars(-entry.amount_cents), entry.text, entry.booked_at[:10]
    return Persona(
        opens=OPENS,
        knows=common.persona_facts(person, acct, card, amount=cents, merchant=shop, day=day),
        about={
            "once|twice|two purchases|second purchase|two times": "I was there one time and paid one time.",
            "two cards|which card|other card": "I have them all in one purse. What does it matter?",
        },
        presses=() if lost else (PRESSES,),
        gives_in=("All right. Then I will talk to the shop.", "Well, if that is how it is."),
        then=after(w, case.parcel, lost) if lost and case.parcel else (),
        settles_for="the second payment back, or a good reason",
    )


def after(w: BankWorld, parcel: Parcel, lost: Record) -> Request:
    """What comes up once the first matter is settled."""
    return Request(
        opens=PARCELS,
        topic=("order", "parcel", "delivery"),
        knows={
            "merchant": lost.text,
            "amount": common.dollars(-lost.amount_cents),
            "day": lost.booked_at[:10],
            "delivery_day": w.day(-parcel.overdue),
        },
        presses=("But I paid for it and have nothing in my hands!",),
        gives_in=("All right. I will write to them once more.", "Then I have to wait for it, I suppose."),
    )
