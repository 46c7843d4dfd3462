"""The wishes and the caller of `attorney_call`: for whom, under which paper, in which words. Decides nothing."""

from typing import Any, Literal, NamedTuple

from tb_banking.families import _common as common
from tb_banking.models.kinds import MandateRole, MandateStatus, Scope, Segment
from tb_banking.world import Acct, Person, Phone
from tb_envs.authoring import (
    Persona,
    Record,
)

Wish = Literal["recall", "order", "fee", "found", "lost", "limit", "mandate", "closing"]


class Case(NamedTuple):
    """A mandate, what its owner wants, and how old the registration of the caller's own device is.

    `starts`, `ends`: first and last day, counted from today; None: long ago, and open.
    """

    wish: Wish
    role: MandateRole
    scope: Scope | None
    segment: Segment = "basic"
    starts: int | None = None
    ends: int | None = None
    status: MandateStatus = "active"
    device_days: int = 300


CASES = (
    Case("recall", "attorney", "pay", starts=0),
    Case("order", "attorney", "full", ends=-1),
    Case("found", "attorney", "full", "plus", device_days=7),
    Case("lost", "attorney", "view"),
    Case("fee", "attorney", "pay", "plus"),
    Case("closing", "joint_owner", None, "premier"),
    Case("order", "attorney", "pay", ends=0),
    Case("found", "attorney", "pay"),
    Case("recall", "attorney", "full", "premier", starts=1),
    Case("recall", "joint_owner", None, "premier"),
    Case("found", "attorney", "full", ends=40, device_days=6),
    Case("limit", "attorney", "full", "plus"),
    Case("mandate", "joint_owner", None),
    Case("fee", "attorney", "full", status="ended"),
)
KIN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("my mother", ("Edith", "Irene", "Winifred")),
    ("my father", ("Walter", "Arthur", "Cecil")),
    ("my aunt", ("Agnes", "Violet", "Eunice")),
    ("my uncle", ("Ezra", "Amos", "Gerald")),
)
PARTNERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("my wife", ("Flora", "Bianca", "Laila")),
    ("my husband", ("Hector", "Damian", "Samir")),
    ("my sister", ("Nina", "Ramona", "Carmen")),
)
OPENS: dict[Wish, tuple[str, ...]] = {
    "recall": (
        "Good morning. I help KIN, HOLDER, with the bills, and an hour ago I sent {amount} to {payee}, who had their"
        " money already. Please call it back.",
        "Please be quick! It is about the account of KIN, HOLDER. I paid {payee} from it, {amount}, and it was the"
        " wrong bill. I want the transfer back.",
        "hi, i do the banking for KIN (HOLDER) and sent {amount} to {payee} by mistake, pls get the transfer back",
    ),
    "order": (
        "Hello, I am calling about KIN, HOLDER. There is no money for luxuries now: please pause the standing order"
        " to {payee}.",
        "Good day. Kin, HOLDER, is in hospital and {payee} go on collecting. Can you pause the standing order to them?",
    ),
    "fee": (
        "Kin, HOLDER, lives on a small pension, and you took an overdraft fee of {amount} from it. I would like to have"
        " that returned.",
        "Good afternoon, I see to the accounts of KIN, HOLDER. There is an overdraft fee of {amount}, and that is a"
        " week's groceries. Please give it back.",
    ),
    "found": (
        "Good news for once: the card of KIN, HOLDER, was under the sofa all the time. Can you unfreeze it, please?",
        "Hello. Kin, HOLDER, cannot pay for anything since the card was frozen, and now it has turned up in a coat."
        " Please unfreeze it.",
        "hey, found the card of KIN! HOLDER is the name. could you unfreeze it so we can do the shopping",
    ),
    "lost": (
        "Kin, HOLDER, has lost the card at the market and is in tears. Please block it, and send a new one!",
        "I am calling for KIN, HOLDER, whose card is gone since yesterday. Stop it, please, and order another one.",
    ),
    "limit": (
        "Kin, HOLDER, moves into a home tomorrow, and the deposit is due. Please raise the daily transfer limit to"
        " {new_amount}.",
        "Good morning. I have to pay the roofer for KIN, HOLDER. The daily transfer limit must go up to {new_amount}.",
    ),
    "mandate": (
        "The account is mine as much as that of KIN, HOLDER. Our helper has a power of attorney that nobody needs any"
        " more. Please end it.",
        "Hello, KIN, HOLDER, and I share an account. Our nephew has a power of attorney; please end it.",
    ),
    "closing": (
        "Kin, HOLDER, and I have one account too many. Please close it and send what is on it to {other_account}.",
        "Good day, please close the account that I share with KIN, HOLDER. The money goes to {other_account}.",
    ),
}
SHARED = (
    "Kin, HOLDER, and I share an account, and I have just paid a bill from it that was paid already: {amount} to"
    " {payee}. Please get the transfer back.",
    "oh no, i sent {amount} to {payee} from the account that KIN (HOLDER) and i share, wrong people!! pls recall it",
)
INSISTS = (
    ("But I do everything for them, everybody knows that!", "Do you want me to drag an old person to the phone?"),
    ("Please. I have a folder full of papers here.", "Nobody else can see to it. Isn't there a way?"),
)
OWNERS_INSIST = (
    ("But it is my account, too! My name is on it.", "We have talked it over at home, we both want it."),
    ("Can't you just do it, and tell the others afterwards?", "It is half my money. Isn't there a way?"),
)


class Place(NamedTuple):
    """What the world holds: both people, the account, the caller's own devices, the mandate, and what is asked for."""

    holder: Person
    caller: Person
    kin: str
    acct: Acct
    payout: Acct
    late: Phone | None
    row: Record
    payee: str
    cents: int


def persona(case: Case, here: Place) -> Persona:
    """The caller, who knows the own details and the number of the other one's account."""
    caller, holder = here.caller, here.holder
    owner = case.role == "joint_owner"
    known: dict[str, Any] = {"caller": f"{'a joint owner with' if owner else 'the attorney of'} {holder.name}"}
    if case.wish in ("recall", "fee"):
        known["amount"] = common.dollars(here.cents)
    if here.payee:
        known["payee"] = here.payee
    if case.wish == "limit":
        known |= {"limit": "daily transfer limit", "new_amount": common.dollars(here.cents)}
    if case.wish == "closing":
        known["other_account"] = here.payout.number
    lines = SHARED if owner and case.wish == "recall" else OPENS[case.wish]
    names = {"KIN": here.kin, "Kin": here.kin.capitalize(), "HOLDER": holder.name}
    for token, value in names.items():
        lines = tuple(line.replace(token, value) for line in lines)
    return Persona(
        opens=lines,
        knows=common.persona_facts(caller, here.acct, **known),
        identifies_by=("account", "name"),
        about={
            "power of attorney|mandate|papers|signed": "We signed it all together, and your bank has a copy.",
            "holder there|speak to holder|speak with": "Not now, I am on my own here.",
        },
        presses=OWNERS_INSIST if owner else INSISTS,
        gives_in=("All right. Then we have to find another way.", "Very well. I will tell them."),
        settles_for="what the mandate allows",
    )
