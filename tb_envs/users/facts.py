# ruff: noqa: E501
"""The facts that customers of any company know: how an agent asks for them, how a customer says them.

Refuses domain detail: a domain adds its own in a `Vocabulary`. Alternatives are written
`(a|b)`; `code`, `id`, `ref`, `reference`, `locator` are all "number" and `reservation` is "booking"
(`words.py`), so they are not listed again.
"""

from __future__ import annotations

from typing import NamedTuple

from tb_envs.authoring.persona import Fact


class Generic(NamedTuple):
    """A fact, the other names a persona may know it by, and the words too common to ask for it alone.

    `loosely`: count only directly after a question word or a request ("which booking", "give me the date").
    `else_`: facts to answer with when this one is not known, best first; `+` joins several.
    """

    fact: Fact
    names: tuple[str, ...] = ()
    loosely: tuple[str, ...] = ()
    else_: tuple[str, ...] = ()


GENERIC: tuple[Generic, ...] = (
    Generic(
        Fact(
            "booking",
            ("number is (it|booking)", "number of stay", "(booking|confirmation) (number|confirmation number|number number|confirmation)", "number number", "number (it|that) (is|was) booked under", "(number|number number) (on|in|from|at top of) (confirmation|email|letter|mail) (|email|mail|letter)", "confirmation (email|mail) number", "record number", "itinerary number", "(what|which) number (have|got) (booking|stay)"),
            ("My booking number is {value}.", "It's {value}.", "The booking number is {value}.", "The confirmation says {value}."),
            "id",
        ),
        ("booking_id", "booking_number", "booking_ref", "reservation", "confirmation", "confirmation_number", "stay", "reservation_id"),
        ("booking", "number", "stay", "confirmation"),
    ),
    Generic(
        Fact(
            "email",
            ("email", "email (address|account|id|contact)", "e mail", "e mail address", "electronic address", "mail (address|account|id)", "electronic mail", "electronic mail address", "mail"),
            ("My e-mail is {value}.", "It's {value}.", "You can use {value}.", "The e-mail address is {value}."),
            "email",
        ),
        ("email_address", "mail", "contact_email"),
    ),
    Generic(
        Fact(
            "phone",
            ("phone", "(phone|contact|callback|daytime|call back) number", "phone contact", "number (to|we can|i can|we could|can we|can i|should we) (reach|call|contact|ring|phone|get|use to) ", "(reach|call|ring) you (on|at|under)", "number (can|could|should|may|will|would) (we|i|manager|team|they|someone|colleague|he|she) (reach|call|contact|ring|phone|get|use)", "number to (reach|call|ring|contact)", "number where (we|i|you|they)", "best number", "landline", "number to (dial|ring)"),
            ("My phone number is {value}.", "It's {value}.", "You can reach me on {value}."),
            "phone",
        ),
        ("phone_number", "mobile", "telephone", "callback_number"),
    ),
    Generic(
        Fact(
            "surname",
            ("(last|family|second) name", "surname", "sur name"),
            ("My surname is {value}.", "The last name is {value}.", "{value} is the surname."),
            "name",
        ),
        ("last_name", "family_name"),
        (),
        ("name",),
    ),
    Generic(
        Fact("first_name", ("(first|given) name", "forename"), ("My first name is {value}.", "It's {value}."), "name"),
        ("forename", "given_name"),
        (),
        ("name",),
    ),
    Generic(
        Fact(
            "name",
            ("name", "(full|complete|guest|booking|legal|lead|traveller|traveler|customer|holder|passenger|cardholder|account|employee|member|contact) name", "(first|given) (name|) (and|or) (last|family) name", "(name|first) and (surname|last name|family name)", "surname and (first name|name)", "who (is|was) (booking|stay|room|guest|traveller|it) (under|for|name|in name of|staying|booked for)", "who (is|was) (guest|traveller|lead guest|main guest|customer|staying|booked|travelling)", "(under|in) (which|what|whose) name", "(what|who) is (booking|stay|it|room) (|booked|made|listed|filed|registered|held) under", "(what|who) (do|did|have) you (|have) (it|booking|book|stay) (|booked) under", "whose name", "whose (booking|room|stay) (|is) (|it|that)", "who (made|booked|placed)", "who is (in charge|responsible|contact)", "what should i call you", "how should i address you", "who is booking for"),
            ("My name is {value}.", "It's {value}.", "The name is {value}."),
            "name",
        ),
        ("full_name", "guest", "guest_name", "customer", "customer_name", "traveller", "employee"),
        (),
        ("surname", "caller"),
    ),
    Generic(Fact("own_name", (), (), "name"), (), (), ("caller", "name", "first_name+surname", "surname")),
    Generic(
        Fact(
            "caller",
            ("who (am i|is|are|do i have) (speaking|talking|calling|on line|pleasure|writing|contacting|chatting|this|that|you|with)", "(speak|speaking|talking|chatting|dealing|pleasure of speaking) (with|to) who", "(with|to) (who|whom) (am i|i am|do i have|have i|are we)", "whom (am i|do i have|i am|i have)", "who (am i|i am) (speaking|talking|chatting) (with|to)", "(may|can|could) i ask who (is|am)", "who (is|are) (you|calling|writing|there|asking|enquiring)", "relationship", "your role", "(calling|writing|acting|speaking|contacting us|contacting) on behalf", "on whose behalf", "on behalf of (who|whom|someone|guest)", "whose behalf", "how (are|do) you (related|know|connected)", "are you (guest|booker|account holder|card holder|cardholder|holder|owner|traveller|person who|one who|main guest|lead guest|policyholder|registered guest|member yourself)", "(guest|booker|holder|cardholder) yourself", "(authorised|allowed|entitled) to (act|speak|make|change|manage|access|request)", "calling for (yourself|someone|another)", "who you are", "acting for", "capacity", "caller"),
            ("{value}.", "I'm {value}.", "This is {value}."),
            "text",
        ),
        ("relationship", "who", "caller_name", "relation", "role"),
        (),
        ("name", "first_name+surname", "surname"),
    ),
    Generic(
        Fact(
            "card",
            ("card (ending|number|digit|use|on file|detail|end|last four|paid)", "last (4|four) (digits|numbers|number|)", "(final|last) (digits|four|4)", "(4|four) digits", "(payment|credit|debit|bank|visa|mastercard) card (number|ending|digits|)", "card (you|that) (paid|used|booked)", "digits of card", "(last|final) (4|four|for) (digits|numbers|number|figures) of (card|cart)", "(last|final) for (digits|numbers)", "(end|ending|final|last) (numbers|digits|figures) (of|from|on) card", "how (|does|did) card (end|on booking end|on file end|you used end|you paid with end)", "last (digits|four|4) (of|on) card"),
            ("The card ends in {value}.", "It's the one ending in {value}.", "The last four digits are {value}."),
            "digits",
        ),
        ("card_ending", "card_last4", "last_four", "last4", "card_last_four", "card_number"),
        ("card",),
    ),
    Generic(
        Fact(
            "arrival",
            ("(arriv|check in|checkin|start|starting|begin|beginning|first|booked|booking|stay|original|current) (date|day|night)", "check in", "date of (stay|booking|arriv|check in|visit|trip)", "when (is|was|are|do|did|does|will|were|would) (you|stay|booking|it|trip|guest|she|he|they) (|be) (|plan to|planning to|due to|supposed to|scheduled to|going to|hoping to) (arriv|check in|start|begin|come|staying|get here|stay|travelling)", "when (is|was) (booking|stay|trip|visit|arriv|check in)", "(day|date) (you|it) (arriv|check in|start)", "(day|date|night) (are|do|were|did|is|was|does) (you|stay|booking|it) (arriv|check in|start|stay|booking|staying|begin)", "arriv", "when you (are|will be|) (coming|checking in|staying)", "when (will|can|may|do|should|shall|could) (we|i) (|be) (see|seeing|expect|welcome|expecting|welcoming) you", "from when"),
            ("I arrive on {value}.", "Arrival is {value}.", "We check in on {value}.", "The check-in date is {value}."),
            "date",
        ),
        ("check_in", "arrival_date", "checkin", "check_in_date", "start_date", "start", "stay_date", "date"),
        ("date", "day"),
        ("dates",),
    ),
    Generic(
        Fact(
            "departure",
            ("(depart|check out|end|ending|last|leaving) (date|day|night)", "check out", "date of (depart|check out)", "when (is|was|are|do|did|does|will|were|would) (you|stay|booking|it|trip|guest) (|be) (|plan to|planning to|due to|supposed to|scheduled to|going to|hoping to) (leav|depart|check out|end|finish)", "(day|date) (you|it) (leav|depart|check out|end)", "(day|date) (are|do|were|did|is|does) (you|stay|it) (leav|depart|check out|end)", "depart", "when you (are|will|will be|plan to|are planning to|want to|) (leav|check out)", "(until|till) when", "how long until"),
            ("I leave on {value}.", "Departure is {value}.", "We check out on {value}.", "The check-out date is {value}."),
            "date",
        ),
        ("check_out", "departure_date", "checkout", "check_out_date", "end_date", "end"),
        (),
        ("dates", "hour"),
    ),
    Generic(
        Fact(
            "dates",
            ("(stay|travel|trip|booking|visit|original|current|booked|holiday) dates", "dates of (stay|booking|travel|trip|visit)", "from (which|what) (date|day) (to|until|till) (which|what) (date|day)", "(what|which) (dates|nights)", "dates (are|is|were|was|do|did) (you|it|stay|booking)", "dates", "from when (to|till|until) when", "when is stay", "when are you staying"),
            ("The dates are {value}.", "It's {value}.", "The stay is {value}."),
            "date",
        ),
        ("stay_dates", "booking_dates", "travel_dates", "current_dates"),
        (),
        ("arrival+departure", "new_dates", "new_arrival+new_departure"),
    ),
    Generic(
        Fact(
            "new_dates",
            ("(new|desired|preferred|alternative|replacement|target|requested|revised|updated|wanted|other|different|proposed|ideal) (date|dates|day|night)", "(date|dates|day) (would|will|do|did|should|shall|could|can) (you|we|i|it) (|be) (like|want|wish|prefer|move|change|suit|need|rather|choose|come|have in mind|thinking|looking|hoping|switch|work|rebook|reschedule|postpone|book)", "(date|dates|day) in mind", "(date|dates|day) (are|is) (you|it) (thinking|looking|hoping|moving|changing)", "(date|dates|day) (would|will|could) (suit|work|be better|be best|be convenient)", "(move|change|reschedule|postpone|switch|shift) (|it|stay|booking|that) (to|until|for) (what|which|when)", "to (which|what) (date|dates|day)", "(date|dates|day) (instead|you have in mind|you want|you would like|you would prefer|you prefer|to move|to change|you wish|suits|works|work|would suit|would work|to switch)", "when (instead|would suit|suits you|works)", "for when", "when (would|do|will|should|could) (you|we|i|it) (like|want|prefer|wish|move|come|rather)", "(date|dates|day) (we|i) (move|change|should)"),
            ("I'd like {value}.", "The new date would be {value}.", "{value} would be best.", "Could we make it {value}?"),
            "date",
        ),
        ("new_date", "wanted_date", "wanted_dates", "desired_date", "desired_dates", "preferred_dates"),
        (),
        ("new_arrival+new_departure",),
    ),
    Generic(
        Fact(
            "new_arrival",
            ("(new|desired|preferred|revised|requested|wanted|later|earlier) (check in|arriv|start|first) (date|day|night|)",),
            ("I'd like to arrive on {value}.", "The new arrival would be {value}."),
            "date",
        ),
        ("new_check_in", "new_start"),
        (),
        ("new_dates",),
    ),
    Generic(
        Fact(
            "new_departure",
            ("(new|desired|preferred|revised|later) (check out|depart|end|leaving) (date|day|)", "(stay|extend|extending|extended|remain) (|it|stay|booking|on) (until|till|to) (when|what|which)", "(until|till) (when|which|what)", "how (long|much longer) (would|do|will) you (like|want|wish|plan|need) to (stay|extend|remain)"),
            ("Until {value}, please.", "I'd like to leave on {value}.", "The new departure would be {value}."),
            "date",
        ),
        ("new_check_out", "extend_to", "new_end"),
        (),
        ("new_dates", "hour"),
    ),
    Generic(
        Fact("nights", ("how many nights", "(number|amount) of nights", "(length|duration) of stay", "how long (is|are|will|do|did|was|were|of) (|you|stay|booking|your stay|it|a stay)", "nights"), ("It's {value} nights.", "{value} nights."), "number"),
        ("number_of_nights", "length"),
    ),
    Generic(
        Fact(
            "room",
            ("(room|bed|suite) (type|categori|class|kind|preferenc|configuration)", "(type|kind|sort|categori|class) of (room|suite|accommodation|bed)", "(what|which) (room|suite) (would|do|did|are|is) you (like|want|prefer|book|need|have|after|looking)", "which room (|type|you|would)", "what room", "(twin|double|king|queen) or (twin|double|king|queen)", "bed (do|would) you"),
            ("I'd like {value}.", "{value}, please.", "The room type is {value}."),
            "text",
        ),
        ("room_type", "room_wanted", "wanted_room", "new_room", "room_category"),
        ("room",),
        ("room_number",),
    ),
    Generic(
        Fact("room_number", ("room number", "number of room", "(which|what) room (number|) (are|were|is|was|will|do|did|have|has) (you|it|they) (|be|been|have) (in|staying|stay|given|put|sleep|sleeping|occupying|occupy|staying in|having)", "number (is|was|) on (|you) (door|key|room)", "door number", "room you are (in|staying)", "(which|what) room (is|was) (it|that)"), ("I'm in room {value}.", "Room {value}."), "number"),
        ("room_no",),
    ),
    Generic(Fact("maiden_name", ("maiden name", "(mother|father|wife|husband|partner|sister|brother|manager|boss) name", "(mother|father|wife|husband) maiden name"), ("It's {value}.",), "name")),
    Generic(
        Fact(
            "reason",
            ("(why|reason|motive|motiv|motivation|cause|grounds)", "(what|anything|something) (has|have) changed", "(what|anything|something) (has|have|) (happen|prompt|caused|led|came up|come up|going on|went wrong|go wrong)", "(circumstanc|background|context|situation)", "how come", "what (makes|made|is making) (you|it|that|change|move)", "what is behind", "purpose of (stay|trip|visit|travel|cancel|call|journey|change)", "what led", "justification", "what (brought|brings) (this|that)", "what (was|is) wrong", "what for", "occasion"),
            ("The reason is {value}.", "It's because of {value}.", "Because of {value}.", "It is {value}."),
            "text",
        ),
        ("cause", "why", "cancel_reason", "cancellation_reason", "explanation"),
    ),
    Generic(
        Fact(
            "property",
            ("(which|what) (hotel|property|location|branch|city|town|site|house|place|resort|store|office|destination)", "(hotel|property|resort|branch) (name|location|you|is|was|are|did|city)", "(name|location) of (hotel|property|resort|branch)", "(city|town|location|property|destination)", "where (are|did|do|will|were) (you|we|he|she|they) (book|booked|stay|staying|going|planning)", "where (is|was) (booking|stay|it|that|hotel|reservation|room)", "where (is|was|are|were|will) (booking|stay|hotel|you)", "where about"),
            ("It's {value}.", "The hotel in question is {value}.", "At {value}."),
            "place",
        ),
        ("city", "hotel", "location", "place", "destination", "town", "branch", "store"),
        ("hotel", "where"),
    ),
    Generic(
        Fact(
            "guests",
            ("for how many", "how many (guest|person|adult|of you|traveller|traveler|individual|children|kids|visitor|will be|are you|are staying|are coming|in your party|in party|are travelling|will stay)", "(number|count|total) of (guest|person|adult|traveller|occupant|children|visitor|pax)", "party size", "size of party", "(guest|head) (count|number)", "headcount", "occupancy", "(guests|people|persons|adults) (is|are|will) (|it|there|be|you) (for|staying|travelling|in)", "alone", "who (else|all) is (coming|staying|travelling)", "how big is (party|group)"),
            ("We are {value}.", "It's for {value}.", "{value} in all."),
            "number",
        ),
        ("number_of_guests", "guest_count", "party_size", "people", "adults", "persons"),
    ),
    Generic(
        Fact(
            "company",
            ("(company|employer|organis|firm) (name|account|number|is|are|you|)", "(business|corporate) (name|account|client)", "(name|which|what) (of|) (company|employer|firm|business|organis|corporation)", "who do you work for", "where do you work", "which company"),
            ("The company is {value}.", "It's {value}.", "I work for {value}."),
            "name",
        ),
        ("company_name", "employer", "organisation", "organization", "corporate_account"),
    ),
    Generic(
        Fact(
            "charge",
            ("(which|what) (charge|item|line|entry|entries|position|transaction|expense|fee|part|payment|cost|debit) ", "(disputed|contested|questionable|wrong|incorrect|unknown|unfamiliar|folio|extra) (charge|item|line|entry|amount|position)", "charge (in|you) (question|dispute|mean|do not recognise|disagree)", "(charge|item|line|entry) (in question|in dispute|you dispute|you mean|you do not recognise|you disagree|concerned|you are disputing)", "what (is|was) (charge|item) (for|called|described|)", "what were you charged for", "what is on (bill|folio|invoice|statement)", "dispute (which|what)", "(which|what) (on|in) (bill|folio|invoice|statement)", "what (exactly |)are you disputing"),
            ("It's about {value}.", "The charge is {value}.", "I mean {value}."),
            "text",
        ),
        ("disputed_charge", "item", "line", "charge_description", "transaction"),
        ("charge", "folio", "item", "entry", "line", "position"),
    ),
    Generic(
        Fact("folio", ("(folio|invoice|bill|receipt) number", "number of (folio|invoice|bill)", "(which|what) (folio|invoice|bill)"), ("The folio number is {value}.", "It's {value}."), "id"),
        ("folio_number", "folio_id", "invoice", "invoice_number", "bill"),
        ("folio", "invoice", "bill"),
        ("charge",),
    ),
    Generic(
        Fact(
            "amount",
            ("how much", "what (did|do|have|were|was) (they|we|you|it|hotel|bar) (|been) (charge|charged|bill|billed|cost) (|you)", "how (many|much) money", "what (amount|sum|price|figure|rate|total|refund)", "(price|sum|value) (you|of|did|were|was|paid|quoted)", "amount (you|of|that|did|were|was|expected|paid|charged|in question|do)", "(expected|refund|charged|disputed|total|exact|paid) (amount|sum|total|price)"),
            ("It's {value}.", "The amount is {value}.", "{value}."),
            "amount",
        ),
        ("expected_amount", "amount_expected", "total", "price", "sum", "expected_refund", "paid"),
        ("amount", "sum", "figure", "total"),
    ),
    Generic(
        Fact(
            "loyalty",
            ("(loyalty|member|rewards|reward|frequent guest|frequent traveller|point|bonus|club|programme|program|frequent flyer) (number|card|account|number number|card number|account number|member|program number|programme number|program)", "number of (loyalty|member|rewards) (card|account|)", "member", "loyalty", "number on loyalty card", "(part|member|enrolled) (of|in) (our|loyalty|the|rewards) (loyalty|rewards|program|programme|club)"),
            ("My loyalty number is {value}.", "It's {value}.", "The member number is {value}."),
            "id",
        ),
        ("loyalty_number", "member", "member_number", "membership", "loyalty_id", "member_id", "membership_number", "rewards_number"),
    ),
    Generic(
        Fact("tier", ("(tier|elite|status) (level|status|member|card|)", "(member|loyalty|account) (level|status|tier)", "(which|what) (level|status|tier)"), ("I'm {value}.", "My status is {value}."), "text", ("bronze", "silver", "gold", "platinum", "diamond", "standard", "basic")),
        ("loyalty_tier", "status", "level"),
        (),
    ),
    Generic(
        Fact(
            "ticket",
            ("(ticket|case|enquiry|inquiry|complaint|incident|previous|support|service request) number", "number of (ticket|case|complaint|previous contact|earlier contact)", "(which|existing|open|earlier|previous) (ticket|case)", "number you were given", "number (from|of) (last|previous|earlier) (call|contact|conversation)"),
            ("The ticket number is {value}.", "It's {value}.", "They gave me {value}."),
            "id",
        ),
        ("ticket_number", "ticket_id", "case", "case_number", "case_id"),
        ("ticket", "case"),
    ),
    Generic(
        Fact(
            "plate",
            ("(licens|number|registration|vehicle|car|registr) plate (number|)", "plate (number|)", "(car|vehicle|licens) (registration|registr|reg|license|number|tag)", "(registration|registr|reg) (number|plate|of car|of vehicle|)", "(number|plate|registration|registr) of (car|vehicle)", "plate on"),
            ("The licence plate is {value}.", "It's {value}.", "The plate is {value}."),
            "text",
        ),
        ("licence_plate", "license_plate", "number_plate", "registration", "plate_number"),
    ),
    Generic(
        Fact("vehicle", ("(make|model|type|kind|color) (and model|) of (car|vehicle)", "(what|which) (car|vehicle) (do|is|are|did|will|you)", "make and model", "(car|vehicle) (make|model|type)", "what do you drive"), ("It's {value}.", "I drive {value}."), "text"),
        ("car", "make_model"),
    ),
    Generic(
        Fact(
            "pet",
            ("(pet|dog|cat|animal|puppy)", "(kind|type|breed|size|weight|sort) of (pet|dog|cat|animal)", "(pet|dog|cat|animal) (name|breed|size|weight|detail|information)", "breed", "how much (does|do) (it|he|she|dog|pet|animal|cat) weigh", "how (big|large|heavy) is (|it|he|she|dog|pet|animal|cat)", "what (does|do) (it|he|she|dog|pet|animal) weigh", "four-legged"),
            ("It's {value}.", "I'm bringing {value}.", "{value}."),
            "text",
        ),
        ("pet_details", "dog", "animal", "pets"),
    ),
    Generic(Fact("birth_date", ("birth date", "date of birth", "birthday", "birthdate", "berth date", "(day|date|year|month) (of|) you birth", "(day|year|month) of birth", "(when|where) (were|was) you born", "born"), ("I was born on {value}.", "My date of birth is {value}."), "date"), ("date_of_birth", "dob", "birthday")),
    Generic(Fact("address", ("(home|billing|mailing|post|street|delivery|shipping|residential|current|invoice|full) address", "address (on|for|line|of|you)", "street", "address", "where (do|should|shall|can) (you live|we ship|we send|we deliver|we post)"), ("My address is {value}.", "It's {value}."), "text"), ("home_address", "billing_address", "street", "new_address", "delivery_address")),
    Generic(Fact("postcode", ("(post|zip) number", "zip", "postcode", "postcod"), ("The postcode is {value}.", "It's {value}."), "text"), ("zip", "zip_code", "postal_code")),
    Generic(Fact("time", ("(what|which) time (|will you|do you|would you|are you|did you|is|should i expect you|can we expect you) (|arriv|check in|check out|leav|depart|come|coming|landing|land|be here|get here|get in)", "(arriv|check in|check out|pickup|start|expected|estimated) time", "time of (arriv|depart|day|check in|check out)", "eta", "how (late|early)", "around what time", "(at|until) what you (go|leave|depart|come|want)", "(what|which) time"), ("At {value}.", "Around {value}."), "time"), ("arrival_time", "eta", "check_in_time", "departure_time"), (), ("hour",)),
    Generic(Fact("order", ("order number", "(order|purchase) (confirmation|number)", "number of (order|purchase)", "(which|what) order"), ("The order number is {value}.", "It's {value}."), "id"), ("order_id", "order_number"), ("order",)),
    Generic(Fact("account", ("account number", "(customer|client|user) number", "number of account", "(which|what) account", "iban"), ("The account number is {value}.", "It's {value}."), "id"), ("account_id", "account_number", "customer_number", "customer_id"), ("account",), ("loyalty",)),
    Generic(Fact("policy", ("(policy|insurance) number", "number of policy", "(which|what) policy"), ("The policy number is {value}.", "It's {value}."), "id"), ("policy_id", "policy_number"), ("policy",)),
    Generic(Fact("claim", ("claim number", "number of claim", "(which|what) claim"), ("The claim number is {value}.", "It's {value}."), "id"), ("claim_id", "claim_number"), ("claim",)),
    Generic(Fact("employee_id", ("(employee|staff|personnel|worker|payroll) number", "number of employee", "badge"), ("My employee number is {value}.", "It's {value}."), "id"), ("employee_number", "staff_id", "badge")),
    Generic(Fact("password", ("(password|passcode|passphrase|pin|cvv|cvc)", "(pin|security|access|verification|one-time|card verification|authentication|otp) number", "secret word", "(security|secret) (answer|word|question answer)"), ("It's {value}.",), "text"), ("pin", "passcode", "security_code", "code_word")),
)  # fmt: skip

IDENTIFYING = frozenset(("id", "email", "phone", "name"))
"""Kinds that serve to identify a customer in general."""
