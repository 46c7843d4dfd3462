"""The enumerations of the bank: each is declared here once, as a `Literal`, and becomes a CHECK constraint."""

from typing import Literal

Currency = Literal["USD"]
Segment = Literal["basic", "plus", "premier"]
KycStatus = Literal["verified", "in_review", "expired"]
DeviceStatus = Literal["new", "trusted", "revoked"]
MandateRole = Literal["joint_owner", "attorney", "guardian"]
Scope = Literal["view", "pay", "full"]
MandateStatus = Literal["active", "ended"]

AccountKind = Literal["current", "savings", "youth"]
AccountStatus = Literal["active", "closed"]
EntryKind = Literal[
    "card_payment",
    "cash",
    "transfer_in",
    "transfer_out",
    "salary",
    "interest",
    "fee",
    "fee_reversal",
    "provisional_credit",
    "credit_taken_back",
    "recall",
    "returned",
    "compensation",
    "deposit_payout",
]
EntryStatus = Literal["pending", "posted"]
Method = Literal["chip_pin", "contactless", "swipe", "online_confirmed", "online_plain", "none"]
HoldKind = Literal["card_authorisation", "deposit_check", "fraud", "legal"]
HoldStatus = Literal["active", "released"]
FeeKind = Literal["overdraft", "returned_payment", "foreign", "monthly", "replacement", "recall"]
ChargedFee = Literal["replacement", "recall"]
ReverseReason = Literal["bank_error", "goodwill"]
LimitKind = Literal["daily_transfer", "daily_cash", "card_spend"]
DepositStatus = Literal["active", "broken", "matured"]

CardStatus = Literal["active", "frozen", "replaced", "expired"]
Switch = Literal["on", "off"]
Control = Literal["online", "contactless", "abroad", "cash_abroad"]
FreezeReason = Literal["lost", "stolen", "misused", "precaution"]
ReplaceReason = Literal["lost", "stolen", "misused", "damaged"]
DisputeReason = Literal["fraud", "not_received", "duplicate", "wrong_amount", "cancelled_subscription"]
DisputeStage = Literal["filed", "contested", "escalated", "won", "lost", "withdrawn"]
DisputeResult = Literal["lost", "won"]
Credit = Literal["none", "given", "taken_back"]
AlertLevel = Literal["low", "high"]
AlertStatus = Literal["open", "genuine", "fraud"]
Finding = Literal["genuine", "fraud"]

Rail = Literal["instant", "standard"]
TransferStatus = Literal["scheduled", "pending", "completed", "recalled"]
PayeeCheck = Literal["match", "close_match", "no_match"]
Rhythm = Literal["weekly", "monthly"]
OrderStatus = Literal["active", "paused", "cancelled"]

ComplaintStatus = Literal["open", "answered"]
ComplaintFinding = Literal["none", "upheld", "not_upheld"]
Gravity = Literal["minor", "serious", "severe"]
CompensationKind = Literal["write_off", "delay", "trouble"]

Role = Literal["holder", "joint_owner", "attorney", "guardian", "other"]
"""As whom a caller speaks."""
CheckResult = Literal["passed", "failed"]
PasscodeStatus = Literal["sent", "confirmed", "failed"]
SignOffKind = Literal["provisional_credit", "limit", "fee_return", "compensation"]
Decision = Literal["granted", "denied", "pending"]
Subject = Literal[
    "card_dispute",
    "provisional_credit",
    "lost_card",
    "card_control",
    "limit",
    "transfer",
    "standing_order",
    "hold",
    "fee",
    "deposit",
    "alert",
    "device",
    "mandate",
    "complaint",
    "closing",
    "incoming_payment",
    "account_access",
]
Disposition = Literal[
    "done",
    "done_signed_off",
    "sign_off_denied",
    "sign_off_pending",
    "policy_refused",
    "part_done",
    "recognised",
    "already_settled",
    "customer_withdrew",
    "not_verified",
    "step_up_failed",
    "no_mandate",
    "documents_needed",
    "team_review",
    "system_fault",
]
Stage = Literal["open", "waiting", "referred", "closed"]
Queue = Literal[
    "service",
    "controls",
    "security",
    "disputes",
    "payments",
    "account_services",
    "onboarding",
    "complaints",
    "legal",
    "technology",
]
Direction = Literal["inbound", "outbound"]
Template = Literal[
    "none",
    "dispute_update",
    "card_update",
    "change_confirmed",
    "money_confirmed",
    "sign_off_waiting",
    "referral_notice",
    "documents_request",
    "security_warning",
]
SentTemplate = Literal[
    "dispute_update",
    "card_update",
    "change_confirmed",
    "money_confirmed",
    "sign_off_waiting",
    "referral_notice",
    "documents_request",
    "security_warning",
]
NoteKind = Literal["remark", "merchant", "hardship", "security", "goodwill", "complaint"]
