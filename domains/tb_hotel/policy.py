"""The guest service policy of Halden House Hotels as pure functions.

Every rule with a number in ``policy.md`` (and in the current articles it defers to) is
one function here. Amounts are integer cents, instants are aware UTC datetimes.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple

from .models import (
    Channel,
    ChargeKind,
    Collects,
    Coverage,
    Evidence,
    PlanKind,
    RefundReason,
    Severity,
    Tier,
    Topic,
)

# Section 2: identity
PLAIN_FACTS = 2
PROTECTED_FACTS = 3
FAILED_CHECKS = 2
UNPROTECTED: frozenset[Topic] = frozenset({"date_change", "room_change", "late_checkout", "folio_split", "group_block"})

# Section 3: times and windows
CHECK_IN = time(15)
CLAIM_DAYS: dict[Topic, int] = {
    "service_complaint": 7,
    "charge_dispute": 14,
    "folio_split": 30,
    "corporate_rate": 60,
    "loyalty": 180,
}

# Section 4: cancellation
FLEXIBLE_NOTICE = timedelta(hours=24)
FLEXIBLE_NOTICE_PLATINUM = timedelta(hours=12)
CORPORATE_NOTICE = timedelta(hours=6)
SEMI_FREE_NOTICE = timedelta(hours=72)
SEMI_HALF_NOTICE = timedelta(hours=24)
SEMI_FEE_PERCENT = 50
SEMI_FEE_PERCENT_GOLD = 25
GRACE_AGE = timedelta(hours=24)
GRACE_NOTICE = timedelta(hours=168)

# Section 5: changes before arrival
MAX_CHANGES = 2
NON_REFUNDABLE_CHANGE_NOTICE = timedelta(hours=336)
SEMI_CHANGE_NOTICE = timedelta(hours=48)
SEMI_CHANGE_FEE = 35_00
NON_REFUNDABLE_CHANGE_FEE = 60_00
UPGRADE_DISCOUNT: dict[Tier, int] = {"standard": 0, "silver": 10, "gold": 20, "platinum": 35}
LAST_MINUTE_NOTICE = timedelta(hours=48)
LAST_MINUTE_DISCOUNT = 40
CORRECTED_LETTERS = 3
TRANSFER_NOTICE = timedelta(hours=24)
TRANSFER_FEE = 25_00

# Section 6: during and after the stay
EARLY_DEPARTURE_HOUR = time(12)
EARLY_DEPARTURE_SEMI_PERCENT = 50
FREE_CHECK_OUT_HOUR: dict[Tier, int] = {"standard": 11, "silver": 11, "gold": 13, "platinum": 16}
LATEST_CHECK_OUT_HOUR = 18
LATEST_CHECK_OUT_HOUR_NEEDED = 13
FAULT_PERCENT: dict[Severity, int] = {"minor": 10, "major": 30, "unusable": 100}
GOODWILL_PERCENT = 50
GOODWILL_AGE = timedelta(days=365)

# Section 7: folios, charges, payments
RESTAURANT_LIMIT = 60_00
DISPUTE_LIMIT = 40_00
DISPUTE_PERCENT = 50
DOUBLE_PAYMENT_GAP = timedelta(hours=24)
DUPLICATE_BOOKING_GAP = timedelta(hours=48)

# Section 8: loyalty and companies
POINTS_PER_DOLLAR = 10
JOINED_AFTER_ARRIVAL = timedelta(days=30)
CORPORATE_TOLERANCE = 1_00

# Section 9: groups and relocation
CUT_OFF_HOUR = time(18)
GROUP_FREE_PERCENT = 20
GROUP_FEE_PERCENT = 50
GROUP_LATE_FEE_PERCENT = 80
RELOCATION_EARLY_NOTICE = timedelta(hours=24)

# Section 10: online partners
OURS_ALWAYS: frozenset[Topic] = frozenset(
    {"late_checkout", "folio_split", "charge_dispute", "extras_price", "relocation"}
)
OURS_IF_WE_COLLECT: frozenset[Topic] = frozenset({"room_change", "name_change", "service_complaint"})

# Section 11: tool failures
REPEATS = 1

# Section 12: approval
APPROVAL_LIMIT = 500_00
APPROVAL_LIMIT_PLATINUM = 750_00
NO_APPROVAL: frozenset[RefundReason] = frozenset(
    {"double_payment", "duplicate_booking", "price_correction", "corporate_rate", "relocation"}
)

# Current articles of the knowledge base
LATE_CHECK_OUT_PER_HOUR = 20_00  # KB-03
PARKING_PER_NIGHT = 18_00  # KB-04
PARKING_FREE_NIGHTS_GOLD = 1  # KB-04
PET_CLEANING = 30_00  # KB-05
PET_PER_NIGHT = 12_00  # KB-05
PET_MOST = 150_00  # KB-05
RELOCATION_POINTS: dict[Tier, int] = {  # KB-07
    "standard": 5_000,
    "silver": 7_500,
    "gold": 10_000,
    "platinum": 15_000,
}


class IdentityCheck(NamedTuple):
    """How many facts a caller named in one check, and how many of them matched."""

    given: int
    matched: int


class LoyaltyCredit(NamedTuple):
    """Nights and points."""

    nights: int
    points: int


class SoldNight(NamedTuple):
    """A night of a booking: its date, the price sold and the public price of that night."""

    night: date
    sold: int
    public: int


def percent(base: int, share: int) -> int:
    """Policy 3.3: a percentage of an amount, rounded half up to the cent."""
    return (base * share + 50) // 100


def notice(arrival: date, at: datetime) -> timedelta:
    """Policy 3.2: the time from a request to the start of check-in."""
    return datetime.combine(arrival, CHECK_IN, UTC) - at


def identity_verdict(
    checks: Sequence[IdentityCheck], topic: Topic, *, third_party: bool = False
) -> Literal["passed", "failed"]:
    """Policy 2.2 to 2.4: whether the checks made, in their order, verify the caller for this topic."""
    needed = PLAIN_FACTS if third_party or topic in UNPROTECTED else PROTECTED_FACTS
    failures = 0
    for check in checks:
        if check.matched != check.given:
            failures += 1
            if failures == FAILED_CHECKS:
                return "failed"
        elif check.matched >= needed:
            return "passed"
    return "failed"


def third_party_may_act(is_authorised_contact: bool, topic: Topic) -> bool:
    """Policy 2.4: whether a verified third party may make this request for the guest."""
    return is_authorised_contact and topic in UNPROTECTED


def claim_is_open(topic: Topic, departure: date, today: date) -> bool:
    """Policy 3.5: whether a claim about a stay is still in time."""
    return today - departure <= timedelta(days=CLAIM_DAYS[topic])


def cancellation_fee(
    plan: PlanKind, tier: Tier, total: int, first_night: int, notice: timedelta, age: timedelta
) -> int:
    """Policy 4.2 to 4.4: the fee for cancelling `notice` before check-in a booking made `age` ago."""
    if age <= GRACE_AGE and notice >= GRACE_NOTICE:
        return 0
    if plan == "flexible":
        limit = FLEXIBLE_NOTICE_PLATINUM if tier == "platinum" else FLEXIBLE_NOTICE
        return 0 if notice >= limit else first_night
    if plan == "corporate":
        return 0 if notice >= CORPORATE_NOTICE else first_night
    if plan == "semi_flexible":
        if notice >= SEMI_FREE_NOTICE:
            return 0
        if notice >= SEMI_HALF_NOTICE:
            return percent(total, SEMI_FEE_PERCENT_GOLD if tier in ("gold", "platinum") else SEMI_FEE_PERCENT)
    return total


def refund_after_fee(paid: int, fee: int) -> int:
    """Policy 4.5: what is returned of an amount paid when a fee is kept."""
    return max(paid - fee, 0)


def date_change_fee(plan: PlanKind, tier: Tier, notice: timedelta, changes_made: int) -> int | None:
    """Policy 5.1 and 5.2: the fee for moving a booking, or None when it may not be moved."""
    if changes_made >= MAX_CHANGES:
        return None
    if plan == "non_refundable":
        return NON_REFUNDABLE_CHANGE_FEE if notice >= NON_REFUNDABLE_CHANGE_NOTICE else None
    if plan == "semi_flexible" and tier != "platinum":
        return 0 if notice >= SEMI_CHANGE_NOTICE else SEMI_CHANGE_FEE
    return 0


def date_change_balance(plan: PlanKind, old_total: int, new_total: int) -> int:
    """Policy 5.3: the difference to collect, negative when it is to be returned."""
    difference = new_total - old_total
    return difference if plan in ("flexible", "corporate") else max(difference, 0)


def upgrade_price(difference: int, tier: Tier, notice: timedelta) -> int:
    """Policy 5.5: the price of a better category, from the difference quoted."""
    discount = UPGRADE_DISCOUNT[tier]
    if notice <= LAST_MINUTE_NOTICE:
        discount = max(discount, LAST_MINUTE_DISCOUNT)
    return percent(difference, 100 - discount)


def name_change_fee(plan: PlanKind, letters: int, notice: timedelta) -> int | None:
    """Policy 5.6: the fee for another name on the booking, or None when it is refused."""
    if letters <= CORRECTED_LETTERS:
        return 0
    if plan in ("flexible", "corporate") and notice >= TRANSFER_NOTICE:
        return TRANSFER_FEE
    return None


def early_departure_refund(plan: PlanKind, unused: Sequence[int], told: datetime, leaving: date) -> int:
    """Policy 6.1: what is returned of the prices of the unused nights, given in order of date."""
    if plan == "semi_flexible":
        return sum(percent(price, EARLY_DEPARTURE_SEMI_PERCENT) for price in unused[1:])
    if plan in ("flexible", "corporate"):
        in_time = datetime.combine(leaving - timedelta(days=1), EARLY_DEPARTURE_HOUR, UTC)
        return sum(unused) if told <= in_time else sum(unused[1:])
    return 0


def latest_check_out(room_needed: bool) -> int:
    """Policy 6.2: the latest hour at which a guest may leave."""
    return LATEST_CHECK_OUT_HOUR_NEEDED if room_needed else LATEST_CHECK_OUT_HOUR


def late_check_out_fee(tier: Tier, until: int) -> int:
    """Policy 6.2 and KB-03: the price of leaving at the hour `until`."""
    return max(until - FREE_CHECK_OUT_HOUR[tier], 0) * LATE_CHECK_OUT_PER_HOUR


def fault_compensation(nights: Sequence[int], severity: Severity) -> int:
    """Policy 6.3: what is returned of the prices of the nights with a recorded fault."""
    return sum(percent(price, FAULT_PERCENT[severity]) for price in nights)


def no_show_refund(paid: int, fee_at_email: int | None, tier: Tier, goodwill_age: timedelta | None) -> int:
    """Policy 6.4: what is returned to a no-show; `fee_at_email` is None without an e-mail in time."""
    if fee_at_email is not None:
        return refund_after_fee(paid, fee_at_email)
    if tier in ("gold", "platinum") and (goodwill_age is None or goodwill_age >= GOODWILL_AGE):
        return percent(paid, GOODWILL_PERCENT)
    return 0


def folio_payer(covers: Coverage, kind: ChargeKind, amount: int) -> Literal["company", "guest"]:
    """Policy 7.1: who pays a charge of a traveller on business."""
    paid_by_company = (
        kind == "room"
        or (kind == "breakfast" and covers != "room_only")
        or (kind == "restaurant" and covers == "full_board" and amount <= RESTAURANT_LIMIT)
    )
    return "company" if paid_by_company else "guest"


def dispute_relief(amount: int, evidence: Evidence, unsigned_sum: int) -> int:
    """Policy 7.2: what is taken off a disputed charge, by the sum of all unsigned disputed charges."""
    if evidence == "signed":
        return 0
    return amount if unsigned_sum <= DISPUTE_LIMIT else percent(amount, DISPUTE_PERCENT)


def parking_price(nights: int, tier: Tier) -> int:
    """Policy 7.3 and KB-04: the right price of parking for a stay."""
    if tier == "platinum":
        return 0
    return (nights - (PARKING_FREE_NIGHTS_GOLD if tier == "gold" else 0)) * PARKING_PER_NIGHT


def pet_price(pets: int, nights: int) -> int:
    """Policy 7.3 and KB-05: the right price of pets for a stay."""
    return min(PET_CLEANING + pets * nights * PET_PER_NIGHT, PET_MOST)


def is_double_payment(gap: timedelta) -> bool:
    """Policy 7.5: whether two equal payments are one payment taken twice."""
    return gap <= DOUBLE_PAYMENT_GAP


def is_duplicate_booking(gap: timedelta) -> bool:
    """Policy 7.6: whether two equal bookings are one booking made twice."""
    return gap <= DUPLICATE_BOOKING_GAP


def loyalty_earned(channel: Channel, arrival: date, joined: date, prices: Sequence[int]) -> LoyaltyCredit:
    """Policy 8.1: what a checked-out stay earns; nothing when it does not count."""
    if channel not in ("direct", "corporate") or joined - arrival > JOINED_AFTER_ARRIVAL:
        return LoyaltyCredit(0, 0)
    return LoyaltyCredit(len(prices), sum(prices) // 100 * POINTS_PER_DOLLAR)


def corporate_correction(nights: Sequence[SoldNight], discount: int, valid_from: date, valid_until: date) -> int:
    """Policy 8.2: what is returned when a corporate booking was sold on another plan."""
    overpaid = [
        night.sold - percent(night.public, 100 - discount)
        for night in nights
        if valid_from <= night.night <= valid_until
    ]
    return sum(amount for amount in overpaid if amount >= CORPORATE_TOLERANCE)


def group_release_fee(
    contracted: int,
    released_before: int,
    releasing: int,
    nights: int,
    room_price: int,
    now: datetime,
    cut_off: date,
) -> int:
    """Policy 9.1: the fee for releasing rooms of a group block."""
    if now > datetime.combine(cut_off, CUT_OFF_HOUR, UTC):
        return percent(releasing * nights * room_price, GROUP_LATE_FEE_PERCENT)
    allowance = max(contracted * GROUP_FREE_PERCENT // 100 - released_before, 0)
    return percent(max(releasing - allowance, 0) * nights * room_price, GROUP_FEE_PERCENT)


def relocation_points(tier: Tier, notice: timedelta) -> int:
    """Policy 9.2 and KB-07: the points for a guest who moves to a sister property."""
    points = RELOCATION_POINTS[tier]
    return points // 2 if notice >= RELOCATION_EARLY_NOTICE else points


def handled_by(channel: Channel, collects: Collects | None, topic: Topic) -> Literal["hotel", "partner"]:
    """Policy 10.1: who decides on a request about a booking."""
    if channel != "ota" or topic in OURS_ALWAYS:
        return "hotel"
    return "hotel" if collects == "hotel" and topic in OURS_IF_WE_COLLECT else "partner"


def after_tool_failure(done: bool, repeats: int) -> Literal["go_on", "repeat", "hand_over"]:
    """Policy 11.1: what follows a failed write that was repeated `repeats` times."""
    if done:
        return "go_on"
    return "repeat" if repeats < REPEATS else "hand_over"


def approval_needed(reason: RefundReason, amount: int, tier: Tier, fee: int | None = None) -> bool:
    """Policy 12.1 and 12.2: whether the duty manager must approve; `fee` is the cancellation fee kept."""
    if reason in NO_APPROVAL or (reason == "cancellation" and fee == 0):
        return False
    return amount > (APPROVAL_LIMIT_PLATINUM if tier == "platinum" else APPROVAL_LIMIT)
