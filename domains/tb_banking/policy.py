"""The Servicing Handbook of Marram Bank as pure functions.

Every rule with a number in ``policy.md`` (and in the current guide pages it points to) is one function here. It judges
what is already known: it looks nothing up, and knows no tools. Amounts are integer cents, instants are aware UTC
datetimes, and a number of days is counted from date to date. It is one file at any length: the proofs change each of
its constants and comparisons in turn, and lint holds its numbers against the handbook's.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from tb_banking.models.kinds import (
    AccountKind,
    AlertLevel,
    ComplaintFinding,
    Control,
    DeviceStatus,
    DisputeReason,
    DisputeStage,
    EntryStatus,
    FeeKind,
    Gravity,
    HoldKind,
    KycStatus,
    LimitKind,
    MandateRole,
    MandateStatus,
    Method,
    PayeeCheck,
    Rail,
    ReplaceReason,
    Scope,
    Segment,
    TransferStatus,
)

Action = Literal[
    "freeze_card",
    "revoke_device",
    "return_fee",
    "release_hold",
    "complaint",
    "standing_order",
    "lower_limit",
    "control_off",
    "dispute",
    "replace_card",
    "unfreeze_card",
    "raise_limit",
    "control_on",
    "recall",
    "return_payment",
    "deposit",
    "alert",
    "end_mandate",
    "close_account",
]
"""What callers ask for. Information is not among them: level B opens it to everyone who may act at all."""
Level = Literal["A", "B", "C"]

# Chapter 2: who is calling
LEVEL_A: frozenset[Action] = frozenset({"freeze_card", "revoke_device"})
LEVEL_B: frozenset[Action] = frozenset(
    {"return_fee", "release_hold", "complaint", "standing_order", "lower_limit", "control_off"}
)
FACTS_A = 1
FACTS_B = 2
FAILED_CHECKS = 2
TRUSTED_AFTER_DAYS = 7
WRONG_CODES = 2
OWNERS_ONLY: frozenset[Action] = frozenset({"end_mandate", "close_account"})
PAYING: frozenset[Action] = frozenset({"standing_order", "recall", "return_fee"})
OF_AGE = 18

# Chapter 3: counting
SATURDAY = 5
YEAR_DAYS = 365
BASIS_POINTS = 10_000
MILLIONTHS_TO_CENTS = 10_000

# Chapter 4: disputed card payments
FRAUD_DAYS = 120
NOT_RECEIVED_DAYS = 90
DISPUTE_DAYS = 60
CONFIRMED: frozenset[Method] = frozenset({"chip_pin", "online_confirmed"})
DELIVERY_DAYS = 15
DUPLICATE_MINUTES = 30
MANY_DISPUTES = 4
FRAUD_CREDIT: dict[Segment, int] = {"basic": 5, "plus": 0, "premier": 0}
MISTAKE_CREDIT: dict[Segment, int] = {"basic": 10, "plus": 10, "premier": 5}
CREDIT_DAYS: dict[str, dict[Segment, int]] = {
    "fraud": FRAUD_CREDIT,
    "duplicate": MISTAKE_CREDIT,
    "wrong_amount": MISTAKE_CREDIT,
}
LOST_DISPUTES = 2
WRITE_OFF = 25_00

# Chapter 5: cards
REPLACEMENT_FEE = 12_00
FREE_REASONS: frozenset[ReplaceReason] = frozenset({"stolen", "misused"})
EXPIRES_SOON_DAYS = 30
UNFREEZE_DAYS = 7
CASH_ABROAD: frozenset[Segment] = frozenset({"plus", "premier"})

# Chapter 6: limits
CEILINGS: dict[LimitKind, dict[Segment, int]] = {
    "daily_transfer": {"basic": 4_000_00, "plus": 10_000_00, "premier": 25_000_00},
    "daily_cash": {"basic": 500_00, "plus": 1_000_00, "premier": 2_000_00},
    "card_spend": {"basic": 3_000_00, "plus": 8_000_00, "premier": 20_000_00},
}
NEW_ACCOUNT_DAYS = 90
TEMPORARY_DAYS = 7

# Chapter 7: transfers and standing orders
RECALL_AGE = timedelta(hours=24)
RECALL_FEE = 15_00
TRACE_DAYS = 10
ORDER_WORKING_DAYS = 2
RETURN_DAYS = 30

# Chapter 8: holds
AUTHORISATION_DAYS = 7
DEPOSIT_CHECK: dict[Segment, int] = {"basic": 5, "plus": 5, "premier": 2}

# Chapter 9: fees
SMALL_DIFFERENCE = 50
GOODWILL_KINDS: frozenset[FeeKind] = frozenset({"overdraft", "returned_payment"})
GOODWILL_DAYS = 60
GOODWILL_PAUSE_DAYS = 365
GOODWILL_SHARE: dict[Segment, int] = {"basic": 50, "plus": 75, "premier": 100}

# Chapter 10: term deposits
SHORT_TERM, SHORT_PENALTY_DAYS = 6, 30
MIDDLE_TERM, MIDDLE_PENALTY_DAYS = 12, 60
LONG_PENALTY_DAYS = 90
GRACE_DAYS = 14
HARDSHIP_DAYS = 180
MATURES_SOON_DAYS = 7

# Chapter 11: sign-off
SIGN_OFF_ABOVE: dict[str, int] = {"provisional_credit": 1_000_00, "fee_return": 75_00, "compensation": 150_00}
SIGN_OFF_CREDIT_PREMIER = 2_500_00

# Chapter 12: restricted customers and alerts
WITHOUT_PAPERS: frozenset[Action] = frozenset({"dispute", "complaint"})
CONFIRMED_LATELY_DAYS = 30

# Chapter 13: complaints
ANSWER_WORKING_DAYS = 15
DELAY_A_DAY = 5_00
DELAY_MOST = 100_00
REOPEN_DAYS = 180

# Chapter 14: tool failures
REPEATS = 1

# Current pages of the staff guide
FOREIGN_SHARE: dict[Segment, int] = {"basic": 3, "plus": 2, "premier": 0}  # GP-02
MONTHLY_FEE: dict[Segment, int] = {"basic": 4_00, "plus": 9_00, "premier": 0}  # GP-03
OPEN_COUNTRIES: frozenset[str] = frozenset({"Canada", "Iceland", "Ireland", "Japan", "Portugal"})  # GP-05
TROUBLE: dict[Gravity, int] = {"minor": 35_00, "serious": 80_00, "severe": 175_00}  # GP-06


class FactCheck(NamedTuple):
    """How many facts a caller named in one check, and how many of them matched."""

    given: int
    matched: int


# -- Chapter 2: who is calling


def level_needed(action: Action) -> Level:
    """Handbook 2.2: the level that opens this action."""
    if action in LEVEL_A:
        return "A"
    return "B" if action in LEVEL_B else "C"


def passcode_device_ok(status: DeviceStatus, registered_at: datetime, now: datetime) -> bool:
    """Handbook 2.3: whether a passcode may go to this device of the caller."""
    return status == "trusted" and days_between(registered_at.date(), now.date()) >= TRUSTED_AFTER_DAYS


def step_up_verdict(
    has_device: bool, readings: Sequence[Literal["right", "wrong", "none"]]
) -> Literal["passed", "send_again", "failed"]:
    """Handbook 2.3: what the codes read so far, in their order, lead to; ``none`` is a caller who can read no code."""
    if not has_device or "none" in readings:
        return "failed"
    if "right" in readings:
        return "passed"
    return "failed" if len(readings) >= WRONG_CODES else "send_again"


def verification_verdict(checks: Sequence[FactCheck], action: Action) -> Literal["passed", "failed"]:
    """Handbook 2.2 and 2.4: whether the checks made, in their order, give level A or B, as this action needs."""
    needed = FACTS_A if level_needed(action) == "A" else FACTS_B
    failures = 0
    for check in checks:
        if check.matched != check.given:
            failures += 1
            if failures == FAILED_CHECKS:
                return "failed"
        elif check.given >= needed:
            return "passed"
    return "failed"


def is_minor(born: date, today: date) -> bool:
    """Handbook 2.5: whether the 18th birthday is still to come."""
    return (today.year - OF_AGE, today.month, today.day) < (born.year, born.month, born.day)


def mandate_counts(
    role: MandateRole,
    status: MandateStatus,
    valid_from: date,
    valid_until: date | None,
    today: date,
    holder_born: date | None = None,
) -> bool:
    """Handbook 2.5: whether a mandate counts today; a guardian's only while the account's holder is a minor."""
    if role == "guardian" and not (holder_born and is_minor(holder_born, today)):
        return False
    return status == "active" and valid_from <= today and (valid_until is None or today <= valid_until)


def mandate_allows(
    role: MandateRole, scope: Scope | None, action: Action
) -> Literal["allowed", "account_services", "no_mandate"]:
    """Handbook 2.5: what a mandate that counts opens."""
    if role == "joint_owner":
        return "account_services" if action in OWNERS_ONLY else "allowed"
    if role == "guardian":
        return "no_mandate" if action == "close_account" else "allowed"
    if scope == "full":
        return "no_mandate" if action in OWNERS_ONLY or action == "raise_limit" else "allowed"
    return "allowed" if action in LEVEL_A or (scope == "pay" and action in PAYING) else "no_mandate"


def minor_may(action: Action) -> bool:
    """Handbook 2.5: what the holder of a youth account may ask for before the 18th birthday."""
    return action in LEVEL_A or action == "lower_limit"


# -- Chapter 3: counting


def days_between(event: date, day: date) -> int:
    """Handbook 3.1: how many days after the event a day is; the day after the event is day one."""
    return (day - event).days


def working_days_between(event: date, day: date) -> int:
    """Handbook 3.1: how many working days lie after the event, up to and with the day."""
    after = (event + timedelta(days=count) for count in range(1, days_between(event, day) + 1))
    return sum(each.weekday() < SATURDAY for each in after)


def half_up(numerator: int, denominator: int) -> int:
    """Handbook 3.2: a fraction of a cent rounded half up."""
    return (2 * numerator + denominator) // (2 * denominator)


def percent(amount: int, share: int) -> int:
    """Handbook 3.2: a percentage of an amount."""
    return half_up(amount * share, 100)


def interest(principal: int, basis_points: int, days: int) -> int:
    """Handbook 3.2 and 10.1: simple interest of some days."""
    return half_up(principal * basis_points * days, BASIS_POINTS * YEAR_DAYS)


def convert(amount: Decimal, millionths: int) -> int:
    """Handbook 9.3: an amount of a foreign currency in cents, at a rate in millionths of a dollar."""
    numerator, denominator = (amount * millionths).as_integer_ratio()
    return half_up(numerator, denominator * MILLIONTHS_TO_CENTS)


# -- Chapter 4: disputed card payments


def freezes_card(reason: DisputeReason, method: Method | None, high_alert: bool) -> bool:
    """Handbook 4.3: whether a payment that stays unknown is a report of misuse.

    `high_alert`: an alert of level high for this payment is open, or was resolved as fraud.
    """
    return reason == "fraud" and (method not in CONFIRMED or high_alert)


def payment_dispute(
    reason: DisputeReason,
    status: EntryStatus,
    days: int,
    filed: int,
    *,
    method: Method | None = None,
    high_alert: bool = False,
    delivery_days: int | None = None,
    cancelled_first: bool = False,
    minutes_apart: int | None = None,
) -> Literal["file", "refused", "disputes_team"]:
    """Handbook 4.2 to 4.7: what becomes of the wish to dispute a payment that the customer does not recognise.

    `days` since posting; `filed` disputes of the customer in 365 days, without today's; `delivery_days` since the day
    promised; `cancelled_first`: as `cancelled_before` says; `minutes_apart` from the posted payment it repeats.
    """
    if filed >= MANY_DISPUTES:
        return "disputes_team"
    if reason == "fraud":
        in_time, grounds = days <= FRAUD_DAYS, freezes_card(reason, method, high_alert)
    elif reason == "not_received":
        in_time = days <= NOT_RECEIVED_DAYS
        grounds = delivery_days is not None and delivery_days >= DELIVERY_DAYS
    else:
        in_time, grounds = days <= DISPUTE_DAYS, True
        if reason == "cancelled_subscription":
            grounds = cancelled_first
        elif reason == "duplicate":
            grounds = minutes_apart is not None and minutes_apart <= DUPLICATE_MINUTES
    return "file" if status == "posted" and in_time and grounds else "refused"


def cancelled_before(told_at: datetime | None, paid_at: datetime) -> bool:
    """Handbook 4.5: whether our records hold a cancellation older than the payment."""
    return told_at is not None and told_at < paid_at


def provisional_credit(
    reason: DisputeReason, segment: Segment, working_days: int, lost: int, stage: DisputeStage
) -> Literal["due", "not_yet", "never"]:
    """Handbook 4.8: whether a dispute filed `working_days` ago earns its provisional credit.

    `lost`: disputes the customer lost in the last 365 days.
    """
    after = CREDIT_DAYS.get(reason)
    if after is None or lost >= LOST_DISPUTES or stage != "filed":
        return "never"
    return "due" if working_days >= after[segment] else "not_yet"


def contested_ruling(
    amount: int, respond_by: date, today: date, news: bool, written_off: int
) -> Literal["escalate", "lost", "lost_and_paid"]:
    """Handbook 4.9: what becomes of a contested dispute; `written_off`: the customer's write-offs in 365 days."""
    if amount <= WRITE_OFF:
        return "lost" if written_off else "lost_and_paid"
    return "escalate" if news and today <= respond_by else "lost"


# -- Chapter 5: cards


def card_replacement_fee(segment: Segment, reason: ReplaceReason, days_to_expiry: int) -> int:
    """Handbook 5.1: the fee for replacing a card."""
    free = segment == "premier" or reason in FREE_REASONS or days_to_expiry <= EXPIRES_SOON_DAYS
    return 0 if free else REPLACEMENT_FEE


def unfreeze_ruling(days_frozen: int, alert_open: bool) -> Literal["unfreeze", "replace"]:
    """Handbook 5.2: what is done with a frozen card that was found again."""
    return "unfreeze" if days_frozen <= UNFREEZE_DAYS and not alert_open else "replace"


def control_ruling(control: Control, country: str, segment: Segment) -> Literal["allowed", "refused"]:
    """Handbook 5.3 and GP-05: whether `abroad` or `cash_abroad` is switched on for a journey to this country."""
    entitled = control != "cash_abroad" or segment in CASH_ABROAD
    return "allowed" if entitled and country in OPEN_COUNTRIES else "refused"


# -- Chapter 6: limits


def limit_ceiling(kind: LimitKind, segment: Segment, account_days: int) -> int:
    """Handbook 6.1 and 6.2: how high a limit is raised without a sign-off."""
    ceiling = CEILINGS[kind][segment]
    return ceiling // 2 if account_days < NEW_ACCOUNT_DAYS else ceiling


def limit_ruling(
    kind: LimitKind, segment: Segment, account_days: int, wanted: int, days: int | None
) -> Literal["raise", "sign_off", "refused"]:
    """Handbook 6.1 to 6.3: what becomes of the wish to raise a limit until so many days from today, or for good."""
    ceiling = limit_ceiling(kind, segment, account_days)
    if wanted <= ceiling:
        return "raise"
    temporary = days is not None and days <= TEMPORARY_DAYS
    return "sign_off" if temporary and wanted <= ceiling * 2 else "refused"


# -- Chapter 7: transfers and standing orders


def recall_ruling(
    rail: Rail, status: TransferStatus, check: PayeeCheck, made_at: datetime, now: datetime
) -> Literal["recall", "trace", "refused"]:
    """Handbook 7.1: what becomes of the wish to have a transfer back that was not recalled before."""
    if status == "scheduled":
        return "recall"
    fresh = now - made_at <= RECALL_AGE
    if rail == "instant":
        return "trace" if fresh and check != "match" else "refused"
    if status == "pending" and fresh:
        return "recall"
    return "trace" if days_between(made_at.date(), now.date()) <= TRACE_DAYS else "refused"


def recall_fee(status: TransferStatus, check: PayeeCheck, segment: Segment) -> int:
    """Handbook 7.1: the fee that follows a recall."""
    return 0 if status == "scheduled" or check == "no_match" or segment == "premier" else RECALL_FEE


def order_ruling(
    working_days: int, new_amount: int | None = None, daily_transfer: int | None = None
) -> Literal["allowed", "refused"]:
    """Handbook 7.2: whether an order with this many working days to its next payment is changed, paused or cancelled.

    Both amounts, the new one and the limit `daily_transfer` of the account, are None where the amount stays.
    """
    affordable = new_amount is None or daily_transfer is None or new_amount <= daily_transfer
    return "allowed" if working_days >= ORDER_WORKING_DAYS and affordable else "refused"


def closing_ruling(
    balance: int, *, hold: bool, live_dispute: bool, open_transfer: bool, orders: Sequence[int] = ()
) -> Literal["close", "refused"]:
    """Handbook 7.3: whether an account is closed; `orders`: the working days to the next payment of each order."""
    blocked = hold or live_dispute or open_transfer or any(order_ruling(days) == "refused" for days in orders)
    return "refused" if blocked or balance < 0 else "close"


def return_ruling(days: int, amount: int, balance: int, held: int) -> Literal["return", "payments_team"]:
    """Handbook 7.4: who sends back an incoming transfer posted `days` ago that is not the customer's."""
    return "return" if days <= RETURN_DAYS and amount <= balance - held else "payments_team"


# -- Chapter 8: holds


def hold_ruling(
    kind: HoldKind,
    segment: Segment,
    placed: date,
    today: date,
    *,
    payment_posted: bool = False,
    merchant_released: bool = False,
) -> Literal["release", "stays", "security", "legal"]:
    """Handbook 8.1 to 8.3: what becomes of the wish to have a hold released, or which team decides."""
    if kind == "fraud":
        return "security"
    if kind == "legal":
        return "legal"
    if kind == "deposit_check":
        released = working_days_between(placed, today) >= DEPOSIT_CHECK[segment]
    else:
        released = payment_posted or merchant_released or days_between(placed, today) > AUTHORISATION_DAYS
    return "release" if released else "stays"


# -- Chapter 9: fees


def mistake_return(charged: int, right: int) -> int:
    """Handbook 9.1: what is returned of a fee where this much would have been right (nothing, if it was free)."""
    excess = charged - right
    return excess if excess >= SMALL_DIFFERENCE else 0


def goodwill_return(
    kind: FeeKind, segment: Segment, amount: int, days: int, newest: bool, goodwill_days: int | None
) -> int:
    """Handbook 9.2: what is returned as goodwill of a fee rightly charged `days` ago.

    `newest`: no later fee of these kinds stands on the account; `goodwill_days` since the customer's last goodwill.
    """
    rested = goodwill_days is None or goodwill_days > GOODWILL_PAUSE_DAYS
    fitting = kind in GOODWILL_KINDS and days <= GOODWILL_DAYS and newest and rested
    return percent(amount, GOODWILL_SHARE[segment]) if fitting else 0


def foreign_fee(amount: Decimal, millionths: int, segment: Segment) -> int:
    """Handbook 9.3 and GP-02: the right fee for a payment of this amount in its foreign currency."""
    return percent(convert(amount, millionths), FOREIGN_SHARE[segment])


def monthly_fee(kind: AccountKind, segment: Segment) -> int:
    """Handbook 9.4 and GP-03: the right monthly fee."""
    return MONTHLY_FEE[segment] if kind == "current" else 0


# -- Chapter 10: term deposits


def deposit_interest(principal: int, basis_points: int, days_held: int) -> int:
    """Handbook 10.2: the interest that a deposit has earned so far."""
    return 0 if days_held <= GRACE_DAYS else interest(principal, basis_points, days_held)


def deposit_penalty(
    principal: int,
    basis_points: int,
    term_months: int,
    days_held: int,
    days_to_maturity: int,
    hardship_days: int | None = None,
) -> int | None:
    """Handbook 10.1 and 10.2: the penalty for breaking a deposit, or None when it is not broken.

    `hardship_days` since the last note of the hardship team.
    """
    if days_to_maturity <= MATURES_SOON_DAYS:
        return None
    if days_held <= GRACE_DAYS:
        return 0
    if term_months <= SHORT_TERM:
        days = SHORT_PENALTY_DAYS
    else:
        days = MIDDLE_PENALTY_DAYS if term_months <= MIDDLE_TERM else LONG_PENALTY_DAYS
    halves = 1 if hardship_days is not None and hardship_days <= HARDSHIP_DAYS else 2
    return half_up(principal * basis_points * min(days, days_held) * halves, BASIS_POINTS * YEAR_DAYS * 2)


# -- Chapter 11: sign-off


def sign_off_needed(
    kind: Literal["provisional_credit", "fee_return", "compensation"], amount: int, segment: Segment
) -> bool:
    """Handbook 11.1: whether the controls desk is asked; of limits `limit_ruling` tells."""
    if kind == "provisional_credit" and segment == "premier":
        return amount > SIGN_OFF_CREDIT_PREMIER
    return amount > SIGN_OFF_ABOVE[kind]


# -- Chapter 12: restricted customers and alerts


def papers_allow(kyc_status: KycStatus, action: Action) -> bool:
    """Handbook 12.1: whether the papers of the account's holder let this be done."""
    return kyc_status == "verified" or action in LEVEL_A or action in WITHOUT_PAPERS


def alert_ruling(level: AlertLevel, theirs: bool, names_merchant: bool) -> Literal["genuine", "fraud", "security"]:
    """Handbook 12.2: how an alert is resolved, or that `security` takes it."""
    if not theirs:
        return "fraud"
    return "security" if level == "high" and not names_merchant else "genuine"


def alert_unfreezes(frozen_on: date | None, raised_on: date) -> bool:
    """Handbook 12.2: whether the card is unfrozen once its alert was resolved as genuine."""
    return frozen_on is not None and raised_on <= frozen_on


def device_ruling(days_since_confirmed: int | None) -> Literal["done", "security"]:
    """Handbook 12.3: who goes on after an unknown device was revoked; None: no passcode was ever confirmed on it."""
    lately = days_since_confirmed is not None and days_since_confirmed <= CONFIRMED_LATELY_DAYS
    return "security" if lately else "done"


# -- Chapter 13: complaints


def delay_compensation(working_days: int, segment: Segment, paid: int) -> int:
    """Handbook 13.1: what is due now for an answer after so many working days, less what was paid for the delay."""
    times = 2 if segment == "premier" else 1
    late = max(working_days - ANSWER_WORKING_DAYS, 0)
    return max(min(late * DELAY_A_DAY, DELAY_MOST) * times - paid, 0)


def trouble_compensation(gravity: Gravity, finding: ComplaintFinding, paid: int) -> int:
    """Handbook 13.2 and GP-06: what is due for trouble, where `paid` was paid for it before."""
    return TROUBLE[gravity] if finding == "upheld" and not paid else 0


def complaint_reopening(days_since_answer: int, news: bool) -> Literal["reopen", "refused"]:
    """Handbook 13.3: whether an answered complaint is opened again for the complaints team."""
    return "reopen" if news and days_since_answer <= REOPEN_DAYS else "refused"


# -- Chapter 14: tool failures


def after_tool_failure(done: bool, repeats: int) -> Literal["go_on", "repeat", "technology"]:
    """Handbook 14.1: what follows a failed call repeated `repeats` times, once we looked whether it was done."""
    if done:
        return "go_on"
    return "technology" if repeats >= REPEATS else "repeat"
