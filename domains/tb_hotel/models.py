"""The records of Halden House Hotels, a chain with its own properties.

Money is integer cents beside a currency; dates are text ``YYYY-MM-DD``, instants
text ``YYYY-MM-DDTHH:MM:SSZ``. The whole chain lives in one time zone, UTC.
Enumerations are declared once, as ``Literal`` types, and become CHECK constraints.
"""

from typing import Any, Literal, get_args

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from tb_envs.authoring.models import derived, free, guarded, narrative

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
Template = Literal[
    "none",
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
CheckResult = Literal["passed", "failed"]
CallerRole = Literal["guest", "third_party"]


def one_of(column: str, values: Any) -> CheckConstraint:
    """The column holds one of the members of a ``Literal``."""
    listed = ", ".join(f"'{value}'" for value in get_args(values))
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_is_known")


def not_negative(column: str) -> CheckConstraint:
    """The amount or count is zero or more."""
    return CheckConstraint(f"{column} >= 0", name=f"{column}_not_negative")


def in_usd() -> CheckConstraint:
    """This company keeps all its books in US dollars."""
    return one_of("currency", Currency)


class Base(DeclarativeBase):
    """All tables of the hotel company."""


class Property(Base):
    """A hotel of the chain; its id is a three-letter code such as ``LIS``."""

    __tablename__ = "properties"
    __table_args__ = (guarded(prefix=None),)
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    city: Mapped[str]
    country: Mapped[str]
    phone: Mapped[str]


class RoomType(Base):
    """A category sold in every property: ``STD``, ``SUP``, ``DLX``, ``STE``; a higher rank is a better room."""

    __tablename__ = "room_types"
    __table_args__ = (not_negative("capacity"), guarded(prefix=None))
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    rank: Mapped[int]
    capacity: Mapped[int]


class Room(Base):
    """A physical room, e.g. ``LIS-204``."""

    __tablename__ = "rooms"
    __table_args__ = (one_of("status", RoomStatus), guarded(prefix=None))
    id: Mapped[str] = mapped_column(primary_key=True)
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"), index=True)
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    floor: Mapped[int]
    status: Mapped[str]


class RatePlan(Base):
    """``FLEX``, ``SEMI``, ``NRF``, ``CORP``, ``GRP``: a kind and its discount on the daily public price."""

    __tablename__ = "rate_plans"
    __table_args__ = (
        one_of("kind", PlanKind),
        CheckConstraint("discount_percent BETWEEN 0 AND 100", name="discount_is_percent"),
        guarded(prefix=None),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]
    discount_percent: Mapped[int]


class InventoryNight(Base):
    """One property, one room type, one night, e.g. ``LIS.DLX.2031-05-20``, with the public price of a room."""

    __tablename__ = "inventory_nights"
    __table_args__ = (
        UniqueConstraint("property_id", "room_type_id", "night"),
        CheckConstraint("rooms = free + sold + blocked", name="rooms_add_up"),
        not_negative("free"),
        not_negative("sold"),
        not_negative("blocked"),
        not_negative("public_price_cents"),
        in_usd(),
        derived(prefix=None),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    night: Mapped[str]
    rooms: Mapped[int]
    free: Mapped[int]
    sold: Mapped[int]
    blocked: Mapped[int]
    public_price_cents: Mapped[int]
    currency: Mapped[str]


class Guest(Base):
    """A person with a profile."""

    __tablename__ = "guests"
    __table_args__ = (guarded(prefix="GS"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    first_name: Mapped[str]
    surname: Mapped[str] = mapped_column(index=True)
    email: Mapped[str] = mapped_column(index=True)
    phone: Mapped[str]
    postcode: Mapped[str]
    birth_date: Mapped[str]
    city: Mapped[str]
    authorised_contact: Mapped[str | None]
    last_goodwill_on: Mapped[str | None]


class LoyaltyAccount(Base):
    """The Halden Circle membership of one guest; a guest without one is of tier ``standard``."""

    __tablename__ = "loyalty_accounts"
    __table_args__ = (
        UniqueConstraint("guest_id"),
        one_of("tier", Tier),
        not_negative("nights"),
        not_negative("points"),
        derived(prefix="LA"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"))
    tier: Mapped[str]
    joined_on: Mapped[str]
    nights: Mapped[int]
    points: Mapped[int]


class CorporateAccount(Base):
    """A company with a negotiated discount on the public price, and what it pays for its travellers."""

    __tablename__ = "corporate_accounts"
    __table_args__ = (
        one_of("covers", Coverage),
        CheckConstraint("discount_percent BETWEEN 0 AND 100", name="discount_is_percent"),
        CheckConstraint("valid_from <= valid_until", name="validity_in_order"),
        guarded(prefix="CO"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    discount_percent: Mapped[int]
    covers: Mapped[str]
    valid_from: Mapped[str]
    valid_until: Mapped[str]
    contact_email: Mapped[str]


class Partner(Base):
    """An online travel agency that sells our rooms."""

    __tablename__ = "partners"
    __table_args__ = (one_of("collects", Collects), guarded(prefix="PT"))
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    collects: Mapped[str]
    contact_email: Mapped[str]


class GroupBlock(Base):
    """Rooms held for a group: contracted = picked up + released + still held, on every night of the block."""

    __tablename__ = "group_blocks"
    __table_args__ = (
        one_of("status", GroupStatus),
        CheckConstraint("contracted = picked_up + released + held", name="rooms_add_up"),
        CheckConstraint("arrival < departure", name="dates_in_order"),
        not_negative("picked_up"),
        not_negative("released"),
        not_negative("held"),
        not_negative("room_price_cents"),
        in_usd(),
        guarded(prefix="GB"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    organiser_id: Mapped[str] = mapped_column(ForeignKey("guests.id"))
    arrival: Mapped[str]
    departure: Mapped[str]
    contracted: Mapped[int]
    picked_up: Mapped[int]
    released: Mapped[int]
    held: Mapped[int]
    room_price_cents: Mapped[int]
    currency: Mapped[str]
    cutoff_date: Mapped[str]
    status: Mapped[str]


class Booking(Base):
    """One room for one stay. Rooms reserved together share a reservation code."""

    __tablename__ = "bookings"
    __table_args__ = (
        one_of("status", BookingStatus),
        one_of("channel", Channel),
        CheckConstraint("cancel_reason IN ('guest_request', 'relocation_declined')", name="cancel_reason_is_known"),
        CheckConstraint("arrival < departure", name="dates_in_order"),
        CheckConstraint("late_checkout_hour BETWEEN 12 AND 23", name="late_checkout_is_hour"),
        CheckConstraint("(channel = 'ota') = (partner_id IS NOT NULL)", name="ota_has_partner"),
        not_negative("adults"),
        not_negative("pets"),
        not_negative("change_count"),
        not_negative("total_cents"),
        in_usd(),
        guarded(prefix="BK"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    reservation_code: Mapped[str] = mapped_column(index=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    stay_name: Mapped[str]
    property_id: Mapped[str] = mapped_column(ForeignKey("properties.id"))
    room_type_id: Mapped[str] = mapped_column(ForeignKey("room_types.id"))
    room_id: Mapped[str | None] = mapped_column(ForeignKey("rooms.id"))
    rate_plan_id: Mapped[str] = mapped_column(ForeignKey("rate_plans.id"))
    channel: Mapped[str]
    partner_id: Mapped[str | None] = mapped_column(ForeignKey("partners.id"))
    corporate_account_id: Mapped[str | None] = mapped_column(ForeignKey("corporate_accounts.id"))
    group_block_id: Mapped[str | None] = mapped_column(ForeignKey("group_blocks.id"))
    arrival: Mapped[str]
    departure: Mapped[str]
    adults: Mapped[int]
    pets: Mapped[int]
    status: Mapped[str]
    cancel_reason: Mapped[str | None]
    duplicate_of: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"))
    relocated_to: Mapped[str | None] = mapped_column(ForeignKey("properties.id"))
    change_count: Mapped[int]
    late_checkout_hour: Mapped[int | None]
    total_cents: Mapped[int]
    currency: Mapped[str]
    booked_at: Mapped[str]


class BookingNight(Base):
    """One night of a booking at the price sold, e.g. ``BK-20418.2031-05-20``."""

    __tablename__ = "booking_nights"
    __table_args__ = (
        UniqueConstraint("booking_id", "night"),
        one_of("status", NightStatus),
        not_negative("price_cents"),
        in_usd(),
        derived(prefix=None),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"), index=True)
    night: Mapped[str]
    price_cents: Mapped[int]
    currency: Mapped[str]
    status: Mapped[str]


class LoyaltyEntry(Base):
    """Nights and points written to an account, for a stay or as a correction."""

    __tablename__ = "loyalty_entries"
    __table_args__ = (
        one_of("kind", LoyaltyKind),
        one_of("status", LoyaltyStatus),
        not_negative("nights"),
        not_negative("points"),
        guarded(prefix="LE"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    loyalty_account_id: Mapped[str] = mapped_column(ForeignKey("loyalty_accounts.id"), index=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"), index=True)
    kind: Mapped[str]
    nights: Mapped[int]
    points: Mapped[int]
    status: Mapped[str]
    created_at: Mapped[str] = free()


class Folio(Base):
    """An account of charges: of a booking (guest or company pays) or of a group block."""

    __tablename__ = "folios"
    __table_args__ = (
        one_of("kind", FolioKind),
        one_of("status", FolioStatus),
        CheckConstraint("(booking_id IS NULL) <> (group_block_id IS NULL)", name="folio_has_one_owner"),
        CheckConstraint("(kind = 'company') = (corporate_account_id IS NOT NULL)", name="company_folio_has_company"),
        guarded(prefix="FO"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    booking_id: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"), index=True)
    group_block_id: Mapped[str | None] = mapped_column(ForeignKey("group_blocks.id"))
    corporate_account_id: Mapped[str | None] = mapped_column(ForeignKey("corporate_accounts.id"))
    status: Mapped[str]


class Charge(Base):
    """An amount on a folio; what has been waived of it stands beside it."""

    __tablename__ = "charges"
    __table_args__ = (
        one_of("kind", ChargeKind),
        one_of("evidence", Evidence),
        CheckConstraint(
            "waive_reason IN ('dispute', 'price_correction', 'compensation')", name="waive_reason_is_known"
        ),
        CheckConstraint("waived_cents BETWEEN 0 AND amount_cents", name="waived_within_amount"),
        in_usd(),
        guarded(prefix="CH"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    folio_id: Mapped[str] = mapped_column(ForeignKey("folios.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    waived_cents: Mapped[int]
    waive_reason: Mapped[str | None]
    currency: Mapped[str]
    evidence: Mapped[str]
    charged_on: Mapped[str]
    description: Mapped[str] = free()


class Payment(Base):
    """Money received on a folio by card."""

    __tablename__ = "payments"
    __table_args__ = (
        one_of("kind", PaymentKind),
        one_of("status", PaymentStatus),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="PM"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    folio_id: Mapped[str] = mapped_column(ForeignKey("folios.id"), index=True)
    kind: Mapped[str]
    status: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    card_ending: Mapped[str]
    paid_at: Mapped[str]


class Refund(Base):
    """Money returned on a payment."""

    __tablename__ = "refunds"
    __table_args__ = (
        one_of("reason", RefundReason),
        CheckConstraint("amount_cents > 0", name="amount_positive"),
        in_usd(),
        guarded(prefix="RF"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    payment_id: Mapped[str] = mapped_column(ForeignKey("payments.id"), index=True)
    amount_cents: Mapped[int]
    currency: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[str] = free()


class RoomBlock(Base):
    """A room out of order, or with a known fault, on the nights ``first_night`` to ``last_night``, both included."""

    __tablename__ = "room_blocks"
    __table_args__ = (
        one_of("kind", BlockKind),
        one_of("severity", Severity),
        CheckConstraint("first_night <= last_night", name="nights_in_order"),
        guarded(prefix="RB"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    room_id: Mapped[str] = mapped_column(ForeignKey("rooms.id"), index=True)
    kind: Mapped[str]
    severity: Mapped[str]
    first_night: Mapped[str]
    last_night: Mapped[str]
    description: Mapped[str] = free()


class ApprovalRule(Base):
    """How the duty manager will answer a request about a booking. No tool shows this table."""

    __tablename__ = "approval_rules"
    __table_args__ = (
        UniqueConstraint("booking_id", "kind"),
        one_of("kind", ApprovalKind),
        one_of("decision", Decision),
        guarded(prefix="AR"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"))
    kind: Mapped[str]
    decision: Mapped[str]


class Approval(Base):
    """A request to the duty manager, and the answer."""

    __tablename__ = "approvals"
    __table_args__ = (
        one_of("kind", ApprovalKind),
        one_of("decision", Decision),
        not_negative("amount_cents"),
        in_usd(),
        guarded(prefix="AP"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    booking_id: Mapped[str] = mapped_column(ForeignKey("bookings.id"), index=True)
    kind: Mapped[str]
    amount_cents: Mapped[int]
    currency: Mapped[str]
    decision: Mapped[str]
    justification: Mapped[str] = free()
    requested_at: Mapped[str] = free()


class Ticket(Base):
    """The record of one contact: what was asked, how it ended, why, and who has it now."""

    __tablename__ = "tickets"
    __table_args__ = (
        one_of("topic", Topic),
        one_of("status", TicketStatus),
        one_of("outcome", Outcome),
        one_of("reason", Reason),
        one_of("team", Team),
        guarded(prefix="TK", revisable=True),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    booking_id: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"))
    topic: Mapped[str]
    status: Mapped[str]
    outcome: Mapped[str | None]
    reason: Mapped[str | None]
    team: Mapped[str]
    summary: Mapped[str] = free()
    created_at: Mapped[str] = free()
    updated_at: Mapped[str] = free()


class TicketComment(Base):
    """A remark on a ticket."""

    __tablename__ = "ticket_comments"
    __table_args__ = (narrative(prefix="TC", about="guest_id"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("tickets.id"), index=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"))
    body: Mapped[str] = free()
    created_at: Mapped[str] = free()


class GuestNote(Base):
    """A remark on a guest's profile."""

    __tablename__ = "guest_notes"
    __table_args__ = (one_of("kind", NoteKind), narrative(prefix="NT", about="guest_id"))
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    kind: Mapped[str]
    body: Mapped[str] = free()
    created_at: Mapped[str] = free()


class GuestMessage(Base):
    """An e-mail from a guest (template ``none``) or to one."""

    __tablename__ = "messages"
    __table_args__ = (
        one_of("direction", Direction),
        one_of("template", Template),
        CheckConstraint("(direction = 'inbound') = (template = 'none')", name="only_outbound_has_template"),
        narrative(prefix="MS", about="guest_id"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    booking_id: Mapped[str | None] = mapped_column(ForeignKey("bookings.id"))
    direction: Mapped[str]
    template: Mapped[str]
    body: Mapped[str] = free()
    sent_at: Mapped[str] = free()


class IdentityCheck(Base):
    """One comparison of facts named by a caller with a guest's profile."""

    __tablename__ = "identity_checks"
    __table_args__ = (
        one_of("caller", CallerRole),
        one_of("result", CheckResult),
        not_negative("facts_given"),
        not_negative("facts_matched"),
        narrative(prefix="IC", about="guest_id"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    guest_id: Mapped[str] = mapped_column(ForeignKey("guests.id"), index=True)
    caller: Mapped[str]
    facts_given: Mapped[int]
    facts_matched: Mapped[int]
    result: Mapped[str]
    checked_at: Mapped[str] = free()
