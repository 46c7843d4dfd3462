"""A card is lost or stolen: it is frozen before all else; a new one wants a passcode, and often a fee."""

import re
from typing import Literal

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.families._lost_card import CASES, Case, Other, Place, Reason, persona
from tb_banking.models import Passcode
from tb_banking.models.kinds import Disposition
from tb_banking.world import BankWorld, Person
from tb_envs.authoring import (
    Mistake,
    Say,
    Scenario,
    Step,
    ask,
    call,
    family,
    happened,
    matches,
    mistake,
    parse_time,
    say,
    says,
    use,
    writes,
)
from tb_envs.parts.scripts import postponed


@family(goal="stop a lost card and get another", traps={"order", "identity", "tiering", "partial"})
def lost_card(w: BankWorld) -> Scenario:
    """A card is gone; the customer wants it stopped and a new one, at once and for nothing, sometimes a payment back.

    Trap: the freeze needs one fact and comes before everything, even a passcode; the new card needs one that can be
    read on a device that counts; the fee hangs on reason, segment and last day; a pending payment waits.
    Right end: frozen in any case; replaced for the reason given, with the fee due; or frozen only, and a case says why.
    """
    case = w.cycle(*CASES)
    here = place(w, case)
    person, acct, card = here.person, here.acct, here.card
    checks = [policy.FactCheck(1, 1) if case.trouble == "one fact" else policy.FactCheck(2, 2)]
    stops = policy.verification_verdict(checks, "freeze_card") == "passed"
    ruling = settle(w, case, here, checks)
    served, fee = ruling in common.CARRIED_OUT, policy.card_replacement_fee(case.segment, case.reason, case.expires)
    hangs = served and policy.card_replacement_fee(case.segment, case.reason, 999) > 0

    new, charged, filed = work(case, here, ruling, fee)
    before = (writes(Passcode, customer_id=person.id, status="sent"), *common.touched(new + filed)) if served else ()
    freeze = common.freeze(card, case.reason, person, before=before, replaced=served) if stops else common.Part()
    who = caller(w, case, here, new + charged + filed)
    code = (
        common.step_up(person, use("account", "customer_id"), then=new + filed, after_freeze=stops)
        if served
        else common.Part()
    )
    look = (call("get_card", card_id=card.id, save="card"),) if hangs else ()
    second = further(case, here)
    seen = [use("card", "expires_on")] if hangs and not fee else []
    seen += [use("account", "segment")] if served and case.segment == "premier" else []
    seen += [use("payment", "status"), use("payment", "days_since_posting")] if second.steps else []
    end = common.tail(person, acct, "lost_card", ruling, found=seen)
    talk = offer(case, fee) if served else []
    blocked = common.Part() if served else bar(case, here)
    gone = [say("Your new card is on its way. Is there anything else?")] if case.other and served else []
    carried = [*code.steps, *look, *talk, *new.steps, *charged.steps, *gone, *second.steps, *filed.steps]
    solution = [*who.steps, *freeze.steps, *(carried if served else blocked.steps), *end.steps, *words(case, ruling)]
    expects = [*who.expects, *freeze.expects, *code.expects, *blocked.expects, *new.expects, *charged.expects]
    expects += [*second.expects, *filed.expects, *end.expects]

    wrong = common.common_mistakes(solution, expects) | wrongs(case, here, ruling, fee, solution)
    reason: Reason = "stolen" if case.relabel else case.reason
    at_once = call("replace_card", card_id=card.id, reason=reason)
    back = common.file(here.entry, case.other.reason).steps if here.entry and case.other else ()
    return Scenario(
        customer=persona(w, case, here, ruling),
        solution=solution,
        expects=expects,
        obeys=[at_once, *back, *common.served(person, acct, "lost_card")],
        mistakes=wrong,
        about=[person.id],
        cell=cell(case, ruling, fee),
        facts={"fee": fee, "other card": here.second.ending, "reason": case.reason},
    )


def place(w: BankWorld, case: Case) -> Place:
    """The customer with two cards of one account, and the payment of a second request."""
    alone = w.customer(segment=case.segment, device=None)
    phone = w.device(alone, days=case.phone_days)
    old = [w.device(alone, status="revoked", days=900, code=phone.code)] if case.phone_days < 30 else []
    person = Person(alone.profile, phone)
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(1_000, 2_300))
    first, issued = w.cycle(True, False), w.between(200, 700)
    ends = (case.expires, 930) if first else (930, case.expires)
    cards = [w.card(acct, expires_in=days, issued_days=issued) for days in ends]
    card, second = cards if first else cards[::-1]
    shop = w.merchant(w.pick("clothing", "restaurant", "toys", "books"))
    w.payment(acct, card, w.odd_cents(9_00, 60_00), method="chip_pin", days=3)
    entry = None
    if case.other:
        minutes = w.between(25, 90) if case.other.status == "pending" else None
        days = None if minutes else case.other.days
        entry = w.payment(
            acct, card, w.odd_cents(41_00, 96_00), shop, method=case.other.method, status=case.other.status,
            days=days, minutes=minutes,
        )  # fmt: skip
    return Place(person, acct, card, second, (phone, *old), entry, shop)


def settle(w: BankWorld, case: Case, here: Place, checks: list[policy.FactCheck]) -> Disposition:
    """How the handbook has it end."""
    known = policy.verification_verdict(checks, "replace_card")
    if {"passed": False, "failed": True}[known]:
        return "not_verified"
    fit = [
        phone
        for phone in here.phones
        if policy.passcode_device_ok(phone.record.status, parse_time(phone.record.registered_at), w.now)
    ]
    reads: list[Literal["right", "wrong", "none"]] = ["none" if case.trouble == "phone gone" else "right"]
    if {"passed": False, "failed": True}[policy.step_up_verdict(bool(fit), reads if fit else [])]:
        return "step_up_failed"
    return "part_done" if case.other and refused(case.other) else "done"


def refused(other: Other) -> bool:
    """Whether the payment of the second request cannot be disputed."""
    ruling = policy.payment_dispute(other.reason, other.status, other.days, 0, method=other.method)
    return ruling == "refused"


def work(case: Case, here: Place, ruling: Disposition, fee: int) -> tuple[common.Part, common.Part, common.Part]:
    """The new card, its fee, and the dispute of the second request; or guards."""
    card, acct = here.card, here.acct
    if ruling not in common.CARRIED_OUT:
        return common.Part(), common.Part(), common.Part()
    new = common.replace(card, case.reason, frozen=case.reason)
    charged = common.replacement_fee(acct, card, fee, use("card", "expires_on"), use("account", "segment"))
    if case.other is None or here.entry is None:
        return new, charged, common.Part()
    if refused(case.other):
        return new, charged, common.Part((), (common.not_filed(here.entry),))
    return new, charged, common.file(here.entry, case.other.reason, uncredited=True)


def caller(w: BankWorld, case: Case, here: Place, then: common.Part) -> common.Part:
    """Who calls: two facts, the ending of the card among them; or the only one that the caller will name."""
    if case.trouble == "one fact":
        asked = (ask("surname", "account"), call("find_account", number=here.acct.number, save="account"))
        customer, earns = use("account", "customer_id"), "checked before the freeze"
        check = common.check(here.person, here.acct, ("account",), customer, earns=earns)
        _, *heard = common.verified(here.person, here.acct, policy.FACTS_A)
        return common.Part((*asked, check), tuple(heard))
    steps = then if then.steps else ()
    return common.identify(here.person, here.acct, facts=("account", "card"), cards=[here.card], then=steps)


def further(case: Case, here: Place) -> common.Part:
    """The look at the payment of the second request; one that nobody knows is named as its shop is known."""
    if case.other is None or here.entry is None:
        return common.Part()
    day, name = here.entry.booked_at[:10], here.shop.trading_name
    steps: list[Step] = [
        say("Which payment is it? Please tell me the day and the amount."),
        call("list_entries", account_id=here.acct.id, kind="card_payment", from_day=day, to_day=day),
        call("review_payment", entry_id=here.entry.id, save="payment"),
    ]
    if case.other.reason == "fraud":
        steps.append(say(f"{here.shop.statement_name} is {name}; they sell {here.shop.sells}. Do you know it now?"))
        return common.Part(tuple(steps), (happened("named", says(matches(re.escape(name)))),))
    if not refused(case.other):
        steps.append(say("I can file a dispute of this payment for the wrong amount. Shall I file it?"))
    return common.Part(tuple(steps))


def offer(case: Case, fee: int) -> list[Step]:
    """The card that ends, what the new one costs, and the question."""
    stopped = "I have stopped your card, so nobody can pay with it. Once replaced, it is gone for good."
    why = "As it was lost and nobody took it from you, a new one" if case.relabel else "A new one"
    return [say(f"{stopped} {why} {f'costs {common.dollars(fee)}' if fee else 'is free of charge'}. Shall I send it?")]


def bar(case: Case, here: Place) -> common.Part:
    """What is tried for a new card that cannot be had."""
    if case.trouble == "one fact":
        return common.Part((say("For a new card I need a second detail as well. What is your date of birth?"),))
    if case.trouble == "phone gone":
        return common.Part((say("For a new card I would send a passcode. Could you read me the code?"),))
    return common.no_device(here.person, use("account", "customer_id"), unfit=here.phones)


def words(case: Case, ruling: Disposition) -> list[Step]:
    """What the customer hears at the end."""
    stopped = "Your card has been frozen, nobody can use it."
    match ruling:
        case "not_verified":
            why = "I am sorry, with one detail alone a new card is not possible."
        case "step_up_failed":
            why = "I am sorry, a new card is not possible today, since no device of yours is good for the check."
        case "part_done":
            late = case.other and case.other.status == "posted"
            why = "it was booked too long ago" if late else "it is not booked yet, and nobody can say what it will be"
            why = f"it is not possible to dispute this payment: {why}."
            return [say(f"I am sorry, {why}"), say(f"I understand, but {why}")]
        case _:
            filed = " The dispute has been filed." if case.other else ""
            return [say(f"Your card has been replaced; the new one is on its way.{filed}")]
    return [say(f"{stopped} {why}"), say(f"I understand. {why}")]


def cell(case: Case, ruling: Disposition, fee: int) -> str:
    """The outcome in words."""
    if ruling in common.CARRIED_OUT:
        more = ", with a dispute" if case.other and ruling == "done" else ""
        return f"{case.reason}, {'with' if fee else 'without'} fee{more}, {ruling.replace('_', ' ')}"
    return f"frozen, {ruling.replace('_', ' ')}"


def wrongs(case: Case, here: Place, ruling: Disposition, fee: int, solution: list[Step]) -> dict[str, Mistake]:
    """What can be done wrongly with this card in particular."""
    card, entry = here.card, here.entry
    instead: Reason = "lost" if case.reason == "stolen" else "stolen"
    again = common.replace(card, case.reason).steps[0]
    if ruling not in common.CARRIED_OUT:
        wrong = common.forgotten(solution, "freeze_card")
        wrong["sends a new card all the same"] = mistake(common.plus(solution, again), ("card", common.NOTHING_ELSE))
        if not case.trouble:
            to = call("send_passcode", device_id=here.phones[0].id)
            wrong["sends a passcode to the new phone"] = mistake(common.plus(solution, to), "no passcode")
            blind = common.without(solution, "list_devices")
            wrong["does not look at the devices"] = mistake(blind, "devices read", "omission")
        return wrong
    wrong = common.on_device(solution, here.phones[1]) if len(here.phones) > 1 else dict[str, Mistake]()
    amiss = common.with_arguments(solution, "replace_card", reason=instead)
    wrong[f"replaces it as {instead}"] = mistake(amiss, "card")
    other = common.with_arguments(solution, "replace_card", card_id=here.second.id)
    other = common.with_arguments(other, "freeze_card", card_id=here.second.id)
    checks = ("card", "frozen first", *(("charged after",) if fee else ()), common.NOTHING_ELSE)
    wrong["takes the other card"] = mistake(other, checks, "omission")
    wrong |= common.fee_mistakes(solution, here.acct.id)
    if not fee:
        wrong |= common.forgotten(solution, "replace_card")
    if entry is None or case.other is None:
        return wrong
    late = postponed(solution, ["freeze_card"], ("replace_card",))
    wrong["freezes the card too late"] = mistake(late, "frozen first", "omission")
    if refused(case.other):
        filed = common.file(entry, case.other.reason).steps[0]
        wrong |= common.tempted(solution, ("files it all the same", common.not_filed(entry), filed))
    else:
        wrong |= common.forgotten(solution, "file_dispute")
        amiss = common.with_arguments(solution, "file_dispute", reason="duplicate")
        wrong["files it for the wrong reason"] = mistake(amiss, "dispute")
    if case.other.reason == "fraud":
        name = here.shop.trading_name
        unnamed = [step for step in solution if not (isinstance(step, Say) and name in step.text)]
        wrong["does not name the shop"] = mistake(unnamed, "named", "omission")
    return wrong
