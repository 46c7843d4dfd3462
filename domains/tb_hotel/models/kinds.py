"""The enumerations of the hotel: each is declared here once, as a `Literal`, and becomes a CHECK constraint."""

from typing import Literal

Currency = Literal["USD"]
Tier = Literal["standard", "silver", "gold", "platinum"]
PlanKind = Literal["flexible", "semi_flexible", "non_refundable", "corporate", "group"]
Channel = Literal["direct", "ota", "corporate", "group"]
BookingStatus = Literal["confirmed", "in_house", "checked_out", "cancelled", "no_show", "voided", "relocated"]
CancelReason = Literal["guest_request", "relocation_declined"]
NightStatus = Literal["booked", "released"]
RoomStatus = Literal["clean", "dirty", "out_of_order"]
BlockKind = Literal["housekeeping", "maintenance"]
Severity = Literal["minor", "major", "unusable"]
GroupStatus = Literal["open", "closed"]
Collects = Literal["partner", "hotel"]
Coverage = Literal["room_only", "room_and_breakfast", "full_board"]
FolioKind = Literal["guest", "company", "group_master"]
FolioStatus = Literal["open", "settled", "invoiced"]
ChargeKind = Literal[
    "room",
    "breakfast",
    "restaurant",
    "minibar",
    "laundry",
    "parking",
    "pet",
    "late_checkout",
    "change_fee",
    "rate_difference",
    "upgrade",
    "transfer_fee",
    "group_release",
    "no_show",
]
Evidence = Literal["none", "signed"]
WaiveReason = Literal["dispute", "price_correction", "compensation"]
PaymentKind = Literal["prepayment", "deposit", "settlement", "no_show"]
PaymentStatus = Literal["captured", "authorised", "failed"]
RefundReason = Literal[
    "cancellation",
    "rate_difference",
    "early_departure",
    "no_show",
    "double_payment",
    "duplicate_booking",
    "corporate_rate",
    "dispute",
    "price_correction",
    "compensation",
    "relocation",
]
LoyaltyKind = Literal["stay", "correction", "relocation"]
LoyaltyStatus = Literal["pending", "posted", "reversed"]
ApprovalKind = Literal["refund", "waiver"]
Decision = Literal["granted", "denied", "pending"]
Topic = Literal[
    "cancellation",
    "date_change",
    "room_change",
    "early_departure",
    "late_checkout",
    "no_show",
    "folio_split",
    "charge_dispute",
    "extras_price",
    "payment_error",
    "duplicate_booking",
    "loyalty",
    "corporate_rate",
    "group_block",
    "relocation",
    "name_change",
    "service_complaint",
]
TicketStatus = Literal["open", "on_hold", "escalated", "closed"]
Outcome = Literal["completed", "partly_completed", "refused", "pending_approval", "referred", "no_action"]
Reason = Literal[
    "within_policy",
    "manager_granted",
    "manager_denied",
    "manager_pending",
    "policy_refused",
    "identity_failed",
    "not_authorised",
    "partner_owns",
    "already_done",
    "guest_declined",
    "finance_review",
    "document_review",
    "system_fault",
]
Team = Literal["front_desk", "duty_manager", "partner_desk", "finance", "security", "it_support", "guest_relations"]
NoteKind = Literal["preference", "goodwill", "security", "complaint"]
Direction = Literal["inbound", "outbound"]
SentTemplate = Literal[
    "cancellation_confirmed",
    "change_confirmed",
    "billing_confirmed",
    "loyalty_confirmed",
    "group_confirmed",
    "relocation_confirmed",
    "approval_pending",
    "partner_referral",
    "review_opened",
    "security_notice",
]
Template = Literal["none", SentTemplate]
"""``none`` marks what a guest wrote."""
CheckResult = Literal["passed", "failed"]
CallerRole = Literal["guest", "third_party"]
