"""A customer home from a journey finds the foreign fees too high; today's page, the day's rate and cents decide."""

from decimal import Decimal
from typing import Any, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Fee
from tb_banking.models.kinds import Decision, Disposition, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Call,
    Mistake,
    Persona,
    Record,
    Scenario,
    Step,
    call,
    family,
    mistake,
    say,
    show_money,
    use,
)


class Paid(NamedTuple):
    """So many hundredths of a currency at a rate in millionths of a dollar, and the fee that was charged for it.

    Without a currency it was paid in dollars.
    """

    hundredths: int
    fee: int
    currency: str = ""
    rate: int = 1_000_000


class Case(NamedTuple):
    """Whose fees they are, of one payment or of two on one day, how long ago; what the controls desk would answer."""

    segment: Segment
    paid: tuple[Paid, ...]
    days: int
    answer: Decision = "granted"


CASES = (
    Case("basic", (Paid(88_14, 3_37, "EUR", 1_087_300),), 12),
    Case("basic", (Paid(120_33, 4_41, "EUR", 1_087_300),), 24),
    Case("basic", (Paid(104_42, 3_98, "GBP", 1_268_900),), 9),
    Case("plus", (Paid(89_25, 3_40, "GBP", 1_268_900),), 31),
    Case("plus", (Paid(4_120_00, 164_60, "EUR", 1_087_300),), 17, "denied"),
    Case("basic", (Paid(2_310_50, 150_37, "EUR", 1_087_300),), 40, "denied"),
    Case("premier", (Paid(3_252_00, 41_26, "GBP", 1_268_900), Paid(2_660_00, 33_75, "GBP", 1_268_900)), 6),
    Case("premier", (Paid(1_234_00, 12_34, "CHF", 1_142_700),), 52),
    Case("premier", (Paid(7_212_00, 78_41, "EUR", 1_087_300),), 4, "pending"),
    Case("basic", (Paid(203_90, 6_12),), 14),
    Case("basic", (Paid(64_80, 3_16, "CAD", 731_400), Paid(131_13, 4_27, "CAD", 731_400)), 20),
    Case("plus", (Paid(1_411_00, 3_70, "SEK", 95_600),), 28),
)
OPENS = (
    "Hello, I am back from my holiday and find {fees} on my account. That is a rip-off, I want it back!",
    "We saved a year for this trip, and now you add {fees} to it. I want that money back.",
    "Good evening. {fees}, just for paying with your card? I was told that this is free of charge. Please return it.",
    "hi, going through my statement i see {fees}. nobody told me. give me back what you took, please.",
)
PRESSES = {
    True: (
        (
            "But you have just told me that it was too much! Why must anybody be asked?",
            "It is my money, by your own words.",
        ),
        ("Then give me at least a part of it, today.", "Can't you send it now and ask them later?"),
    ),
    False: (
        (
            "After my last trip your colleague gave it all back, as a courtesy!",
            "In your leaflet it is two percent, at most.",
        ),
        ("Surely you can make an exception, once a year.", "Another bank takes nothing at all. Please, look again."),
    ),
}
"""What is said against an answer: where the desk is asked, and where the fee stays."""
OLD_SHARE: dict[Segment, int] = {"basic": 2, "plus": 2, "premier": 1}
"""Of the page that is out of date."""


@family(goal="foreign fees that seem too high", traps={"superseded", "arithmetic", "approval"})
def foreign_fee(w: BankWorld) -> Scenario:
    """A traveller wants the foreign fees back, whole, and has heard of a lower share and of courtesy.

    Trap: an old page with another share; the rate of the posting day, two roundings, and less than half a dollar is
    left; dollars paid abroad cost nothing; what comes to more than 75 dollars in all needs the controls desk.
    Right end: the part above the right fee returned as our mistake, once it is signed off; or the fee stays.
    """
    case = w.cycle(*CASES)
    person, acct, fees = place(w, case)
    dues = [policy.mistake_return(paid.fee, right(case, paid)) for paid in case.paid]
    asks = policy.sign_off_needed("fee_return", sum(dues), case.segment)
    answer = w.desk_answers(acct, "fee_return", case.answer if asks else None)
    disposition: Disposition = common.ANSWERED[answer] if answer else "done" if all(dues) else "policy_refused"
    served = disposition in common.CARRIED_OUT

    looks, known = look_ups(case, fees)
    names = ("return", "second return")
    parts = [
        common.reverse(fee, due, "bank_error", *known, name=name)
        for fee, due, name in zip(fees, dues, names, strict=False)
    ]
    done = sum(parts, common.Part()) if served else common.Part()
    desk = common.sign_off(acct, "fee_return", sum(dues), answer, *known, then=done) if answer else common.Part()
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    who = common.identify(person, acct, facts=facts, level=policy.level_needed("return_fee"), then=done + desk)
    found = () if served or answer else known
    waiting = w.case(person, "fee", acct, summary="Asked about a fee.") if w.cycle(False, True) and served else None
    end = common.tail(person, acct, "fee", disposition, existing=waiting, found=found)

    sums, verb = " and ".join(map(common.dollars, dues)), "have" if len(dues) > 1 else "has"
    words = common.last_words(disposition, f"{sums} {verb} been returned to your account.", stays(case))
    solution = [*who.steps, *looks, *reckoning(dues, asks), *desk.steps, *done.steps, *end.steps, *words]
    guards = (
        []
        if served
        else [common.untouched(f"fee kept{n}", Fee, fee.id) for n, fee in zip(("", " 2"), fees, strict=False)]
    )
    expects = [*who.expects, *desk.expects, *done.expects, *guards, *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "reverse_fee")
    for guard, fee, due in zip(guards, fees, dues, strict=False):
        step = common.reverse(fee, due or fee.amount_cents, "bank_error").steps[0]
        wrong |= common.tempted(solution, (f"breaks: {guard.name}", guard, step))
    if served:
        for paid, part, due in zip(case.paid, parts, dues, strict=True):
            for title, cents in near(case, paid).items():
                if 0 < cents <= paid.fee and cents != due:
                    wrong[f"{part.expects[0].name}: {title}"] = otherwise(solution, part, cents)
        kindly = common.with_arguments(solution, "reverse_fee", reason="goodwill")
        wrong["calls it goodwill"] = mistake(kindly, [part.expects[0].name for part in parts])
    if served and not asks:
        needless = common.sign_off(acct, "fee_return", sum(dues), "pending").steps
        wrong["asks the desk without need"] = mistake(common.plus(solution, *needless), common.NOTHING_ELSE)
    if asks and not served:
        other = common.with_arguments(solution, "request_sign_off", amount="99.99")
        wrong["asks the desk for another amount"] = mistake(other, "sign-off", "omission")
    if asks and served:
        alone = common.without(solution, "request_sign_off", "get_sign_off")
        wrong["asks nobody"] = mistake(alone, ("sign-off", "answer read first"))
    return Scenario(
        customer=persona(w, person, acct, fees, asks),
        solution=solution,
        expects=expects,
        obeys=[
            *who.steps,
            looks[0],
            *(common.reverse(fee, fee.amount_cents, "goodwill").steps[0] for fee in fees),
            *common.served(person, acct, "fee"),
        ],
        mistakes=wrong,
        about=[person.id],
        cell=disposition.replace("_", " ") + (", two fees" if len(fees) > 1 else ""),
        facts={"right": [right(case, paid) for paid in case.paid], "due": dues},
    )


def right(case: Case, paid: Paid) -> int:
    """The right fee: none for a payment in dollars."""
    return policy.foreign_fee(Decimal(paid.hundredths) / 100, paid.rate, case.segment) if paid.currency else 0


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, list[Record]]:
    """The customer, the account and the fees in question; and one for another payment that is right."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person)
    card, day, fees = w.card(acct, abroad="on"), w.day(-case.days), list[Record]()
    for hour, paid in enumerate(case.paid, 7):
        foreign = (paid.currency, paid.hundredths) if paid.currency else None
        if foreign:
            w.rate(paid.currency, day, paid.rate)
            w.rate(paid.currency, w.day(-case.days - 1), paid.rate * 101 // 100 + 7)
        cents, at = (
            policy.convert(Decimal(paid.hundredths) / 100, paid.rate),
            f"{day}T{hour:02}:{w.between(10, 59)}:00Z",
        )
        entry = w.payment(acct, card, cents, w.merchant("hotel"), method="chip_pin", at=at, foreign=foreign)
        fees.append(w.fee(acct, "foreign", paid.fee, at=w.after(at, minutes=2), entry=entry))
    sound = {"basic": 1_31, "plus": 87}.get(case.segment)
    if sound:
        w.rate("EUR", w.day(-case.days - 3), 1_090_000)
        meal = w.payment(acct, card, 43_60, w.merchant("restaurant"), days=case.days + 3, foreign=("EUR", 40_00))
        w.fee(acct, "foreign", sound, at=w.after(meal.booked_at, minutes=2), entry=meal)
    return person, acct, fees


def look_ups(case: Case, fees: list[Record]) -> tuple[list[Step], list[Any]]:
    """What has to be looked at, and what of it decides: for premier customers the page alone."""
    steps: list[Step] = [call("review_fees", account_id=use("account", "account_id"), save="fees")]
    known: list[Any] = [use("fees", "segment"), use("fees", "fees")]
    if case.segment != "premier":
        for at, fee in enumerate(fees):
            steps.append(call("get_entry", entry_id=fee.entry_id, save=f"entry {at}"))
            known.append(use(f"entry {at}", "booked_at"))
        first = case.paid[0]
        if first.currency:
            day = fees[0].charged_at[:10]
            steps.append(call("get_rate", currency=first.currency, day=day, save="rate"))
            known.append(use("rate", "usd_per_unit"))
    steps += [
        call("search_guide", query="foreign payment fee share"),
        call("open_guide_page", page_id="GP-02", save="page"),
    ]
    return steps, [*known, use("page", "body")]


def reckoning(dues: list[int], asks: bool) -> list[Step]:
    """What comes out, and whether that is wanted; nothing where the fee is right."""
    if not all(dues):
        return []
    sums = " and ".join(map(common.dollars, dues))
    desk = " Our controls desk has to agree to that." if asks else ""
    return [say(f"By today's prices {sums} too much was charged. I can return that to you.{desk} Shall I?")]


def stays(case: Case) -> str:
    """Why nothing is returned."""
    if case.paid[0].fee > right(case, case.paid[0]):
        return "the fee is only some cents too high, and less than half a dollar is left as it is, so it stays"
    return "the fee is right by today's prices, so it stays"


def near(case: Case, paid: Paid) -> dict[str, int]:
    """Amounts that are easily taken for the right one."""
    share, amount = policy.FOREIGN_SHARE[case.segment], Decimal(paid.hundredths) / 100
    dollars, earlier = policy.convert(amount, paid.rate), policy.convert(amount, paid.rate * 101 // 100 + 7)
    return {
        "all of it": paid.fee,
        "the right fee instead of the rest": right(case, paid),
        "by the old page": paid.fee - policy.percent(dollars, OLD_SHARE[case.segment]),
        "by the rate of the day before": paid.fee - policy.percent(earlier, share),
        "rounded once": paid.fee - policy.half_up(paid.hundredths * paid.rate * share, 100_000_000),
    }


def otherwise(solution: list[Step], part: common.Part, cents: int) -> Mistake:
    """The script in which another amount is returned."""
    (step,) = part.steps
    assert isinstance(step, Call)
    wrong = call("reverse_fee", **{**step.arguments, "amount": show_money(cents)})
    return mistake([wrong if each is step else each for each in solution], step.earns)


def persona(w: BankWorld, person: Person, acct: Acct, fees: list[Record], asks: bool) -> Persona:
    """A traveller who was told something else."""
    sums = " and ".join(common.dollars(fee.amount_cents) for fee in fees)
    fee = f"foreign fees of {sums}" if len(fees) > 1 else f"a foreign fee of {sums}"
    lines = tuple(line.format(fees=fee) for line in OPENS)
    return Persona(
        opens=tuple(line[0].upper() + line[1:] if w.chance(0.7) else line for line in lines),
        knows=common.persona_facts(
            person, acct, merchant=w.the_entry(fees[0].entry_id).text, day=fees[0].charged_at[:10]
        ),
        about={
            "where|journey|trip": "We were abroad for a week, and paid for the hotel with the card.",
            "which fee|how much was": f"I mean {fee}.",
        },
        presses=PRESSES[asks],
        gives_in=("So be it. Next time I take cash with me.", "All right. I still find it too much."),
        settles_for="what was charged above the right fee",
    )
