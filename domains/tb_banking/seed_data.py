"""Texts of the seed: what customers and merchants wrote, what colleagues noted. All invented, and harmless."""

from typing import NamedTuple

from tb_banking.models.kinds import (
    ComplaintFinding,
    Credit,
    Disposition,
    DisputeReason,
    DisputeStage,
    Gravity,
    NoteKind,
    Queue,
    Stage,
    Subject,
    Template,
)
from tb_banking.world.company import Trade


class CaseText(NamedTuple):
    """A case of an earlier conversation."""

    subject: Subject
    stage: Stage
    disposition: Disposition | None
    queue: Queue
    summary: str


CASES: tuple[CaseText, ...] = (
    CaseText("card_dispute", "closed", "done", "service", "Dispute filed for a parcel that never came."),
    CaseText("card_dispute", "closed", "recognised", "service", "Payment was the family's music subscription."),
    CaseText("card_dispute", "closed", "policy_refused", "service", "Payment was too long ago to be disputed."),
    CaseText("card_dispute", "referred", "team_review", "disputes", "Many disputes within a year."),
    CaseText("lost_card", "closed", "done", "service", "Card left in a taxi; a new one is on its way."),
    CaseText("lost_card", "closed", "done", "service", "Card found in a coat and unfrozen."),
    CaseText("card_control", "closed", "done", "service", "Card was prepared for a trip."),
    CaseText("limit", "closed", "done", "service", "Transfer limit raised for a month of moving house."),
    CaseText("limit", "closed", "sign_off_denied", "service", "The controls desk did not agree to the limit."),
    CaseText("limit", "waiting", "sign_off_pending", "controls", "Waiting for the controls desk."),
    CaseText("limit", "closed", "customer_withdrew", "service", "Customer will pay in two parts instead."),
    CaseText("transfer", "referred", "team_review", "payments", "Transfer to a wrong number is being traced."),
    CaseText("transfer", "closed", "policy_refused", "service", "Instant transfer could not be recalled."),
    CaseText("standing_order", "closed", "done", "service", "Rent order raised after a letter of the landlord."),
    CaseText("standing_order", "open", None, "service", "Customer will write which order is meant."),
    CaseText("fee", "closed", "done", "service", "Overdraft fee returned in part."),
    CaseText("fee", "closed", "policy_refused", "service", "Second fee within a year stays."),
    CaseText("fee", "open", None, "service", "Customer asked how the monthly fee comes about."),
    CaseText("hold", "closed", "done", "service", "Hotel had written; the hold was released."),
    CaseText("deposit", "closed", "customer_withdrew", "service", "Customer keeps the deposit until its end."),
    CaseText("device", "closed", "done", "service", "Old tablet removed from the profile."),
    CaseText("mandate", "closed", "done", "service", "Mandate of a relative ended."),
    CaseText("complaint", "referred", "team_review", "complaints", "Answer of spring is looked at again."),
    CaseText("complaint", "open", None, "service", "Customer is unhappy with a late letter."),
    CaseText("account_access", "closed", "not_verified", "security", "Caller could not name the facts on file."),
    CaseText("account_access", "waiting", "documents_needed", "onboarding", "A new proof of address is awaited."),
    CaseText("closing", "closed", "policy_refused", "service", "A hold was active on the account."),
    CaseText("incoming_payment", "closed", "done", "service", "Money of a stranger was sent back."),
)

REMARKS: tuple[str, ...] = (
    "Customer wrote again and was friendly.",
    "Explained the same once more in writing.",
    "No answer to our question so far.",
    "Customer will call back next week.",
    "Asked a colleague to read it too.",
)

NOTES: tuple[tuple[NoteKind, str], ...] = (
    ("remark", "Prefers to be called in the afternoon."),
    ("remark", "Likes short answers."),
    ("remark", "Reads the app in large print."),
    ("remark", "Moved house in spring; the address was updated."),
    ("remark", "Travels a lot for work."),
    ("remark", "Asked what a term deposit is; the guide page was sent."),
    ("remark", "Has a new phone since summer."),
    ("merchant", "Told us that a yoga class was given up and its card payments should end."),
    ("merchant", "Has an argument with a furniture shop about a scratched lamp; no payment is contested."),
    ("hardship", "Hardship team: hours were cut at work, a plan for the overdraft was agreed."),
    ("security", "A caller could not name the facts on file; nothing was told."),
    ("goodwill", "A part of an overdraft fee was returned."),
    ("complaint", "Compensation was paid for a late answer."),
)

FROM_CUSTOMERS: tuple[str, ...] = (
    "Hello, where in the app do I find my statements of last year? Thank you.",
    "Good morning, I shall be abroad in November. Is there anything I should do before?",
    "Hi, can my daughter have an account with you before she is ten?",
    "Dear team, the new app is much easier to read. Well done.",
    "Hello, my payee has a new bank. Do I have to add them again?",
    "Could you tell me what the interest on a deposit of a year is at the moment?",
    "Hi there, I have a new phone. Do I need to register it?",
    "Hello, how long does a transfer to another bank usually take?",
    "Good evening, I would like to know whether you send paper letters at all.",
    "Hello, thanks for the quick help on Monday.",
)

FROM_MERCHANTS: tuple[str, ...] = (
    "This is to confirm your customer's booking. Nothing is to be done on your side.",
    "We answer your question: the goods were sent and signed for.",
    "Our billing name changes next month; payments of your customers may show both names.",
)

TO_CUSTOMERS: tuple[Template, ...] = (
    "dispute_update",
    "card_update",
    "change_confirmed",
    "change_confirmed",
    "money_confirmed",
    "referral_notice",
    "documents_request",
    "security_warning",
)


class DisputeText(NamedTuple):
    """A dispute to place: its reason, stage, credit, and what was told."""

    reason: DisputeReason
    stage: DisputeStage
    credit: Credit
    evidence: str


DISPUTED: dict[DisputeReason, tuple[Trade, ...]] = {
    "fraud": ("electronics", "tickets", "clothing"),
    "not_received": ("furniture", "toys", "clothing", "electronics"),
    "duplicate": ("restaurant", "groceries", "pharmacy"),
    "wrong_amount": ("restaurant", "taxi", "furniture"),
    "cancelled_subscription": ("fitness", "software", "streaming"),
}
"""Where the payments were made that customers contest."""

DISPUTES: tuple[DisputeText, ...] = (
    DisputeText("fraud", "filed", "given", "Card was never out of the house."),
    DisputeText("fraud", "filed", "none", "Does not know the shop at all."),
    DisputeText("fraud", "contested", "given", "Was at work at that hour."),
    DisputeText("fraud", "won", "given", "Card data was stolen from an online shop."),
    DisputeText("fraud", "lost", "taken_back", "Did not remember the order."),
    DisputeText("not_received", "filed", "none", "A parcel that never came."),
    DisputeText("not_received", "contested", "none", "Merchant says it was left with a neighbour."),
    DisputeText("not_received", "escalated", "none", "Has a letter of the carrier."),
    DisputeText("not_received", "won", "none", "Merchant did not answer."),
    DisputeText("not_received", "lost", "none", "Parcel had been signed for."),
    DisputeText("duplicate", "filed", "none", "Paid twice at the same till."),
    DisputeText("duplicate", "won", "given", "Terminal had failed in between."),
    DisputeText("duplicate", "withdrawn", "none", "Second payment was for a friend."),
    DisputeText("wrong_amount", "filed", "none", "Receipt shows a smaller amount."),
    DisputeText("wrong_amount", "contested", "given", "Receipt and statement differ."),
    DisputeText("wrong_amount", "lost", "taken_back", "The tip had been forgotten."),
    DisputeText("cancelled_subscription", "filed", "none", "Cancelled in writing a month before."),
    DisputeText("cancelled_subscription", "withdrawn", "none", "Merchant paid it back."),
)

COMPLAINTS: tuple[tuple[Gravity, ComplaintFinding, int], ...] = (
    ("minor", "upheld", 9),
    ("minor", "not_upheld", 6),
    ("serious", "upheld", 14),
    ("minor", "none", 0),
    ("severe", "upheld", 17),
    ("serious", "not_upheld", 11),
    ("minor", "none", 0),
    ("minor", "upheld", 21),
)
"""Gravity, finding, and working days until the answer (0: still open)."""

SENDERS: tuple[str, ...] = (
    "Rosalind Thorne: for the tickets",
    "Brookfield Sports Club: refund",
    "K. Osterhagen: your half of the dinner",
    "Amberley Insurance: claim settled",
    "Oakley family: holiday",
    "Town of Hazelbrook: tax credit",
)
"""What comes in beside salaries."""

FOREIGN: dict[str, str] = {
    "Porto": "EUR",
    "Utrecht": "EUR",
    "Hamburg": "EUR",
    "Bologna": "EUR",
    "Dublin": "EUR",
    "Bremen": "EUR",
    "Leeds": "GBP",
}
"""Cities of our merchants where one pays in another currency."""
