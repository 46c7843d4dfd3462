"""A card payment that the customer does not know; its shop's own name may help, else the way it was made decides."""

import re
from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Card, Merchant
from tb_banking.models.kinds import Decision, Disposition, DisputeStage, Method, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_banking.world.company import Trade
from tb_envs.authoring import (
    Mistake,
    Persona,
    Record,
    Scenario,
    Secret,
    Step,
    call,
    family,
    happened,
    matches,
    mistake,
    order,
    say,
    says,
    use,
)


class Case(NamedTuple):
    """Whether the shop's name helps, how and when what was paid, whose it is, and what stands on record.

    `filed` and `lost`: disputes of the last 365 days; `frozen`: the card is frozen already.
    """

    known: bool
    method: Method
    days: int
    cents: int
    segment: Segment
    filed: int = 0
    lost: int = 0
    frozen: bool = False
    answer: Decision = "granted"


CASES = (
    Case(True, "contactless", 12, 84_17, "basic"),
    Case(True, "chip_pin", 31, 129_90, "plus", filed=1),
    Case(True, "online_plain", 7, 1_240_05, "premier"),
    Case(False, "chip_pin", 3, 212_35, "basic"),
    Case(False, "online_confirmed", 18, 96_20, "plus"),
    Case(False, "contactless", 120, 47_85, "basic", filed=3),
    Case(False, "swipe", 121, 388_10, "plus"),
    Case(False, "online_plain", 4, 1_000_00, "plus", lost=1),
    Case(False, "swipe", 2, 1_000_01, "plus", frozen=True),
    Case(False, "contactless", 9, 2_500_01, "premier", answer="denied"),
    Case(False, "online_plain", 5, 1_730_55, "plus", answer="pending"),
    Case(False, "swipe", 15, 2_500_00, "premier"),
    Case(False, "online_plain", 6, 154_60, "premier", filed=4),
)


CHEAP: tuple[Trade, ...] = ("clothing", "flowers", "toys", "books", "tickets", "restaurant", "software")
DEAR: tuple[Trade, ...] = ("electronics", "furniture", "hotel")


class Verdict(NamedTuple):
    """What is right: whether the card is frozen, whether the dispute is filed, the credit, the answer of the desk."""

    freezes: bool
    files: bool
    credited: bool
    answer: Decision | None
    disposition: Disposition


@family(
    goal="dispute a payment that nobody knows", traps={"wrong_premise", "order", "tiering", "approval", "lookalike"}
)
def unknown_payment(w: BankWorld) -> Scenario:
    """A customer finds a card payment under a name they have never heard of and wants the money back.

    Trap: told the shop's own name some know it well; if not, what a PIN or the app confirmed is refused, all else is
    frozen, filed and replaced in this order, and credit at once hangs on segment, amount and earlier disputes.
    Right end: nothing filed for a payment that is recognised or refused; else the dispute, the card and the credit due.
    """
    case = w.cycle(*CASES)
    person, acct, card, entry, other = place(w, case)
    shop = w.get(Merchant, entry.merchant_id)
    right = judge(w, case, acct)

    freeze, done = work(case, right, person, acct, card, entry)
    who = common.identify(person, acct, facts=("account", w.pick("email", "birth_date")), cards=[card], then=done)
    code = common.step_up(person, use("account", "customer_id"), then=done) if right.files else common.Part()
    seen = () if right.answer else (use("payment", "trading_name"), use("payment", "method"))
    end = common.tail(person, acct, "card_dispute", right.disposition, queue="disputes", found=seen)
    full = w.cycle(True, True, False)
    look, name = find(entry, shop, full)
    offer = say("I am sorry to hear that. I can file a dispute and replace your card. Shall I do both?")
    told = words(case, right)
    closing = [*end.steps, *told] if right.disposition != "team_review" else [*end.steps[:-1], *told, end.steps[-1]]
    carried = [*code.steps, offer, *done.steps] if right.files else [*done.steps]
    solution = [*who.steps, *look, name, *freeze.steps, *carried, *closing]
    naming = says(matches(re.escape(shop.trading_name)))
    touches = common.touched(done) if right.files else common.touched(freeze) if right.freezes else ()
    named = order("named first", naming, *touches) if touches else happened("named", naming)
    expects = [*who.expects, named, *freeze.expects, *code.expects, *done.expects, *end.expects]

    unnamed = [step for step in solution if step != name]
    wrong = common.common_mistakes(solution, expects) | wrongs(case, right, solution, acct, card, entry, other)
    wrong["does not name the shop"] = mistake(unnamed, named.name, "policy" if right.files else "omission")
    return Scenario(
        customer=persona(case, full, person, acct, card, entry, shop),
        solution=solution,
        expects=expects,
        obeys=[
            *common.file(entry, "fraud").steps,
            *common.credit_filed(entry).steps,
            *common.served(person, acct, "card_dispute"),
        ],
        mistakes=wrong,
        about=[person.id],
        cell=cell(case, right),
        facts={"shop": shop.trading_name, "right": right, "other payment": other.id},
    )


def wrongs(
    case: Case, right: Verdict, solution: list[Step], acct: Acct, card: Record, entry: Record, other: Record
) -> dict[str, Mistake]:
    """What can be done wrongly with this payment in particular."""
    wrong = common.forgotten(solution, "grant_credit", "replace_card")
    credit = common.credit_filed(entry)
    if right.files:
        checks = ("dispute", "filed before replaced", *(("credit",) if right.credited else ()))
        wrong["forgets the dispute"] = mistake(common.without(solution, "file_dispute"), checks, "omission")
        amiss = common.with_arguments(solution, "file_dispute", entry_id=other.id)
        wrong["disputes the other payment"] = mistake(amiss, checks, "omission")
        amiss = common.with_arguments(solution, "file_dispute", reason="wrong_amount")
        wrong["files it for the wrong reason"] = mistake(amiss, "dispute", "omission")
        if not right.credited:
            wrong["gives credit all the same"] = mistake(common.plus(solution, *credit.steps), "no credit")
        if not right.answer:
            needless = common.sign_off(acct, "provisional_credit", case.cents, "pending").steps
            wrong["asks the desk without need"] = mistake(common.plus(solution, *needless), common.NOTHING_ELSE)
    else:
        filed = common.file(entry, "fraud").steps[0]
        wrong |= common.tempted(solution, ("files it all the same", common.not_filed(entry), filed))
        stop = call("freeze_card", card_id=card.id, reason="misused")
        if right.freezes:
            wrong |= common.forgotten(solution, "freeze_card")
        else:
            frozen = common.plus(solution, stop)
            wrong["freezes the card all the same"] = mistake(frozen, "card kept", "omission")
    return wrong


def judge(w: BankWorld, case: Case, acct: Acct) -> Verdict:
    """What the handbook makes of the case."""
    if case.known:
        return Verdict(False, False, False, None, "recognised")
    freezes = policy.freezes_card("fraud", case.method, False) and not case.frozen
    ruling = policy.payment_dispute("fraud", "posted", case.days, case.filed + case.lost, method=case.method)
    if ruling != "file":
        return Verdict(freezes, False, False, None, "team_review" if ruling == "disputes_team" else "policy_refused")
    due = policy.provisional_credit("fraud", case.segment, 0, case.lost, "filed") == "due"
    asks = due and policy.sign_off_needed("provisional_credit", case.cents, case.segment)
    answer = w.desk_answers(acct, "provisional_credit", case.answer) if asks else None
    return Verdict(
        freezes, True, due and answer in (None, "granted"), answer, common.ANSWERED[answer] if answer else "done"
    )


def work(
    case: Case, right: Verdict, person: Person, acct: Acct, card: Record, entry: Record
) -> tuple[common.Part, common.Part]:
    """The freeze; and what is carried out at level C, or the guards where nothing is."""
    if not right.files:
        guards = [common.not_filed(entry)]
        if right.freezes:
            return common.freeze(card, "misused", person), common.Part((), tuple(guards))
        return common.Part(), common.Part((), (*guards, common.untouched("card kept", Card, card.id)))
    credit = common.credit_filed(entry) if right.credited else common.Part()
    done = common.file(entry, "fraud")
    if right.answer:
        needs = (use("payment", "amount"), use("payment", "segment"))
        done += common.sign_off(acct, "provisional_credit", case.cents, right.answer, *needs, then=credit)
    done += common.replace(card, "misused", frozen="misused" if right.freezes else None)
    done += common.filed_first(entry, card)
    done += credit if right.credited else common.Part((), (common.no_credit(entry),))
    freeze = common.freeze(card, "misused", person, before=done, replaced=True) if right.freezes else common.Part()
    return freeze, done


def cell(case: Case, right: Verdict) -> str:
    """The outcome in words."""
    credit = ("with credit, " if right.credited else "without credit, ") if right.disposition == "done" else ""
    frozen = "frozen before, " if case.frozen else "frozen, " if right.freezes and not right.files else ""
    return f"{frozen}{credit}{right.disposition.replace('_', ' ')}"


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record, Record]:
    """The customer, the card, the payment, and another one at the same shop on the same day."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(950, 2_400))
    card = w.card(acct, status="frozen" if case.frozen else "active", issued_days=w.between(300, 900))
    shop = w.merchant(w.pick(*(DEAR if case.cents > 200_00 else CHEAP)))
    entry = w.payment(acct, card, case.cents, shop, method=case.method, days=case.days)
    other = w.payment(acct, card, w.odd_cents(9_00, 40_00), shop, method="contactless", days=case.days)
    for count in range(case.filed + case.lost):
        old = w.payment(acct, card, w.odd_cents(20_00, 90_00), method="swipe", days=200 + 9 * count)
        stage: DisputeStage = "lost" if count < case.lost else "withdrawn"
        w.dispute(old, "not_received", stage=stage, filed_days=190 + 9 * count, settled_days=150 + count)
    return person, acct, card, entry, other


def find(entry: Record, shop: Record, full: bool) -> tuple[list[Step], Step]:
    """The payment is looked for by its day; and then named as its shop is known."""
    day, more = entry.booked_at[:10], "" if full else "What name is on the statement, and how much was it? "
    looks: list[Step] = [
        say(f"{more}Which day was it booked?"),
        call("list_entries", account_id=entry.account_id, kind="card_payment", from_day=day, to_day=day),
        call("review_payment", entry_id=entry.id, save="payment"),
    ]
    named = f"{shop.statement_name} is how {shop.trading_name} appears on statements. They sell {shop.sells}."
    return looks, say(f"{named} Do you recognise the payment now?")


def words(case: Case, right: Verdict) -> tuple[Step, ...]:
    """What the customer hears at the end."""
    done = "The dispute has been filed and your card has been replaced."
    back = f"{common.dollars(case.cents)} has been credited to you until the dispute is settled."
    match right.disposition:
        case "team_review":
            return (say("Your card has been frozen, and our disputes team has your case now. They will decide on it."),)
        case "sign_off_denied":
            why = "I am sorry, our controls desk has declined the credit."
            return say(f"{done} {why}"), say(f"{why} The dispute itself goes on.")
        case "sign_off_pending":
            why = "Our controls desk has not decided on the credit yet; we will write to you."
            return say(f"{done} {why}"), say(f"I understand. {why}")
        case "done" if not right.credited:
            why = "I cannot give you credit for it now; the merchant has to answer first."
            return (say(f"{done} {why}"),)
        case _:
            return common.last_words(right.disposition, f"{done} {back}", "a dispute of this payment is not possible")


KNOW = (
    "you recognise", "you know", "familiar", "you remember", "rings bell", "was you", "yours", "you recall",
    "name means", "you bought", "you buy", "you made", "you make", "you ordered", "you shopped", "you visited",
    "you purchased", "you authorised", "your purchase", "makes sense", "someone household", "anyone household",
    "someone family", "anyone family", "you used", "you placed",
)  # fmt: skip
STRANGE = (
    "No. I have never bought anything there.",
    "No, and I would know. That was not me.",
    "Never heard of them, I swear. It was not me.",
)
OH = (
    "Oh! {shop}, of course. That was me, then.",
    "Ah, {shop}! Why do they not write that? That was me.",
    "Wait, {shop}? Yes, that is my order. I am so sorry.",
)


def persona(case: Case, full: bool, person: Person, acct: Acct, card: Record, entry: Record, shop: Record) -> Persona:
    """The customer with the statement in hand."""
    cents, name = common.dollars(case.cents), shop.statement_name
    opens = (
        f"Somebody has taken {cents} from my account! {name}, it says, and I have never heard of that. I want it back.",
        f"Good morning. My statement shows {cents} to {name}. I know of no such firm. Kindly return the money.",
        f"hey so there's this {name} thing on my card, {cents}?? never heard of it, pls get it back",
        f"I am quite frightened: {name} took {cents} and I do not know who that is. Please give it back at once.",
    )
    short = ("There is a payment on my card that I know nothing about. I want the money back.",)
    known = common.persona_facts(person, acct, card, amount=cents, merchant=name, day=entry.booked_at[:10])
    oh = tuple(line.replace("{shop}", shop.trading_name) for line in OH)
    admits = Secret((*KNOW, shop.trading_name), oh, after=f"named:{shop.trading_name}")
    return Persona(
        opens=opens if full else short,
        knows=known,
        secrets=[admits] if case.known else (),
        about={"|".join(KNOW): "No, that name says nothing to me." if case.known else STRANGE},
        presses=()
        if case.known
        else (("You are the bank! Give me my money back.", "That is not good enough for me."),),
        gives_in=("All right. I will wait and see.", "Well, if that is how it is."),
        settles_for="what the records allow",
    )
