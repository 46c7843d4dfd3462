"""A dispute is on file and the customer cannot wait for its end: who is lent the money is a matter of days."""

from datetime import date
from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Dispute
from tb_banking.models.kinds import Credit, Decision, Disposition, DisputeReason, DisputeStage, Method, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_banking.world.company import Trade
from tb_envs.authoring import Mistake, Persona, Record, Scenario, Step, call, family, mistake, say, use
from tb_envs.grading.expectations import Expectation


class Case(NamedTuple):
    """A dispute of so many cents, filed so many working days ago; `lost`: other disputes lost within a year."""

    reason: DisputeReason
    segment: Segment
    waited: int
    cents: int
    lost: int = 0
    stage: DisputeStage = "filed"
    credit: Credit = "none"
    answer: Decision = "granted"


CASES = (
    Case("fraud", "basic", 5, 1_000_00, lost=1),
    Case("fraud", "basic", 4, 214_35),
    Case("fraud", "plus", 0, 1_000_01),
    Case("fraud", "premier", 0, 2_500_00),
    Case("duplicate", "basic", 10, 148_20),
    Case("duplicate", "basic", 9, 87_95),
    Case("wrong_amount", "plus", 10, 1_430_60, answer="denied"),
    Case("wrong_amount", "plus", 9, 312_08),
    Case("wrong_amount", "premier", 5, 2_500_01, answer="pending"),
    Case("duplicate", "premier", 4, 640_44),
    Case("cancelled_subscription", "premier", 23, 59_90),
    Case("fraud", "plus", 7, 186_13, lost=2),
    Case("fraud", "premier", 14, 455_70, stage="contested"),
    Case("duplicate", "plus", 12, 96_31, credit="given"),
)
OPENS: dict[DisputeReason, tuple[str, ...]] = {
    "fraud": (
        "Somebody shopped with my card and you wrote it all down. But where is my money? The rent goes out tomorrow.",
        "Good afternoon. I reported a theft from my card to you. I am sorry to insist, but I cannot pay the heating.",
        "hi, still waiting after that card fraud thing. I've got like ten dollars left until payday",
    ),
    "duplicate": (
        "A shop took the same sum from me twice, I told you all about it, and I still have nothing back.",
        "Hello, I have disputed a double payment with you. I need that money for the school trip of my son.",
        "So I'm out of pocket because a till can't count, and you 'look into it'. Meanwhile I can't fill up the car.",
    ),
    "wrong_amount": (
        "I was charged far more than the bill said. You have my dispute, but my mortgage will not wait for it.",
        "Good morning, it is about my dispute over a wrong amount. The sum is large for us, and we need it now.",
        "They typed in the wrong number, you have it in writing, and my account is nearly empty because of it!",
    ),
    "cancelled_subscription": (
        "I disputed a subscription that I had cancelled long ago. It has been weeks and weeks now!",
        "Hello. You have had my dispute about a cancelled subscription for a month, and I have heard nothing.",
    ),
}
ASKS = (
    "Please lend me the amount until it is decided.",
    "A colleague of yours spoke of a credit for the time being. I want that now.",
    "I need the provisional credit today, please.",
)
PRESSES = (
    "But your colleague promised me that I would have it by now!",
    "And what should I live on until then? Please, make an exception.",
    "I did nothing wrong, and it is me who has to wait? That cannot be right.",
)
DOUBTS = ("I have looked three times, and I see no such thing.", "Are you sure? Nobody told me about it.")


@family(goal="credit while a dispute is open", traps={"window", "tiering", "approval", "lookalike"})
def credit_on_dispute(w: BankWorld) -> Scenario:
    """A customer with a dispute on file needs the money before it is decided, and says that it was promised.

    Trap: working days by reason and segment, earlier disputes that were lost, a merchant who has answered, the desk
    above an amount; and a second dispute on the account that earns no credit at all.
    Right end: the credit of this dispute, after the passcode; or none, and the customer is told why.
    """
    case = w.cycle(*CASES)
    person, acct, dispute, other = place(w, case)
    waited = policy.working_days_between(date.fromisoformat(dispute.filed_on), w.today)
    ruling = policy.provisional_credit(case.reason, case.segment, waited, case.lost, case.stage)
    given = case.credit == "given"
    due = ruling == "due" and not given
    asks = due and policy.sign_off_needed("provisional_credit", case.cents, case.segment)
    answer = w.desk_answers(acct, "provisional_credit", case.answer) if asks else None
    ends: dict[str, Disposition] = {"due": "done", "not_yet": "policy_refused", "never": "policy_refused"}
    disposition = common.ANSWERED[answer] if answer else "already_settled" if given else ends[ruling]
    served = disposition in common.CARRIED_OUT

    done = common.credit(dispute, case.cents) if served else common.Part()
    known = (use("dispute", "amount"), use("dispute", "segment"), use("dispute", "working_days_since_filing"))
    desk = common.sign_off(acct, "provisional_credit", case.cents, answer, *known, then=done) if answer else None
    desk = desk or common.Part()
    level = policy.level_needed("dispute") if due else "B"
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    who = common.identify(person, acct, facts=facts, level=level, then=done + desk)
    case_known = w.cycle(False, True, False, False, True)
    carried = (
        w.case(person, "provisional_credit", acct, summary="Asked in the app for a credit.") if case_known else None
    )
    end = common.tail(person, acct, "provisional_credit", disposition, existing=carried, found=known)
    looks: list[Step] = [
        say("What name is on the statement for the disputed payment, and how much was it?"),
        call("list_disputes", account_id=use("account", "account_id")),
        call("review_dispute", dispute_id=dispute.id, save="dispute"),
    ]
    lent = f"a provisional credit of {common.dollars(case.cents)}. If the dispute is lost, it is taken back"
    asking = f"For this amount I need the consent of our controls desk to {lent}. Shall I ask for it?"
    question = say(asking if answer else f"I can give you {lent}. Shall I do that?")
    words = outcome(case, ruling, disposition)
    solution = [*who.steps, *looks, *((question,) if due else ()), *desk.steps, *done.steps, *end.steps, *words]
    guards = forbidden(acct, dispute, given) if not served else ()
    expects = [*who.expects, *desk.expects, *done.expects, *guards, *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "grant_credit")
    if carried and not due and (second := wrong.get("opens a second case")):
        wrong["opens a second case"] = mistake(second.does, tuple(second.fails), "omission")
    wrong |= wrongs(case, solution, acct, dispute, other, guards, asked=bool(answer))
    return Scenario(
        customer=persona(w, case, person, acct, dispute),
        solution=solution,
        expects=expects,
        obeys=[*common.credit(dispute, case.cents).steps, *common.served(person, acct, "provisional_credit")],
        mistakes=wrong,
        about=[person.id],
        cell=f"{disposition.replace('_', ' ')}{f', {ruling}' if disposition == 'policy_refused' else ''}",
        facts={"ruling": ruling, "dispute": dispute.id, "the other": other.id},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record]:
    """The customer, the dispute, and one at the same shop that never earns a credit; disputes lost before."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(950, 2_400), balance=w.odd_cents(8_00, 140_00))
    stolen = case.reason == "fraud"
    card = w.card(acct, issued_days=w.between(500, 900))
    if stolen:
        w.card(acct, replaces=card, replace_reason="misused", issued_days=0)
    shop = w.merchant(trade(w, case))
    filed_on = w.workday(-case.waited) if case.waited else w.day(0)
    paid = w.after(f"{filed_on}T{w.pick('09:17', '11:42', '16:05')}:00Z", days=-w.between(1, 4))
    method: Method = w.pick("online_plain", "contactless") if stolen else w.pick("chip_pin", "online_confirmed")
    if case.reason == "duplicate":
        w.payment(acct, card, case.cents, shop, method=method, at=w.after(paid, minutes=-w.between(2, 25)))
    entry = w.payment(acct, card, case.cents, shop, method=method, at=paid)
    dispute = w.dispute(entry, case.reason, stage=case.stage, filed_on=filed_on, credit=case.credit)
    cents = w.odd_cents(14_00, 45_00)
    missing = w.payment(acct, card, cents, shop, method="chip_pin", days=w.between(34, 50))
    other = w.dispute(missing, "not_received", filed_days=w.between(16, 30))
    for count in range(case.lost + 1):  # one of them is too long ago
        old = w.payment(acct, card, w.odd_cents(20_00, 90_00), method="swipe", days=430 - 60 * count)
        w.dispute(old, "wrong_amount", stage="lost", filed_days=400 - 50 * count, settled_days=366 - 40 * count)
    return person, acct, dispute, other


def trade(w: BankWorld, case: Case) -> Trade:
    """Where so much may have been paid."""
    if case.reason == "cancelled_subscription":
        return w.pick("software", "streaming", "fitness")
    return w.pick("electronics", "furniture", "hotel") if case.cents > 200_00 else w.pick("books", "toys", "clothing")


def forbidden(acct: Acct, dispute: Record, given: bool) -> tuple[Expectation, ...]:
    """What must not be done where no credit is due: it, or the same money under another name."""
    paid = common.not_paid(acct)
    return (paid,) if given else (paid, common.untouched("dispute kept", Dispute, dispute.id))


def wrongs(
    case: Case,
    solution: list[Step],
    acct: Acct,
    dispute: Record,
    other: Record,
    guards: tuple[Expectation, ...],
    *,
    asked: bool,
) -> dict[str, Mistake]:
    """What can be done wrongly with this dispute in particular."""
    wrong: dict[str, Mistake] = {}
    needless = common.sign_off(acct, "provisional_credit", case.cents, "pending").steps
    credit = common.credit(dispute, case.cents).steps[0]
    paid = common.compensate(acct, "write_off", case.cents, case.cents, dispute=dispute).steps[0]
    for guard in guards:
        step = paid if guard.name == "no compensation" else credit
        wrong |= common.tempted(solution, (f"against «{guard.name}»", guard, step))
    if not asked:
        wrong["asks the desk without need"] = mistake(common.plus(solution, *needless), common.NOTHING_ELSE)
    if not guards:
        amiss = common.with_arguments(solution, "grant_credit", dispute_id=other.id)
        wrong["gives the credit of the other dispute"] = mistake(amiss, ("credit", common.NOTHING_ELSE))
        both = common.plus(solution, call("grant_credit", dispute_id=other.id))
        wrong["gives both credits"] = mistake(both, common.NOTHING_ELSE)
    return wrong


def outcome(case: Case, ruling: str, disposition: Disposition) -> tuple[Step, ...]:
    """How it ended, in words; to one who is not served again, after a protest."""
    amount = common.dollars(case.cents)
    why = "a provisional credit is not possible for this dispute"
    if ruling == "not_yet":
        days = policy.CREDIT_DAYS[case.reason][case.segment]
        why = f"a credit is not possible today. It becomes possible {days} working days after you filed the dispute"
    if case.stage == "contested":
        why = "the merchant has contested it, and from then on a credit is not possible"
    if disposition == "already_settled":
        told = say(f"The credit of {amount} was given before, so there is nothing left for me to change.")
        return told, say(f"I have looked again: the {amount} stand on your account, there is nothing left to change.")
    return common.last_words(disposition, f"{amount} has been credited to you until the dispute is settled.", why)


def persona(w: BankWorld, case: Case, person: Person, acct: Acct, dispute: Record) -> Persona:
    """The customer, short of money."""
    entry = w.the_entry(dispute.entry_id)
    ask = w.pick(*ASKS)
    return Persona(
        opens=tuple(f"{line} {ask}" for line in OPENS[case.reason]),
        knows=common.persona_facts(
            person, acct, amount=common.dollars(case.cents), merchant=entry.text, day=entry.booked_at[:10]
        ),
        about={
            "other dispute": "That other parcel can wait. It is this one that hurts.",
            "how long|when file|when report": "It feels like ages. You must have it in your papers.",
        },
        presses=(DOUBTS if case.credit == "given" else PRESSES,),
        gives_in=("All right. I will have to borrow it from my sister, then.", "Well. Then I must wait, it seems."),
        settles_for="the credit, if it is due",
    )
