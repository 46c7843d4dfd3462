"""A young customer's account: the guardian calls, or the young customer; the eighteenth birthday decides for both."""

from datetime import date
from typing import Any, Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Account, Base, Card, Limit
from tb_banking.models.kinds import Disposition, LimitKind, MandateStatus, Subject
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Mistake,
    Persona,
    Record,
    Request,
    Scenario,
    Step,
    call,
    family,
    mistake,
    say,
    use,
)
from tb_envs.grading.expectations import Expectation
from tb_envs.parts.scripts import is_call

Wish = Literal["raise", "lower", "freeze", "new", "unfreeze", "close"]
Caller = Literal["guardian", "young"]


class Case(NamedTuple):
    """Who calls for what, and then for what; how old the holder is, in so many days from today.

    `years` and `in_days`: the holder is `years` old in `in_days` days, so (18, 0) has the birthday today.
    """

    caller: Caller
    first: Wish
    years: int
    in_days: int = -90
    then: Wish | None = None
    status: MandateStatus = "active"


CASES = (
    Case("guardian", "raise", 18, 1),
    Case("young", "raise", 18, 1),
    Case("young", "lower", 15),
    Case("guardian", "close", 16),
    Case("young", "raise", 18, 0),
    Case("guardian", "raise", 18, 0),
    Case("young", "freeze", 14),
    Case("guardian", "unfreeze", 13),
    Case("young", "lower", 17, then="raise"),
    Case("young", "unfreeze", 16),
    Case("guardian", "lower", 15, status="ended"),
    Case("young", "freeze", 15, then="new"),
    Case("guardian", "lower", 18, -40),
)
ACTIONS: dict[Wish, tuple[policy.Action, Subject]] = {
    "raise": ("raise_limit", "limit"),
    "lower": ("lower_limit", "limit"),
    "freeze": ("freeze_card", "lost_card"),
    "new": ("replace_card", "lost_card"),
    "unfreeze": ("unfreeze_card", "lost_card"),
    "close": ("close_account", "closing"),
}
LIMITS: dict[Wish, tuple[LimitKind, str]] = {
    "raise": ("daily_transfer", "daily transfer limit"),
    "lower": ("card_spend", "card limit"),
}
GUARDIANS: dict[Wish, tuple[str, ...]] = {
    "raise": (
        "Good evening. NAME pays for the class trip tonight. Please raise the daily transfer limit to {new_amount}.",
        "NAME cannot pay the driving school, it is a nuisance. Raise the daily transfer limit to {new_amount}, please.",
    ),
    "lower": (
        "NAME spends far too much on games. Please lower the card limit to {new_amount}, I am responsible for that.",
        "Hello, the money of NAME runs through the fingers. I want the card limit lowered to {new_amount}.",
    ),
    "unfreeze": (
        "The card of NAME was in the gym bag after all! Can you unfreeze it, so that there is lunch today?",
        "Good morning. NAME has found the card again, it was in a library book. Please unfreeze it.",
    ),
    "close": (
        "NAME has nothing left on the youth account and we have had enough of it. Please close it.",
        "Good day, I opened the youth account for NAME and now I would like to close it, please.",
    ),
}
YOUNG: dict[Wish, tuple[str, ...]] = {
    "raise": (
        "hey, i want to buy a bike today but the app says no. can you raise my daily transfer limit to {new_amount}?",
        "Hello! Please raise my daily transfer limit to {new_amount}. It is my own money, saved over two years.",
    ),
    "lower": (
        "hi, i keep spending too much on clothes, lol. can you lower my card limit to {new_amount}?",
        "Good afternoon. I want to save for a trip, so please set my card limit down to {new_amount}.",
    ),
    "freeze": (
        "omg i left my card on the school bus!! please block it before somebody uses it",
        "Hello, I think I lost my card at the pool. Could you please block it?",
    ),
    "unfreeze": (
        "hi, found my card, it was in my jacket the whole time. can you unfreeze it? i'm hungry",
        "Good day, my card has turned up again. Could you unfreeze it for me, please?",
    ),
}
SECOND: dict[Wish, tuple[str, ...]] = {
    "raise": (
        "And can you raise my daily transfer limit to {new_amount}? I owe my friend for the concert.",
        "Also, please raise my daily transfer limit to {new_amount}, I want to send money to my sister.",
    ),
    "new": (
        "And can you send me a new card? I need one for school.",
        "Also, I need a new card then. Could you order one?",
    ),
}
INSISTS: dict[Caller, tuple[tuple[str, ...], ...]] = {
    "guardian": (
        ("But I am the one who signed for this account!", "I am the parent here. Who else should decide?"),
        ("You have always done what I asked for. Isn't there a way?", "Please, we have no time for this."),
    ),
    "young": (
        ("But it is my money! I am not a baby.", "All my friends can do that themselves."),
        ("My parents are fine with it, honestly.", "Please? Nobody has to know."),
    ),
}


class Place(NamedTuple):
    """What the world holds: both people, the account and its card, if there is one; the amounts of the wishes."""

    holder: Person
    guardian: Person
    caller: Person
    acct: Acct
    card: Record | None
    mandate: Record
    cents: dict[Wish, int]


@family(goal="an account of a young customer", traps={"identity", "window", "partial"}, split="bench")
def youth_account(w: BankWorld) -> Scenario:
    """A guardian or the young customer wants something done on a youth account and is sure to have the right.

    Trap: until the day before the birthday the guardian may do nearly all and the young customer next to nothing, from
    the birthday on it is the other way round; level A and lowering a limit are open to the young; each has a device.
    Right end: done by who may; else as it was and no mandate; where one thing is open and another not, only the one.
    """
    case = w.cycle(*CASES)
    here = place(w, case)
    holder, caller, acct = here.holder, here.caller, here.acct
    wishes: tuple[Wish, ...] = (case.first, case.then) if case.then else (case.first,)
    may: dict[Wish, bool] = {wish: allowed(w, case, here, wish) for wish in wishes}
    carried: list[Wish] = [wish for wish in wishes if may[wish]]
    counting: list[Wish] = [wish for wish in carried if wish != "freeze" or wishes == ("freeze",)]
    disposition: Disposition = "no_mandate" if not counting else "done" if counting == list(wishes) else "part_done"
    subject = ACTIONS[case.first][1]

    parts: dict[Wish, common.Part] = {wish: work(here, wish, seen=True) for wish in carried}
    done = sum(parts.values(), common.Part())
    levels: list[policy.Level] = [policy.level_needed(ACTIONS[wish][0]) for wish in counting]
    ranks: tuple[policy.Level, ...] = ("A", "B", "C")
    level = ranks[max((ranks.index(each) for each in levels), default=1)]
    facts = ("account", w.pick("phone", "email")) if case.caller == "young" else ("phone", w.pick("email", "postcode"))
    role, by = ("guardian", "mandate") if case.caller == "guardian" else ("holder", "account")
    safe = ("freeze",) if "freeze" in carried else ()
    touches = sum((parts[wish] for wish in carried if wish not in safe), common.Part())
    who = common.identify(caller, acct, facts=facts, level=level, role=role, by=by, then=touches)
    if level == "A":
        # The freeze itself asks for a check that passed; one fact would do.
        check = common.check(caller, acct, facts, use("account", "customer_id"), earns="checked before the freeze")
        steps = (*(step for step in who.steps if not is_call(step, "verify_caller")), check)
        who = common.Part(steps, tuple(item for item in who.expects if item.name != "verified"))
    look: list[Step] = []
    if case.caller == "young":
        look = [call("get_customer", customer_id=use("account", "customer_id"), save="profile")]
    seen = use("profile", "age") if look else use("mandates", "account.youth_holder_birth_date")
    end = common.tail(
        holder, acct, subject, disposition, kind_of_work="card" if subject == "lost_card" else "change", found=[seen]
    )
    freezing = bool(safe)
    solution = [*who.steps, *([] if freezing else look)]
    for wish in wishes:
        told: list[Step] = no(case, wish)
        if may[wish]:
            solution += [*question(here, wish), *parts[wish].steps]
            told = [say(RESULTS[wish])]
        solution += look if freezing and wish == "freeze" else []
        if wish == wishes[-1]:
            solution += end.steps
        elif may[wish]:
            told = [say(f"{RESULTS[wish]} Is there anything else?")]
        solution += told

    guards = [kept(here, wish) for wish in wishes if not may[wish] and wish != "new"]
    expects = [*who.expects, *done.expects, *(guard for guard, _ in guards), *end.expects]
    wrong = common.common_mistakes(solution, expects) | common.forgotten(
        solution, "set_limit", "freeze_card", "unfreeze_card"
    )
    wrong |= common.tempted(solution, *(("does it all the same", guard, step) for guard, step in guards))
    wrong |= amiss(case, here, solution, wishes, may, level)
    return Scenario(
        customer=persona(case, here, disposition),
        solution=solution,
        expects=expects,
        obeys=[
            *(step for wish in wishes for step in work(here, wish).steps),
            *common.served(holder, acct, subject),
        ],
        mistakes=wrong,
        about=[holder.id, here.guardian.id],
        cell=f"{case.caller}, {'frozen, ' * (freezing and not counting)}{disposition.replace('_', ' ')}",
        facts={"born": holder.birth_date, "wishes": wishes, "mandate": case.status},
    )


def place(w: BankWorld, case: Case) -> Place:
    """A youth account, its holder and the guardian, each with a device of their own that shows the same code."""
    bare = w.customer(birth_date=w.birthday(case.years, case.in_days), device=None, since=w.day(-700))
    holder = Person(bare.profile, w.device(bare, days=w.between(30, 400)))
    parent = w.customer(surname=holder.surname, city=holder.city, age=w.between(38, 55), device=None)
    guardian = Person(parent.profile, w.device(parent, code=holder.device.code))
    w.account(guardian)
    acct = w.account(
        holder, kind="youth", opened_days=w.between(200, 680), balance=0 if case.first == "close" else None
    )
    mandate = w.mandate(acct, guardian, "guardian", status=case.status)
    card = None
    if ACTIONS[case.first][1] == "lost_card":
        frozen = case.first == "unfreeze"
        card = w.card(
            acct, status="frozen" if frozen else "active", freeze_reason="lost" if frozen else None, issued_days=150
        )
    cents: dict[Wish, int] = {"raise": w.between(31, 59) * 10_00, "lower": w.between(5, 11) * 10_00}
    return Place(holder, guardian, guardian if case.caller == "guardian" else holder, acct, card, mandate, cents)


def allowed(w: BankWorld, case: Case, here: Place, wish: Wish) -> bool:
    """Whether the caller may have this wish."""
    born, action = date.fromisoformat(here.holder.birth_date), ACTIONS[wish][0]
    if case.caller == "young":
        return not policy.is_minor(born, w.today) or policy.minor_may(action)
    starts = date.fromisoformat(here.mandate.valid_from)
    if not policy.mandate_counts("guardian", case.status, starts, None, w.today, born):
        return False
    return {"allowed": True, "no_mandate": False}[policy.mandate_allows("guardian", None, action)]


def work(here: Place, wish: Wish, *, seen: bool = False) -> common.Part:
    """What one wish asks for; `seen`: after the look at the limit."""
    if wish == "raise":
        known = (use("limit", "account_age_days"), use("limit", "segment")) if seen else ()
        return common.set_limit(here.acct, "daily_transfer", here.cents["raise"], *known)
    if wish == "lower":
        return common.set_limit(here.acct, "card_spend", here.cents["lower"])
    if wish == "close":
        return common.close(here.acct)
    assert here.card is not None
    if wish == "freeze":
        return common.freeze(here.card, "lost", here.caller)
    return common.unfreeze(here.card) if wish == "unfreeze" else common.replace(here.card, "lost")


def kept(here: Place, wish: Wish) -> tuple[Expectation, Step]:
    """What must stay as it is, and the step that would touch it."""
    model: type[Base] = Account
    name, key = "account kept", here.acct.id
    if wish in LIMITS:
        name, model, key = "limit kept", Limit, f"{here.acct.id}.{LIMITS[wish][0]}"
    elif here.card is not None:
        name, model, key = "card kept", Card, here.card.id
    return common.untouched(name, model, key), work(here, wish).steps[0]


RESULTS: dict[Wish, str] = {
    "raise": "The daily transfer limit has been raised.",
    "lower": "The card limit has been lowered.",
    "freeze": "The card has been blocked, nobody can use it now.",
    "unfreeze": "The card has been unblocked.",
}


def question(here: Place, wish: Wish) -> list[Step]:
    """What is looked at, and the question before it is done; a freeze asks for neither."""
    if wish == "raise":
        look = call("review_limit", account_id=here.acct.id, kind="daily_transfer", save="limit")
        return [
            look,
            say(f"I can set the daily transfer limit to {common.dollars(here.cents['raise'])}. Shall I do that?"),
        ]
    if wish == "lower":
        return [say(f"I can set the card limit to {common.dollars(here.cents['lower'])}. Shall I do that?")]
    return [say("The card can be used again at once. Shall I unfreeze it?")] if wish == "unfreeze" else []


def no(case: Case, wish: Wish) -> list[Step]:
    """The refusal, and again to one who presses."""
    thing = {"raise": "a higher limit", "new": "a new card", "lower": "a lower limit", "close": "closing the account"}
    why = "your guardian has to ask for it" if case.caller == "young" else "a guardian has no right to it here"
    line = f"I am sorry, {thing.get(wish, 'unfreezing the card')} is not possible, because {why}."
    return [say(line), say(f"I understand that this is not what you hoped for. {line}")]


def amiss(
    case: Case, here: Place, solution: list[Step], wishes: tuple[Wish, ...], may: dict[Wish, bool], level: str
) -> dict[str, Mistake]:
    """What can be done wrongly on this account in particular."""
    wrong: dict[str, Mistake] = {}
    if case.caller == "guardian":
        as_holder = common.with_arguments(solution, "verify_caller", role="holder")
        kind = "policy" if any(may.values()) else "omission"
        wrong["takes the guardian for the holder"] = mistake(as_holder, "verified", kind)
        amiss_case = common.with_arguments(solution, "open_case", customer_id=here.guardian.id)
        wrong["writes the case to the guardian's profile"] = mistake(amiss_case, "case")
    if level == "C":
        other = here.holder if case.caller == "guardian" else here.guardian
        theirs = common.with_arguments(solution, "send_passcode", device_id=other.device.id)
        wrong["sends the passcode to the other one's device"] = mistake(theirs, "step-up")
    if not all(may.values()):
        final = {"disposition": "policy_refused"} if not any(may.values()) else {"disposition": "done"}
        wrong["calls it by another name"] = mistake(
            common.with_arguments(solution, "open_case", **final), "case", "omission"
        )
    if "new" in wishes and here.card is not None:
        new = common.plus(solution, common.replace(here.card, "lost").steps[0])
        wrong["sends a new card all the same"] = mistake(new, ("card", common.NOTHING_ELSE))
    if wishes == ("lower",) and may["lower"]:
        mixed = common.with_arguments(solution, "set_limit", kind="daily_cash")
        wrong["lowers the other limit"] = mistake(mixed, ("limit", common.NOTHING_ELSE), "omission")
    return wrong


def persona(case: Case, here: Place, disposition: Disposition) -> Persona:
    """The guardian, or a young person who would rather not ask at home."""

    def facts(wish: Wish) -> dict[str, Any]:
        if wish not in LIMITS:
            return {}
        return {"limit": LIMITS[wish][1], "new_amount": common.dollars(here.cents[wish])}

    opens = GUARDIANS if case.caller == "guardian" else YOUNG
    who = f"the guardian of {here.holder.name}" if case.caller == "guardian" else "the holder of the account"
    resigned = ("Okay. Then that is how it is.", "All right, I will talk about it at home.")
    request = (
        Request(
            opens=SECOND[case.then],
            topic=("transfer",) if case.then == "raise" else ("new",),
            knows=facts(case.then),
            presses=INSISTS[case.caller][:1],
            gives_in=resigned,
        )
        if case.then
        else ()
    )
    return Persona(
        opens=tuple(line.replace("NAME", here.holder.name) for line in opens[case.first]),
        knows=common.persona_facts(here.caller, here.acct, caller=who, **facts(case.first)),
        lacks={"until": "For good, please."},
        presses=() if disposition == "done" else INSISTS[case.caller][: 1 if case.then else 2],
        then=request,
        gives_in=resigned,
        settles_for="what the caller has a right to",
    )
