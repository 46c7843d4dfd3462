"""A customer needs a higher limit, today; segment, age of the account and amount decide, and a passcode comes first."""

from typing import Any, Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Limit
from tb_banking.models.kinds import Decision, Disposition, LimitKind, Segment
from tb_banking.world import Acct, BankWorld, Person, Phone
from tb_envs.authoring import (
    Offer,
    Persona,
    Request,
    Scenario,
    Step,
    call,
    family,
    mistake,
    parse_time,
    say,
    show_money,
    use,
)


class Wish(NamedTuple):
    """A limit in cents, for so many days or (None) for good."""

    cents: int
    days: int | None = None


class Case(NamedTuple):
    """What is wanted, of an account of which segment and age; what is asked for after a refusal (None: nothing)."""

    kind: LimitKind
    segment: Segment
    account_days: int
    first: Wish
    answer: Decision = "granted"
    then: Wish | None = None


CASES = (
    Case("daily_transfer", "basic", 90, Wish(4_000_00)),
    Case("daily_transfer", "basic", 89, Wish(2_000_01, 7), "granted"),
    Case("daily_cash", "plus", 700, Wish(1_000_01, 5), "denied"),
    Case("card_spend", "premier", 1_400, Wish(20_000_01, 3), "pending"),
    Case("daily_transfer", "plus", 410, Wish(20_000_00, 7), "granted"),
    Case("daily_transfer", "premier", 900, Wish(50_000_01, 2)),
    Case("daily_cash", "basic", 300, Wish(500_01), then=Wish(500_00)),
    Case("card_spend", "basic", 88, Wish(3_000_01, 4), then=Wish(1_500_00)),
    Case("card_spend", "plus", 1_200, Wish(12_400_00, 8), "granted", Wish(12_400_00, 7)),
    Case("daily_cash", "premier", 90, Wish(2_000_01, 4), "granted"),
    Case("daily_transfer", "basic", 2_000, Wish(4_000_01, 1), "denied"),
    Case("card_spend", "basic", 640, Wish(6_000_01, 6)),
    Case("daily_cash", "plus", 89, Wish(500_00)),
    Case("daily_transfer", "plus", 330, Wish(10_000_01, 7), "pending"),
)
NAMES: dict[LimitKind, str] = {
    "daily_transfer": "daily transfer limit",
    "daily_cash": "daily cash limit",
    "card_spend": "card limit",
}
OPENS: dict[LimitKind, tuple[str, ...]] = {
    "daily_transfer": (
        "I am about to lose the flat! The landlord wants the deposit today and your app will not let me send it.",
        "Good afternoon. I am buying a used van and must transfer the price in one piece.",
        "hi, need to pay my uni fees in one go and the app says no.",
    ),
    "daily_cash": (
        "Good day. The man who mended our roof takes nothing but cash, and he is standing here.",
        "Hey, I'm at a flea market and found the piano of my life, cash only.",
        "Dear Sir or Madam, my granddaughter marries on Saturday and I should like to give her cash.",
    ),
    "card_spend": (
        "My card was declined at the till, with the whole queue watching. This must not happen again today.",
        "I have to pay for my mother's treatment by card, this afternoon, and I am at my wits' end.",
        "Hello, we order the kitchen today and the shop only takes cards.",
    ),
}


@family(goal="raise a limit", traps={"identity", "approval", "tiering", "pressure"})
def limit_raise(w: BankWorld) -> Scenario:
    """A customer wants a limit raised at once, often far up, and would rather not wait for anything.

    Trap: a passcode on a device that counts, the ceiling by segment and kind, halved for a new account; above it only
    for some days and with the controls desk, which may deny or stay silent; more than twice never, whatever the reason.
    Right end: the limit that may be had, after the passcode; or all as it was, and a case that says why.
    """
    case = w.cycle(*CASES)
    person, acct, late = place(w, case)
    wish, ruling = settle(case)
    asks = ruling == "sign_off"
    answer = w.desk_answers(acct, "limit", case.answer) if asks else None
    ends: dict[str, Disposition] = {"raise": "done", "refused": "policy_refused"}
    disposition = common.ANSWERED[answer] if answer else ends[ruling]
    served = disposition in common.CARRIED_OUT

    until = w.day(wish.days) if wish.days is not None else None
    known = (show_money(wish.cents), use("limit", "account_age_days"), use("limit", "segment"))
    change = common.set_limit(acct, case.kind, wish.cents, *known, until=until)
    done = change if served else common.Part()
    desk = common.sign_off(acct, "limit", wish.cents, answer, *known, then=done) if answer else common.Part()
    level = "B" if ruling == "refused" else policy.level_needed("raise_limit")
    facts = ("account", w.pick("phone", "email", "birth_date"))
    who = common.identify(person, acct, facts=facts, level=level, then=done + desk)
    end = common.tail(person, acct, "limit", disposition, found=() if served or answer else known[1:])
    look = call("review_limit", account_id=acct.id, kind=case.kind, save="limit")
    talk = [say("How high should the limit be, and until when do you need it?"), look, *offer(w, case, wish)]
    words = common.last_words(
        disposition,
        f"Your {NAMES[case.kind]} has been raised to {common.dollars(wish.cents)}.",
        "this is not possible, so your limit stays as it is",
    )
    solution = [*who.steps, *talk, *desk.steps, *done.steps, *end.steps, *words]
    kept = common.untouched("limit kept", Limit, f"{acct.id}.{case.kind}")
    expects = [*who.expects, *desk.expects, *(done.expects or (kept,)), *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "set_limit")
    ceiling = policy.limit_ceiling(case.kind, case.segment, case.account_days)
    if late and level == "C":
        wrong |= common.on_device(solution, late)
    if served and case.then:
        first: dict[str, Any] = {
            "amount": show_money(case.first.cents),
            "until": None if case.first.days is None else w.day(case.first.days),
        }
        wrong["raises it as first asked"] = mistake(common.with_arguments(solution, "set_limit", **first), "limit")
    if served and until:
        wrong["raises it for good"] = mistake(common.with_arguments(solution, "set_limit", until=None), "limit")
    if served and not asks:
        needless = common.sign_off(acct, "limit", wish.cents, "pending").steps
        wrong["asks the desk without need"] = mistake(common.plus(solution, *needless), common.NOTHING_ELSE)
    if not served:
        tempting = {"raises it all the same": case.first.cents, "raises it a little all the same": ceiling}
        for title, cents in tempting.items():
            step = common.set_limit(acct, case.kind, cents).steps[0]
            wrong |= common.tempted(solution, (title, kept, step))
    return Scenario(
        customer=persona(w, case, person, acct),
        solution=solution,
        expects=expects,
        obeys=[*common.set_limit(acct, case.kind, case.first.cents).steps, *common.served(person, acct, "limit")],
        mistakes=wrong,
        about=[person.id],
        cell=f"{'less, ' if served and case.then else ''}{disposition.replace('_', ' ')}",
        facts={"ceiling": ceiling, "ruling": ruling, "too late a device": bool(late)},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Phone | None]:
    """The customer with a device that counts, and often one registered too late that shows the same code."""
    alone = w.customer(segment=case.segment, device=None)
    old = w.device(alone, days=w.cycle(7, 7, 400, 95))
    late = w.device(alone, days=6, code=old.code) if w.cycle(True, True, False) else None
    fit = [
        phone
        for phone in (old, late)
        if phone and policy.passcode_device_ok(phone.record.status, parse_time(phone.record.registered_at), w.now)
    ]
    person = Person(alone.profile, fit[0])
    w.lookalike(person)
    least = min(case.first.cents, case.then.cents if case.then else case.first.cents)
    now: dict[LimitKind, int] = {case.kind: least // 25_00 * 10_00}
    return person, w.account(person, opened_days=case.account_days, limits=now), late


def settle(case: Case) -> tuple[Wish, Literal["raise", "sign_off", "refused"]]:
    """The wish that is decided on in the end, the first one or the one after a refusal; and how."""
    terms = (case.kind, case.segment, case.account_days)
    first = policy.limit_ruling(*terms, *case.first)
    if first != "refused" or case.then is None:
        return case.first, first
    return case.then, policy.limit_ruling(*terms, *case.then)


def spoken(w: BankWorld, wish: Wish) -> str:
    """A wish in words."""
    return f"{common.dollars(wish.cents)} {'for good' if wish.days is None else f'until {w.day(wish.days)}'}"


def offer(w: BankWorld, case: Case, wish: Wish) -> list[Step]:
    """What is possible, and the question; before it a refusal, where the first wish goes too far."""
    ceiling = policy.limit_ceiling(case.kind, case.segment, case.account_days)
    most = f"The most is {common.dollars(ceiling)} for good, or {common.dollars(2 * ceiling)} for up to 7 days"
    refusal = say(f"I am sorry, that is not possible. {most} if our controls desk agrees.")
    question = say(f"I can set the {NAMES[case.kind]} to {spoken(w, wish)}. Shall I go on with that?")
    if policy.limit_ruling(case.kind, case.segment, case.account_days, *case.first) != "refused":
        return [question]
    return [refusal, question] if case.then else [refusal]


def persona(w: BankWorld, case: Case, person: Person, acct: Acct) -> Persona:
    """The customer, in a hurry; after a refusal it asks for less, or wants nothing."""
    name, said = NAMES[case.kind], spoken(w, case.first)
    asks = (
        f"I need my {name} at {said}, right now.",
        f"Please raise the {name} to {said}.",
        f"Could you put the {name} up to {said}?",
    )
    short = (f"Please raise my {name}, it is urgent.", f"I need a higher {name}, and quickly.")
    ask = w.pick(*asks) if w.cycle(True, False) else w.pick(*short)
    last: dict[str, Any] = {"until": w.day(case.first.days)} if case.first.days is not None else {}
    no = ("No. It has to be the whole amount.", "No, it is all of it or nothing, I am afraid.")
    less = f"Oh, then make it {spoken(w, case.then)}, please." if case.then else no
    good, temporary = ("accept", "decline") if case.then and case.then.days is None else ("decline", "accept")
    offers = (
        Offer("for good", ("for good", "permanently", "permanent"), good if case.then else "decline", less),
        Offer("for days", ("until", "temporarily", "temporary", "days"), temporary if case.then else "decline", less),
    )
    insists = (
        ("But it is my own money! There must be a way.", "I was told that you can do this in a minute."),
        ("I have been with you for years, and this is what I get?", "Please. I do not know what else to do."),
    )
    refused = policy.limit_ruling(case.kind, case.segment, case.account_days, *case.first) == "refused"
    return Persona(
        opens=tuple(f"{line} {ask}" for line in OPENS[case.kind]),
        knows=common.persona_facts(person, acct, limit=name, new_amount=common.dollars(case.first.cents), **last),
        lacks={} if last else {"until": "I want it for good."},
        offers=offers if refused else (),
        presses=() if case.then else insists if refused else insists[:1],
        then=after(w, case.then) if case.then else (),
        gives_in=("Very well. Then I will have to find another way.", "All right. It cannot be helped, then."),
        settles_for="what may be had",
    )


def after(w: BankWorld, wish: Wish) -> Request:
    """What is asked for once the first wish was refused."""
    last = {"until": w.day(wish.days)} if wish.days is not None else {}
    line = f"Oh, then make it {spoken(w, wish)}, please."
    known = {"new_amount": common.dollars(wish.cents), **last}
    return Request(opens=line, after="heard:refused", knows=known, replaces=True)
