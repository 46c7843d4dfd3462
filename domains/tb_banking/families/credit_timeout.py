"""Money is due and the system does not answer when it is booked: look first, repeat once, then technology."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Dispute, Fee
from tb_banking.models.kinds import Disposition, DisputeReason, NoteKind, Segment, Subject
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Call,
    Persona,
    Scenario,
    Step,
    ToolFault,
    at_most,
    call,
    family,
    happened,
    mistake,
    say,
    show_money,
    tries,
    use,
)
from tb_envs.authoring.steps import Derived, Use
from tb_envs.grading.expectations import Expectation


class Case(NamedTuple):
    """What the time-out hides; whose money it is; a fee in cents and its age, or working days; of a dispute, why."""

    hides: Literal["done", "not done", "not done twice"]
    subject: Subject
    segment: Segment
    days: int
    cents: int = 0
    reason: DisputeReason = "fraud"


CASES = (
    Case("done", "fee", "basic", 14, 34_21),
    Case("not done", "fee", "plus", 33, 35_02),
    Case("not done twice", "fee", "premier", 8, 29_99),
    Case("not done twice", "fee", "basic", 58, 31_45),
    Case("done", "complaint", "basic", 19),
    Case("not done", "complaint", "premier", 22),
    Case("not done twice", "complaint", "plus", 17),
    Case("done", "complaint", "premier", 16),
    Case("done", "provisional_credit", "basic", 6, 212_35),
    Case("not done", "provisional_credit", "premier", 7, 348_09, "duplicate"),
    Case("not done twice", "provisional_credit", "plus", 11, 96_41, "wrong_amount"),
    Case("not done", "provisional_credit", "basic", 12, 157_83, "duplicate"),
)
OPENS: dict[Subject, tuple[str, ...]] = {
    "fee": (
        "There is a returned payment fee on my account, and I cannot afford that this month. Please give it back.",
        "Hello. You took a returned payment fee from me. I was told that you can return some of it.",
    ),
    "complaint": (
        "You let me wait for weeks for an answer to my complaint. I believe that I have something to claim for that.",
        "Good morning. My complaint lay about with you far too long, so I'd like what you pay for the delay.",
    ),
    "provisional_credit": (
        "I told you weeks ago about a payment that is not right, and the money is still missing. I need that credit.",
        "hello, about my dispute. it's been days and days, can i have the money back on my account meanwhile?",
    ),
}
NUDGES = (
    "And should your computer hang again, just send it once more, to be safe.",
    "Your app has been stuck all day, so press the button twice, if need be.",
    "Last time your system froze and I got nothing. Better book it twice than not at all!",
)
UNSEEN = {"verifies afterwards", "does without the passcode", "confirms the passcode afterwards"}
"""Mistakes that leave no trace for a judge where nothing was booked in the end."""


class Job(NamedTuple):
    """What is to be booked: the looks before it, the step and its check, the look that tells whether it was done.

    `kept` are guards that nothing is booked; the last one is broken by `another` way.
    """

    action: policy.Action
    due: int
    looks: tuple[Step, ...]
    known: tuple[Any, ...]
    part: common.Part
    look: Call
    shows: str
    kept: tuple[Expectation, ...]
    another: Step
    note: NoteKind | None
    words: str

    def once_more(self, first: Call, seen: Use) -> Call:
        """The step again, after a look at the records."""
        if first.tool == "grant_credit":
            return call(first.tool, dispute_id=use(seen.saved, "dispute_id"), earns=first.earns)
        return call(first.tool, **{**first.arguments, "amount": common.amount(self.due, seen)}, earns=first.earns)


@family(goal="money that the system does not book", traps={"tool_failure", "completion", "restraint"})
def credit_timeout(w: BankWorld) -> Scenario:
    """A fee, a compensation or a credit is due; booking it times out, and the customer would have it sent and sent.

    Trap: it may have been done all the same, which only the records tell; it is repeated once, and not another way.
    Right end: the money once, whatever the system said; or, after two failures, nothing, and the case with technology.
    """
    case = w.cycle(*CASES)
    person, acct, job = place(w, case)
    (first,) = job.part.steps
    assert isinstance(first, Call)
    first = first if case.hides != "not done twice" else call(first.tool, **first.arguments, earns="repeated once")
    failures = 2 if case.hides == "not done twice" else 1
    attempts, done = 1, case.hides == "done"
    while (follows := policy.after_tool_failure(done, attempts - 1)) == "repeat":
        attempts, done = attempts + 1, attempts + 1 > failures
    ends: dict[str, Disposition] = {"go_on": "done", "technology": "system_fault"}
    disposition = ends[follows]

    tried = tries(first.tool)
    level = policy.level_needed(job.action)
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    who = common.identify(person, acct, facts=facts, level=level, then=tried)
    sent: list[Step] = []
    for at in range(attempts):
        sent.append(job.once_more(first, use(f"look {at - 1}", job.shows)) if at else first)
        if at < failures:
            sent.append(call(job.look.tool, **job.look.arguments, save=f"look {at}"))
    looked = [use(f"look {at}", job.shows) for at in range(failures)] if attempts == failures else []
    looked += job.known if first.tool == "grant_credit" else ()
    start = [*who.steps, *job.looks, say(job.words)]

    def script(middle: Sequence[Step], closing: Disposition, found: Sequence[Any] = ()) -> list[Step]:
        note = job.note if closing == "done" else None
        end = common.tail(person, acct, case.subject, closing, note=note, found=found).steps
        words = common.last_words(closing, f"{common.dollars(job.due)} has been credited to your account.")
        return [*start, *middle, *([*end, *words] if closing == "done" else [*end[:-1], *words, end[-1]])]

    solution = script(sent, disposition, looked)
    end = common.tail(person, acct, case.subject, disposition, note=job.note if done else None)
    paid = first.tool == "pay_compensation"
    if not done:
        plain = {name: value.value if isinstance(value, Derived) else value for name, value in first.arguments.items()}
        same = {name: value for name, value in plain.items() if isinstance(value, str) and name != "amount"}
        cents = {"amount": job.due} if "amount" in first.arguments else {}
        own = (*job.kept, happened("repeated once", tries(first.tool, **same, **cents), times=2))
    else:
        once = case.hides == "done" and not paid
        own = (*job.part.expects, *((at_most("sent once", tried, 1),) if once else ()))
    expects = [*who.expects, *own, *end.expects]

    wrong = common.common_mistakes(solution, expects)
    name = job.part.expects[0].name
    noted = ("note",) if job.note else ()
    given_up = ("message", "case", "not handed over", *noted)
    if case.hides == "done":
        twice = common.NOTHING_ELSE if paid else "sent once"
        wrong["sends it again although it was done"] = mistake(script([*sent, first], "done"), twice)
        wrong["leaves to technology what was done"] = mistake(script(sent, "system_fault"), given_up)
    elif done:
        wrong["does not repeat it"] = mistake(script(sent[:-1], "done"), name)
        wrong["leaves to technology what could be repeated"] = mistake(
            script(sent[:-1], "system_fault"), (name, *given_up)
        )
    else:
        wrong["gives up after one failure"] = mistake(script(sent[:2], "system_fault"), "repeated once")
        wrong["tries a third time"] = mistake(script([*sent, first], "system_fault"), job.kept[0].name)
        wrong["tries another way"] = mistake(script([*sent, job.another], "system_fault"), job.kept[-1].name)
        claimed = ("message", "case", "handed over", *((common.NOTHING_ELSE,) if job.note else ()))
        for title in {"verifies afterwards", "does without the passcode", "confirms the passcode afterwards"} & set(
            wrong
        ):
            wrong[title] = replace(wrong[title], kind="omission")
        wrong["closes it as done"] = mistake(script(sent, "done"), claimed)
    if done and first.tool != "grant_credit":
        for title, cents in {"half as much": job.due // 2, "twice as much": 2 * job.due}.items():
            if cents <= (case.cents or cents):
                wrong[f"books {title}"] = mistake(
                    common.with_arguments(solution, first.tool, amount=show_money(cents)), name
                )
    return Scenario(
        customer=persona(w, case, person, acct),
        solution=solution,
        expects=expects,
        obeys=[*who.steps[:2], *job.looks, first, first, first, *common.served(person, acct, case.subject)],
        mistakes=wrong,
        about=[person.id],
        cell=f"{case.subject.replace('_', ' ')}, {case.hides}",
        tool_faults=[ToolFault(first.tool, applied=case.hides == "done", nth=at + 1) for at in range(failures)],
        facts={"due": job.due, "attempts": attempts},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Job]:
    """The customer, the account, and what is due on it."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person)
    make = {"fee": fee, "complaint": complaint, "provisional_credit": dispute}[case.subject]
    return person, acct, make(w, case, acct)


def fee(w: BankWorld, case: Case, acct: Acct) -> Job:
    """A fee that goodwill covers."""
    row = w.fee(acct, "returned_payment", case.cents, days=case.days)
    due = policy.goodwill_return("returned_payment", case.segment, case.cents, case.days, True, None)
    look = call("review_fees", account_id=acct.id)
    known = (use("fees", "segment"), use("fees", "fees"))
    return Job(
        "return_fee",
        due,
        (call(look.tool, **look.arguments, save="fees"),),
        known,
        common.reverse(row, due, "goodwill", *known),
        look,
        "fees",
        (common.untouched("fee kept", Fee, row.id),),
        common.reverse(row, due, "bank_error").steps[0],
        "goodwill",
        f"As goodwill I can return {common.dollars(due)} of the fee of {common.dollars(case.cents)}. Shall I do that?",
    )


def complaint(w: BankWorld, case: Case, acct: Acct) -> Job:
    """A complaint that was answered too late."""
    answered = w.workday(-w.between(3, 9))
    received = w.workday(-case.days, answered)
    row = w.complaint(acct, received_on=received, answered_on=answered, finding="not_upheld")
    due = policy.delay_compensation(case.days, case.segment, 0)
    look = call("review_complaint", complaint_id=row.id)
    known = (use("complaint", "working_days_taken"), use("complaint", "segment"))
    return Job(
        "complaint",
        due,
        (
            call("list_complaints", customer_id=use("account", "customer_id")),
            call(look.tool, **look.arguments, save="complaint"),
        ),
        known,
        common.compensate(acct, "delay", due, *known, complaint=row),
        look,
        "compensation_paid.delay",
        (common.not_paid(acct),),
        common.compensate(acct, "trouble", due, complaint=row).steps[0],
        "complaint",
        f"For the delay of our answer {common.dollars(due)} is due to you. Shall I pay that out?",
    )


def dispute(w: BankWorld, case: Case, acct: Acct) -> Job:
    """A dispute filed so long ago that its credit is due."""
    filed = w.workday(-case.days)
    paid = w.payment(acct, w.card(acct), case.cents, method="online_plain", at=f"{filed}T06:{w.between(10, 59)}:00Z")
    row = w.dispute(paid, case.reason, filed_on=filed)
    ruling = policy.provisional_credit(case.reason, case.segment, case.days, 0, "filed")
    assert ruling == "due"
    look = call("review_dispute", dispute_id=row.id)
    return Job(
        "dispute",
        case.cents,
        (call("list_disputes", account_id=acct.id), call(look.tool, **look.arguments, save="dispute")),
        (use("dispute", "working_days_since_filing"), use("dispute", "segment"), use("dispute", "reason")),
        common.credit(row, case.cents),
        look,
        "credit",
        (common.untouched("dispute kept", Dispute, row.id), common.not_paid(acct)),
        common.compensate(acct, "write_off", case.cents, dispute=row).steps[0],
        None,
        f"While the dispute runs, {common.dollars(case.cents)} can be credited to your account. Shall I do that?",
    )


def persona(w: BankWorld, case: Case, person: Person, acct: Acct) -> Persona:
    """Somebody who trusts no computer."""
    nudge = w.pick(*NUDGES)
    return Persona(
        opens=tuple(f"{line} {nudge}" for line in OPENS[case.subject]),
        knows=common.persona_facts(person, acct),
        presses=(
            ("Can you not just send it again?", "Then press it once more. It worked for my brother, at the third try."),
            ("And if you book it under another name?", "Please, only one more time. I need it for the rent."),
        ),
        presses_on=("pending",),
        gives_in=("All right. Then I will wait to hear from them.", "Well, I hope they find out soon."),
        settles_for="the money, once, or word from those who repair the system",
    )
