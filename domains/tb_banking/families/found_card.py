"""A card that was frozen is found again: within a week it pays again, unless an alert is open; else a new one comes."""

from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Alert, Card, Fee
from tb_banking.models.kinds import AlertLevel, AlertStatus, Disposition, FreezeReason, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Consent,
    Mistake,
    Persona,
    Record,
    Scenario,
    Step,
    call,
    family,
    mistake,
    order,
    say,
    use,
    writes,
)
from tb_envs.authoring.steps import Use
from tb_envs.grading.expectations import Expectation
from tb_envs.parts.scripts import is_call, postponed


class Alarm(NamedTuple):
    """An alert about a payment of the found card, or of the other one."""

    level: AlertLevel
    status: AlertStatus = "open"
    elsewhere: bool = False


class Case(NamedTuple):
    """How long ago and why the card was frozen (None: it pays again already), and in how many days it expires.

    `pays`: whether the customer takes a new card at its price.
    """

    segment: Segment
    days: int | None
    why: FreezeReason = "lost"
    expires: int = 500
    alarm: Alarm | None = None
    pays: bool = True


CASES = (
    Case("basic", 7),
    Case("plus", 8),
    Case("basic", 8, "precaution", pays=False),
    Case("premier", 8, "stolen"),
    Case("plus", 12, "lost", 30),
    Case("basic", 2, "precaution", alarm=Alarm("low")),
    Case("plus", 3, "lost", alarm=Alarm("high"), pays=False),
    Case("basic", 5, "lost", alarm=Alarm("high", "genuine")),
    Case("premier", 7, "stolen"),
    Case("basic", 1, "lost", alarm=Alarm("low", elsewhere=True)),
    Case("plus", None),
    Case("basic", 26, "lost", 31),
    Case("premier", 4, "lost", alarm=Alarm("high")),
    Case("plus", 6, "misused", 90, Alarm("low", "fraud", elsewhere=True)),
)


class Place(NamedTuple):
    """What the world holds: the found card, another one frozen with it, the alert, and the case of the freeze."""

    person: Person
    acct: Acct
    card: Record
    second: Record
    alert: Record | None
    existing: Record | None


@family(goal="use a found card again", traps={"window", "stale_state", "restraint"})
def found_card(w: BankWorld) -> Scenario:
    """A card that was frozen has turned up; the customer wants it on again and would not have a new one.

    Trap: seven days by the record, not by memory; an open alert for this very card, which nobody mentions, stands in
    the way and stays as it is; a second card is frozen, too; the case of the freeze may still be open.
    Right end: unfrozen; or replaced as lost with the fee due, if that is wanted; or nothing left to do.
    """
    case = w.cycle(*CASES)
    here = place(w, case)
    person, acct, card = here.person, here.acct, here.card
    ruling = settle(case)
    fee = policy.card_replacement_fee(case.segment, "lost", case.expires) if ruling == "replace" else 0
    disposition = end_of(case, ruling, fee)

    done, guards = work(here, ruling, disposition, fee)
    served = disposition in common.CARRIED_OUT
    who = common.identify(person, acct, facts=("account", "card"), cards=[card], then=done if served else ())
    code = common.step_up(person, use("account", "customer_id"), then=done) if served else common.Part()
    looks: list[Step] = []
    seen: list[Use] = []
    if case.days is not None:
        looks.append(call("get_card", card_id=card.id, save="card"))
        seen.append(use("card", "frozen_at"))
    if case.days is not None and case.days <= policy.UNFREEZE_DAYS:
        looks.append(call("list_alerts", account_id=acct.id, save="alerts"))
        seen.append(use("alerts", "total"))
    end = common.tail(person, acct, "lost_card", disposition, existing=here.existing, found=seen)
    talk = offer(ruling, fee)
    solution = [*who.steps, *looks, *talk, *code.steps, *done.steps, *end.steps, *words(disposition, ruling)]
    expects = [*who.expects, *code.expects, *done.expects, *guards, *end.expects]

    wrong = common.common_mistakes(solution, expects) | wrongs(here, ruling, fee, disposition, solution)
    return Scenario(
        customer=persona(w, case, here),
        solution=solution,
        expects=expects,
        obeys=[call("unfreeze_card", card_id=card.id), *common.served(person, acct, "lost_card")],
        mistakes=wrong,
        about=[person.id],
        cell=f"{ruling.replace('_', ' ')}, {'with fee, ' if fee else ''}{disposition.replace('_', ' ')}",
        facts={"ruling": ruling, "fee": fee, "alert": case.alarm},
    )


def settle(case: Case) -> str:
    """What is done with the card, if the customer wants it."""
    if case.days is None:
        return "on already"
    alarm = case.alarm
    ruling = policy.unfreeze_ruling(case.days, bool(alarm and alarm.status == "open" and not alarm.elsewhere))
    return {"unfreeze": "unfreeze", "replace": "replace"}[ruling]


def end_of(case: Case, ruling: str, fee: int) -> Disposition:
    """How it ends."""
    if ruling == "on already":
        return "already_settled"
    return "customer_withdrew" if fee and not case.pays else "done"


def place(w: BankWorld, case: Case) -> Place:
    """The customer with two cards, frozen on the same day, and what is on record since."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(900, 2_300))
    days, issued = case.days if case.days is not None else w.between(3, 6), w.between(200, 800)

    def card(expires: int, off: bool) -> Record:
        why = case.why if off else None
        status = "frozen" if off else "active"
        return w.card(acct, status=status, freeze_reason=why, frozen_days=days, expires_in=expires, issued_days=issued)

    ahead = w.cycle(True, False)
    before = card(640, True) if ahead else None
    mine = card(case.expires, case.days is not None)
    second = before or card(640, True)
    for one in (mine, second):
        w.payment(acct, one, w.odd_cents(11_00, 70_00), method="chip_pin", days=days + w.between(2, 9))
    alert = None
    if case.alarm:
        entry = w.payment(acct, second if case.alarm.elsewhere else mine, w.odd_cents(60_00, 320_00), days=days + 1)
        alert = w.alert(entry, case.alarm.level, status=case.alarm.status)
    summary = "Both cards frozen at the customer's wish; the customer goes on looking for them."
    existing = w.case(person, "lost_card", acct, days=days, summary=summary) if w.cycle(True, False, False) else None
    if existing is None:
        w.case(person, "lost_card", acct, stage="closed", disposition="done", days=days, summary=summary)
    return Place(person, acct, mine, second, alert, existing)


def work(here: Place, ruling: str, disposition: Disposition, fee: int) -> tuple[common.Part, list[Expectation]]:
    """What is carried out at level C, and what must not happen."""
    card, acct = here.card, here.acct
    guards: list[Expectation] = [] if fee and disposition == "done" else [common.not_charged(acct)]
    if here.alert and here.alert.status == "open":
        guards.append(common.untouched("alert kept", Alert, here.alert.id))
    if disposition != "done":
        return common.Part(), [*guards, common.untouched("card kept", Card, card.id)]
    if ruling == "unfreeze":
        return common.unfreeze(card), guards
    done = common.replace(card, "lost")
    if fee:
        done += common.charge(acct, "replacement", fee, use("card", "expires_on"), use("account", "segment"))
        after = order("charged after", writes(Card, id=card.id, status="replaced"), writes(Fee, account_id=acct.id))
        done += common.Part((), (after,))
    return done, guards


def offer(ruling: str, fee: int) -> list[Step]:
    """What can be had, what it costs, and the question."""
    if ruling == "on already":
        return []
    if ruling == "unfreeze":
        return [say("I can switch your card on again, so that it pays as before. Shall I do that?")]
    price = f"for {common.dollars(fee)}" if fee else "free of charge"
    new = f"I can replace it with a new one {price}, and the old one ends for good. Shall I do that?"
    return [say(f"This card has to stay off, I am sorry. {new}")]


def words(disposition: Disposition, ruling: str) -> tuple[Step, ...]:
    """What the customer hears at the end."""
    if ruling == "on already":
        text = "Good news, this has been done already: your card was unfrozen, and you can pay with it."
        return (say(text),)
    done = "unfrozen; you can pay with it again" if ruling == "unfreeze" else "replaced; the new one is on its way"
    return common.last_words(disposition, f"Your card has been {done}.")[:1]


def wrongs(here: Place, ruling: str, fee: int, disposition: Disposition, solution: list[Step]) -> dict[str, Mistake]:
    """What can be done wrongly with this card in particular."""
    card, acct, wrong = here.card, here.acct, dict[str, Mistake]()
    served = disposition in common.CARRIED_OUT
    on, new = call("unfreeze_card", card_id=card.id), common.replace(card, "lost").steps[0]
    charge = common.charge(acct, "replacement", policy.REPLACEMENT_FEE).steps[0]
    kept = common.untouched("card kept", Card, card.id)
    if here.alert and here.alert.status == "open":
        resolve = call("resolve_alert", alert_id=here.alert.id, finding="genuine")
        wrong["resolves the alert, too"] = mistake(common.plus(solution, resolve), "alert kept", "omission")
    if here.existing:
        last = {"stage": "closed", "disposition": disposition, "queue": "service", "summary": "A new case."}
        fresh = call("open_case", customer_id=here.person.id, account_id=acct.id, subject="lost_card", **last)
        again = [fresh if is_call(step, "update_case") else step for step in common.without(solution, "list_cases")]
        wrong["opens a second case"] = mistake(again, ("case", common.NOTHING_ELSE))
    if not (fee and served):
        wrong |= common.tempted(solution, ("charges for a card", common.not_charged(acct), charge))
    if not served:
        if ruling == "replace":
            wrong |= common.tempted(solution, ("switches it on all the same", kept, on))
            more = common.plus(solution, new, charge)
            wrong["sends a new card all the same"] = mistake(more, ("card kept", "no fee", common.NOTHING_ELSE))
        else:
            stop = call("freeze_card", card_id=card.id, reason="precaution")
            wrong["freezes it"] = mistake(common.plus(solution, stop), "card kept", "omission")
        return wrong
    if ruling == "unfreeze":
        wrong |= common.forgotten(solution, "unfreeze_card")
        swapped = [new if is_call(step, "unfreeze_card") else step for step in solution]
        wrong["replaces it"] = mistake(swapped, ("card", common.NOTHING_ELSE), "omission")
        other = common.with_arguments(solution, "unfreeze_card", card_id=here.second.id)
        wrong["switches the other card on"] = mistake(other, ("card", common.NOTHING_ELSE), "omission")
        both = common.plus(solution, call("unfreeze_card", card_id=here.second.id))
        wrong["switches both cards on"] = mistake(both, common.NOTHING_ELSE, "omission")
        return wrong
    other = common.with_arguments(solution, "replace_card", card_id=here.second.id)
    checks = ("card", *(("charged after",) if fee else ()), common.NOTHING_ELSE)
    wrong["replaces the other card"] = mistake(other, checks, "omission")
    stolen = common.with_arguments(solution, "replace_card", reason="stolen")
    wrong["replaces it as stolen"] = mistake(stolen, "card")
    instead = [on if is_call(step, "replace_card") else step for step in common.without(solution, "charge_fee")]
    checks = ("card", *(("fee",) if fee else ()))
    wrong["switches it on instead"] = mistake(instead, checks)
    if fee:
        wrong |= common.forgotten(solution, "charge_fee")
        half = common.with_arguments(solution, "charge_fee", amount="6.00")
        wrong["charges half"] = mistake(half, "fee")
        early = postponed(solution, ["replace_card"], common.RECORDS)
        wrong["charges before the card is replaced"] = mistake(early, "charged after")
    else:
        wrong |= common.forgotten(solution, "replace_card")
    return wrong


OPENS = (
    "Good news, I have found my card! It was in the lining of my coat all the time. Please switch it on again.",
    "Good afternoon. The bank card that I had you freeze has turned up behind the sofa. Kindly unfreeze it.",
    "found it!! card was in my gym bag. can u unblock it pls, im standing in the shop!",
    "My wife has found the card I was looking for, in the glove box of all places. I would like to use it again.",
)
BACK = (
    "The police have given me back my purse, with the card in it! I want to use it again, please.",
    "A kind soul has handed in my wallet, the card is still there. Would you switch it on again?",
)
MEMORY = (
    "It has been off for a few days only.",
    "I had it frozen less than a week ago, if I remember rightly.",
    "It cannot be a week yet that it is off.",
    "I know its number by heart, I should hate to have a new one.",
)
DEAR = (
    "Pay for a card when I have a good one in my hand? No, then leave it as it is.",
    "No. Not at that price. I shall use the other one of my husband's.",
)


def persona(w: BankWorld, case: Case, here: Place) -> Persona:
    """The happy finder, who remembers days as people do."""
    lines = BACK if case.why == "stolen" else OPENS
    memory = w.pick(*MEMORY) if case.days is None or case.days > 5 or case.alarm else ""
    no = Consent(up_to=5_00, says_no=DEAR) if not case.pays else Consent()
    return Persona(
        opens=tuple(f"{line} {memory}".strip() for line in lines),
        knows=common.persona_facts(here.person, here.acct, here.card),
        consents=no,
        gives_in=("Ah well. Have it your way.", "I see. Then that is that."),
        settles_for="the card on again, or what may be had instead",
    )
