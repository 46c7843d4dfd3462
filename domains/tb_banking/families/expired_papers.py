"""A customer in a hurry whose papers have run out or are being looked at: what may still be done, and what waits."""

import re
from typing import Any, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.families._expired_papers import CASES, KINDS, Case, Thing, Wish, persona
from tb_banking.models import Base, Card, Entry, Fee, Limit, StandingOrder, Transfer
from tb_banking.models.kinds import Disposition, Method
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Mistake,
    Say,
    Scenario,
    Step,
    call,
    family,
    matches,
    mistake,
    order,
    say,
    says,
    show_money,
    use,
)
from tb_envs.grading.expectations import Expectation


class Service(NamedTuple):
    """How a wish is served: the looks and the question, what is carried out, what the case reports, the words."""

    looks: tuple[Step, ...]
    done: common.Part
    seen: tuple[Any, ...]
    words: str


@family(goal="use an account whose papers are missing", traps={"compound", "pressure", "stale_state"})
def expired_papers(w: BankWorld) -> Scenario:
    """A customer needs something at once and does not think of the papers, or has sent them long ago.

    Trap: everything else would be allowed, so that only the state of the papers stands against it; disputes,
    complaints and the freeze of a lost card go on without them; an old request for papers that came since says nothing.
    Right end: what waits is left as it was and written down as waiting; what may be done is done.
    """
    case = w.cycle(*CASES)
    person, acct, things = place(w, case)
    wishes: tuple[Wish, ...] = (case.first, case.then) if case.then else (case.first,)
    may: dict[Wish, bool] = {wish: policy.papers_allow(case.kyc, KINDS[wish].action) for wish in wishes}
    served: list[Wish] = [wish for wish in wishes if may[wish]]
    disposition: Disposition = "done" if len(served) == len(wishes) else "part_done" if served else "documents_needed"
    services = {wish: serve(w, case, wish, acct, things[wish]) for wish in served}
    done = sum((each.done for each in services.values()), common.Part())

    stops = case.first in ("lost", "fraud") and policy.papers_allow(case.kyc, "freeze_card")
    freeze = common.Part()
    if stops:
        reason = "misused" if case.first == "fraud" else "lost"
        freeze = common.freeze(things[case.first].row, reason, person, before=done, replaced=case.first == "fraud")
    who = common.identify(person, acct, facts=("account", w.pick("phone", "email", "birth_date")), then=done)
    coded: list[Wish] = [wish for wish in served if policy.level_needed(KINDS[wish].action) == "C"]
    code = common.Part()
    if coded:
        code = common.step_up(person, use("account", "customer_id"), then=services[coded[0]].done)
    subject, waits = KINDS[case.first].subject, disposition == "documents_needed"
    earlier = w.case(person, subject, acct, days=w.between(3, 9)) if waits and w.cycle(1, 0) else None
    end = common.tail(
        person,
        acct,
        subject,
        disposition,
        kind_of_work=KINDS[served[0]].work if served else None,
        note="complaint" if "complaint" in served else None,
        existing=earlier,
        found=[use("account", "kyc_status"), *(value for each in services.values() for value in each.seen)],
    )
    solution: list[Step] = [*who.steps]
    for wish in wishes:
        told: list[Step] = no(case, wish)
        if wish in services:
            looks, question = services[wish].looks[:-1], services[wish].looks[-1]
            solution += [*looks, *freeze.steps, *(code.steps if wish in coded else ()), question]
            solution += services[wish].done.steps
            told = [say(services[wish].words)]
        else:
            solution += freeze.steps
        if wish == wishes[-1]:
            solution += end.steps
        elif wish in services:
            told = [say(f"{services[wish].words} Is there anything else?")]
        solution += told

    guards = [kept(w, case, wish, acct, things[wish]) for wish in wishes if wish not in served and wish != "lost"]
    named = shown(things["fraud"], done) if "fraud" in served else ()
    expects = [
        *who.expects,
        *freeze.expects,
        *named,
        *code.expects,
        *done.expects,
        *(g for g, _ in guards),
        *end.expects,
    ]
    wrong = common.common_mistakes(solution, expects)
    wrong |= common.tempted(solution, *(("does what has to wait", guard, step) for guard, step in guards))
    for wish in wishes:
        wrong |= amiss(wish, things[wish], solution, may[wish])
    if len(served) == len(wishes):
        papers = [*who.steps, *common.tail(person, acct, subject, "documents_needed").steps]
        missed = {item.name for item in (*done.expects, *end.expects)} - {
            "no credit",
            "not handed over",
            "filed before replaced",
        }
        wrong["lets it wait for papers"] = mistake(papers, sorted(missed))
    at_once = [step for wish in wishes for step in work(w, case, wish, acct, things[wish]).steps]
    return Scenario(
        customer=persona(case, person, acct, things),
        solution=solution,
        expects=expects,
        obeys=[*at_once, *common.served(person, acct, subject)],
        mistakes=wrong,
        about=[person.id],
        cell=f"{disposition.replace('_', ' ')}, {case.kyc.replace('_', ' ')}",
        facts={"papers": case.kyc, "wishes": wishes},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, dict[Wish, Thing]]:
    """The customer and what is asked for; to one whose papers are here we once wrote that they were missing."""
    person = w.customer(segment=case.segment, kyc=case.kyc)
    w.lookalike(person, kyc="in_review" if case.kyc == "verified" else "verified")
    acct = w.account(person, opened_days=w.between(200, 1_900))
    if case.kyc == "verified":
        w.message_to(person, "documents_request", acct=acct, days=w.between(12, 20))
    return person, acct, {wish: thing(w, case, wish, acct) for wish in (case.first, case.then) if wish}


def thing(w: BankWorld, case: Case, wish: Wish, acct: Acct) -> Thing:
    """What one wish is about."""
    match wish:
        case "recall":
            payee, cents = w.payee(acct.holder), w.odd_cents(90_00, 400_00)
            sent = w.transfer(acct, payee, cents, status="pending", minutes=w.between(20, 55))
            return Thing(sent, cents, payee.name)
        case "order":
            payee, cents = w.payee(acct.holder), w.between(30_00, 190_00)
            return Thing(w.order(acct, payee, cents, next_in=w.between(6, 20)), cents, payee.name)
        case "fee":
            cents = w.odd_cents(28_00, 39_00)
            return Thing(w.fee(acct, "overdraft", cents, days=w.between(3, 30)), cents)
        case "complaint":
            late = w.between(19, 27)
            answered = w.workday(-w.between(3, 9))
            return Thing(
                w.complaint(acct, received_on=w.workday(-late, answered), answered_on=answered, finding="not_upheld"),
                late,
            )
        case "amount" | "fraud":
            card, cents = w.card(acct), w.odd_cents(61_00, 240_00)
            shop = w.merchant(w.pick("clothing", "restaurant", "toys", "books"))
            method: Method = "chip_pin" if wish == "amount" else w.pick("swipe", "contactless", "online_plain")
            w.payment(acct, card, w.odd_cents(5_00, 40_00), method="chip_pin", days=2)
            entry = w.payment(acct, card, cents, shop, method=method, days=w.between(3, 12))
            return Thing(card if wish == "fraud" else entry, cents, entry.id, shop)
        case "limit":
            return Thing(acct.account, w.between(36, 39) * 100_00)
        case _:
            status = "frozen" if wish == "found" else "active"
            return Thing(w.card(acct, status=status, frozen_days=w.between(1, 5) if status == "frozen" else None))


def work(w: BankWorld, case: Case, wish: Wish, acct: Acct, about: Thing, *, seen: bool = False) -> common.Part:
    """What is asked for; `seen`: its arguments hang on the looks before it."""
    row = about.row

    def of(*names: str) -> tuple[Any, ...]:
        return tuple(use(wish, name) for name in names) if seen else ()

    match wish:
        case "limit":
            return common.set_limit(acct, "daily_transfer", about.cents, *of("account_age_days", "segment"))
        case "recall":
            return common.recall(row)
        case "order":
            return common.set_order(row, "paused", *of("working_days_to_next"))
        case "fee":
            due = policy.goodwill_return("overdraft", case.segment, about.cents, 10, True, None)
            return common.reverse(row, due, "goodwill")
        case "found":
            return common.unfreeze(row)
        case "lost":
            return common.replace(row, "lost")
        case "complaint":
            due = policy.delay_compensation(about.cents, case.segment, 0)
            known = of("working_days_taken", "compensation_paid", "segment")
            return common.compensate(acct, "delay", due, *known, complaint=row)
        case "amount":
            return common.file(row, "wrong_amount") + common.Part((), (common.no_credit(row),))
        case "fraud":
            entry = w.get(Entry, about.payee)
            replaced = common.replace(row, "misused", frozen="misused") + common.filed_first(entry, row)
            due = policy.provisional_credit("fraud", case.segment, 0, 0, "filed") == "due"
            return common.file(entry, "fraud") + replaced + (common.credit_filed(entry) if due else common.Part())


def serve(w: BankWorld, case: Case, wish: Wish, acct: Acct, about: Thing) -> Service:
    """How a wish that papers do not stop is carried out."""
    done, row = work(w, case, wish, acct, about, seen=True), about.row
    match wish:
        case "limit":
            looks: tuple[Step, ...] = (call("review_limit", account_id=acct.id, kind="daily_transfer", save=wish),)
            asks = f"I can set the daily transfer limit to {common.dollars(about.cents)}, for good. Shall I do that?"
            return Service((*looks, say(asks)), done, (), "Your daily transfer limit has been raised.")
        case "order":
            looks = (
                call("list_orders", account_id=use("account", "account_id")),
                call("review_order", order_id=row.id, save=wish),
            )
            asks = f"The standing order to {about.payee} will pay nothing until you resume it. Shall I pause it?"
            return Service((*looks, say(asks)), done, (), "Your standing order has been paused.")
        case "complaint":
            looks = (
                call("list_complaints", customer_id=use("account", "customer_id")),
                call("review_complaint", complaint_id=row.id, save=wish),
            )
            due = common.dollars(policy.delay_compensation(about.cents, case.segment, 0))
            asks = f"For our late answer you are owed {due}. Shall I pay it to this account?"
            return Service((*looks, say(asks)), done, (), f"{due} has been credited to your account.")
        case _:
            assert about.shop is not None
            looks = (
                call("list_entries", account_id=use("account", "account_id"), kind="card_payment"),
                call("review_payment", entry_id=about.payee, save="payment"),
            )
            seen, shop = (use("payment", "days_since_posting"), use("payment", "trading_name")), about.shop
            if wish == "amount":
                asks = "I can file a dispute of this payment for the wrong amount. Shall I file it?"
                return Service((*looks, say(asks)), done, seen, "The dispute has been filed.")
            names = f"{shop.statement_name} is how {shop.trading_name} appears on statements. They sell {shop.sells}."
            looks = (*looks, say(f"{names} Do you recognise the payment now?"))
            asks = "I can file a dispute and send you a new card; the old one ends. Shall I do both?"
            filed = "The dispute has been filed, your card has been replaced and the amount has been credited for now."
            return Service((*looks, say(asks)), done, seen, filed)


def shown(about: Thing, done: common.Part) -> tuple[Expectation, ...]:
    """The shop of an unknown payment is named before anything is done about it."""
    name = about.shop.trading_name if about.shop else ""
    return (order("named first", says(matches(re.escape(name))), *common.touched(done)),)


def kept(w: BankWorld, case: Case, wish: Wish, acct: Acct, about: Thing) -> tuple[Expectation, Step]:
    """What waits, and the step that would touch it."""
    models: dict[Wish, type[Base]] = {"recall": Transfer, "order": StandingOrder, "fee": Fee, "found": Card}
    if wish == "limit":
        guard = common.untouched("limit kept", Limit, f"{acct.id}.daily_transfer")
    else:
        guard = common.untouched(f"{KINDS[wish].topic[0]} kept", models[wish], about.row.id)
    return guard, work(w, case, wish, acct, about).steps[0]


def no(case: Case, wish: Wish) -> list[Step]:
    """The refusal, and again to one who presses."""
    why = "have run out" if case.kyc == "expired" else "are still with our onboarding team"
    frozen = "The card has been frozen, nobody can use it. " if wish == "lost" else ""
    line = f"I am sorry, {KINDS[wish].name} is not possible, because your papers {why}."
    return [say(f"{frozen}{line}"), say(f"I understand that this is urgent for you. {line}")]


def amiss(wish: Wish, about: Thing, solution: list[Step], may: bool) -> dict[str, Mistake]:
    """What can be done wrongly with one wish."""
    if wish == "lost":
        new = common.plus(solution, common.replace(about.row, "lost").steps[0])
        return common.forgotten(solution, "freeze_card") | {
            "sends a new card all the same": mistake(new, ("card", common.NOTHING_ELSE))
        }
    if not may:
        return {}
    wrong = common.forgotten(
        solution, "set_limit", "set_order_status", "pay_compensation", "grant_credit", "replace_card"
    )
    if wish == "complaint":
        for title, days in {"one day too many": 1, "every day since it came": policy.ANSWER_WORKING_DAYS}.items():
            cents = (about.cents - policy.ANSWER_WORKING_DAYS + days) * policy.DELAY_A_DAY
            other = common.with_arguments(solution, "pay_compensation", amount=show_money(cents))
            wrong[f"pays for {title}"] = mistake(other, "compensation")
    if wish in ("amount", "fraud"):
        checks = ("dispute", "credit", "filed before replaced") if wish == "fraud" else ("dispute",)
        none = common.without(solution, "file_dispute")
        wrong["forgets the dispute"] = mistake(none, checks, "omission")
        other = common.with_arguments(solution, "file_dispute", reason="not_received")
        wrong["files it for another reason"] = mistake(other, "dispute", "omission")
    if wish == "amount":
        given = common.plus(solution, call("grant_credit", dispute_id=use("dispute", "dispute_id")))
        wrong["gives credit too"] = mistake(given, "no credit")
    if wish == "fraud":
        unnamed = [step for step in solution if not (isinstance(step, Say) and "on statements" in step.text)]
        wrong["does not name the shop"] = mistake(unnamed, "named first")
    return wrong
