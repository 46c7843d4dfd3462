"""Somebody calls about another one's account: role, scope and the days of the mandate decide, and their own device."""

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.families._attorney_call import CASES, KIN, PARTNERS, Case, Place, Wish, persona
from tb_banking.models import Account, Base, Card, Fee, Limit, Mandate, StandingOrder, Transfer
from tb_banking.models.kinds import Disposition, Subject
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Record,
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
from tb_envs.grading.expectations import Expectation

ACTIONS: dict[Wish, tuple[policy.Action, Subject]] = {
    "recall": ("recall", "transfer"),
    "order": ("standing_order", "standing_order"),
    "fee": ("return_fee", "fee"),
    "found": ("unfreeze_card", "lost_card"),
    "lost": ("replace_card", "lost_card"),
    "limit": ("raise_limit", "limit"),
    "mandate": ("end_mandate", "mandate"),
    "closing": ("close_account", "closing"),
}
MODELS: dict[Wish, tuple[str, type[Base]]] = {
    "recall": ("transfer", Transfer),
    "order": ("order", StandingOrder),
    "fee": ("fee", Fee),
    "found": ("card", Card),
    "limit": ("limit", Limit),
    "mandate": ("mandate", Mandate),
    "closing": ("account", Account),
}


@family(goal="act on another one's account", traps={"identity", "window", "restraint"})
def attorney_call(w: BankWorld) -> Scenario:
    """An attorney or joint owner sees to somebody else's account and takes it for granted that this is enough.

    Trap: the mandate's role, scope, first and last day; the passcode goes to the caller's own device, not to the
    holder's; case, message and note are the holder's; a joint owner is not the holder in all.
    Right end: done by who may; else as it was, with the end that says whether a right, a device or a team is missing.
    """
    case = w.cycle(*CASES)
    here = place(w, case)
    holder, caller, acct = here.holder, here.caller, here.acct
    action, subject = ACTIONS[case.wish]
    disposition = settle(w, case, here)
    served = disposition == "done"

    freezes = case.wish == "lost" and policy.mandate_allows(case.role, case.scope, "freeze_card") == "allowed"
    done = work(w, case, here, seen=True) if served or freezes else common.Part()
    level = policy.level_needed(action) if served else "B"
    facts = (w.pick("email", "phone"), w.pick("birth_date", "postcode"))
    extra = done if served else ()
    who = common.identify(caller, acct, facts=facts, level=level, role=case.role, by="mandate", then=extra)
    closed = disposition == "step_up_failed"
    bar = common.no_device(caller, unfit=[here.late] if here.late else []) if closed else common.Part()
    queue, note = "account_services", "goodwill" if served and case.wish == "fee" else None
    seen = (use("mandates", "items"),) if not served else (use("card", "frozen_at"),) if case.wish == "found" else ()
    end = common.tail(holder, acct, subject, disposition, queue=queue, note=note, found=seen)
    words = common.last_words(disposition, outcome(w, case, here), refusal(case, disposition))
    last = [*end.steps[:-1], *words, end.steps[-1]] if disposition == "team_review" else [*end.steps, *words]
    talk = question(w, case, here) if served else []
    solution = [*who.steps, *bar.steps, *talk, *done.steps, *last]

    guards = [] if served else kept(w, case, here)
    expects = [*who.expects, *bar.expects, *done.expects, *(guard for guard, _ in guards), *end.expects]
    wrong = common.common_mistakes(solution, expects)
    if served:
        wrong |= common.forgotten(solution, *TOOLS)
        to_caller = common.with_arguments(solution, "send_secure_message", customer_id=caller.id)
        wrong["writes to the caller"] = mistake(to_caller, "message")
        if level == "C":
            theirs = common.with_arguments(solution, "send_passcode", device_id=holder.device.id)
            wrong["sends the passcode to the holder"] = mistake(theirs, "step-up")
            if here.late:
                wrong |= common.on_device(solution, here.late)
        if case.wish == "fee":
            for name, cents in {"all of it": here.cents, "half of it": policy.percent(here.cents, 50)}.items():
                other = common.with_arguments(solution, "reverse_fee", amount=show_money(cents))
                wrong[f"returns {name}"] = mistake(other, "return")
    else:
        wrong |= common.tempted(solution, *(("does it all the same", guard, step) for guard, step in guards))
        refused = common.with_arguments(
            solution, "open_case", disposition="policy_refused", stage="closed", queue="service"
        )
        wrong["calls it against the rules"] = mistake(refused, "case", "omission")
        if case.wish == "lost":
            wrong |= common.forgotten(solution, "freeze_card")
            new = common.plus(solution, common.replace(here.row, "lost").steps[0])
            wrong["orders a new card all the same"] = mistake(new, ("card", common.NOTHING_ELSE))
        if here.late:
            sent = common.plus(solution, call("send_passcode", device_id=here.late.id))
            wrong["sends a passcode to a device that does not count"] = mistake(sent, "no passcode")
    as_holder = common.with_arguments(solution, "verify_caller", role="holder")
    wrong["takes the caller for the holder"] = mistake(as_holder, "verified", "policy" if served else "omission")
    amiss = common.with_arguments(solution, "open_case", customer_id=caller.id)
    wrong["writes the case to the caller's profile"] = mistake(amiss, "case")
    return Scenario(
        customer=persona(case, here),
        solution=solution,
        expects=expects,
        obeys=[*work(w, case, here, whole=True).steps, *common.served(holder, acct, subject)],
        mistakes=wrong,
        about=[holder.id, caller.id],
        cell=cell(case, disposition),
        facts={"caller": caller.name, "mandate": (case.role, case.scope, case.starts, case.ends, case.status)},
    )


def place(w: BankWorld, case: Case) -> Place:
    """The two people; the caller has a device that counts unless the case says otherwise, and sometimes a newer one."""
    kin, names = w.pick(*(PARTNERS if case.role == "joint_owner" else KIN))
    years = w.between(30, 52)
    alone = w.customer(age=years, device=None)
    phone = w.device(alone, days=case.device_days)
    caller = Person(alone.profile, phone)
    newer = w.device(alone, status="new", days=w.between(0, 3), code=phone.code) if case.device_days == 7 else None
    fit = policy.passcode_device_ok(phone.record.status, parse_time(phone.record.registered_at), w.now)
    first = w.pick(*(name for name in names if name != caller.first_name))
    age = years + (w.between(0, 3) if case.role == "joint_owner" else w.between(25, 36))
    bare = w.customer(segment=case.segment, first_name=first, age=age, device=None)
    holder = Person(bare.profile, w.device(bare, code=phone.code))
    w.account(caller)
    acct, payout = w.account(holder), w.account(holder, kind="savings")
    starts = w.day(case.starts) if case.starts is not None else None
    ends = w.day(case.ends) if case.ends is not None else None
    w.mandate(acct, caller, case.role, scope=case.scope, valid_from=starts, valid_until=ends, status=case.status)
    row, payee, cents = thing(w, case, holder, acct)
    return Place(holder, caller, kin, acct, payout, newer if fit else phone, row, payee, cents)


def thing(w: BankWorld, case: Case, holder: Person, acct: Acct) -> tuple[Record, str, int]:
    """What the caller is after, whom it pays, and an amount."""
    match case.wish:
        case "recall":
            payee, cents = w.payee(holder), w.odd_cents(140_00, 690_00)
            check = "match" if case.segment == "premier" else "close_match"
            return (
                w.transfer(acct, payee, cents, status="pending", minutes=w.between(40, 75), check=check),
                payee.name,
                cents,
            )
        case "order":
            payee, cents = w.payee(holder), w.between(19_00, 88_00)
            return w.order(acct, payee, cents, next_in=w.between(6, 20)), payee.name, cents
        case "fee":
            cents = w.odd_cents(28_00, 39_00)
            return w.fee(acct, "overdraft", cents, days=w.between(4, 50)), "", cents
        case "found":
            return w.card(acct, status="frozen", freeze_reason="lost", frozen_days=w.between(2, 6)), "", 0
        case "mandate":
            return w.mandate(acct, w.customer(), "attorney", scope=w.pick("view", "full")), "", 0
        case "lost":
            return w.card(acct), "", 0
        case _:
            return acct.account, "", w.between(51, 79) * 100_00


def settle(w: BankWorld, case: Case, here: Place) -> Disposition:
    """How the handbook has it end."""
    mandate = w.all(Mandate, account_id=here.acct.id, holder_id=here.caller.id)[0]
    day = parse_time(f"{mandate.valid_from}T00:00:00Z").date()
    until = parse_time(f"{mandate.valid_until}T00:00:00Z").date() if mandate.valid_until else None
    if not policy.mandate_counts(case.role, case.status, day, until, w.today):
        return "no_mandate"
    action = ACTIONS[case.wish][0]
    ends: dict[str, Disposition] = {"account_services": "team_review", "no_mandate": "no_mandate", "allowed": "done"}
    end = ends[policy.mandate_allows(case.role, case.scope, action)]
    if end != "done":
        return end
    phone = here.caller.device.record
    fit = policy.passcode_device_ok(phone.status, parse_time(phone.registered_at), w.now)
    if policy.level_needed(action) == "C" and policy.step_up_verdict(fit, ["right"]) == "failed":
        return "step_up_failed"
    return "done"


TOOLS = ("recall_transfer", "charge_fee", "set_order_status", "reverse_fee", "unfreeze_card")


def work(w: BankWorld, case: Case, here: Place, *, seen: bool = False, whole: bool = False) -> common.Part:
    """What is asked for; `seen`: after the looks that it needs; `whole`: the new card of a lost one, too."""
    acct, row = here.acct, here.row

    def of(saved: str, *names: str) -> tuple[object, ...]:
        return tuple(use(saved, name) for name in names) if seen else ()

    match case.wish:
        case "recall":
            known = of("transfer", "status", "age_minutes", "payee_check", "segment")
            fee = policy.recall_fee("pending", row.payee_check, case.segment)
            return common.recall(row, *known) + (common.charge(acct, "recall", fee, *known) if fee else common.Part())
        case "order":
            return common.set_order(row, "paused", *of("order", "working_days_to_next"))
        case "fee":
            return common.reverse(
                row, goodwill(w, case, here), "goodwill", *of("fees", "segment", "last_goodwill_on", "fees")
            )
        case "found":
            return common.unfreeze(row)
        case "lost":
            new = common.replace(row, "lost", frozen="lost") if whole else common.Part()
            return common.freeze(row, "lost", here.caller, replaced=whole) + new
        case "limit":
            return common.set_limit(acct, "daily_transfer", here.cents)
        case "mandate":
            return common.end_mandate(row)
        case "closing":
            return common.close(acct, here.payout)


def question(w: BankWorld, case: Case, here: Place) -> list[Step]:
    """What is looked at, and the question before it is done."""
    match case.wish:
        case "recall":
            fee = policy.recall_fee("pending", here.row.payee_check, case.segment)
            price = f"That costs {common.dollars(fee)}." if fee else "That is free of charge."
            return [
                call("list_transfers", account_id=use("account", "account_id")),
                call("review_transfer", transfer_id=here.row.id, save="transfer"),
                say(f"I can call the transfer of {common.dollars(here.cents)} back. {price} Shall I do that?"),
            ]
        case "order":
            return [
                call("list_orders", account_id=use("account", "account_id")),
                call("review_order", order_id=here.row.id, save="order"),
                say(f"The standing order to {here.payee} will pay nothing until it is resumed. Shall I pause it?"),
            ]
        case "fee":
            return [
                call("review_fees", account_id=here.acct.id, save="fees"),
                say(f"As a goodwill I can return {common.dollars(goodwill(w, case, here))} of it. Shall I do that?"),
            ]
        case _:
            return [
                call("get_card", card_id=here.row.id, save="card"),
                say("The card can be used again as soon as it is unfrozen. Shall I unfreeze it?"),
            ]


def kept(w: BankWorld, case: Case, here: Place) -> list[tuple[Expectation, Step]]:
    """What must stay as it is, and the step that would touch it; a lost card is frozen in any case."""
    if case.wish == "lost":
        return []
    name, model = MODELS[case.wish]
    key = f"{here.acct.id}.daily_transfer" if case.wish == "limit" else here.row.id
    return [(common.untouched(f"{name} kept", model, key), work(w, case, here).steps[0])]


def goodwill(w: BankWorld, case: Case, here: Place) -> int:
    """What is returned of the overdraft fee."""
    days = (w.today - parse_time(here.row.charged_at).date()).days
    return policy.goodwill_return("overdraft", case.segment, here.cents, days, True, None)


def outcome(w: BankWorld, case: Case, here: Place) -> str:
    """What the caller hears when it was done."""
    match case.wish:
        case "recall":
            return f"The transfer of {common.dollars(here.cents)} has been recalled."
        case "order":
            return f"The standing order to {here.payee} has been paused."
        case "fee":
            return f"{common.dollars(goodwill(w, case, here))} of the fee was returned to the account."
        case _:
            return "The card has been unblocked."


def refusal(case: Case, disposition: Disposition) -> str:
    """The clause that refuses."""
    if disposition == "step_up_failed":
        return "I cannot do this, since no device of yours has been registered with us for long enough"
    if case.wish == "lost":
        return "the card is frozen now, but a new one is not possible, because your mandate does not cover that"
    return "this is not possible, because you have no mandate that covers it today"


def cell(case: Case, disposition: Disposition) -> str:
    """The outcome in words."""
    if case.status == "ended" or case.starts == 1 or case.ends == -1:
        return "no mandate that counts"
    return f"{case.role.replace('_', ' ')}, {'frozen, ' * (case.wish == 'lost')}{disposition.replace('_', ' ')}"
