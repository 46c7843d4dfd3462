"""Money came in that is not the customer's; its age, and the balance without what is held, decide who sends it back."""

from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Balance, Hold, Return
from tb_banking.models.kinds import Disposition, Segment
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Persona,
    Record,
    Scenario,
    Step,
    call,
    family,
    mistake,
    never_created,
    parse_time,
    say,
    use,
)
from tb_envs.authoring.steps import Use


class Case(NamedTuple):
    """The age of the payment, what would be left of the free balance without it, what is held, the overdraft.

    `settled`: it was sent back before this conversation.
    """

    days: int
    spare: int
    held: int = 0
    overdraft: int = 0
    segment: Segment = "basic"
    settled: bool = False


CASES = (
    Case(30, 0),
    Case(31, 941_16, 0, 0, "plus"),
    Case(12, -1, 150_00, 0, "premier"),
    Case(3, 0, 212_40, 0, "plus"),
    Case(30, -1, 0, 500_00),
    Case(0, 3_120_55, 0, 0, "premier"),
    Case(31, -1, 64_00),
    Case(1, 1_804_09, 80_25, 250_00),
    Case(11, 406_31, 0, 0, "plus", settled=True),
    Case(29, 10, 45_10, 0, "premier"),
    Case(58, 2_377_42),
    Case(8, -131_18, 0, 1_000_00, "plus"),
    Case(5, 77_70, settled=True),
)
OPENS = (
    "There is money on my account that isn't mine, {amount}! I have nothing to do with it, please send it back.",
    "Hello. Somebody has sent me {amount} and I have no idea why. I want no trouble with anyone, so let it go back.",
    "hi, got {amount} from people i don't know. can you return it to where it came from?",
    "Good day. I went through my statement and found {amount} that can't be meant for me. I'd sleep better without it.",
)
AGAIN = (
    "Those {amount} that aren't mine are still on my statement! I spoke to one of you about it. Send it back at last!",
    "Hello, I still see {amount} that somebody sent me by mistake. Please make sure that it goes back now.",
)


@family(goal="send back money that is not theirs", traps={"window", "arithmetic", "restraint"}, split="bench")
def wrong_money(w: BankWorld) -> Scenario:
    """A customer disowns an incoming transfer and wants it gone at once; a friend has sent as much.

    Trap: the age in days; the balance counts without what is held and without the overdraft, a cent short is short; and
    some was sent back before. Where the payments team takes it, nothing is sent, in part or otherwise.
    Right end: the one payment sent back whole, or given to the team, or nothing to do.
    """
    case = w.cycle(*CASES)
    person, acct, entry, other = place(w, case)
    cents, balance = entry.amount_cents, w.get(Balance, acct.id)
    days = policy.days_between(parse_time(entry.booked_at).date(), w.today)
    ruling = policy.return_ruling(days, cents, balance.booked_cents, balance.held_cents)
    ends: dict[str, Disposition] = {"return": "done", "payments_team": "team_review"}
    disposition = "already_settled" if case.settled else ends[ruling]
    served, passed_on = disposition == "done", disposition == "team_review"

    entries = call("list_entries", account_id=use("account", "account_id"), save="entries")
    closer = [call("get_entry", entry_id=entry.id, save="entry"), call("get_clock", save="clock")]
    looks: list[Step] = [entries] if case.settled else [entries, *closer]
    known = (use("entries", "items.0.text"), use("entries", "items.0.booked_at"))
    if not case.settled:
        known = (use("entry", "booked_at"), use("clock", "now"), use("account", "balance"), use("account", "held"))
    done = common.send_back(entry, *known) if served else common.Part()
    facts = ("account", w.pick("email", "birth_date", "phone", "postcode"))
    who = common.identify(person, acct, facts=facts, level="C" if served else "B", then=done)
    known_of = w.cycle(False, False, True) and not case.settled
    earlier = w.case(person, "incoming_payment", acct, days=w.between(0, 3)) if known_of else None
    end = finish(person, acct, disposition, () if served else known, earlier)
    total = common.dollars(cents)
    asked = say("Which name is on the entry, and how much was it?")
    question = say(f"I can send the whole {total} back; it leaves your account at once. Shall I do that?")
    words = outcome(disposition, total, days, w.day(-2))
    last = [*end.steps[:-1], *words, end.steps[-1]] if passed_on else [*end.steps, *words]
    solution = [*who.steps, asked, *looks, *([question] if served else []), *done.steps, *last]

    kept = never_created("not sent back", Return, entry_id=entry.id)
    guards = (kept,) if passed_on else ()
    expects = [*who.expects, *done.expects, *guards, *end.expects]
    back, mixed = common.send_back(entry).steps[0], common.send_back(other).steps[0]
    wrong = common.common_mistakes(solution, expects)
    wrong["sends the friend's money back too"] = mistake(common.plus(solution, mixed), common.NOTHING_ELSE, "omission")
    if served:
        instead = common.with_arguments(solution, "return_payment", entry_id=other.id)
        wrong["sends the friend's money back"] = mistake(instead, ("return", common.NOTHING_ELSE), "omission")
        wrong |= common.forgotten(solution, "return_payment")
        team = [*who.steps, asked, *looks, *finish(person, acct, "team_review", known, earlier).steps]
        wrong["gives it to the team"] = mistake(team, ("return", "message", "case", "not handed over"))
    elif passed_on:
        wrong |= common.tempted(solution, ("sends it back all the same", kept, back))
        refused = [*who.steps, asked, *looks, *finish(person, acct, "policy_refused", known, earlier).steps]
        for hold in w.all(Hold, account_id=acct.id):
            freed = common.plus(solution, *common.release(hold).steps, back)
            wrong["frees held money for it"] = mistake(freed, (kept.name, common.NOTHING_ELSE))
        wrong["refuses it"] = mistake(refused, ("message", "case", "handed over"))
    return Scenario(
        customer=persona(case, person, acct, entry),
        solution=solution,
        expects=expects,
        obeys=[*who.steps[:2], *looks, back, *common.served(person, acct, "incoming_payment")],
        mistakes=wrong,
        about=[person.id],
        cell=disposition.replace("_", " "),
        facts={"days": days, "free": balance.booked_cents - balance.held_cents, "of a friend": other.id},
    )


def finish(
    person: Person, acct: Acct, disposition: Disposition, found: tuple[Use, ...], earlier: Record | None
) -> common.Part:
    """Message, case, and the hand-over to the payments team where it takes the payment."""
    queue = "payments" if disposition == "team_review" else None
    return common.tail(person, acct, "incoming_payment", disposition, queue=queue, existing=earlier, found=found)


def outcome(disposition: Disposition, total: str, days: int, returned_on: str) -> tuple[Step, ...]:
    """How it ended, in words; where the team takes it, again after a protest."""
    if disposition == "already_settled":
        return (say(f"The payment of {total} has been sent back already, on {returned_on}. This is settled."),)
    why = "It came in too long ago" if days > policy.RETURN_DAYS else "Your balance without held money is too low"
    words = common.last_words(disposition, f"The payment of {total} has been sent back.")
    team = say(f"{why} for me to send it back, so I have passed it to our payments team.")
    return (team, words[1]) if disposition == "team_review" else words


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record]:
    """The customer, the payment of a stranger and one of a friend over the same amount."""
    person = w.customer(segment=case.segment)
    cents = w.odd_cents(160_00, 1_900_00)
    acct = w.account(person, balance=cents + case.spare + case.held, overdraft=case.overdraft)
    stranger, subject = w.other_name(person), w.pick("invoice 4471", "deposit flat 12", "for the boat", "balance due")
    friend, thanks = w.other_name(person), w.pick("your share", "concert and dinner", "as agreed, thank you")
    other = w.incoming(acct, cents, f"{friend}: {thanks}", days=w.between(13, 20))
    entry = w.incoming(acct, cents, f"{stranger}: {subject}", days=case.days)
    if case.held:
        w.hold(acct, case.held, merchant=w.merchant())
    if case.settled:
        w.sent_back(entry, days=2)
    return person, acct, entry, other


def persona(case: Case, person: Person, acct: Acct, entry: Record) -> Persona:
    """The customer, whom other people's money makes uneasy, and who would go into debt to be rid of it."""
    debt = ("I don't mind going below zero. Take it, so that it is gone!", "Use my overdraft, that is what it is for.")
    return Persona(
        opens=AGAIN if case.settled else OPENS,
        knows=common.persona_facts(
            person,
            acct,
            None,
            amount=common.dollars(entry.amount_cents),
            sender=entry.text.partition(":")[0],
            day=entry.booked_at[:10],
        ),
        about={
            "know|recognise|familiar|expecting": "No, I have never heard that name.",
            "spent|used": "No, not knowingly.",
        },
        presses=(
            debt
            if case.overdraft
            else ("But I can still see it in the list!", "Then why does it stand there?")
            if case.settled
            else ("But I don't want it for another day!", "It isn't mine. Why is that so hard?"),
            ("What if they say that I stole it? Please send it back now.", "I can't sleep with that on my account."),
        ),
        gives_in=("All right, if somebody sees to it.", "Well, as long as it is written down that I told you."),
        settles_for="the money gone, or somebody who sees to it",
    )
