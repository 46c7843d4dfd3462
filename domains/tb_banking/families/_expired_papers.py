"""The wishes and the customer of `expired_papers`: what is asked for, in which words, by whom. Serves none of it."""

from typing import Any, Literal, NamedTuple

from tb_banking import policy
from tb_banking.families import _common as common
from tb_banking.families._records import Work
from tb_banking.models.kinds import KycStatus, Segment, Subject
from tb_banking.world import Acct, Person
from tb_envs.authoring import (
    Persona,
    Record,
    Request,
)

Wish = Literal["limit", "recall", "order", "fee", "found", "lost", "amount", "fraud", "complaint"]


class Case(NamedTuple):
    """The state of the papers, and what is wanted, one thing or two."""

    kyc: KycStatus
    first: Wish
    then: Wish | None = None
    segment: Segment = "basic"


CASES = (
    Case("expired", "limit"),
    Case("in_review", "fraud", segment="plus"),
    Case("verified", "limit", segment="plus"),
    Case("expired", "lost"),
    Case("in_review", "amount", "limit"),
    Case("expired", "complaint"),
    Case("in_review", "recall", segment="premier"),
    Case("expired", "fee", "complaint"),
    Case("verified", "order"),
    Case("in_review", "order"),
    Case("expired", "amount", segment="plus"),
    Case("in_review", "found"),
    Case("expired", "limit", "amount", segment="premier"),
    Case("in_review", "complaint", "fee", segment="plus"),
)


class Kind(NamedTuple):
    """What a wish asks for, as the handbook and the records call it, and how its refusal names it."""

    action: policy.Action
    subject: Subject
    name: str
    topic: tuple[str, ...]
    work: Work | None = None


KINDS: dict[Wish, Kind] = {
    "limit": Kind("raise_limit", "limit", "a higher limit", ("limit",)),
    "recall": Kind("recall", "transfer", "calling the transfer back", ("transfer",)),
    "order": Kind("standing_order", "standing_order", "pausing the order", ("order",)),
    "fee": Kind("return_fee", "fee", "returning the fee", ("fee",)),
    "found": Kind("unfreeze_card", "lost_card", "unfreezing the card", ("card",)),
    "lost": Kind("replace_card", "lost_card", "a new card", ("card",)),
    "amount": Kind("dispute", "card_dispute", "a dispute", ("payment", "dispute"), "dispute"),
    "fraud": Kind("dispute", "card_dispute", "a dispute", ("payment", "dispute"), "dispute"),
    "complaint": Kind("complaint", "complaint", "compensation", ("complaint", "compensation"), "money"),
}
OPENS: dict[Wish, tuple[str, ...]] = {
    "limit": (
        "The movers stand outside and want their money now. Please raise my daily transfer limit to {new_amount}.",
        "Good day. My daughter's school fees are due by tonight; my daily transfer limit has to go up to {new_amount}.",
    ),
    "recall": (
        "Quick, please! I have just sent {amount} to {payee}, and I owe them nothing. Call the transfer back!",
        "hello, sent {amount} to {payee} half an hour ago, wrong people. pls pull it back before it's gone",
    ),
    "order": (
        "Good morning. I am between two jobs. Please pause my standing order to {payee} before it empties the account.",
        "Please stop my standing order to {payee} for a while, I cannot afford it this month. Pause it, I mean.",
    ),
    "fee": (
        "You took {amount} from me as an overdraft fee, and I have three days to go till payday. I want it back.",
        "An overdraft fee of {amount}, on top of everything else? Kindly return it today.",
    ),
    "found": (
        "I had my card frozen, and it was in the car all along. I am at the pump, tank full: unfreeze it, please!",
        "Hi! Found my card behind the radiator. Could you unfreeze it right away, I need to buy dinner.",
    ),
    "lost": (
        "My card is gone, I must have dropped it on the bus. Please stop it and send me a new one, I travel on Sunday!",
        "I have lost my card. Block it, please, and I need another one as soon as possible.",
    ),
    "amount": (
        "A shop took {amount} from my card, and the bill says thirty less. I want that put right.",
        "Good evening. I was charged {amount} by card, and the slip has a smaller sum. I wish to dispute that.",
    ),
    "fraud": (
        "There is a payment of {amount} to {merchant} on my card, and I have never dealt with such people. Help me!",
        "Who is {merchant}? They took {amount} from my card, and it was not me. I want that money back.",
    ),
    "complaint": (
        "I complained to you weeks and weeks ago and waited for ever for an answer. I think I am owed compensation.",
        "Good afternoon. It is about my complaint: you took far too long to answer it. What do I get for the delay?",
    ),
}
SECOND: dict[Wish, tuple[str, ...]] = {
    "limit": (
        "And please raise my daily transfer limit to {new_amount}, I have a bill to pay tonight.",
        "Also, I need my daily transfer limit at {new_amount} for the rent.",
    ),
    "fee": (
        "And then there is the overdraft fee of {amount}. Give me that back as well, please.",
        "Also, you took an overdraft fee of {amount}. I want that returned, too.",
    ),
    "amount": (
        "Also, a shop took {amount} by card, thirty more than on the bill. I want to dispute that payment.",
        "Also, I was charged {amount} by card, and the slip says less. I dispute that payment.",
    ),
    "complaint": (
        "And my complaint? You took months to answer it. I want compensation for the delay.",
        "Also, you were much too late with my complaint. What compensation do I get for that?",
    ),
}
INSISTS = (
    ("But I sent you my papers! It is not my fault if nobody looks at them.", "I have been your customer for years!"),
    ("It is only this one time. Please, it cannot wait.", "Couldn't you do it now and look at the papers later?"),
)
KNOW = "recognise|know|familiar|remember|rings bell|was you|yours|you bought|you made|you ordered|you used"


class Thing(NamedTuple):
    """What a wish is about: a row, an amount, whom it pays or the shop."""

    row: Record
    cents: int = 0
    payee: str = ""
    shop: Record | None = None


def persona(case: Case, person: Person, acct: Acct, things: dict[Wish, Thing]) -> Persona:
    """Somebody in a hurry, to whom papers are the last thing to think of."""

    def facts(wish: Wish) -> dict[str, Any]:
        about = things[wish]
        match wish:
            case "limit":
                return {"limit": "daily transfer limit", "new_amount": common.dollars(about.cents)}
            case "recall" | "order":
                return {"payee": about.payee, "amount": common.dollars(about.cents)}
            case "amount" | "fraud" if about.shop:
                return {"amount": common.dollars(about.cents), "merchant": about.shop.statement_name}
            case "fee":
                return {"amount": common.dollars(about.cents)}
            case _:
                return {}

    resigned = ("All right, then I have to wait.", "Well. I will look for those papers.")
    request = (
        Request(
            opens=SECOND[case.then],
            topic=KINDS[case.then].topic,
            knows=facts(case.then),
            presses=INSISTS[:1],
            gives_in=resigned,
        )
        if case.then
        else ()
    )
    return Persona(
        opens=OPENS[case.first],
        knows=common.persona_facts(person, acct, **facts(case.first)),
        lacks={"until": "For good, please."},
        topic=KINDS[case.first].topic if case.then else (),
        about={
            KNOW: ("No. I have never heard of them.", "No, that is not mine."),
            "sent papers|send papers|have papers|valid passport|passport valid": (
                "I thought you had all that.",
                "I sent you something a while ago.",
            ),
        },
        presses=INSISTS[:1],
        then=request,
        gives_in=resigned,
        settles_for="what can be done without papers",
    )
