"""A customer short of money wants a fee back: goodwill by segment, once a year, for the newest fee; mistakes whole."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Fee
from tb_banking.models.kinds import AccountKind, Disposition, FeeKind, ReverseReason, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Call,
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
    show_money,
    use,
)


class Case(NamedTuple):
    """A fee in cents, charged so many days ago; how long the last goodwill is past, on another account or on this one.

    `newer`: another fee (kind, cents, days) after it, asked for when this one is refused. `twice`: it was charged
    twice, and the customer wants the double one back, or both. `monthly`: a monthly fee, asked for as well.
    """

    kind: FeeKind
    segment: Segment
    cents: int
    days: int
    rested: int | None = None
    elsewhere: bool = False
    newer: tuple[FeeKind, int, int] | None = None
    twice: Literal["", "double", "both"] = ""
    monthly: int = 0
    account: AccountKind = "current"


CASES = (
    Case("overdraft", "basic", 35_01, 60),
    Case("returned_payment", "plus", 29_03, 21, rested=366),
    Case("overdraft", "premier", 42_37, 12, rested=800, elsewhere=True),
    Case("overdraft", "plus", 37_50, 61),
    Case("returned_payment", "basic", 28_90, 20, rested=365, elsewhere=True),
    Case("overdraft", "plus", 38_40, 31, newer=("returned_payment", 29_02, 6)),
    Case("overdraft", "basic", 36_00, 61, twice="double"),
    Case("overdraft", "plus", 33_30, 9, twice="both"),
    Case("overdraft", "basic", 35_15, 26, monthly=6_00),
    Case("overdraft", "premier", 41_20, 40, rested=365, monthly=9_00),
    Case("returned_payment", "basic", 27_77, 18, monthly=4_00, account="savings"),
    Case("overdraft", "plus", 32_75, 60, monthly=9_50),
    Case("returned_payment", "basic", 32_99, 45, monthly=4_49),
    Case("recall", "plus", 15_00, 5),
)
NAMES: dict[FeeKind, str] = {
    "overdraft": "overdraft fee",
    "returned_payment": "returned payment fee",
    "recall": "recall fee",
    "monthly": "monthly fee",
}
OPENS: dict[FeeKind, tuple[str, ...]] = {
    "overdraft": (
        "You took an overdraft fee of {amount} from me, for two days! That is our food for the week.",
        "good morning, there is an overdraft fee of {amount} on my account. My wages were late, that was not my fault.",
        "I've just opened the app and could cry. An overdraft fee of {amount}, a week before payday.",
    ),
    "returned_payment": (
        "My rent bounced by a few dollars, and on top of it you charge me {amount} for the returned payment.",
        "Hello. A returned payment fee of {amount}? I am counting every cent at the moment.",
        "So a bill was sent back, and you take {amount} for the returned payment. I have two kids to feed.",
    ),
    "recall": (
        "I called back one transfer, ten minutes after I had sent it, and you took a recall fee of {amount} for that.",
        "Good evening. A recall fee of {amount} for pressing one button? That was a slip of the finger.",
    ),
}
WISHES: dict[str, tuple[str, ...]] = {
    "": ("I'd like all of it back, please.", "Please give it back, the whole of it.", "I want that money back."),
    "double": (
        "And you took it twice, for one and the same payment! I want the double one back.",
        "It is there two times, for a single payment. Please give the second one back.",
    ),
    "newer": (
        "There is a smaller one as well, but it is this one that hurts. Can I have it back?",
        "I know that there was another one since. If you can return just one of them, then this, please.",
    ),
}
WISHES["both"] = WISHES["double"]
NO_MORE = "I know that this is hard. Still, nothing can be returned here"
LITTLE = "It was a few cents too high, and less than half a dollar is left as it is."


class Item(NamedTuple):
    """One fee: what is returned of it and why (0: it stays), as which check, and what the customer is told."""

    fee: Record
    check: str
    due: int
    reason: ReverseReason
    words: str
    asked: bool = True


@family(goal="a fee of a bad month back", traps={"tiering", "window", "arithmetic", "pressure"})
def overdraft_fee(w: BankWorld) -> Scenario:
    """A customer who is short of money wants a fee back, whole, and perhaps a second one that looks wrong.

    Trap: a share by segment, for the newest fee of two kinds, within 60 days and once a year over all accounts; but a
    fee charged twice, or above the price on the current page, is a mistake and comes back whatever its age.
    Right end: what is due of each fee and for the right reason, a note after goodwill; or the fee stays, and why.
    """
    case = w.cycle(*CASES)
    person, acct, items = place(w, case)
    returned, kept = [item for item in items if item.due], [item for item in items if not item.due]
    refused = any(item.asked for item in kept)
    disposition: Disposition = "policy_refused" if not returned else "part_done" if refused else "done"
    goodwill = next((item for item in returned if item.reason == "goodwill"), None)

    page = [use("page", "body")] if case.monthly else []
    known = [use("fees", "segment"), use("fees", "last_goodwill_on"), use("fees", "fees"), *page]
    parts = [common.reverse(item.fee, item.due, item.reason, *known[2:], name=item.check) for item in returned]
    done = sum(parts, common.Part())
    who = common.identify(
        person,
        acct,
        facts=("account", w.pick("phone", "email", "birth_date", "postcode")),
        level=policy.level_needed("return_fee"),
        then=done,
    )
    waiting = (
        w.case(person, "fee", acct, summary="Asked in the app about a fee.") if w.cycle(True, False, True) else None
    )
    note = "goodwill" if goodwill else None
    found = known if refused else ()
    end = common.tail(person, acct, "fee", disposition, note=note, existing=waiting, found=found)
    looks: list[Step] = [call("review_fees", account_id=acct.id, save="fees")]
    if case.monthly:
        looks += [
            call("search_guide", query="monthly account fee"),
            call("open_guide_page", page_id="GP-03", save="page"),
        ]
    told = [say(item.words) for item in items if item.words]
    sums = " and ".join(f"{common.dollars(item.due)} of the {label(case, item)}" for item in returned)
    verb = "have" if len(returned) > 1 else "has"
    words = say(f"{sums} {verb} been returned to your account.") if returned else say(f"{NO_MORE}: {why(case)}.")
    solution = [*who.steps, *looks, *told, *done.steps, *end.steps, words]
    guards = [(common.untouched(item.check, Fee, item.fee.id), item.fee) for item in kept]
    expects = [*who.expects, *done.expects, *(guard for guard, _ in guards), *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "reverse_fee")
    for guard, fee in guards:
        whole = common.reverse(fee, fee.amount_cents, "goodwill").steps[0]
        wrong |= common.tempted(solution, (f"breaks: {guard.name}", guard, whole))
    for item, part in zip(returned, parts, strict=True):
        for title, cents in near(case, item).items():
            if 0 < cents <= item.fee.amount_cents and cents != item.due:
                wrong[f"{item.check}: {title}"] = otherwise(solution, part, cents, item.reason)
    if goodwill:
        part = parts[returned.index(goodwill)]
        wrong["calls goodwill our mistake"] = otherwise(solution, part, goodwill.due, "bank_error")
    else:
        needless = call("add_contact_note", customer_id=person.id, kind="goodwill", body="Fees were spoken of.")
        wrong["notes a goodwill that was none"] = mistake(common.plus(solution, needless), common.NOTHING_ELSE)
    if waiting:
        anew = common.tail(person, acct, "fee", disposition, note=note).steps[-1]
        second = [anew if isinstance(step, Call) and step.tool == "update_case" else step for step in solution]
        wrong["opens a second case"] = mistake(second, ("case", common.NOTHING_ELSE))
    everything = [common.reverse(item.fee, item.fee.amount_cents, "goodwill").steps[0] for item in items]
    return Scenario(
        customer=persona(w, case, person, acct, items[-1 if case.twice else 0].fee),
        solution=solution,
        expects=expects,
        obeys=[*who.steps, looks[0], *everything, *common.served(person, acct, "fee")],
        mistakes=wrong,
        about=[person.id],
        cell=f"{'twice' if case.twice else 'with the monthly fee' if case.monthly else 'one fee'}, "
        + ("the newer one" if case.newer else disposition.replace("_", " ")),
        facts={"returned": {item.check: item.due for item in returned}, "kept": [item.check for item in kept]},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, list[Item]]:
    """The customer, the account, and its fees in question, in the order in which they are spoken of."""
    person = w.customer(segment=case.segment, since=w.day(-w.between(1_950, 2_700)))
    w.lookalike(person)
    acct = w.account(person, kind=case.account, opened_days=w.between(1_000, 1_900), balance=w.odd_cents(4_00, 91_00))
    if case.rested is not None:
        where = w.account(person, kind="savings", opened_days=1_400) if case.elsewhere else acct
        before = {"reversed": 16_50, "reason": "goodwill", "reversed_days": case.rested}
        w.fee(where, "overdraft", 33_00, days=case.rested + 8, **before)
    if not case.monthly and case.account == "current":
        usual = {"basic": 4_00, "plus": 9_00}.get(case.segment)
        if usual:
            w.fee(acct, "monthly", usual, at="2031-09-01T05:10:00Z")
    fee, later = charge(w, case, acct)
    last, share = case.rested, common.dollars
    due = policy.goodwill_return(case.kind, case.segment, case.cents, case.days, not case.newer, last)
    name = NAMES[case.kind]
    part = f"{share(due)} of the {name}" if due < case.cents else f"the whole {name}"
    offer = f"As goodwill I can return {part} of {share(case.cents)}. Shall I do that?"
    stays = f"I am sorry, the {name} of {share(case.cents)} has to stay: {why(case)}."
    first = Item(fee, "return" if due else "fee kept", due, "goodwill", offer if due else stays)
    if later:
        whole = policy.mistake_return(case.cents, 0)
        words = f"It was charged twice, and that was our mistake. I can return the second {share(whole)}. Shall I?"
        double = Item(later, "second return", whole, "bank_error", words)
        return person, acct, [double, first if case.twice == "both" else first._replace(words="", asked=False)]
    if case.newer:
        kind, cents, days = case.newer
        newest = w.fee(acct, kind, cents, days=days)
        due = policy.goodwill_return(kind, case.segment, cents, days, True, last)
        words = f"Of the {NAMES[kind]} of {share(cents)} I can return {share(due)} as goodwill. Shall I do that?"
        return person, acct, [first._replace(asked=False), Item(newest, "return", due, "goodwill", words)]
    if not case.monthly:
        return person, acct, [first]
    monthly = w.fee(acct, "monthly", case.monthly, at="2031-09-01T05:10:00Z")
    right = policy.monthly_fee(case.account, case.segment)
    due = policy.mistake_return(case.monthly, right)
    price = f"should have been {share(right)}" if right else "should not have been charged at all"
    words = (
        f"The monthly fee {price}. I can return {share(due)}, that was our mistake. Shall I?"
        if due
        else f"I am sorry, the monthly fee has to stay. {LITTLE}"
    )
    return person, acct, [first, Item(monthly, "monthly return" if due else "monthly kept", due, "bank_error", words)]


def charge(w: BankWorld, case: Case, acct: Acct) -> tuple[Record, Record | None]:
    """The fee in question, and the same fee charged again minutes later for the same entry, if that is the case."""
    at, payee = w.ago(case.days), w.payee(acct.holder)
    if case.kind == "recall":
        w.transfer(acct, payee, w.odd_cents(60_00, 300_00), status="recalled", at=w.after(at, minutes=-14))
        return w.fee(acct, case.kind, case.cents, at=at), None
    cents, sent = w.odd_cents(80_00, 420_00), w.after(at, minutes=-6)
    entry = w.book(acct.id, "transfer_out", -cents, sent, f"{payee.name}: monthly rate")
    if not case.twice:
        return w.fee(acct, case.kind, case.cents, at=at, entry=entry), None
    first = w.fee(acct, case.kind, case.cents, at=w.after(at, minutes=-3), entry=entry)
    return first, w.fee(acct, case.kind, case.cents, at=at, entry=entry)


def why(case: Case) -> str:
    """Why no goodwill is given, in words."""
    if case.kind == "recall":
        return "it was charged rightly, and goodwill is not meant for it"
    if case.newer:
        return "it is not the newest fee of its kind, and only the newest can be returned"
    if case.days > 60:
        return "it is too long ago that it was charged"
    return "there was a goodwill return in the last year, and there can be only one"


def label(case: Case, item: Item) -> str:
    """Which fee it is, in words."""
    which = "second " if item.check == "second return" else "first " if case.twice else ""
    return f"{which}{NAMES[item.fee.kind]}"


def near(case: Case, item: Item) -> dict[str, int]:
    """Amounts that are easily taken for the right one."""
    cents = item.fee.amount_cents
    sums = {"all of it": cents, "half of it": policy.percent(cents, 50), "three quarters": policy.percent(cents, 75)}
    if item.reason == "goodwill":
        return sums | {"rounded down": item.due - 1}
    return {**sums, "down to the old price": cents - 6_00} if item.fee.kind == "monthly" else sums


def otherwise(solution: Sequence[Step], part: common.Part, cents: int, reason: ReverseReason) -> Mistake:
    """The script in which this return has another amount or reason."""
    (right,) = part.steps
    assert isinstance(right, Call)
    wrong = call("reverse_fee", fee_id=right.arguments["fee_id"], amount=show_money(cents), reason=reason)
    return mistake([wrong if step is right else step for step in solution], right.earns)


def persona(w: BankWorld, case: Case, person: Person, acct: Acct, fee: Record) -> Persona:
    """Somebody to whom this fee is a lot of money."""
    name, short = NAMES[case.kind], common.dollars(case.cents)
    then: list[Request] = []
    if case.twice == "both":
        then.append(
            Request(
                opens=(
                    "And could you let me off the first one, too? It was only for two days.",
                    "And the first of the two, can that be waived as well? Money is so tight.",
                ),
                after="halfway",
                topic=("goodwill", "first"),
            )
        )
    if case.newer:
        _, _, days = case.newer
        then.append(
            Request(
                opens=(
                    "Oh well, then at least the smaller one, please. That would help a little.",
                    "Oh dear. Then take the other one, better than nothing.",
                ),
                after="heard:refused",
                knows={"day": w.day(-days)},
                replaces=True,
            )
        )
    if case.monthly:
        then.append(
            Request(
                opens=(
                    f"And you took {common.dollars(case.monthly)} as a monthly fee. Give me that back, too.",
                    f"Also, what is this monthly fee of {common.dollars(case.monthly)}? I want that one back as well.",
                ),
                after="halfway",
                topic=("monthly",),
                presses=("I never agreed to such a price.",),
                gives_in="All right, then leave that one.",
            )
        )
    wish = WISHES["newer" if case.newer else case.twice]
    return Persona(
        opens=tuple(f"{line.format(amount=short)} {w.pick(*wish)}" for line in OPENS[case.kind]),
        knows=common.persona_facts(person, acct, day=fee.charged_at[:10]),
        topic=("second", "double", "twice") if case.twice else (name, "goodwill") if then else (),
        about={
            "why|happened": ("My pay came late, that is all.", "The heating broke, and then it all went wrong."),
            "which fee|how much was": f"I mean the {name} of {short}.",
        },
        presses=(("It is this one that hurts, I can tell you.", "What a pity."),)
        if case.newer
        else (
            ("But it is a whole day's food! Surely you can make an exception.", "My friend's bank gave it all back."),
            ("Can't you just press the button? Nobody would notice.", "Please. I really do not know how to pay it."),
        ),
        gives_in=("Then I will have to borrow it from my sister.", "All right. I will have to manage somehow."),
        then=then,
        settles_for="what goodwill allows, and what was wrongly taken",
    )
