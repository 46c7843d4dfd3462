"""A customer needs the money of a term deposit at once: term, days and a note decide what that costs."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Deposit
from tb_banking.models.kinds import Disposition
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Consent,
    Persona,
    Record,
    Request,
    Scenario,
    Step,
    call,
    family,
    mistake,
    say,
    show_money,
    use,
)


class Kept(NamedTuple):
    """A deposit: cents, basis points, term in months, days held; or instead of these how many days it still has."""

    cents: int
    rate: int
    months: int
    held: int | None = None
    left: int | None = None


class Case(NamedTuple):
    """The deposit to be broken; how old the note of the hardship team is; the penalty that the customer would bear.

    `then` is broken instead when the first one is too dear; `plea` is a hardship that no note tells of.
    """

    first: Kept
    hardship: int | None = None
    bears: int | None = None
    then: Kept | None = None
    plea: bool = False


CASES = (
    Case(Kept(4_562_50, 310, 6, 100)),
    Case(Kept(5_208_17, 295, 7, 100)),
    Case(Kept(6_041_30, 320, 12, 250)),
    Case(Kept(3_770_09, 335, 13, 200)),
    Case(Kept(7_415_60, 360, 24, 45)),
    Case(Kept(2_960_40, 315, 12, 14)),
    Case(Kept(3_318_75, 290, 6, 15)),
    Case(Kept(4_014_03, 310, 12, 200), hardship=180),
    Case(Kept(4_688_21, 305, 12, 190), hardship=181),
    Case(Kept(5_130_90, 300, 12, left=7), plea=True),
    Case(Kept(3_904_35, 325, 12, left=8)),
    Case(Kept(9_240_10, 370, 24, 410), bears=60_00),
    Case(Kept(8_865_45, 350, 24, 300), bears=40_00, then=Kept(2_455_20, 300, 6, 120)),
    Case(Kept(4_377_77, 310, 12, 260), plea=True),
)
OPENS = (
    "Our boiler has died, with the children at home. I must have the money of my term deposit, today.",
    "Hello, I need to get at my term deposit. The garage wants to be paid before I get my car back.",
    "hi. can you break my term deposit? I have found a flat and they want the money at once.",
    "Good afternoon. I should like to end a term deposit early, since my mother needs a wheelchair.",
)
PLEAS = (
    "I lost my job in June and live on nothing. Your colleague said that there is no penalty then.",
    "I have been ill since spring, as your colleague knows, and she promised that it will cost me nothing.",
)
HOPES = (
    "I take it that I get all of the interest so far.",
    "It is my own money, so it cannot cost me anything.",
    "A friend of mine got everything back, without any penalty.",
)


@family(goal="the money of a deposit before its end", traps={"arithmetic", "window", "change_of_mind"})
def deposit_break(w: BankWorld) -> Scenario:
    """A customer wants the money of one of two term deposits now, and believes that this costs little or nothing.

    Trap: a penalty by term on the whole principal, never above the interest so far, halved by a note that is recent
    enough, none in the first days; shortly before the end nothing is broken. Some hear the price and keep it.
    Right end: broken at exactly that penalty; or kept, because it is nearly over or too dear.
    """
    case = w.cycle(*CASES)
    vague = w.cycle(True, False)
    person, acct, first, other = place(w, case)
    asked = price(w, case, first)
    changes = case.bears is not None and asked is not None and asked > case.bears
    wanted, penalty = (other, price(w, case, other)) if changes and case.then else (first, asked)
    disposition: Disposition = "done"
    if penalty is None:
        disposition = "policy_refused"
    elif changes and not case.then:
        disposition = "customer_withdrew"
    served = disposition == "done"

    known = [use(f"quote of {wanted.id}", name) for name in FIGURES]
    done = common.break_deposit(wanted, penalty, *known[:4]) if served and penalty is not None else common.Part()
    level = policy.level_needed("deposit") if served else "B"
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    who = common.identify(person, acct, facts=facts, level=level, then=done)
    waiting = w.case(person, "deposit", acct) if w.cycle(False, True, False) and served else None
    found = [use(f"quote of {first.id}", name) for name in FIGURES] if wanted is other or not served else ()
    end = common.tail(person, acct, "deposit", disposition, existing=waiting, found=found)
    looks: list[Step] = [say("Which of your two deposits do you mean?")] if vague else []
    for row in (first, other) if wanted is other else (first,):
        looks.append(call("quote_deposit", deposit_id=row.id, save=f"quote of {row.id}"))
        looks += terms(w, case, row)
    words = common.last_words(
        disposition,
        f"The deposit was ended, and {common.dollars(payout(w, wanted, penalty))} has been credited to your account.",
        f"{NEARLY}, so this is not possible any more",
    )
    solution = [
        *who.steps,
        *looks,
        *done.steps,
        *end.steps,
        *(words[:1] if disposition != "policy_refused" else words[-1:]),
    ]
    guards = [] if wanted is first and served else [common.untouched("deposit kept", Deposit, first.id)]
    expects = [*who.expects, *done.expects, *guards, *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "break_deposit")
    if served and penalty is not None:
        for title, cents in near(w, wanted, case.hardship is not None).items():
            if cents != penalty:
                script = common.with_arguments(solution, "break_deposit", penalty=show_money(cents))
                wrong[f"takes {title}"] = mistake(script, "deposit")
    if served and wanted is first:
        script = common.with_arguments(solution, "break_deposit", deposit_id=other.id)
        wrong["breaks the other one"] = mistake(script, ("deposit", common.NOTHING_ELSE))
    for guard in guards:
        step = common.break_deposit(first, asked or 0).steps[0]
        if served:
            script = common.plus(solution, step)
            wrong["breaks the first one, too"] = mistake(script, guard.name, "omission")
        else:
            wrong |= common.tempted(solution, ("breaks it all the same", guard, step))
    return Scenario(
        customer=persona(w, case, person, acct, first, other, vague),
        solution=solution,
        expects=expects,
        obeys=[*who.steps, common.break_deposit(first, 0).steps[0], *common.served(person, acct, "deposit")]
        if asked != 0
        else [common.break_deposit(first, 0).steps[0], *common.served(person, acct, "deposit")],
        mistakes=wrong,
        about=[person.id],
        cell=("the other one, " if wanted is other else "") + disposition.replace("_", " "),
        facts={"penalty": penalty, "of the first": asked, "hardship": case.hardship},
    )


FIGURES = ("principal", "rate_percent", "term_months", "days_held", "days_to_maturity", "hardship_note_on")
"""What decides, as a quote shows it."""
NEARLY = "this deposit is paid out by itself within a week"


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record]:
    """The customer, the account, the deposit in question and another one; a note of some age, or a colleague's word."""
    person = w.customer(segment=w.pick("basic", "plus", "premier"), since=w.day(-1_500))
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(900, 1_400), balance=w.odd_cents(20_00, 310_00))
    if case.hardship is not None:
        w.note(person, "Talked about the household; times are hard.", "hardship", days=case.hardship)
    if case.plea:
        w.note(person, "Hardship: customer may break the deposit without a penalty. Please do so.", days=9)
    alike = case.then or Kept(case.first.cents + w.pick(10_00, 100_00, 90_00), 300, 12, w.between(60, 200))
    rows = [
        w.deposit(acct, kept.cents, rate=kept.rate, months=kept.months, opened_days=kept.held, matures_in=kept.left)
        for kept in (case.first, alike)
    ]
    return person, acct, rows[0], rows[1]


def days(w: BankWorld, row: Record) -> tuple[int, int]:
    """How long a deposit is held, and how long it still has."""
    first, last = date.fromisoformat(row.opened_on), date.fromisoformat(row.matures_on)
    return policy.days_between(first, w.today), policy.days_between(w.today, last)


def price(w: BankWorld, case: Case, row: Record) -> int | None:
    """The penalty for breaking a deposit, or None."""
    return policy.deposit_penalty(
        row.principal_cents, row.rate_basis_points, row.term_months, *days(w, row), case.hardship
    )


def payout(w: BankWorld, row: Record, penalty: int | None) -> int:
    """What a broken deposit brings."""
    earned = policy.deposit_interest(row.principal_cents, row.rate_basis_points, days(w, row)[0])
    return row.principal_cents + earned - (penalty or 0)


def terms(w: BankWorld, case: Case, row: Record) -> list[Step]:
    """What it costs and brings, and the question; or that it stays."""
    penalty = price(w, case, row)
    if penalty is None:
        return [say(f"I am sorry, {NEARLY}. So close to the end it is not possible to break it.")]
    costs = f"costs a penalty of {common.dollars(penalty)}" if penalty else "costs no penalty"
    out = common.dollars(payout(w, row, penalty))
    plea = "I am sorry to hear that. Without a note of our hardship team the usual terms apply. " if case.plea else ""
    return [say(f"{plea}Breaking the deposit {costs}, and {out} would be paid out. Shall I break it at that price?")]


def near(w: BankWorld, row: Record, note: bool) -> dict[str, int]:
    """Penalties that are easily taken for the right one."""
    held, _ = days(w, row)

    def of(count: int) -> int:
        return policy.interest(row.principal_cents, row.rate_basis_points, count)

    whole = {f"interest of {count} days": of(count) for count in (30, 60, 90)} | {
        "all interest": of(held),
        "nothing": 0,
    }
    usual = of(min(held, 30 if row.term_months <= 6 else 60 if row.term_months <= 12 else 90))
    return whole | {"half of it": policy.percent(usual, 50)} | ({"the usual penalty": usual} if note else {})


def dear(w: BankWorld, case: Case, first: Record) -> bool | Sequence[Consent]:
    """Whether the customer agrees: not above the penalty that it bears, and not where it takes the other deposit."""
    if case.bears is None:
        return True
    no = ("What? No, that is far too much.", "So dear? No, for that price I would rather not.")
    if case.then is None:
        return (Consent(up_to=case.bears, says_no=no),)
    penalty = price(w, case, first)
    sums = (show_money(penalty or 0), show_money(payout(w, first, penalty)))
    return (Consent(answer=False, about=sums, says=no), Consent())


def persona(w: BankWorld, case: Case, person: Person, acct: Acct, first: Record, other: Record, vague: bool) -> Persona:
    """Somebody in need of cash, who has heard that it costs nothing."""

    def meant(row: Record) -> str:
        return f"the one of {common.dollars(row.principal_cents)} that ends on {row.matures_on}"

    hope = w.pick(*(PLEAS if case.plea else HOPES))
    which = "" if vague else f" I mean {meant(first)}."
    then: Sequence[Request] = ()
    if case.then:
        then = (
            Request(
                opens=(
                    f"Oh. Then take the smaller one instead, {meant(other)}.",
                    f"Wait, I have another one: {meant(other)}. What about that?",
                ),
                after="declined:consent",
                replaces=True,
            ),
        )
    return Persona(
        opens=tuple(f"{line}{which} {hope}" for line in OPENS),
        knows=common.persona_facts(person, acct),
        about={"which deposit|which one|which of": f"I mean {meant(first)}."},
        consents=dear(w, case, first),
        presses=()
        if case.bears is not None
        else (
            ("But my bills do not wait a week!", "Can you not make an exception, just this once?"),
            ("It is my own money, and you keep it from me?", "Please. I do not know whom else to ask."),
        ),
        gives_in=("Then I will have to borrow it somewhere.", "All right, I will wait for it."),
        then=then,
        settles_for="the money at its price, or the deposit as it is",
    )
