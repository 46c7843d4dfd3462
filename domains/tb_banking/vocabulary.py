"""What the bank's customers can know, and how agents ask for it; the generic facts of every company come on top."""

from tb_envs.authoring import Fact, Vocabulary

PERSON = (
    Fact("surname", ("surname", "last name", "family name", "surname on the account")),
    Fact("email", ("e-mail address", "email address", "e-mail on file", "mail address")),
    Fact(
        "phone",
        ("(|what|which) phone number", "telephone number", "mobile number", "phone number on file"),
    ),
    Fact("postcode", ("postcode", "postal code", "zip code")),
    Fact(
        "birth_date",
        ("date of birth", "birth date", "birthday", "day you were born"),
        ("I was born on {value}.", "My date of birth is {value}."),
    ),
    Fact(
        "account",
        ("account number", "number of the account", "eight-digit account number", "account it is about"),
        ("The account number is {value}.", "It is account {value}.", "Account {value}."),
        "id",
    ),
    Fact(
        "card",
        ("card ending", "last four digits of the card", "ending of the card", "last digits of the card"),
        ("The card ends in {value}.", "It is the card ending in {value}."),
    ),
    Fact(
        "code",
        (
            "passcode",
            "one-time passcode",
            "(one-time|security|verification|access|confirmation|authentication|login|six-digit) code",
            "code (on|in|from) (screen|device|phone|app|tablet|message|text)",
            "code (we|i) (|have|just) (sent|send)",
            "code (you|your phone|your device|the app) (|have|just) (received|got|see|sees|show|shows|displays)",
            "(read|tell|give|share|provide|enter|repeat|type|confirm|send) (|me|us) (|out|back) code",
            "(what|which) (is|was|are) code",
            "six digits",
        ),
        ("The code is {value}.", "It says {value}.", "My phone shows {value}.", "{value}."),
        "id",
    ),
    Fact(
        "caller",
        ("relation to the account holder", "who you are", "your own name", "on whose behalf", "are you the holder"),
        ("I am {value}.", "This is {value}."),
        "text",
    ),
)
"""Who somebody is, and what they can show it with."""

PAYMENTS = (
    Fact(
        "merchant",
        (
            "name on the statement",
            "statement name",
            "name of the merchant",
            "(|what|which) merchant name",
            "name of the shop",
            "(which|what) (merchant|shop|store|company)",
            "(what|which) name (is|was|appears|stands|do you see) on statement",
            "(what|how) does (|your|the) statement (say|show|call it)",
            "what (does|do) (it|they) say (on|in) statement",
            "what (is|stands) (|written) on statement",
            "(what|which) name (does|did|is|has) (payment|charge|entry|it|shop) (appear|show|stand|listed|under)",
            "(what|how) is (shop|merchant|it|company|firm) called (|on statement)",
            "under (which|what) name (does|did|is|do) (payment|charge|entry|it) (appear|show|stand|listed|shown)",
            "name (from|in|off) statement",
            "what (is|does) (shop|merchant|company) (|name|called)",
            "who (took|charged|received) (|the|your) money",
            "where did you pay",
            "where was the payment made",
        ),
        ("My statement says {value}.", "It says {value}.", "The name there is {value}."),
        "text",
    ),
    Fact(
        "amount",
        (
            "amount of (the|) payment",
            "amount in question",
            "amount on the statement",
            "how much it was",
            "how (large|big|high) (is|was) (it|deposit|payment|transfer|fee|charge)",
        ),
        ("It was {value}.", "The amount is {value}.", "{value}."),
    ),
    Fact(
        "day",
        ("day of the payment", "date of the payment", "when it was", "(what|which) day", "day it was booked"),
        ("It was on {value}.", "On {value}.", "The statement says {value}."),
        "date",
    ),
    Fact(
        "delivery_day",
        ("promised delivery day", "delivery date", "day it should have come", "when was it to be delivered"),
        ("It was to come on {value}.", "They promised {value}."),
        "date",
    ),
    Fact(
        "cancelled_on",
        ("day you cancelled", "date of the cancellation", "when did you cancel", "when you ended the subscription"),
        ("I cancelled on {value}.", "It was cancelled on {value}."),
        "date",
    ),
    Fact(
        "received",
        (
            "day of the complaint",
            "date of the complaint",
            "complaint (was|is|has been) received",
            "complaint (came|come|arrived|reached)",
            "when (did|have|had|was|were) (|you|it) (|first) (complain|complained|complaint)",
            "when (did|have|had) you (send|sent|write|written|file|filed|make|made|raise|raised|submit|submitted)",
            "(which|what) day (did|have) you (send|write|file|complain|raise|submit)",
            "you complained",
            "when (did|was|were) complaint",
        ),
        ("It was on {value}.", "I wrote on {value}.", "My complaint is of {value}."),
        "date",
    ),
    Fact(
        "news",
        ("new evidence", "anything new", "what is new", "what has changed since", "receipt or message", "proof"),
        ("{value}.", "What is new is {value}."),
        "text",
    ),
)
"""Card payments and disputes."""

MONEY = (
    Fact(
        "payee",
        (
            "name of the payee",
            "payee",
            "recipient",
            "beneficiary",
            "who is paid",
            "whom the money goes to",
            "(who|whom) (do|did|is|was) (it|money|transfer|order|standing order|payment) (go|gone|sent|paid) to",
            "(who|whom) has (it|money|transfer|order|payment) (|been) (gone|sent|paid) to",
            "(who|whom) (did|do|have) you (send|sent|pay|paid|transfer) (|it|money|that)",
            "to (who|whom)",
            "(who|whom) (gets|got|receives|received|should get) (|it|money|transfer|order|payment|standing order)",
            "name of (person|man|woman|one) (who|that|you)",
            "(landlord|recipient|payee|beneficiary) name",
            "name of (landlord|recipient|beneficiary)",
        ),
        ("It goes to {value}.", "The payee is {value}.", "To {value}."),
        "name",
    ),
    Fact(
        "sender",
        (
            "name of the sender",
            "name on the entry",
            "(who|whom) (sent|paid) (|you) (|it|this) (|money|transfer|payment)",
            "(who|whom) (is|was|did) (it|money|transfer|payment) (|come|came) from",
            "(who|whom) (it|money|transfer|payment) (came|comes|is|was) from",
            "(which|what) name (is|stands|do you see) (on|with|at|beside) (entry|transfer|payment|it)",
        ),
        ("It says {value}.", "The name there is {value}.", "From {value}, it says."),
        "text",
    ),
    Fact(
        "limit",
        ("kind of limit", "(which|what) (|of) (limit|limits)", "limit you mean", "limit you want changed"),
        ("It is the {value}.", "The {value}, please.", "I mean the {value}."),
        "text",
        ("daily transfer limit", "daily cash limit", "card limit"),
    ),
    Fact(
        "new_amount",
        (
            "desired new amount",
            "new amount",
            "amount you would like",
            "how high",
            "how (high|much) should (it|limit|new limit) be",
            "(new|desired|wanted) limit",
            "amount you need",
            "to how much",
            "how (low|high)",
            "what amount should (|we|i) (pay|it be|send)",
            "how much (is|will be) new (rent|amount|limit|price|fee)",
            "how (much|high) (do|would|will) you (need|want|like)",
            "(what|how high|how low) (should|shall|will) (|new) (limit|it|order) (|be) (raised|set|lowered|put) to",
            "(what|how high|how low) (should|shall|will) (|new) (limit|it|order) be (changed|increased|reduced) to",
            "(what|how high|how low) (should|shall|would|will) (|new) (limit|order) be",
            "to (what|which) amount",
        ),
        ("It should be {value}.", "{value}, please.", "I need {value}."),
        "amount",
    ),
    Fact(
        "until",
        (
            "desired end date",
            "last day you need it",
            "until when",
            "until when (|do|will|would) you need it",
            "until (which|what) day",
            "how long you need it",
            "for how long",
        ),
        ("Until {value}.", "I need it until {value}.", "{value} would be the last day."),
        "date",
    ),
    Fact(
        "other_account",
        (
            "other account",
            "account for the balance",
            "account the money should go to",
            "number of the other account",
            "where (should|shall|will|would|do|can) (|you|we|i) (|want|like) (|remaining) (balance|money|rest|funds)",
            "where (balance|money|rest|funds) (go|goes|should|shall)",
            "(which|what) (|own|other) account (should|shall|will|would|do|can) (balance|money|rest|funds)",
            "(which|what) account (should|shall|will|would|do|can) (|you|we|i) (|want|like) (|me|us)"
            " (|send|pay|transfer|move|put) (|remaining) (balance|money|rest|funds)",
            "(which|what|another) account (should|shall|will|can|could|is to|) (receive|take|get)",
            "(which|what) account (should|shall|will|would|can) (|you|we|i) (send|pay|transfer|move|put) remaining",
            "(receiving|destination|payout|another|other marram) account",
            "(|number of) account that (should|shall|will) (receive|take|get)",
            "(|number of) other account",
            "account (to|that) (receive|receives|take|takes|get|gets) (|remaining) (balance|money|rest|funds)",
        ),
        ("Send it to {value}.", "The other account is {value}."),
        "id",
    ),
    Fact(
        "old_amount",
        (
            "(present|current|existing|old) amount",
            "amount of (|standing) order (|now|today)",
            "amount that is paid (now|today|at the moment)",
            "what (is|gets) paid",
            "(present|current|existing|old) amount of (|standing) order",
            "(what|which) amount (is|does) (he|she|it|they|landlord) (get|gets|getting|receive|receives|receiving)",
            "(what|how much) (is|are) (you|being) (paying|paid)",
            "which (|one) of the two (|orders)",
        ),
        ("It is the one over {value}.", "The one of {value}.", "I mean the order of {value}."),
        "amount",
    ),
)
"""Transfers, orders, limits and deposits."""

OTHER = (
    Fact(
        "country",
        ("country you are going to", "(which|what) countr(y|ies)", "where you are travelling", "destination"),
        ("I am going to {value}.", "{value}.", "It is {value}."),
        "place",
    ),
    Fact(
        "device",
        ("name of the device", "(which|what) (device|phone|tablet)", "device you do not know"),
        ("It is called {value}.", "The device is {value}.", "{value}."),
        "text",
    ),
    Fact("reason", ("reason", "why", "what happened"), ("The reason is {value}.", "It is because of {value}.")),
)
"""What else comes up."""

vocabulary = Vocabulary((*PERSON, *PAYMENTS, *MONEY, *OTHER))
