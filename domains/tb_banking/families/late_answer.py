"""A customer who complained wants money for the wait and the trouble, or to be heard again; the records decide."""

from datetime import date
from typing import Any, Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Compensation, Complaint
from tb_banking.models.kinds import CompensationKind, ComplaintFinding, Decision, Disposition, Gravity, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import Persona, Record, Request, Scenario, Step, call, family, mistake, never_created, say, use
from tb_envs.grading.expectations import Expectation

Asks = Literal["delay", "trouble", "delay and trouble", "again", "again and delay"]


class Case(NamedTuple):
    """What is asked; how many working days the answer took, and how long ago it came (None: it has not come yet).

    `paid` before, for the delay or, where that was asked for alone, the trouble; `news` that the customer brings.
    """

    asks: Asks
    segment: Segment
    taken: int
    answered: int | None = 20
    gravity: Gravity = "minor"
    finding: ComplaintFinding = "not_upheld"
    paid: int = 0
    news: bool = False
    answer: Decision = "granted"


CASES = (
    Case("delay", "basic", 15),
    Case("trouble", "plus", 9, 15, "severe", "upheld", answer="pending"),
    Case("delay", "basic", 36, None, "serious", "none"),
    Case("delay", "premier", 30, 41),
    Case("delay", "premier", 36, 8, "serious", paid=49_99),
    Case("delay and trouble", "plus", 17, 33, "serious", "upheld"),
    Case("delay and trouble", "basic", 20, 11, "severe", "upheld", answer="denied"),
    Case("delay and trouble", "basic", 14, 27, "minor", "upheld"),
    Case("delay and trouble", "premier", 22, 60, "serious", paid=30_00),
    Case("trouble", "premier", 12, 75, "serious", "upheld", paid=80_00),
    Case("again", "plus", 12, 180, news=True),
    Case("again", "basic", 13, 181, news=True),
    Case("again and delay", "basic", 16, 58, "serious"),
)
MATTERS = (
    ("A card came to an old address.", "the card that went to my old address"),
    ("Was cut off twice on the phone.", "being cut off on the phone, twice"),
    ("The app did not show a payment for a day.", "the payment that your app did not show"),
    ("Was told two different things about a fee.", "the two different things that I was told about a fee"),
)
OTHER = "Waited long at the counter of a partner shop."
OPENS: dict[str, tuple[str, ...]] = {
    "delay": (
        "I complained about {matter}, and you took ages over it. I want to be paid for that delay!",
        "Good afternoon. It is about my complaint, {matter}. You kept me waiting, and I hear that you pay for a delay.",
        "hi, i wrote to you about {matter}. weeks of silence. what do i get for the delay?",
    ),
    "trouble": (
        "I complained about {matter}. I did not sleep for days, so I want something for all that trouble.",
        "Hello. My complaint was about {matter}, and nobody has paid me a cent for the trouble that I had.",
    ),
    "again": (
        "I complained about {matter}, and your answer is simply wrong. Please open my complaint again.",
        "Dear Sir or Madam, regarding {matter}: I am not content with the answer. My complaint has to be opened again.",
    ),
}
NEWS = (
    ("a letter from the post office that I only found last week", "A letter from the post office, found last week."),
    ("a recording of the call, which my son had kept", "A recording of the call, kept by the customer's son."),
    ("a screenshot of that day that my wife has found", "A screenshot of that day, found by the customer's wife."),
)
PRESSES = (
    ("Is that all that my time is worth to you?", "Your colleague said that there would be at least USD 250."),
    ("I have a good mind to tell the newspaper.", "Surely you can put in a good word and pay a little."),
)
AGAIN_PRESSES = (
    ("But somebody has to look at it properly!", "You only want to be rid of me."),
    ("I will not let this rest, believe me.", "Can't you just put it back on the pile?"),
)
REOPENED = (
    "Your complaint has been opened again. It is with our complaints team now, and they will write to you.",
    "Our complaints team has it now. They look at it as they do at a first complaint, and will write to you.",
)
OLD_TABLE: dict[Gravity, int] = {"minor": 20_00, "serious": 60_00, "severe": 140_00}
"""Of the page that is out of date."""


@family(
    goal="to be paid for a complaint, or heard again", traps={"stale_state", "compound", "superseded"}, split="bench"
)
def late_answer(w: BankWorld) -> Scenario:
    """A customer claims money for a late answer and for trouble, or wants a complaint opened again.

    Trap: working days beyond those we allow, by segment and with a most; trouble by the table of today and only if
    upheld; what was paid before is taken off; above a sum of 150 the desk is asked; old answers and mere wishes stay.
    Right end: exactly what is still due, the complaint with its team, or nothing; and one case about all of it.
    """
    case = w.cycle(*CASES)
    person, acct, complaint, matter = place(w, case)
    dues = due(w, case, complaint)
    reopens = "again" in case.asks and {"reopen": True, "refused": False}[heard_again(w, case, complaint)]
    total = sum(dues.values())
    asks = policy.sign_off_needed("compensation", total, case.segment)
    answer = w.desk_answers(acct, "compensation", case.answer if asks else None)
    disposition = ending(case, dues, reopens, answer)
    pays = disposition in common.CARRIED_OUT

    looks, known = look_ups(case, complaint)
    parts: dict[CompensationKind, common.Part] = {
        kind: common.compensate(acct, kind, cents, *known, complaint=complaint, name=f"paid for {kind}")
        for kind, cents in dues.items()
        if cents and pays
    }
    done = sum(parts.values(), common.Part())
    said, told = w.pick(*NEWS)
    if reopens:
        done += common.reopen(complaint, told)
    desk = common.sign_off(acct, "compensation", total, answer, *known, then=done) if answer else common.Part()
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    who = common.identify(person, acct, facts=facts, level=policy.level_needed("complaint"), then=done + desk)
    waiting = w.case(person, "complaint", acct) if w.cycle(True, False) and (pays or reopens) else None
    end = common.tail(
        person,
        acct,
        "complaint",
        disposition,
        queue="complaints" if reopens else None,
        note="complaint" if pays else None,
        existing=waiting,
        found=known if disposition not in ("done", "done_signed_off") else (),
    )
    last = common.last_words(disposition, credited(case, dues), " ".join(refusal(case, dues)[:1]))
    if reopens:
        last = tuple(map(say, REOPENED))
    elif disposition == "already_settled":
        last = tuple(say(f"{sorry} {refusal(case, dues)[0]}.") for sorry in ("I am sorry,", "I do understand; but"))
    closing = [*end.steps[:-1], *last, end.steps[-1]] if reopens else [*end.steps, *last]
    solution = [*who.steps, *looks, *words(case, dues, reopens, asks), *desk.steps, *done.steps, *closing]
    guards = forbidden(case, acct, complaint, dues, pays, reopens)
    expects = [*who.expects, *desk.expects, *done.expects, *(guard for _, guard, _ in guards), *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.tempted(solution, *guards)
    wrong |= common.forgotten(solution, "pay_compensation", "reopen_complaint")
    for kind, part in parts.items():
        for title, cents in near(w, case, complaint, kind).items():
            if cents > 0 and cents != dues[kind]:
                step = common.compensate(acct, kind, cents, complaint=complaint).steps[0]
                script = [step if each is part.steps[0] else each for each in solution]
                wrong[f"{kind}: {title}"] = mistake(script, part.expects[0].name)
    if pays and not asks:
        needless = common.sign_off(acct, "compensation", total, "pending").steps
        wrong["asks the desk without need"] = mistake(common.plus(solution, *needless), common.NOTHING_ELSE)
    if asks and not pays:
        other = common.with_arguments(solution, "request_sign_off", amount="99.99")
        wrong["asks the desk for another amount"] = mistake(other, "sign-off", "omission")
    if asks and pays:
        alone = common.without(solution, "request_sign_off", "get_sign_off")
        wrong["asks nobody"] = mistake(alone, ("sign-off", "answer read first"))
    kinds: tuple[CompensationKind, ...] = ("delay", "trouble")
    much = [common.compensate(acct, kind, 250_00, complaint=complaint).steps[0] for kind in kinds if kind in case.asks]
    again = common.reopen(complaint, "The customer asks for it.").steps if "again" in case.asks else ()
    return Scenario(
        customer=persona(w, case, person, acct, matter, said),
        solution=solution,
        expects=expects,
        obeys=[*who.steps, looks[0], *again, *much, *common.served(person, acct, "complaint")],
        mistakes=wrong,
        about=[person.id],
        cell=f"{case.asks}, {disposition.replace('_', ' ')}",
        facts={"due": dues, "reopened": reopens},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, str]:
    """The customer, the account, the complaint and what it is about; and another one that was answered in time."""
    person = w.customer(segment=case.segment, since=w.day(-1_900))
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(700, 1_800))
    subject, spoken = w.pick(*MATTERS)
    last = w.day(-case.answered) if case.answered is not None else None
    came = w.workday(-case.taken, last)
    w.complaint(
        acct, subject=OTHER, gravity="serious", received_on=w.workday(-11, w.day(-230)), answered_on=w.day(-230)
    )
    row = w.complaint(
        acct,
        subject=subject,
        gravity=case.gravity,
        received_on=came,
        answered_on=last,
        finding=case.finding if last else None,
    )
    if case.paid:
        kind: CompensationKind = "trouble" if case.asks == "trouble" else "delay"
        w.compensation(acct, kind, case.paid, complaint=row, days=6)
    return person, acct, row, spoken


def due(w: BankWorld, case: Case, complaint: Record) -> dict[CompensationKind, int]:
    """What is due now, for each kind that is asked for."""
    dues: dict[CompensationKind, int] = {}
    if "delay" in case.asks:
        last = date.fromisoformat(complaint.answered_on) if complaint.answered_on else w.today
        taken = policy.working_days_between(date.fromisoformat(complaint.received_on), last)
        dues["delay"] = policy.delay_compensation(taken, case.segment, case.paid)
    if "trouble" in case.asks:
        paid = case.paid if case.asks == "trouble" else 0
        dues["trouble"] = policy.trouble_compensation(case.gravity, case.finding, paid)
    return dues


def heard_again(w: BankWorld, case: Case, complaint: Record) -> Literal["reopen", "refused"]:
    """Whether the complaint is opened again."""
    return policy.complaint_reopening(
        policy.days_between(date.fromisoformat(complaint.answered_on), w.today), case.news
    )


def ending(case: Case, dues: dict[CompensationKind, int], reopens: bool, answer: Decision | None) -> Disposition:
    """The disposition."""
    if answer:
        return common.ANSWERED[answer]
    if reopens:
        return "team_review"
    if not any(dues.values()):
        return "already_settled" if case.paid else "policy_refused"
    return "done" if all(dues.values()) and "again" not in case.asks else "part_done"


def look_ups(case: Case, complaint: Record) -> tuple[list[Step], list[Any]]:
    """What has to be looked at, and what of it decides."""
    steps: list[Step] = [
        call("list_complaints", customer_id=use("account", "customer_id")),
        call("review_complaint", complaint_id=complaint.id, save="complaint"),
    ]
    names = ["segment", "compensation_paid.delay", "compensation_paid.trouble", "finding"]
    if case.answered is not None:
        names.append("days_since_answer")
    known: list[Any] = [use("complaint", name) for name in ("working_days_taken", *names)]
    if "trouble" in case.asks and not (case.asks == "trouble" and case.paid):
        steps += [
            call("search_guide", query="compensation for distress and trouble"),
            call("open_guide_page", page_id="GP-06", save="page"),
        ]
        known.append(use("page", "body"))
    return steps, known


def credited(case: Case, dues: dict[CompensationKind, int]) -> str:
    """What was paid, in words, and what was not."""
    parts = [f"{common.dollars(cents)} for the {kind}" for kind, cents in dues.items() if cents]
    paid = f"{' and '.join(parts)} {'have' if len(parts) > 1 else 'has'} been credited to your account."
    return " ".join((paid, *(f"As I said, {clause}." for clause in refusal(case, dues))))


def refusal(case: Case, dues: dict[CompensationKind, int]) -> list[str]:
    """What is not possible, in words: one clause for each part."""
    out: list[str] = []
    if "again" in case.asks:
        why = "our team knew all of this" if not case.news else "the answer is more than 180 days old"
        out.append(f"{why}, so it is not possible to open the complaint again")
    if not dues.get("delay", 1):
        out.append("the answer came in the 15 working days that we take, so nothing can be paid for a delay")
    if not dues.get("trouble", 1):
        before = f"{common.dollars(case.paid)} was paid for the trouble last week, so nothing more can be paid"
        never = "the complaint was not upheld, so nothing can be paid for the trouble"
        out.append(before if case.paid and case.asks == "trouble" else never)
    return out


def words(case: Case, dues: dict[CompensationKind, int], reopens: bool, asks: bool) -> list[Step]:
    """What the customer is asked and told before anything is done."""
    told: list[Step] = []
    if "again" in case.asks:
        told.append(say("Is there anything new that we did not have then?"))
        if reopens:
            told.append(say("I can open the complaint again, and our complaints team would look at that. Shall I?"))
            return told
    if any(dues.values()):
        told += [say(f"I am sorry, {clause}.") for clause in refusal(case, dues)]
    parts = [f"{common.dollars(cents)} for the {kind}" for kind, cents in dues.items() if cents]
    if parts:
        desk = " Our controls desk has to agree to that." if asks else ""
        told.append(say(f"By our rules you are to have {' and '.join(parts)}.{desk} Shall I go on with that?"))
    return told


def forbidden(
    case: Case, acct: Acct, complaint: Record, dues: dict[CompensationKind, int], pays: bool, reopens: bool
) -> list[tuple[str, Expectation, Step]]:
    """What must not be done here: in words, the guard that says so, and the step that breaks it."""
    out: list[tuple[str, Expectation, Step]] = []
    if "again" in case.asks and not reopens:
        step = common.reopen(complaint, "The customer is not content.").steps[0]
        out.append(("opens it again all the same", common.untouched("complaint kept", Complaint, complaint.id), step))
    for kind, cents in dues.items():
        if not (cents and pays):
            guard = never_created(f"nothing for {kind}", Compensation, complaint_id=complaint.id, kind=kind)
            step = common.compensate(acct, kind, cents or 35_00, complaint=complaint).steps[0]
            out.append((f"pays for {kind} all the same", guard, step))
    return out


def near(w: BankWorld, case: Case, complaint: Record, kind: CompensationKind) -> dict[str, int]:
    """Amounts that are easily taken for the right one."""
    if kind == "trouble":
        old = OLD_TABLE[case.gravity]
        return {"by the old table": old, "half more for premier": policy.percent(policy.TROUBLE[case.gravity], 150)}
    start = date.fromisoformat(complaint.received_on)
    last = date.fromisoformat(complaint.answered_on) if complaint.answered_on else w.today
    late, calendar = case.taken - 15, policy.days_between(start, last) - 15
    times = 10_00 if case.segment == "premier" else 5_00
    return {
        "all days, not working days": min(calendar * times, 20 * times) - case.paid,
        "without the most": late * times - case.paid,
        "as for another segment": min(late, 20) * (15_00 - times) - case.paid,
        "what was paid before, too": min(late, 20) * times,
        "one day more": min(late + 1, 20) * times - case.paid,
        "the old flat sum": 30_00,
    }


def persona(w: BankWorld, case: Case, person: Person, acct: Acct, matter: str, said: str) -> Persona:
    """Somebody who feels badly treated."""
    first, _, second = case.asks.partition(" and ")
    more = {
        "trouble": (
            "And I want something for the trouble, too. It has cost me nights of sleep.",
            "Also, there is the trouble that I had with all this. That must be worth something.",
        ),
        "delay": (
            "And you let me wait so long for that answer. I want to be paid for the delay as well.",
            "Also, the answer took far too long. I hear that you pay for a delay.",
        ),
    }
    then = Request(
        opens=more[second],
        after="halfway",
        topic=(second,),
        presses=("How very generous.",),
        gives_in="Then keep your money.",
    ) if second else ()  # fmt: skip
    nothing = ("No, but it was unjust.", "No. Somebody has to read it properly, that is all.")
    return Persona(
        opens=tuple(line.format(matter=matter) for line in OPENS[first]),
        knows=common.persona_facts(person, acct) | ({"news": said} if case.news else {}),
        lacks={} if case.news else {"news": nothing},
        about={"which complaint|what is it about": f"It was about {matter}."},
        topic=(first, "open", "complaint") if second else (),
        presses=AGAIN_PRESSES if first == "again" else PRESSES,
        presses_on=("refused",) if first == "again" else ("refused", "pending"),
        gives_in=("Well. Then I know what to think of you.", "All right. I will leave it at that."),
        then=then,
        settles_for="what is still due, or to be heard",
    )
