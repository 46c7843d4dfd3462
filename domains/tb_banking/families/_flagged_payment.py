"""The payments and customers of `flagged_payment`: what was stopped, whose it was, in which words. Judges nothing."""

from typing import Any, Literal, NamedTuple

from tb_banking.families import _common as common
from tb_banking.models.kinds import AlertLevel, EntryStatus, Method, Segment
from tb_banking.world import Acct, Person
from tb_envs.authoring import (
    Known,
    Persona,
    Record,
)

Whose = Literal["theirs", "not theirs"]
Memory = Literal["trading name", "statement name", "another shop", "nothing"]
Frozen = Literal["", "day before", "same day", "day after"]


class Case(NamedTuple):
    """How grave the alert is, whose the payment was, what its customer calls the shop; when the card was frozen.

    `frozen` is seen from the day of the alert; empty for a card that pays.
    """

    level: AlertLevel
    whose: Whose
    memory: Memory
    frozen: Frozen
    segment: Segment
    method: Method = "online_plain"
    status: EntryStatus = "posted"


CASES = (
    Case("low", "theirs", "trading name", "same day", "basic"),
    Case("low", "theirs", "nothing", "", "plus"),
    Case("high", "theirs", "trading name", "same day", "premier", "swipe"),
    Case("high", "theirs", "statement name", "day after", "basic"),
    Case("high", "theirs", "trading name", "day before", "plus", "contactless"),
    Case("high", "theirs", "nothing", "same day", "basic"),
    Case("high", "theirs", "another shop", "", "premier", "swipe"),
    Case("low", "theirs", "nothing", "day before", "basic"),
    Case("high", "not theirs", "nothing", "same day", "basic", "chip_pin"),
    Case("high", "not theirs", "nothing", "", "plus", "online_confirmed"),
    Case("low", "not theirs", "nothing", "day after", "premier"),
    Case("low", "not theirs", "nothing", "same day", "plus", "chip_pin"),
    Case("high", "not theirs", "nothing", "", "basic", "contactless", "pending"),
)


class Place(NamedTuple):
    """What the world holds: the card, the payment, its shop and alert; another payment; the name the customer gives."""

    person: Person
    acct: Acct
    card: Record
    entry: Record
    other: Record
    shop: Record
    alert: Record
    name: str


THEIRS = (
    "My card is turned down everywhere! You wrote that a payment looked odd. That was me, so set it right, please.",
    "Good morning. I have your message about a payment of mine. There is nothing wrong with it, it was my own.",
    "hey u texted me bout some payment?? it was me, all good, can we clear that",
    "I am standing here with a full trolley, and your message says that a payment looked strange. It was mine!",
)
MISLAID = (
    "I have your message about an odd payment; that was mine. As to the card, I am still looking for it at home.",
    "Good day. The payment that you ask about was my own. My card I have mislaid since; let it rest till I find it.",
)
STRANGE = (
    "You wrote to me about an odd payment. I have bought nothing! Somebody is at my money, please do something.",
    "Good evening. Your message speaks of a payment that looked wrong. It is wrong: I have not used my card for days.",
    "omg is someone using my card?? got your text about a payment and its not mine, get it back pls",
    "I am all in a tremble. Your message about a strange payment: it was not me. Please get my money back.",
)
YES = ("Yes, that was me.", "Yes, I made that one.", "It was me, yes.")
NO = ("No! That was not me.", "No, I did not. I was at home.", "Certainly not. I know nothing of it.")
WHOSE = (
    "did you make", "you made", "was it you", "was that you", "was this you", "yours", "you recognise", "your own",
    "you authorise", "you know payment", "payment familiar", "genuine",
)  # fmt: skip
FORGOT = (
    "Oh dear, the name has gone. You have it before you: tell me, and I shall say yes or no.",
    "I do not remember what they are called. Just tell me, it will be right.",
    "Some shop or other, I buy so much. Can you not simply say the name?",
)


def persona(case: Case, here: Place) -> Persona:
    """The customer who was asked about a payment."""
    theirs = case.whose == "theirs"
    opens = STRANGE if not theirs else MISLAID if case.frozen == "day before" else THEIRS
    saying = ("That was at {value}.", "I paid at {value}.", "It was {value}, I am quite sure.")
    more: dict[str, Any] = {"merchant": Known(here.name, says=saying)} if here.name else {}
    insists = (
        ("But I have told you that it was me!", "So you do not believe me? I have been with you for years."),
        ("And how am I to do my shopping?", "This is not right. It is my money and my card."),
    )
    lost = (("And my money? Who gives me that back?", "But it was not me! You must do something."),)
    return Persona(
        opens=opens,
        knows=common.persona_facts(here.person, here.acct, here.card, **more),
        lacks={} if here.name else {"merchant": FORGOT if theirs else ("How should I know? It was not me.",)},
        about={"|".join(WHOSE): YES if theirs else NO},
        presses=insists if theirs else lost,
        gives_in=("All right. I will wait for you to write.", "Well, then I shall have to be patient."),
        settles_for="what the bank may do on the customer's word",
    )
