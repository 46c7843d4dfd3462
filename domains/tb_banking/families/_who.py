"""Who is calling: chapter 2 of the handbook as pieces of a script. Facts for levels A and B, a passcode for level C.

Refuses to know what a level opens: a family says which one it needs, and what comes after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from tb_banking import policy
from tb_banking.models import Passcode, SignOff, Verification
from tb_banking.models.kinds import Role
from tb_banking.world import Acct, Person, Phone
from tb_envs.authoring import (
    Call,
    Record,
    ask,
    at_most,
    call,
    calls,
    either,
    happened,
    named,
    one_of,
    order,
    say,
    tries,
    use,
    writes,
)
from tb_envs.grading.expectations import Changed, Created, Either, Expectation, Happened, Pattern
from tb_envs.parts import identity
from tb_envs.parts.scripts import Part

Way = Literal["account", "mandate", "search"]
"""How the caller's profile is found: as the holder of the account, as one with a mandate on it, or by a search."""
Then = Part | Pattern | Sequence[Pattern]

CODE_PLEASE = say("I have sent a passcode to your device. Could you read me the code, please?")
AGAIN_PLEASE = say(
    "I am sorry, that code was wrong. I have sent another passcode to your device. Could you read me the code, please?"
)
FACTS = 6
"""As many facts as a check can match."""


def identify(
    person: Person,
    acct: Acct,
    *,
    facts: Sequence[str] = ("account", "phone"),
    level: policy.Level = "B",
    role: Role = "holder",
    by: Way = "account",
    cards: Sequence[Record] = (),
    then: Then = (),
    also: Then = (),
) -> Part:
    """Find the caller's profile, pass the check of facts and, for level C, have a passcode confirmed.

    Checks: `verified`, `facts heard`, `guesses`; with level C also those of `step_up`.
    Saved: ``account`` (by account, mandate), ``mandates``, ``found`` and ``profile`` (by search), ``devices``.

    Args:
        person: who calls; for level C with a trusted device.
        acct: the account that the request concerns.
        facts: asked for and named in the check: ``account``, ``email``, ``phone``, ``postcode``, ``birth_date``,
            ``card`` (then give `cards`). One for level A, two for B and C. A search needs ``email`` among them.
        level: what the request needs in this task; B where level C would open something, but nothing is done.
        role: as whom the person calls.
        by: how the profile is found.
        cards: those whose last four digits the caller knows.
        then: the changes that the whole level must come before: the parts that make them, joined, or patterns.
        also: at level C, changes that two facts allow, before or after the passcode.
    """
    steps, customer = _found(person, acct, facts, by)
    part = Part((*steps, check(person, acct, facts, customer, role=role, cards=cards)))
    touches, others = touched(then), touched(also)
    if touches:
        touches = (*touches, writes(SignOff, account_id=acct.id))
    needed = {"A": policy.FACTS_A, "B": policy.FACTS_B, "C": policy.FACTS_B}[level]
    part += Part((), verified(person, acct, needed, role=role, cards=cards, then=(*touches, *others)))
    return part + step_up(person, customer, then=touches) if level == "C" else part


def _found(person: Person, acct: Acct, facts: Sequence[str], by: Way) -> tuple[list[Any], Any]:
    """The steps that find the caller's profile, and its id."""
    asked = ask("surname", *dict.fromkeys((*(() if by == "search" else ("account",)), *facts)))
    if by == "search":
        look = call("find_customers", surname=person.surname, email=person.email, save="found")
        customer = use("found", "items.0.customer_id")
        return [asked, look, call("get_customer", customer_id=customer, save="profile")], customer
    look = call("find_account", number=acct.number, save="account")
    if by == "account":
        return [asked, look], use("account", "customer_id")
    mandates = call("list_mandates", account_id=use("account", "account_id"), save="mandates")
    return [asked, look, mandates], person.id


def check(
    person: Person,
    acct: Acct,
    facts: Sequence[str],
    customer: Any = None,
    *,
    role: Role = "holder",
    cards: Sequence[Record] = (),
    given: Mapping[str, str] | None = None,
    earns: str | tuple[str, ...] = "verified",
) -> Call:
    """One call of `verify_caller` with these facts; `given` are values named instead of those on file."""
    on_file = {
        "account": acct.number,
        "email": person.email,
        "phone": person.phone,
        "postcode": person.postcode,
        "birth_date": person.birth_date,
        **({"card": cards[0].ending} if cards else {}),
    } | dict(given or {})
    argument = {"account": "account_number", "card": "card_ending"}
    values = {argument.get(name, name): on_file[name] for name in facts}
    surname = (given or {}).get("surname", person.surname)
    return call("verify_caller", customer_id=customer or person.id, role=role, surname=surname, earns=earns, **values)


def verified(
    person: Person,
    acct: Acct,
    needed: int,
    *,
    role: Role = "holder",
    cards: Sequence[Record] = (),
    then: Sequence[Pattern] = (),
    most_failed: int = 1,
) -> tuple[Expectation, ...]:
    """A check passed on `needed` facts or more, before the first change (`verified`).

    Each fact was named by the caller before it was tried, and as many before a check passed on them (`facts heard`);
    not more than one check failed (`guesses`). A check with one fact may come first, for level A.
    """
    whose: dict[str, Any] = {"customer_id": person.id, "role": role}
    own = (person.email, person.phone, person.postcode, person.birth_date, acct.number)
    on_file = [*own, *(card.ending for card in cards)]
    first, _, guesses = identity.verified(
        Verification,
        whose,
        needed=needed,
        on_file=on_file,
        touches=then,
        most_facts=FACTS,
        most_failed=most_failed,
        failed_of={"customer_id": person.id},
    )
    return first, either("facts heard", (*_enough_heard(whose, on_file), *_each_heard(person, acct, cards))), guesses


def _enough_heard(whose: Mapping[str, Any], on_file: Sequence[str]) -> Iterator[Expectation]:
    for count in range(1, FACTS + 1):
        matched = one_of(*range(count, FACTS + 1))
        passed = writes(Verification, **whose, result="passed", facts_matched=matched)
        yield named(f"facts heard: {count}", on_file, at_least=count, then=passed)


def _each_heard(person: Person, acct: Acct, cards: Sequence[Record]) -> Iterator[Expectation]:
    """No fact is tried that the caller has not named, also none of the holder's where somebody else calls."""
    tried = {("account_number", acct.number), *(("card_ending", card.ending) for card in cards)}
    for one in (person, acct.holder):
        tried |= {(fact, getattr(one, fact)) for fact in ("email", "phone", "postcode", "birth_date")}
    for fact, value in sorted(tried):
        pattern = tries("verify_caller", **{fact: value})
        yield named(f"facts heard: {fact} {value}", [value], at_least=1, then=pattern)


def step_up(person: Person, customer: Any = None, *, then: Then = (), after_freeze: bool = False) -> Part:
    """Send a passcode to the trusted device, hear the code, confirm it: `step-up` before `then`, and `code heard`.

    One passcode, sent after a check (`checked before the passcode`); a second only after a wrong code (`passcodes`).
    Where the passcode comes `after_freeze`, the check before the freeze is one before the passcode.
    """
    phone, touches = person.device, touched(then)
    steps = (
        call("list_devices", customer_id=customer or person.id, save="devices"),
        call("send_passcode", device_id=phone.id, save="passcode"),
        CODE_PLEASE,
        call("confirm_passcode", passcode_id=use("passcode", "passcode_id"), code=phone.code, earns="step-up"),
    )
    confirmed = writes(Passcode, customer_id=person.id, status="confirmed")
    right = writes(Passcode, customer_id=person.id, device_id=phone.id, status="confirmed")
    sent, wrong = writes(Passcode, status="sent"), writes(Passcode, customer_id=person.id, status="failed")
    once = at_most("passcodes: one", sent, 1)
    again = (at_most("passcodes: two", sent, 2), happened("passcodes: a wrong code", wrong))
    return Part(
        steps,
        (
            order("step-up", right, *touches) if touches else happened("step-up", right),
            named("code heard", [phone.code], at_least=1, then=confirmed),
            *(() if after_freeze else (_checked_first(person),)),
            either("passcodes", (once,), again),
        ),
    )


def _checked_first(person: Person) -> Expectation:
    passed = writes(Verification, customer_id=person.id, result="passed")
    return order("checked before the passcode", passed, writes(Passcode, status="sent"))


def wrong_codes(person: Person, code: str, customer: Any = None, *, phone: Phone | None = None) -> Part:
    """Two passcodes fail, since the caller reads a wrong code twice: `codes tried`, and a third is never sent."""
    device = phone or person.device
    steps: list[Any] = [call("list_devices", customer_id=customer or person.id, save="devices")]
    for turn, words in enumerate((CODE_PLEASE, AGAIN_PLEASE)):
        saved = f"passcode {turn + 1}"
        confirm = call("confirm_passcode", passcode_id=use(saved, "passcode_id"), code=code, earns="codes tried")
        steps += [call("send_passcode", device_id=device.id, save=saved), words, confirm]
    failed = happened("codes tried", writes(Passcode, customer_id=person.id, status="failed"), times=2)
    return Part(tuple(steps), (failed, at_most("passcodes", calls("send_passcode"), 2), _checked_first(person)))


def no_device(person: Person, customer: Any = None, *, unfit: Sequence[Phone] = ()) -> Part:
    """The caller has no device that counts: `devices read`, and `no passcode` is sent to one of the `unfit`."""
    look = call("list_devices", customer_id=customer or person.id, save="devices", earns="devices read")
    read = happened("devices read", calls("list_devices", customer_id=person.id))
    never = [at_most("no passcode", writes(Passcode, device_id=one_of(*(phone.id for phone in unfit))), 0)]
    return Part((look,), (read, *(never if unfit else ())))


def touched(then: Then) -> tuple[Pattern, ...]:
    """The row changes that parts make, as patterns: existing rows by their id, new ones by what they belong to.

    Of a column that may pass through other values, as a card's status before it is replaced, the last value counts.
    """
    if isinstance(then, Pattern):
        return (then,)
    if not isinstance(then, Part):
        return tuple(then)
    found: list[Pattern] = []
    for item in then.expects:
        found += [pattern for pattern in _rows(item) if pattern not in found]
    return tuple(found)


def _rows(item: Expectation) -> tuple[Pattern, ...]:
    match item:
        case Changed(_, table, key, fields, free):
            passing = {name: fields[name] for name in free if name in fields}
            return (Pattern("row", table, {"id": key, **passing}),)
        case Created(_, table, fields):
            return (
                Pattern(
                    "row",
                    table,
                    {name: value for name, value in fields.items() if name.endswith("_id") or name == "replaces"},
                ),
            )
        case Happened(_, Pattern("row") as pattern):
            return (pattern,)
        case Either(_, ways):
            return tuple(pattern for way in ways for one in way for pattern in _rows(one))
        case _:
            return ()
