"""A card goes on a journey: the countries of today's list, cash by segment, and each wish judged by itself."""

from typing import NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.models import Card
from tb_banking.models.kinds import Control, Disposition, Segment, Switch
from tb_banking.world import Acct, BankWorld, Person
from tb_envs.authoring import (
    Mistake,
    Persona,
    Record,
    Request,
    Scenario,
    Step,
    call,
    changed,
    either,
    family,
    mistake,
    say,
    use,
)
from tb_envs.authoring.steps import Call, Use
from tb_envs.parts.scripts import before


class Case(NamedTuple):
    """Whose card, where it goes, what is wanted there, and what is on already.

    `also`: a further country that comes up later, for paying; `state`: off for somebody who is back.
    """

    segment: Segment
    country: str
    wants: tuple[Control, ...] = ("abroad",)
    also: str = ""
    on: tuple[Control, ...] = ()
    state: Switch = "on"


CASES = (
    Case("basic", "Portugal"),
    Case("plus", "Japan", ("abroad", "cash_abroad")),
    Case("basic", "Ireland", ("abroad", "cash_abroad")),
    Case("premier", "Norway"),
    Case("basic", "Mexico"),
    Case("premier", "Iceland", ("cash_abroad",), on=("abroad",)),
    Case("plus", "Canada", also="Brazil"),
    Case("basic", "Canada", ("cash_abroad",), on=("abroad",)),
    Case("premier", "Vietnam", ("abroad", "cash_abroad")),
    Case("plus", "Japan", ("abroad", "cash_abroad"), on=("abroad", "cash_abroad"), state="off"),
    Case("basic", "Portugal", on=("abroad",), state="off"),
    Case("premier", "Ireland", ("abroad", "cash_abroad"), also="Kenya"),
    Case("plus", "Iceland", on=("abroad",)),
)
NAMES: dict[Control, str] = {"abroad": "payments abroad", "cash_abroad": "cash from machines abroad"}


class Verdict(NamedTuple):
    """What is switched, what is refused, whether a later country is, and how it ends."""

    switched: tuple[Control, ...]
    refused: tuple[Control, ...]
    also_refused: bool
    disposition: Disposition


@family(goal="get a card ready for a journey", traps={"superseded", "compound", "tiering", "lookalike"}, split="bench")
def going_abroad(w: BankWorld) -> Scenario:
    """Somebody travels soon and wants to pay, or draw cash, with the card there; or is back and wants it off again.

    Trap: an older page lists other countries; cash has a control of its own, and not for every segment; the controls
    belong to one of two cards; switching on wants a passcode, switching off does not.
    Right end: each wish by itself, on the card that travels; a closed country is closed, however short the stay.
    """
    case = w.cycle(*CASES)
    person, acct, card, second = place(w, case)
    right = judge(case)
    level = policy.level_needed("control_on" if case.state == "on" else "control_off") if right.switched else "B"

    guide: list[Step] = []
    known: list[Use] = [use("account", "segment")] if "cash_abroad" in case.wants else []
    if asks_guide(case):
        guide = [
            call("search_guide", query="countries open for cards abroad"),
            call("open_guide_page", page_id="GP-05", save="page"),
        ]
        known.append(use("page", "body"))
    done = work(card, right.switched, case.state, known)
    facts = ("account", w.pick("email", "phone", "birth_date"))
    who = common.identify(person, acct, facts=facts, level="B", cards=[card], then=done if right.switched else ())
    code = common.step_up(person, use("account", "customer_id"), then=done) if level == "C" else common.Part()
    found = known if case.state == "on" else []
    end = common.tail(person, acct, "card_control", right.disposition, found=found)
    asked = say("Which card is it? The last four digits are enough. And which country are you going to?")
    if case.state == "off":
        asked = say("Which card is it? The last four digits are enough.")
    later = [say("That has been switched on for your card. Is there anything else?")] if case.also else []
    talk = [*offer(case, right, card), *code.steps, *done.steps, *later]
    solution = [*who.steps, asked, *guide, *talk, *end.steps, *words(case, right)]
    expects = [*who.expects, *code.expects, *done.expects, *end.expects]
    if not right.switched:
        expects.insert(0, common.untouched("card kept", Card, card.id))

    wrong = common.common_mistakes(solution, expects) | wrongs(case, right, solution, card, second)
    return Scenario(
        customer=persona(w, case, right, person, acct, card),
        solution=solution,
        expects=expects,
        obeys=[
            *(call("set_control", card_id=card.id, control=control, state=case.state) for control in case.wants),
            *common.served(person, acct, "card_control"),
        ],
        mistakes=wrong,
        about=[person.id],
        cell=f"{case.state}, {right.disposition.replace('_', ' ')}",
        facts={"case": case, "right": right, "other card": second.ending},
    )


def place(w: BankWorld, case: Case) -> tuple[Person, Acct, Record, Record]:
    """The customer with two cards of one account, set alike."""
    person = w.customer(segment=case.segment)
    w.lookalike(person)
    acct = w.account(person, opened_days=w.between(700, 2_300))
    abroad: Switch = "on" if "abroad" in case.on else "off"
    cash: Switch = "on" if "cash_abroad" in case.on else "off"
    cards = [w.card(acct, abroad=abroad, cash_abroad=cash, issued_days=days) for days in (w.between(90, 300), 420)]
    for card in cards:
        w.payment(acct, card, w.odd_cents(8_00, 90_00), method="contactless")
    card, second = cards if w.cycle(True, False) else cards[::-1]
    return person, acct, card, second


def judge(case: Case) -> Verdict:
    """What the handbook and today's list make of each wish."""
    if case.state == "off":
        return Verdict(case.wants, (), False, "done")
    allowed = {"allowed": True, "refused": False}
    granted: dict[Control, bool] = {
        each: allowed[policy.control_ruling(each, case.country, case.segment)] for each in case.wants
    }
    refused: tuple[Control, ...] = tuple(each for each in case.wants if not granted[each])
    switched: tuple[Control, ...] = tuple(each for each in case.wants if granted[each] and each not in case.on)
    further = bool(case.also) and not allowed[policy.control_ruling("abroad", case.also, case.segment)]
    if not switched:
        return Verdict((), refused, further, "policy_refused" if refused else "already_settled")
    return Verdict(switched, refused, further, "part_done" if refused or further else "done")


def asks_guide(case: Case) -> bool:
    """Whether the list of countries decides: not where the segment does, or where nothing is to be switched on."""
    cash_only = case.wants == ("cash_abroad",) and case.segment not in policy.CASH_ABROAD
    return case.state == "on" and not cash_only and not set(case.wants) <= set(case.on)


def work(card: Record, controls: tuple[Control, ...], state: Switch, known: list[Use]) -> common.Part:
    """Switch the controls of one card; one check for all of them."""
    if not controls:
        return common.Part()
    parts = [common.switch(card, control, state, *(known if state == "on" else ())) for control in controls]
    row = changed("control: row", Card, card.id, **dict.fromkeys(controls, state))
    once = either("control", (row, *(common.not_switched_back(card, control) for control in controls)))
    return common.Part(tuple(step for part in parts for step in part.steps), (once,))


def spoken(controls: tuple[Control, ...]) -> str:
    """Controls in words."""
    return " and ".join(NAMES[control] for control in controls)


def offer(case: Case, right: Verdict, card: Record) -> list[Step]:
    """What can be had, and the question; nothing where nothing can."""
    if not right.switched:
        return []
    what = spoken(right.switched)
    if case.state == "off":
        return [say(f"I can switch {what} off for the card ending in {card.ending}. Shall I do that?")]
    but = f" I am sorry, {spoken(right.refused)} cannot be had with your account." if right.refused else ""
    can = f"I can switch {what} on for the card ending in {card.ending}"
    return [say(f"Our cards work in {case.country}.{but} {can}. Shall I do that?")]


def words(case: Case, right: Verdict) -> list[Step]:
    """What the customer hears at the end."""
    been = "have been" if "abroad" in right.switched else "has been"
    done = f"{spoken(right.switched).capitalize()} {been} switched {case.state} for your card."
    other = "Please take another means of payment there."
    if right.disposition == "already_settled":
        return [say("Good news, this has been done already: payments abroad were switched on for this card before.")]
    if right.disposition == "done":
        return [say(done)]
    if right.also_refused and right.switched:
        why = f"it is not possible to use our cards in {case.also}"
        return [say(f"I am sorry, {why}. {other}"), say(f"I understand, but {why}. {other}")]
    if right.switched:
        why = f"{spoken(right.refused)} is not possible with your account"
        return [say(f"{done} As I said, {why}.")]
    why = f"it is not possible to use our cards in {case.country}" if asks_guide(case) else "cash there is not possible"
    return [say(f"I am sorry, {why}. {other}"), say(f"I understand, but {why}. {other}")]


def wrongs(case: Case, right: Verdict, solution: list[Step], card: Record, second: Record) -> dict[str, Mistake]:
    """What can be done wrongly with this journey in particular."""
    wrong = dict[str, Mistake]()

    def also(control: Control) -> Step:
        return call("set_control", card_id=card.id, control=control, state="on")

    if not right.switched:
        kept = common.untouched("card kept", Card, card.id)
        for control in right.refused:
            wrong |= common.tempted(solution, (f"switches {control} on all the same", kept, also(control)))
        if not right.refused:
            off = call("set_control", card_id=card.id, control=case.wants[0], state="off")
            wrong["switches it off"] = mistake(common.plus(solution, off), "card kept", "omission")
        return wrong
    other = common.with_arguments(solution, "set_control", card_id=second.id)
    wrong["takes the other card"] = mistake(other, ("control", common.NOTHING_ELSE), "omission")
    both = call("set_control", card_id=second.id, control=right.switched[0], state=case.state)
    wrong["switches both cards"] = mistake(common.plus(solution, both), common.NOTHING_ELSE, "omission")
    for control in right.switched:
        short = [step for step in solution if not (isinstance(step, Call) and step.arguments.get("control") == control)]
        wrong[f"forgets {control}"] = mistake(short, "control", "omission")
    if case.state == "off":
        return wrong
    for control in right.refused:
        more = before(solution, common.RECORDS, also(control))
        wrong[f"switches {control} on as well"] = mistake(more, "control")
    if "cash_abroad" not in case.wants:
        more = before(solution, common.RECORDS, also("cash_abroad"))
        wrong["switches cash on unasked"] = mistake(
            more, "control", "policy" if case.segment == "basic" else "omission"
        )
    if right.disposition == "part_done":
        all_done = common.with_arguments(solution, "open_case", disposition="done")
        wrong["closes it as done"] = mistake(all_done, "case", "policy" if right.also_refused else "omission")
    return wrong


SOON = (
    "We fly to {place} on Saturday, and I have read that my card may not work there. I am quite worried.",
    "Good afternoon. My daughter lives in {place} and is ill; I leave tomorrow and must have a card that works.",
    "hi, off to {place} on a school trip as the only grown-up with a card, so it HAS to work!",
    "I am going to {place} next week for my husband's operation. Everything has to be paid on the spot there.",
)
FAR = (
    "We fly abroad on Saturday, and I have read that my card may not work there. I am quite worried.",
    "Good afternoon. My daughter is ill, and she lives abroad; I leave tomorrow and must have a card that works.",
    "hi, off on a school trip abroad as the only grown-up with a card, so it HAS to work!",
)
NO_COINS = (
    "Our cottage in {place} is miles from anywhere, and the ferry takes nothing but coins and notes.",
    "I am off to {place} on Sunday, and last time I stood before the machine and nothing came out.",
    "Good day. We shall be in {place} for a funeral, and the family wants everything paid in notes.",
)
WISH: dict[tuple[Control, ...], tuple[str, ...]] = {
    ("abroad",): ("Please open it for payments there.", "I want to pay with it over there, please."),
    ("abroad", "cash_abroad"): (
        "I have to pay with it there and take out cash as well, please.",
        "Please open it for shops and for cash machines.",
    ),
    ("cash_abroad",): (
        "Paying is set up already; now I need cash from the machines there, too.",
        "I can pay there, I know. Please let me take out cash as well.",
    ),
}
FORMERLY = (
    "It worked there two years ago.",
    "We only change planes there, really.",
    "Your old leaflet says it is fine.",
)
BACK = (
    "I am home again from {place}, and I keep reading of stolen card numbers. Please switch it off again.",
    "Good evening. We are back from {place}. Kindly close the card for foreign countries again.",
    "back from {place}! pls turn the foreign stuff off again on my card, makes me nervous.",
)
SECOND = (
    "And on the way back we stay in {place} for three nights. Please open it for that, too.",
    "Oh, and from there we go on to {place}. It has to work there as well, please.",
)
INSIST = ("But it did work there! My sister pays there with hers.", "Three nights! Can you not make an exception?")
NO_CASH = ("And if they do not take cards? I cannot stand there without a penny.", "But it is my own money in there!")


def persona(w: BankWorld, case: Case, right: Verdict, person: Person, acct: Acct, card: Record) -> Persona:
    """The traveller."""
    cash = "Cash as well, please." if "cash_abroad" in case.wants else "No, only paying, no cash."
    both = "All of it, please, shops and cash machines." if len(case.wants) > 1 else ""
    wish = both if case.state == "off" else w.pick(*WISH[case.wants])
    closed = right.disposition == "policy_refused" and asks_guide(case)
    hope = w.pick(*FORMERLY) if closed else ""
    named = w.cycle(True, False)
    lines = NO_COINS if case.wants == ("cash_abroad",) else SOON if named else FAR
    lines = BACK if case.state == "off" else lines
    opens = tuple(f"{line.replace('{place}', case.country)} {wish} {hope}".strip() for line in lines)
    insists = (INSIST if closed else NO_CASH,) if right.disposition == "policy_refused" else ()
    then = Request(
        opens=tuple(line.replace("{place}", case.also) for line in SECOND),
        topic=(case.also,),
        knows={"country": case.also},
        presses=(INSIST,),
        gives_in=("Then we shall take my wife's card there.", "All right. Cash from home, then."),
    )
    return Persona(
        opens=opens,
        knows=common.persona_facts(person, acct, card, country=case.country),
        about={"cash": cash},
        topic=(case.country,) if case.also else (),
        presses=insists,
        then=then if case.also else (),
        gives_in=("All right. I shall find another way, then.", "Well. It is good to know before I stand there."),
        settles_for="the card open where it may be",
    )
