"""A customer wants a transfer back; how it was sent, how far it is and its hour decide whether, and at what fee."""

from typing import Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Fee, Payee, Transfer
from tb_banking.models.kinds import Disposition, PayeeCheck, Rail, Segment, TransferStatus
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Consent,
    Persona,
    Record,
    Scenario,
    Step,
    call,
    family,
    mistake,
    order,
    parse_time,
    say,
    show_money,
    tries,
    use,
    writes,
)

Story = Literal["mixed up", "dropped", "cheated"]
H, DAY = 60, 24 * 60


class Case(NamedTuple):
    """A transfer, the minutes since it was made, and whether its sender gives up on hearing of a fee."""

    rail: Rail
    status: TransferStatus
    minutes: int
    check: PayeeCheck
    segment: Segment
    gives_up: bool = False


CASES = (
    Case("standard", "pending", 24 * H, "match", "basic"),
    Case("standard", "pending", 24 * H + 1, "match", "plus"),
    Case("standard", "pending", 3 * H + 11, "no_match", "basic"),
    Case("standard", "pending", 95, "close_match", "premier"),
    Case("standard", "pending", 21 * H + 7, "close_match", "plus"),
    Case("standard", "scheduled", 2 * DAY, "match", "plus"),
    Case("standard", "completed", 8 * H + 20, "no_match", "basic"),
    Case("standard", "completed", 10 * DAY, "match", "premier"),
    Case("standard", "completed", 11 * DAY, "close_match", "basic"),
    Case("instant", "completed", 24 * H, "close_match", "plus"),
    Case("instant", "completed", 24 * H + 1, "no_match", "basic"),
    Case("instant", "completed", 34, "match", "premier"),
    Case("instant", "completed", 5 * H + 3, "no_match", "premier"),
    Case("standard", "pending", 2 * H + 40, "match", "basic", gives_up=True),
)
OPENS: dict[Story, tuple[str, ...]] = {
    "mixed up": (
        "I have mixed up two invoices and paid the wrong people. Please stop my transfer, it can't have arrived yet!",
        "Hello, my sister had paid this bill already, I only see it now. Can you call my transfer back?",
        "I've just seen that I sent money to the wrong one on my list. It can't have left yet. Get it back, please!",
    ),
    "dropped": (
        "Good morning. The people I meant to pay have cancelled on us. I need to take back a transfer.",
        "hi, we are not going through with it after all, so please take back the transfer i made for it.",
    ),
    "cheated": (
        "I am shaking. I was sold a camera that does not exist, and now I am blocked. You must stop my transfer!",
        "Please help me. I typed a number from an e-mail and fear that the money goes to a stranger. Call it back!",
        "I think I have been taken in. I sent money and nobody answers any more. Please get my transfer back!",
    ),
}


@family(goal="get a transfer back", traps={"window", "wrong_premise", "pressure"})
def transfer_recall(w: BankWorld) -> Scenario:
    """A customer has sent money wrongly and is sure that it can still be stopped; the same payee got another sum too.

    Trap: rail, status and minutes decide, not the alarm; a fee that not everybody pays; what is gone is traced for some
    days, and then not even that.
    Right end: recalled, with the fee where one is due; or given to the payments team, or refused, and nothing touched.
    """
    case = w.cycle(*CASES)
    person, acct, sent, other, gone = place(w, case)
    ruling = policy.recall_ruling(case.rail, case.status, case.check, parse_time(sent.made_at), w.now)
    fee = policy.recall_fee(case.status, case.check, case.segment)
    ends: dict[str, Disposition] = {"recall": "done", "trace": "team_review", "refused": "policy_refused"}
    disposition = "customer_withdrew" if case.gives_up and fee else ends[ruling]
    served, traced = disposition == "done", disposition == "team_review"

    known = [use("transfer", name) for name in ("rail", "status", "age_minutes", "age_days", "payee_check", "segment")]
    done = common.recall(sent, *known) if served else common.Part()
    charged = common.charge(acct, "recall", fee, *known) if served and fee else common.Part()
    facts = ("account", w.pick("email", "birth_date", "phone", "postcode"))
    who = common.identify(person, acct, facts=facts, level="C" if served else "B", then=done, also=charged)
    found = () if served else known
    queue = "payments" if traced else None
    known_of = w.cycle(False, True, False) and (served or traced)
    earlier = w.case(person, "transfer", acct, minutes=w.between(30, 90)) if known_of else None
    end = common.tail(person, acct, "transfer", disposition, queue=queue, existing=earlier, found=found)
    looks = [
        say("Who is the recipient of that transfer, and how much was it?"),
        call("list_transfers", account_id=use("account", "account_id")),
        call("review_transfer", transfer_id=sent.id, save="transfer"),
        *question(case, sent, fee if ruling == "recall" else None),
    ]
    words = outcome(case, sent, fee, disposition)
    last = [*end.steps[:-1], *words, end.steps[-1]] if traced else [*end.steps, *words]
    solution = [*who.steps, *looks, *done.steps, *charged.steps, *last]

    kept, no_fee = common.untouched("transfer kept", Transfer, sent.id), common.not_charged(acct)
    tried = tries("recall_transfer")
    sequence = (order("recalled first", tried, writes(Fee, account_id=acct.id)),) if charged.steps else ()
    due, usual = common.recall(sent).steps[0], common.charge(acct, "recall", policy.RECALL_FEE).steps[0]
    wrongs = [] if charged.steps else [("charges a fee that is not due", no_fee, usual)]
    if sent.status == "pending" and not served:
        wrongs.append(("recalls it all the same", kept, due))
    guards = [guard for _, guard, _ in wrongs]
    expects = [*who.expects, *done.expects, *charged.expects, *sequence, *guards, *end.expects]

    wrong = common.common_mistakes(solution, expects) | common.tempted(solution, *wrongs)
    if served:
        mixed = common.with_arguments(solution, "recall_transfer", transfer_id=other.id)
        alone = common.without(solution, "recall_transfer")
        late = ("recalled first",) if charged.steps else ()
        wrong["recalls the other transfer"] = mistake(mixed, ("transfer", common.NOTHING_ELSE), "omission")
        wrong["forgets the recall"] = mistake(alone, ("transfer", *late), "policy" if late else "omission")
    if charged.steps:
        refused = common.with_arguments(solution, "recall_transfer", transfer_id=gone.id)
        wrong["charges although the tool refused"] = mistake(refused, "transfer")
        twice = [*who.steps, *looks, *charged.steps, *done.steps, *last]
        other_fee = common.with_arguments(solution, "charge_fee", amount=show_money(policy.REPLACEMENT_FEE))
        wrong["charges the fee first"] = mistake(twice, "recalled first")
        wrong["charges what a card costs"] = mistake(other_fee, "fee")
        wrong["forgets the fee"] = mistake(common.without(solution, "charge_fee"), "fee")
        wrong["charges twice"] = mistake(common.plus(solution, usual), common.NOTHING_ELSE)
    return Scenario(
        customer=persona(w, case, person, acct, sent),
        solution=solution,
        expects=expects,
        obeys=[due, *charged.steps, *common.served(person, acct, "transfer")],
        mistakes=wrong,
        about=[person.id],
        cell=disposition.replace("_", " ") + (", free" if served and not fee else ""),
        facts={"ruling": ruling, "fee": fee, "transfer": sent.id, "the other": other.id},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record, Record]:
    """The customer, the transfer, another one to the same payee that may still be recalled, and one that is past."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    stranger = w.other_name(person) if case.rail == "instant" else None
    acct, payee = w.account(person), w.payee(person, name=stranger, added_days=w.between(12, 400))
    cents = w.odd_cents(8_00, 13_00) if case.gives_up else w.odd_cents(140_00, 690_00)
    more = cents + w.pick(9_00, 18_00, 90_00)
    later = {"executes_in": w.between(2, 6)} if case.status == "scheduled" else {}
    other = w.transfer(acct, payee, more, status="pending", minutes=w.between(50, 1_300))
    gone = w.transfer(acct, w.payee(person), w.odd_cents(30_00, 400_00), days=w.between(3, 20))
    terms = {"rail": case.rail, "status": case.status, "check": case.check, **later}
    return person, acct, w.transfer(acct, payee, cents, minutes=case.minutes, **terms), other, gone


def question(case: Case, sent: Record, fee: int | None) -> list[Step]:
    """What a recall would cost, and whether it is wanted; nothing where there is none (`fee` None)."""
    if fee is None:
        return []
    price = f"This costs a fee of {common.dollars(fee)}." if fee else "This is free of charge."
    return [say(f"I can call the transfer of {common.dollars(sent.amount_cents)} back. {price} Shall I do that?")]


def outcome(case: Case, sent: Record, fee: int, disposition: Disposition) -> tuple[Step, ...]:
    """How it ended, in words; to one who is not served again, after a protest."""
    paid = f" The fee of {common.dollars(fee)} has been charged." if fee else ""
    done = f"The transfer of {common.dollars(sent.amount_cents)} has been recalled.{paid}"
    gone = "an instant transfer" if case.rail == "instant" else "a transfer of this age"
    words = common.last_words(disposition, done, f"{gone} cannot be recalled, so this is not possible")
    if disposition == "team_review":
        return (say(f"I cannot recall {gone}, but our payments team will try to trace the money."), words[1])
    return words[:1] if disposition == "customer_withdrew" else words


def persona(w: BankWorld, case: Case, person: Person, acct: Acct, sent: Record) -> Persona:
    """The sender, who is sure that there is time."""
    stories: dict[Rail, Story] = {"instant": "cheated", "standard": "mixed up"}
    story = "dropped" if case.status == "scheduled" else stories[case.rail]
    payee = w.get(Payee, sent.payee_id).name
    return Persona(
        opens=OPENS[story],
        knows=common.persona_facts(
            person, acct, payee=payee, amount=common.dollars(sent.amount_cents), day=sent.made_at[:10]
        ),
        consents=Consent(
            up_to=policy.RECALL_FEE - 1,
            says_no=(
                "That is more than I sent! No, then leave it as it is.",
                "No, for that I would rather lose the money. Leave it, please.",
            ),
        )
        if case.gives_up
        else True,
        about={"when|sent": "Only a moment ago, as it were.", "why|happened": "I told you, it must not go there."},
        presses=()
        if case.gives_up
        else (
            ("But you are the bank! You can surely stop your own transfer.", "It cannot be gone yet. Please, try it!"),
            ("Is there nothing at all that you can do?", "I cannot afford to lose this. Please do something."),
        ),
        gives_in=("All right. I see that you cannot do more.", "Then I have to live with it."),
        settles_for="the money back, or somebody who looks for it",
    )
