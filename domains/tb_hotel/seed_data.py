"""Texts of the seed: what guests wrote, what colleagues noted. All invented, and harmless."""

from tb_hotel.models import Collects, NoteKind, Reason, Team, Template, TicketStatus, Topic

PARTNERS: tuple[tuple[str, str, Collects], ...] = (
    ("PT-10211", "Roomfinch", "partner"),
    ("PT-10347", "Stayvane", "partner"),
    ("PT-10562", "Bednest Travel", "partner"),
    ("PT-10718", "Wayhaven", "hotel"),
    ("PT-10894", "Tripwillow", "hotel"),
)

NOTES: tuple[tuple[NoteKind, str], ...] = (
    ("preference", "Prefers a room away from the lift."),
    ("preference", "Asks for a feather-free pillow."),
    ("preference", "Likes a high floor and a quiet courtyard."),
    ("preference", "Travels with a folding bicycle; needs space to park it."),
    ("preference", "Vegetarian breakfast."),
    ("preference", "Wants the newspaper at the door at 7:00."),
    ("preference", "Needs a cot for a baby on most stays."),
    ("preference", "Pays at the desk in the evening, not at departure."),
    ("complaint", "Was unhappy with the noise of the street in spring; a fan was brought."),
    ("complaint", "Complained about slow lifts; an apology was sent."),
    ("goodwill", "A bottle of water and fruit were placed in the room after a long wait at check-in."),
    ("security", "A caller could not name the facts on file; nothing was told."),
)

EMAILS: tuple[str, ...] = (
    "Hello, could you tell me whether breakfast can be had before 6:30? My train leaves early.",
    "Good day, we arrive late in the evening, around 22:00. Is the desk still open? Kind regards",
    "Dear team, is there a place where I can leave my luggage after check-out?",
    "Hi, is the sauna open in summer? Thanks in advance.",
    "Hello, I shall bring my own pillow this time, no need for an extra one. See you soon.",
    "Good morning, could you send me the invoice of my last stay to this address?",
    "Hi there, how far is the house from the main station on foot?",
    "Hello, can I get a second key for my room? My sister shares it with me.",
    "Dear all, thank you for the kind welcome last time. I look forward to coming back.",
    "Hello, is there a desk in the room where I can work?",
)

TICKETS: tuple[tuple[Topic, TicketStatus, Reason | None, Team, str], ...] = (
    ("date_change", "closed", "within_policy", "front_desk", "Guest moved the stay by a week."),
    ("late_checkout", "closed", "within_policy", "front_desk", "Late check-out agreed."),
    ("late_checkout", "closed", "guest_declined", "front_desk", "Guest found the late check-out too dear."),
    ("room_change", "closed", "guest_declined", "front_desk", "Guest asked for the price of a deluxe room."),
    ("extras_price", "closed", "policy_refused", "front_desk", "Guest thought that parking was cheaper."),
    ("charge_dispute", "closed", "policy_refused", "front_desk", "Disputed dinner was signed by the guest."),
    ("loyalty", "closed", "already_done", "front_desk", "Guest asked for nights that were posted already."),
    ("payment_error", "escalated", "finance_review", "finance", "Two equal payments, three days apart."),
    ("name_change", "escalated", "document_review", "guest_relations", "Guest has a new name after marriage."),
    ("cancellation", "closed", "partner_owns", "partner_desk", "Booking was made with a partner."),
    ("cancellation", "on_hold", "manager_pending", "duty_manager", "Waiting for the duty manager."),
    ("service_complaint", "open", None, "front_desk", "Guest wrote that the room was cold; to be looked at."),
    ("early_departure", "open", None, "front_desk", "Guest may leave a day early and will write again."),
    ("no_show", "closed", "policy_refused", "front_desk", "No e-mail of the guest was found."),
    ("folio_split", "open", None, "front_desk", "Guest asked how the company can pay its part."),
)

COMMENTS: tuple[str, ...] = (
    "Guest called again and was friendly.",
    "Asked the house for details; they answered the same day.",
    "Sent the general terms once more.",
    "No answer to our question so far.",
    "Spoke with the front desk about it.",
)

TEMPLATES: tuple[Template, ...] = (
    "change_confirmed",
    "billing_confirmed",
    "cancellation_confirmed",
    "loyalty_confirmed",
    "partner_referral",
    "review_opened",
)
