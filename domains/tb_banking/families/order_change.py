"""A customer wants a standing order changed, paused or cancelled and has two to one payee; working days decide."""

from datetime import timedelta
from typing import Any, Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Payee, StandingOrder
from tb_banking.models.kinds import Disposition, OrderStatus
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
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

Verb = Literal["change", "pause", "cancel"]
STATUS: dict[Verb, OrderStatus] = {"pause": "paused", "cancel": "cancelled"}


class Wish(NamedTuple):
    """What shall become of an order: another amount in cents, or a status (then there is no amount)."""

    verb: Verb
    cents: int | None = None


class Case(NamedTuple):
    """The days to the next payment, the daily limit, what is wanted, and what after a second thought.

    `less`: the second wish comes only when the first was refused.
    """

    next_in: int
    limit: int
    first: Wish
    then: Wish | None = None
    less: bool = False


CASES = (
    Case(4, 1_500_00, Wish("change", 402_25)),
    Case(3, 3_500_00, Wish("change", 365_10)),
    Case(8, 900_00, Wish("change", 900_00)),
    Case(13, 1_500_00, Wish("change", 1_500_01)),
    Case(11, 2_000_00, Wish("change", 2_150_00), Wish("change", 2_000_00), less=True),
    Case(4, 1_500_00, Wish("pause")),
    Case(1, 1_500_00, Wish("pause")),
    Case(4, 3_500_00, Wish("cancel")),
    Case(2, 9_000_00, Wish("cancel")),
    Case(7, 1_500_00, Wish("change", 340_25), Wish("change", 355_40)),
    Case(5, 1_500_00, Wish("cancel"), Wish("pause")),
    Case(3, 600_00, Wish("change", 600_01)),
    Case(4, 3_500_00, Wish("pause"), Wish("cancel")),
    Case(6, 700_00, Wish("change", 760_00), Wish("change", 700_01), less=True),
)
OPENS: dict[Verb, tuple[str, ...]] = {
    "change": (
        "Hello, {payee} have sent me their new prices. I have to change my standing order to {new_amount}.",
        "Good day. The letter with the new rate has come. Could you set my standing order for {payee} to {new_amount}?",
        "hi, pls put the standing order to {payee} at {new_amount}, i don't want another reminder",
    ),
    "pause": (
        "I have lost half my hours at work and have to count every dollar. Please pause my standing order to {payee}.",
        "Hello, {payee} take a long break, and I won't pay for nothing. Can you pause the standing order to them?",
    ),
    "cancel": (
        "I have had it with {payee}. I want the standing order to them cancelled, today.",
        "Good morning. We have nothing to do with {payee} any more, so please cancel my standing order to them.",
    ),
}
SECOND: dict[tuple[Verb, Verb], tuple[str, ...]] = {
    ("change", "change"): (
        "Oh no, wait, I looked at last year's letter. Make it {new_amount}.",
        "Oh, and I have just reckoned again: {new_amount} is right, please.",
    ),
    ("cancel", "pause"): (
        "Oh, wait. I may need it again in spring, so only pause it, please.",
        "Oh, my wife says we should not give it up. Just pause it.",
    ),
    ("pause", "cancel"): (
        "Oh, what am I saying. I won't go back there: cancel it altogether, please.",
        "Wait, to be honest I am through with them. Please cancel it for good.",
    ),
}
INSISTS = (
    ("But I ask you in good time!", "You are the bank, surely a click is enough."),
    ("Can't you make an exception, only this once?", "And who pays for that? Me, of course. Please!"),
)
VERBS: tuple[Verb, ...] = ("change", "pause", "cancel")
PAYEES = ("Brass Lantern Music", "Little Acorn Nursery", "Pinecrest Tennis Club", "Haven Pet Care", "Marlow Schools")
LANDLORDS = ("Elm Court Lettings", "Hollis Property Rentals", "Northgate Utilities", "Greenfold Energy")
PAST: dict[Verb, str] = {"change": "changed", "pause": "paused", "cancel": "cancelled"}


@family(goal="change a standing order", traps={"lookalike", "change_of_mind", "window"})
def order_change(w: BankWorld) -> Scenario:
    """A customer names the payee of a standing order and does not think of the other one to the same payee.

    Trap: which of the two; working days to the next payment, with a weekend between; an amount above the daily limit;
    a second thought, after which the first one must leave no trace.
    Right end: the one order as it was wanted last, the other as it was; or both as they were, and a case that says why.
    """
    case = w.cycle(*CASES)
    person, acct, order, other = place(w, case)
    wish, payee = settle(case), w.get(Payee, order.payee_id).name
    ends: dict[str, Disposition] = {"allowed": "done", "refused": "policy_refused"}
    disposition = ends[rule(w, case, wish)]
    served = disposition == "done"

    known = (use("order", "working_days_to_next"), use("order", "daily_transfer_limit"))
    done = carry_out(order, wish, *known) if served else common.Part()
    facts = ("account", w.pick("phone", "email", "birth_date", "postcode"))
    who = common.identify(person, acct, facts=facts, level=policy.level_needed("standing_order"), then=done)
    earlier = w.case(person, "standing_order", acct, days=w.between(1, 4)) if served and w.cycle(0, 0, 1) else None
    end = common.tail(person, acct, "standing_order", disposition, existing=earlier, found=() if served else known)
    looks = [
        call("list_orders", account_id=use("account", "account_id")),
        say(f"There are two standing orders to {payee}. Which one of the two do you mean?"),
        call("review_order", order_id=order.id, save="order"),
        *talk(w, case, payee),
    ]
    words = common.last_words(disposition, f"Your standing order has been {result(wish)}.", why_not(w, case))
    solution = [*who.steps, *looks, *done.steps, *end.steps, *words]

    kept = common.untouched("order kept", StandingOrder, order.id)
    expects = [*who.expects, *(done.expects or (kept,)), *end.expects]
    asked = carry_out(order, case.first).steps[0]
    wrong = common.common_mistakes(solution, expects) | common.forgotten(solution, "change_order", "set_order_status")
    if not served:
        wrong |= common.tempted(solution, ("does it all the same", kept, asked))
        pause = carry_out(order, Wish("pause")).steps[0]
        wrong |= common.tempted(solution, ("pauses it at least", kept, pause))
    else:
        step, mixed = done.steps[0], carry_out(other, wish).steps[0]

        def instead(*steps: Step) -> list[Step]:
            return [each for one in solution for each in (steps if one is step else (one,))]

        wrong["takes the other order"] = mistake(instead(mixed), ("order", common.NOTHING_ELSE), "omission")
        wrong["takes both orders"] = mistake(instead(step, mixed), common.NOTHING_ELSE, "omission")
        others: list[Verb] = [verb for verb in VERBS if verb not in (wish.verb, case.first.verb)]
        for verb in others:
            wrong[f"has it {PAST[verb]}"] = mistake(
                instead(carry_out(order, Wish(verb, 99_00)).steps[0]), "order", "omission"
            )
        if case.then:
            wrong["does what was wanted first"] = mistake(instead(asked), "order", "omission")
        if case.then and case.first.verb != "cancel":
            wrong["does one after the other"] = mistake(instead(asked, step), "order")
        if wish.cents:
            moved = common.with_arguments(solution, "change_order", next_on=w.day(40))
            wrong["moves the next payment too"] = mistake(moved, "order", "omission")
    return Scenario(
        customer=persona(case, person, acct, order, payee),
        solution=solution,
        expects=expects,
        obeys=[asked, *common.served(person, acct, "standing_order")],
        mistakes=wrong,
        about=[person.id],
        cell=PAST[wish.verb] if served else "too near" if near(w, case) else "above the limit",
        facts={"order": order.id, "the other": other.id, "in the end": wish, "next in days": case.next_in},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record]:
    """The customer and two orders to one payee: where the next payment of one is near, that of the other is not."""
    person = w.customer(segment=w.pick("basic", "plus", "premier"))
    acct = w.account(person, limits={"daily_transfer": case.limit})
    payee = w.payee(person, name=w.pick(*(LANDLORDS if case.first.cents else PAYEES)), added_days=w.between(60, 800))
    now = (case.first.cents or w.between(90_00, 480_00)) * w.between(70, 92) // 100
    order = w.order(acct, payee, now, next_in=case.next_in)
    other = w.order(acct, payee, now - w.between(11_00, 30_00), next_in=w.pick(1, 3) if not near(w, case) else 12)
    w.order(acct, w.payee(person), w.between(20_00, 90_00))
    return person, acct, order, other


def working_days(w: BankWorld, case: Case) -> int:
    """From today to the next payment."""
    return policy.working_days_between(w.today, w.today + timedelta(case.next_in))


def near(w: BankWorld, case: Case) -> bool:
    """Whether the next payment goes out in any case."""
    return policy.order_ruling(working_days(w, case)) == "refused"


def rule(w: BankWorld, case: Case, wish: Wish) -> str:
    """What becomes of a wish."""
    return policy.order_ruling(working_days(w, case), wish.cents, case.limit if wish.cents else None)


def settle(case: Case) -> Wish:
    """The wish that is decided on in the end."""
    return case.then or case.first


def carry_out(order: Record, wish: Wish, *needs: Any) -> common.Part:
    """Change the order as wanted."""
    if wish.verb == "change":
        return common.change_order(order, wish.cents or 0, *needs)
    return common.set_order(order, STATUS[wish.verb], *needs)


def result(wish: Wish) -> str:
    """What the order has been, in words."""
    return PAST[wish.verb] + (f" to {common.dollars(wish.cents)}" if wish.verb == "change" and wish.cents else "")


def why_not(w: BankWorld, case: Case) -> str:
    """The clause that refuses."""
    if near(w, case):
        return f"the next payment on {w.day(case.next_in)} is too near, so the order cannot be changed for now"
    return f"this is above the daily transfer limit of {common.dollars(case.limit)}, so it is not possible"


def talk(w: BankWorld, case: Case, payee: str) -> list[Step]:
    """The question before a change; before it a refusal, where the first wish goes too far."""
    wish = settle(case)
    first = [say(f"I am sorry, {why_not(w, case)}.")] if case.less else []
    ask = say(f"From the next payment on, your standing order to {payee} will be {result(wish)}. Shall I do that?")
    return [*first, *([ask] if rule(w, case, wish) == "allowed" else [])]


def persona(case: Case, person: Person, acct: Acct, order: Record, payee: str) -> Persona:
    """The customer, who has a second thought in some cases."""
    facts: dict[str, str] = {"payee": payee, "old_amount": common.dollars(order.amount_cents)}
    if case.first.cents:
        facts["new_amount"] = common.dollars(case.first.cents)
    return Persona(
        opens=OPENS[case.first.verb],
        knows=common.persona_facts(person, acct, None, **facts),
        about={"which one|which of|which order|which standing|which should": ("The one over {old_amount}, please.",)},
        presses=() if case.less else INSISTS,
        then=second(case) if case.then else (),
        gives_in=("All right. Then I will come back to it.", "Well, then it has to stay as it is."),
        settles_for="the order as wanted last",
    )


def second(case: Case) -> Request:
    """The second thought: after a refusal, or of itself."""
    assert case.then is not None
    line = ("Oh. Then make it {new_amount}, please.", "Oh, is there such a limit? Then {new_amount}, please.")
    known = {"new_amount": common.dollars(case.then.cents)} if case.then.cents else {}
    if case.less:
        return Request(opens=line, after="settled", knows=known, replaces=True, presses=INSISTS[:1])
    return Request(opens=SECOND[case.first.verb, case.then.verb], after="halfway", knows=known, replaces=True)
