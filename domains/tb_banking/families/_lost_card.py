"""The losses and the customer of `lost_card`: what is gone, what else is asked, in which words. Decides nothing."""

from typing import Any, Literal, NamedTuple

from tb_banking.families import _common as common
from tb_banking.models.kinds import Disposition, DisputeReason, EntryStatus, Method, Segment
from tb_banking.world import Acct, BankWorld, Person, Phone
from tb_envs.authoring import (
    Persona,
    Record,
    Request,
)

Reason = Literal["lost", "stolen"]
Trouble = Literal["", "one fact", "phone gone"]


class Other(NamedTuple):
    """A payment that the customer wants back as well."""

    reason: DisputeReason
    status: EntryStatus
    days: int
    method: Method


class Case(NamedTuple):
    """What happened to whose card, and in how many days it expires; what stands in the way of a new one.

    `phone_days`: how old the registration of the only phone in use is; `relabel`: the customer would have it stolen.
    """

    reason: Reason
    segment: Segment
    expires: int
    trouble: Trouble = ""
    other: Other | None = None
    phone_days: int = 400
    relabel: bool = False


CASES = (
    Case("lost", "basic", 31),
    Case("lost", "plus", 30),
    Case("lost", "premier", 420),
    Case("stolen", "plus", 700),
    Case("lost", "basic", 512, relabel=True),
    Case("lost", "plus", 640, phone_days=7),
    Case("stolen", "basic", 380, phone_days=6),
    Case("lost", "basic", 95, "phone gone"),
    Case("stolen", "premier", 240, "phone gone"),
    Case("lost", "plus", 300, "one fact"),
    Case("stolen", "basic", 610, other=Other("fraud", "pending", 0, "contactless")),
    Case("lost", "plus", 220, other=Other("wrong_amount", "pending", 0, "chip_pin")),
    Case("lost", "basic", 820, other=Other("wrong_amount", "posted", 60, "contactless")),
    Case("stolen", "plus", 455, other=Other("wrong_amount", "posted", 61, "chip_pin")),
)


class Place(NamedTuple):
    """What the world holds: the card and another one like it, devices, and the payment of the second request."""

    person: Person
    acct: Acct
    card: Record
    second: Record
    phones: tuple[Phone, ...]
    entry: Record | None
    shop: Record


WHICH = ("which card", "which one", "which of", "both cards", "two cards", "run out", "valid until", "expires")
GOOD_UNTIL = ("The one that runs out in", "It is the one that is good until")


OPENS: dict[Reason, tuple[str, ...]] = {
    "lost": (
        "I have left my purse on the bus and the driver says nothing was handed in. Please send me a new bank card!",
        "My card has fallen out of my coat somewhere between the station and home, I feel so stupid. I need another.",
        "hey, lost my bank card on the beach, can u block it and get me a new one?",
        "Good evening. I have mislaid my card and looked everywhere. Would you kindly let me have another one?",
    ),
    "stolen": (
        "Somebody has snatched my bag on the tram, my bank card was in it! I need a new one, and quickly.",
        "My card was stolen at the market an hour ago, I am still shaking. Please send me another one.",
        "Good day. A pickpocket has had my wallet, with the card in it. Please let me have a new card.",
        "my card got stolen at the gym, locker broken open. need a new one asap!",
    ),
}
GONE = (
    "No, the phone was in there, too. It is all gone.",
    "How? The phone is gone with it.",
    "I cannot read anything, they are both gone, card and phone.",
)
NO_MORE = (
    "I am not telling you that. My son says one never gives such things away in a chat.",
    "No. The account number has to do. How do I know that you are the bank?",
)
SECOND: dict[DisputeReason, tuple[str, ...]] = {
    "fraud": (
        "And there is a payment in my app that I never made! I want that money back.",
        "Also, the thief must have gone shopping: the app shows a payment that is not mine. Take it back, please.",
    ),
    "wrong_amount": (
        "And one of my own payments with that card is wrong. They took more than the bill says. I want it disputed.",
        "Also, a shop has taken far more than we agreed, with that very card. Please dispute that payment for me.",
    ),
}
STRANGE = ("No, never. I have not been there in my life.", "No. I do not know them, and I was not there.")
KNOW = ("you know", "you recognise", "familiar", "you remember", "was it you", "yours", "mean anything", "you made")


def persona(w: BankWorld, case: Case, here: Place, ruling: Disposition) -> Persona:
    """The customer without a card."""
    facts = common.persona_facts(here.person, here.acct, here.card)
    hints = ("There are two things, but the card first.", "And then there is a payment to talk about, after that.")
    extra = w.pick(*hints) if case.other else ""
    if case.relabel:
        extra = "Put it down as stolen, will you? They say it costs nothing then."
    lacks: dict[str, Any] = {}
    if case.trouble == "phone gone":
        lacks["code"] = GONE
        del facts["code"]
    silent = ("email", "phone", "postcode", "birth_date", "card", "code") if case.trouble == "one fact" else ()
    asks_back: dict[str, Any] = {}
    if silent:  # no digits, but which of the two it is can be told
        asks_back["|".join(WHICH)] = tuple(f"{line} {here.card.expires_on[:7]}." for line in GOOD_UNTIL)
    requests: list[Request] = []
    if case.other and here.entry:
        cents = -here.entry.amount_cents
        knows = {
            "amount": common.dollars(cents),
            "merchant": here.shop.statement_name,
            "day": here.entry.booked_at[:10],
        }
        asks_back |= {"|".join(KNOW): STRANGE} if case.other.reason == "fraud" else {}
        insist = (("But I can see it in my app, right there!", "That is not good enough. It is my money."),)
        requests = [
            Request(
                opens=SECOND[case.other.reason],
                topic=("payment", "dispute"),
                knows=knows,
                presses=insist,
                gives_in=("All right, then I will have to live with it.", "Well. If that is how it is."),
            )
        ]
    insists = (("But I need a card! How am I to pay for anything?", "And what am I to live on until then?"),)
    return Persona(
        opens=tuple(f"{line} {extra}".strip() for line in OPENS[case.reason]),
        knows=facts,
        lacks=lacks,
        wont_say={name: NO_MORE for name in silent},
        about=asks_back,
        topic=("card",),
        presses=() if ruling in common.CARRIED_OUT else insists,
        then=requests,
        gives_in=("All right. At least nobody can use it.", "Well, then I shall ask my sister for some money."),
        settles_for="the card stopped, and what else may be had",
    )
